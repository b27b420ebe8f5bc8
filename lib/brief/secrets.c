#include "brief/secrets.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "brief/carriers.h"
#include "brief/chars.h"
#include "brief/known.h"
#include "brief/literals.h"
#include "brief/pem.h"
#include "brief/seal.h"
#include "brief/shapes.h"
#include "brief/views.h"

enum {
	PASSES_MAX = 64,	/* three or four are needed at most */
	JSON_DEPTH = 3,		/* a command in arguments in a body */
	PERCENT_DEPTH = 2,
	VIEWS = JSON_DEPTH + 1,
	SEEN_MAX = 1 << 16,	/* placeholders that can be restored */
	WRAP_MIN = 60,		/* columns of a line that was wrapped */
	NEAR = 64,		/* a header's name and its value's scheme */
	NEAR_LINES = 32		/* the same as it is in most cases */
};

/* A placeholder that was made; tag are its digits. */
struct seen {
	char tag[HF_SEAL_LEN];
	struct hf_str value;
};

struct hf_secrets {
	struct hf_literals known;
	struct hf_str *name;		/* variables' names */
	size_t nnames;
	bool ready;			/* known, name and grams are */
	struct hf_shapes shapes;
	struct hf_carriers carriers;
	struct hf_shapes_memo memo;
	struct hf_seal seal;
	struct seen *seen;		/* open addressing, by tag */
	size_t nseen, seen_size;
	bool known_seen;		/* literals are among them */
	struct hf_arena arena;		/* values of seen */
	size_t count;
	struct hf_view view[VIEWS];	/* their memory is used again */
	struct hf_grams grams;
};

/* ---- what there is ---- */

struct hf_secrets *
hf_secrets_load(const struct hf_config *c, const char *cwd,
    struct hf_err *err)
{
	struct hf_secrets *s = hf_calloc(1, sizeof(*s));

	hf_literals_init(&s->known);
	hf_arena_init(&s->arena);
	if (hf_seal_open(&s->seal, err) < 0 ||
	    hf_known_load(&s->known, c, cwd, err) < 0) {
		hf_secrets_free(s);
		return NULL;
	}
	return s;
}

void
hf_secrets_free(struct hf_secrets *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < VIEWS; i++)
		hf_view_release(&s->view[i]);
	hf_literals_release(&s->known);
	hf_seal_close(&s->seal);
	hf_arena_clear(&s->arena);
	free(s->name);
	free(s->seen);
	free(s);
}

void
hf_secrets_add(struct hf_secrets *s, struct hf_str value, const char *name)
{
	struct hf_str n = name != NULL ? hf_str(name) : HF_STR_NONE;

	hf_literals_add(&s->known, value, hf_known_variable(n) ? n :
	    HF_STR_NONE);
	s->ready = false;
}

size_t
hf_secrets_count(const struct hf_secrets *s)
{
	return s->count;
}

static void
make_ready(struct hf_secrets *s)
{
	if (s->ready)
		return;
	s->ready = true;
	s->known_seen = false;
	hf_shapes_init(&s->shapes, &s->grams);
	hf_carriers_init(&s->carriers, &s->grams);
	hf_grams_add(&s->grams, "-----", 0);
	hf_grams_add(&s->grams, "[secret:", 0);
	hf_literals_ready(&s->known, &s->grams);
	s->nnames = 0;
	s->name = hf_reallocarray(s->name, s->known.n, sizeof(*s->name));
	for (size_t i = 0; i < s->known.n; i++) {
		struct hf_str name = s->known.item[i].name;
		char begin[] = "$...", brace[] = "${..";

		if (name.n == 0)
			continue;
		s->name[s->nnames++] = name;
		memcpy(begin + 1, name.s, 3);
		memcpy(brace + 2, name.s, 2);
		hf_grams_put(&s->grams, begin);
		hf_grams_put(&s->grams, brace);
	}
}

/* ---- looking ---- */

struct hit {
	struct hf_span at;
	const struct hf_literal *known;	/* NULL: a shape */
};

/* A look through one text, from left to right. */
struct scan {
	struct hf_secrets *s;
	struct hf_str text;
	size_t pos;
	size_t edge;		/* the end of what was found last */
	struct hf_span later;	/* found ahead of its place; to 0: none */
};

/* How many bytes what a secret was replaced by takes at byte i; 0 if there
 * is nothing like it. The name of a variable counts whatever follows: with
 * an escape or a line break taken away, something else does. */
static size_t
mark_at(const struct scan *c, size_t i)
{
	const struct hf_secrets *s = c->s;
	struct hf_str rest = hf_strn(c->text.s + i, c->text.n - i), name;
	size_t best = 0;
	bool brace;

	if (rest.s[0] == '[')
		return hf_seal_at(c->text, i) ? HF_SEAL_LEN : 0;
	brace = rest.n > 1 && rest.s[1] == '{';
	rest = brace ? hf_strn(rest.s + 2, rest.n - 2) :
	    hf_strn(rest.s + 1, rest.n - 1);
	for (size_t k = 0; k < s->nnames; k++) {
		name = s->name[k];
		if (name.n > rest.n || memcmp(rest.s, name.s, name.n) != 0)
			continue;
		if (!brace && name.n >= best)
			best = name.n + 1;
		if (brace && name.n < rest.n && rest.s[name.n] == '}')
			best = name.n + 3;
	}
	return best;
}

/* Does no mark stick out of the span? It would be broken. */
static bool
whole(const struct scan *c, struct hf_span at)
{
	size_t n;

	for (size_t i = at.from; i < at.to; i++) {
		if (c->text.s[i] != '$' && c->text.s[i] != '[')
			continue;
		n = mark_at(c, i);
		if (i + n > at.to)
			return false;
		i += n > 0 ? n - 1 : 0;
	}
	return true;
}

static void
take(const struct scan *c, struct hit *h, struct hf_span at,
    const struct hf_literal *known)
{
	if (at.to - at.from > h->at.to - h->at.from && whole(c, at))
		*h = (struct hit){ at, known };
}

/* The end of a token with what a terminal put on the next lines: a line
 * that is full, and a piece of a token at the beginning of the next. */
static size_t
unwrap(const struct scan *c, size_t end)
{
	struct hf_str t = c->text, rest;
	size_t next, to;

	while (end < t.n && t.s[end] == '\n' && end >= WRAP_MIN &&
	    memchr(t.s + end - WRAP_MIN, '\n', WRAP_MIN) == NULL) {
		next = end + 1;
		to = hf_chars_run(t, next, HF_CH_TOKEN, SIZE_MAX);
		rest = hf_strn(t.s + next, to - next);
		if (rest.n < 8 || !hf_chars_garbled(rest))
			break;
		end = to;
	}
	return end;
}

/* What begins at byte i, the longest of it. */
static void
look(struct scan *c, size_t i, struct hit *h)
{
	const struct hf_literal *known;
	struct hf_span at;
	size_t n;

	if ((known = hf_literals_at(&c->s->known, c->text, i, &n)) != NULL)
		take(c, h, (struct hf_span){ i, i + n }, known);
	if (hf_shapes_at(&c->s->shapes, &c->s->memo, c->text, i, c->edge,
	    &at)) {
		at.to = unwrap(c, at.to);
		take(c, h, at, NULL);
	}
	if (c->text.s[i] == '-' && (hf_pem_at(c->text, i, &at) ||
	    hf_pem_tail(c->text, i, c->edge, &at)))
		take(c, h, at, NULL);
	if (c->later.to > 0 && c->later.from == i) {
		take(c, h, c->later, NULL);
		c->later.to = 0;
	}
	if (!hf_carriers_at(&c->s->carriers, c->text, i, c->edge, &at))
		return;
	if (at.from == i)
		take(c, h, at, NULL);
	else if (c->later.to == 0)
		c->later = at;
}

/* A secret that begins inside the one that was found and ends behind it:
 * no piece of it may stay. */
static void
widen(struct scan *c, struct hit *h)
{
	struct hf_span at;
	size_t n;

	for (size_t i = h->at.from + 1; i + HF_GRAM_LEN <= c->text.n &&
	    i < h->at.to; i++) {
		if (!hf_grams_has(&c->s->grams, c->text.s + i))
			continue;
		if (hf_literals_at(&c->s->known, c->text, i, &n) != NULL)
			at = (struct hf_span){ i, i + n };
		else if (!hf_shapes_at(&c->s->shapes, &c->s->memo, c->text, i,
		    c->edge, &at))
			continue;
		if (at.to > h->at.to && whole(c, (struct hf_span){
		    h->at.from, at.to }))
			*h = (struct hit){ { h->at.from, at.to }, NULL };
	}
}

/* The next place that is worth a look, or the text's length. */
static size_t
candidate(const struct scan *c, size_t i)
{
	const struct hf_grams *g = &c->s->grams;
	size_t last = c->text.n >= HF_GRAM_LEN ?
	    c->text.n - HF_GRAM_LEN + 1 : 0;
	size_t stop = c->later.to > 0 ? c->later.from : c->text.n;

	if (stop < last)
		last = stop;
	while (i + 8 <= last && !hf_grams_any(g, c->text.s + i))
		i += 4;
	while (i < last && !hf_grams_has(g, c->text.s + i))
		i++;
	return i < last ? i : stop;
}

static bool
next_hit(struct scan *c, struct hit *h)
{
	size_t i = c->pos, n;

	for (;; i++) {
		if (c->later.from < i)
			c->later.to = 0;
		i = candidate(c, i);
		if (i >= c->text.n)
			return false;
		if ((c->text.s[i] == '[' || c->text.s[i] == '$') &&
		    (n = mark_at(c, i)) > 0) {
			c->edge = i + n;
			i += n - 1;
			continue;
		}
		*h = (struct hit){ { i, i }, NULL };
		look(c, i, h);
		if (h->at.to > h->at.from)
			break;
	}
	widen(c, h);
	c->pos = c->edge = h->at.to;
	return true;
}

/* ---- replacing ---- */

/* What two spellings of a secret have in common: line breaks, blanks and
 * "\n" in a key do not count. */
static void
canonical(struct hf_buf *out, struct hf_str a)
{
	for (size_t i = 0; i < a.n; i++) {
		if (a.s[i] == '\\' && i + 1 < a.n && (a.s[i + 1] == 'n' ||
		    a.s[i + 1] == 'r'))
			i++;
		else if ((unsigned char)a.s[i] > ' ')
			hf_buf_putc(out, a.s[i]);
	}
}

static struct seen *
seen_slot(struct seen *table, size_t size, const char *tag)
{
	size_t i = (size_t)hf_hash(hf_strn(tag, HF_SEAL_LEN)) & (size - 1);

	while (table[i].value.s != NULL &&
	    memcmp(table[i].tag, tag, HF_SEAL_LEN) != 0)
		i = (i + 1) & (size - 1);
	return &table[i];
}

static void
seen_add(struct hf_secrets *s, const char tag[HF_SEAL_LEN],
    struct hf_str value)
{
	struct seen *table, *slot;
	size_t size = s->seen_size > 0 ? 2 * s->seen_size : 64;

	if (s->nseen == SEEN_MAX)
		return;
	if (2 * s->nseen >= s->seen_size) {
		table = hf_calloc(size, sizeof(*table));
		for (size_t i = 0; i < s->seen_size; i++)
			if (s->seen[i].value.s != NULL)
				*seen_slot(table, size, s->seen[i].tag) =
				    s->seen[i];
		free(s->seen);
		s->seen = table;
		s->seen_size = size;
	}
	slot = seen_slot(s->seen, s->seen_size, tag);
	if (slot->value.s != NULL)
		return;
	memcpy(slot->tag, tag, HF_SEAL_LEN);
	slot->value = hf_strn(hf_arena_copy(&s->arena, value.s, value.n),
	    value.n);
	s->nseen++;
}

static void
placeholder(struct hf_secrets *s, struct hf_str value,
    char tag[HF_SEAL_LEN])
{
	struct hf_buf plain = HF_BUF_INIT;

	canonical(&plain, value);
	hf_seal_mark(&s->seal, hf_buf_view(&plain), tag);
	seen_add(s, tag, value);
	hf_buf_release(&plain);
}

/* next: the byte that will stand behind it, 0 at the end. */
static void
replace(struct hf_secrets *s, struct hf_buf *out, const struct hit *h,
    struct hf_str value, char next)
{
	const struct hf_literal *k = h->known;
	char tag[HF_SEAL_LEN];
	bool brace;

	if (k == NULL || k->name.n == 0) {
		placeholder(s, k != NULL ? k->value : value, tag);
		hf_buf_add(out, tag, sizeof(tag));
		return;
	}
	brace = (hf_chars(next) & HF_CH_WORD) != 0;
	hf_buf_puts(out, brace ? "${" : "$");
	hf_buf_str(out, k->name);
	if (brace)
		hf_buf_putc(out, '}');
}

/* Where a span of the view that n layers made stands in the text. */
static bool
original(const struct hf_view *view, size_t n, struct hf_span at,
    struct hf_span *raw)
{
	*raw = at;
	while (n-- > 0)
		if (!hf_view_span(&view[n], raw))
			return false;
	return true;
}

/* One look through a view of the text, made of it by n layers; what is
 * found is replaced in the text. Returns how many. */
static size_t
sweep(struct hf_secrets *s, struct hf_str text, const struct hf_view *view,
    size_t n, struct hf_buf *out)
{
	struct scan c = { .s = s, .text = n > 0 ?
	    hf_buf_view(&view[n - 1].text) : text };
	size_t done = 0, count = 0;
	struct hf_span raw;
	struct hit h;

	hf_shapes_forget(&s->memo);
	while (next_hit(&c, &h)) {
		if (!original(view, n, h.at, &raw) || raw.from < done)
			continue;
		hf_buf_add(out, text.s + done, raw.from - done);
		replace(s, out, &h, hf_strn(c.text.s + h.at.from,
		    h.at.to - h.at.from), raw.to < text.n ?
		    text.s[raw.to] : '\0');
		done = raw.to;
		count++;
	}
	if (count > 0)
		hf_buf_add(out, text.s + done, text.n - done);
	return count;
}

/* Takes one layer off after another, up to max, and line breaks off what
 * is then there. */
static size_t
peel(struct hf_secrets *s, struct hf_str text, enum hf_layer layer,
    size_t max, struct hf_buf *out)
{
	struct hf_view *view = s->view;
	struct hf_str top = text;
	size_t n = 0, count = 0;
	size_t near = s->known.blanks > NEAR ? s->known.blanks : NEAR;

	while (count == 0 && n < max && hf_view_make(&view[n], layer, top,
	    near)) {
		top = hf_buf_view(&view[n++].text);
		count = sweep(s, text, view, n, out);
	}
	if (count == 0 && (n > 0 || max == 0) &&
	    hf_view_make(&view[n], HF_LAYER_LINES, top, NEAR_LINES))
		count = sweep(s, text, view, n + 1, out);
	return count;
}

/* What is found first in the text as it stands, else in one of its
 * spellings. */
static size_t
pass(struct hf_secrets *s, struct hf_str text, struct hf_buf *out)
{
	size_t n = sweep(s, text, NULL, 0, out);

	if (n == 0)
		n = peel(s, text, HF_LAYER_LINES, 0, out);
	if (n == 0)
		n = peel(s, text, HF_LAYER_BACKSLASH, JSON_DEPTH,
		    out);
	if (n == 0)
		n = peel(s, text, HF_LAYER_PERCENT, PERCENT_DEPTH, out);
	return n;
}

size_t
hf_secrets_mask(struct hf_secrets *s, struct hf_buf *out, struct hf_str text)
{
	struct hf_buf now = HF_BUF_MAX(out->max), next = now, swap;
	bool empty = out->len == 0 && !out->full;
	size_t n, count = 0;

	/* Work in the memory that is there. */
	if (empty) {
		next = *out;
		*out = now;
	}
	make_ready(s);
	for (size_t i = 0; i < PASSES_MAX; i++) {
		if ((n = pass(s, text, &next)) == 0)
			break;
		count += n;
		swap = now;
		now = next;
		next = swap;
		hf_buf_clear(&next);
		text = hf_buf_view(&now);
	}
	if (empty) {
		swap = *out;
		*out = count > 0 ? now : next;
		*(count > 0 ? &now : &next) = swap;
	}
	if (count == 0 || !empty)
		hf_buf_str(out, text);
	/* What had no room in between has none now. */
	if (now.full)
		out->full = true;
	hf_buf_release(&now);
	hf_buf_release(&next);
	s->count += count;
	return count;
}

/* ---- and back ---- */

void
hf_secrets_restore(struct hf_secrets *s, struct hf_buf *out,
    struct hf_str text)
{
	const struct seen *slot;
	char tag[HF_SEAL_LEN];
	size_t from = 0, i = 0;

	make_ready(s);
	while ((i = hf_str_find(text, HF_STR("[secret:"), i)) != SIZE_MAX) {
		if (!hf_seal_at(text, i)) {
			i++;
			continue;
		}
		for (size_t k = 0; k < s->known.n && !s->known_seen; k++)
			if (s->known.item[k].name.n == 0)
				placeholder(s, s->known.item[k].value, tag);
		s->known_seen = true;
		slot = s->seen_size > 0 ? seen_slot(s->seen, s->seen_size,
		    text.s + i) : NULL;
		if (slot != NULL && slot->value.s != NULL) {
			hf_buf_add(out, text.s + from, i - from);
			hf_buf_str(out, slot->value);
			from = i + HF_SEAL_LEN;
		}
		i += HF_SEAL_LEN;
	}
	hf_buf_add(out, text.s + from, text.n - from);
}
