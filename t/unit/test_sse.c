/*
 * The reader of event streams: every split, every line end, every bound.
 */
#include "check.h"
#include "model/sse.h"

/* Events as "name|data;" in a row. */
static int
gather(struct hf_str name, struct hf_str data, void *arg, struct hf_err *err)
{
	struct hf_buf *out = arg;

	(void)err;
	hf_buf_str(out, name);
	hf_buf_putc(out, '|');
	hf_buf_str(out, data);
	hf_buf_putc(out, ';');
	return 0;
}

/* What comes of bytes fed in two pieces, split at. */
static void
fed(struct hf_buf *out, struct hf_str bytes, size_t at)
{
	struct hf_sse s = { .event = gather, .arg = out };
	struct hf_err err = { HF_OK, "" };

	hf_buf_clear(out);
	hf_sse_init(&s);
	CHECK_INT(hf_sse_feed(&s, hf_strn(bytes.s, at), &err), 0);
	CHECK_INT(hf_sse_feed(&s, hf_strn(bytes.s + at, bytes.n - at), &err),
	    0);
	CHECK_INT(hf_sse_end(&s, &err), 0);
	hf_sse_release(&s);
}

static void
splits(const char *stream, size_t n, const char *want)
{
	struct hf_buf out = HF_BUF_INIT;
	bool good = true;
	size_t i;

	for (i = 0; i <= n && good; i++) {
		fed(&out, hf_strn(stream, n), i);
		good = CHECK_STR(hf_buf_cstr(&out), want);
	}
	hf_buf_release(&out);
}

#define SPLITS(stream, want)	splits(stream, sizeof(stream) - 1, want)

static void
streams(void)
{
	SPLITS("data: a\n\ndata: b\n\n", "|a;|b;");
	SPLITS("event: x\r\ndata: a\r\n\r\nevent:y\r\ndata:b\r\n\r\n",
	    "x|a;y|b;");
	SPLITS("data: a\r\rdata: b\r\r", "|a;|b;");
	SPLITS("data: 1\ndata: 2\ndata:  3\ndata\ndata:\n\n",
	    "|1\n2\n 3\n\n;");
	SPLITS(": keep-alive\n\n:\n\ndata: a\n: in between\ndata: b\n\n",
	    "|a\nb;");
	SPLITS("\xef\xbb\xbf" "data: \xe6\xbc\xa2\n\n", "|\xe6\xbc\xa2;");
	SPLITS("id: 7\nretry: 10\nfoo: bar\nevent: e\n\ndata: a\n\n", "|a;");
	/* Without the last blank line, and without the last line end. */
	SPLITS("data: a\n\ndata: b\n", "|a;|b;");
	SPLITS("event: e\ndata: a", "e|a;");
	SPLITS("", "");
	SPLITS("\n\n\r\n", "");
	/* A name that is longer than any we know is no name. */
	SPLITS("event: 0123456789012345678901234567890123456789012345678901"
	    "2345678901234567890\ndata: a\n\n", "|a;");
}

static int
stop(struct hf_str name, struct hf_str data, void *arg, struct hf_err *err)
{
	int *left = arg;

	(void)name;
	(void)data;
	if (--*left > 0)
		return 0;
	return hf_err_set(err, HF_E_REFUSED, "enough");
}

static void
stops(void)
{
	int left = 2;
	struct hf_sse s = { .event = stop, .arg = &left };
	struct hf_err err = { HF_OK, "" };

	hf_sse_init(&s);
	CHECK_INT(hf_sse_feed(&s, HF_STR("data:1\n\ndata:2\n\ndata:3\n\n"),
	    &err), -1);
	CHECK_INT(left, 0);
	CHECK_STR(err.msg, "enough");
	hf_sse_release(&s);
}

/* Lines and events have an end, however they come. */
static void
bounds(const char *piece)
{
	struct hf_buf out = HF_BUF_INIT;
	struct hf_sse s = { .event = gather, .arg = &out };
	struct hf_err err = { HF_OK, "" };
	size_t fed_bytes = 0;
	int rc = 0;

	hf_sse_init(&s);
	while (rc == 0 && fed_bytes < 2 * HF_SSE_MAX) {
		rc = hf_sse_feed(&s, hf_str(piece), &err);
		fed_bytes += strlen(piece);
	}
	CHECK_INT(rc, -1);
	CHECK_INT(err.code, HF_E_OVERFLOW);
	CHECK(out.len == 0);
	hf_sse_release(&s);
	hf_buf_release(&out);
}

int
main(void)
{
	char line[4096];

	streams();
	stops();
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	bounds(line);
	memcpy(line, "data: ", 6);
	line[sizeof(line) - 2] = '\n';
	bounds(line);
	return check_done();
}
