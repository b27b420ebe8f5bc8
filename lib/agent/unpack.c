#include "agent/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "base/env.h"
#include "base/file.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/sig.h"
#include "json/jsonl.h"

enum { CHUNK = 128 << 10 };

/* A stream that is read in pieces and given on in pieces. */
struct stream {
	int fd;
	const char *name;
	off_t off;
	ZSTD_DStream *z;
	char *in, *out;			/* CHUNK bytes each */
	ZSTD_inBuffer src;
	size_t hint;			/* 0: at the end of a frame */
};

static void
stream_close(struct stream *st)
{
	ZSTD_freeDStream(st->z);
	free(st->in);
	free(st->out);
}

static int
stream_open(struct stream *st, int fd, const char *name, struct hf_err *err)
{
	memset(st, 0, sizeof(*st));
	st->fd = fd;
	st->name = name;
	st->z = ZSTD_createDStream();
	st->in = hf_malloc(CHUNK);
	st->out = hf_malloc(CHUNK);
	st->src.src = st->in;
	if (st->z == NULL || ZSTD_isError(ZSTD_initDStream(st->z))) {
		stream_close(st);
		hf_err_set(err, HF_E_IO,
		    "cannot unpack '%s': zstd does not start", name);
		return -1;
	}
	return 0;
}

/* 1 when there is input, 0 at the end of the file. */
static int
stream_fill(struct stream *st, struct hf_err *err)
{
	ssize_t n;

	if (st->src.pos < st->src.size)
		return 1;
	n = hf_io_pread(st->fd, st->in, CHUNK, st->off);
	if (n < 0)
		return hf_err_sys(err, errno, "cannot read '%s'", st->name);
	st->off += n;
	st->src.size = (size_t)n;
	st->src.pos = 0;
	return n > 0;
}

/* 1 with the next piece (maybe of no bytes), 0 at the end. */
static int
stream_next(struct stream *st, struct hf_str *piece, struct hf_err *err)
{
	ZSTD_outBuffer dst = { st->out, CHUNK, 0 };
	int more;

	*piece = HF_STR("");
	if (hf_sig_check(err) < 0 || (more = stream_fill(st, err)) < 0)
		return -1;
	if (more == 0 && st->hint == 0)
		return 0;
	st->hint = ZSTD_decompressStream(st->z, &dst, &st->src);
	if (ZSTD_isError(st->hint)) {
		hf_err_set(err, HF_E_INVALID, "cannot unpack '%s': %s",
		    st->name, ZSTD_getErrorName(st->hint));
		return -1;
	}
	if (more == 0 && dst.pos == 0 && st->hint > 0) {
		hf_err_set(err, HF_E_TRUNCATED,
		    "cannot unpack '%s': it is cut short", st->name);
		return -1;
	}
	*piece = hf_strn(st->out, dst.pos);
	return 1;
}

bool
hf_unpack_is(int fd)
{
	static const char magic[4] = { '\x28', '\xb5', '\x2f', '\xfd' };
	char head[sizeof(magic)];

	return hf_io_pread(fd, head, sizeof(head), 0) == sizeof(head) &&
	    memcmp(head, magic, sizeof(magic)) == 0;
}

int
hf_unpack_temp(struct hf_err *err)
{
	const char *dir = hf_env("TMPDIR");
	char *path = hf_path_join(dir != NULL ? dir : "/tmp",
	    "handoff-XXXXXX");
	int fd = mkstemp(path);

	if (fd < 0) {
		hf_err_sys(err, errno, "cannot make a temporary file '%s'",
		    path);
	} else {
		unlink(path);
		if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
			hf_err_sys(err, errno, "cannot set up '%s'", path);
			close(fd);
			fd = -1;
		}
	}
	free(path);
	return fd;
}

/* Adds a piece to the temporary file of name. */
static int
store(int to, struct hf_str piece, uint64_t *total, const char *name,
    struct hf_err *err)
{
	*total += piece.n;
	if (*total > HF_UNPACK_MAX)
		return hf_err_set(err, HF_E_OVERFLOW,
		    "'%s' has more than 64 GiB", name);
	if (hf_io_write(to, piece.s, piece.n) == 0)
		return 0;
	if (errno == ENOSPC || errno == EDQUOT)
		return hf_err_set(err, HF_E_IO, "cannot store '%s' for "
		    "reading: no space left for temporary files", name);
	return hf_err_sys(err, errno, "cannot store '%s' for reading", name);
}

int
hf_unpack(int fd, const char *name, struct hf_err *err)
{
	struct stream st;
	struct hf_str piece;
	uint64_t total = 0;
	int to, r;

	if (stream_open(&st, fd, name, err) < 0)
		return -1;
	to = hf_unpack_temp(err);
	r = to < 0 ? -1 : 1;
	while (r > 0 && (r = stream_next(&st, &piece, err)) > 0)
		if (store(to, piece, &total, name, err) < 0)
			r = -1;
	stream_close(&st);
	if (r < 0 && to >= 0)
		close(to);
	return r < 0 ? -1 : to;
}

int
hf_unpack_head(int fd, const char *name, size_t max, struct hf_buf *out,
    struct hf_err *err)
{
	struct stream st;
	struct hf_str piece;
	struct hf_err e;
	size_t from = out->len, n;
	int r = 0;

	if (stream_open(&st, fd, name, err) < 0)
		return -1;
	while (out->len - from < max &&
	    (r = stream_next(&st, &piece, &e)) > 0) {
		n = max - (out->len - from);
		hf_buf_add(out, piece.s, piece.n < n ? piece.n : n);
	}
	stream_close(&st);
	if (r < 0 && (e.code == HF_E_IO || e.code == HF_E_CANCELLED)) {
		if (err != NULL)
			*err = e;
		return -1;
	}
	return 0;
}

/* ---- documents ---- */

/* Does fd begin with a line that is only "{"? */
static bool
begins_document(int fd)
{
	char head[64];
	ssize_t n = hf_io_pread(fd, head, sizeof(head), 0);
	struct hf_str a = hf_strn(head, n > 0 ? (size_t)n : 0);
	size_t i = hf_str_starts(a, "\xef\xbb\xbf") ? 3 : 0;

	while (i < a.n && strchr(" \t\r\n", a.s[i]) != NULL)
		i++;
	if (i == a.n || a.s[i++] != '{')
		return false;
	while (i < a.n && strchr(" \t\r", a.s[i]) != NULL)
		i++;
	return i < a.n && a.s[i] == '\n';
}

static int
read_all(int fd, const char *name, size_t size, struct hf_buf *out,
    struct hf_err *err)
{
	char *p = hf_buf_room(out, size + 1);
	ssize_t n;

	if (p == NULL)
		return 0;
	n = hf_io_pread(fd, p, size, 0);
	if (n < 0)
		return hf_err_sys(err, errno, "cannot read '%s'", name);
	out->len = (size_t)n;
	return hf_sig_check(err);
}

/* Line ends in JSON stand between its tokens, or are damage. */
static int
as_row(struct hf_buf *text, const char *name, struct hf_err *err)
{
	uint64_t total = 0;
	size_t i;
	int to;

	for (i = 0; i < text->len; i++)
		if (text->data[i] == '\n' || text->data[i] == '\r')
			text->data[i] = ' ';
	hf_buf_putc(text, '\n');
	if ((to = hf_unpack_temp(err)) < 0)
		return -1;
	if (store(to, hf_buf_view(text), &total, name, err) == 0)
		return to;
	close(to);
	return -1;
}

int
hf_unpack_document(int fd, const char *name, int *out, struct hf_err *err)
{
	struct hf_buf text = HF_BUF_MAX(HF_JSONL_MAX);
	struct hf_json *j = NULL;
	struct stat sb;
	int rc = 0, to;

	if (!begins_document(fd))
		return 0;
	if (fstat(fd, &sb) < 0)
		return hf_err_sys(err, errno, "cannot read '%s'", name);
	if (sb.st_size < HF_JSONL_MAX - 2)
		rc = read_all(fd, name, (size_t)sb.st_size, &text, err);
	if (rc == 0 && text.len > 0)
		j = hf_json_parse(hf_buf_view(&text), HF_JSON_MEND, NULL,
		    NULL, NULL);
	if (hf_json_type(hf_json_root(j)) == HF_J_OBJ) {
		to = as_row(&text, name, err);
		rc = to < 0 ? -1 : 1;
		if (to >= 0)
			*out = to;
	}
	hf_json_free(j);
	hf_buf_release(&text);
	return rc;
}

int
hf_unpack_spool(int fd, const char *name, struct hf_err *err)
{
	struct pollfd p[2] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = hf_sig_fd(), .events = POLLIN },
	};
	char *chunk = hf_malloc(CHUNK);
	uint64_t total = 0;
	int to = hf_unpack_temp(err), r = to < 0 ? -1 : 0;
	ssize_t n = 1;

	while (r == 0 && n != 0) {
		if ((r = hf_sig_check(err)) < 0)
			break;
		/* A wait that ends without input is one that a signal or
		 * the end of input ended: read says which. */
		poll(p, 2, -1);
		if (hf_sig_got() != 0)
			continue;
		n = read(fd, chunk, CHUNK);
		if (n > 0)
			r = store(to, hf_strn(chunk, (size_t)n), &total, name,
			    err);
		else if (n < 0 && errno != EINTR && errno != EAGAIN)
			r = hf_err_sys(err, errno, "cannot read %s", name);
	}
	free(chunk);
	if (r < 0 && to >= 0)
		close(to);
	return r < 0 ? -1 : to;
}
