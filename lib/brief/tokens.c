#include "brief/tokens.h"

#include <stdlib.h>
#include <string.h>

#include "base/hmac.h"
#include "base/mem.h"

enum { TOKEN_MAX = 512, HASH_MIN = 7, HASH_MAX = 12 };

/* ---- the set ---- */

void
hf_tokens_init(struct hf_tokens *t, struct hf_str cwd, struct hf_str home)
{
	memset(t, 0, sizeof(*t));
	t->cwd = cwd;
	t->home = home;
}

void
hf_tokens_release(struct hf_tokens *t)
{
	free(t->slot);
	memset(t, 0, sizeof(*t));
}

static void
place(uint64_t *slot, size_t cap, uint64_t h)
{
	size_t i;

	for (i = h & (cap - 1); slot[i] != 0 && slot[i] != h;
	    i = (i + 1) & (cap - 1))
		;
	slot[i] = h;
}

static void
grow(struct hf_tokens *t)
{
	size_t cap = t->cap == 0 ? 4096 : t->cap * 2, i;
	uint64_t *slot = hf_calloc(cap, sizeof(*slot));

	for (i = 0; i < t->cap; i++)
		if (t->slot[i] != 0)
			place(slot, cap, t->slot[i]);
	free(t->slot);
	t->slot = slot;
	t->cap = cap;
}

static bool
has(const struct hf_tokens *t, uint64_t h)
{
	size_t i;

	if (t->full)
		return true;
	if (t->cap == 0)
		return false;
	for (i = h & (t->cap - 1); t->slot[i] != 0;
	    i = (i + 1) & (t->cap - 1))
		if (t->slot[i] == h)
			return true;
	return false;
}

/* The hash of a in lower case. */
static uint64_t
folded(struct hf_str a)
{
	char low[TOKEN_MAX];
	uint64_t h;
	size_t i;

	if (a.n > TOKEN_MAX)
		a.n = TOKEN_MAX;
	for (i = 0; i < a.n; i++)
		low[i] = a.s[i] >= 'A' && a.s[i] <= 'Z' ?
		    (char)(a.s[i] + 32) : a.s[i];
	h = hf_hash(hf_strn(low, a.n));
	return h != 0 ? h : 1;
}

static void
put(struct hf_tokens *t, struct hf_str a)
{
	uint64_t h;

	if (a.n == 0 || t->full)
		return;
	h = folded(a);
	if (has(t, h))
		return;
	if (t->n == HF_TOKENS_MAX) {
		t->full = true;
		return;
	}
	if (t->n * 2 >= t->cap)
		grow(t);
	place(t->slot, t->cap, h);
	t->n++;
}

/* ---- characters ---- */

enum { END, ALPHA, DIGIT, UNDER, MARK };

/* What joins a token, what kind it is; the bytes that it takes. */
static int
class_at(struct hf_str a, size_t i, size_t *n)
{
	unsigned char c = (unsigned char)a.s[i];
	uint32_t cp;

	*n = 1;
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
		return ALPHA;
	if (c >= '0' && c <= '9')
		return DIGIT;
	if (c == '_')
		return UNDER;
	if (c < 0x80)
		return strchr("./~:@%+#=$-", c) != NULL && c != '\0' ?
		    MARK : END;
	*n = hf_utf8_at(a.s + i, a.n - i, &cp);
	if (*n == 0)
		*n = 1;
	return *n > 1 && cp >= 0xc0 && cp < 0x250 ? ALPHA : END;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The next token at or behind *at; none at the end. */
static struct hf_str
next_token(struct hf_str a, size_t *at)
{
	size_t i = *at, from, n;

	if (i >= a.n)
		return HF_STR_NONE;
	while (i < a.n && class_at(a, i, &n) == END)
		i += n;
	from = i;
	while (i < a.n && class_at(a, i, &n) != END)
		i += n;
	*at = i;
	return hf_strn(a.s + from, i - from);
}

/* Without marks that belong to the sentence. */
static struct hf_str
bare(struct hf_str a)
{
	while (a.n > 0 && strchr(".:=#%+@", a.s[a.n - 1]) != NULL)
		a.n--;
	while (a.n > 0 && strchr(":=#%+@$", a.s[0]) != NULL) {
		a.s++;
		a.n--;
	}
	return a;
}

/* ---- kinds ---- */

/* "a.c:88" and "a.c:88:5" without the numbers. */
static struct hf_str
without_line(struct hf_str a)
{
	size_t n = a.n, k;
	int times;

	for (times = 0; times < 2; times++) {
		for (k = n; k > 0 && is_digit(a.s[k - 1]); k--)
			;
		if (k == n || k < 2 || a.s[k - 1] != ':')
			break;
		n = k - 1;
	}
	return hf_strn(a.s, n);
}

static bool
is_url(struct hf_str a)
{
	return hf_str_find(a, HF_STR("://"), 0) != SIZE_MAX;
}

/* A last component with a dot and one to five letters or digits behind. */
static bool
has_extension(struct hf_str a)
{
	size_t dot = a.n, from = a.n, k;

	while (from > 0 && a.s[from - 1] != '/')
		from--;
	for (k = a.n; k > from; k--)
		if (a.s[k - 1] == '.') {
			dot = k - 1;
			break;
		}
	if (dot == a.n || dot < from + 2 || a.n - dot - 1 < 1 ||
	    a.n - dot - 1 > 5 || is_digit(a.s[dot + 1]))
		return false;
	for (k = dot + 1; k < a.n; k++)
		if (!is_digit(a.s[k]) && !(a.s[k] >= 'a' && a.s[k] <= 'z'))
			return false;
	return true;
}

static size_t
count(struct hf_str a, char c)
{
	size_t i, n = 0;

	for (i = 0; i < a.n; i++)
		n += a.s[i] == c;
	return n;
}

static bool
is_path(struct hf_str a)
{
	size_t slashes = count(a, '/'), letters = 0, i;

	for (i = 0; i < a.n; i++)
		letters += !is_digit(a.s[i]) && strchr("./~:-", a.s[i]) ==
		    NULL;
	if (letters == 0)
		return false;
	if (slashes == 0)
		return has_extension(a);
	return a.s[0] == '/' || hf_str_starts(a, "./") ||
	    hf_str_starts(a, "../") || hf_str_starts(a, "~/") ||
	    slashes >= 2 || has_extension(a);
}

static bool
is_commit(struct hf_str a)
{
	size_t i, digits = 0, letters = 0;

	if (a.n < HASH_MIN || a.n > 64)
		return false;
	for (i = 0; i < a.n; i++) {
		if (!is_hex(a.s[i]))
			return false;
		if (is_digit(a.s[i]))
			digits++;
		else
			letters++;
	}
	return digits > 0 && letters > 0;
}

/* "2026-01-15", "12:30": when, not what. */
static bool
is_date(struct hf_str a)
{
	size_t i;

	for (i = 0; i < a.n; i++)
		if (!is_digit(a.s[i]) && strchr("-:.TZ+/", a.s[i]) == NULL)
			return false;
	return count(a, '-') == 2 || count(a, ':') >= 1 ||
	    count(a, '/') == 2;
}

static bool
is_number(struct hf_str a)
{
	size_t i, digits = 0;

	for (i = 0; i < a.n; i++)
		if (is_digit(a.s[i]))
			digits++;
		else if (strchr("._-+%", a.s[i]) == NULL)
			return false;
	return digits >= 3;
}

static bool
is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool
is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* snake_case, camelCase, ns::name, --option, TS2345, ECONNREFUSED. */
static bool
is_identifier(struct hf_str a)
{
	size_t i, digits = 0, upper = 0;
	bool hump = false, under = false;

	if (a.n < 3)
		return false;
	for (i = 0; i < a.n; i++) {
		digits += is_digit(a.s[i]);
		upper += is_upper(a.s[i]);
		if (i == 0)
			continue;
		hump = hump || (is_upper(a.s[i]) && is_lower(a.s[i - 1]));
		under = under || (a.s[i] == '_' && i + 1 < a.n);
	}
	if (hf_str_starts(a, "--") && a.n > 3)
		return true;
	return hump || under || hf_str_find(a, HF_STR("::"), 0) != SIZE_MAX ||
	    (digits >= 3 && upper >= 1 && is_upper(a.s[0])) ||
	    (upper == a.n && a.n >= 6 && a.s[0] == 'E');
}

static bool
is_hard(struct hf_str a)
{
	if (a.n > TOKEN_MAX || is_date(a))
		return false;
	return is_url(a) || is_path(a) || is_commit(a) || is_number(a) ||
	    is_identifier(a);
}

/* ---- adding ---- */

/* Every ending of a path that begins behind a slash. */
static void
put_endings(struct hf_tokens *t, struct hf_str a)
{
	size_t i, n = 0;

	for (i = a.n; i > 0 && n < 24; i--)
		if (a.s[i - 1] == '/') {
			put(t, hf_strn(a.s + i, a.n - i));
			n++;
		}
}

/* The words in a token: "ns::name(x)", "A_B=3". */
static void
put_parts(struct hf_tokens *t, struct hf_str a)
{
	size_t i = 0, from;

	while (i < a.n) {
		while (i < a.n && strchr("./~:@%+#=$-", a.s[i]) != NULL)
			i++;
		from = i;
		while (i < a.n && strchr("./~:@%+#=$-", a.s[i]) == NULL)
			i++;
		if (i > from && i - from < a.n)
			put(t, hf_strn(a.s + from, i - from));
	}
}

static void
put_commit(struct hf_tokens *t, struct hf_str a)
{
	size_t n;

	for (n = HASH_MIN; n <= HASH_MAX && n <= a.n; n++)
		put(t, hf_strn(a.s, n));
}

/* "1,234,567" and "1 234" are split by the scan: joined again here. Returns
 * the offset behind it, 0 if there is none at i. */
static size_t
grouped(struct hf_str a, size_t i, char out[32], size_t *n)
{
	size_t k = i, groups = 0;

	*n = 0;
	if (i > 0 && (is_digit(a.s[i - 1]) || a.s[i - 1] == ','))
		return 0;
	while (k < a.n && is_digit(a.s[k]) && *n < 3)
		out[(*n)++] = a.s[k++];
	if (*n == 0)
		return 0;
	while (k + 3 < a.n && a.s[k] == ',' && is_digit(a.s[k + 1]) &&
	    is_digit(a.s[k + 2]) && is_digit(a.s[k + 3]) && *n < 28) {
		memcpy(out + *n, a.s + k + 1, 3);
		*n += 3;
		k += 4;
		groups++;
	}
	return groups > 0 && (k == a.n || !is_digit(a.s[k])) ? k : 0;
}

static void
put_grouped(struct hf_tokens *t, struct hf_str text)
{
	const char *comma = text.s, *end;
	char digits[32];
	size_t i, n;

	if (text.n == 0)
		return;
	end = text.s + text.n;
	while ((comma = memchr(comma, ',', (size_t)(end - comma))) != NULL) {
		i = (size_t)(comma - text.s);
		while (i > 0 && is_digit(text.s[i - 1]))
			i--;
		if (grouped(text, i, digits, &n) > 0)
			put(t, hf_strn(digits, n));
		comma++;
	}
}

static bool
all_digits(struct hf_str a)
{
	size_t i;

	for (i = 0; i < a.n && is_digit(a.s[i]); i++)
		;
	return a.n > 0 && a.n < 10 && i == a.n;
}

static void
put_line(struct hf_tokens *t, struct hf_str digits)
{
	int64_t n;

	if (hf_text_int(digits, &n) && n > 0 && (uint64_t)n > t->lines)
		t->lines = (uint64_t)n;
}

/* Is it the number in front of a line of a file that is shown? */
static bool
numbers_line(struct hf_str text, struct hf_str a)
{
	size_t i = (size_t)(a.s - text.s);

	if (!all_digits(a) || i + a.n == text.n ||
	    (strchr("\t:|", text.s[i + a.n]) == NULL && !hf_str_starts(
	    hf_strn(text.s + i + a.n, text.n - i - a.n),
	    "\xe2\x86\x92")))	/* → */
		return false;
	while (i > 0 && (text.s[i - 1] == ' ' || text.s[i - 1] == '\t'))
		i--;
	return i == 0 || text.s[i - 1] == '\n';
}

/* "a.c:88" and "a.c:88:": the number is a line's. */
static struct hf_str
put_place(struct hf_tokens *t, struct hf_str a)
{
	struct hf_str path = without_line(a);
	size_t i;

	if (path.n == a.n || !is_path(path))
		return a;
	for (i = path.n + 1; i < a.n && is_digit(a.s[i]); i++)
		;
	put_line(t, hf_strn(a.s + path.n + 1, i - path.n - 1));
	return path;
}

static void
put_token(struct hf_tokens *t, struct hf_str a)
{
	if (a.n == 0 || a.n > TOKEN_MAX * 8)
		return;
	put(t, a);
	a = put_place(t, a);
	put(t, a);
	put_parts(t, a);
	if (memchr(a.s, '/', a.n) != NULL)
		put_endings(t, a);
	if (is_commit(a))
		put_commit(t, a);
}

void
hf_tokens_add(struct hf_tokens *t, struct hf_str text)
{
	struct hf_str a;
	size_t at = 0;

	while ((a = next_token(text, &at)).n > 0)
		put_token(t, bare(a));
	put_grouped(t, text);
}

void
hf_tokens_add_output(struct hf_tokens *t, struct hf_str text)
{
	struct hf_str a;
	size_t at = 0;

	while ((a = next_token(text, &at)).n > 0) {
		a = bare(a);
		if (numbers_line(text, a))
			put_line(t, a);
		else
			put_token(t, a);
	}
	put_grouped(t, text);
}

/* ---- checking ---- */

static bool
known(const struct hf_tokens *t, struct hf_str a)
{
	return a.n > 0 && has(t, folded(a));
}

static struct hf_str
below(struct hf_str path, struct hf_str folder)
{
	if (folder.n < 2 || path.n <= folder.n + 1 ||
	    memcmp(path.s, folder.s, folder.n) != 0 ||
	    path.s[folder.n] != '/')
		return HF_STR_NONE;
	return hf_strn(path.s + folder.n + 1, path.n - folder.n - 1);
}

static bool
known_path(const struct hf_tokens *t, struct hf_str a)
{
	struct hf_str p = without_line(a);

	while (hf_str_starts(p, "./"))
		p = hf_strn(p.s + 2, p.n - 2);
	while (p.n > 1 && p.s[p.n - 1] == '/')
		p.n--;
	if (known(t, p) || known(t, below(p, t->cwd)) ||
	    known(t, below(p, t->home)) ||
	    (t->cwd.n > 0 && hf_str_eq(p, t->cwd)))
		return true;
	return hf_str_starts(p, "~/") &&
	    known(t, hf_strn(p.s + 2, p.n - 2));
}

static bool
known_commit(const struct hf_tokens *t, struct hf_str a)
{
	size_t n;

	if (known(t, a))
		return true;
	for (n = HASH_MIN; n <= HASH_MAX && n < a.n; n++)
		if (known(t, hf_strn(a.s, n)))
			return true;
	return false;
}

/* Every part of it that could be wrong is known: "SECONDS=600". */
static bool
known_parts(const struct hf_tokens *t, struct hf_str a)
{
	size_t i = 0, from;
	struct hf_str part;

	while (i < a.n) {
		while (i < a.n && strchr("./~:@%+#=$-", a.s[i]) != NULL)
			i++;
		from = i;
		while (i < a.n && strchr("./~:@%+#=$-", a.s[i]) == NULL)
			i++;
		part = hf_strn(a.s + from, i - from);
		if (part.n > 0 && part.n < a.n && !known(t, part))
			return false;
		if (part.n == a.n)
			return known(t, part);
	}
	return true;
}

static bool
is_known(const struct hf_tokens *t, struct hf_str a)
{
	struct hf_str inner = a;

	if (known(t, a))
		return true;
	while (inner.n > 2 && inner.s[0] == '_' &&
	    inner.s[inner.n - 1] == '_')		/* emphasis */
		inner = hf_strn(inner.s + 1, inner.n - 2);
	if (inner.n < a.n && known(t, inner))
		return true;
	if (is_url(a)) {
		if (a.s[a.n - 1] == '/')
			return known(t, hf_strn(a.s, a.n - 1));
		return false;
	}
	if (is_path(a))
		return known_path(t, a);
	if (is_commit(a))
		return known_commit(t, a);
	return known_parts(t, a);
}

bool
hf_tokens_has(const struct hf_tokens *t, struct hf_str word)
{
	return known(t, word);
}

/* Is the number at place i of text a line's ("line 88", "lines 3-120")? */
static bool
of_line(const struct hf_tokens *t, struct hf_str text, struct hf_str a)
{
	size_t i = (size_t)(a.s - text.s), k;
	struct hf_str digits;
	int64_t n;

	for (k = a.n; k > 0 && is_digit(a.s[k - 1]); k--)
		;
	digits = hf_strn(a.s + k, a.n - k);
	while (i > 0 && text.s[i - 1] == ' ')
		i--;
	return ((i >= 4 && hf_str_istarts(hf_strn(text.s + i - 4, 4),
	    "line")) || (i >= 5 && hf_str_istarts(hf_strn(text.s + i - 5, 5),
	    "lines"))) && hf_text_int(digits, &n) && n >= 0 &&
	    (uint64_t)n <= t->lines;
}

void
hf_tokens_check(const struct hf_tokens *t, struct hf_str text,
    void (*cb)(struct hf_str token, bool known, void *arg), void *arg)
{
	char digits[32];
	struct hf_str a;
	size_t at = 0, end, n, start;

	while ((a = next_token(text, &at)).n > 0) {
		start = (size_t)(a.s - text.s);
		if (is_digit(a.s[0]) &&
		    (end = grouped(text, start, digits, &n)) > 0) {
			cb(hf_strn(a.s, end - start),
			    known(t, hf_strn(digits, n)), arg);
			at = end > at ? end : at;
			continue;
		}
		a = bare(a);
		if (is_hard(a))
			cb(a, is_known(t, a) || of_line(t, text, a), arg);
	}
}

bool
hf_tokens_names(struct hf_str text, struct hf_str path)
{
	struct hf_str a;
	size_t at = 0, from;

	while ((a = next_token(text, &at)).n > 0) {
		a = without_line(bare(a));
		while (hf_str_starts(a, "./"))
			a = hf_strn(a.s + 2, a.n - 2);
		if (a.n == 0 || a.n > path.n)
			continue;
		from = path.n - a.n;
		if (memcmp(path.s + from, a.s, a.n) == 0 &&
		    (from == 0 || path.s[from - 1] == '/'))
			return true;
	}
	return false;
}
