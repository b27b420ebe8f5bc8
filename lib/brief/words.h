/*
 * Values of variables that are no secrets although the names say so: plain
 * words ("default", "not-set"), and templates to be filled in.
 */
#ifndef HF_BRIEF_WORDS_H
#define HF_BRIEF_WORDS_H

#include <stdbool.h>

#include "base/text.h"

/* Is a one word that stands in every manual, or such words joined by
 * blanks, hyphens, underscores or dots? Case does not matter. */
bool	hf_words_plain(struct hf_str a);
/* Is it a template, filled in elsewhere or hidden already ("${TOKEN}",
 * "<your key>", "{{password}}", "%s", "xxxxxxxx", "…")? */
bool	hf_words_template(struct hf_str a);

#endif
