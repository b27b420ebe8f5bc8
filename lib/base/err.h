/*
 * Errors as values.
 *
 * A function that can fail takes struct hf_err *err last, returns -1 or
 * NULL and has then set *err once: a code of the table below and a message
 * that is printable as it stands ("cannot open 'x': Permission denied").
 * Codes, their names and their exit statuses: DESIGN section 1,
 * hf-documents(5).
 */
#ifndef HF_BASE_ERR_H
#define HF_BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum hf_code {
	HF_OK,
	/* The honest no: status 1. */
	HF_E_NOT_FOUND,
	/* Wrong usage: 64. */
	HF_E_USAGE,
	/* Bad input: 65. */
	HF_E_NOT_A_SESSION, HF_E_UNSUPPORTED, HF_E_MISSING,
	HF_E_INVALID, HF_E_INVALID_BRIEF, HF_E_EMPTY, HF_E_TRUNCATED,
	HF_E_CYCLE,
	/* Refused for good: 69. */
	HF_E_REFUSED, HF_E_OVERFLOW, HF_E_CONFLICT,
	/* Our bug: 70. */
	HF_E_INTERNAL,
	/* Cannot create: 73. */
	HF_E_EXISTS,
	/* I/O: 74. */
	HF_E_IO,
	/* Not now, the only ones worth retrying: 75. */
	HF_E_BUSY, HF_E_BLOCKED, HF_E_LOCKED, HF_E_CHANGED, HF_E_TIMEOUT,
	HF_E_RATE_LIMITED, HF_E_UNAVAILABLE,
	/* Vetoed by a hook: 77. */
	HF_E_VETOED,
	/* Configuration: 78. */
	HF_E_CONFIG,
	/* By a signal: clean up, then die by it. */
	HF_E_CANCELLED,
	HF_E_COUNT
};

enum hf_status {
	HF_EX_OK = 0, HF_EX_NO = 1, HF_EX_USAGE = 64, HF_EX_DATAERR = 65,
	HF_EX_REFUSED = 69, HF_EX_SOFTWARE = 70, HF_EX_CANTCREAT = 73,
	HF_EX_IOERR = 74, HF_EX_TEMPFAIL = 75, HF_EX_VETOED = 77,
	HF_EX_CONFIG = 78
};

enum { HF_ERR_MAX = 512 };

struct hf_err {
	enum hf_code code;
	char msg[HF_ERR_MAX];	/* UTF-8, no control bytes, no full stop */
};

/* Sets *err (which may be NULL); returns -1, so that callers can return it.
 * The formatted text is cut on a code point at HF_ERR_MAX and its control
 * bytes become '?'. */
int	hf_err_set(struct hf_err *err, enum hf_code code, const char *fmt, ...)
	    __attribute__((format(printf, 3, 4)));

/* The same with ": " and strerror(errnum) behind; code HF_E_IO. */
int	hf_err_sys(struct hf_err *err, int errnum, const char *fmt, ...)
	    __attribute__((format(printf, 3, 4)));
/* The same for what need not be there: HF_E_NOT_FOUND for ENOENT and
 * ENOTDIR. */
int	hf_err_open(struct hf_err *err, int errnum, const char *fmt, ...)
	    __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " in front of a message that is set. */
void	hf_err_prefix(struct hf_err *err, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));

/* "not-a-session", "io" …; "ok" for HF_OK, "internal" for a code that is
 * none. */
const char *hf_code_name(enum hf_code code);
/* The code of an error's name; HF_E_INTERNAL for one that is not known. */
enum hf_code hf_code_parse(const char *name);
/* The exit status of a code: DESIGN section 1's table. HF_E_CANCELLED is
 * 75 where there is no signal to die by (a document that says so). */
int	hf_code_status(enum hf_code code);
/* Worth a retry later: exactly the codes of status 75. */
bool	hf_code_retry(enum hf_code code);

/* The graver of two exit statuses: any other > 70 > 78 > 74 > 73 > 65 > 69
 * > 64 > 77 > 75 > 0 > 1: what a command that saw both exits with (1 only
 * when no document was 0). Start from -1, which anything beats. */
int	hf_status_worse(int a, int b);

#endif
