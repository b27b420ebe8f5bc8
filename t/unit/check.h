/*
 * Unit tests: each t/unit/x.c is a program that includes this, makes its
 * checks, and ends with return check_done(). The output is TAP.
 *
 *	CHECK(cond)		one test
 *	CHECK_INT(got, want)	integers; a failure shows both
 *	CHECK_STR(got, want)	strings, NULL allowed; a failure shows both
 *	CHECK_MEM(p, n, lit)	n bytes at p against a string literal
 *
 * Each gives true when it passed, so that a test can leave early.
 */
#ifndef HF_UNIT_CHECK_H
#define HF_UNIT_CHECK_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int check_count, check_failures;

static inline bool
check_that(bool good, const char *file, int line, const char *text)
{
	check_count++;
	if (!good)
		check_failures++;
	printf("%s %d - %s:%d: %s\n", good ? "ok" : "not ok", check_count,
	    file, line, text);
	/* A crash later must not take with it what is known by now. */
	fflush(stdout);
	return good;
}

static inline bool
check_int(long long got, long long want, const char *file, int line,
    const char *text)
{
	bool good = got == want;

	check_that(good, file, line, text);
	if (!good)
		printf("# got %lld, want %lld\n", got, want);
	return good;
}

/* Bytes that could break the line, or the terminal, are shown as hex. */
static inline void
check_show(const char *label, const char *s, size_t n)
{
	printf("# %s ", label);
	if (s == NULL) {
		printf("NULL\n");
		return;
	}
	putchar('"');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < 0x20 || c >= 0x7f)
			printf("\\x%02x", (unsigned)c);
		else
			putchar(c);
	}
	printf("\"\n");
}

static inline bool
check_mem(const void *got, size_t n, const void *want, size_t m,
    const char *file, int line, const char *text)
{
	bool good = got == NULL || want == NULL ? got == want :
	    n == m && memcmp(got, want, n) == 0;

	check_that(good, file, line, text);
	if (!good) {
		check_show("got ", got, n);
		check_show("want", want, m);
	}
	return good;
}

static inline bool
check_str(const char *got, const char *want, const char *file, int line,
    const char *text)
{
	return check_mem(got, got != NULL ? strlen(got) : 0, want,
	    want != NULL ? strlen(want) : 0, file, line, text);
}

/* The plan, behind the tests; the exit status of the program. */
static inline int
check_done(void)
{
	printf("1..%d\n", check_count);
	if (check_failures > 0)
		printf("# %d of %d failed\n", check_failures, check_count);
	return check_failures > 0 || fflush(stdout) != 0 || ferror(stdout);
}

#define CHECK(cond)	check_that((cond), __FILE__, __LINE__, #cond)
#define CHECK_INT(got, want) \
	check_int((long long)(got), (long long)(want), __FILE__, __LINE__, \
	    #got " is " #want)
#define CHECK_STR(got, want) \
	check_str((got), (want), __FILE__, __LINE__, #got " is " #want)
#define CHECK_MEM(p, n, lit) \
	check_mem((p), (n), (lit), sizeof(lit) - 1, __FILE__, __LINE__, \
	    #p " is " #lit)

#endif
