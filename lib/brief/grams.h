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

/* Of four bytes that are folded already. Multiplied in 64 bits, each of them
 * decides each bit of the result. */
static inline uint32_t
hf_grams_mix(uint32_t v)
{
	return (uint32_t)(v * 0x9e3779b97f4a7c15U >> (64 - HF_GRAM_BITS));
}

/* p has HF_GRAM_LEN bytes. Folding makes '_' and DEL one, too. */
static inline uint32_t
hf_grams_hash(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return hf_grams_mix(v | 0x20202020U);
}

static inline uint32_t
hf_grams_bit(const struct hf_grams *g, uint32_t h)
{
	return g->bit[h / 32] >> h % 32 & 1;
}

static inline bool
hf_grams_has(const struct hf_grams *g, const char *p)
{
	return hf_grams_bit(g, hf_grams_hash(p)) != 0;
}

/* Is it worth it at one of the first four of the 8 bytes at p? Where the
 * machine's order of bytes does not help, it always is. */
static inline bool
hf_grams_any(const struct hf_grams *g, const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	v |= 0x2020202020202020U;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (hf_grams_bit(g, hf_grams_mix((uint32_t)v)) |
	    hf_grams_bit(g, hf_grams_mix((uint32_t)(v >> 8))) |
	    hf_grams_bit(g, hf_grams_mix((uint32_t)(v >> 16))) |
	    hf_grams_bit(g, hf_grams_mix((uint32_t)(v >> 24)))) != 0;
#else
	(void)g;
	return true;
#endif
}

/* Adds what begins with these HF_GRAM_LEN bytes. */
static inline void
hf_grams_put(struct hf_grams *g, const char *p)
{
	uint32_t h = hf_grams_hash(p);

	g->bit[h / 32] |= 1U << h % 32;
}

/* Adds what begins with s, at least two characters; where that is shorter
 * than a gram, each character of the set (chars.h; 0: any byte) can
 * follow. */
void	hf_grams_add(struct hf_grams *g, const char *s, unsigned set);

#endif
