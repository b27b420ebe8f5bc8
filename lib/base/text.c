#define _GNU_SOURCE	/* memmem, in POSIX since 2024 only */

#include <string.h>

#include "base/buf.h"
#include "base/text.h"

#define REPLACEMENT	"\xef\xbf\xbd"
#define ELLIPSIS	"\xe2\x80\xa6"

struct hf_str
hf_str(const char *s)
{
	return (struct hf_str){ s, s != NULL ? strlen(s) : 0 };
}

struct hf_str
hf_strn(const char *s, size_t n)
{
	return (struct hf_str){ s, n };
}

static struct hf_str
skip(struct hf_str a, size_t n)
{
	return hf_strn(a.s + n, a.n - n);
}

bool
hf_str_eq(struct hf_str a, struct hf_str b)
{
	if (a.s == NULL || b.s == NULL)
		return a.s == b.s;
	return a.n == b.n && memcmp(a.s, b.s, a.n) == 0;
}

bool
hf_str_is(struct hf_str a, const char *lit)
{
	return hf_str_eq(a, hf_str(lit));
}

bool
hf_str_starts(struct hf_str a, const char *lit)
{
	size_t n = strlen(lit);

	return n == 0 || (a.n >= n && memcmp(a.s, lit, n) == 0);
}

bool
hf_str_ends(struct hf_str a, const char *lit)
{
	size_t n = strlen(lit);

	return n == 0 || (a.n >= n && memcmp(a.s + a.n - n, lit, n) == 0);
}

/* Not tolower: what is folded must not hang on the locale. */
static int
fold(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static bool
ieq(const char *a, const char *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fold(a[i]) != fold(b[i]))
			return false;
	return true;
}

bool
hf_str_ieq(struct hf_str a, struct hf_str b)
{
	if (a.s == NULL || b.s == NULL)
		return a.s == b.s;
	return a.n == b.n && ieq(a.s, b.s, a.n);
}

bool
hf_str_istarts(struct hf_str a, const char *lit)
{
	size_t n = strlen(lit);

	return a.n >= n && ieq(a.s, lit, n);
}

size_t
hf_str_find(struct hf_str hay, struct hf_str needle, size_t from)
{
	const char *p;

	if (from > hay.n)
		return SIZE_MAX;
	if (needle.n == 0)
		return from;
	if (hay.n - from < needle.n)
		return SIZE_MAX;
	p = memmem(hay.s + from, hay.n - from, needle.s, needle.n);
	return p != NULL ? (size_t)(p - hay.s) : SIZE_MAX;
}

size_t
hf_str_ifind(struct hf_str hay, const char *lit, size_t from)
{
	size_t n = strlen(lit);

	if (n == 0)
		return from <= hay.n ? from : SIZE_MAX;
	for (size_t i = from; i <= hay.n && hay.n - i >= n; i++)
		if (ieq(hay.s + i, lit, n))
			return i;
	return SIZE_MAX;
}

static bool
blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static const char *const wide_blanks[] = {
	"\xc2\xa0", "\xe3\x80\x80", "\xef\xbb\xbf"
};

/* The length of the white space that a begins, or ends, with. */
static size_t
blank_at(struct hf_str a, bool end)
{
	if (a.n > 0 && blank(end ? a.s[a.n - 1] : a.s[0]))
		return 1;
	for (size_t i = 0; i < 3; i++)
		if (end ? hf_str_ends(a, wide_blanks[i]) :
		    hf_str_starts(a, wide_blanks[i]))
			return strlen(wide_blanks[i]);
	return 0;
}

struct hf_str
hf_str_trim(struct hf_str a)
{
	size_t n;

	while ((n = blank_at(a, false)) > 0)
		a = skip(a, n);
	while ((n = blank_at(a, true)) > 0)
		a.n -= n;
	return a;
}

struct hf_str
hf_str_line(struct hf_str a, struct hf_str *rest)
{
	const char *lf = a.n > 0 ? memchr(a.s, '\n', a.n) : NULL;
	size_t n = lf != NULL ? (size_t)(lf - a.s) : a.n;

	if (rest != NULL)
		*rest = a.s == NULL ? a : skip(a, lf != NULL ? n + 1 : n);
	if (lf != NULL && n > 0 && a.s[n - 1] == '\r')
		n--;
	return hf_strn(a.s, n);
}

/* The smallest code point that takes so many bytes. */
static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };

size_t
hf_utf8_at(const char *s, size_t n, uint32_t *cp)
{
	unsigned char c;
	uint32_t v;
	size_t len;

	if (n == 0)
		return 0;
	c = (unsigned char)s[0];
	if (c < 0x80) {
		if (cp != NULL)
			*cp = c;
		return 1;
	}
	if (c < 0xc2 || c > 0xf4)
		return 0;
	len = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	if (n < len)
		return 0;
	v = c & (0x7fU >> len);
	for (size_t i = 1; i < len; i++) {
		c = (unsigned char)s[i];
		if ((c & 0xc0) != 0x80)
			return 0;
		v = v << 6 | (c & 0x3fU);
	}
	if (v < least[len] || v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
		return 0;
	if (cp != NULL)
		*cp = v;
	return len;
}

/* How many bytes from s on are surely ASCII, eight at a time: most of what
 * is read is. */
static size_t
ascii_run(const char *s, size_t n)
{
	uint64_t w;
	size_t i = 0;

	for (; n - i >= sizeof(w); i += sizeof(w)) {
		memcpy(&w, s + i, sizeof(w));
		if ((w & UINT64_C(0x8080808080808080)) != 0)
			break;
	}
	return i;
}

/* The length of the valid UTF-8 that a begins with. */
static size_t
valid_run(struct hf_str a)
{
	size_t i = 0, step = 1;

	while (i < a.n && step > 0) {
		i += ascii_run(a.s + i, a.n - i);
		step = hf_utf8_at(a.s + i, a.n - i, NULL);
		i += step;
	}
	return i;
}

bool
hf_utf8_valid(struct hf_str a)
{
	return valid_run(a) == a.n;
}

size_t
hf_utf8_put(uint32_t cp, char out[4])
{
	size_t len = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	if (cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff)) {
		memcpy(out, REPLACEMENT, 3);
		return 3;
	}
	for (size_t i = len - 1; i > 0; i--) {
		out[i] = (char)(unsigned char)(0x80 | (cp & 0x3f));
		cp >>= 6;
	}
	out[0] = (char)(unsigned char)(lead[len] | cp);
	return len;
}

size_t
hf_utf8_cut(struct hf_str a, size_t n)
{
	if (n >= a.n)
		return a.n;
	for (size_t back = 1; back <= 3 && back <= n; back++) {
		size_t i = n - back;
		unsigned char c = (unsigned char)a.s[i];

		if ((c & 0xc0) == 0x80)
			continue;
		if (hf_utf8_at(a.s + i, a.n - i, NULL) > back)
			return i;
		break;
	}
	return n;
}

/* The code point at i and its length; for a bad byte U+FFFD and 1. */
static size_t
step_at(struct hf_str a, size_t i, uint32_t *cp)
{
	size_t step = hf_utf8_at(a.s + i, a.n - i, cp);

	if (step > 0)
		return step;
	*cp = 0xfffd;
	return 1;
}

size_t
hf_utf8_count(struct hf_str a)
{
	size_t count = 0, run;
	uint32_t cp;

	for (size_t i = 0; i < a.n; count++) {
		run = ascii_run(a.s + i, a.n - i);
		i += run;
		count += run;
		if (i == a.n)
			break;
		i += step_at(a, i, &cp);
	}
	return count;
}

size_t
hf_utf16_count(struct hf_str a)
{
	size_t count = 0;
	uint32_t cp;

	for (size_t i = 0; i < a.n; ) {
		i += step_at(a, i, &cp);
		count += cp >= 0x10000 ? 2 : 1;
	}
	return count;
}

size_t
hf_utf8_offset(struct hf_str a, size_t k)
{
	size_t i = 0;
	uint32_t cp;

	for (; k > 0 && i < a.n; k--)
		i += step_at(a, i, &cp);
	return i;
}

void
hf_utf8_repair(struct hf_buf *out, struct hf_str a)
{
	while (a.n > 0) {
		size_t n = valid_run(a);

		hf_buf_add(out, a.s, n);
		if (n == a.n)
			return;
		hf_buf_puts(out, REPLACEMENT);
		a = skip(a, n + 1);
	}
}

bool
hf_text_harmful(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp <= 0x9f) ||
	    cp == 0x2028 || cp == 0x2029 ||
	    (cp >= 0x202a && cp <= 0x202e) || (cp >= 0x2066 && cp <= 0x2069);
}

enum safe_mode { SAFE_PLAIN, SAFE_LINES, SAFE_ONE_LINE };

/* What is shown for cp, NULL for itself. */
static const char *
shown(uint32_t cp, bool bad, enum safe_mode mode)
{
	if (bad)
		return REPLACEMENT;
	if (!hf_text_harmful(cp))
		return NULL;
	if (cp == '\n' || cp == '\t') {
		if (mode == SAFE_LINES)
			return NULL;
		if (mode == SAFE_ONE_LINE)
			return " ";
	}
	return "?";
}

static void
make_safe(struct hf_buf *out, struct hf_str a, enum safe_mode mode)
{
	size_t run = 0, step;
	const char *instead;
	uint32_t cp = 0;

	for (size_t i = 0; i < a.n; i += step) {
		step = hf_utf8_at(a.s + i, a.n - i, &cp);
		instead = shown(cp, step == 0, mode);
		if (step == 0)
			step = 1;
		if (instead == NULL)
			continue;
		hf_buf_add(out, a.s + run, i - run);
		hf_buf_puts(out, instead);
		run = i + step;
	}
	if (a.n > run)
		hf_buf_add(out, a.s + run, a.n - run);
}

void
hf_text_safe(struct hf_buf *out, struct hf_str a, bool keep_newlines)
{
	make_safe(out, a, keep_newlines ? SAFE_LINES : SAFE_PLAIN);
}

/* Code points that do not take one column, after Unicode 15: the ranges
 * that are met in practice. In order. */
static const struct {
	uint32_t first, last;
	unsigned columns;
} widths[] = {
	{ 0x0300, 0x036f, 0 }, { 0x0483, 0x0489, 0 }, { 0x0591, 0x05bd, 0 },
	{ 0x05bf, 0x05bf, 0 }, { 0x05c1, 0x05c2, 0 }, { 0x05c4, 0x05c5, 0 },
	{ 0x05c7, 0x05c7, 0 }, { 0x0610, 0x061a, 0 }, { 0x061c, 0x061c, 0 },
	{ 0x064b, 0x065f, 0 }, { 0x0670, 0x0670, 0 }, { 0x06d6, 0x06dc, 0 },
	{ 0x06df, 0x06e4, 0 }, { 0x06e7, 0x06e8, 0 }, { 0x06ea, 0x06ed, 0 },
	{ 0x0900, 0x0902, 0 }, { 0x093a, 0x093a, 0 }, { 0x093c, 0x093c, 0 },
	{ 0x0941, 0x0948, 0 }, { 0x094d, 0x094d, 0 }, { 0x0e31, 0x0e31, 0 },
	{ 0x0e34, 0x0e3a, 0 }, { 0x0e47, 0x0e4e, 0 }, { 0x1100, 0x115f, 2 },
	{ 0x1160, 0x11ff, 0 }, { 0x1ab0, 0x1aff, 0 }, { 0x1dc0, 0x1dff, 0 },
	{ 0x200b, 0x200f, 0 }, { 0x2060, 0x2064, 0 }, { 0x20d0, 0x20ff, 0 },
	{ 0x231a, 0x231b, 2 }, { 0x2329, 0x232a, 2 }, { 0x23e9, 0x23ec, 2 },
	{ 0x23f0, 0x23f0, 2 }, { 0x23f3, 0x23f3, 2 }, { 0x25fd, 0x25fe, 2 },
	{ 0x2614, 0x2615, 2 }, { 0x2648, 0x2653, 2 }, { 0x267f, 0x267f, 2 },
	{ 0x2693, 0x2693, 2 }, { 0x26a1, 0x26a1, 2 }, { 0x26aa, 0x26ab, 2 },
	{ 0x26bd, 0x26be, 2 }, { 0x26c4, 0x26c5, 2 }, { 0x26ce, 0x26ce, 2 },
	{ 0x26d4, 0x26d4, 2 }, { 0x26ea, 0x26ea, 2 }, { 0x26f2, 0x26f3, 2 },
	{ 0x26f5, 0x26f5, 2 }, { 0x26fa, 0x26fa, 2 }, { 0x26fd, 0x26fd, 2 },
	{ 0x2705, 0x2705, 2 }, { 0x270a, 0x270b, 2 }, { 0x2728, 0x2728, 2 },
	{ 0x274c, 0x274c, 2 }, { 0x274e, 0x274e, 2 }, { 0x2753, 0x2755, 2 },
	{ 0x2757, 0x2757, 2 }, { 0x2795, 0x2797, 2 }, { 0x27b0, 0x27b0, 2 },
	{ 0x27bf, 0x27bf, 2 }, { 0x2b1b, 0x2b1c, 2 }, { 0x2b50, 0x2b50, 2 },
	{ 0x2b55, 0x2b55, 2 }, { 0x2e80, 0x3029, 2 }, { 0x302a, 0x302d, 0 },
	{ 0x302e, 0x303e, 2 }, { 0x3041, 0x3098, 2 }, { 0x3099, 0x309a, 0 },
	{ 0x309b, 0x4dbf, 2 }, { 0x4e00, 0xa4cf, 2 }, { 0xa960, 0xa97f, 2 },
	{ 0xac00, 0xd7a3, 2 }, { 0xf900, 0xfaff, 2 }, { 0xfe00, 0xfe0f, 0 },
	{ 0xfe10, 0xfe19, 2 }, { 0xfe20, 0xfe2f, 0 }, { 0xfe30, 0xfe6f, 2 },
	{ 0xfeff, 0xfeff, 0 }, { 0xff01, 0xff60, 2 }, { 0xffe0, 0xffe6, 2 },
	{ 0x16fe0, 0x18cff, 2 }, { 0x1b000, 0x1b2ff, 2 },
	{ 0x1f004, 0x1f004, 2 }, { 0x1f0cf, 0x1f0cf, 2 },
	{ 0x1f18e, 0x1f18e, 2 }, { 0x1f191, 0x1f19a, 2 },
	{ 0x1f200, 0x1f320, 2 }, { 0x1f32d, 0x1f335, 2 },
	{ 0x1f337, 0x1f37c, 2 }, { 0x1f37e, 0x1f393, 2 },
	{ 0x1f3a0, 0x1f3ca, 2 }, { 0x1f3cf, 0x1f3d3, 2 },
	{ 0x1f3e0, 0x1f3f0, 2 }, { 0x1f3f4, 0x1f3f4, 2 },
	{ 0x1f3f8, 0x1f43e, 2 }, { 0x1f440, 0x1f440, 2 },
	{ 0x1f442, 0x1f4fc, 2 }, { 0x1f4ff, 0x1f53d, 2 },
	{ 0x1f54b, 0x1f54e, 2 }, { 0x1f550, 0x1f567, 2 },
	{ 0x1f57a, 0x1f57a, 2 }, { 0x1f595, 0x1f596, 2 },
	{ 0x1f5a4, 0x1f5a4, 2 }, { 0x1f5fb, 0x1f64f, 2 },
	{ 0x1f680, 0x1f6c5, 2 }, { 0x1f6cc, 0x1f6cc, 2 },
	{ 0x1f6d0, 0x1f6d2, 2 }, { 0x1f6d5, 0x1f6d7, 2 },
	{ 0x1f6dc, 0x1f6df, 2 }, { 0x1f6eb, 0x1f6ec, 2 },
	{ 0x1f6f4, 0x1f6fc, 2 }, { 0x1f7e0, 0x1f7eb, 2 },
	{ 0x1f90c, 0x1f93a, 2 }, { 0x1f93c, 0x1f945, 2 },
	{ 0x1f947, 0x1f9ff, 2 }, { 0x1fa70, 0x1faff, 2 },
	{ 0x20000, 0x3fffd, 2 }, { 0xe0100, 0xe01ef, 0 },
};

static size_t
columns(uint32_t cp)
{
	size_t low = 0, high = sizeof(widths) / sizeof(widths[0]);

	if (cp < widths[0].first)
		return 1;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (cp > widths[mid].last)
			low = mid + 1;
		else if (cp < widths[mid].first)
			high = mid;
		else
			return widths[mid].columns;
	}
	return 1;
}

size_t
hf_text_width(struct hf_str a)
{
	size_t width = 0;
	uint32_t cp;

	for (size_t i = 0; i < a.n; ) {
		i += step_at(a, i, &cp);
		width += columns(cp);
	}
	return width;
}

void
hf_text_clip(struct hf_buf *out, struct hf_str a, size_t width)
{
	size_t used = 0, cut = 0, step;
	uint32_t cp;

	/* cut follows as long as the ellipsis would still fit behind it. */
	for (size_t i = 0; i < a.n && used <= width; i += step) {
		step = step_at(a, i, &cp);
		used += columns(cp);
		if (used < width)
			cut = i + step;
	}
	if (used <= width) {
		make_safe(out, a, SAFE_ONE_LINE);
	} else if (width > 0) {
		make_safe(out, hf_strn(a.s, cut), SAFE_ONE_LINE);
		hf_buf_puts(out, ELLIPSIS);
	}
}

static bool
word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

void
hf_text_percent(struct hf_buf *out, struct hf_str a)
{
	static const char hex[] = "0123456789ABCDEF";

	for (size_t i = 0; i < a.n; i++) {
		unsigned char c = (unsigned char)a.s[i];
		char code[3] = { '%', hex[c >> 4], hex[c & 15] };

		if (word_char(a.s[i]) || a.s[i] == '-')
			hf_buf_putc(out, a.s[i]);
		else
			hf_buf_add(out, code, sizeof(code));
	}
}

void
hf_text_hex(struct hf_buf *out, const void *p, size_t n)
{
	static const char hex[] = "0123456789abcdef";
	const unsigned char *bytes = p;

	for (size_t i = 0; i < n; i++) {
		char code[2] = { hex[bytes[i] >> 4], hex[bytes[i] & 15] };

		hf_buf_add(out, code, sizeof(code));
	}
}

/* Means itself in every shell, at any place of a word. '=' does not: it
 * makes assignments; nor does '~'. */
static bool
shell_plain(char c)
{
	return word_char(c) || (c >= 'A' && c <= 'Z') ||
	    (c != '\0' && strchr("-./:,@%+", c) != NULL);
}

void
hf_text_shell(struct hf_buf *out, struct hf_str a)
{
	size_t i = 0;

	while (i < a.n && shell_plain(a.s[i]))
		i++;
	if (a.n > 0 && i == a.n) {
		hf_buf_str(out, a);
		return;
	}
	hf_buf_putc(out, '\'');
	for (i = 0; i < a.n; i++) {
		if (a.s[i] == '\'')
			hf_buf_puts(out, "'\\''");
		else
			hf_buf_putc(out, a.s[i]);
	}
	hf_buf_putc(out, '\'');
}

static bool
digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Cuts the digits off the front of *a. */
static struct hf_str
take_digits(struct hf_str *a)
{
	struct hf_str d = *a;

	while (a->n > 0 && digit(a->s[0]))
		*a = skip(*a, 1);
	d.n -= a->n;
	return d;
}

static bool
take(struct hf_str *a, char c)
{
	if (a->n == 0 || a->s[0] != c)
		return false;
	*a = skip(*a, 1);
	return true;
}

void
hf_text_fill(struct hf_buf *out, const char *word,
    const struct hf_fill *vars, size_t n)
{
	while (*word != '\0') {
		size_t i = 0;

		while (i < n && strncmp(word, vars[i].name,
		    strlen(vars[i].name)) != 0)
			i++;
		if (i == n) {
			hf_buf_putc(out, *word++);
			continue;
		}
		if (vars[i].value != NULL)
			hf_buf_puts(out, vars[i].value);
		word += strlen(vars[i].name);
	}
}

bool
hf_text_int(struct hf_str a, int64_t *out)
{
	bool negative = take(&a, '-');
	struct hf_str d = take_digits(&a);
	int64_t v = 0;

	if (d.n == 0 || a.n > 0)
		return false;
	/* Downwards for a negative one: INT64_MIN has no opposite. */
	for (size_t i = 0; i < d.n; i++) {
		int64_t one = d.s[i] - '0';

		if (__builtin_mul_overflow(v, (int64_t)10, &v) ||
		    __builtin_add_overflow(v, negative ? -one : one, &v))
			return false;
	}
	*out = v;
	return true;
}

/* A JSON number in its parts: the digits before and behind the point, and
 * the exponent, held within what a text in memory can make up for. */
struct number {
	bool negative;
	struct hf_str whole, fraction;
	int64_t exponent;
};

enum { EXPONENT_DIGITS = 17 };

static bool
parse_number(struct hf_str a, struct number *num)
{
	*num = (struct number){ .negative = take(&a, '-') };
	num->whole = take_digits(&a);
	if (num->whole.n == 0 || (num->whole.n > 1 && num->whole.s[0] == '0'))
		return false;
	if (take(&a, '.')) {
		num->fraction = take_digits(&a);
		if (num->fraction.n == 0)
			return false;
	}
	if (take(&a, 'e') || take(&a, 'E')) {
		bool negative = take(&a, '-');
		struct hf_str d;

		if (!negative)
			take(&a, '+');
		d = take_digits(&a);
		if (d.n == 0)
			return false;
		while (d.n > 1 && d.s[0] == '0')
			d = skip(d, 1);
		if (d.n > EXPONENT_DIGITS)
			d = HF_STR("99999999999999999");
		hf_text_int(d, &num->exponent);
		if (negative)
			num->exponent = -num->exponent;
	}
	return a.n == 0;
}

/* Digit k of the number written without its point; zeros follow the last. */
static int
digit_at(const struct number *num, size_t k)
{
	if (k < num->whole.n)
		return num->whole.s[k] - '0';
	k -= num->whole.n;
	return k < num->fraction.n ? num->fraction.s[k] - '0' : 0;
}

bool
hf_text_ppm(struct hf_str a, int64_t *out)
{
	struct number num;
	size_t all, first = 0;
	int64_t kept, v = 0;
	bool rest = false;

	if (!parse_number(a, &num))
		return false;
	all = num.whole.n + num.fraction.n;
	while (first < all && digit_at(&num, first) == 0)
		first++;
	/* So many digits stand before the point of the parts per million. */
	kept = (int64_t)num.whole.n + 6 + num.exponent;
	if (first < all && kept > (int64_t)first + 19)
		return false;
	for (size_t k = first; k < all || (int64_t)k < kept; k++) {
		if ((int64_t)k >= kept) {
			rest = rest || digit_at(&num, k) != 0;
			continue;
		}
		if (first == all)
			break;
		if (__builtin_mul_overflow(v, (int64_t)10, &v) ||
		    __builtin_add_overflow(v, (int64_t)digit_at(&num, k), &v))
			return false;
	}
	*out = num.negative ? -v - rest : v;
	return true;
}
