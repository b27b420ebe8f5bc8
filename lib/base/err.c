#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"

/* Formatted text is looked at up to here: every code point of it becomes at
 * least a quarter of its bytes, so that a message is never cut short. */
enum { RAW_MAX = 4 * HF_ERR_MAX };

static const struct {
	const char *name;
	int status;
} codes[HF_E_COUNT] = {
	[HF_OK] = { "ok", HF_EX_OK },
	[HF_E_NOT_FOUND] = { "not-found", HF_EX_NO },
	[HF_E_USAGE] = { "usage", HF_EX_USAGE },
	[HF_E_NOT_A_SESSION] = { "not-a-session", HF_EX_DATAERR },
	[HF_E_UNSUPPORTED] = { "unsupported", HF_EX_DATAERR },
	[HF_E_MISSING] = { "missing", HF_EX_DATAERR },
	[HF_E_INVALID] = { "invalid", HF_EX_DATAERR },
	[HF_E_INVALID_BRIEF] = { "invalid-brief", HF_EX_DATAERR },
	[HF_E_EMPTY] = { "empty", HF_EX_DATAERR },
	[HF_E_TRUNCATED] = { "truncated", HF_EX_DATAERR },
	[HF_E_CYCLE] = { "cycle", HF_EX_DATAERR },
	[HF_E_REFUSED] = { "refused", HF_EX_REFUSED },
	[HF_E_OVERFLOW] = { "overflow", HF_EX_REFUSED },
	[HF_E_CONFLICT] = { "conflict", HF_EX_REFUSED },
	[HF_E_INTERNAL] = { "internal", HF_EX_SOFTWARE },
	[HF_E_EXISTS] = { "exists", HF_EX_CANTCREAT },
	[HF_E_IO] = { "io", HF_EX_IOERR },
	[HF_E_BUSY] = { "busy", HF_EX_TEMPFAIL },
	[HF_E_BLOCKED] = { "blocked", HF_EX_TEMPFAIL },
	[HF_E_LOCKED] = { "locked", HF_EX_TEMPFAIL },
	[HF_E_CHANGED] = { "changed", HF_EX_TEMPFAIL },
	[HF_E_TIMEOUT] = { "timeout", HF_EX_TEMPFAIL },
	[HF_E_RATE_LIMITED] = { "rate-limited", HF_EX_TEMPFAIL },
	[HF_E_UNAVAILABLE] = { "unavailable", HF_EX_TEMPFAIL },
	[HF_E_VETOED] = { "vetoed", HF_EX_VETOED },
	[HF_E_CONFIG] = { "config", HF_EX_CONFIG },
	[HF_E_CANCELLED] = { "cancelled", HF_EX_TEMPFAIL },
};

/* From the least grave to the gravest. */
static const int gravity[] = {
	-1, HF_EX_NO, HF_EX_OK, HF_EX_TEMPFAIL, HF_EX_VETOED, HF_EX_USAGE,
	HF_EX_REFUSED, HF_EX_DATAERR, HF_EX_CANTCREAT, HF_EX_IOERR,
	HF_EX_CONFIG, HF_EX_SOFTWARE
};

/* What fits of raw, printable: no allocation, for memory may be short. */
static void
put_message(struct hf_err *err, const char *raw)
{
	size_t n = strlen(raw), len = 0, step;
	uint32_t cp;

	for (size_t i = 0; i < n; i += step) {
		step = hf_utf8_at(raw + i, n - i, &cp);
		bool good = step > 0 && !hf_text_harmful(cp);
		size_t put = good ? step : 1;

		if (step == 0)
			step = 1;
		if (put >= sizeof(err->msg) - len)
			break;
		if (good)
			memcpy(err->msg + len, raw + i, put);
		else
			err->msg[len] = '?';
		len += put;
	}
	err->msg[len] = '\0';
}

/* raw[from..] gets the text; its new length, at most RAW_MAX - 1. */
__attribute__((format(printf, 3, 0)))
static size_t
format(char raw[RAW_MAX], size_t from, const char *fmt, va_list ap)
{
	int n = vsnprintf(raw + from, RAW_MAX - from, fmt, ap);

	if (n < 0) {
		raw[from] = '\0';
		return from;
	}
	if ((size_t)n >= RAW_MAX - from)
		return RAW_MAX - 1;
	return from + (size_t)n;
}

int
hf_err_set(struct hf_err *err, enum hf_code code, const char *fmt, ...)
{
	/* A text of its own: the old message may be among the arguments. */
	char raw[RAW_MAX];
	va_list ap;

	if (err == NULL)
		return -1;
	va_start(ap, fmt);
	format(raw, 0, fmt, ap);
	va_end(ap);
	err->code = code;
	put_message(err, raw);
	return -1;
}

__attribute__((format(printf, 3, 0)))
static void
set_sys(struct hf_err *err, int errnum, const char *fmt, va_list ap)
{
	char raw[RAW_MAX];
	size_t n = format(raw, 0, fmt, ap);

	snprintf(raw + n, RAW_MAX - n, ": %s", strerror(errnum));
	err->code = HF_E_IO;
	put_message(err, raw);
}

int
hf_err_sys(struct hf_err *err, int errnum, const char *fmt, ...)
{
	va_list ap;

	if (err == NULL)
		return -1;
	va_start(ap, fmt);
	set_sys(err, errnum, fmt, ap);
	va_end(ap);
	return -1;
}

int
hf_err_open(struct hf_err *err, int errnum, const char *fmt, ...)
{
	va_list ap;

	if (err == NULL)
		return -1;
	va_start(ap, fmt);
	set_sys(err, errnum, fmt, ap);
	va_end(ap);
	if (errnum == ENOENT || errnum == ENOTDIR)
		err->code = HF_E_NOT_FOUND;
	return -1;
}

void
hf_err_prefix(struct hf_err *err, const char *fmt, ...)
{
	char raw[RAW_MAX];
	va_list ap;
	size_t n;

	if (err == NULL || err->code == HF_OK)
		return;
	va_start(ap, fmt);
	n = format(raw, 0, fmt, ap);
	va_end(ap);
	snprintf(raw + n, RAW_MAX - n, ": %s", err->msg);
	put_message(err, raw);
}

static bool
known(enum hf_code code)
{
	return (int)code >= 0 && code < HF_E_COUNT;
}

const char *
hf_code_name(enum hf_code code)
{
	return codes[known(code) ? code : HF_E_INTERNAL].name;
}

enum hf_code
hf_code_parse(const char *name)
{
	/* "ok" is not an error's name: nothing read may turn into success. */
	for (int i = HF_OK + 1; name != NULL && i < HF_E_COUNT; i++)
		if (strcmp(codes[i].name, name) == 0)
			return (enum hf_code)i;
	return HF_E_INTERNAL;
}

int
hf_code_status(enum hf_code code)
{
	return codes[known(code) ? code : HF_E_INTERNAL].status;
}

bool
hf_code_retry(enum hf_code code)
{
	return hf_code_status(code) == HF_EX_TEMPFAIL;
}

static size_t
grave(int status)
{
	size_t n = sizeof(gravity) / sizeof(gravity[0]);

	for (size_t i = 0; i < n; i++)
		if (gravity[i] == status)
			return i;
	return n;
}

int
hf_status_worse(int a, int b)
{
	return grave(b) > grave(a) ? b : a;
}
