/*
 * A brief in any answer of a model: what is taken fits the schema, is taken
 * again as the same, and stays itself in its seed, whatever tags its texts
 * hold.
 */
#include <stdlib.h>
#include <string.h>

#include "brief/brief.h"
#include "must.h"

int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Its JSON is a brief again, with the same hash. */
static void
again(const struct hf_brief *b)
{
	struct hf_buf text = HF_BUF_INIT;
	struct hf_jtree *t = hf_jtree_new();
	char one[72], two[72];
	struct hf_brief same;
	struct hf_err err;

	hf_jtree_write(&text, hf_brief_to_json(t, b), false);
	hf_brief_init(&same);
	must(hf_brief_parse(&same, hf_buf_view(&text), &err) == 0,
	    "its own JSON is refused");
	hf_brief_hash(b, one);
	hf_brief_hash(&same, two);
	must(strcmp(one, two) == 0, "it is another one");
	must(hf_brief_size(b) <= HF_BRIEF_MAX, "it is too large");
	hf_brief_release(&same);
	hf_jtree_free(t);
	hf_buf_release(&text);
}

/* A seed is one seed: nothing in the brief ends it early. */
static void
seeded(const struct hf_brief *b)
{
	static const struct hf_seed_info info = { "handoff-x", "pi", "id",
		true };
	struct hf_buf text = HF_BUF_INIT;
	struct hf_str hash, body;
	struct hf_brief back;
	char own[72];

	hf_brief_seed(&text, b, &info);
	must(hf_brief_is_seed(hf_buf_view(&text), &hash, &body),
	    "the seed is none");
	hf_brief_hash(b, own);
	must(hf_str_is(hash, own), "the seed names another hash");
	hf_brief_init(&back);
	hf_brief_from_markdown(&back, body);
	must(back.goal.n > 0, "the goal is lost");
	hf_brief_release(&back);
	hf_buf_release(&text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hf_str text = hf_strn((const char *)data, size);
	struct hf_brief b;
	struct hf_err err;

	hf_brief_init(&b);
	if (hf_brief_parse(&b, text, &err) == 0) {
		again(&b);
		seeded(&b);
	}
	hf_brief_release(&b);
	hf_brief_init(&b);
	hf_brief_from_markdown(&b, text);
	hf_brief_release(&b);
	hf_brief_is_seed(text, NULL, NULL);
	return 0;
}
