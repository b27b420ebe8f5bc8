/*
 * Hard tokens: what a text names that can be looked up in a transcript —
 * paths, URLs, hashes, error codes, identifiers, options, numbers of three
 * digits or more. Words of prose are none, so a paraphrase is never
 * punished.
 *
 * A set of a transcript's tokens is built in one pass. What makes the
 * comparison fair: case does not matter; a path is found by any of its
 * endings ("src/a.c" in "/home/x/src/a.c"), with or without "./", the
 * session's folder, HOME, and a line behind it ("a.c:88"); a hash by its
 * first seven to twelve digits; a number without its separators.
 */
#ifndef HF_BRIEF_TOKENS_H
#define HF_BRIEF_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum { HF_TOKENS_MAX = 1 << 22 };

struct hf_tokens {
	uint64_t *slot;		/* open addressing; 0 is free */
	size_t n, cap;
	bool full;		/* beyond HF_TOKENS_MAX: everything is in it */
	uint64_t lines;		/* the largest number of a line */
	struct hf_str cwd, home;	/* borrowed; may be none */
};

void	hf_tokens_init(struct hf_tokens *t, struct hf_str cwd,
	    struct hf_str home);
void	hf_tokens_release(struct hf_tokens *t);
/* Adds everything that text names. */
void	hf_tokens_add(struct hf_tokens *t, struct hf_str text);
/* The same of a tool's output, where a number at the start of a line is that
 * line's: "line 88" is known by it, "88 tests" is not. */
void	hf_tokens_add_output(struct hf_tokens *t, struct hf_str text);

/* Is the word in it, by itself or as a part of a token? */
bool	hf_tokens_has(const struct hf_tokens *t, struct hf_str word);
/* Calls cb for each hard token of text, with whether the set has it. */
void	hf_tokens_check(const struct hf_tokens *t, struct hf_str text,
	    void (*cb)(struct hf_str token, bool known, void *arg),
	    void *arg);
/* Does text name the path, by itself or one of its endings of at least the
 * file's name? */
bool	hf_tokens_names(struct hf_str text, struct hf_str path);

#endif
