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
};
static const char *const negations[] = {
	"never", "not", "don't", "dont", "no", "avoid", "without", "cannot",
	"can't", "mustn't", "shouldn't", "forbidden", "stop", "nie",
	"niemals", "nicht", "kein", "keine", "jamais", "nunca", "ne", "n't",
};
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

/* Plurals and third persons are the word itself. */
static struct hf_str
stem(struct hf_str w)
{
	if (w.n > 4 && hf_str_ends(w, "ing"))
		w.n -= 3;
	else if (w.n > 4 && hf_str_ends(w, "ed"))
		w.n -= 2;
	else if (w.n > 3 && w.s[w.n - 1] == 's' && w.s[w.n - 2] != 's')
		w.n--;
	if (w.n > 3 && w.s[w.n - 1] == 'e')
		w.n--;
	return w;
}

static void
word(struct hf_units *u, struct hf_str w)
{
	bool digit = w.n > 0 && w.s[0] >= '0' && w.s[0] <= '9';

	if (IN(negations, w))
		u->negative = true;
	if (digit) {
		if (u->nnumbers < 16)
			u->number[u->nnumbers++] = hf_hash(w);
		unit(u, w);
	} else if (w.n >= 2 && !IN(stop, w) && !IN(negations, w)) {
		unit(u, stem(w));
	}
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
			    &cp)) > 1 && is_wide(cp))
				unit(u, hf_strn(text.s + i, n + k));
		}
		i += n;
	}
	sort_once(u);
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

static bool
same_numbers(const struct hf_units *a, const struct hf_units *b)
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
hf_units_conflict(const struct hf_units *a, const struct hf_units *b)
{
	struct hf_units x = *a, y = *b;
	size_t i, k, n;

	if (a->nnumbers == 0 || a->nnumbers != b->nnumbers ||
	    a->negative != b->negative || same_numbers(a, b))
		return false;
	/* Without the numbers they must be about the same. */
	for (n = i = 0; i < x.n; i++) {
		for (k = 0; k < a->nnumbers && x.h[i] != a->number[k]; k++)
			;
		if (k == a->nnumbers)
			x.h[n++] = x.h[i];
	}
	x.n = n;
	for (n = i = 0; i < y.n; i++) {
		for (k = 0; k < b->nnumbers && y.h[i] != b->number[k]; k++)
			;
		if (k == b->nnumbers)
			y.h[n++] = y.h[i];
	}
	y.n = n;
	return x.n > 0 && y.n > 0 && hf_units_in(&x, &y) >= 75 &&
	    hf_units_in(&y, &x) >= 75;
}
