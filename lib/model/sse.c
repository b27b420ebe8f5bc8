#include "model/sse.h"

#include <string.h>

enum { KEEP = 64 << 10 };	/* memory that stays between events */

void
hf_sse_init(struct hf_sse *s)
{
	s->line = s->data = (struct hf_buf)HF_BUF_MAX(HF_SSE_MAX);
	s->name[0] = '\0';
	s->begun = s->cr = s->any = false;
}

void
hf_sse_release(struct hf_sse *s)
{
	hf_buf_release(&s->line);
	hf_buf_release(&s->data);
}

static void
empty(struct hf_buf *b)
{
	if (b->cap > KEEP) {
		hf_buf_release(b);
		b->max = HF_SSE_MAX;
	}
	hf_buf_clear(b);
}

/* A blank line: the event is whole. One without data is none. */
static int
dispatch(struct hf_sse *s, struct hf_err *err)
{
	int rc = 0;

	if (s->any)
		rc = s->event(hf_str(s->name), hf_buf_view(&s->data), s->arg,
		    err);
	s->name[0] = '\0';
	s->any = false;
	empty(&s->data);
	return rc;
}

static int
too_long(struct hf_err *err)
{
	return hf_err_set(err, HF_E_OVERFLOW,
	    "an event of the answer has more than %d bytes", HF_SSE_MAX);
}

static int
field(struct hf_sse *s, struct hf_str name, struct hf_str value,
    struct hf_err *err)
{
	if (hf_str_is(name, "event")) {
		/* No name that we know is as long. */
		if (value.n >= sizeof(s->name))
			value.n = 0;
		memcpy(s->name, value.n > 0 ? value.s : "", value.n);
		s->name[value.n] = '\0';
	} else if (hf_str_is(name, "data")) {
		if (s->any)
			hf_buf_putc(&s->data, '\n');
		hf_buf_str(&s->data, value);
		s->any = true;
		if (s->data.full)
			return too_long(err);
	}
	return 0;
}

/* The line in s->line is whole. */
static int
line(struct hf_sse *s, struct hf_err *err)
{
	struct hf_str a = hf_buf_view(&s->line), value;
	size_t colon;
	int rc;

	if (s->line.full)
		return too_long(err);
	if (!s->begun && hf_str_starts(a, "\xef\xbb\xbf"))
		a = hf_strn(a.s + 3, a.n - 3);
	s->begun = true;
	colon = hf_str_find(a, HF_STR(":"), 0);
	if (a.n == 0) {
		rc = dispatch(s, err);
	} else if (colon == SIZE_MAX) {
		rc = field(s, a, HF_STR(""), err);
	} else {
		value = hf_strn(a.s + colon + 1, a.n - colon - 1);
		if (hf_str_starts(value, " "))
			value = hf_strn(value.s + 1, value.n - 1);
		rc = field(s, hf_strn(a.s, colon), value, err);
	}
	empty(&s->line);
	return rc;
}

int
hf_sse_feed(struct hf_sse *s, struct hf_str bytes, struct hf_err *err)
{
	size_t i = 0, from;
	int rc;

	while (i < bytes.n) {
		/* The LF of a CRLF, perhaps split from its CR. */
		if (s->cr && bytes.s[i] == '\n') {
			s->cr = false;
			i++;
			continue;
		}
		s->cr = false;
		for (from = i; i < bytes.n && bytes.s[i] != '\n' &&
		    bytes.s[i] != '\r'; i++)
			;
		hf_buf_add(&s->line, bytes.s + from, i - from);
		if (s->line.full)
			return too_long(err);
		if (i == bytes.n)
			break;
		s->cr = bytes.s[i++] == '\r';
		if ((rc = line(s, err)) != 0)
			return rc;
	}
	return 0;
}

int
hf_sse_end(struct hf_sse *s, struct hf_err *err)
{
	int rc;

	if (s->line.len > 0 && (rc = line(s, err)) != 0)
		return rc;
	return dispatch(s, err);
}
