/*
 * Sessions by their ends: whose they are, what they tell, in which order;
 * and finding one by path, id, prefix or title. The tests run in a process
 * whose home is a folder of their own.
 */
#include <stdlib.h>
#include <unistd.h>

#include <zstd.h>

#include "agent/agent.h"
#include "agent/claude.h"
#include "agent/peek.h"
#include "base/clock.h"
#include "base/sig.h"
#include "check.h"
#include "scratch.h"

#define ID1	"abc0de00-0001-4a5e-8bad-000000000001"
#define ID2	"abc0de00-0002-4a5e-8bad-000000000002"
#define ID3	"fedcba98-0003-4a5e-8bad-000000000003"

static char *home;

static char *
put(const char *path, struct hf_str text)
{
	char *full = hf_path_join(home, path), *dir = hf_path_dir(full);
	struct hf_dir d = HF_DIR_INIT;
	struct hf_err err;

	if (hf_dir_make(&d, dir, &err) < 0 ||
	    hf_file_replace(&d, hf_path_base(full), text, &err) < 0) {
		printf("Bail out! %s\n", err.msg);
		exit(1);
	}
	hf_dir_close(&d);
	free(dir);
	return full;
}

/* Appends a prompt, or with model an answer. */
static void
say(struct hf_buf *out, const char *id, const char *time, const char *cwd,
    const char *model, const char *text)
{
	hf_buf_printf(out, "{\"parentUuid\":null,\"type\":\"%s\","
	    "\"message\":{", model != NULL ? "assistant" : "user");
	if (model != NULL)
		hf_buf_printf(out, "\"id\":\"m\",\"model\":\"%s\","
		    "\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]",
		    model, text);
	else
		hf_buf_printf(out, "\"content\":\"%s\"", text);
	hf_buf_printf(out, "},\"uuid\":\"u\",\"cwd\":\"%s\","
	    "\"sessionId\":\"%s\",\"timestamp\":\"2026-01-%sZ\"}\n", cwd, id,
	    time);
}

static void
name(struct hf_buf *out, const char *title)
{
	hf_buf_printf(out, "{\"type\":\"custom-title\",\"customTitle\":"
	    "\"%s\",\"sessionId\":\"x\"}\n", title);
}

static char *
store(const char *id, const struct hf_buf *text)
{
	struct hf_buf path = HF_BUF_INIT;
	char *full;

	hf_buf_printf(&path, "claude/projects/-w/%s.jsonl", id);
	full = put(hf_buf_cstr(&path), hf_buf_view(text));
	hf_buf_release(&path);
	return full;
}

static char *big;		/* text of a long row */

static void
make_store(void)
{
	struct hf_buf t = HF_BUF_INIT;

	big = hf_malloc(100001);
	memset(big, 'x', 100000);
	big[100000] = '\0';
	/* Older by its last prompt, but renamed since. */
	say(&t, ID1, "01T00:00:00", "/w/a", NULL, "first of one");
	say(&t, ID1, "02T00:00:00", "/w/a", "model-1", big);
	say(&t, ID1, "03T00:00:00", "/w/b", NULL, "last of one");
	say(&t, ID1, "09T00:00:00", "/w/b", "model-2", "done");
	name(&t, "one");
	free(store(ID1, &t));
	hf_buf_clear(&t);
	say(&t, ID2, "04T00:00:00", "/w/a", NULL, "same words");
	name(&t, "same");
	free(store(ID2, &t));
	hf_buf_clear(&t);
	/* The rows at both ends are longer than what is read there. */
	say(&t, ID3, "05T00:00:00", "/w/c", NULL, big);
	say(&t, ID3, "06T00:00:00", "/w/d", "model-3", big);
	name(&t, "same");
	free(store(ID3, &t));
	hf_buf_release(&t);
	free(put("claude/projects/-w/00000000-0000-4000-8000-000000000000"
	    ".jsonl", HF_STR("")));
}

/* ---- one file ---- */

static int
peek_text(const char *text, size_t n, struct hf_session *s,
    struct hf_err *err)
{
	char *path = put("some.jsonl", hf_strn(text, n));
	int r = hf_session_peek(path, s, err);

	free(path);
	return r;
}

static bool
refuses(const char *text, size_t n, enum hf_code code)
{
	struct hf_session s;
	struct hf_err err = { .code = HF_OK };
	bool good = peek_text(text, n, &s, &err) == -1 && err.code == code;

	if (!good)
		printf("# %s\n", err.msg);
	return good;
}
#define REFUSES(lit, code)	refuses((lit), sizeof(lit) - 1, (code))

static void
test_refused(void)
{
	struct hf_session s;
	struct hf_err err;
	struct hf_buf t = HF_BUF_INIT;

	CHECK(REFUSES("", HF_E_EMPTY));
	CHECK(REFUSES("\n \n\r\n\n", HF_E_EMPTY));
	CHECK(REFUSES("\0\0\n\n", HF_E_NOT_A_SESSION));
	CHECK(REFUSES("hello\n", HF_E_NOT_A_SESSION));
	CHECK(REFUSES("{\"type\":\"thread.started\",\"thread_id\":\"x\"}\n"
	    "{\"type\":\"turn.started\"}\n", HF_E_NOT_A_SESSION));
	CHECK(REFUSES("\x7f" "ELF\x02\x01\x01\0\0", HF_E_NOT_A_SESSION));
	for (int i = 0; i < 200000; i++)
		hf_buf_putc(&t, '\n');
	CHECK(refuses(t.data, t.len, HF_E_EMPTY));
	CHECK(refuses(big, 100000, HF_E_NOT_A_SESSION));
	CHECK_INT(hf_session_peek(home, &s, &err), -1);
	CHECK_INT(err.code, HF_E_NOT_A_SESSION);
	CHECK_INT(hf_session_peek("/nowhere/x", &s, &err), -1);
	CHECK_INT(err.code, HF_E_NOT_FOUND);
	hf_buf_release(&t);
}

/* Damage at the beginning hides nothing. */
static void
test_damaged_head(void)
{
	struct hf_buf t = HF_BUF_INIT;
	struct hf_session s;
	struct hf_err err;

	hf_buf_puts(&t, "\xef\xbb\xbf{\"type\":\"us\n");
	hf_buf_add(&t, "\0\0\0", 3);
	say(&t, ID1, "01T00:00:00", "/w", NULL, "hi");
	CHECK_INT(peek_text(t.data, t.len, &s, &err), 0);
	CHECK(s.agent == &hf_agent_claude);
	CHECK_STR(s.id, ID1);
	CHECK_STR(s.title, "hi");
	hf_session_release(&s);
	hf_buf_release(&t);
}

static void
test_compressed(void)
{
	struct hf_buf t = HF_BUF_INIT;
	struct hf_session s;
	struct hf_err err;
	char *out;
	size_t n;

	say(&t, ID1, "01T00:00:00", "/w", NULL, "hi");
	say(&t, ID1, "02T00:00:00", "/w", "model", big);
	out = hf_malloc(ZSTD_compressBound(t.len));
	n = ZSTD_compress(out, ZSTD_compressBound(t.len), t.data, t.len, 3);
	CHECK_INT(peek_text(out, n, &s, &err), 0);
	CHECK_STR(s.title, "hi");
	CHECK_STR(s.model, "model");
	CHECK_INT(s.size, n);
	hf_session_release(&s);
	free(out);
	hf_buf_release(&t);
}

static void
test_ends(void)
{
	struct hf_session s;
	struct hf_err err;

	CHECK_INT(hf_session_find(ID1, NULL, &s, &err), 0);
	CHECK_STR(s.id, ID1);
	CHECK_STR(s.cwd, "/w/a");
	CHECK_STR(s.model, "model-2");
	CHECK_STR(s.title, "one");
	CHECK_INT(s.prompted, hf_clock_parse(
	    HF_STR("2026-01-03T00:00:00Z")));
	hf_session_release(&s);
	CHECK_INT(hf_session_find(ID3, NULL, &s, &err), 0);
	CHECK_STR(s.cwd, "/w/c");
	CHECK_STR(s.model, "model-3");
	CHECK_INT(s.prompted, hf_clock_parse(
	    HF_STR("2026-01-05T00:00:00Z")));
	hf_session_release(&s);
}

static void
test_turn(void)
{
	struct hf_buf t = HF_BUF_INIT;
	char *path;

	say(&t, ID1, "01T00:00:00", "/w", NULL, big);
	path = put("turn.jsonl", hf_buf_view(&t));
	CHECK_INT(hf_peek_turn(&hf_agent_claude, path), HF_TURN_OPEN);
	free(path);
	say(&t, ID1, "01T00:00:00", "/w", "model", "done");
	name(&t, "x");
	path = put("turn.jsonl", hf_buf_view(&t));
	CHECK_INT(hf_peek_turn(&hf_agent_claude, path), HF_TURN_CLOSED);
	free(path);
	path = put("turn.jsonl", HF_STR("{}\n"));
	CHECK_INT(hf_peek_turn(&hf_agent_claude, path), HF_TURN_NONE);
	free(path);
	CHECK_INT(hf_peek_turn(&hf_agent_claude, "/nowhere"), HF_TURN_NONE);
	hf_buf_release(&t);
}

/* ---- finding ---- */

static bool
finds(const char *what, const char *id)
{
	struct hf_session s;
	struct hf_err err = { .code = HF_OK };
	bool good;

	if (hf_session_find(what, NULL, &s, &err) < 0) {
		printf("# %s\n", err.msg);
		return false;
	}
	good = check_str(s.id, id, __FILE__, __LINE__, what);
	CHECK(s.path != NULL && s.path[0] == '/');
	hf_session_release(&s);
	return good;
}

static bool
fails(const char *what, enum hf_code code, const char *says)
{
	struct hf_session s;
	struct hf_err err = { .code = HF_OK };
	bool good = hf_session_find(what, NULL, &s, &err) == -1 &&
	    err.code == code && strstr(err.msg, says) != NULL;

	if (!good)
		printf("# %s\n", err.msg);
	return good;
}

static void
test_find(void)
{
	char *path = hf_path_join(home, "claude/projects/-w/" ID2 ".jsonl");
	struct hf_session s;
	struct hf_err err;

	CHECK(finds(path, ID2));
	CHECK_INT(chdir(home), 0);
	CHECK(finds("./claude/projects/-w/" ID2 ".jsonl", ID2));
	CHECK(finds(ID2, ID2));
	CHECK(finds("abc0de00-0002", ID2));
	CHECK(finds("fedcba98", ID3));
	CHECK(finds("one", ID1));
	CHECK(fails("abc0de00", HF_E_USAGE, ID1));
	CHECK(fails("abc0de00", HF_E_USAGE, ID2));
	CHECK(finds("fedc", ID3));
	CHECK(fails("fed", HF_E_NOT_FOUND, "fed"));
	CHECK(fails("same", HF_E_USAGE, ID3));
	CHECK(fails("last of one", HF_E_NOT_FOUND, "last of one"));
	CHECK(fails("none/such.jsonl", HF_E_NOT_FOUND, "none/such.jsonl"));
	CHECK(fails("claude", HF_E_NOT_A_SESSION, "is a folder"));
	CHECK(fails("", HF_E_USAGE, "no session"));
	CHECK_INT(hf_session_find(ID2, hf_agent_by_name(HF_STR("pi")), &s,
	    &err), -1);
	CHECK_INT(err.code, HF_E_NOT_FOUND);
	free(path);
}

/* ---- listing ---- */

static void
listed(const char *cwd, const char *want)
{
	struct hf_session *v;
	struct hf_buf out = HF_BUF_INIT;
	size_t i, n;

	CHECK_INT(hf_session_list(NULL, cwd, &v, &n, NULL), 0);
	for (i = 0; i < n; i++)
		hf_buf_printf(&out, "%.8s ", v[i].id + 5);
	CHECK_STR(hf_buf_cstr(&out), want);
	hf_session_list_free(v, n);
	hf_buf_release(&out);
}

static void
test_list(void)
{
	struct hf_session *v;
	size_t n;

	listed(NULL, "a98-0003 e00-0002 e00-0001 ");
	listed("/w/a", "e00-0002 e00-0001 ");
	listed("/w/b", "");	/* the first folder counts */
	CHECK_INT(hf_session_list(hf_agent_by_name(HF_STR("pi")), NULL, &v,
	    &n, NULL), 0);
	CHECK_INT(n, 0);
}

int
main(int argc, char **argv)
{
	struct hf_buf a = HF_BUF_INIT, b = HF_BUF_INIT;
	const char *run[] = { argv[0], "in", NULL, NULL };
	const char *vars[3] = { NULL, NULL, NULL };
	int status;

	hf_sig_init();
	if (argc < 3) {
		home = scratch_make();
		run[2] = home;
		hf_buf_printf(&a, "CLAUDE_CONFIG_DIR=%s/claude", home);
		hf_buf_printf(&b, "HOME=%s", home);
		vars[0] = hf_buf_cstr(&a);
		vars[1] = hf_buf_cstr(&b);
		status = scratch_run(run, vars, NULL, NULL);
		scratch_remove(home);
		hf_buf_release(&a);
		hf_buf_release(&b);
		return status;
	}
	home = argv[2];
	make_store();
	test_refused();
	test_damaged_head();
	test_compressed();
	test_ends();
	test_turn();
	test_find();
	test_list();
	free(big);
	return check_done();
}
