/*
 * Where is it worth to look? A set of the four bytes that something can
 * begin with, case folded. It may say yes for what is not in it, hardly
 * ever though, and never no for what is.
 */
#ifndef HF_BRIEF_GRAMS_H
#define HF_BRIEF_GRAMS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { HF_GRAM_LEN = 4, HF_GRAM_BITS = 17 };
struct hf_grams {
	uint32_t bit[1 << (HF_GRAM_BITS - 5)];
};

/* p has HF_GRAM_LEN bytes. Folding makes '_' and DEL one, too. */
static inline uint32_t
hf_grams_hash(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return ((v | 0x20202020U) * 2654435761U) >> (32 - HF_GRAM_BITS);
}

static inline bool
hf_grams_has(const struct hf_grams *g, const char *p)
{
	uint32_t h = hf_grams_hash(p);

	return (g->bit[h / 32] >> h % 32 & 1) != 0;
}

/* Adds what begins with these HF_GRAM_LEN bytes. */
static inline void
hf_grams_put(struct hf_grams *g, const char *p)
{
	uint32_t h = hf_grams_hash(p);

	g->bit[h / 32] |= 1U << h % 32;
}

/* Adds what begins with s, at least two characters; where that is shorter than a gram, each
 * character of the set (chars.h; 0: any byte) can follow. */
void	hf_grams_add(struct hf_grams *g, const char *s, unsigned set);

#endif
