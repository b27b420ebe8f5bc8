/*
 * Words that tell what a sentence of a user is: a rule, a decision, a mere
 * "go on". One table, a line a cue; a language is a few lines of it.
 */
#ifndef HF_BRIEF_CUES_H
#define HF_BRIEF_CUES_H

#include <stdbool.h>

#include "session/shell.h"

/* Does it state a requirement, a permission or a prohibition? What it tells
 * of ("It only fails on Mondays") and asks does not. */
bool	hf_cues_rule(struct hf_str sentence);
/* Is it one from its beginning, and not a request with a condition ("fix
 * it, but don't touch the tests")? */
bool	hf_cues_rule_alone(struct hf_str sentence);
/* Does it choose or correct ("use B instead", "no, …")? */
bool	hf_cues_decision(struct hf_str sentence);
/* Does it take something back ("changed my mind", "no longer", "not 80")? */
bool	hf_cues_correction(struct hf_str sentence);
/* Does the whole text say no more than "yes, go on"? */
bool	hf_cues_filler(struct hf_str text);
/* Does it only want to know something ("was it there before?")? A polite
 * request does not. */
bool	hf_cues_asks(struct hf_str sentence);
/* Does it lean on what was asked before ("also …", "now …", "it")? */
bool	hf_cues_continues(struct hf_str text);
/* Does a line announce next steps ("Next steps:", "Remaining:")? */
bool	hf_cues_next(struct hf_str line);
/* Does it announce rules ("Constraints", "Please note")? */
bool	hf_cues_heading(struct hf_str line);
/* Is it a command that checks something (tests, a build, a linter)? */
bool	hf_cues_check(const struct hf_shell_check *c);
/* Which kinds of checks a text speaks of, and whether it names a tool that
 * does nothing else. */
enum { HF_CHECK_TESTS = 1, HF_CHECK_LINTS = 2, HF_CHECK_BUILDS = 4,
	HF_CHECK_TYPES = 8, HF_CHECK_TOOL = 16 };
unsigned hf_cues_checks(struct hf_str text);

#endif
