/*
 * JSON numbers by their spelling: exact, never by way of a float.
 */
#ifndef HF_JSON_NUM_H
#define HF_JSON_NUM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

#define HF_NUM_COUNT_MAX	((int64_t)1 << 53)

/* a as an integer: false if it is no JSON number, has a fraction that is
 * not zero, or does not fit. "1e2" and "40000.0" are integers. */
bool	hf_num_int(struct hf_str a, int64_t *out);
/* a as a counter: negative is 0, a fraction is cut, more than 2^53 is 2^53.
 * false if it is no JSON number. */
bool	hf_num_count(struct hf_str a, int64_t *out);

/* A sum of figures; INT64_MAX where it does not fit. */
static inline int64_t
hf_num_plus(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

#endif
