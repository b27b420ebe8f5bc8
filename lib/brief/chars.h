/*
 * Sets of characters that tokens are made of, ASCII whatever the locale.
 */
#ifndef HF_BRIEF_CHARS_H
#define HF_BRIEF_CHARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum hf_chars {
	HF_CH_DIGIT = 1, HF_CH_UPPER = 2, HF_CH_LOWER = 4,
	HF_CH_HEX = 8,		/* a to f; with DIGIT, lower-case hex */
	HF_CH_UNDER = 16, HF_CH_DASH = 32, HF_CH_DOT = 64,
	HF_CH_PLUS = 128,	/* + and / */
	HF_CH_EQUAL = 256, HF_CH_TILDE = 512, HF_CH_PERCENT = 1024,

	HF_CH_LETTER = HF_CH_UPPER | HF_CH_LOWER,
	HF_CH_ALNUM = HF_CH_DIGIT | HF_CH_LETTER,
	HF_CH_WORD = HF_CH_ALNUM | HF_CH_UNDER,
	HF_CH_TOKEN = HF_CH_WORD | HF_CH_DASH,
	HF_CH_LHEX = HF_CH_DIGIT | HF_CH_HEX,
	HF_CH_BASE64 = HF_CH_ALNUM | HF_CH_PLUS
};

extern const uint16_t hf_chars_sets[256];
/* All sets that c is in. */
static inline unsigned
hf_chars(char c)
{
	return hf_chars_sets[(unsigned char)c];
}

/* Where the run of characters of a set that begins at i ends, at most max
 * bytes on. */
static inline size_t
hf_chars_run(struct hf_str a, size_t i, unsigned set, size_t max)
{
	size_t end = a.n - i > max ? i + max : a.n;

	while (i < end && (hf_chars(a.s[i]) & set) != 0)
		i++;
	return i;
}

/* What stands in a: the union of the characters' sets. */
static inline unsigned
hf_chars_all(struct hf_str a)
{
	unsigned all = 0;

	for (size_t i = 0; i < a.n; i++)
		all |= hf_chars(a.s[i]);
	return all;
}

/* "xxxxxxxx", "********": one character over and over. */
static inline bool
hf_chars_same(struct hf_str a)
{
	for (size_t i = 1; i < a.n; i++)
		if (a.s[i] != a.s[0])
			return false;
	return a.n > 0;
}

/* Capitals and small letters beyond one capital at the beginning. */
static inline bool
hf_chars_mixed(struct hf_str a)
{
	unsigned rest;

	if (a.n < 2)
		return false;
	rest = hf_chars_all(hf_strn(a.s + 1, a.n - 1));
	return (rest & HF_CH_LETTER) == HF_CH_LETTER ||
	    ((rest & HF_CH_UPPER) != 0 &&
	    (hf_chars(a.s[0]) & HF_CH_LOWER) != 0);
}

/* Letters and digits together, or mixed: a piece of a token more likely
 * than a word or a number. */
static inline bool
hf_chars_garbled(struct hf_str a)
{
	unsigned all = hf_chars_all(a);

	return hf_chars_mixed(a) ||
	    ((all & HF_CH_DIGIT) != 0 && (all & HF_CH_LETTER) != 0);
}

#endif
