#include "base/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/io.h"
#include "base/sig.h"

/* A standard descriptor that the caller closed would be given to the next
 * file that is opened, and what is meant for stderr would end up in it. A
 * placeholder takes its number, open the wrong way round, so that its use
 * still fails: a closed stdout is an error, not silence. */
static void
fill_standard(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		/* The lowest free number is fd, all below are taken. */
		if (open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
			return;
	}
}

int
hf_cmd_main(const char *prog,
    int (*run)(int argc, char **argv, struct hf_err *err),
    int argc, char **argv)
{
	struct hf_err err = { HF_OK, "" };
	int status;

	fill_standard();
	hf_set_prog(prog);
	hf_sig_init();
	status = run(argc, argv, &err);
	if (status < 0) {
		if (err.code == HF_OK)
			hf_err_set(&err, HF_E_INTERNAL,
			    "failed without an error");
		/* Whoever pressed Ctrl-C knows. */
		if (err.code != HF_E_CANCELLED || !isatty(STDERR_FILENO))
			hf_warn_err(&err);
		status = hf_code_status(err.code);
	}
	if (hf_out_close(&err) < 0) {
		hf_warn_err(&err);
		status = hf_status_worse(status, hf_code_status(err.code));
	}
	hf_sig_die();
	return status;
}
