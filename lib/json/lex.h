/*
 * JSON seen as bytes: where a value ends, and mending what a crash or a
 * careless writer did to its strings. Nothing here knows values.
 */
#ifndef HF_JSON_LEX_H
#define HF_JSON_LEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* All zero before an object or an array. */
struct hf_lex {
	size_t depth;		/* brackets that are open */
	bool string;		/* inside a string … */
	bool escape;		/* … and behind its backslash */
};

/* Goes over n bytes, which may be the next piece of a value. Returns the
 * offset behind the bracket that closes it, SIZE_MAX while it is open. Only
 * brackets, quotes and backslashes are looked at. */
size_t	hf_lex_value(struct hf_lex *l, const char *s, size_t n);

/* Appends text, mended: inside strings bad UTF-8, surrogate escapes without
 * their other half and runs of NUL bytes become U+FFFD and other control
 * bytes their escapes, and with escapes a backslash that begins none becomes
 * one of two; outside, NUL bytes become blanks. Returns whether anything had
 * to be. */
bool	hf_lex_mend(struct hf_buf *out, struct hf_str text, bool escapes);

/* Appends compact JSON with a line a value, two blanks of indent a level and
 * a last newline. */
void	hf_lex_pretty(struct hf_buf *out, struct hf_str compact);

/* Appends a as the inside of a JSON string; bad UTF-8 becomes U+FFFD. */
void	hf_lex_escape(struct hf_buf *out, struct hf_str a);

#endif
