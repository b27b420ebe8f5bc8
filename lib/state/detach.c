#include "state/detach.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/env.h"
#include "base/file.h"
#include "base/hmac.h"
#include "base/io.h"
#include "base/proc.h"
#include "config/home.h"

enum { FD_MAX = 1024, NOT_RUN = 127 };

static const char older[] = HF_AUTO_LOG ".1";

/* The log, or a hole; -1. */
static int
open_log(void)
{
	struct hf_dir d = HF_DIR_INIT;
	struct hf_err ignored;
	char *path = hf_home_state(&ignored);
	struct stat st;
	int fd = -1;

	if (path != NULL && hf_dir_open(&d, path, &ignored) == 0) {
		if (fstatat(d.fd, HF_AUTO_LOG, &st, AT_SYMLINK_NOFOLLOW) ==
		    0 && st.st_size > HF_AUTO_LOG_MAX)
			renameat(d.fd, HF_AUTO_LOG, d.fd, older);
		fd = hf_file_open(&d, HF_AUTO_LOG,
		    O_WRONLY | O_APPEND | O_CREAT);
	}
	hf_dir_close(&d);
	free(path);
	return fd >= 0 ? fd : open("/dev/null", O_WRONLY | O_CLOEXEC);
}

void
hf_auto_log(struct hf_str text)
{
	int fd = open_log();

	if (fd < 0)
		return;
	hf_io_write(fd, text.s, text.n);
	close(fd);
}

/* A file that has no name any more, read from its beginning. */
static int
open_input(struct hf_str input, struct hf_err *err)
{
	const char *tmp = hf_env("TMPDIR");
	struct hf_buf path = HF_BUF_INIT;
	char id[HF_UUID_LEN];
	int fd;

	hf_uuid4(id);
	hf_buf_printf(&path, "%s/.handoff-%s", tmp != NULL ? tmp : "/tmp",
	    id);
	fd = open(hf_buf_cstr(&path), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC |
	    O_NOFOLLOW, 0600);
	if (fd >= 0)
		unlink(hf_buf_cstr(&path));
	if (fd < 0 || hf_io_write(fd, input.s, input.n) < 0 ||
	    lseek(fd, 0, SEEK_SET) < 0) {
		hf_err_sys(err, errno, "cannot write '%s'",
		    hf_buf_cstr(&path));
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	hf_buf_release(&path);
	return fd;
}

/* In the grandchild: nothing may keep a pipe of the agent's open. */
static void
become(const char *const *argv, const char **env, int in, int log)
{
	if (dup2(in, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 ||
	    chdir("/") < 0)
		_exit(NOT_RUN);
	for (int fd = 3; fd < FD_MAX; fd++)
		close(fd);
	hf_proc_exec((char *const *)(uintptr_t)argv, env);
	_exit(NOT_RUN);
}

int
hf_detach(const char *const *argv, struct hf_str input, struct hf_err *err)
{
	const char **env = NULL;
	int in = open_input(input, err), log = -1, status, rc = -1;
	pid_t pid;

	if (in < 0)
		return -1;
	if ((log = open_log()) < 0) {
		hf_err_sys(err, errno, "cannot open '/dev/null'");
		goto out;
	}
	env = hf_proc_env(NULL);
	if ((pid = fork()) < 0) {
		hf_err_sys(err, errno, "cannot start '%s'", argv[0]);
		goto out;
	}
	if (pid == 0) {
		/* A leader could get a terminal again; its child cannot. */
		setsid();
		pid = fork();
		if (pid == 0)
			become(argv, env, in, log);
		_exit(pid < 0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	rc = WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 :
	    hf_err_set(err, HF_E_IO, "cannot start '%s'", argv[0]);
out:
	free(env);
	if (log >= 0)
		close(log);
	close(in);
	return rc;
}
