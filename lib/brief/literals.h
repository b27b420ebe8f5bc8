/*
 * Values that are known to be secret, and where they stand in a text.
 */
#ifndef HF_BRIEF_LITERALS_H
#define HF_BRIEF_LITERALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/text.h"
#include "brief/grams.h"

struct hf_literal {
	struct hf_str value;		/* at least HF_LITERAL_MIN bytes */
	struct hf_str name;		/* its variable's; none without */
	uint32_t next;			/* in its bucket, + 1 */
};
struct hf_literals {
	struct hf_literal *item;	/* longest first once ready */
	size_t n, cap;
	uint32_t *bucket;		/* by the first bytes: item + 1 */
	size_t mask;
	size_t blanks;			/* longest one with blanks in it */
	struct hf_arena arena;
};
enum { HF_LITERAL_MIN = HF_GRAM_LEN };

void	hf_literals_init(struct hf_literals *l);
void	hf_literals_release(struct hf_literals *l);
/* Adds a value (both are copied); one that is there already keeps the name
 * that is first in the alphabet, so that the order does not matter. False
 * for one that is too short. */
bool	hf_literals_add(struct hf_literals *l, struct hf_str value,
	    struct hf_str name);
/* After the last was added, again after one more; adds what they begin with. */
void	hf_literals_ready(struct hf_literals *l, struct hf_grams *g);
/* The longest value that begins at byte at, and how many bytes it takes
 * there: more than it has where a line break was put into it. NULL for
 * none. */
const struct hf_literal *hf_literals_at(const struct hf_literals *l,
	    struct hf_str text, size_t at, size_t *n);

#endif
