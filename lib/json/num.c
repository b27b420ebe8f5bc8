#include "json/num.h"

struct decimal {
	bool negative;
	struct hf_str whole, part;	/* digits before and behind the point */
	int64_t exp;
};

/* No text is so long that a larger one could matter. */
enum { EXP_MAX = 1000000000 };

static bool
digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct hf_str
take_digits(struct hf_str *a)
{
	struct hf_str d = hf_strn(a->s, 0);

	while (d.n < a->n && digit(a->s[d.n]))
		d.n++;
	a->s += d.n;
	a->n -= d.n;
	return d;
}

static bool
take(struct hf_str *a, char c)
{
	if (a->n == 0 || a->s[0] != c)
		return false;
	a->s++;
	a->n--;
	return true;
}

static bool
take_exp(struct hf_str *a, int64_t *exp)
{
	bool negative = false;
	struct hf_str d;

	*exp = 0;
	if (!take(a, 'e') && !take(a, 'E'))
		return true;
	negative = take(a, '-');
	if (!negative)
		take(a, '+');
	d = take_digits(a);
	for (size_t i = 0; i < d.n && *exp < EXP_MAX; i++)
		*exp = *exp * 10 + (d.s[i] - '0');
	if (negative)
		*exp = -*exp;
	return d.n > 0;
}

static bool
decimal_parse(struct hf_str a, struct decimal *d)
{
	if (a.s == NULL)
		return false;
	d->negative = take(&a, '-');
	d->whole = take_digits(&a);
	if (d->whole.n == 0 || (d->whole.n > 1 && d->whole.s[0] == '0'))
		return false;
	d->part = hf_strn(a.s, 0);
	if (take(&a, '.')) {
		d->part = take_digits(&a);
		if (d->part.n == 0)
			return false;
	}
	return take_exp(&a, &d->exp) && a.n == 0;
}

/* The magnitude without its fraction, and whether there is one. False if
 * it does not fit. */
static bool
decimal_whole(const struct decimal *d, uint64_t *out, bool *fraction)
{
	int64_t n = (int64_t)d->whole.n, total = n + (int64_t)d->part.n;
	int64_t point = n + d->exp, i;
	uint64_t v = 0;

	*fraction = false;
	for (i = 0; i < total; i++) {
		char c = i < n ? d->whole.s[i] : d->part.s[i - n];

		if (i >= point) {
			if (c == '0')
				continue;
			*fraction = true;
			break;
		}
		if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(c - '0'), &v))
			return false;
	}
	/* Overflows after twenty rounds at most, if it does not end. */
	for (; i < point && v > 0; i++)
		if (__builtin_mul_overflow(v, (uint64_t)10, &v))
			return false;
	*out = v;
	return true;
}

bool
hf_num_int(struct hf_str a, int64_t *out)
{
	struct decimal d;
	bool fraction;
	uint64_t v;

	if (!decimal_parse(a, &d) || !decimal_whole(&d, &v, &fraction) ||
	    fraction || v > (uint64_t)INT64_MAX + d.negative)
		return false;
	*out = d.negative ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

bool
hf_num_count(struct hf_str a, int64_t *out)
{
	struct decimal d;
	bool fraction;
	uint64_t v;

	if (!decimal_parse(a, &d))
		return false;
	if (d.negative)
		v = 0;
	else if (!decimal_whole(&d, &v, &fraction) ||
	    v > (uint64_t)HF_NUM_COUNT_MAX)
		v = (uint64_t)HF_NUM_COUNT_MAX;
	*out = (int64_t)v;
	return true;
}
