#include "brief/literals.h"

#include <stdlib.h>
#include <string.h>

enum { INDENT_MAX = 8 };

void
hf_literals_init(struct hf_literals *l)
{
	memset(l, 0, sizeof(*l));
	hf_arena_init(&l->arena);
}

void
hf_literals_release(struct hf_literals *l)
{
	free(l->item);
	free(l->bucket);
	hf_arena_clear(&l->arena);
	hf_literals_init(l);
}

bool
hf_literals_add(struct hf_literals *l, struct hf_str value,
    struct hf_str name)
{
	struct hf_literal *item;

	if (value.n < HF_LITERAL_MIN)
		return false;
	if (l->n == l->cap) {
		l->cap = l->cap > 0 ? 2 * l->cap : 16;
		l->item = hf_reallocarray(l->item, l->cap,
		    sizeof(*l->item));
	}
	item = &l->item[l->n++];
	item->value = hf_strn(hf_arena_copy(&l->arena, value.s, value.n),
	    value.n);
	item->name = name.n == 0 ? HF_STR_NONE :
	    hf_strn(hf_arena_copy(&l->arena, name.s, name.n), name.n);
	item->next = 0;
	return true;
}

static int
compare_bytes(struct hf_str a, struct hf_str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n > 0 ? memcmp(a.s, b.s, n) : 0;

	return c != 0 ? c : (a.n > b.n) - (a.n < b.n);
}

/* Longest first, equal ones together, of these the named ones first. */
static int
compare(const void *pa, const void *pb)
{
	const struct hf_literal *a = pa, *b = pb;
	int c;

	if (a->value.n != b->value.n)
		return a->value.n < b->value.n ? 1 : -1;
	if ((c = compare_bytes(a->value, b->value)) != 0)
		return c;
	if ((a->name.s != NULL) != (b->name.s != NULL))
		return a->name.s != NULL ? -1 : 1;
	return compare_bytes(a->name, b->name);
}

static size_t
bucket_of(const struct hf_literals *l, const char *p)
{
	uint32_t k;

	memcpy(&k, p, sizeof(k));
	return (k * 2654435761U >> 12) & l->mask;
}

static bool
has_blank(struct hf_str a)
{
	for (size_t i = 0; i < a.n; i++)
		if ((unsigned char)a.s[i] <= ' ')
			return true;
	return false;
}

void
hf_literals_ready(struct hf_literals *l, struct hf_grams *g)
{
	size_t n = 0, size = 16, b;

	if (l->n == 0)
		return;
	qsort(l->item, l->n, sizeof(*l->item), compare);
	for (size_t i = 0; i < l->n; i++)
		if (n == 0 || !hf_str_eq(l->item[i].value,
		    l->item[n - 1].value))
			l->item[n++] = l->item[i];
	l->n = n;
	while (size < 2 * n && size < 1 << 20)
		size *= 2;
	l->mask = size - 1;
	free(l->bucket);
	l->bucket = hf_calloc(size, sizeof(*l->bucket));
	/* From the shortest, so that the longest heads its bucket. */
	for (size_t i = n; i-- > 0;) {
		struct hf_str v = l->item[i].value;

		hf_grams_put(g, v.s);
		if (has_blank(v) && v.n > l->blanks)
			l->blanks = v.n;
		b = bucket_of(l, v.s);
		l->item[i].next = l->bucket[b];
		l->bucket[b] = (uint32_t)i + 1;
	}
}

/* How many bytes of the text a line break and the indent behind it take. */
static size_t
line_break(struct hf_str text, size_t i)
{
	size_t from = i;

	if (i < text.n && text.s[i] == '\r')
		i++;
	if (i >= text.n || text.s[i] != '\n')
		return 0;
	i++;
	while (i < text.n && i - from < INDENT_MAX && (text.s[i] == ' ' ||
	    text.s[i] == '\t'))
		i++;
	return i - from;
}

/* How many bytes the value takes at at, or 0. */
static size_t
taken(struct hf_str value, struct hf_str text, size_t at)
{
	size_t i = 0, k = at, skip;

	if (value.n <= text.n - at &&
	    memcmp(text.s + at, value.s, value.n) == 0)
		return value.n;
	while (i < value.n && k < text.n) {
		if (text.s[k] == value.s[i]) {
			i++;
			k++;
		} else if (i >= HF_LITERAL_MIN &&
		    (skip = line_break(text, k)) > 0) {
			k += skip;
			if (k >= text.n || text.s[k] != value.s[i])
				return 0;
		} else {
			return 0;
		}
	}
	return i == value.n ? k - at : 0;
}

const struct hf_literal *
hf_literals_at(const struct hf_literals *l, struct hf_str text, size_t at,
    size_t *n)
{
	if (l->n == 0 || text.n - at < HF_LITERAL_MIN)
		return NULL;
	for (uint32_t i = l->bucket[bucket_of(l, text.s + at)]; i > 0;
	    i = l->item[i - 1].next) {
		*n = taken(l->item[i - 1].value, text, at);
		if (*n > 0)
			return &l->item[i - 1];
	}
	return NULL;
}
