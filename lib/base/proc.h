/*
 * Child programs: posix_spawn with an argv, no shell, own process group,
 * a deadline, bounded output; TERM, and KILL after two seconds, for the
 * whole group at the deadline or when a signal comes. hf_sig_init must have
 * been called, and descriptors 0 to 2 be open (hf_cmd_main does both).
 */
#ifndef HF_BASE_PROC_H
#define HF_BASE_PROC_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct hf_proc {
	const char *const *argv;	/* argv[0] is looked up in our PATH */
	const char *const *envp;	/* NULL: our own */
	const char *cwd;		/* NULL: ours; argv[0] with a slash
					 * is relative to it */
	struct hf_str input;		/* its stdin; none: /dev/null */
	struct hf_buf *out;		/* its stdout; NULL: ours */
	struct hf_buf *errout;		/* its stderr; NULL: ours */
	long timeout_ms;		/* 0: none */
};

/* Runs it and waits, also until its pipes are closed, but for that at most
 * a second longer: what it left in the background lives on. 0 with *status
 * the exit status (128 + signal when it died by one); -1: HF_E_NOT_FOUND no
 * such program, HF_E_TIMEOUT, HF_E_CANCELLED, HF_E_OVERFLOW when it printed
 * more than the buffers take, HF_E_IO. The buffers keep what came until
 * then. That it does not read its input is no error. */
int	hf_proc_run(const struct hf_proc *p, int *status,
	    struct hf_err *err);

/* Our environment without the variables that mark a process as inside an
 * agent (CLAUDECODE, CLAUDE_CODE_SESSION_ID, CODEX_THREAD_ID, AI_AGENT …:
 * FORMATS 11.2; not its settings, as CODEX_HOME) and without the names in
 * drop (NULL-terminated, or NULL); malloc'd array of borrowed strings. */
const char **hf_proc_env(const char *const *drop);

/* Becomes the program argv[0], looked up in PATH, with env as its
 * environment and the signals at their defaults. Returns only when that
 * failed, with errno. */
void	hf_proc_exec(char *const *argv, const char **env);

/* This process's, or another's, start time: field 22 of /proc/PID/stat;
 * 0 where it cannot be told. *alive is false when there is no such
 * process, or only a zombie of it. */
unsigned long long hf_proc_start(long pid, bool *alive);
/* The machine's boot id and its name (HANDOFF_HOST, for a machine whose
 * name changes; else the host's); borrowed, "" where unknown. */
const char *hf_proc_boot_id(void);
const char *hf_proc_host(void);

#endif
