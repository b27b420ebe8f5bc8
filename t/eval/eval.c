/*
 * eval: how much of what was planted in made-up sessions is in the briefs
 * of five handoffs in a row, beside what would be there without a brief;
 * and how many lies in a model's brief are caught.
 */
#include "eval.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cmd.h"
#include "base/file.h"
#include "base/io.h"
#include "base/opt.h"
#include "base/proc.h"

enum { BUDGET = 4000, BASELINES = 3, USERS_MAX = 20000, ENV_MAX = 12 };

static const char *const baselines[BASELINES] = {
	"last 30 %", "user's words", "newest 20k" };

struct figures {
	struct ev_tally brief[EV_ROUNDS][EV_KINDS];
	struct ev_tally base[BASELINES][EV_ROUNDS][EV_KINDS];
	unsigned leaks;			/* secrets in any file of ours */
	size_t tokens[EV_ROUNDS], most[EV_ROUNDS], sessions[EV_ROUNDS];
	struct ev_tally lie[EV_LIES];
	unsigned items, moved;		/* true ones */
};

struct eval {
	struct ev_data data;
	struct figures sum;
	const char *bin;		/* the commands under test */
	char *work, *home, *state, *client;
	const char *envp[ENV_MAX];
	char *env[ENV_MAX];
	size_t nenv;
	bool verbose;
	struct hf_buf said;		/* what went wrong, for -v */
};

/* One session and its successors. */
struct chain {
	struct eval *ev;
	const struct ev_agent *agent;
	struct ev_plan plan;
	struct ev_file file;
	struct hf_buf base[BASELINES];	/* what a baseline holds by now */
};

/* ---- the commands ---- */

static void
set_env(struct eval *ev, const char *name, const char *value)
{
	struct hf_buf b = HF_BUF_INIT;

	hf_buf_printf(&b, "%s=%s", name, value);
	ev->env[ev->nenv] = hf_buf_steal(&b);
	ev->envp[ev->nenv] = ev->env[ev->nenv];
	ev->nenv++;
}

/* Runs a command of ours on a document (or a file); *out is its output. */
static int
command(struct eval *ev, const char *name, const char *arg,
    struct hf_str input, struct hf_buf *out, struct hf_err *err)
{
	char *path = hf_path_join(ev->bin, name);
	const char *const argv[] = { path, arg, NULL };
	struct hf_buf errors = HF_BUF_INIT;
	struct hf_proc p = { .argv = argv, .envp = ev->envp,
		.cwd = ev->home, .input = input, .out = out,
		.errout = &errors, .timeout_ms = 60000 };
	int status = 0, rc;

	hf_buf_clear(out);
	rc = hf_proc_run(&p, &status, err);
	if (rc == 0 && status != 0)
		rc = hf_err_set(err, HF_E_INTERNAL, "%s ended with %d: %.300s",
		    name, status, errors.len > 0 ? hf_buf_cstr(&errors) :
		    hf_buf_cstr(out));
	hf_buf_release(&errors);
	free(path);
	return rc;
}

/* ---- scoring a handoff ---- */

static void
count(struct ev_tally *to, const struct ev_tally *from)
{
	for (int k = 0; k < EV_KINDS; k++) {
		to[k].found += from[k].found;
		to[k].of += from[k].of;
	}
}

static void
say_misses(struct chain *c, struct hf_buf *miss)
{
	struct hf_str line, rest = hf_buf_view(miss);

	while (rest.n > 0) {
		line = hf_str_line(rest, &rest);
		hf_buf_printf(&c->ev->said, "%s ", c->agent->name);
		hf_buf_str(&c->ev->said, line);
		hf_buf_putc(&c->ev->said, '\n');
	}
}

static void
score_brief(struct chain *c, const struct hf_jval *doc)
{
	struct ev_tally t[EV_KINDS] = { { 0, 0 } };
	struct figures *sum = &c->ev->sum;
	int r = c->plan.round - 1;
	struct hf_buf miss = HF_BUF_INIT, md = HF_BUF_INIT;
	struct hf_brief b;
	size_t tokens;

	hf_brief_init(&b);
	if (hf_brief_from_json(&b, hf_json_get(doc, "brief"), NULL) == 0) {
		ev_score(&c->plan, &b, t, c->ev->verbose ? &miss : NULL);
		hf_brief_markdown(&md, &b);
	}
	count(sum->brief[r], t);
	tokens = ev_tokens(hf_buf_view(&md));
	sum->tokens[r] += tokens;
	sum->sessions[r]++;
	if (tokens > sum->most[r])
		sum->most[r] = tokens;
	say_misses(c, &miss);
	hf_brief_release(&b);
	hf_buf_release(&miss);
	hf_buf_release(&md);
}

/* No secret may be in what we hand on. */
static void
look_for_leaks(struct chain *c, struct hf_str text)
{
	for (size_t i = 0; i < c->plan.n; i++)
		if (c->plan.item[i].kind == EV_SECRET &&
		    hf_str_find(text, c->plan.item[i].key, 0) != SIZE_MAX)
			c->ev->sum.leaks++;
}

/* What the next session would begin with instead of a brief. */
static void
score_baselines(struct chain *c)
{
	struct hf_buf all = HF_BUF_INIT;
	struct hf_str text, users, kept[BASELINES];
	int r = c->plan.round - 1;

	for (int b = 0; b < BASELINES; b++) {
		hf_buf_clear(&all);
		hf_buf_str(&all, hf_buf_view(&c->base[b]));
		hf_buf_str(&all, b == 0 ? hf_buf_view(&c->plan.text) :
		    hf_buf_view(&c->plan.users));
		text = users = hf_buf_view(&all);
		if (b == 0)
			kept[b] = ev_tail(ev_tail(text,
			    ev_tokens(text) * 3 / 10), BUDGET);
		else if (b == 1)
			kept[b] = ev_head(users, BUDGET);
		else
			kept[b] = ev_tail(ev_tail(users, USERS_MAX), BUDGET);
		ev_score_text(&c->plan, kept[b], c->ev->sum.base[b][r]);
		hf_buf_clear(&c->base[b]);
		hf_buf_str(&c->base[b], kept[b]);
	}
	hf_buf_release(&all);
}

/* ---- lies ---- */

static void
doc_with(struct hf_buf *out, const struct hf_jval *metrics,
    const struct hf_brief *b)
{
	struct hf_jtree *t = hf_jtree_new();
	struct hf_jnode *d = hf_jtree_copy(t, metrics), *s = hf_jtree_obj(t);
	struct hf_buf text = HF_BUF_INIT;

	hf_jtree_write(&text, hf_brief_to_json(t, b), false);
	hf_jset_str(t, s, "text", hf_buf_view(&text));
	hf_jset_cstr(t, s, "provider", "command");
	hf_jset(t, d, "summary", s);
	hf_buf_clear(out);
	hf_jtree_write(out, d, false);
	hf_buf_putc(out, '\n');
	hf_buf_release(&text);
	hf_jtree_free(t);
}

static bool
holds(const struct hf_list *l, struct hf_str text)
{
	for (size_t i = 0; i < l->n; i++)
		if (hf_str_eq(l->item[i], text) || ev_in(l->item[i], text))
			return true;
	return false;
}

static bool
lost_named(const struct hf_jval *doc, struct hf_str rule)
{
	const struct hf_jval *v, *list;
	struct hf_jiter it;

	list = hf_json_at(doc, "validation.constraints.lost");
	hf_json_iter(&it, list);
	while ((v = hf_json_next(&it, NULL)) != NULL)
		if (ev_in(hf_json_str(v), rule))
			return true;
	return false;
}

static void
judge(struct chain *c, enum ev_lie l, const struct hf_brief *before,
    struct hf_str lie, enum hf_field field, const struct hf_jval *doc)
{
	struct figures *sum = &c->ev->sum;
	struct hf_buf which = HF_BUF_INIT;
	struct hf_brief after;
	bool caught = false;

	hf_brief_init(&after);
	if (hf_brief_from_json(&after, hf_json_get(doc, "brief"), NULL) < 0)
		goto out;
	if (l == EV_LIE_NONE) {
		for (size_t f = HF_GOAL + 1; f < HF_FIELDS; f++)
			sum->items += (unsigned)before->list[f].n;
		sum->moved += ev_moved(before, &after, HF_STR_NONE, &which);
	} else if (l == EV_LIE_DROPPED) {
		caught = lost_named(doc, lie) &&
		    holds(&after.list[field], lie);
	} else {
		caught = !holds(&after.list[field], lie);
	}
	sum->lie[l].of++;
	sum->lie[l].found += caught;
	if (l != EV_LIE_NONE && !caught) {
		hf_buf_printf(&which, "not caught, %s: ", ev_lie_name(l));
		hf_buf_str(&which, lie);
		hf_buf_putc(&which, '\n');
	}
	if (c->ev->verbose)
		say_misses(c, &which);
out:
	hf_brief_release(&after);
	hf_buf_release(&which);
}

static int
one_lie(struct chain *c, enum ev_lie l, const struct hf_jval *metrics,
    struct hf_err *err)
{
	struct hf_buf in = HF_BUF_INIT, out = HF_BUF_INIT;
	struct hf_json *j = NULL;
	struct hf_brief b;
	struct hf_str lie;
	enum hf_field field;
	int rc = 0;

	if (ev_lie_make(&c->plan, l, &b, &lie, &field)) {
		doc_with(&in, metrics, &b);
		rc = command(c->ev, "hf-validate", NULL, hf_buf_view(&in),
		    &out, err);
		if (rc == 0 && (j = hf_json_parse(hf_buf_view(&out), 0, NULL,
		    NULL, err)) == NULL)
			rc = -1;
		if (rc == 0)
			judge(c, l, &b, lie, field, hf_json_root(j));
	}
	hf_json_free(j);
	hf_brief_release(&b);
	hf_buf_release(&in);
	hf_buf_release(&out);
	return rc;
}

static int
lies(struct chain *c, struct hf_str metrics, struct hf_err *err)
{
	struct hf_json *j = hf_json_parse(metrics, 0, NULL, NULL, err);
	int rc = j == NULL ? -1 : 0;

	for (int l = 0; l < EV_LIES && rc == 0; l++)
		rc = one_lie(c, (enum ev_lie)l, hf_json_root(j), err);
	hf_json_free(j);
	return rc;
}

/* ---- a chain of handoffs ---- */

static void
emit(void *to, const struct ev_event *e)
{
	struct chain *c = to;

	c->agent->write(&c->file, c->ev->home, e);
}

/* What its client took in, which is kept. */
static char *
imported(struct chain *c, struct hf_str id)
{
	struct hf_buf b = HF_BUF_INIT;

	hf_buf_printf(&b, "%s/imports/%.*s.json", c->ev->state, (int)id.n,
	    id.s);
	return hf_buf_steal(&b);
}

static int
go_on(struct chain *c, const struct hf_jval *doc, struct hf_err *err)
{
	struct hf_str path = hf_json_str(hf_json_at(doc,
	    "commit.target.path"));
	struct hf_buf text = HF_BUF_INIT;
	struct hf_dir d = HF_DIR_INIT;
	char *name, *file, *dir;
	int rc;

	if (path.n == 0)
		return hf_err_set(err, HF_E_INTERNAL, "no successor");
	name = hf_strndup(path.s, path.n);
	file = c->file.client == NULL ? hf_strdup(name) :
	    imported(c, hf_json_str(hf_json_at(doc, "commit.target.id")));
	dir = hf_path_dir(file);
	rc = hf_dir_open(&d, dir, err);
	if (rc == 0 && (rc = hf_file_read(&d, hf_path_base(file), &text,
	    err)) > 0) {
		look_for_leaks(c, hf_buf_view(&text));
		rc = ev_file_resume(&c->file, c->agent, name, err);
	}
	hf_dir_close(&d);
	hf_buf_release(&text);
	free(name);
	free(file);
	free(dir);
	return rc;
}

/* hf-metrics FILE | hf-summarize | hf-validate | hf-commit */
static int
hand_off(struct chain *c, struct hf_err *err)
{
	static const char *const rest[] = { "hf-summarize", "hf-validate",
		"hf-commit" };
	struct hf_buf in = HF_BUF_INIT, out = HF_BUF_INIT, swap;
	struct hf_json *j = NULL;
	int rc = command(c->ev, "hf-metrics", c->file.path, HF_STR_NONE,
	    &in, err);

	if (rc == 0 && c->plan.round % 2 == 1)
		rc = lies(c, hf_buf_view(&in), err);
	for (size_t i = 0; i < 3 && rc == 0; i++) {
		rc = command(c->ev, rest[i], NULL, hf_buf_view(&in), &out,
		    err);
		swap = in;
		in = out;
		out = swap;
	}
	if (rc == 0 && (j = hf_json_parse(hf_buf_view(&in), 0, NULL, NULL,
	    err)) == NULL)
		rc = -1;
	if (rc == 0) {
		look_for_leaks(c, hf_buf_view(&in));
		score_brief(c, hf_json_root(j));
		score_baselines(c);
		rc = go_on(c, hf_json_root(j), err);
	}
	hf_json_free(j);
	hf_buf_release(&in);
	hf_buf_release(&out);
	return rc;
}

static int
run_chain(struct eval *ev, const struct ev_agent *agent, uint64_t seed,
    int rounds, struct hf_err *err)
{
	struct chain c;
	struct hf_dir d = HF_DIR_INIT;
	char *base = hf_path_join(ev->home, "work");
	int rc = 0;

	memset(&c, 0, sizeof(c));
	c.ev = ev;
	c.agent = agent;
	ev_plan_init(&c.plan, &ev->data, seed, base);
	c.plan.emit = emit;
	c.plan.to = &c;
	c.file.cwd = c.plan.world.cwd;
	c.file.branch = c.plan.world.branch;
	c.file.time = 1768467600000;
	c.file.client = agent->client ? ev->client : NULL;
	rc = hf_dir_make(&d, c.file.cwd.s, err);
	for (int r = 0; r < rounds && rc == 0; r++) {
		ev_plan_round(&c.plan);
		rc = ev_file_flush(&c.file, err);
		if (rc == 0)
			rc = hand_off(&c, err);
	}
	if (rc < 0)
		hf_err_prefix(err, "%s, seed %llu, round %d", agent->name,
		    (unsigned long long)seed, c.plan.round);
	for (int b = 0; b < BASELINES; b++)
		hf_buf_release(&c.base[b]);
	hf_dir_close(&d);
	ev_file_release(&c.file);
	ev_plan_release(&c.plan);
	free(base);
	return rc;
}

/* ---- the report ---- */

/* What a kind must reach: in round 1, in the last; -1 has no target. */
static const struct { int first, last; } targets[EV_KINDS] = {
	[EV_FILE] = { 1000, 1000 }, [EV_SHELL_FILE] = { 950, 900 },
	[EV_RULE] = { 950, 900 }, [EV_REQUEST] = { 1000, 1000 },
	[EV_TODO] = { 950, 950 }, [EV_FAILURE] = { 950, 950 },
	[EV_CHECK] = { 900, 900 }, [EV_DECISION] = { 800, 750 },
	[EV_ANSWER] = { 950, 900 }, [EV_STEP] = { 900, 900 },
	[EV_OLD] = { 0, 0 }, [EV_POISON] = { 0, 0 },
	[EV_SECRET] = { 0, 0 }, [EV_CHATTER] = { 50, 50 },
	[EV_DONE] = { 20, 20 }, [EV_FIXED] = { 20, 20 },
	[EV_NOISE] = { 20, 20 }, [EV_STALE] = { 20, 20 },
	[EV_GONE] = { 20, 20 }, [EV_SAID] = { 0, 0 },
};

struct verdict { unsigned reached, missed; };

static int
per_mille(struct ev_tally t)
{
	return t.of == 0 ? -1 : (int)(t.found * 1000ull / t.of);
}

static void
print(struct hf_buf *out, struct ev_tally t)
{
	int p = per_mille(t);

	if (p < 0)
		hf_buf_puts(out, "     -");
	else
		hf_buf_printf(out, " %d.%03d", p / 1000, p % 1000);
}

static bool
good_enough(int kind, int rounds, const struct figures *f)
{
	int least;

	for (int r = 0; r < rounds; r++) {
		least = r == 0 ? targets[kind].first : targets[kind].last;
		if (f->brief[r][kind].of == 0)
			continue;
		if (kind < EV_WANTED ?
		    f->brief[r][kind].found * 1000ull <
		    f->brief[r][kind].of * (unsigned)least :
		    f->brief[r][kind].found * 1000ull >
		    f->brief[r][kind].of * (unsigned)least)
			return false;
	}
	return true;
}

static void
kind_line(struct hf_buf *out, const struct figures *f, int k, int rounds,
    struct verdict *v)
{
	bool good = good_enough(k, rounds, f);

	hf_buf_printf(out, "%-22s", ev_kind_name((enum ev_kind)k));
	for (int r = 0; r < rounds; r++)
		print(out, f->brief[r][k]);
	for (int b = 0; b < BASELINES; b++) {
		hf_buf_puts(out, "  |");
		print(out, f->base[b][0][k]);
		print(out, f->base[b][rounds - 1][k]);
	}
	hf_buf_printf(out, "  %s\n", good ? "ok" : "MISSED");
	if (good)
		v->reached++;
	else
		v->missed++;
}

static void
sizes(struct hf_buf *out, const struct figures *f, int rounds,
    struct verdict *v)
{
	size_t most = 0;

	hf_buf_printf(out, "%-22s", "tokens, mean");
	for (int r = 0; r < rounds; r++)
		hf_buf_printf(out, " %5zu", f->sessions[r] == 0 ? 0 :
		    f->tokens[r] / f->sessions[r]);
	hf_buf_printf(out, "\n%-22s", "tokens, most");
	for (int r = 0; r < rounds; r++) {
		hf_buf_printf(out, " %5zu", f->most[r]);
		if (f->most[r] > most)
			most = f->most[r];
	}
	hf_buf_printf(out, "  %s\n", most <= BUDGET ? "ok" : "MISSED");
	if (most <= BUDGET)
		v->reached++;
	else
		v->missed++;
}

static void
verdict(struct hf_buf *out, struct verdict *v, bool good)
{
	hf_buf_printf(out, "  %s\n", good ? "ok" : "MISSED");
	if (good)
		v->reached++;
	else
		v->missed++;
}

static void
lie_lines(struct hf_buf *out, const struct figures *f, struct verdict *v)
{
	struct ev_tally all = { 0, 0 }, moved = { f->moved, f->items };

	hf_buf_printf(out, "\nlies in a model's brief    caught\n");
	for (int l = EV_LIE_NONE + 1; l < EV_LIES; l++) {
		hf_buf_printf(out, "%-28s", ev_lie_name((enum ev_lie)l));
		print(out, f->lie[l]);
		hf_buf_printf(out, "  of %u\n", f->lie[l].of);
		all.found += f->lie[l].found;
		all.of += f->lie[l].of;
	}
	hf_buf_printf(out, "%-28s", "all");
	print(out, all);
	verdict(out, v, per_mille(all) >= 970);
	hf_buf_printf(out, "%-28s", "true items moved");
	print(out, moved);
	hf_buf_printf(out, "  of %u", f->items);
	verdict(out, v, per_mille(moved) <= 20);
}

static int
report(const struct eval *ev, int rounds, size_t chains, struct hf_err *err)
{
	const struct figures *f = &ev->sum;
	struct hf_buf out = HF_BUF_INIT;
	struct verdict v = { 0, 0 };
	int rc;

	hf_buf_printf(&out, "%zu chains of %d handoffs without a model, "
	    "%d tokens\n\n%-22s", chains, rounds, BUDGET,
	    "should be there");
	for (int r = 1; r <= rounds; r++)
		hf_buf_printf(&out, "     %d", r);
	for (int b = 0; b < BASELINES; b++)
		hf_buf_printf(&out, "  | %-10s ", baselines[b]);
	hf_buf_putc(&out, '\n');
	for (int k = 0; k < EV_WANTED; k++)
		kind_line(&out, f, k, rounds, &v);
	hf_buf_puts(&out, "\nshould not\n");
	for (int k = EV_WANTED; k < EV_KINDS; k++)
		kind_line(&out, f, k, rounds, &v);
	hf_buf_printf(&out, "%-22s %5u", "secrets in any file", f->leaks);
	verdict(&out, &v, f->leaks == 0);
	sizes(&out, f, rounds, &v);
	lie_lines(&out, f, &v);
	hf_buf_printf(&out, "\n%u passed, %u failed\n", v.reached, v.missed);
	rc = hf_out(hf_buf_view(&ev->said), err);
	if (rc == 0)
		rc = hf_out(hf_buf_view(&out), err);
	hf_buf_release(&out);
	return rc < 0 ? -1 : v.missed > 0;
}

/* ---- the program ---- */

static int
prepare(struct eval *ev, const char *data, const char *bin,
    const char *work, struct hf_err *err)
{
	struct hf_buf path = HF_BUF_INIT;

	if (ev_data_load(&ev->data, data, err) < 0)
		return -1;
	ev->bin = bin;
	ev->home = hf_path_join(work, "home");
	ev->state = hf_path_join(work, "state");
	ev->client = hf_path_join(work, "bin/opencode");
	hf_buf_printf(&path, "%s/bin:/usr/local/bin:/usr/bin:/bin", work);
	set_env(ev, "HOME", ev->home);
	set_env(ev, "HANDOFF_HOME", ev->state);
	set_env(ev, "PATH", hf_buf_cstr(&path));
	set_env(ev, "LC_ALL", "C");
	set_env(ev, "TZ", "UTC");
	set_env(ev, "DEPLOY_TOKEN", EV_TOKEN);
	ev->envp[ev->nenv] = NULL;
	hf_buf_release(&path);
	return 0;
}

static int
run(int argc, char **argv, struct hf_err *err)
{
	static struct eval ev;
	int64_t seeds = 4, first = 1, rounds = EV_ROUNDS;
	const char *only = NULL, *half = NULL;
	const struct hf_opt opts[] = {
		{ 'n', "seeds", "N", "chains of each agent", HF_OPT_INT,
		    &seeds, 1, 100000 },
		{ 's', "seed", "N", "the first seed", HF_OPT_INT, &first, 1,
		    INT32_MAX },
		{ 'r', "rounds", "N", "handoffs of a chain", HF_OPT_INT,
		    &rounds, 1, EV_ROUNDS },
		{ 'a', "agent", "NAME", "only this one", HF_OPT_STR, &only,
		    0, 0 },
		{ 'H', "half", "even|odd", "with half of the sentences",
		    HF_OPT_STR, &half, 0, 0 },
		{ 'v', "verbose", NULL, "name each thing that is wrong",
		    HF_OPT_FLAG, &ev.verbose, 0, 0 },
		{ 0, NULL, NULL, NULL, HF_OPT_FLAG, NULL, 0, 0 } };
	const struct hf_opt_usage usage = { "eval", "DATA BIN WORK",
		"what is left of a session after five handoffs", opts };
	size_t chains = 0;
	int n, rc;

	if ((rc = hf_opt_parse(&usage, argc, argv, &n, err)) != 0)
		return rc < 0 ? -1 : 0;
	if (n != 3)
		return hf_err_set(err, HF_E_USAGE, "three folders are needed");
	rc = prepare(&ev, argv[1], argv[2], argv[3], err);
	if (rc == 0 && half != NULL)
		ev_data_half(&ev.data, strcmp(half, "odd") == 0);
	for (size_t a = 0; a < ev_nagents && rc == 0; a++) {
		if (only != NULL && strcmp(only, ev_agents[a].name) != 0)
			continue;
		for (int64_t s = 0; s < seeds && rc == 0; s++, chains++)
			rc = run_chain(&ev, &ev_agents[a], (uint64_t)(first +
			    s) * 16 + a, (int)rounds, err);
	}
	if (rc == 0)
		rc = report(&ev, (int)rounds, chains, err);
	ev_data_release(&ev.data);
	hf_buf_release(&ev.said);
	while (ev.nenv > 0)
		free(ev.env[--ev.nenv]);
	free(ev.home);
	free(ev.state);
	free(ev.client);
	return rc;
}

int
main(int argc, char **argv)
{
	return hf_cmd_main("eval", run, argc, argv);
}
