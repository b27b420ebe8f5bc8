#include "brief/heard.h"

#include <stdlib.h>
#include <string.h>

#include "brief/sentences.h"

enum {
	SAME = 60,		/* percent of its matter: he said so */
	ALIKE = 30,		/* it may be his in other words */
	REVERSED = 80,		/* nearly the same, but for the "not" */
	LINE_MAX_BYTES = 1000
};

static void
hear(struct hf_heard *h, struct hf_str sentence)
{
	if (h->n == HF_SENTENCES_MAX)
		return;
	if (h->n % 256 == 0) {
		h->said = hf_reallocarray(h->said, h->n + 256,
		    sizeof(*h->said));
		h->taken = hf_reallocarray(h->taken, h->n + 256,
		    sizeof(*h->taken));
	}
	h->taken[h->n] = false;
	hf_units_of(&h->said[h->n++], sentence);
}

/* Bytes of what parts two parts of a sentence at place i; 0: nothing. */
static size_t
parts_at(struct hf_str t, size_t i)
{
	static const char *const parts[] = { ", ", " but ", "; ",
		"\xef\xbc\x8c" };
	size_t k;

	for (k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
		if (hf_str_starts(hf_strn(t.s + i, t.n - i), parts[k]))
			return strlen(parts[k]);
	return 0;
}

/* The sentence, and what stands between its commas: "but" turns only a part
 * of it round. */
static void
hear_parts(struct hf_heard *h, struct hf_str sentence)
{
	size_t i = 0, from = 0, n;

	hear(h, sentence);
	while (i < sentence.n) {
		if ((n = parts_at(sentence, i)) == 0) {
			i++;
			continue;
		}
		hear(h, hf_strn(sentence.s + from, i - from));
		i += n;
		from = i;
	}
	if (from > 0)
		hear(h, hf_strn(sentence.s + from, sentence.n - from));
}

static void
hear_text(struct hf_heard *h, struct hf_str text)
{
	struct hf_sentences s;
	struct hf_str sentence;

	hf_sentences_init(&s, text);
	while (hf_sentences_next(&s, &sentence))
		hear_parts(h, sentence);
	hf_sentences_release(&s);
}

void
hf_heard_read(struct hf_heard *h, const struct hf_facts *f,
    const struct hf_rules *rules)
{
	static const enum hf_field fields[] = { HF_CONSTRAINTS,
		HF_DECISIONS };
	const struct hf_list *l;
	size_t i, k;

	memset(h, 0, sizeof(*h));
	h->rules = rules;
	for (i = f->nrequests; i-- > 0;)
		hear_text(h, f->request[i].text);
	hear_text(h, rules->seed.goal);
	for (k = 0; k < sizeof(fields) / sizeof(fields[0]); k++) {
		l = &rules->seed.list[fields[k]];
		for (i = 0; i < l->n; i++)
			hear_parts(h, l->item[i]);
	}
}

void
hf_heard_release(struct hf_heard *h)
{
	free(h->said);
	free(h->taken);
	memset(h, 0, sizeof(*h));
}

/* How near the sentences come to u, in percent. */
struct near {
	int same;		/* with the same "not" */
	int any;		/* with it or without */
	int number;		/* with other numbers */
	int free;		/* of those that no other constraint took */
	size_t at;		/* which is the same */
};

static void
look(const struct hf_heard *h, const struct hf_units *u, struct near *n)
{
	const struct hf_units *s;
	size_t i;
	int here;

	memset(n, 0, sizeof(*n));
	for (i = 0; i < h->n; i++) {
		s = &h->said[i];
		if (!hf_units_has_numbers(u, s)) {
			here = hf_units_in_words(u, s);
			n->number = here > n->number ? here : n->number;
			continue;
		}
		here = hf_units_in(u, s);
		n->any = here > n->any ? here : n->any;
		if (!h->taken[i] && here > n->free)
			n->free = here;
		if (s->negative == u->negative && here > n->same) {
			n->same = here;
			n->at = i;
		}
	}
}

enum hf_heard_as
hf_heard_user(struct hf_heard *h, const struct hf_units *u, int *percent)
{
	struct near n;

	*percent = 100;
	if (u->n == 0)
		return HF_HEARD;
	look(h, u, &n);
	*percent = n.any;
	if (n.same >= SAME) {
		h->taken[n.at] = true;
		return HF_HEARD;
	}
	if (n.number >= SAME && n.number > n.any)
		return HF_HEARD_OTHER_NUMBER;
	if (n.any >= REVERSED)
		return HF_HEARD_OPPOSITE;
	*percent = n.free;
	return n.free >= ALIKE ? HF_HEARD_ALIKE : HF_HEARD_NOT;
}

/* ---- others ---- */

struct others {
	const struct hf_units *u;
	int *best;
	size_t n;
};

static void
compare(const struct others *o, struct hf_str text)
{
	struct hf_units s;
	size_t i;
	int here;

	if (text.n < 8)
		return;
	hf_units_of(&s, text);
	for (i = 0; i < o->n; i++) {
		here = hf_units_in(&o->u[i], &s);
		if (here > o->best[i])
			o->best[i] = here;
	}
}

/* Lines, and sentences in them; no more than that is needed here. */
static void
compare_text(const struct others *o, struct hf_str text)
{
	struct hf_str line, rest = text;
	size_t i, from;

	while (rest.n > 0) {
		line = hf_str_line(rest, &rest);
		if (line.n > LINE_MAX_BYTES)
			continue;
		for (i = from = 0; i < line.n; i++)
			if (strchr(".!?", line.s[i]) != NULL &&
			    i + 1 < line.n && line.s[i + 1] == ' ') {
				compare(o, hf_strn(line.s + from, i - from));
				from = i + 1;
			}
		compare(o, hf_strn(line.s + from, line.n - from));
	}
}

int
hf_heard_others(struct hf_walk *w, const struct hf_units *u, int *best,
    size_t n, struct hf_err *err)
{
	const struct others o = { u, best, n };
	const struct hf_blocks *bs;
	struct hf_row row;
	size_t i;
	int rc;

	memset(best, 0, n * sizeof(*best));
	hf_walk_seek(w, 0);
	while ((rc = hf_walk_next(w, &row, &bs, NULL, err)) > 0) {
		if (row.kind == HF_ROW_PROMPT || row.kind == HF_ROW_SEED)
			continue;
		for (i = 0; i < bs->n; i++)
			if (bs->b[i].kind == HF_BLOCK_TEXT ||
			    bs->b[i].kind == HF_BLOCK_RESULT)
				compare_text(&o, bs->b[i].text);
	}
	return rc;
}
