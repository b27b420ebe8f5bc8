#include "json/shorten.h"

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Does the scan have to stop at c: a quote, a backslash, a control byte, a
 * part of a longer code point? */
static bool
stops(char c)
{
	unsigned char u = (unsigned char)c;

	return u < 0x20 || u >= 0x80 || u == '"' || u == '\\';
}

#ifdef __SSE2__
static const char *
plain_end(const char *p, const char *end)
{
	const __m128i quote = _mm_set1_epi8('"');
	const __m128i backslash = _mm_set1_epi8('\\');
	const __m128i blank = _mm_set1_epi8(0x20);

	while (end - p >= 16) {
		__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
		/* Signed: what is below a blank or has the high bit. */
		__m128i stop = _mm_or_si128(_mm_cmplt_epi8(v, blank),
		    _mm_or_si128(_mm_cmpeq_epi8(v, quote),
		    _mm_cmpeq_epi8(v, backslash)));
		int mask = _mm_movemask_epi8(stop);

		if (mask != 0)
			return p + __builtin_ctz((unsigned)mask);
		p += 16;
	}
	while (p < end && !stops(*p))
		p++;
	return p;
}
#else
#define EACH(c)	(UINT64_C(0x0101010101010101) * (c))

static const char *
plain_end(const char *p, const char *end)
{
	while (end - p >= 8) {
		uint64_t v, quote, backslash;

		memcpy(&v, p, 8);
		quote = v ^ EACH('"');
		backslash = v ^ EACH('\\');
		/* A byte's high bit: it is zero, or was below a blank (a
		 * false alarm is sorted out below). */
		if (((v | (v - EACH(0x20)) | (quote - EACH(1)) |
		    (backslash - EACH(1))) & EACH(0x80)) != 0)
			break;
		p += 8;
	}
	while (p < end && !stops(*p))
		p++;
	return p;
}
#endif

/* What may follow a backslash, but for u. */
static bool
is_escape(char c)
{
	switch (c) {
	case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r':
	case 't':
		return true;
	default:
		return false;
	}
}

static bool
is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
	    (c >= 'A' && c <= 'F');
}

/* The length of the escape at p, a surrogate pair as one; 0: wrong. */
static size_t
escape_len(const char *p, const char *end)
{
	if (end - p < 2)
		return 0;
	if (is_escape(p[1]))
		return 2;
	if (p[1] != 'u' || end - p < 6 || !is_hex(p[2]) || !is_hex(p[3]) ||
	    !is_hex(p[4]) || !is_hex(p[5]))
		return 0;
	if ((p[2] != 'd' && p[2] != 'D') || p[3] < '8')
		return 6;
	/* A high half needs its low half; one alone is for others to mend. */
	if (strchr("89abAB", p[3]) == NULL || end - p < 12 ||
	    p[6] != '\\' || p[7] != 'u' || (p[8] != 'd' && p[8] != 'D') ||
	    strchr("cdefCDEF", p[9]) == NULL || !is_hex(p[9]) ||
	    !is_hex(p[10]) || !is_hex(p[11]))
		return 0;
	return 12;
}

/* From inside a string: its closing quote, and where to cut it so that
 * at most max bytes are left. NULL: something is wrong. */
static const char *
string_end(const char *s, const char *end, size_t max, const char **cut)
{
	const char *p = s, *q, *limit = s + max;
	size_t n;

	*cut = NULL;
	for (;;) {
		q = plain_end(p, end);
		if (*cut == NULL && q > limit)
			*cut = limit;
		if (q == end)
			return NULL;
		if (*q == '"')
			break;
		n = *q == '\\' ? escape_len(q, end) :
		    hf_utf8_at(q, (size_t)(end - q), NULL);
		if (n == 0 || (n == 1 && *q != '\\'))
			return NULL;
		if (*cut == NULL && q + n > limit)
			*cut = q;
		p = q + n;
	}
	if (*cut == NULL)
		*cut = q;
	return q;
}

bool
hf_shorten(struct hf_buf *out, struct hf_str text, size_t max)
{
	const char *p = text.s, *end = p + text.n, *from = p, *cut;

	for (;;) {
		while (p < end && *p != '"')
			p++;
		if (p == end)
			break;
		p++;
		/* A limit beyond the text could not be pointed to. */
		p = string_end(p, end, max < (size_t)(end - p) ? max :
		    (size_t)(end - p), &cut);
		if (p == NULL)
			return false;
		if (cut < p) {
			hf_buf_add(out, from, (size_t)(cut - from));
			from = p;
		}
		p++;
	}
	hf_buf_add(out, from, (size_t)(end - from));
	return !out->full;
}
