/*
 * For tests that need a folder of their own, or themselves once more as
 * another process: with other variables, to be killed, to wait for.
 */
#ifndef HF_UNIT_SCRATCH_H
#define HF_UNIT_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>

#include "base/env.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"

/* A new folder; the caller's, for scratch_remove. */
static inline char *
scratch_make(void)
{
	const char *tmp = hf_env("TMPDIR");
	char *path = hf_path_join(tmp != NULL ? tmp : "/tmp",
	    "hf-unit-XXXXXX");

	if (mkdtemp(path) == NULL) {
		printf("Bail out! cannot make a scratch folder\n");
		exit(1);
	}
	return path;
}

static inline void
scratch_remove(char *path)
{
	const char *const argv[] = { "rm", "-rf", path, NULL };
	struct hf_proc p = { .argv = argv };
	int status;

	hf_proc_run(&p, &status, NULL);
	free(path);
}

/* Writes a file that need not outlive a crash. */
static inline bool
scratch_write(const char *path, struct hf_str a)
{
	FILE *f = fopen(path, "w");
	bool good = f != NULL && fwrite(a.s, 1, a.n, f) == a.n;

	if (f != NULL && fclose(f) != 0)
		good = false;
	return good;
}

/* Runs argv with up to three more variables ("NAME=value", NULL: none) in
 * the environment; its output, if any, in out and errout. The exit status,
 * -1 if it could not be run. */
static inline int
scratch_run(const char *const *argv, const char *const vars[3],
    struct hf_buf *out, struct hf_buf *errout)
{
	struct hf_proc p = { .argv = argv, .out = out, .errout = errout,
	    .timeout_ms = 60000 };
	const char **env = hf_proc_env(NULL), **more;
	struct hf_err err;
	size_t n = 0;
	int status = -1;

	while (env[n] != NULL)
		n++;
	more = hf_reallocarray(env, n + 4, sizeof(*more));
	for (size_t i = 0; vars != NULL && i < 3 && vars[i] != NULL; i++)
		more[n++] = vars[i];
	more[n] = NULL;
	p.envp = more;
	if (hf_proc_run(&p, &status, &err) < 0) {
		printf("# %s\n", err.msg);
		status = -1;
	}
	free(more);
	return status;
}

#endif
