#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* pipe2 */
#endif
#include "base/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/env.h"

/* What we ignore is as programs expect it. What we catch, exec resets by
 * itself. An error number. */
static int
add_attributes(posix_spawnattr_t *at)
{
	sigset_t none, pipe;
	int rc;

	sigemptyset(&none);
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	rc = posix_spawnattr_setflags(at, POSIX_SPAWN_SETPGROUP |
	    POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	if (rc == 0)
		rc = posix_spawnattr_setpgroup(at, 0);
	if (rc == 0)
		rc = posix_spawnattr_setsigdefault(at, &pipe);
	if (rc == 0)
		rc = posix_spawnattr_setsigmask(at, &none);
	return rc;
}

/* posix_spawnp takes what it does not change as char *const *. */
static char *const *
strings(const char *const *a)
{
	union {
		const char *const *in;
		char *const *out;
	} u = { a };

	return u.out;
}

int
hf_spawn(pid_t *pid, const char *const *argv, const char *const *envp,
    const posix_spawn_file_actions_t *fa)
{
	posix_spawnattr_t at;
	int rc = posix_spawnattr_init(&at);

	if (rc != 0)
		return rc;
	rc = add_attributes(&at);
	if (rc == 0)
		rc = posix_spawnp(pid, argv[0], fa, &at, strings(argv),
		    envp != NULL ? strings(envp) : hf_env_all());
	posix_spawnattr_destroy(&at);
	return rc;
}

int
hf_spawn_pipe(int *ours, int *theirs, bool we_write)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) < 0)
		return -1;
	*ours = we_write ? fd[1] : fd[0];
	*theirs = we_write ? fd[0] : fd[1];
	return fcntl(*ours, F_SETFL, O_NONBLOCK);
}

void
hf_spawn_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}
