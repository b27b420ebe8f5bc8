/*
 * The fault points. The whole file is nothing without HF_FAULTS.
 */
#include "base/step.h"

#include <stddef.h>

#ifdef HF_FAULTS

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "base/io.h"
#include "base/text.h"

enum { SPECS_MAX = 16 };

enum action { CRASH, FAIL, STOP };

struct spec {
	enum action action;
	struct hf_str name;	/* borrowed from the environment */
	int64_t nth;		/* 0: no "#N" was given */
	int64_t seen;
	int errnum;
};

/* The one state that STYLE allows: what was asked for, and the counts. */
static struct {
	bool ready;
	struct spec specs[SPECS_MAX];
	size_t count;
} faults;

static const struct {
	const char *name;
	int errnum;
} errors[] = {
	{ "EACCES", EACCES }, { "EDQUOT", EDQUOT }, { "EEXIST", EEXIST },
	{ "EINTR", EINTR }, { "EINVAL", EINVAL }, { "EIO", EIO },
	{ "EMFILE", EMFILE }, { "ENOENT", ENOENT }, { "ENOLCK", ENOLCK },
	{ "ENOSPC", ENOSPC }, { "ENOSYS", ENOSYS }, { "ENOTSUP", ENOTSUP },
	{ "EPERM", EPERM }, { "EROFS", EROFS }, { "EXDEV", EXDEV },
};

/* A test that misspells its fault must not pass for want of a fault. */
static _Noreturn void
bad_spec(const char *var, const char *why)
{
	hf_warn("%s: %s", var, why);
	abort();
}

static int
parse_errnum(struct hf_str a)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (hf_str_is(a, errors[i].name))
			return errors[i].errnum;
	}
	return 0;
}

/* NAME[#N], for FAIL with :ERRNO behind. */
static void
parse_spec(const char *var, enum action action, struct hf_str a)
{
	struct spec *sp;
	size_t at;

	if (faults.count == SPECS_MAX)
		bad_spec(var, "too many fault points");
	sp = &faults.specs[faults.count++];
	*sp = (struct spec){ action, a, 0, 0, 0 };
	if (action == FAIL) {
		at = hf_str_find(a, HF_STR(":"), 0);
		if (at == SIZE_MAX)
			bad_spec(var, "an ':ERRNO' is missing");
		sp->errnum = parse_errnum(hf_strn(a.s + at + 1, a.n - at - 1));
		if (sp->errnum == 0)
			bad_spec(var, "the error's name is not known");
		a.n = at;
	}
	at = hf_str_find(a, HF_STR("#"), 0);
	if (at != SIZE_MAX) {
		if (!hf_text_int(hf_strn(a.s + at + 1, a.n - at - 1),
		    &sp->nth) || sp->nth < 1)
			bad_spec(var, "'#' wants a number from 1");
		a.n = at;
	}
	sp->name = a;
	if (a.n == 0)
		bad_spec(var, "the fault point's name is missing");
}

static void
parse_var(const char *var, enum action action)
{
	struct hf_str rest = hf_str(hf_env(var));

	while (rest.s != NULL) {
		size_t at = hf_str_find(rest, HF_STR(","), 0);

		if (at == SIZE_MAX) {
			parse_spec(var, action, rest);
			return;
		}
		parse_spec(var, action, hf_strn(rest.s, at));
		rest = hf_strn(rest.s + at + 1, rest.n - at - 1);
	}
}

/* The name and its newline in one write, so that several processes can
 * share the log. A log that cannot be written would make a campaign skip
 * points silently. */
static void
log_step(const char *name)
{
	const char *path = hf_env("HANDOFF_STEP_LOG");
	struct hf_buf line = HF_BUF_INIT;
	int fd = -1;

	if (path == NULL)
		return;
	hf_buf_printf(&line, "%s\n", name);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || hf_io_write(fd, line.data, line.len) < 0)
		bad_spec("HANDOFF_STEP_LOG", "cannot be written");
	close(fd);
	hf_buf_release(&line);
}

static bool
is_due(struct spec *sp, const char *name)
{
	if (!hf_str_is(sp->name, name))
		return false;
	sp->seen++;
	if (sp->nth == 0)
		return sp->action == FAIL || sp->seen == 1;
	return sp->seen == sp->nth;
}

int
hf_step(const char *name)
{
	int errnum = 0;

	if (!faults.ready) {
		faults.ready = true;
		parse_var("HANDOFF_STOP_AT", STOP);
		parse_var("HANDOFF_CRASH_AT", CRASH);
		parse_var("HANDOFF_FAIL_AT", FAIL);
	}
	log_step(name);
	for (size_t i = 0; i < faults.count; i++) {
		struct spec *sp = &faults.specs[i];

		if (!is_due(sp, name))
			continue;
		if (sp->action == FAIL)
			errnum = sp->errnum;
		else
			raise(sp->action == CRASH ? SIGKILL : SIGSTOP);
	}
	if (errnum == 0)
		return 0;
	errno = errnum;
	return -1;
}

#endif
