#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sig.h"
#include "check.h"
#include "scratch.h"

static struct hf_err err;
static struct hf_buf out = HF_BUF_INIT, errout = HF_BUF_INIT;
static int64_t took;

/* A shell script's status; -1 and err. */
static int
sh_in(struct hf_proc p, const char *script)
{
	const char *const argv[] = { "sh", "-c", script, NULL };
	int64_t before = hf_clock_boot();
	int status = -2;

	p.argv = argv;
	hf_buf_clear(&out);
	hf_buf_clear(&errout);
	if (p.out == NULL)
		p.out = &out;
	if (p.errout == NULL)
		p.errout = &errout;
	if (hf_proc_run(&p, &status, &err) < 0)
		status = -1;
	took = hf_clock_boot() - before;
	return status;
}

static int
sh(const char *script)
{
	return sh_in((struct hf_proc){ .timeout_ms = 60000 }, script);
}

static void
test_status(void)
{
	const char *const missing[] = { "hf-there-is-no-such", NULL };
	const char *const closed[] = { "true", NULL };
	struct hf_proc p = { .argv = missing };
	int status = 7;

	CHECK_INT(sh("exit 0"), 0);
	CHECK_INT(sh("exit 3"), 3);
	CHECK_INT(sh("kill -9 $$"), 128 + SIGKILL);
	CHECK_INT(sh("exit 127"), 127);
	CHECK_INT(sh("hf-there-is-no-such"), 127);
	/* We ignore it; a child must not. */
	CHECK_INT(sh("kill -PIPE $$"), 128 + SIGPIPE);
	CHECK_INT(sh("echo o; echo e >&2"), 0);
	CHECK_STR(hf_buf_cstr(&out), "o\n");
	CHECK_STR(hf_buf_cstr(&errout), "e\n");
	CHECK_INT(hf_proc_run(&p, &status, &err), -1);
	CHECK_INT(err.code, HF_E_NOT_FOUND);
	CHECK_STR(err.msg, "cannot run 'hf-there-is-no-such': "
	    "no such program");
	CHECK_INT(status, 7);
	/* Nothing to read from, nothing to write to: ours. */
	p.argv = closed;
	CHECK_INT(hf_proc_run(&p, &status, &err), 0);
	CHECK_INT(status, 0);
	CHECK_INT(sh("echo $$; cut -d' ' -f5 /proc/$$/stat"), 0);
	if (CHECK(out.len > 0 && out.len % 2 == 0))
		CHECK(memcmp(out.data, out.data + out.len / 2,
		    out.len / 2) == 0);
}

static void
test_input(void)
{
	struct hf_buf big = HF_BUF_INIT, small = HF_BUF_MAX(1000);
	struct hf_proc p = { .input = HF_STR("a\0b") };

	CHECK_INT(sh("cat"), 0);
	CHECK_INT(out.len, 0);
	CHECK_INT(sh_in(p, "cat"), 0);
	CHECK_MEM(out.data, out.len, "a\0b");
	p.input = HF_STR("");
	CHECK_INT(sh_in(p, "cat"), 0);
	CHECK_INT(out.len, 0);

	/* More than the pipes hold, both ways. */
	for (int i = 0; i < 200000; i++)
		hf_buf_printf(&big, "%d\n", i);
	p.input = hf_buf_view(&big);
	CHECK_INT(sh_in(p, "tee /dev/stderr"), 0);
	CHECK(hf_str_eq(hf_buf_view(&out), hf_buf_view(&big)));
	CHECK(hf_str_eq(hf_buf_view(&errout), hf_buf_view(&big)));
	CHECK_INT(sh_in(p, "exit 4"), 4);
	CHECK_INT(sh_in(p, "exec <&-; sleep 0.1; echo end"), 0);
	CHECK_STR(hf_buf_cstr(&out), "end\n");

	p.out = &small;
	CHECK_INT(sh_in(p, "cat"), -1);
	CHECK_INT(err.code, HF_E_OVERFLOW);
	hf_buf_release(&small);
	hf_buf_release(&big);
}

static void
test_folder(void)
{
	struct hf_proc p = { .cwd = "/proc" };

	CHECK_INT(sh_in(p, "pwd -P"), 0);
	CHECK_STR(hf_buf_cstr(&out), "/proc\n");
	p.cwd = "/proc/there-is-none";
	CHECK_INT(sh_in(p, "pwd"), -1);
	CHECK_STR(err.msg, "cannot run 'sh' in '/proc/there-is-none': "
	    "No such file or directory");
}

/* Is what the last script printed the id of a process that is there? */
static bool
lives(void)
{
	int64_t pid;
	bool alive = false;

	if (!CHECK(hf_text_int(hf_str_trim(hf_buf_view(&out)), &pid)))
		return false;
	hf_proc_start((long)pid, &alive);
	if (alive)
		kill((pid_t)pid, SIGKILL);
	return alive;
}

/* The same, but it may be dying. */
static bool
goes(void)
{
	for (int i = 0; i < 100; i++) {
		int64_t pid = 0;
		bool alive = false;

		hf_text_int(hf_str_trim(hf_buf_view(&out)), &pid);
		hf_proc_start((long)pid, &alive);
		if (pid > 0 && !alive)
			return true;
		hf_sig_sleep(50, NULL);
	}
	return false;
}

static void
test_deadline(void)
{
	struct hf_proc p = { .timeout_ms = 200 };

	CHECK_INT(sh_in(p, "exec sleep 30"), -1);
	CHECK_INT(err.code, HF_E_TIMEOUT);
	CHECK(took >= 200 && took < 20000);
	CHECK_INT(sh_in(p, "sleep 30 & echo $!; wait"), -1);
	CHECK_INT(err.code, HF_E_TIMEOUT);
	CHECK(goes());
	/* One that does not listen, with a child that does not either. */
	CHECK_INT(sh_in(p, "trap '' TERM; sleep 30 & echo $!; wait"), -1);
	CHECK_INT(err.code, HF_E_TIMEOUT);
	CHECK(took >= 2000 && took < 20000);
	CHECK(goes());
	/* One that was stopped. */
	CHECK_INT(sh_in(p, "kill -STOP $$"), -1);
	CHECK_INT(err.code, HF_E_TIMEOUT);
	CHECK(took < 20000);
}

/* The child goes at once; its own child has the time to clean up. */
static void
test_grace(void)
{
	char *folder = scratch_make();
	char *file = hf_path_join(folder, "cleaned");
	struct hf_proc p = { .timeout_ms = 400, .cwd = folder };

	CHECK_INT(sh_in(p, "(trap 'sleep 0.2; : >cleaned; exit' TERM; "
	    "while :; do sleep 0.05; done) & wait"), -1);
	CHECK_INT(err.code, HF_E_TIMEOUT);
	CHECK_INT(access(file, F_OK), 0);
	/* One that was stopped can do so too. */
	unlink(file);
	CHECK_INT(sh_in(p, "trap ': >cleaned; exit' TERM; kill -STOP $$"),
	    -1);
	CHECK_INT(access(file, F_OK), 0);
	free(file);
	scratch_remove(folder);
}

/* What a child leaves in the background is neither waited for nor killed,
 * whether it keeps the pipes or not. */
static void
test_background(void)
{
	CHECK_INT(sh("sleep 30 & echo $!"), 0);
	CHECK(took >= 1000 && took < 20000);
	CHECK(lives());
	CHECK_INT(sh("sleep 30 >/dev/null 2>&1 & echo $!"), 0);
	CHECK(took < 20000);
	CHECK(lives());
}

static void
test_environment(void)
{
	const char *const drop[] = { "PATH", NULL };
	const char *const env[] = { "A=1", NULL };
	const char *const argv[] = { "/usr/bin/env", NULL };
	const char **mine = hf_proc_env(drop);
	struct hf_proc p = { .argv = argv, .envp = env, .out = &out };
	int status = -1, paths = 0;

	hf_buf_clear(&out);
	CHECK_INT(hf_proc_run(&p, &status, &err), 0);
	CHECK_STR(hf_buf_cstr(&out), "A=1\n");
	for (size_t i = 0; mine[i] != NULL; i++)
		paths += strncmp(mine[i], "PATH=", 5) == 0;
	CHECK_INT(paths, 0);
	free(mine);
}

/* This program as a child with an agent's variables: what it passes on. */
static int
show_environment(void)
{
	const char **env = hf_proc_env(NULL);

	for (size_t i = 0; env[i] != NULL; i++) {
		if (strncmp(env[i], "CLAUDE", 6) == 0 ||
		    strncmp(env[i], "CODEX", 5) == 0)
			puts(env[i]);
	}
	free(env);
	return 0;
}

static void
test_marks(const char *self)
{
	static const char *const vars[3] = { "CLAUDECODE=1",
	    "CODEX_THREAD_ID=x", "CODEX_HOME=/y" };
	const char *const argv[] = { "env", "-i", vars[0], vars[1], vars[2],
	    self, "environment", NULL };

	hf_buf_clear(&out);
	CHECK_INT(scratch_run(argv, NULL, &out, NULL), 0);
	CHECK_STR(hf_buf_cstr(&out), "CODEX_HOME=/y\n");
}

static void
test_identity(void)
{
	bool alive = false;
	unsigned long long start = hf_proc_start(getpid(), &alive);
	int fd;

	CHECK(alive);
	CHECK(start > 0);
	CHECK(hf_proc_start(getpid(), &alive) == start);
	CHECK(hf_proc_start(1, &alive) != start);
	CHECK(alive);
	CHECK_INT(hf_proc_start(0, &alive), 0);
	CHECK(!alive);
	CHECK_INT(hf_proc_start(0x7fffffff, &alive), 0);
	CHECK(!alive);
	/* A name made to be taken for the end of the name and a zombie. */
	fd = open("/proc/self/comm", O_WRONLY | O_CLOEXEC);
	CHECK(fd >= 0 && write(fd, "x) Z 1 2", 8) == 8);
	close(fd);
	CHECK(hf_proc_start(getpid(), &alive) == start);
	CHECK(alive);
	CHECK_INT(strlen(hf_proc_boot_id()), 36);
	CHECK(hf_proc_host()[0] != '\0');
}

/* Last, as the flag stays: a signal ends the child, and nothing more
 * starts. */
static void
test_signal(void)
{
	CHECK_INT(hf_sig_sleep(30, &err), 0);
	CHECK_INT(hf_sig_check(&err), 0);
	CHECK_INT(sh("echo $$; kill -TERM $PPID; exec sleep 30"), -1);
	CHECK_INT(err.code, HF_E_CANCELLED);
	CHECK_STR(err.msg, "cancelled by SIGTERM");
	CHECK(took < 20000);
	CHECK(goes());
	CHECK_INT(hf_sig_got(), SIGTERM);
	CHECK_INT(sh("exit 0"), -1);
	CHECK_INT(err.code, HF_E_CANCELLED);
	CHECK_INT(hf_sig_sleep(60000, &err), -1);
	CHECK_INT(err.code, HF_E_CANCELLED);
}

int
main(int argc, char **argv)
{
	if (argc == 2)
		return show_environment();
	hf_sig_init();
	test_status();
	test_input();
	test_folder();
	test_deadline();
	test_grace();
	test_background();
	test_environment();
	test_marks(argv[0]);
	test_identity();
	test_signal();
	hf_buf_release(&out);
	hf_buf_release(&errout);
	return check_done();
}
