#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/sig.h"
#include "check.h"
#include "scratch.h"

enum { PROCESSES = 8, ROUNDS = 40 };

static struct hf_err err;

/* Adds one to the number in the file "n", ROUNDS times, under the lock. */
static int
count(const struct hf_dir *d)
{
	struct hf_buf b = HF_BUF_INIT;

	for (int i = 0; i < ROUNDS; i++) {
		int64_t n = 0;
		int fd = hf_lock(d, "lock", 60000, &err);

		if (fd < 0)
			return 1;
		hf_buf_clear(&b);
		if (hf_file_read(d, "n", &b, &err) < 0)
			return 1;
		hf_text_int(hf_buf_view(&b), &n);
		hf_buf_clear(&b);
		hf_buf_printf(&b, "%d", (int)n + 1);
		if (hf_file_replace(d, "n", hf_buf_view(&b), &err) < 0)
			return 1;
		hf_unlock(fd);
	}
	hf_buf_release(&b);
	return 0;
}

/* A signal that comes while it waits. 0 if all is as it should be. */
static int
wait_with_signal(const struct hf_dir *d)
{
	int64_t before = hf_clock_boot();
	int fd, other;

	hf_sig_init();
	fd = hf_lock(d, "lock", 0, &err);
	if (fork() == 0) {
		usleep(150000);
		kill(getppid(), SIGTERM);
		_exit(0);
	}
	if (fd < 0 || hf_lock(d, "lock", 60000, &err) >= 0 ||
	    err.code != HF_E_CANCELLED || hf_clock_boot() - before >= 20000)
		return 1;
	hf_unlock(fd);
	/* What needs no wait is still given: for cleaning up. */
	other = hf_lock(d, "lock", 0, &err);
	hf_unlock(other);
	return other < 0;
}

/* This program once more: PROGRAM count|hold|signal FOLDER. */
static int
do_verb(const char *verb, const char *folder)
{
	struct hf_dir d = HF_DIR_INIT;
	int rc = 1;

	if (hf_dir_open(&d, folder, &err) < 0)
		return 1;
	if (strcmp(verb, "count") == 0)
		rc = count(&d);
	else if (strcmp(verb, "signal") == 0)
		rc = wait_with_signal(&d);
	else if (hf_lock(&d, "lock", 0, &err) >= 0) {
		puts("held");
		fflush(stdout);
		pause();
	}
	hf_dir_close(&d);
	return rc;
}

static void
test_alone(const struct hf_dir *d)
{
	int64_t before;
	struct stat st;
	int a, b;

	a = hf_lock(d, "lock", 0, &err);
	CHECK(a >= 0);
	CHECK(fcntl(a, F_GETFD) & FD_CLOEXEC);
	CHECK_INT(fstat(a, &st), 0);
	CHECK_INT(st.st_mode & 0777, 0600);
	/* Two descriptors of one process exclude each other as well. */
	b = hf_lock(d, "lock", 0, &err);
	CHECK_INT(b, -1);
	CHECK_INT(err.code, HF_E_LOCKED);
	before = hf_clock_boot();
	CHECK_INT(hf_lock(d, "lock", 100, &err), -1);
	CHECK_INT(err.code, HF_E_LOCKED);
	CHECK(hf_clock_boot() - before >= 100);
	b = hf_lock(d, "other", 0, &err);
	CHECK(b >= 0);
	hf_unlock(b);
	hf_unlock(a);
	a = hf_lock(d, "lock", 0, &err);
	CHECK(a >= 0);
	hf_unlock(a);
	hf_unlock(-1);
	CHECK_INT(fstatat(d->fd, "lock", &st, 0), 0);
	CHECK_INT(hf_lock(d, "a/b", 0, &err), -1);
	CHECK_INT(err.code, HF_E_INVALID);
}

/* A holder that dies lets go. */
static void
test_killed(const struct hf_dir *d, const char *self)
{
	const char *const argv[] = { self, "hold", d->path, NULL };
	struct hf_buf out = HF_BUF_INIT;
	struct hf_proc p = { .argv = argv, .out = &out, .timeout_ms = 1000 };
	int status, fd;

	CHECK_INT(hf_proc_run(&p, &status, &err), -1);
	CHECK_INT(err.code, HF_E_TIMEOUT);
	CHECK_STR(hf_buf_cstr(&out), "held\n");
	fd = hf_lock(d, "lock", 0, &err);
	CHECK(fd >= 0);
	hf_unlock(fd);
	hf_buf_release(&out);
}

static void
test_many(const struct hf_dir *d, const char *self)
{
	const char *const argv[] = { "sh", "-c",
	    "pids=; for i in 1 2 3 4 5 6 7 8; do \"$0\" count \"$1\" & "
	    "pids=\"$pids $!\"; done; s=0; for p in $pids; do wait $p || s=1; "
	    "done; exit $s", self, d->path, NULL };
	struct hf_buf n = HF_BUF_INIT;
	int64_t sum = 0;

	CHECK_INT(scratch_run(argv, NULL, NULL, NULL), 0);
	CHECK_INT(hf_file_read(d, "n", &n, &err), 1);
	CHECK(hf_text_int(hf_buf_view(&n), &sum));
	CHECK_INT(sum, PROCESSES * ROUNDS);
	hf_buf_release(&n);
}

static void
test_signal(const struct hf_dir *d, const char *self)
{
	const char *const argv[] = { self, "signal", d->path, NULL };

	CHECK_INT(scratch_run(argv, NULL, NULL, NULL), 0);
}

int
main(int argc, char **argv)
{
	struct hf_dir d = HF_DIR_INIT;
	char *scratch;

	if (argc == 3)
		return do_verb(argv[1], argv[2]);
	hf_sig_init();
	scratch = scratch_make();
	if (hf_dir_open(&d, scratch, &err) < 0)
		return 1;
	test_alone(&d);
	test_killed(&d, argv[0]);
	test_many(&d, argv[0]);
	test_signal(&d, argv[0]);
	hf_dir_close(&d);
	scratch_remove(scratch);
	return check_done();
}
