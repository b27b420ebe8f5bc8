#include "brief/units.h"

#include <stdlib.h>
#include <string.h>

#include "base/hmac.h"

enum { WORD_MAX = 64 };

/* Words that say nothing about the matter. */
static const char *const stop[] = {
	"the", "and", "for", "you", "your", "that", "this", "with", "are",
	"was", "were", "has", "have", "had", "but", "not", "all", "any",
	"can", "will", "would", "should", "must", "from", "now", "its",
	"into", "onto", "there", "then", "than", "when", "what", "which",
	"who", "how", "use", "used", "using", "please", "always", "never",
	"only", "does", "did", "don", "doesn", "isn", "let", "make", "sure",
	"user", "wants", "want", "asked", "said", "says", "been", "being",
	"also", "before", "after", "they", "them", "their", "our", "out",
	"instruction", "instructed", "about", "said",
	"is", "be", "it", "in", "on", "at", "of", "to", "an", "as", "by",
	"or", "if", "so", "do", "we", "me", "my", "may", "has", "shall",
	"need", "needs", "have", "here", "every", "each", "just", "one",
	"ok", "okay", "yes", "actually", "correction", "instead", "rather",
	"make", "der", "die",
	"das", "und", "ist", "sein", "muss", "ein", "eine", "auf", "le",
	"la", "les", "un", "une", "et", "de", "du", "el", "los", "las",
	"y", "en", "um", "uma",
};
static const char *const negations[] = {
	"never", "not", "don't", "dont", "no", "avoid", "without", "cannot",
	"can't", "mustn't", "shouldn't", "forbidden", "stop", "nie",
	"niemals", "nicht", "kein", "keine", "jamais", "nunca", "ne", "n't",
	"nothing", "nobody", "none", "neither", "nor", "nowhere", "won't",
	"isn't", "doesn't", "aren't", "refrain", "nichts",
};
/* "no more than", "not just": no negation. */
static const char *const bounds[] = { "more", "fewer", "less", "longer",
	"just", "only", "later", "exceed", "until" };
static const char *const negations_wide[] = { "不", "别", "禁止", "勿", "严禁",
	"ない", "禁", "마", "금지", "절대" };

static bool
in(const char *const *list, size_t n, struct hf_str w)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (hf_str_is(w, list[i]))
			return true;
	return false;
}

#define IN(list, w)	in(list, sizeof(list) / sizeof((list)[0]), w)

static void
unit(struct hf_units *u, struct hf_str w)
{
	if (u->n < HF_UNITS_MAX)
		u->h[u->n++] = hf_hash(w);
}

static bool
doubled(struct hf_str w)
{
	char c = w.s[w.n - 1];

	return w.n > 3 && c == w.s[w.n - 2] && strchr("aeioulsz", c) == NULL;
}

/* The word without its ending, in low[WORD_MAX]: plurals, third persons,
 * participles. */
static struct hf_str
stem(struct hf_str w, char low[WORD_MAX])
{
	if (w.n > 5 && hf_str_ends(w, "ing"))
		w.n -= 3;
	else if (w.n > 4 && hf_str_ends(w, "ed"))
		w.n -= 2;
	else if (w.n > 3 && w.s[w.n - 1] == 's' && w.s[w.n - 2] != 's')
		w.n--;
	if (doubled(w))
		w.n--;
	if (w.n > 3 && w.s[w.n - 1] == 'e')
		w.n--;
	if (w.n <= 3 || w.n > WORD_MAX || w.s[w.n - 1] != 'y')
		return w;
	memcpy(low, w.s, w.n);
	low[w.n - 1] = 'i';
	return hf_strn(low, w.n);
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static void
word(struct hf_units *u, struct hf_str w)
{
	char low[WORD_MAX];

	if (hf_str_ends(w, "'s"))
		w.n -= 2;
	/* It is known with the word behind it whether it denies. */
	if (u->denies && !IN(bounds, w))
		u->negative = true;
	u->denies = IN(negations, w);
	if (w.n > 0 && is_digit(w.s[0])) {
		if (u->nnumbers < 16)
			u->number[u->nnumbers++] = hf_hash(w);
		unit(u, w);
	} else if (w.n >= 2 && !IN(stop, w) && !IN(negations, w)) {
		unit(u, stem(w, low));
	}
}

bool
hf_units_word(const struct hf_units *u, struct hf_str w)
{
	char low[WORD_MAX];
	struct hf_units one;
	size_t i;

	memset(&one, 0, sizeof(one));
	if (w.n > 0 && is_digit(w.s[0]))
		unit(&one, w);
	else if (w.n >= 2 && !IN(stop, w) && !IN(negations, w))
		unit(&one, stem(w, low));
	for (i = 0; one.n > 0 && i < u->n; i++)
		if (u->h[i] == one.h[0])
			return true;
	return false;
}

static int
compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void
sort_once(struct hf_units *u)
{
	size_t i, n = 0;

	qsort(u->h, u->n, sizeof(u->h[0]), compare);
	for (i = 0; i < u->n; i++)
		if (i == 0 || u->h[i] != u->h[i - 1])
			u->h[n++] = u->h[i];
	u->n = n;
}

/* Characters of Chinese that carry a sentence rather than its matter. */
static bool
carries(struct hf_str c)
{
	static const char *const list[] = { "必", "须", "是", "要", "不", "为",
		"请", "的", "了", "都", "应", "该", "能", "将", "改", "成",
		"得", "只", "用", "和", "在", "有", "也", "就" };

	return IN(list, c);
}

static bool
is_wide(uint32_t cp)
{
	return cp >= 0x3040 && !(cp >= 0xfe00 && cp <= 0xffef) &&
	    !(cp >= 0x1f000);
}

static bool
joins(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
	    c == '\'';
}

static bool
in_name(char c)
{
	return joins(c) || (c >= 'A' && c <= 'Z') || strchr("./-", c) != NULL;
}

/* Has the word a slash, a dot, an underscore or a hump in it? */
static bool
is_name(struct hf_str w)
{
	size_t i;

	for (i = 1; i < w.n; i++)
		if (strchr("/_.", w.s[i]) != NULL ||
		    (w.s[i] >= 'A' && w.s[i] <= 'Z' && w.s[i - 1] >= 'a' &&
		    w.s[i - 1] <= 'z'))
			return true;
	return false;
}

static void
names(struct hf_units *u, struct hf_str text)
{
	size_t i = 0, from;
	struct hf_str w;

	while (i < text.n && u->nnames < 16) {
		while (i < text.n && !in_name(text.s[i]))
			i++;
		from = i;
		while (i < text.n && in_name(text.s[i]))
			i++;
		w = hf_strn(text.s + from, i - from);
		while (w.n > 0 && strchr("./-'", w.s[w.n - 1]) != NULL)
			w.n--;
		if (is_name(w))
			u->name[u->nnames++] = hf_hash(w);
	}
}

void
hf_units_of(struct hf_units *u, struct hf_str text)
{
	char low[WORD_MAX];
	size_t i = 0, len = 0, n, k;
	uint32_t cp;
	char c;

	memset(u, 0, sizeof(*u));
	for (k = 0; k < sizeof(negations_wide) / sizeof(negations_wide[0]);
	    k++)
		if (hf_str_find(text, hf_str(negations_wide[k]), 0) !=
		    SIZE_MAX)
			u->negative = true;
	while (i <= text.n) {
		n = i < text.n ? hf_utf8_at(text.s + i, text.n - i, &cp) : 1;
		n = n == 0 ? 1 : n;
		c = i < text.n ? text.s[i] : ' ';
		if (c >= 'A' && c <= 'Z')
			c = (char)(c + 32);
		if (n == 1 && joins(c)) {
			if (len < WORD_MAX)
				low[len++] = c;
		} else if (n > 1 && !is_wide(cp)) {	/* é, ß, ’ */
			for (k = 0; k < n && len < WORD_MAX; k++)
				low[len++] = text.s[i + k];
		} else {
			if (len > 0)
				word(u, hf_strn(low, len));
			len = 0;
			if (n > 1 && i + n < text.n && is_wide(cp) &&
			    (k = hf_utf8_at(text.s + i + n, text.n - i - n,
			    &cp)) > 1 && is_wide(cp) &&
			    !carries(hf_strn(text.s + i, n)) &&
			    !carries(hf_strn(text.s + i + n, k)))
				unit(u, hf_strn(text.s + i, n + k));
		}
		i += n;
	}
	u->negative = u->negative || u->denies;
	sort_once(u);
	names(u, text);
}

int
hf_units_in(const struct hf_units *a, const struct hf_units *b)
{
	size_t i = 0, k = 0, same = 0;

	while (i < a->n && k < b->n)
		if (a->h[i] == b->h[k]) {
			same++;
			i++;
			k++;
		} else if (a->h[i] < b->h[k]) {
			i++;
		} else {
			k++;
		}
	return a->n == 0 ? 0 : (int)(same * 100 / a->n);
}

bool
hf_units_has_numbers(const struct hf_units *a, const struct hf_units *b)
{
	size_t i, k;

	for (i = 0; i < a->nnumbers; i++) {
		for (k = 0; k < b->nnumbers; k++)
			if (a->number[i] == b->number[k])
				break;
		if (k == b->nnumbers)
			return false;
	}
	return true;
}

bool
hf_units_same_numbers(const struct hf_units *a, const struct hf_units *b)
{
	return a->nnumbers == b->nnumbers && hf_units_has_numbers(a, b);
}

bool
hf_units_other_names(const struct hf_units *a, const struct hf_units *b)
{
	size_t i, k;

	if (a->nnames == 0 || b->nnames == 0)
		return false;
	for (i = 0; i < a->nnames; i++)
		for (k = 0; k < b->nnames; k++)
			if (a->name[i] == b->name[k])
				return false;
	return true;
}

static struct hf_units
without_numbers(const struct hf_units *u)
{
	struct hf_units out = *u;
	size_t i, k;

	for (out.n = i = 0; i < u->n; i++) {
		for (k = 0; k < u->nnumbers && u->h[i] != u->number[k]; k++)
			;
		if (k == u->nnumbers)
			out.h[out.n++] = u->h[i];
	}
	return out;
}

int
hf_units_in_words(const struct hf_units *a, const struct hf_units *b)
{
	struct hf_units x = without_numbers(a);

	return hf_units_in(&x, b);
}

bool
hf_units_conflict(const struct hf_units *a, const struct hf_units *b)
{
	if (a->nnumbers == 0 || a->nnumbers != b->nnumbers ||
	    a->negative != b->negative || hf_units_has_numbers(a, b) ||
	    hf_units_other_names(a, b))
		return false;
	/* Without the numbers they must be about the same. */
	return hf_units_in_words(a, b) >= 75 &&
	    hf_units_in_words(b, a) >= 75;
}
