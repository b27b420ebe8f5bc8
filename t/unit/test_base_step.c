/* The fault points, each in a process of its own: they count. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sig.h"
#include "base/step.h"
#include "check.h"
#include "scratch.h"

#ifdef HF_FAULTS

static struct hf_buf out = HF_BUF_INIT, errout = HF_BUF_INIT;

/* PROGRAM steps: a b a b a, and what came of it. */
static int
steps(void)
{
	for (const char *s = "ababa"; *s != '\0'; s++) {
		const char name[2] = { *s, '\0' };

		if (hf_step(name) < 0)
			printf("%s%d ", name, errno == ENOSPC ? 1 :
			    errno == EIO ? 2 : 3);
		else
			printf("%s ", name);
		fflush(stdout);
	}
	return 0;
}

static int
with(const char *self, const char *a, const char *b)
{
	const char *const argv[] = { self, "steps", NULL };
	const char *const vars[3] = { a, b, NULL };

	hf_buf_clear(&out);
	hf_buf_clear(&errout);
	return scratch_run(argv, vars, &out, &errout);
}

static void
test_fail(const char *self)
{
	CHECK_INT(with(self, NULL, NULL), 0);
	CHECK_STR(hf_buf_cstr(&out), "a b a b a ");
	CHECK_INT(with(self, "HANDOFF_FAIL_AT=a:ENOSPC", NULL), 0);
	CHECK_STR(hf_buf_cstr(&out), "a1 b a1 b a1 ");
	CHECK_INT(with(self, "HANDOFF_FAIL_AT=a#2:ENOSPC,b:EIO", NULL), 0);
	CHECK_STR(hf_buf_cstr(&out), "a b2 a1 b2 a ");
	CHECK_INT(with(self, "HANDOFF_FAIL_AT=a#9:ENOSPC,ab:EIO", NULL), 0);
	CHECK_STR(hf_buf_cstr(&out), "a b a b a ");
}

static void
test_crash(const char *self)
{
	CHECK_INT(with(self, "HANDOFF_CRASH_AT=b", NULL), 128 + SIGKILL);
	CHECK_STR(hf_buf_cstr(&out), "a ");
	CHECK_INT(with(self, "HANDOFF_CRASH_AT=a#3", "HANDOFF_FAIL_AT=b:EIO"),
	    128 + SIGKILL);
	CHECK_STR(hf_buf_cstr(&out), "a b2 a b2 ");
	CHECK_INT(with(self, "HANDOFF_CRASH_AT=c", NULL), 0);
}

/* A test with a fault that cannot happen proves nothing. */
static void
test_bad(const char *self)
{
	static const char *const bad[] = {
		"HANDOFF_FAIL_AT=a", "HANDOFF_FAIL_AT=a:", "HANDOFF_FAIL_AT=,",
		"HANDOFF_FAIL_AT=a:ENOSUCH", "HANDOFF_FAIL_AT=:EIO",
		"HANDOFF_CRASH_AT=a#", "HANDOFF_CRASH_AT=a#0",
		"HANDOFF_CRASH_AT=a#x", "HANDOFF_STOP_AT=#1",
		"HANDOFF_STEP_LOG=/proc/there-is-none",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		printf("# %s\n", bad[i]);
		CHECK_INT(with(self, bad[i], NULL), 128 + SIGABRT);
		CHECK(strstr(hf_buf_cstr(&errout), "HANDOFF_") != NULL);
	}
}

static void
test_log(const char *self)
{
	char *folder = scratch_make();
	struct hf_dir d = HF_DIR_INIT;
	struct hf_buf var = HF_BUF_INIT, log = HF_BUF_INIT;

	hf_buf_printf(&var, "HANDOFF_STEP_LOG=%s/log", folder);
	CHECK_INT(with(self, hf_buf_cstr(&var), "HANDOFF_CRASH_AT=b"),
	    128 + SIGKILL);
	CHECK_INT(with(self, hf_buf_cstr(&var), NULL), 0);
	CHECK_INT(hf_dir_open(&d, folder, NULL), 0);
	CHECK_INT(hf_file_read(&d, "log", &log, NULL), 1);
	CHECK_STR(hf_buf_cstr(&log), "a\nb\na\nb\na\nb\na\n");
	hf_buf_release(&log);
	hf_buf_release(&var);
	hf_dir_close(&d);
	scratch_remove(folder);
}

/* Stops once, and goes on when told. */
static void
test_stop(const char *self)
{
	const char *const argv[] = { "env", "HANDOFF_STOP_AT=a", "sh", "-c",
	    "\"$0\" steps & p=$!\n"
	    "until grep -q '^State:.T' /proc/$p/status; do sleep 0.02; done\n"
	    "echo stopped; kill -CONT $p; wait $p", self, NULL };

	hf_buf_clear(&out);
	CHECK_INT(scratch_run(argv, NULL, &out, NULL), 0);
	CHECK_STR(hf_buf_cstr(&out), "stopped\na b a b a ");
}

static void
test_faults(const char *self)
{
	test_fail(self);
	test_crash(self);
	test_bad(self);
	test_log(self);
	test_stop(self);
	hf_buf_release(&out);
	hf_buf_release(&errout);
}

#endif

int
main(int argc, char **argv)
{
#ifdef HF_FAULTS
	if (argc == 2)
		return steps();
	hf_sig_init();
	test_faults(argv[0]);
#else
	(void)argc, (void)argv;
	CHECK_INT(hf_step("a"), 0);
#endif
	return check_done();
}
