/* io, opt */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/sig.h"
#include "check.h"

/* A file without a name that holds the text. */
static int
file_of(const char *text, size_t n)
{
	FILE *f = tmpfile();
	int fd = f != NULL ? dup(fileno(f)) : -1;

	if (fd < 0 || fclose(f) != 0 || hf_io_write(fd, text, n) != 0 ||
	    lseek(fd, 0, SEEK_SET) != 0) {
		perror("test file");
		exit(1);
	}
	return fd;
}

static void
descriptors(void)
{
	struct hf_buf out = HF_BUF_INIT;
	struct hf_err e = { 0 };
	int fd = file_of("0123456789", 10);
	char b[16] = "";

	CHECK_INT(hf_io_pread(fd, b, 4, 3), 4);
	CHECK_MEM(b, 4, "3456");
	CHECK_INT(hf_io_pread(fd, b, 16, 8), 2);
	CHECK_INT(hf_io_pread(fd, b, 16, 80), 0);
	CHECK_INT(hf_io_read(fd, b, 3), 3);
	CHECK_INT(hf_io_pread(-1, b, 16, 0), -1);
	CHECK(hf_io_write(-1, b, 1) == -1 && errno == EBADF);
	close(fd);

	fd = open("/dev/full", O_WRONLY);
	if (fd >= 0)
		CHECK(hf_io_write(fd, b, 1) == -1 && errno == ENOSPC);
	close(fd);
	CHECK_INT(hf_io_slurp_path("/", &out, &e), -1);
	CHECK_INT(e.code, HF_E_IO);
	CHECK_STR(e.msg, "cannot read '/': Is a directory");
	hf_buf_release(&out);
}

static void
slurp(void)
{
	struct hf_buf b = HF_BUF_MAX(10), big = HF_BUF_INIT;
	struct hf_err e = { 0 };
	size_t n = 300000;
	char *text = hf_malloc(n);
	int fd = file_of("0123456789", 10);

	CHECK_INT(hf_io_slurp(fd, &b, "x", &e), 0);
	CHECK_MEM(b.data, b.len, "0123456789");
	CHECK(!b.full);
	close(fd);
	hf_buf_clear(&b);
	fd = file_of("0123456789a", 11);
	CHECK_INT(hf_io_slurp(fd, &b, "x", &e), -1);
	CHECK_INT(e.code, HF_E_OVERFLOW);
	CHECK_STR(e.msg, "'x' is larger than 10 bytes");
	CHECK(b.full);
	close(fd);
	for (size_t i = 0; i < n; i++)
		text[i] = (char)('a' + i % 26);
	fd = file_of(text, n);
	CHECK_INT(hf_io_slurp(fd, &big, "x", &e), 0);
	CHECK(big.len == n && memcmp(big.data, text, n) == 0);
	CHECK_INT(hf_io_slurp_path("/dev/null", &big, &e), 0);
	CHECK_INT(big.len, n);
	CHECK_INT(hf_io_slurp_path("/no/such", &big, &e), -1);
	CHECK_INT(e.code, HF_E_NOT_FOUND);
	CHECK_STR(e.msg, "cannot open '/no/such': No such file or directory");
	close(fd);
	hf_buf_release(&b);
	hf_buf_release(&big);
	free(text);
}

static void
lines(void)
{
	struct hf_err e = { 0 };
	struct hf_lines l;
	struct hf_str s = HF_STR_NONE;
	bool whole = false;
	int fd = file_of("one\n\ntwo\0x\r\nlast", 16);

	hf_lines_init(&l, fd, "x", 100);
	CHECK(hf_lines_next(&l, &s, &whole, &e) == 1 && whole);
	CHECK_MEM(s.s, s.n, "one");
	CHECK(hf_lines_next(&l, &s, &whole, &e) == 1 && whole);
	CHECK_MEM(s.s, s.n, "");
	CHECK(hf_lines_next(&l, &s, NULL, &e) == 1);
	CHECK_MEM(s.s, s.n, "two\0x\r");
	CHECK(hf_lines_next(&l, &s, &whole, &e) == 1 && !whole);
	CHECK_MEM(s.s, s.n, "last");
	CHECK_INT(hf_lines_next(&l, &s, &whole, &e), 0);
	CHECK_INT(hf_lines_next(&l, &s, &whole, &e), 0);
	hf_lines_release(&l);
	close(fd);

	fd = file_of("", 0);
	hf_lines_init(&l, fd, "x", 100);
	CHECK_INT(hf_lines_next(&l, &s, &whole, &e), 0);
	hf_lines_release(&l);
	close(fd);

	fd = file_of("12345\n123456\n", 13);
	hf_lines_init(&l, fd, "x", 5);
	CHECK_INT(hf_lines_next(&l, &s, &whole, &e), 1);
	CHECK_MEM(s.s, s.n, "12345");
	CHECK_INT(hf_lines_next(&l, &s, &whole, &e), -1);
	CHECK_INT(e.code, HF_E_OVERFLOW);
	CHECK_STR(e.msg, "a line of 'x' is longer than 5 bytes");
	hf_lines_release(&l);
	close(fd);

	hf_lines_init(&l, -1, "x", 5);
	CHECK_INT(hf_lines_next(&l, &s, &whole, &e), -1);
	CHECK_STR(e.msg, "cannot read 'x': Bad file descriptor");
	hf_lines_release(&l);
}

/* Lines of every length around the size of a read, in one stream. */
static void
many_lines(void)
{
	static const size_t around[] = { 0, 1, 65535, 65536, 65537, 200000 };
	struct hf_buf b = HF_BUF_INIT;
	struct hf_err e = { 0 };
	struct hf_lines l;
	struct hf_str s;
	bool good = true, whole;
	size_t at = 0;
	int fd;

	for (size_t i = 0; i < 3000; i++) {
		size_t n = i % 500 == 0 ? around[i / 500] : i % 97;

		for (size_t k = 0; k < n; k++)
			hf_buf_putc(&b, (char)('a' + (i + k) % 26));
		hf_buf_putc(&b, '\n');
	}
	fd = file_of(b.data, b.len);
	hf_lines_init(&l, fd, "x", 200000);
	while (hf_lines_next(&l, &s, &whole, &e) == 1) {
		good = good && whole && at + s.n < b.len &&
		    memcmp(s.s, b.data + at, s.n) == 0 &&
		    b.data[at + s.n] == '\n';
		at += s.n + 1;
	}
	CHECK(good && at == b.len);
	CHECK(l.buf.cap < 1 << 20);
	hf_lines_release(&l);
	close(fd);
	hf_buf_release(&b);
}

/* The LF is the first byte of the second read. */
static void
line_of_a_read(void)
{
	struct hf_buf b = HF_BUF_INIT;
	struct hf_err e = { 0 };
	struct hf_lines l;
	struct hf_str s = HF_STR_NONE;
	size_t n = 64 << 10;
	int fd;

	while (b.len < n)
		hf_buf_putc(&b, 'x');
	hf_buf_puts(&b, "\ny\n");
	fd = file_of(b.data, b.len);
	hf_lines_init(&l, fd, "x", n);
	CHECK_INT(hf_lines_next(&l, &s, NULL, &e), 1);
	CHECK_INT(s.n, n);
	CHECK_INT(hf_lines_next(&l, &s, NULL, &e), 1);
	CHECK_MEM(s.s, s.n, "y");
	CHECK_INT(hf_lines_next(&l, &s, NULL, &e), 0);
	hf_lines_release(&l);
	close(fd);
	hf_buf_release(&b);
}

/* Runs with descriptor fd in a file and returns what was written there. */
static const char *
captured(int fd, int (*run)(void *), void *arg, int *result)
{
	static char text[8192];
	int file = file_of("", 0), saved;
	ssize_t n;

	fflush(stdout);
	saved = dup(fd);
	dup2(file, fd);
	*result = run(arg);
	fflush(stdout);
	dup2(saved, fd);
	close(saved);
	n = hf_io_pread(file, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(file);
	return text;
}

static int
warn(void *arg)
{
	struct hf_err e = { 0 };

	hf_set_prog("hf-test");
	hf_warn("bad '%s'", (const char *)arg);
	hf_err_set(&e, HF_E_IO, "worse");
	hf_warn_err(&e);
	return 0;
}

static int
to_full(void *arg)
{
	struct hf_err *e = arg;
	int fd = open("/dev/full", O_WRONLY), r;

	dup2(fd, STDOUT_FILENO);
	close(fd);
	r = hf_out(HF_STR("x"), e);
	return r;
}

static void
output(void)
{
	char control[] = "a\x1b[2J\nb", huge[6000];
	struct hf_err e = { 0 };
	const char *text;
	int r;

	CHECK_STR(captured(2, warn, control, &r),
	    "hf-test: bad 'a?[2J?b'\nhf-test: worse\n");
	memset(huge, 'x', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	text = captured(2, warn, huge, &r);
	CHECK(strlen(text) > 4000 && strlen(text) < 4200);
	CHECK_STR(hf_prog(), "hf-test");
	captured(1, to_full, &e, &r);
	CHECK_INT(r, -1);
	CHECK_INT(e.code, HF_E_IO);
	CHECK_STR(e.msg, "cannot write to stdout: No space left on device");
}

/* The targets of the options below. */
static struct {
	bool all, quick;
	const char *focus;
	int64_t limit;
} given;

static const struct hf_opt table[] = {
	{ 'a', "all", NULL, "take all", HF_OPT_FLAG, &given.all, 0, 0 },
	{ 'q', "quick", NULL, "be quick", HF_OPT_FLAG, &given.quick, 0, 0 },
	{ 'f', "focus", "TEXT", "what matters", HF_OPT_STR, &given.focus,
	    0, 0 },
	{ 0, "limit", "N", "at most N", HF_OPT_INT, &given.limit, 1, 10 },
	{ 0, NULL, NULL, NULL, HF_OPT_FLAG, NULL, 0, 0 },
};

static const struct hf_opt_usage usage = {
	"hf-test", "[FILE ...]", "Test the options.", table
};

enum { ARGS = 8 };
static char *argv_now[ARGS + 2];
static int operands;
static struct hf_err failure;

/* Parses up to eight words. */
static int
parse(const char *const words[ARGS])
{
	static char text[ARGS + 1][128];
	int n = 1;

	memset(&given, 0, sizeof(given));
	memset(&failure, 0, sizeof(failure));
	operands = -1;
	argv_now[0] = text[0];
	for (int i = 0; i < ARGS && words[i] != NULL; i++, n++) {
		snprintf(text[n], sizeof(text[n]), "%s", words[i]);
		argv_now[n] = text[n];
	}
	argv_now[n] = NULL;
	return hf_opt_parse(&usage, n, argv_now, &operands, &failure);
}

#define PARSE(...)	parse((const char *const[ARGS]){ __VA_ARGS__ })

static void
options(void)
{
	CHECK_INT(PARSE(NULL), 0);
	CHECK(operands == 0 && !given.all && given.focus == NULL);
	CHECK_INT(PARSE("x", "--all", "y", "--focus", "--z", "--limit=7"), 0);
	CHECK(operands == 2 && given.all && given.limit == 7);
	CHECK_STR(argv_now[1], "x");
	CHECK_STR(argv_now[2], "y");
	CHECK(argv_now[3] == NULL);
	CHECK_STR(given.focus, "--z");
	CHECK_INT(PARSE("-aqfmore", "-", "-f", "", "--", "-a", "--all"), 0);
	CHECK(given.all && given.quick && operands == 3);
	CHECK_STR(given.focus, "");
	CHECK_STR(argv_now[1], "-");
	CHECK_STR(argv_now[3], "--all");
	CHECK_INT(PARSE("-qf", "t", "--focus=a=b"), 0);
	CHECK_STR(given.focus, "a=b");
}

static void
wrong_options(void)
{
	CHECK_INT(PARSE("--focsu", "x"), -1);
	CHECK_INT(failure.code, HF_E_USAGE);
	CHECK_STR(failure.msg,
	    "unknown option '--focsu'; did you mean '--focus'?");
	CHECK_INT(PARSE("--hlp"), -1);
	CHECK_STR(failure.msg,
	    "unknown option '--hlp'; did you mean '--help'?");
	CHECK_INT(PARSE("--somethingelse=3"), -1);
	CHECK_STR(failure.msg, "unknown option '--somethingelse'");
	CHECK_INT(PARSE("-az"), -1);
	CHECK_STR(failure.msg, "unknown option '-z'");
	CHECK_INT(PARSE("-\xc3\xa9"), -1);
	CHECK_STR(failure.msg, "unknown option '-\xc3\xa9'");
	CHECK_INT(PARSE("--all=yes"), -1);
	CHECK_STR(failure.msg, "option '--all' takes no argument");
	CHECK_INT(PARSE("-f"), -1);
	CHECK_STR(failure.msg, "option '--focus' needs an argument: TEXT");
	CHECK_INT(PARSE("--limit", "11"), -1);
	CHECK_STR(failure.msg, "option '--limit' needs an integer from 1 to "
	    "10, not '11'");
	CHECK_INT(PARSE("--limit=x"), -1);
	CHECK_INT(PARSE("--=x"), -1);
}

static int
parse_one(void *arg)
{
	return parse((const char *const[ARGS]){ arg });
}

static void
help(void)
{
	char h[] = "--help", v[] = "--version";
	const char *text;
	int r;

	CHECK_STR(captured(1, parse_one, h, &r),
	    "usage: hf-test [OPTION ...] [FILE ...]\n"
	    "Test the options.\n"
	    "\n"
	    "  -a, --all         take all\n"
	    "  -q, --quick       be quick\n"
	    "  -f, --focus TEXT  what matters\n"
	    "      --limit N     at most N\n"
	    "      --help        print this and exit\n"
	    "      --version     print the version and exit\n");
	CHECK_INT(r, 1);
	text = captured(1, parse_one, v, &r);
	CHECK_INT(r, 1);
	CHECK_STR(text, "hf-test " HF_VERSION "\n");
}

static void
nearest(void)
{
	static const char *const words[] = { "handoffRatio", "keepDays", "on" };

	CHECK_STR(hf_nearest("handofRatio", words, 3), "handoffRatio");
	CHECK_STR(hf_nearest("keepdays", words, 3), "keepDays");
	CHECK_STR(hf_nearest("keepDays", words, 3), "keepDays");
	CHECK_STR(hf_nearest("zz", words, 3), NULL);
	CHECK_STR(hf_nearest("", words, 3), NULL);
	CHECK_STR(hf_nearest("on", words, 0), NULL);
}

/* In a child: a signal ends a read that waits, and what comes after it. */
static int
interrupted(void)
{
	struct hf_err e = { 0 };
	struct hf_lines l;
	struct hf_str s;
	int p[2], bad = 0;

	hf_sig_init();
	if (pipe(p) != 0 || write(p[1], "a\nb", 3) != 3)
		return 99;
	hf_lines_init(&l, p[0], "x", 100);
	bad += hf_lines_next(&l, &s, NULL, &e) != 1;
	if (fork() == 0) {
		usleep(50000);
		kill(getppid(), SIGTERM);
		_exit(0);
	}
	bad += hf_lines_next(&l, &s, NULL, &e) != -1;
	bad += e.code != HF_E_CANCELLED;
	bad += hf_lines_next(&l, &s, NULL, &e) != -1;
	bad += hf_io_slurp(p[0], &l.buf, "x", &e) != -1;
	hf_lines_release(&l);
	wait(NULL);
	return bad;
}

static void
signals(void)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		alarm(10);
		_exit(interrupted());
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 0);
}

int
main(void)
{
	descriptors();
	slurp();
	lines();
	many_lines();
	line_of_a_read();
	output();
	options();
	wrong_options();
	help();
	nearest();
	signals();
	return check_done();
}
