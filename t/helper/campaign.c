/*
 * campaign [-c CALL] [-p PREFIX | -x PREFIX] [-r FILE]
 *     DIR AGENT KIND FAULT SCENARIO
 * A handoff of a session of AGENT (claude, pi, codex), KIND manual or
 * automatic, again and again, each time with FAULT at another one of the
 * points that it comes by; then recover, and what must hold.
 *
 * FAULT is KILL or an errno's name. The points are the fault points, those
 * whose names begin with PREFIX (-p), or the others (-x); with -c, the
 * system calls of a name, by strace. -r: the names of points that were
 * reached are appended to FILE. DIR is made, and removed when all is well.
 *
 * SCENARIO says which step meets the fault:
 *	begin	hf-commit begin
 *	commit	hf-commit
 *	undo	hf-commit, of a session that went on meanwhile
 *	back	recover of one that was killed before its redirect
 *	forth	recover of one that was killed behind it
 *	rename	recover of one whose name was taken
 *	switch	enable and disable of the session
 *
 * Prints "N points" and exits 0, or says what was wrong, where, and leaves
 * DIR as it is.
 */
#include <ctype.h>

#include "world.h"

enum { POINTS_MAX = 1000, POINT_LEN = 64 };

struct point { char name[POINT_LEN]; int nth; };

struct campaign {
	struct world w;
	struct session s;
	const char *agent, *fault, *scenario, *prefix, *without, *reached;
	const char *call;		/* NULL: fault points */
	bool automatic;
	char store[LINE];
	pid_t owner;
	char target[LINE];		/* the name that was taken */
	struct point point[POINTS_MAX];
	size_t n;
	int status;			/* of the step that met the fault */
	struct hf_buf enabled;		/* the main, before anything */
};

/* ---- a step ---- */

/* The same command under strace, which makes the call fail, or logs it. */
static int
run_traced(struct campaign *c, const char *in, const char *out,
    const char *inject, const char *const *argv)
{
	char trace[LINE], cmd[LINE], log[LINE];
	const char *words[32];
	struct world w = c->w;
	size_t n = 0;

	line(trace, "trace=%s", c->call);
	line(cmd, "%s/%s", c->w.bin, argv[0]);
	at(&c->w, "calls", log);
	words[n++] = "strace";
	words[n++] = "-o";
	words[n++] = inject == NULL ? log : "/dev/null";
	words[n++] = "-e";
	words[n++] = trace;
	if (inject != NULL) {
		words[n++] = "-e";
		words[n++] = inject;
	}
	words[n++] = cmd;
	for (size_t i = 1; argv[i] != NULL; i++)
		words[n++] = argv[i];
	words[n] = NULL;
	w.bin = "/usr/bin";
	return world_run(&w, in, out, NULL, words);
}

/* With the fault at a point; p NULL: the points are noted. */
static int
faulty(struct campaign *c, const struct point *p, const char *in,
    const char *out, const char *const *argv)
{
	char how[LINE], log[LINE];
	bool kill = strcmp(c->fault, "KILL") == 0;

	if (c->call != NULL && p == NULL)
		return run_traced(c, in, out, NULL, argv);
	if (c->call != NULL) {
		line(how, "inject=%s:%s=%s:when=%d",
		    p->name, kill ? "signal" : "error", c->fault, p->nth);
		return run_traced(c, in, out, how, argv);
	}
	if (p == NULL)
		line(how, "HANDOFF_STEP_LOG=%s",
		    at(&c->w, "calls", log));
	else if (kill)
		line(how, "HANDOFF_CRASH_AT=%s#%d", p->name,
		    p->nth);
	else
		line(how, "HANDOFF_FAIL_AT=%s#%d:%s",
		    p->name, p->nth, c->fault);
	return world_run(&c->w, in, out, how, argv);
}

#define FAULTY(c, p, in, out, ...) \
	faulty(c, p, in, out, (const char *const []){ __VA_ARGS__, NULL })

/* ---- the scenarios ---- */

static bool
measure(struct campaign *c)
{
	const struct world *w = &c->w;

	return RUN(w, NULL, "metrics", NULL, "hf-metrics", c->s.path) == 0 &&
	    RUN(w, "metrics", "main", NULL, "hf-state", "join") == 0 &&
	    RUN(w, "main", "trigger", NULL, "hf-trigger", c->automatic ?
	    "--auto" : "--manual") == 0;
}

/* The folders, with nothing in them but a session's file that is kept. */
static void
empty(struct campaign *c, bool keep)
{
	char path[LINE], kept[LINE];

	at(&c->w, "kept", kept);
	if (keep && rename(c->s.path, kept) < 0)
		die("rename: %s", strerror(errno));
	remove_below(at(&c->w, "state", path));
	remove_below(at(&c->w, "home", path));
	remove_below(at(&c->w, "tmp", path));
	make_folders(at(&c->w, "home/.config/handoff", path));
	if (keep) {
		store_of(&c->w, c->agent, path);
		make_folders(path);
		if (rename(kept, c->s.path) < 0)
			die("rename: %s", strerror(errno));
	}
	if (c->automatic)
		put_file(at(&c->w, "home/.config/handoff/config.json", path),
		    HF_STR("{\"autoHandoff\":true,\"handoffMinTurns\":2,"
		    "\"handoffTokens\":8000}"), O_TRUNC);
}

static const char *
main_path(struct campaign *c, char *out)
{
	return line(out, "%s/state/mains/%s.%s.json", c->w.root, c->agent,
	    c->s.id);
}

/* As it is before anything happens; measured once, if it can be. */
static void
fresh(struct campaign *c, bool first)
{
	char path[LINE];

	empty(c, !first && c->s.turns == 2);
	if (first || c->s.turns != 2) {
		hf_buf_release(&c->s.text);
		session_make(&c->w, &c->s, c->agent, 1);
		if (c->automatic && RUN(&c->w, NULL, NULL, NULL, "hf-state",
		    "enable", c->s.id) != 0)
			die("cannot enable");
		if (!measure(c))
			die("the session is not due: see %s", c->w.root);
		get_file(main_path(c, path), &c->enabled);
	} else if (c->enabled.len > 0) {
		make_folders(at(&c->w, "state/mains", path));
		put_file(main_path(c, path), hf_buf_view(&c->enabled), 0);
	}
}

static int
begin(struct campaign *c, const struct point *p, bool plain)
{
	const char *const argv[] = { "hf-commit", "begin", NULL };
	char var[64];
	int rc;

	c->owner = owner_start();
	snprintf(var, sizeof(var), "HANDOFF_OWNER=%d", (int)c->owner);
	c->w.env[c->w.nenv++] = var;
	rc = plain ? world_run(&c->w, "trigger", "begun", NULL, argv) :
	    faulty(c, p, "trigger", "begun", argv);
	c->w.env[--c->w.nenv] = NULL;
	return rc;
}

/* Killed at a point: what recover finds. */
static void
broken(struct campaign *c, const char *where)
{
	char how[LINE];

	line(how, "HANDOFF_CRASH_AT=%s", where);
	if (begin(c, NULL, true) != 0 ||
	    !add_brief(&c->w, "begun", "brief") ||
	    RUN(&c->w, "brief", "committed", how, "hf-commit") !=
	    KILLED + SIGKILL)
		die("it was not killed at %s", where);
	owner_end(&c->owner);
}

static void
take_name(struct campaign *c)
{
	struct hf_buf b = HF_BUF_INIT;
	char path[LINE];
	struct hf_json *j;
	struct hf_err err;
	struct hf_str to;

	j = hf_json_parse(hf_str_trim(get_file(at(&c->w, "begun", path),
	    &b)), 0, NULL, NULL, &err);
	to = hf_json_get_str(hf_json_at(hf_json_root(j), "commit.target"),
	    "path");
	line(c->target, "%.*s", (int)to.n, to.s);
	hf_json_free(j);
	hf_buf_release(&b);
	put_file(c->target, HF_STR("foreign"), O_EXCL);
}

static bool
is(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* The step that meets the fault, and what is before and behind it. */
static void
act(struct campaign *c, const struct point *p)
{
	c->target[0] = '\0';
	if (is(c->scenario, "begin")) {
		c->status = begin(c, p, false);
		if (c->status == 0 && add_brief(&c->w, "begun", "brief"))
			RUN(&c->w, "brief", "committed", NULL, "hf-commit");
	} else if (is(c->scenario, "commit") || is(c->scenario, "undo")) {
		if (begin(c, NULL, true) != 0 ||
		    !add_brief(&c->w, "begun", "brief"))
			die("it cannot begin");
		if (is(c->scenario, "undo"))
			session_more(&c->w, &c->s);
		c->status = FAULTY(c, p, "brief", "out", "hf-commit");
	} else if (is(c->scenario, "switch")) {
		RUN(&c->w, NULL, NULL, NULL, "hf-state", "enable", c->s.id);
		c->status = FAULTY(c, p, NULL, "out", "hf-state", "disable",
		    c->s.id);
	} else {
		broken(c, is(c->scenario, "back") ? "commit.redirect" :
		    "commit.publish");
		if (is(c->scenario, "rename"))
			take_name(c);
		c->status = FAULTY(c, p, NULL, "out", "hf-commit", "recover");
	}
	owner_end(&c->owner);
}

/* ---- what must hold ---- */

struct found { struct campaign *c; size_t drafts, files; char last[LINE]; };

static void
look(const char *path, const char *name, const struct stat *st, void *arg)
{
	struct found *f = arg;

	(void)st;
	if (is(path, f->c->s.path) || is(path, f->c->target) ||
	    strstr(path, "/.config/") != NULL ||
	    is(name, "session_index.jsonl"))
		return;
	if (name[0] == '.')
		f->drafts++;
	else
		f->files++;
	line(f->last, "%s", path);
}

static bool
has_brief(const char *path)
{
	struct hf_buf b = HF_BUF_INIT;
	bool has = hf_str_find(get_file(path, &b), HF_STR(BRIEF_GOAL), 0) !=
	    SIZE_MAX;

	hf_buf_release(&b);
	return has;
}

/* One successor that the source leads to, or no trace of any. */
static bool
one_or_none(struct campaign *c)
{
	struct found f = { c, 0, 0, "" };
	char home[LINE], id[64], attempt[64];

	walk(at(&c->w, "home", home), look, &f);
	if (f.drafts > 0)
		return says(&c->s, "a draft is left: %s", f.last);
	if (!redirect_of(&c->w, &c->s, id, attempt))
		return f.files == 0 ||
		    says(&c->s, "without a route there is %s", f.last);
	if (f.files != 1 || strstr(f.last, id) == NULL)
		return says(&c->s, "leads to %s, but there are %zu: %s", id,
		    f.files, f.last);
	return has_brief(f.last) || says(&c->s, "no brief in %s", f.last);
}

static void
not_over(const char *path, const char *name, const struct stat *st,
    void *arg)
{
	struct hf_buf b = HF_BUF_INIT;
	struct hf_str t = get_file(path, &b);

	(void)st;
	if (name[0] != '.' && hf_str_find(t, HF_STR("\"phase\":\"failed\""),
	    0) == SIZE_MAX && hf_str_find(t, HF_STR("\"phase\":\"started\""),
	    0) == SIZE_MAX)
		*(bool *)arg = true;
	hf_buf_release(&b);
}

static void
any(const char *path, const char *name, const struct stat *st, void *arg)
{
	(void)path, (void)st;
	if (name[0] != '.')
		*(bool *)arg = true;
}

/* Nothing is open, every record is in a final phase. */
static bool
is_over(struct campaign *c)
{
	char path[LINE];
	bool open = false, unfinished = false;

	walk(at(&c->w, "state/open", path), any, &open);
	walk(at(&c->w, "state/records", path), not_over, &unfinished);
	if (open || unfinished)
		return says(&c->s, open ? "an attempt is still open" :
		    "a record is in no final phase");
	return true;
}

static bool
is_empty(const struct world *w, const char *name)
{
	struct hf_buf b = HF_BUF_INIT;
	char path[LINE];
	bool empty = get_file(at(w, name, path), &b).n == 0;

	hf_buf_release(&b);
	return empty;
}

/* Done is said only of what is done; else why not. */
static bool
is_honest(struct campaign *c)
{
	struct hf_buf b = HF_BUF_INIT;
	char path[LINE], id[64], attempt[64];
	bool commits = is(c->scenario, "commit"), good = true;

	if (commits && c->status == 0 &&
	    !redirect_of(&c->w, &c->s, id, attempt))
		good = says(&c->s, "status 0, but no route");
	if (c->status != 0 && c->status < 126 && is_empty(&c->w, is(
	    c->scenario, "begin") ? "begun.err" : "out.err") &&
	    hf_str_find(get_file(at(&c->w, is(c->scenario, "begin") ?
	    "begun" : "out", path), &b), HF_STR("\"error\":"), 0) == SIZE_MAX)
		good = says(&c->s, "status %d, and no word", c->status);
	hf_buf_release(&b);
	return good;
}

static bool
settles(struct campaign *c)
{
	uint64_t state, home;

	if (!is_honest(c))
		return false;
	if (RUN(&c->w, NULL, "rec", NULL, "hf-commit", "recover") != 0)
		return says(&c->s, "recover fails");
	if (!state_is_whole(&c->w) || !is_untouched(&c->s) ||
	    !one_or_none(c) || !is_over(c))
		return false;
	state = picture(&c->w, "state");
	home = picture(&c->w, "home");
	if (RUN(&c->w, NULL, "rec", NULL, "hf-commit", "recover") != 0 ||
	    !is_empty(&c->w, "rec") || !is_empty(&c->w, "rec.err"))
		return says(&c->s, "a second recover has something to say");
	if (state != picture(&c->w, "state") || home != picture(&c->w, "home"))
		return says(&c->s, "a second recover changes something");
	return true;
}

/* The session is held up by nobody: handed off, or it can be now. */
static bool
goes_on(struct campaign *c)
{
	char id[64], attempt[64];

	if (redirect_of(&c->w, &c->s, id, attempt) ||
	    is(c->scenario, "switch"))
		return true;
	/* One that failed waits, if nobody asks for it. */
	c->automatic = false;
	if ((c->s.turns > 2 && !measure(c)) ||
	    RUN(&c->w, "trigger", "begun", NULL, "hf-commit", "begin") != 0 ||
	    !add_brief(&c->w, "begun", "brief") ||
	    RUN(&c->w, "brief", "committed", NULL, "hf-commit") != 0)
		return says(&c->s, "it cannot be handed off afterwards");
	return one_or_none(c) && is_over(c);
}

/* ---- the campaign ---- */

/* The points of the log, each with how often it was passed before. */
static void
read_points(struct campaign *c)
{
	struct hf_buf b = HF_BUF_INIT;
	char path[LINE];
	struct hf_str t = get_file(at(&c->w, "calls", path), &b), row;

	while (t.n > 0) {
		struct point *p = &c->point[c->n];
		size_t n = 0;

		row = hf_str_line(t, &t);
		while (n < row.n && row.s[n] != '(')
			n++;
		/* Signals and the end are no calls. */
		if (c->call != NULL && (n == row.n || !islower(
		    (unsigned char)row.s[0])))
			continue;
		if (c->call == NULL && (!hf_str_starts(row, c->prefix) ||
		    (c->without != NULL && hf_str_starts(row, c->without))))
			continue;
		if (c->n == POINTS_MAX)
			die("too many points");
		snprintf(p->name, sizeof(p->name), "%.*s", (int)n, row.s);
		p->nth = 1;
		for (size_t i = 0; i < c->n; i++)
			p->nth += is(c->point[i].name, p->name);
		c->n++;
	}
	hf_buf_release(&b);
}

static void
note_reached(struct campaign *c)
{
	struct hf_buf b = HF_BUF_INIT;

	for (size_t i = 0; i < c->n; i++)
		hf_buf_printf(&b, "%s\n", c->point[i].name);
	if (c->reached != NULL)
		put_file(c->reached, hf_buf_view(&b), O_APPEND);
	hf_buf_release(&b);
}

static bool
each_point(struct campaign *c)
{
	bool automatic = c->automatic;

	for (size_t i = 0; i < c->n; i++) {
		struct point *p = &c->point[i];

		c->automatic = automatic;
		fresh(c, false);
		act(c, p);
		if (!settles(c) || !goes_on(c)) {
			fprintf(stderr, "at %s#%d: %s, %s, %s (status %d); see "
			    "%s\n", p->name, p->nth, c->fault, c->scenario,
			    automatic ? "automatic" : "manual", c->status,
			    c->w.root);
			return false;
		}
	}
	return true;
}

int
main(int argc, char **argv)
{
	static struct campaign c;
	int o;

	c.prefix = "";
	while ((o = getopt(argc, argv, "c:p:r:x:")) != -1)
		if (o == 'c')
			c.call = optarg;
		else if (o == 'p')
			c.prefix = optarg;
		else if (o == 'x')
			c.without = optarg;
		else if (o == 'r')
			c.reached = optarg;
		else
			return 64;
	if (argc - optind != 5)
		die("campaign [-c CALL] [-p PREFIX | -x PREFIX] [-r FILE] DIR "
		    "AGENT KIND FAULT SCENARIO");
	argv += optind;
	c.agent = argv[1];
	c.automatic = is(argv[2], "automatic");
	c.fault = argv[3];
	c.scenario = argv[4];
	world_open(&c.w, argv[0]);
	fresh(&c, true);
	act(&c, NULL);
	read_points(&c);
	note_reached(&c);
	if (c.n == 0 && c.call == NULL && c.without == NULL)
		die("no point is reached");
	if (!each_point(&c))
		return 1;
	world_close(&c.w);
	hf_buf_release(&c.s.text);
	hf_buf_release(&c.enabled);
	rmdir(argv[0]);
	printf("%zu points\n", c.n);
	return 0;
}
