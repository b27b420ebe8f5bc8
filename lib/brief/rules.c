#include "brief/rules.h"

#include <stdlib.h>
#include <string.h>

#include "brief/cues.h"

static void
add(struct hf_rules *r, struct hf_str text, uint32_t at)
{
	struct hf_rule *rule;
	size_t i;

	if (r->n == HF_RULES_MAX)
		return;
	for (i = 0; i < r->n; i++)
		if (hf_str_eq(r->rule[i].text, text))
			return;
	rule = &r->rule[r->n++];
	memset(rule, 0, sizeof(*rule));
	rule->text = text;
	rule->at = at;
	hf_units_of(&rule->units, text);
}

/* The newest of those that say the same with other numbers stands. */
static void
supersede(struct hf_rules *r)
{
	size_t i, k;

	for (i = 0; i < r->n; i++) {
		if (r->rule[i].units.nnumbers == 0)
			continue;
		for (k = 0; k < i && !r->rule[i].superseded; k++)
			r->rule[i].superseded = !r->rule[k].superseded &&
			    hf_units_conflict(&r->rule[k].units,
			    &r->rule[i].units);
	}
}

/* Rules of a request, in their order. */
static void
of_request(struct hf_rules *r, const struct hf_fact_text *t)
{
	struct hf_str sentence, rest = t->text;

	while ((sentence = hf_cues_sentence(&rest)).n > 0)
		if (hf_cues_rule(sentence))
			add(r, sentence, t->at);
}

void
hf_rules_read(struct hf_rules *r, const struct hf_facts *f, bool seeded)
{
	struct hf_str body;
	size_t i;

	memset(r, 0, sizeof(*r));
	hf_brief_init(&r->seed);
	r->rule = hf_calloc(HF_RULES_MAX, sizeof(*r->rule));
	for (i = f->nrequests; i-- > 0;)
		of_request(r, &f->request[i]);
	if (seeded && f->seed.text.n > 0 &&
	    hf_brief_is_seed(f->seed.text, NULL, &body)) {
		hf_brief_from_markdown(&r->seed, body);
		for (i = 0; i < r->seed.list[HF_CONSTRAINTS].n; i++)
			add(r, r->seed.list[HF_CONSTRAINTS].item[i], 0);
	}
	supersede(r);
}

void
hf_rules_release(struct hf_rules *r)
{
	free(r->rule);
	hf_brief_release(&r->seed);
	memset(r, 0, sizeof(*r));
}

int
hf_rules_match(const struct hf_rules *r, const struct hf_units *u,
    const struct hf_rule **which)
{
	int best = 0, here;
	size_t i;

	for (i = 0; i < r->n; i++) {
		if (r->rule[i].units.negative != u->negative)
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
