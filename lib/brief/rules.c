#include "brief/rules.h"

#include <stdlib.h>
#include <string.h>

#include "brief/cues.h"
#include "brief/sentences.h"

enum {
	SAME_MATTER = 90,	/* percent, both ways: said again */
	TAKEN_BACK = 60,	/* of the older one, with words that say so */
	OTHER_NUMBER = 40,	/* the same, and a number is another one */
	TURNED_ROUND = 75	/* of the older one, allowed now */
};

/* ---- texts ---- */

/* Does what stands at place i say nothing: a blank, a mark of the
 * sentence, emphasis? A dot in a name does. */
static bool
is_mark(struct hf_str t, size_t i)
{
	if (t.s[i] == '.')
		return i + 1 == t.n || t.s[i + 1] == ' ';
	return t.s[i] != '\0' && strchr(" \t\r\n`*!?,;:\"'()", t.s[i]) != NULL;
}

bool
hf_rules_same_text(struct hf_str a, struct hf_str b)
{
	size_t i = 0, k = 0;
	char x, y;

	for (;;) {
		while (i < a.n && is_mark(a, i))
			i++;
		while (k < b.n && is_mark(b, k))
			k++;
		if (i == a.n || k == b.n)
			return i == a.n && k == b.n;
		x = a.s[i++];
		y = b.s[k++];
		if (x >= 'A' && x <= 'Z')
			x = (char)(x + 32);
		if (y >= 'A' && y <= 'Z')
			y = (char)(y + 32);
		if (x != y)
			return false;
	}
}

/* A copy in which an editor's line ends are blanks again. */
static struct hf_str
kept(struct hf_rules *r, struct hf_str t)
{
	char *copy = hf_arena_alloc(&r->arena, t.n + 1);
	size_t i, n = 0;

	for (i = 0; i < t.n; i++)
		if (strchr(" \t\r\n", t.s[i]) == NULL || t.s[i] == '\0')
			copy[n++] = t.s[i];
		else if (n > 0 && copy[n - 1] != ' ')
			copy[n++] = ' ';
	return hf_str_trim(hf_strn(copy, n));
}

static struct hf_rule *
add(struct hf_rules *r, struct hf_str text, uint32_t at)
{
	struct hf_rule *rule;

	if (r->n == HF_RULES_MAX)
		return NULL;
	rule = &r->rule[r->n++];
	memset(rule, 0, sizeof(*rule));
	rule->text = kept(r, text);
	rule->at = at;
	hf_units_of(&rule->units, rule->text);
	return rule;
}

/* ---- what takes the place of what ---- */

/* What stands behind words that refuse it ("not 8080", "instead of X"): is
 * it the old one's, and the rest of that in the new one? */
static bool
refuses(const struct hf_rule *new, const struct hf_rule *old)
{
	static const char *const words[] = { "not ", "instead of ",
		"rather than ", "no longer ", "nicht ", "statt ",
		"au lieu de ", "en lugar de ", "en vez de ", "em vez de ",
		"\xe4\xb8\x8d\xe8\xa6\x81\xe7\x94\xa8" };	/* 不要用 */
	size_t i, at, n;
	struct hf_str w;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		at = hf_str_ifind(new->text, words[i], 0);
		if (at == SIZE_MAX)
			continue;
		w = hf_str_trim(hf_strn(new->text.s + at + strlen(words[i]),
		    new->text.n - at - strlen(words[i])));
		for (n = 0; n < w.n && strchr(" ,.;:!?)", w.s[n]) == NULL &&
		    (unsigned char)w.s[n] < 0xe0; n++)
			;
		w.n = n;
		if (hf_units_word(&old->units, w) &&
		    hf_units_in(&old->units, &new->units) >= TAKEN_BACK)
			return true;
	}
	return false;
}

static bool
takes_back(const struct hf_rule *new, const struct hf_rule *old)
{
	int matter = hf_units_in_words(&old->units, &new->units);
	bool number = old->units.nnumbers > 0 && new->units.nnumbers > 0 &&
	    !hf_units_has_numbers(&old->units, &new->units);

	if (!hf_cues_correction(new->text))
		return false;
	if (number)
		return matter >= OTHER_NUMBER;
	/* What is taken back is named almost whole; of few words a rule. */
	return old->units.nnumbers == 0 && matter >= TAKEN_BACK &&
	    (old->units.n > 2 || (old->units.n == 2 && old->rule));
}

static bool
supersedes(const struct hf_rule *new, const struct hf_rule *old)
{
	if (hf_units_other_names(&new->units, &old->units) ||
	    old->units.n == 0)
		return false;
	if (hf_units_conflict(&new->units, &old->units) ||
	    refuses(new, old) || takes_back(new, old))
		return true;
	return old->rule && old->units.n > 1 &&
	    new->units.negative != old->units.negative &&
	    hf_units_in(&old->units, &new->units) >= TURNED_ROUND &&
	    hf_units_in(&new->units, &old->units) >= TURNED_ROUND - 25;
}

static bool
repeats(const struct hf_rule *new, const struct hf_rule *old)
{
	if (hf_rules_same_text(new->text, old->text))
		return true;
	return new->units.negative == old->units.negative &&
	    new->units.n > 2 &&
	    hf_units_same_numbers(&new->units, &old->units) &&
	    !hf_units_other_names(&new->units, &old->units) &&
	    hf_units_in(&new->units, &old->units) >= SAME_MATTER &&
	    hf_units_in(&old->units, &new->units) >= SAME_MATTER;
}

/* The newest of those that say the same, or otherwise, stands. */
static void
settle(struct hf_rules *r)
{
	struct hf_rule *old, *new;
	size_t i, k;

	for (i = 1; i < r->n; i++) {
		old = &r->rule[i];
		for (k = i; k-- > 0;) {
			new = &r->rule[k];
			if (!old->rule && !old->decision)
				break;
			old->repeated = (new->rule || new->decision) &&
			    repeats(new, old);
			old->superseded = !old->repeated &&
			    supersedes(new, old);
			if (!old->repeated && !old->superseded)
				continue;
			/* It is what the old one was. */
			new->rule = new->rule || old->rule;
			new->decision = new->decision || old->decision;
			old->by = new;
			break;
		}
	}
}

/* ---- reading ---- */

/* Of a request, the last sentence first. */
static void
of_request(struct hf_rules *r, const struct hf_fact_text *t)
{
	struct hf_sentences s;
	struct hf_str sentence;
	struct hf_rule *rule, swap;
	size_t from = r->n, i, n;
	bool is, decides;

	hf_sentences_init(&s, t->text);
	while (hf_sentences_next(&s, &sentence)) {
		is = hf_cues_rule(sentence) || (s.rule_list &&
		    sentence.n >= 6);
		decides = hf_cues_decision(sentence);
		if (!is && !decides && !hf_cues_correction(sentence))
			continue;
		if ((rule = add(r, sentence, t->at)) == NULL)
			break;
		rule->rule = is;
		rule->decision = decides && !is;
	}
	hf_sentences_release(&s);
	n = r->n - from;
	for (i = 0; i < n / 2; i++) {
		swap = r->rule[from + i];
		r->rule[from + i] = r->rule[r->n - 1 - i];
		r->rule[r->n - 1 - i] = swap;
	}
}

static void
of_seed(struct hf_rules *r)
{
	struct hf_rule *rule;
	size_t i;

	for (i = 0; i < r->seed.list[HF_CONSTRAINTS].n; i++)
		if ((rule = add(r, r->seed.list[HF_CONSTRAINTS].item[i],
		    0)) != NULL)
			rule->rule = true;
	for (i = 0; i < r->seed.list[HF_DECISIONS].n; i++)
		if ((rule = add(r, r->seed.list[HF_DECISIONS].item[i],
		    0)) != NULL)
			rule->decision = true;
}

void
hf_rules_read(struct hf_rules *r, const struct hf_facts *f, bool seeded)
{
	struct hf_str body;
	size_t i;

	memset(r, 0, sizeof(*r));
	hf_brief_init(&r->seed);
	hf_arena_init(&r->arena);
	r->rule = hf_calloc(HF_RULES_MAX, sizeof(*r->rule));
	if (seeded && f->seed.text.n > 0 &&
	    hf_brief_is_seed(f->seed.text, NULL, &body))
		hf_brief_from_markdown(&r->seed, body);
	for (i = f->nrequests; i-- > 0;)
		of_request(r, &f->request[i]);
	of_seed(r);
	settle(r);
}

void
hf_rules_release(struct hf_rules *r)
{
	free(r->rule);
	hf_brief_release(&r->seed);
	hf_arena_clear(&r->arena);
	memset(r, 0, sizeof(*r));
}

/* ---- asking ---- */

bool
hf_rule_holds(const struct hf_rule *rule)
{
	return !rule->superseded && !rule->repeated;
}

int
hf_rules_match(const struct hf_rules *r, const struct hf_units *u,
    const struct hf_rule **which)
{
	int best = 0, here;
	size_t i;

	for (i = 0; i < r->n; i++) {
		if (!r->rule[i].rule ||
		    r->rule[i].units.negative != u->negative)
			continue;
		here = hf_units_in(u, &r->rule[i].units);
		if (here > best) {
			best = here;
			if (which != NULL)
				*which = &r->rule[i];
		}
	}
	return best;
}

bool
hf_rules_outdated(const struct hf_rules *r, struct hf_str text)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (r->rule[i].superseded &&
		    hf_rules_same_text(r->rule[i].text, text))
			return true;
	return false;
}
