/* What every command's main does: this program once more, as a command. */
#include <signal.h>
#include <unistd.h>

#include "base/cmd.h"
#include "base/io.h"
#include "base/sig.h"
#include "check.h"
#include "scratch.h"

static struct hf_buf out = HF_BUF_INIT, errout = HF_BUF_INIT;

static int
run(int argc, char **argv, struct hf_err *err)
{
	const char *verb = argv[1];

	if (strcmp(verb, "status") == 0)
		return argc;
	if (strcmp(verb, "fail") == 0)
		return hf_err_set(err, HF_E_CONFIG, "no such key");
	if (strcmp(verb, "bug") == 0)
		return -1;
	if (strcmp(verb, "print") == 0)
		return hf_out(HF_STR("text\n"), err);
	/* The first descriptor that is free is none of the three. */
	if (strcmp(verb, "open") == 0)
		return dup(0) > 2 ? 0 : 1;
	raise(strcmp(verb, "hup") == 0 ? SIGHUP : SIGTERM);
	if (strcmp(verb, "late") == 0)
		return hf_out(HF_STR("done\n"), err);
	return hf_sig_check(err);
}

/* A shell line with $0 as this program. */
static int
sh(const char *self, const char *line)
{
	const char *const argv[] = { "sh", "-c", line, self, NULL };

	hf_buf_clear(&out);
	hf_buf_clear(&errout);
	return scratch_run(argv, NULL, &out, &errout);
}

static void
test_status(const char *self)
{
	CHECK_INT(sh(self, "\"$0\" status x"), 3);
	CHECK_INT(errout.len, 0);
	CHECK_INT(sh(self, "\"$0\" fail"), HF_EX_CONFIG);
	CHECK_STR(hf_buf_cstr(&errout), "hf-unit: no such key\n");
	CHECK_INT(sh(self, "\"$0\" bug"), HF_EX_SOFTWARE);
	CHECK_STR(hf_buf_cstr(&errout),
	    "hf-unit: failed without an error\n");
}

static void
test_stdout(const char *self)
{
	CHECK_INT(sh(self, "\"$0\" print"), 0);
	CHECK_STR(hf_buf_cstr(&out), "text\n");
	CHECK_INT(sh(self, "\"$0\" print >/dev/full"), HF_EX_IOERR);
	CHECK(strstr(hf_buf_cstr(&errout), "stdout") != NULL);
	CHECK_INT(sh(self, "\"$0\" print >&-"), HF_EX_IOERR);
	CHECK(strstr(hf_buf_cstr(&errout), "stdout") != NULL);
	/* EPIPE is an error, SIGPIPE does not come. */
	CHECK_INT(sh(self, "{ sleep 0.1; \"$0\" print; echo $? >&2; } | :"),
	    0);
	CHECK(strstr(hf_buf_cstr(&errout), "74\n") != NULL);
	CHECK_INT(sh(self, "\"$0\" open <&- 2>&-"), 0);
	CHECK_INT(sh(self, "\"$0\" open <&- >&- 2>&-"), 0);
}

static void
test_signals(const char *self)
{
	CHECK_INT(sh(self, "exec \"$0\" term"), 128 + SIGTERM);
	CHECK_STR(hf_buf_cstr(&errout), "hf-unit: cancelled by SIGTERM\n");
	CHECK_INT(sh(self, "exec \"$0\" hup"), 128 + SIGHUP);
	/* What was done before it is told, then it dies all the same. */
	CHECK_INT(sh(self, "exec \"$0\" late"), 128 + SIGTERM);
	CHECK_STR(hf_buf_cstr(&out), "done\n");
	CHECK_INT(errout.len, 0);
	/* nohup. */
	CHECK_INT(sh(self, "trap '' HUP; exec \"$0\" hup"), 0);
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		return hf_cmd_main("hf-unit", run, argc, argv);
	hf_sig_init();
	test_status(argv[0]);
	test_stdout(argv[0]);
	test_signals(argv[0]);
	hf_buf_release(&out);
	hf_buf_release(&errout);
	return check_done();
}
