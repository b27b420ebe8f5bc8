#include <stdio.h>
#include <time.h>

#include "base/clock.h"

#define DAY_MS		INT64_C(86400000)
#define YEAR_0_MS	INT64_C(-62167219200000)
#define YEAR_9999_MS	INT64_C(253402300799999)

static int64_t
read_clock(clockid_t id)
{
	struct timespec ts;

	if (clock_gettime(id, &ts) != 0)
		return -1;
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t
hf_clock_now(void)
{
	return read_clock(CLOCK_REALTIME);
}

int64_t
hf_clock_boot(void)
{
#ifdef CLOCK_BOOTTIME
	int64_t ms = read_clock(CLOCK_BOOTTIME);

	if (ms >= 0)
		return ms;
#endif
	return read_clock(CLOCK_MONOTONIC);
}

/*
 * Days since 1970 and the civil date, in the proleptic Gregorian calendar.
 * The year is made to begin with March, so that the leap day is its last;
 * 400 years (an era) have 146097 days. Year 0 lies in era 0, but January
 * and February of it in era -1.
 */
static int64_t
days_of(int year, int month, int day)
{
	int64_t y = year - (month <= 2);
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t of_era = y - era * 400;
	int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 +
	    day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 +
	    of_year - 719468;
}

static void
date_of(int64_t days, struct hf_date *out)
{
	int64_t z = days + 719468;
	int64_t era = (z >= 0 ? z : z - 146096) / 146097;
	int64_t d = z - era * 146097;
	int64_t y = (d - d / 1460 + d / 36524 - d / 146096) / 365;
	int64_t of_year = d - (365 * y + y / 4 - y / 100);
	int64_t m = (5 * of_year + 2) / 153;

	out->day = (int)(of_year - (153 * m + 2) / 5 + 1);
	out->month = (int)(m < 10 ? m + 3 : m - 9);
	out->year = (int)(y + era * 400 + (out->month <= 2));
}

void
hf_clock_date(int64_t ms, struct hf_date *out)
{
	int64_t days, left;

	if (ms < YEAR_0_MS)
		ms = YEAR_0_MS;
	if (ms > YEAR_9999_MS)
		ms = YEAR_9999_MS;
	days = ms / DAY_MS - (ms % DAY_MS < 0);
	left = ms - days * DAY_MS;
	date_of(days, out);
	out->hour = (int)(left / 3600000);
	out->minute = (int)(left / 60000 % 60);
	out->second = (int)(left / 1000 % 60);
	out->ms = (int)(left % 1000);
}

static void
put_digits(char *to, int width, int value)
{
	for (int i = width - 1; i >= 0; i--) {
		to[i] = (char)('0' + value % 10);
		value /= 10;
	}
}

void
hf_clock_format(int64_t ms, char out[HF_TIME_LEN])
{
	struct hf_date d;

	hf_clock_date(ms, &d);
	snprintf(out, HF_TIME_LEN, "0000-00-00T00:00:00.000Z");
	put_digits(out, 4, d.year);
	put_digits(out + 5, 2, d.month);
	put_digits(out + 8, 2, d.day);
	put_digits(out + 11, 2, d.hour);
	put_digits(out + 14, 2, d.minute);
	put_digits(out + 17, 2, d.second);
	put_digits(out + 20, 3, d.ms);
}

/* What is left to read; bad once anything was not as it should be. */
struct scan {
	struct hf_str left;
	bool bad;
};

static bool
more(const struct scan *s)
{
	return !s->bad && s->left.n > 0;
}

static char
next(struct scan *s)
{
	if (!more(s)) {
		s->bad = true;
		return '\0';
	}
	s->left.n--;
	return *s->left.s++;
}

/* Exactly so many digits. */
static int
number(struct scan *s, int digits)
{
	int v = 0;

	while (digits-- > 0) {
		char c = next(s);

		if (c < '0' || c > '9') {
			s->bad = true;
			return 0;
		}
		v = v * 10 + (c - '0');
	}
	return v;
}

/* One of the characters. */
static char
one_of(struct scan *s, const char *set)
{
	char c = next(s);

	for (; *set != '\0'; set++)
		if (c == *set)
			return c;
	s->bad = true;
	return '\0';
}

static void
literal(struct scan *s, const char *lit)
{
	size_t n = hf_str(lit).n;

	if (s->bad || !hf_str_starts(s->left, lit)) {
		s->bad = true;
		return;
	}
	s->left = hf_strn(s->left.s + n, s->left.n - n);
}

/* The number of the name that is there, from 0. */
static int
name(struct scan *s, const char *const *names, int count)
{
	for (int i = 0; !s->bad && i < count; i++)
		if (hf_str_starts(s->left, names[i])) {
			literal(s, names[i]);
			return i;
		}
	s->bad = true;
	return 0;
}

static bool
leap(int year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static bool
date_good(const struct hf_date *d)
{
	static const int days[] = {
		31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
	};

	/* Second 60 is a leap second. */
	return d->month >= 1 && d->month <= 12 && d->day >= 1 &&
	    d->day <= days[d->month - 1] + (d->month == 2 && leap(d->year)) &&
	    d->hour <= 23 && d->minute <= 59 && d->second <= 60;
}

static int64_t
date_ms(const struct hf_date *d)
{
	int64_t minutes = (int64_t)d->hour * 60 + d->minute;

	return days_of(d->year, d->month, d->day) * DAY_MS +
	    (minutes * 60 + d->second) * 1000 + d->ms;
}

/* The end of the scan as a time. */
static int64_t
finish(const struct scan *s, const struct hf_date *d)
{
	if (s->bad || s->left.n > 0 || !date_good(d))
		return -1;
	return date_ms(d);
}

static void
time_of_day(struct scan *s, struct hf_date *d)
{
	d->hour = number(s, 2);
	literal(s, ":");
	d->minute = number(s, 2);
	literal(s, ":");
	d->second = number(s, 2);
}

/* Digits behind the point: milliseconds, what is finer is cut off. */
static int
fraction(struct scan *s)
{
	int ms = number(s, 1) * 100, unit = 10;

	while (more(s) && s->left.s[0] >= '0' && s->left.s[0] <= '9') {
		ms += number(s, 1) * unit;
		unit /= 10;
	}
	return ms;
}

/* "Z" or "+02:00", in milliseconds. */
static int64_t
offset(struct scan *s)
{
	char sign = one_of(s, "Zz+-");
	int hour, minute;

	if (sign == 'Z' || sign == 'z')
		return 0;
	hour = number(s, 2);
	literal(s, ":");
	minute = number(s, 2);
	if (hour > 23 || minute > 59)
		s->bad = true;
	return (hour * 60 + minute) * INT64_C(60000) * (sign == '-' ? -1 : 1);
}

int64_t
hf_clock_parse(struct hf_str a)
{
	struct scan s = { a, false };
	struct hf_date d = { 0 };
	int64_t away, ms;

	d.year = number(&s, 4);
	literal(&s, "-");
	d.month = number(&s, 2);
	literal(&s, "-");
	d.day = number(&s, 2);
	one_of(&s, "Tt ");
	time_of_day(&s, &d);
	if (more(&s) && s.left.s[0] == '.') {
		literal(&s, ".");
		d.ms = fraction(&s);
	}
	away = offset(&s);
	ms = finish(&s, &d);
	return s.bad || ms == -1 ? -1 : ms - away;
}

static const char *const months[] = {
	"Jan", "Feb", "Mar", "Apr", "May", "Jun",
	"Jul", "Aug", "Sep", "Oct", "Nov", "Dec"
};

static const char *const long_days[] = {
	"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday",
	"Saturday"
};

static const char *const short_days[] = {
	"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"
};

/* RFC 9110, 5.6.7: a year of two digits that seems more than 50 years ahead
 * is the last one in the past with these digits. */
static int
full_year(int two)
{
	struct hf_date now;
	int year;

	hf_clock_date(hf_clock_now(), &now);
	year = now.year / 100 * 100 + two;
	return year > now.year + 50 ? year - 100 : year;
}

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
static int64_t
parse_fixdate(struct hf_str a)
{
	struct scan s = { a, false };
	struct hf_date d = { 0 };

	name(&s, short_days, 7);
	literal(&s, ", ");
	d.day = number(&s, 2);
	literal(&s, " ");
	d.month = name(&s, months, 12) + 1;
	literal(&s, " ");
	d.year = number(&s, 4);
	literal(&s, " ");
	time_of_day(&s, &d);
	literal(&s, " GMT");
	return finish(&s, &d);
}

/* "Sunday, 06-Nov-94 08:49:37 GMT" */
static int64_t
parse_rfc850(struct hf_str a)
{
	struct scan s = { a, false };
	struct hf_date d = { 0 };

	name(&s, long_days, 7);
	literal(&s, ", ");
	d.day = number(&s, 2);
	literal(&s, "-");
	d.month = name(&s, months, 12) + 1;
	literal(&s, "-");
	d.year = full_year(number(&s, 2));
	literal(&s, " ");
	time_of_day(&s, &d);
	literal(&s, " GMT");
	return finish(&s, &d);
}

/* "Sun Nov  6 08:49:37 1994" */
static int64_t
parse_asctime(struct hf_str a)
{
	struct scan s = { a, false };
	struct hf_date d = { 0 };

	name(&s, short_days, 7);
	literal(&s, " ");
	d.month = name(&s, months, 12) + 1;
	literal(&s, " ");
	if (more(&s) && s.left.s[0] == ' ') {
		literal(&s, " ");
		d.day = number(&s, 1);
	} else {
		d.day = number(&s, 2);
	}
	literal(&s, " ");
	time_of_day(&s, &d);
	literal(&s, " ");
	d.year = number(&s, 4);
	return finish(&s, &d);
}

int64_t
hf_clock_parse_http(struct hf_str a)
{
	int64_t ms;

	if ((ms = parse_fixdate(a)) != -1 || (ms = parse_rfc850(a)) != -1)
		return ms;
	return parse_asctime(a);
}
