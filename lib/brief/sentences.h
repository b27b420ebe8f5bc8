/*
 * The sentences of a user's text, one after another. What is not his own
 * words is stepped over: fenced code, quoted lines ("> "), blocks in tags
 * (<system-reminder>, <handoff-context>), runs of lines as logs have them.
 * A list item is a sentence of its own; a line that an editor broke goes on
 * in the next. A full stop ends one only before white space.
 */
#ifndef HF_BRIEF_SENTENCES_H
#define HF_BRIEF_SENTENCES_H

#include <stdbool.h>

#include "base/buf.h"

struct hf_sentences {
	struct hf_str rest, line;
	struct hf_buf joined;
	bool listed;		/* internal: a heading announced rules */
	size_t width;		/* internal: of the paragraph's lines */
	bool inside, wrapped;	/* internal: a paragraph, broken by an editor */
	/* of the last one: */
	bool rule_list;		/* it stands in a list of rules */
	bool item;		/* of any list */
	bool heading;		/* it announces a list of rules */
	size_t skipped;		/* lines stepped over before it; after the
				 * last sentence, those behind it */
};
void	hf_sentences_init(struct hf_sentences *s, struct hf_str text);
/* The next one, trimmed, without the mark of its list; it lives until the
 * next call. */
bool	hf_sentences_next(struct hf_sentences *s, struct hf_str *sentence);
void	hf_sentences_release(struct hf_sentences *s);

#endif
