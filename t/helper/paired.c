/*
 * paired RUNS INPUT A... [-- B...]: runs A and, in turn with it, B, each
 * with INPUT as its stdin and its stdout thrown away, after one run that
 * does not count. Prints the median milliseconds (and CPU milliseconds) of
 * each, and the median of the ratios A/B pair by pair:
 *
 *	{"runs":9,"a":{"wall":1.2,"cpu":0.9,"kb":3000},"b":{...},"ratio":0.5}
 *
 * kb is the most memory that a run of A had, in KB.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { RUNS_MAX = 1000 };

struct sample { double wall, cpu; long kb; };

static void
die(const char *what)
{
	fprintf(stderr, "paired: %s: %s\n", what, strerror(errno));
	exit(2);
}

static double
ms(struct timeval t)
{
	return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct sample
run(char **argv, const char *input)
{
	posix_spawn_file_actions_t fa;
	struct sample s;
	struct rusage use;
	double began = now();
	pid_t pid;
	int status, rc;

	if (argv[0] == NULL) {
		errno = EINVAL;
		die("no command");
	}
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, input, O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	rc = posix_spawnp(&pid, argv[0], &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	if (rc != 0) {
		errno = rc;
		die(argv[0]);
	}
	if (wait4(pid, &status, 0, &use) < 0)
		die("wait4");
	s.wall = now() - began;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "paired: '%s' failed\n", argv[0]);
		exit(2);
	}
	s.cpu = ms(use.ru_utime) + ms(use.ru_stime);
	s.kb = use.ru_maxrss;
	return s;
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), by_value);
	return n % 2 != 0 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

int
main(int argc, char **argv)
{
	static double aw[RUNS_MAX], ac[RUNS_MAX], bw[RUNS_MAX], bc[RUNS_MAX],
	    ratio[RUNS_MAX];
	char **b = NULL;
	struct sample s;
	long kb = 0;
	int i, n;

	if (argc < 4) {
		fprintf(stderr, "usage: paired RUNS INPUT A... [-- B...]\n");
		return 2;
	}
	n = (int)strtol(argv[1], NULL, 10);
	if (n < 1 || n > RUNS_MAX)
		return 2;
	for (i = 3; i < argc && b == NULL; i++)
		if (strcmp(argv[i], "--") == 0) {
			argv[i] = NULL;
			b = argv + i + 1;
		}
	for (i = -1; i < n; i++) {
		s = run(argv + 3, argv[2]);
		if (i >= 0)
			aw[i] = s.wall, ac[i] = s.cpu;
		if (s.kb > kb)
			kb = s.kb;
		if (b == NULL)
			continue;
		s = run(b, argv[2]);
		if (i >= 0)
			bw[i] = s.wall, bc[i] = s.cpu,
			    ratio[i] = aw[i] / s.wall;
	}
	printf("{\"runs\":%d,\"a\":{\"wall\":%.3f,\"cpu\":%.3f,"
	    "\"kb\":%ld}", n, median(aw, n), median(ac, n), kb);
	if (b != NULL)
		printf(",\"b\":{\"wall\":%.3f,\"cpu\":%.3f},\"ratio\":%.4f",
		    median(bw, n), median(bc, n), median(ratio, n));
	printf("}\n");
	return 0;
}
