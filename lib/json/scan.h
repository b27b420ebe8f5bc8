/*
 * Bytes of strings, many at once: which of them are quotes, backslashes,
 * control bytes, not ASCII. SSE2 and NEON where there is one, else plain C.
 * The bytes must be there, whatever they are.
 */
#ifndef HF_JSON_SCAN_H
#define HF_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

enum { HF_SCAN = 64 };

/* How many of the 16 bytes at p, from the first on, are plain: ASCII, no
 * quote, no backslash, no control byte. */
static inline unsigned hf_scan_plain(const char *p);

struct hf_scan64 {
	uint64_t quote, backslash;	/* a bit a byte, the first is the
					 * lowest */
	bool control, high;		/* is there one at all? */
};

#if defined(__SSE2__)

static inline unsigned
hf_scan_plain(const char *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	/* Signed: what is below a blank or has the high bit. */
	__m128i stop = _mm_or_si128(_mm_cmplt_epi8(v, _mm_set1_epi8(0x20)),
	    _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')),
	    _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))));

	return (unsigned)__builtin_ctz((unsigned)_mm_movemask_epi8(stop) |
	    1u << 16);
}

/* A bit for each byte of four times sixteen. */
static inline uint64_t
hf_scan_bits(__m128i a, __m128i b, __m128i c, __m128i d)
{
	return (uint64_t)(unsigned)_mm_movemask_epi8(a) |
	    (uint64_t)(unsigned)_mm_movemask_epi8(b) << 16 |
	    (uint64_t)(unsigned)_mm_movemask_epi8(c) << 32 |
	    (uint64_t)(unsigned)_mm_movemask_epi8(d) << 48;
}

/* Written out: compilers do not unroll a loop over the four. */
static inline struct hf_scan64
hf_scan64(const char *p)
{
	const __m128i quote = _mm_set1_epi8('"');
	const __m128i backslash = _mm_set1_epi8('\\');
	const __m128i low = _mm_set1_epi8(0x1f);
	const __m128i *v = (const __m128i *)(const void *)p;
	__m128i a = _mm_loadu_si128(v), b = _mm_loadu_si128(v + 1);
	__m128i c = _mm_loadu_si128(v + 2), d = _mm_loadu_si128(v + 3);
	__m128i least = _mm_min_epu8(_mm_min_epu8(a, b), _mm_min_epu8(c, d));
	__m128i all = _mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d));

	return (struct hf_scan64){
		hf_scan_bits(_mm_cmpeq_epi8(a, quote),
		    _mm_cmpeq_epi8(b, quote), _mm_cmpeq_epi8(c, quote),
		    _mm_cmpeq_epi8(d, quote)),
		hf_scan_bits(_mm_cmpeq_epi8(a, backslash),
		    _mm_cmpeq_epi8(b, backslash), _mm_cmpeq_epi8(c, backslash),
		    _mm_cmpeq_epi8(d, backslash)),
		_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(least, low),
		    least)) != 0,
		_mm_movemask_epi8(all) != 0 };
}

#elif defined(__ARM_NEON) && defined(__aarch64__)

static inline unsigned
hf_scan_plain(const char *p)
{
	uint8x16_t v = vld1q_u8((const uint8_t *)p);
	uint8x16_t stop = vorrq_u8(
	    vcltq_s8(vreinterpretq_s8_u8(v), vdupq_n_s8(0x20)),
	    vorrq_u8(vceqq_u8(v, vdupq_n_u8('"')),
	    vceqq_u8(v, vdupq_n_u8('\\'))));
	/* Four bits a byte. */
	uint64_t bits = vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(
	    vreinterpretq_u16_u8(stop), 4)), 0);

	return bits != 0 ? (unsigned)__builtin_ctzll(bits) / 4 : 16;
}

static inline uint64_t
hf_scan_bits(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
	static const uint8_t weight[16] = { 1, 2, 4, 8, 16, 32, 64, 128,
		1, 2, 4, 8, 16, 32, 64, 128 };
	const uint8x16_t w = vld1q_u8(weight);
	uint8x16_t ab = vpaddq_u8(vandq_u8(a, w), vandq_u8(b, w));
	uint8x16_t cd = vpaddq_u8(vandq_u8(c, w), vandq_u8(d, w));
	uint8x16_t all = vpaddq_u8(ab, cd);

	all = vpaddq_u8(all, all);
	return vgetq_lane_u64(vreinterpretq_u64_u8(all), 0);
}

static inline struct hf_scan64
hf_scan64(const char *p)
{
	const uint8_t *u = (const uint8_t *)p;
	const uint8x16_t quote = vdupq_n_u8('"');
	const uint8x16_t backslash = vdupq_n_u8('\\');
	uint8x16_t v[4], most, least;

	for (int i = 0; i < 4; i++)
		v[i] = vld1q_u8(u + 16 * i);
	most = vmaxq_u8(vmaxq_u8(v[0], v[1]), vmaxq_u8(v[2], v[3]));
	least = vminq_u8(vminq_u8(v[0], v[1]), vminq_u8(v[2], v[3]));
	return (struct hf_scan64){
		hf_scan_bits(vceqq_u8(v[0], quote), vceqq_u8(v[1], quote),
		    vceqq_u8(v[2], quote), vceqq_u8(v[3], quote)),
		hf_scan_bits(vceqq_u8(v[0], backslash),
		    vceqq_u8(v[1], backslash), vceqq_u8(v[2], backslash),
		    vceqq_u8(v[3], backslash)),
		vminvq_u8(least) < 0x20, vmaxvq_u8(most) >= 0x80 };
}

#else

static inline unsigned
hf_scan_plain(const char *p)
{
	unsigned i = 0;

	while (i < 16 && (unsigned char)p[i] >= 0x20 &&
	    (unsigned char)p[i] < 0x80 && p[i] != '"' && p[i] != '\\')
		i++;
	return i;
}

static inline struct hf_scan64
hf_scan64(const char *p)
{
	struct hf_scan64 s = { 0, 0, false, false };

	for (unsigned i = 0; i < HF_SCAN; i++) {
		unsigned char c = (unsigned char)p[i];

		s.quote |= (uint64_t)(c == '"') << i;
		s.backslash |= (uint64_t)(c == '\\') << i;
		s.control |= c < 0x20;
		s.high |= c >= 0x80;
	}
	return s;
}

#endif

/* Which bytes stand behind an odd run of backslashes. *carry: does the first
 * one; then, the first of the next bytes. */
static inline uint64_t
hf_scan_escaped(uint64_t backslash, uint64_t *carry)
{
	const uint64_t even = UINT64_C(0x5555555555555555);
	uint64_t follows, odd, runs, invert;

	if (backslash == 0) {
		follows = *carry;
		*carry = 0;
		return follows;
	}
	backslash &= ~*carry;
	follows = backslash << 1 | *carry;
	odd = backslash & ~even & ~follows;
	*carry = __builtin_add_overflow(odd, backslash, &runs);
	invert = runs << 1;
	return (even ^ invert) & follows;
}

#endif
