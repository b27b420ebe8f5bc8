/*
 * storm DIR SEED STEPS: sessions of three agents, on which our commands are
 * run in an order that SEED decides; some are killed or fail at a fault
 * point. After each of them is looked at what must hold at any time, and
 * now and then, after a recover, what must hold then:
 *
 *	a source is byte for byte what its agent wrote
 *	each value is whole
 *	a route stays until it is taken away, and leads where it led
 *	there is no transcript to which no route ever led
 *	behind a recover: nothing is open, no draft, each route's end is there
 *
 * A successor becomes a session of its own. Prints what was done and exits
 * 0; else says what was wrong at which step, and leaves DIR.
 */
#include <time.h>

#include "world.h"

enum { SESSIONS_MAX = 24, FIRST = 6, ROUTES_MAX = 4000, POINT_LEN = 48,
	SETTLE_EVERY = 12 };

/* A route as it was seen last. */
struct route { char id[64], attempt[64]; };

struct storm {
	struct world w;
	uint64_t seed;
	struct session s[SESSIONS_MAX];
	struct route now[SESSIONS_MAX];
	pid_t owner[SESSIONS_MAX];
	bool adopted[SESSIONS_MAX];	/* its successor is a session */
	size_t n;
	char ever[ROUTES_MAX][64];	/* each id that a route led to */
	size_t never;
	size_t handoffs, faults, unrouted;
	size_t at;			/* who is worked on */
	const char *doing;
};

static const char *const points[] = {
	"commit.begin-open", "commit.begin-record", "commit.begin-main",
	"commit.begin-lease", "commit.begun", "commit.taken",
	"commit.prepare-draft", "commit.prepare-record", "commit.prepared",
	"commit.redirect", "commit.follow", "commit.publish",
	"commit.published", "commit.committed", "commit.successor-main",
	"commit.start", "commit.started", "commit.close", "commit.closed",
	"commit.undo-main", "commit.undo-draft", "commit.undo-record",
	"commit.undo-open", "commit.undone", "draft.write", "draft.fsync",
	"draft.dirsync", "file.open", "file.write", "file.fsync",
	"file.close", "file.rename", "file.link", "file.unlink",
	"file.dirsync", "file.mkdir",
};
static const char *const errors[] = { "ENOSPC", "EIO", "EDQUOT", "EROFS",
	"EACCES" };
static const char *const agents[] = { "claude", "pi", "codex" };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* splitmix64 */
static size_t
upto(struct storm *t, size_t n)
{
	uint64_t z = (t->seed += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (size_t)((z ^ (z >> 31)) % n);
}

/* A fault for the next command, in two of five; NULL: none. */
static const char *
fault(struct storm *t, char *out)
{
	const char *p = points[upto(t, COUNT(points))];
	size_t nth = 1 + upto(t, 4), how = upto(t, 10);

	if (how > 3)
		return NULL;
	t->faults++;
	if (how < 2)
		return line(out, "HANDOFF_CRASH_AT=%s#%zu", p, nth);
	return line(out, "HANDOFF_FAIL_AT=%s#%zu:%s", p, nth,
	    errors[upto(t, COUNT(errors))]);
}

/* The name of a file of session i. */
static const char *
file(const char *what, size_t i, char *out)
{
	return line(out, "%s%zu", what, i);
}

/* ---- what is done ---- */

static bool
fine(struct storm *t, const char *what, int status)
{
	static const int known[] = { 0, 1, 65, 69, 74, 75, KILLED + SIGKILL };

	t->doing = what;
	for (size_t i = 0; i < COUNT(known); i++)
		if (status == known[i])
			return true;
	fprintf(stderr, "%s: status %d\n", what, status);
	return false;
}

static bool
do_measure(struct storm *t, size_t i)
{
	char a[LINE], b[LINE];
	int rc;

	rc = RUN(&t->w, NULL, file("metrics", i, a), NULL, "hf-metrics",
	    t->s[i].path);
	if (rc == 0)
		rc = RUN(&t->w, file("metrics", i, a), file("main", i, b),
		    NULL, "hf-state", "join");
	if (rc == 0)
		rc = RUN(&t->w, file("main", i, a), file("trigger", i, b),
		    NULL, "hf-trigger", upto(t, 4) ? "--manual" : "--auto");
	return fine(t, "metrics", rc);
}

/* What was written by a step before, if that came so far. */
static bool
has(struct storm *t, const char *name)
{
	char path[LINE];
	struct stat st;

	return stat(at(&t->w, name, path), &st) == 0 && st.st_size > 0;
}

static bool
do_begin(struct storm *t, size_t i)
{
	char a[LINE], b[LINE], how[LINE], var[64];
	const char *f;
	int rc;

	/* What was measured before is often still right, and often not. */
	if ((upto(t, 2) || !has(t, file("trigger", i, a))) &&
	    !do_measure(t, i))
		return false;
	if (!has(t, file("trigger", i, a)))
		return true;
	owner_end(&t->owner[i]);
	t->owner[i] = owner_start();
	snprintf(var, sizeof(var), "HANDOFF_OWNER=%d", (int)t->owner[i]);
	t->w.env[t->w.nenv++] = var;
	f = fault(t, how);
	rc = RUN(&t->w, a, file("begun", i, b), f, "hf-commit", "begin");
	t->w.nenv--;
	return fine(t, "begin", rc);
}

static bool
do_commit(struct storm *t, size_t i)
{
	char a[LINE], b[LINE], how[LINE];

	/* Now and then in one go, without a begin. */
	if (!has(t, file(upto(t, 5) ? "begun" : "trigger", i, a)) ||
	    !add_brief(&t->w, a, file("brief", i, b)))
		return true;
	return fine(t, "commit", RUN(&t->w, b, file("done", i, a),
	    fault(t, how), "hf-commit"));
}

static bool
do_fail(struct storm *t, size_t i)
{
	char a[LINE], how[LINE];

	if (!has(t, file("begun", i, a)))
		return true;
	return fine(t, "fail", RUN(&t->w, a, "failed", fault(t, how),
	    "hf-commit", "fail", "--cancelled"));
}

static bool
do_append(struct storm *t, size_t i)
{
	session_more(&t->w, &t->s[i]);
	t->doing = "append";
	return true;
}

static bool
do_switch(struct storm *t, size_t i)
{
	char what[LINE], how[LINE];
	const char *verb = upto(t, 3) ? "enable" : "disable";

	line(what, "%s:%s", t->s[i].agent, t->s[i].id);
	return fine(t, verb, RUN(&t->w, NULL, NULL, fault(t, how), "hf-state",
	    verb, what));
}

static bool
do_recover(struct storm *t, size_t i)
{
	char how[LINE];

	if (upto(t, 2))
		owner_end(&t->owner[i]);
	return fine(t, "recover", RUN(&t->w, NULL, NULL, fault(t, how),
	    "hf-commit", "recover"));
}

static bool
do_unroute(struct storm *t, size_t i)
{
	char what[LINE];
	int rc;

	line(what, "%s:%s", t->s[i].agent, t->s[i].id);
	if (t->now[i].id[0] == '\0')
		return true;
	rc = RUN(&t->w, NULL, NULL, NULL, "hf-route", "remove", what);
	if (rc == 0) {
		t->now[i].id[0] = '\0';
		t->adopted[i] = false;
		t->unrouted++;
	}
	return fine(t, "unroute", rc);
}

/* Ended at any moment, and not at a point of ours. */
static bool
do_kill(struct storm *t, size_t i)
{
	char a[LINE], b[LINE];
	struct timespec pause = { 0, (long)upto(t, 4000000) };
	pid_t pid;

	if (!has(t, file("begun", i, a)) || !add_brief(&t->w, a,
	    file("brief", i, b)))
		return true;
	pid = world_start(&t->w, b, file("done", i, a), NULL,
	    (const char *const []){ "hf-commit", NULL });
	nanosleep(&pause, NULL);
	kill(pid, SIGKILL);
	return fine(t, "kill", wait_for(pid));
}

static bool
do_status(struct storm *t, size_t i)
{
	(void)i;
	return fine(t, "status", RUN(&t->w, NULL, NULL, NULL, "hf-state",
	    upto(t, 2) ? "status" : "prune"));
}

/* ---- what must hold ---- */

static bool
was_routed(const struct storm *t, const char *name)
{
	for (size_t i = t->never; i > 0; i--)
		if (strstr(name, t->ever[i - 1]) != NULL)
			return true;
	return false;
}

/* A route that is there stays, and is of the same attempt. */
static bool
see_route(struct storm *t, size_t i)
{
	struct route r, *was = &t->now[i];

	if (!redirect_of(&t->w, &t->s[i], r.id, r.attempt))
		return was->id[0] == '\0' ||
		    says(&t->s[i], "the route to %s is lost", was->id);
	if (was->id[0] != '\0' && (strcmp(was->attempt, r.attempt) != 0 ||
	    strcmp(was->id, r.id) != 0))
		return says(&t->s[i], "the route to %s leads to %s", was->id,
		    r.id);
	if (was->id[0] == '\0') {
		if (t->never == ROUTES_MAX)
			die("too many routes");
		snprintf(t->ever[t->never++], 64, "%s", r.id);
		t->handoffs++;
	}
	*was = r;
	return true;
}

struct found { struct storm *t; bool good, settled; char must[64]; };

static void
see_file(const char *path, const char *name, const struct stat *st,
    void *arg)
{
	struct found *f = arg;

	(void)st;
	if (strstr(path, "/.config/") != NULL ||
	    strcmp(name, "session_index.jsonl") == 0)
		return;
	if (f->must[0] != '\0' && strstr(name, f->must) != NULL)
		f->must[0] = '\0';
	if (name[0] == '.') {
		/* A draft, while it is open. */
		if (f->settled || strncmp(name, ".handoff-", 9) != 0)
			f->good = false;
	} else if (!was_routed(f->t, name)) {
		f->good = false;
		for (size_t i = 0; i < f->t->n; i++)
			if (strcmp(path, f->t->s[i].path) == 0)
				f->good = true;
	}
	if (!f->good)
		fprintf(stderr, "what is %s?\n", path);
}

static bool
holds(struct storm *t, bool settled)
{
	struct found f = { t, true, settled, "" };
	char home[LINE];

	for (size_t i = 0; i < t->n; i++)
		if (!is_untouched(&t->s[i]) || !see_route(t, i))
			return false;
	walk(at(&t->w, "home", home), see_file, &f);
	return f.good && state_is_whole(&t->w);
}

static void
count_open(const char *path, const char *name, const struct stat *st,
    void *arg)
{
	(void)path, (void)st;
	*(size_t *)arg += name[0] != '.';
}

static void
note_path(const char *path, const char *name, const struct stat *st,
    void *arg)
{
	struct found *f = arg;

	(void)st;
	if (name[0] != '.' && strstr(name, f->must) != NULL &&
	    strstr(path, "/.config/") == NULL)
		line(f->t->s[f->t->n].path, "%s", path);
}

/* The successor of i goes on as a session, if there is room. */
static void
adopt(struct storm *t, size_t i)
{
	struct found f = { t, true, true, "" };
	struct session *s = &t->s[t->n];
	char home[LINE];

	snprintf(f.must, sizeof(f.must), "%s", t->now[i].id);
	if (t->adopted[i] || t->n == SESSIONS_MAX)
		return;
	memset(s, 0, sizeof(*s));
	walk(at(&t->w, "home", home), note_path, &f);
	s->agent = t->s[i].agent;
	snprintf(s->id, sizeof(s->id), "%s", t->now[i].id);
	s->turns = 2;
	get_file(s->path, &s->text);
	t->adopted[i] = true;
	t->n++;
}

/* With every owner gone. */
static bool
settle(struct storm *t)
{
	struct found f = { t, true, true, "" };
	size_t open = 0;
	char path[LINE];
	int rc;

	for (size_t i = 0; i < t->n; i++)
		owner_end(&t->owner[i]);
	rc = RUN(&t->w, NULL, NULL, NULL, "hf-commit", "recover");
	if (rc != 0 || !holds(t, true)) {
		fprintf(stderr, "recover: status %d\n", rc);
		return false;
	}
	walk(at(&t->w, "state/open", path), count_open, &open);
	if (open > 0) {
		fprintf(stderr, "%zu are open\n", open);
		return false;
	}
	for (size_t i = 0; i < t->n; i++) {
		if (t->now[i].id[0] == '\0')
			continue;
		snprintf(f.must, sizeof(f.must), "%s", t->now[i].id);
		walk(at(&t->w, "home", path), see_file, &f);
		if (f.must[0] != '\0')
			return says(&t->s[i], "%s is not there", f.must);
		adopt(t, i);
	}
	return true;
}

static bool
step(struct storm *t)
{
	static bool (*const acts[])(struct storm *, size_t) = {
		do_measure, do_measure, do_measure, do_begin, do_begin,
		do_begin, do_begin, do_commit, do_commit, do_commit,
		do_commit, do_commit, do_append, do_append, do_switch,
		do_recover, do_recover, do_fail, do_kill, do_unroute,
		do_status };

	/* Mostly on the one of before, so that something comes of it. */
	if (upto(t, 5) == 0 || t->now[t->at].id[0] != '\0')
		t->at = upto(t, t->n);
	return acts[upto(t, COUNT(acts))](t, t->at);
}

int
main(int argc, char **argv)
{
	static struct storm t;
	long steps, seed;
	char path[LINE];

	if (argc != 4)
		die("storm DIR SEED STEPS");
	seed = strtol(argv[2], NULL, 10);
	steps = strtol(argv[3], NULL, 10);
	t.seed = (uint64_t)seed;
	world_open(&t.w, argv[1]);
	put_file(at(&t.w, "home/.config/handoff/config.json", path),
	    HF_STR("{\"autoHandoff\":true,\"handoffMinTurns\":2,"
	    "\"handoffTokens\":8000,\"cooldownSeconds\":1}"), O_TRUNC);
	for (; t.n < FIRST; t.n++)
		session_make(&t.w, &t.s[t.n], agents[t.n % COUNT(agents)],
		    (int)t.n);
	for (long i = 1; i <= steps; i++)
		if (!step(&t) || !holds(&t, false) ||
		    ((i % SETTLE_EVERY == 0 || i == steps) && !settle(&t))) {
			fprintf(stderr, "seed %ld, step %ld (%s); see %s\n",
			    seed, i, t.doing, t.w.root);
			return 1;
		}
	for (size_t i = 0; i < t.n; i++)
		hf_buf_release(&t.s[i].text);
	world_close(&t.w);
	rmdir(argv[1]);
	printf("%ld steps, %zu sessions, %zu handoffs, %zu faults, "
	    "%zu unrouted\n", steps, t.n, t.handoffs, t.faults, t.unrouted);
	return 0;
}
