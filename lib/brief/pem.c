#include "brief/pem.h"

#include <string.h>

#include "brief/chars.h"

enum {
	LABEL_MAX = 64,		/* between the dashes */
	LINE_MIN = 16,		/* base64 of a line of the key */
	FIRST_MIN = 32,		/* and of at least one of them */
	GAP_MAX = 32,		/* between lines: a number, quotes, a bar */
	HEADERS_MAX = 400,	/* Proc-Type, DEK-Info, Version … */
	BODY_MAX = 64 << 10
};

/* The end of "-----word LABEL-----" at at, when its label says private key;
 * or 0. */
static size_t
boundary(struct hf_str text, size_t at, const char *word)
{
	struct hf_str rest = hf_strn(text.s + at, text.n - at), label;
	size_t n = strlen(word), i;

	if (!hf_str_starts(rest, word))
		return 0;
	for (i = n; i < rest.n && i - n < LABEL_MAX; i++)
		if (rest.s[i] != ' ' && (hf_chars(rest.s[i]) &
		    (HF_CH_UPPER | HF_CH_DIGIT)) == 0)
			break;
	label = hf_strn(rest.s + n, i - n);
	if (hf_str_find(label, HF_STR("PRIVATE KEY"), 0) == SIZE_MAX ||
	    !hf_str_starts(hf_strn(rest.s + i, rest.n - i), "-----"))
		return 0;
	return at + i + 5;
}

/* The next run of at least LINE_MIN characters of base64 within max bytes
 * from i. */
static bool
next_line(struct hf_str text, size_t i, size_t max, struct hf_span *out)
{
	size_t stop = text.n - i > max ? i + max : text.n, end;

	for (; i < stop; i = end + 1) {
		end = hf_chars_run(text, i, HF_CH_BASE64, BODY_MAX);
		if (end - i < LINE_MIN)
			continue;
		/* The n of a "\n" belongs to no line. */
		if (i > 0 && text.s[i - 1] == '\\' && end - i > LINE_MIN)
			i++;
		*out = (struct hf_span){ i, end };
		return true;
	}
	return false;
}

static bool
headers(struct hf_str text, size_t i)
{
	static const char *const name[] = { "Proc-Type:", "DEK-Info:",
	    "Version:", "Comment:" };
	struct hf_str near = hf_strn(text.s + i, text.n - i < GAP_MAX ?
	    text.n - i : GAP_MAX);

	for (size_t k = 0; k < sizeof(name) / sizeof(name[0]); k++)
		if (hf_str_find(near, hf_str(name[k]), 0) != SIZE_MAX)
			return true;
	return false;
}

/* The end of the lines of a key that begin at i, or 0 if there are none. A
 * short last line counts when it has its padding or nothing follows. */
static size_t
lines(struct hf_str text, size_t i)
{
	size_t max = headers(text, i) ? HEADERS_MAX : GAP_MAX, end = 0, k;
	size_t longest = 0;
	struct hf_span line;

	while (next_line(text, i, max, &line)) {
		if (line.to - line.from > longest)
			longest = line.to - line.from;
		i = end = line.to;
		while (end < text.n && text.s[end] == '=')
			end++;
		if (end > i)
			break;
		max = GAP_MAX;
	}
	if (longest < FIRST_MIN)
		return 0;
	/* What is shorter than a line, directly behind the line's end. */
	k = end;
	while (k < text.n && k - end < GAP_MAX &&
	    (hf_chars(text.s[k]) & HF_CH_BASE64) == 0)
		k++;
	if (k < text.n && text.s[k - 1] == '\\')
		k++;
	i = hf_chars_run(text, k, HF_CH_BASE64, LINE_MIN);
	while (i < text.n && text.s[i] == '=')
		i++;
	if (i > k && (i == text.n || text.s[i - 1] == '='))
		end = i;
	return end;
}

/* Are the bytes between the boundaries lines of a key for the most part?
 * Code that names both boundaries is not. */
static bool
is_key(struct hf_str text, size_t from, size_t to)
{
	struct hf_str body = hf_strn(text.s, to);
	size_t sum = 0, longest = 0, i = from;
	struct hf_span line;

	if (headers(text, from) && to - from > HEADERS_MAX)
		return lines(text, from) > 0;
	while (next_line(body, i, to - i, &line)) {
		sum += line.to - line.from;
		if (line.to - line.from > longest)
			longest = line.to - line.from;
		i = line.to;
	}
	return longest >= FIRST_MIN && sum >= (to - from) / 2;
}

bool
hf_pem_at(struct hf_str text, size_t at, struct hf_span *out)
{
	size_t from = boundary(text, at, "-----BEGIN "), to, end, limit;
	struct hf_str near;

	if (from == 0)
		return false;
	limit = text.n - from > BODY_MAX ? from + BODY_MAX : text.n;
	near = hf_strn(text.s, limit);
	for (to = hf_str_find(near, HF_STR("-----"), from); to != SIZE_MAX;
	    to = hf_str_find(near, HF_STR("-----"), to + 5)) {
		/* The next key begins: this one was cut. */
		if (boundary(text, to, "-----BEGIN ") > 0)
			break;
		end = boundary(text, to, "-----END ");
		if (end > 0 && is_key(text, from, to)) {
			*out = (struct hf_span){ at, end };
			return true;
		}
		if (end > 0)
			break;
	}
	end = lines(text, from);
	*out = (struct hf_span){ at, end };
	return end > 0;
}

/* The beginning of the line of base64 that ends at most GAP_MAX bytes
 * before i, or SIZE_MAX. */
static size_t
line_before(struct hf_str text, size_t i, size_t edge)
{
	size_t stop = i - edge > GAP_MAX ? i - GAP_MAX : edge, end;

	while (i > stop && (hf_chars(text.s[i - 1]) & HF_CH_BASE64) == 0)
		i--;
	for (end = i; i > edge && end - i < BODY_MAX &&
	    (hf_chars(text.s[i - 1]) & HF_CH_BASE64) != 0;)
		i--;
	if (i > edge && text.s[i - 1] == '\\' && i < end)
		i++;
	return end - i >= LINE_MIN ? i : SIZE_MAX;
}

bool
hf_pem_tail(struct hf_str text, size_t at, size_t edge, struct hf_span *out)
{
	size_t end = boundary(text, at, "-----END "), i = at, k, n;
	size_t longest = 0;

	if (end == 0)
		return false;
	/* The last line may be short. */
	k = line_before(text, i, edge);
	if (k == SIZE_MAX) {
		while (i > edge && at - i < GAP_MAX &&
		    (hf_chars(text.s[i - 1]) & HF_CH_BASE64) == 0)
			i--;
		while (i > edge && at - i < 2 * GAP_MAX &&
		    (hf_chars(text.s[i - 1]) & HF_CH_BASE64) != 0)
			i--;
		k = line_before(text, i, edge);
	}
	while (k != SIZE_MAX && at - k < BODY_MAX) {
		i = k;
		n = hf_chars_run(text, k, HF_CH_BASE64, BODY_MAX) - k;
		if (n > longest)
			longest = n;
		k = line_before(text, i, edge);
	}
	*out = (struct hf_span){ i, end };
	return longest >= FIRST_MIN;
}
