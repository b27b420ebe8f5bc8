/*
 * rush DIR SESSIONS PROCESSES: all at once, PROCESSES on each of SESSIONS
 * sessions begin a handoff and commit it, while a reader looks at every
 * value of the state over and over. Prints how many ended with which
 * status, how many routes and successors there are, and how many values
 * the reader saw:
 *
 *	0: 1, 75: 199; 1 routes, 1 successors, whole
 */
#include <time.h>

#include "world.h"

enum { RUSH_MAX = 400, AGENTS = 3 };

struct rush {
	struct world w;
	struct session s[RUSH_MAX];
	size_t sessions, processes;
	int count[128];
	size_t files;
};

static const char *const agents[AGENTS] = { "claude", "pi", "codex" };

/* One process's way; gate: all start when it is closed. */
static int
attempt(const struct rush *r, size_t i, size_t k, int gate)
{
	char trigger[LINE], begun[LINE], brief[LINE], out[LINE], c;
	int rc;

	line(trigger, "trigger%zu", i);
	line(begun, "begun%zu-%zu", i, k);
	line(brief, "brief%zu-%zu", i, k);
	line(out, "out%zu-%zu", i, k);
	while (read(gate, &c, 1) > 0)
		;
	rc = RUN(&r->w, trigger, begun, NULL, "hf-commit", "begin");
	if (rc == 0 && add_brief(&r->w, begun, brief))
		rc = RUN(&r->w, brief, out, NULL, "hf-commit");
	return rc < 128 ? rc : 127;
}

/* Until it is told to end: 0 when all was whole. */
static int
reader(const struct rush *r, int stop)
{
	bool whole = true;
	char c;

	fcntl(stop, F_SETFL, O_NONBLOCK);
	while (read(stop, &c, 1) < 0)
		whole = state_is_whole(&r->w) && whole;
	return whole ? 0 : 1;
}

static pid_t
fork_or_die(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s", strerror(errno));
	return pid;
}

static void
prepare(struct rush *r)
{
	char m[LINE], t[LINE], j[LINE];

	for (size_t i = 0; i < r->sessions; i++) {
		session_make(&r->w, &r->s[i], agents[i % AGENTS], (int)i);
		line(m, "metrics%zu", i);
		line(j, "main%zu", i);
		line(t, "trigger%zu", i);
		if (RUN(&r->w, NULL, m, NULL, "hf-metrics", r->s[i].path) !=
		    0 || RUN(&r->w, m, j, NULL, "hf-state", "join") != 0 ||
		    RUN(&r->w, j, t, NULL, "hf-trigger", "--manual") != 0)
			die("session %zu is not due", i);
	}
}

static void
look(const char *path, const char *name, const struct stat *st, void *arg)
{
	(void)st;
	if (strstr(path, "/.config/") == NULL &&
	    strcmp(name, "session_index.jsonl") != 0)
		++*(size_t *)arg;
}

static void
run_all(struct rush *r, int gate[2])
{
	static pid_t pid[RUSH_MAX];
	size_t n = 0;

	for (size_t i = 0; i < r->sessions; i++)
		for (size_t k = 0; k < r->processes; k++) {
			pid[n] = fork_or_die();
			if (pid[n++] == 0) {
				close(gate[1]);
				_exit(attempt(r, i, k, gate[0]));
			}
		}
	close(gate[0]);
	close(gate[1]);
	while (n > 0)
		r->count[wait_for(pid[--n])]++;
}

int
main(int argc, char **argv)
{
	static struct rush r;
	int gate[2], stop[2], torn;
	char id[64], attempt_id[64], path[LINE];
	size_t routes = 0;
	pid_t eyes;

	if (argc != 4)
		die("rush DIR SESSIONS PROCESSES");
	r.sessions = (size_t)strtol(argv[2], NULL, 10);
	r.processes = (size_t)strtol(argv[3], NULL, 10);
	if (r.sessions * r.processes > RUSH_MAX)
		die("too many");
	world_open(&r.w, argv[1]);
	prepare(&r);
	if (pipe(gate) < 0 || pipe(stop) < 0)
		die("pipe: %s", strerror(errno));
	if ((eyes = fork_or_die()) == 0) {
		close(gate[0]);
		close(gate[1]);
		close(stop[1]);
		_exit(reader(&r, stop[0]));
	}
	run_all(&r, gate);
	close(stop[1]);
	torn = wait_for(eyes);
	for (int i = 0; i < 128; i++)
		if (r.count[i] > 0)
			printf("%d: %d, ", i, r.count[i]);
	for (size_t i = 0; i < r.sessions; i++)
		routes += redirect_of(&r.w, &r.s[i], id, attempt_id) &&
		    is_untouched(&r.s[i]);
	walk(at(&r.w, "home", path), look, &r.files);
	printf("%zu routes, %zu successors, %s\n", routes,
	    r.files - r.sessions, torn == 0 && state_is_whole(&r.w) ?
	    "whole" : "torn");
	world_close(&r.w);
	rmdir(argv[1]);
	return 0;
}
