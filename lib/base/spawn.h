/*
 * What all child programs have in common: a process group of their own, no
 * signal blocked, SIGPIPE as programs expect it; and their pipes.
 */
#ifndef HF_BASE_SPAWN_H
#define HF_BASE_SPAWN_H

#include <spawn.h>
#include <stdbool.h>
#include <sys/types.h>

/* Starts argv[0] (looked up in PATH without a slash) with what fa says of
 * its descriptors; envp NULL: our own. 0 and *pid, or an error number. */
int	hf_spawn(pid_t *pid, const char *const *argv,
	    const char *const *envp, const posix_spawn_file_actions_t *fa);
/* A pipe whose end for us does not block; both are closed by exec. -1 with
 * errno, and what was opened is there. */
int	hf_spawn_pipe(int *ours, int *theirs, bool we_write);
/* Closes it if it is open; it is -1 then. */
void	hf_spawn_close(int *fd);

#endif
