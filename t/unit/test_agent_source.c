/*
 * The source: parts one after the other, records again by their place,
 * compressed files, what comes through a pipe, damage.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <zstd.h>

#include "agent/unpack.h"
#include "agent/agent.h"
#include "base/io.h"
#include "base/sig.h"
#include "check.h"
#include "scratch.h"

static char *home;

static char *
put_bytes(const char *name, struct hf_str bytes)
{
	struct hf_dir d = HF_DIR_INIT;
	struct hf_err err;

	if (hf_dir_open(&d, home, &err) < 0 ||
	    hf_file_replace(&d, name, bytes, &err) < 0) {
		printf("Bail out! %s\n", err.msg);
		exit(1);
	}
	hf_dir_close(&d);
	return hf_path_join(home, name);
}

static char *
put(const char *name, const char *text)
{
	return put_bytes(name, hf_str(text));
}

/* The member "n" of each record that is left, with the part before it. */
static char *
rest_of(struct hf_source *src, struct hf_err *err)
{
	struct hf_buf out = HF_BUF_INIT;
	struct hf_record rec;
	int r;

	while ((r = hf_source_next(src, &rec, err)) > 0) {
		hf_buf_printf(&out, "%u:", (unsigned)rec.ref.part);
		hf_buf_str(&out, hf_json_num(hf_json_get(rec.v, "n")));
		hf_buf_putc(&out, ' ');
	}
	hf_buf_puts(&out, r < 0 ? "error" : "end");
	return hf_buf_steal(&out);
}

static bool
gives(struct hf_source *src, const char *want)
{
	struct hf_err err = { .code = HF_OK };
	char *got = rest_of(src, &err);
	bool same = check_str(got, want, __FILE__, __LINE__, "the records");

	if (err.code != HF_OK)
		printf("# %s\n", err.msg);
	free(got);
	return same;
}

static bool
opens(struct hf_source *src, const char *path, uint64_t limit)
{
	struct hf_session s;
	struct hf_err err;
	int r;

	hf_session_init(&s);
	s.path = hf_strdup(path);
	r = hf_source_open(src, &s, limit, &err);
	hf_session_release(&s);
	if (r < 0)
		printf("# %s\n", err.msg);
	return r == 0;
}

/* ---- files ---- */

static void
test_file(void)
{
	char *path = put("a", "{\"n\":1}\n{\"n\":2}\nbad\n{\"n\":3");
	struct hf_source src;

	CHECK(opens(&src, path, UINT64_MAX));
	gives(&src, "0:1 0:2 end");
	CHECK_INT(src.rows, 2);
	CHECK_INT(src.bad, 1);
	CHECK(src.torn);
	CHECK_INT(src.size, 26);
	hf_source_close(&src);
	CHECK(opens(&src, path, 8));	/* what the figures saw */
	gives(&src, "0:1 end");
	CHECK(!src.torn);
	hf_source_close(&src);
	CHECK(opens(&src, path, UINT64_MAX));
	hf_source_from(&src, 0, 8);
	gives(&src, "0:2 end");
	hf_source_close(&src);
	free(path);
}

static void
test_strict(void)
{
	char *path = put("a", "{\"n\":1}\nbad\n{\"n\":2}\n");
	char *mended = put("m", "{\"n\":1}\n{\"n\":2,\"x\":\"\xe9\"}\n");
	char *torn = put("t", "{\"n\":1}\n{\"n");
	struct hf_source src;
	struct hf_err err = { .code = HF_OK };
	char *got;

	CHECK(opens(&src, path, UINT64_MAX));
	src.strict = true;
	got = rest_of(&src, &err);
	CHECK_STR(got, "0:1 error");
	CHECK_INT(err.code, HF_E_INVALID);
	CHECK(strstr(err.msg, "line 2") != NULL);
	free(got);
	hf_source_close(&src);
	CHECK(opens(&src, mended, UINT64_MAX));
	src.strict = true;
	got = rest_of(&src, &err);
	CHECK_STR(got, "0:1 error");
	CHECK(strstr(err.msg, "line 2") != NULL);
	free(got);
	hf_source_close(&src);
	/* Being written is no damage. */
	CHECK(opens(&src, torn, UINT64_MAX));
	src.strict = true;
	gives(&src, "0:1 end");
	hf_source_close(&src);
	free(path);
	free(mended);
	free(torn);
}

static void
test_not_files(void)
{
	struct hf_session s;
	struct hf_source src;
	struct hf_err err;
	char *fifo = hf_path_join(home, "fifo");

	hf_session_init(&s);
	CHECK_INT(hf_source_open(&src, &s, UINT64_MAX, &err), -1);
	CHECK_INT(err.code, HF_E_NOT_FOUND);
	s.path = hf_path_join(home, "none");
	CHECK_INT(hf_source_open(&src, &s, UINT64_MAX, &err), -1);
	CHECK_INT(err.code, HF_E_NOT_FOUND);
	hf_session_set(&s.path, hf_str(home));
	CHECK_INT(hf_source_open(&src, &s, UINT64_MAX, &err), -1);
	CHECK_INT(err.code, HF_E_NOT_A_SESSION);
	CHECK(strstr(err.msg, "is a folder") != NULL);
	CHECK_INT(mkfifo(fifo, 0600), 0);	/* does not wait */
	hf_session_set(&s.path, hf_str(fifo));
	CHECK_INT(hf_source_open(&src, &s, UINT64_MAX, &err), -1);
	CHECK_INT(err.code, HF_E_NOT_A_SESSION);
	hf_session_release(&s);
	free(fifo);
}

/* ---- parts ---- */

static int
open_parts(struct hf_source *src, const struct hf_session *s,
    struct hf_err *err)
{
	char *parent = hf_path_join(home, "parent");
	int r = hf_source_add(src, parent, 8, true, err);

	free(parent);
	if (r == 0)
		r = hf_source_add(src, s->path, UINT64_MAX, false, err);
	if (r == 0)
		hf_source_add_text(src, hf_strdup("{\"n\":5}\n\n{\"n\":6}"),
		    16);
	return r;
}

static void
test_parts(void)
{
	static const struct hf_agent agent = { .name = "toy",
	    .open = open_parts };
	char *parent = put("parent", "{\"n\":1}\n{\"n\":2}\n");
	struct hf_session s;
	struct hf_source src;
	struct hf_record rec;
	struct hf_ref ref[4] = { { 0 } };
	int64_t n;
	int i;

	hf_session_init(&s);
	s.agent = &agent;
	s.path = put("own", "{\"n\":3}\n{\"n\":4}\n");
	CHECK_INT(hf_source_open(&src, &s, 8, NULL), 0);
	CHECK_INT(src.nparts, 3);
	for (i = 0; i < 4 && hf_source_next(&src, &rec, NULL) > 0; i++)
		ref[i] = rec.ref;
	CHECK_INT(i, 4);
	CHECK_INT(ref[0].part, 0);
	CHECK_INT(ref[1].part, 1);
	CHECK_INT(ref[3].part, 2);
	CHECK_INT(hf_source_next(&src, &rec, NULL), 0);
	CHECK_INT(src.rows, 4);
	/* Again, in another order. */
	for (i = 4; i-- > 0;) {
		CHECK_INT(hf_source_at(&src, ref[i], &rec, NULL), 0);
		CHECK(hf_json_int(hf_json_get(rec.v, "n"), &n));
		CHECK_INT(n, i == 0 ? 1 : i == 1 ? 3 : i == 2 ? 5 : 6);
		CHECK_INT(rec.raw.n, 7);
		CHECK(hf_str_starts(rec.raw, "{\"n\":"));
	}
	ref[3].off = 1000;
	CHECK_INT(hf_source_at(&src, ref[3], &rec, NULL), -1);
	ref[0].part = 9;
	CHECK_INT(hf_source_at(&src, ref[0], &rec, NULL), -1);
	hf_source_close(&src);
	hf_session_release(&s);
	free(parent);
}

/* ---- compressed ---- */

static struct hf_str
packed(char out[256], const char *text)
{
	return hf_strn(out, ZSTD_compress(out, 256, text, strlen(text), 3));
}

static void
test_packed(void)
{
	char a[256], b[512];
	struct hf_str one = packed(a, "{\"n\":1}\n{\"n\":2}\n"), two;
	char *path = put_bytes("p.zst", one), *cut, *damaged, *both;
	struct hf_session s;
	struct hf_source src;
	struct hf_err err;

	CHECK(opens(&src, path, 3));	/* a packed file is whole */
	CHECK(src.part[0].packed);
	gives(&src, "0:1 0:2 end");
	hf_source_close(&src);
	/* Frames one after the other are one text. */
	memcpy(b, one.s, one.n);
	two = packed(b + one.n, "{\"n\":3}\n");
	both = put_bytes("both.zst", hf_strn(b, one.n + two.n));
	CHECK(opens(&src, both, UINT64_MAX));
	gives(&src, "0:1 0:2 0:3 end");
	hf_source_close(&src);
	cut = put_bytes("cut.zst", hf_strn(one.s, one.n - 3));
	hf_session_init(&s);
	s.path = hf_strdup(cut);
	CHECK_INT(hf_source_open(&src, &s, UINT64_MAX, &err), -1);
	CHECK_INT(err.code, HF_E_TRUNCATED);
	a[5] ^= 0x5a;
	a[9] ^= 0x5a;
	damaged = put_bytes("damaged.zst", one);
	hf_session_set(&s.path, hf_str(damaged));
	CHECK_INT(hf_source_open(&src, &s, UINT64_MAX, &err), -1);
	CHECK(err.code == HF_E_INVALID || err.code == HF_E_TRUNCATED);
	hf_session_release(&s);
	free(path);
	free(both);
	free(cut);
	free(damaged);
}

static void
test_head(void)
{
	char a[256];
	struct hf_str one = packed(a, "0123456789");
	char *path = put_bytes("h.zst", hf_strn(one.s, one.n - 2));
	struct hf_buf out = HF_BUF_INIT;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	CHECK(hf_unpack_is(fd));
	hf_buf_puts(&out, "x");
	CHECK_INT(hf_unpack_head(fd, path, 4, &out, NULL), 0);
	CHECK(out.len <= 5);
	close(fd);
	free(path);
	hf_buf_release(&out);
}

/* ---- pipes ---- */

static void
through(struct hf_str bytes, const char *want)
{
	struct hf_source src;
	int p[2];

	CHECK_INT(pipe(p), 0);
	CHECK_INT(hf_io_write(p[1], bytes.s, bytes.n), 0);
	close(p[1]);
	CHECK_INT(hf_source_fd(&src, p[0], "standard input", NULL), 0);
	gives(&src, want);
	hf_source_close(&src);
	close(p[0]);
}

static void
test_fd(void)
{
	char a[256];
	char *path = put("f", "{\"n\":1}\n{\"n\":2}\n");
	struct hf_source src;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	through(HF_STR("{\"n\":1}\n{\"n\":2}"), "0:1 0:2 end");
	through(packed(a, "{\"n\":1}\n"), "0:1 end");
	through(HF_STR(""), "end");
	CHECK_INT(hf_source_fd(&src, fd, "standard input", NULL), 0);
	gives(&src, "0:1 0:2 end");
	hf_source_close(&src);
	/* From where it stands, as any other program. */
	CHECK_INT(lseek(fd, 8, SEEK_SET), 8);
	CHECK_INT(hf_source_fd(&src, fd, "standard input", NULL), 0);
	gives(&src, "0:2 end");
	hf_source_close(&src);
	close(fd);
	free(path);
}

int
main(void)
{
	hf_sig_init();
	home = scratch_make();
	test_file();
	test_strict();
	test_not_files();
	test_parts();
	test_packed();
	test_head();
	test_fd();
	scratch_remove(home);
	return check_done();
}
