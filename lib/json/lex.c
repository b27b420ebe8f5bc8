#include "json/lex.h"

#include <stdint.h>
#include <string.h>

#define REPLACEMENT	"\xef\xbf\xbd"
#define REPLACEMENT_ESC	"\\ufffd"

/* From inside a string: behind its closing quote, NULL if it goes on. A
 * quote is escaped when an odd number of backslashes stands before it. */
static const char *
string_end(struct hf_lex *l, const char *p, const char *end)
{
	while (p < end) {
		const char *quote, *b;

		if (l->escape) {
			l->escape = false;
			p++;
			continue;
		}
		quote = memchr(p, '"', (size_t)(end - p));
		b = quote != NULL ? quote : end;
		while (b > p && b[-1] == '\\')
			b--;
		l->escape = ((quote != NULL ? quote : end) - b) % 2 == 1;
		if (quote == NULL)
			return NULL;
		p = quote + 1;
		if (!l->escape) {
			l->string = false;
			return p;
		}
		l->escape = false;
	}
	return NULL;
}

size_t
hf_lex_value(struct hf_lex *l, const char *s, size_t n)
{
	const char *p = s, *end = s + n;

	while (p < end) {
		if (l->string) {
			p = string_end(l, p, end);
			if (p == NULL)
				break;
			continue;
		}
		switch (*p++) {
		case '"':
			l->string = true;
			break;
		case '{':
		case '[':
			l->depth++;
			break;
		case '}':
		case ']':
			if (l->depth <= 1)
				return (size_t)(p - s);
			l->depth--;
			break;
		default:
			break;
		}
	}
	return SIZE_MAX;
}

/* ---- mending ---- */

static bool
plain(char c)
{
	unsigned char u = (unsigned char)c;

	return u >= 0x20 && u < 0x80 && u != '"' && u != '\\';
}

static int
hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* The unit of the escape \uXXXX at p, -1 if there is none. */
static int
unit_at(const char *p, const char *end)
{
	int u = 0;

	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return -1;
	for (int i = 2; i < 6; i++) {
		if (hex(p[i]) < 0)
			return -1;
		u = u * 16 + hex(p[i]);
	}
	return u;
}

static bool
is_high(int u)
{
	return u >= 0xd800 && u < 0xdc00;
}

static bool
is_low(int u)
{
	return u >= 0xdc00 && u < 0xe000;
}

static bool
begins_escape(const char *p, const char *end, int u)
{
	return end - p < 2 || (p[1] == 'u' ? u >= 0 :
	    p[1] != '\0' && strchr("\"\\/bfnrt", p[1]) != NULL);
}

/* One escape; wrong ones are left for the parser to refuse, unless they are
 * mended. */
static const char *
mend_escape(struct hf_buf *out, const char *p, const char *end, bool escapes,
    bool *did)
{
	int u = unit_at(p, end);
	size_t n = u >= 0 ? 6 : 2;

	if (escapes && !begins_escape(p, end, u)) {
		*did = true;
		hf_buf_puts(out, "\\\\");
		return p + 1;
	}

	if (is_high(u) && is_low(unit_at(p + 6, end)))
		n = 12;
	else if (is_high(u) || is_low(u)) {
		*did = true;
		hf_buf_puts(out, REPLACEMENT_ESC);
		return p + 6;
	}
	if ((size_t)(end - p) < n)
		n = (size_t)(end - p);
	hf_buf_add(out, p, n);
	return p + n;
}

static void
put_control(struct hf_buf *out, char c)
{
	switch (c) {
	case '\b':
		hf_buf_puts(out, "\\b");
		break;
	case '\t':
		hf_buf_puts(out, "\\t");
		break;
	case '\n':
		hf_buf_puts(out, "\\n");
		break;
	case '\f':
		hf_buf_puts(out, "\\f");
		break;
	case '\r':
		hf_buf_puts(out, "\\r");
		break;
	default:
		hf_buf_printf(out, "\\u%04x", (unsigned)(unsigned char)c);
		break;
	}
}

/* A byte of a string that is neither plain, a quote nor a backslash, and
 * what belongs to it. */
static const char *
mend_byte(struct hf_buf *out, const char *p, const char *end, bool *did)
{
	size_t n = hf_utf8_at(p, (size_t)(end - p), NULL);

	if (n > 1) {
		hf_buf_add(out, p, n);
		return p + n;
	}
	*did = true;
	if (*p == '\0') {
		/* A hole in a file can be any length. */
		hf_buf_puts(out, REPLACEMENT);
		while (p < end && *p == '\0')
			p++;
		return p;
	}
	if (n == 0)
		hf_buf_puts(out, REPLACEMENT);
	else
		put_control(out, *p);
	return p + 1;
}

/* Behind an opening quote: behind the closing one, or the end. */
static const char *
mend_string(struct hf_buf *out, const char *p, const char *end, bool escapes,
    bool *did)
{
	while (p < end) {
		const char *run = p;

		while (p < end && plain(*p))
			p++;
		hf_buf_add(out, run, (size_t)(p - run));
		if (p == end)
			break;
		if (*p == '"') {
			hf_buf_putc(out, *p++);
			break;
		}
		p = *p == '\\' ? mend_escape(out, p, end, escapes, did) :
		    mend_byte(out, p, end, did);
	}
	return p;
}

bool
hf_lex_mend(struct hf_buf *out, struct hf_str text, bool escapes)
{
	const char *p = text.s, *end = text.s + text.n;
	bool did = false;

	while (p < end && !out->full) {
		const char *run = p;

		while (p < end && *p != '"' && *p != '\0')
			p++;
		hf_buf_add(out, run, (size_t)(p - run));
		if (p == end)
			break;
		if (*p == '"') {
			hf_buf_putc(out, *p++);
			p = mend_string(out, p, end, escapes, &did);
		} else {
			did = true;
			hf_buf_putc(out, ' ');
			p++;
		}
	}
	return did;
}

static void
new_line(struct hf_buf *out, size_t depth)
{
	hf_buf_putc(out, '\n');
	while (depth-- > 0 && !out->full)
		hf_buf_puts(out, "  ");
}

void
hf_lex_pretty(struct hf_buf *out, struct hf_str compact)
{
	const char *p = compact.s, *end = p + compact.n;
	struct hf_lex l = { 0, false, false };

	while (p < end && !out->full) {
		const char *run = p;

		while (p < end && strchr("\"{}[],:", *p) == NULL)
			p++;
		if (p < end && *p == '"') {
			p = string_end(&l, p + 1, end);
			if (p == NULL)
				p = end;
		}
		hf_buf_add(out, run, (size_t)(p - run));
		if (p == end || *p == '"')
			continue;
		if ((*p == '}' || *p == ']') && l.depth > 0 && p[-1] != '{' &&
		    p[-1] != '[')
			new_line(out, l.depth - 1);
		l.depth -= (*p == '}' || *p == ']') && l.depth > 0;
		hf_buf_putc(out, *p);
		if (*p == ':')
			hf_buf_putc(out, ' ');
		l.depth += *p == '{' || *p == '[';
		p++;
		if (p[-1] == ',' || ((p[-1] == '{' || p[-1] == '[') &&
		    p < end && *p != '}' && *p != ']'))
			new_line(out, l.depth);
	}
	hf_buf_putc(out, '\n');
}

void
hf_lex_escape(struct hf_buf *out, struct hf_str a)
{
	const char *p = a.s, *end = a.n > 0 ? a.s + a.n : a.s;

	while (p < end) {
		const char *run = p;
		size_t n;

		while (p < end && plain(*p))
			p++;
		hf_buf_add(out, run, (size_t)(p - run));
		if (p == end)
			break;
		n = hf_utf8_at(p, (size_t)(end - p), NULL);
		if (n > 1) {
			hf_buf_add(out, p, n);
		} else if (n == 0) {
			hf_buf_puts(out, REPLACEMENT);
		} else if (*p == '"' || *p == '\\') {
			hf_buf_putc(out, '\\');
			hf_buf_putc(out, *p);
		} else {
			put_control(out, *p);
		}
		p += n > 1 ? n : 1;
	}
}
