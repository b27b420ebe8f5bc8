/*
 * Words that tell what a sentence of a user is: a rule, a decision, a mere
 * "go on". One table, a line a cue; a language is a few lines of it.
 */
#ifndef HF_BRIEF_CUES_H
#define HF_BRIEF_CUES_H

#include <stdbool.h>

#include "base/text.h"

/* The next sentence of *text (trimmed, verbatim), none at the end. Fenced
 * code and quoted lines ("> ") are stepped over; a list item is a sentence
 * of its own. A full stop ends one only before white space. */
struct hf_str hf_cues_sentence(struct hf_str *text);

/* Does it state a requirement, a permission or a prohibition? A question
 * does not. */
bool	hf_cues_rule(struct hf_str sentence);
/* Does it choose or correct ("use B instead", "no, …")? */
bool	hf_cues_decision(struct hf_str sentence);
/* Does the whole text say no more than "yes, go on"? */
bool	hf_cues_filler(struct hf_str text);
/* Does it lean on what was asked before ("also …", "now …", "it")? */
bool	hf_cues_continues(struct hf_str text);
/* Does a line announce next steps ("Next steps:", "Remaining:")? */
bool	hf_cues_next(struct hf_str line);
/* Is it a command that checks something (tests, a build, a linter)? */
bool	hf_cues_check(struct hf_str command);

#endif
