/*
 * For the unit tests and the fuzzer: does the skimmer say of a line what the
 * parser says?
 */
#ifndef HF_HELPER_SKIM_H
#define HF_HELPER_SKIM_H

#include <stdlib.h>

#include "base/mem.h"
#include "json/json.h"
#include "json/skim.h"

/* A long string is cut, but not to less than this. */
enum { SKIM_LEAST = HF_SKIM_HEAD / 6 - 2 };

static inline bool
skim_same_text(struct hf_str cut, struct hf_str whole)
{
	if (cut.n == whole.n)
		return cut.n == 0 || memcmp(cut.s, whole.s, cut.n) == 0;
	return cut.n < whole.n && cut.n >= SKIM_LEAST &&
	    hf_utf8_valid(cut) && memcmp(cut.s, whole.s, cut.n) == 0;
}

static inline bool
skim_same(const struct hf_jval *a, const struct hf_jval *b)
{
	struct hf_jiter ia, ib;
	struct hf_str ka = HF_STR_NONE, kb = HF_STR_NONE;
	const struct hf_jval *ea, *eb;

	if (hf_json_type(a) != hf_json_type(b) ||
	    hf_json_size(a) != hf_json_size(b) ||
	    hf_json_true(a) != hf_json_true(b) ||
	    !hf_str_eq(hf_json_num(a), hf_json_num(b)) ||
	    !skim_same_text(hf_json_str(a), hf_json_str(b)))
		return false;
	hf_json_iter(&ia, a);
	hf_json_iter(&ib, b);
	while ((ea = hf_json_next(&ia, &ka)) != NULL) {
		eb = hf_json_next(&ib, &kb);
		if (!hf_str_eq(ka, kb) || !skim_same(ea, eb))
			return false;
	}
	return true;
}

/* True where the skimmer does not vouch for the line. */
static inline bool
skim_agrees(struct hf_str line)
{
	struct hf_json *s = NULL, *j = NULL;
	char *text = hf_malloc(line.n + HF_SKIM_PAD);
	size_t n, used = 0;
	bool same;

	if (line.n > 0)
		memcpy(text, line.s, line.n);
	memset(text + line.n, '"', HF_SKIM_PAD);
	n = hf_json_skim(&s, hf_strn(text, line.n));
	same = n == 0 || (hf_json_again(&j, line, HF_JSON_PREFIX |
	    HF_JSON_MEND | HF_JSON_ESCAPES, &used, NULL, NULL) == 0 &&
	    used == n && skim_same(hf_json_root(s), hf_json_root(j)));
	hf_json_free(s);
	hf_json_free(j);
	free(text);
	return same;
}

#endif
