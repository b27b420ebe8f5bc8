/*
 * Times. Wall-clock times are milliseconds since 1970 UTC in an int64_t;
 * -1 is unknown. Deadlines use the clock that also runs during suspend and
 * cannot jump (CLOCK_BOOTTIME where there is one).
 */
#ifndef HF_BASE_CLOCK_H
#define HF_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum { HF_TIME_LEN = 25 };	/* "2026-11-30T10:00:00.000Z" and NUL */

int64_t	hf_clock_now(void);		/* wall clock, ms */
int64_t	hf_clock_boot(void);		/* ms since boot, monotonic */
/* RFC 3339 with milliseconds, UTC; times beyond the years 0 to 9999 become
 * the first or the last of them. */
void	hf_clock_format(int64_t ms, char out[HF_TIME_LEN]);
/* RFC 3339 with any offset and fraction (what is below a millisecond is cut
 * off); -1 when it is not one. */
int64_t	hf_clock_parse(struct hf_str a);
/* An HTTP date (RFC 9110, the three forms); -1 when it is not one. */
int64_t	hf_clock_parse_http(struct hf_str a);
/* The parts of a UTC time, within the same years. */
struct hf_date { int year, month, day, hour, minute, second, ms; };
void	hf_clock_date(int64_t ms, struct hf_date *out);

#endif
