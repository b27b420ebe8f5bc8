#include "brief/extract.h"

#include <stdlib.h>
#include <string.h>

#include "brief/carry.h"
#include "brief/cues.h"
#include "brief/own.h"

enum { GOAL_MAX = 1500, ITEM_MAX = 400, COMMAND_MAX = 300, READ_MAX = 12,
	CHECKS_MAX = 12, FAILURES_MAX = 10, OTHERS_MAX = 4, STEPS_MAX = 8,
	GO_ON_MAX = 2, ONE_BY_ONE = 40, GATHERED = 24, BUDGET = 4000 };

struct maker {
	const struct hf_facts *f;
	struct hf_brief *b;
	struct hf_rules rules;
	struct hf_proof proof;
	struct hf_buf text;		/* scratch for one item */
	/* files written, newest first; other artifacts of the seed */
	struct hf_list files, others;
	size_t left[HF_FIELDS];		/* items left out for size */
};

/* At most max bytes of t, ended at a word, "…" behind. */
static void
clip(struct hf_buf *out, struct hf_str t, size_t max)
{
	size_t n;

	t = hf_str_trim(t);
	if (t.n <= max) {
		hf_buf_str(out, t);
		return;
	}
	n = hf_utf8_cut(t, max);
	while (n > max / 2 && t.s[n - 1] != ' ' && t.s[n - 1] != '\n')
		n--;
	if (n <= max / 2)
		n = hf_utf8_cut(t, max);
	hf_buf_str(out, hf_str_trim(hf_strn(t.s, n)));
	hf_buf_puts(out, " \xe2\x80\xa6");
}

/* One line of t, blanks for its line ends. */
static void
line(struct hf_buf *out, struct hf_str t, size_t max)
{
	struct hf_buf flat = HF_BUF_INIT;
	size_t i;

	t = hf_str_trim(t);
	for (i = 0; i < t.n; i++)
		hf_buf_putc(&flat, t.s[i] == '\n' || t.s[i] == '\r' ||
		    t.s[i] == '\t' ? ' ' : t.s[i]);
	clip(out, hf_buf_view(&flat), max);
	hf_buf_release(&flat);
}

static void
add(struct maker *m, enum hf_field f)
{
	hf_brief_add(m->b, f, hf_buf_view(&m->text));
	hf_buf_clear(&m->text);
}

static void
add_clipped(struct maker *m, enum hf_field f, const char *prefix,
    struct hf_str t)
{
	hf_buf_puts(&m->text, prefix);
	clip(&m->text, t, ITEM_MAX);
	add(m, f);
}

/* ---- goal ---- */

static void
request(struct maker *m, const char *prefix, struct hf_str text, size_t max)
{
	if (m->text.len > 0)
		hf_buf_putc(&m->text, '\n');
	hf_buf_puts(&m->text, prefix);
	hf_own_words(&m->text, &m->rules, text, max);
}

/* What the requests of this session continue. */
static void
base(struct maker *m, const struct hf_told *t)
{
	const struct hf_fact_text *r, *until = t->n > 0 ? t->r[t->n - 1] :
	    m->f->request;
	struct hf_str seed = m->rules.seed.goal;

	for (r = m->f->request; r < until; r++)
		if (hf_own_lean(r->text) == HF_OWN_STANDS &&
		    !hf_cues_continues(r->text)) {
			request(m, "", r->text, GOAL_MAX / 3);
			return;
		}
	/* Where none does, the one that all began with. */
	if (seed.n == 0 && m->f->request < until) {
		request(m, "", m->f->request->text, GOAL_MAX / 3);
		return;
	}
	clip(&m->text, hf_carry_goal(seed), GOAL_MAX / 3);
	if (!t->stands && hf_carry_latest(seed).n > 0) {
		hf_buf_puts(&m->text, "\n" HF_SAYS_BEFORE);
		clip(&m->text, hf_carry_latest(seed), GOAL_MAX / 3);
	}
}

static void
goal(struct maker *m)
{
	static const char nothing[] = "Continue the session: it holds no "
	    "request of its user";
	struct hf_told t;
	size_t i;

	hf_own_told(&t, m->f);
	if (t.n == 0) {
		hf_brief_goal(m->b, m->rules.seed.goal.n > 0 ?
		    m->rules.seed.goal : hf_str(nothing));
		return;
	}
	if (!t.stands || hf_cues_continues(t.r[t.n - 1]->text))
		base(m, &t);
	for (i = t.n; i-- > 1;)
		request(m, m->text.len > 0 ? HF_SAYS_BEFORE : "",
		    t.r[i]->text, GOAL_MAX / 3);
	request(m, m->text.len > 0 ? HF_SAYS_LATEST : "", t.r[0]->text,
	    m->text.len > 0 ? GOAL_MAX / 2 : GOAL_MAX);
	hf_brief_goal(m->b, hf_buf_view(&m->text));
	hf_buf_clear(&m->text);
}

/* ---- what the user said ---- */

static void
rules(struct maker *m)
{
	size_t i;

	for (i = 0; i < m->rules.n; i++)
		if (hf_rule_holds(&m->rules.rule[i]) &&
		    m->rules.rule[i].rule)
			hf_brief_add(m->b, HF_CONSTRAINTS,
			    m->rules.rule[i].text);
}

/* Of this session, or of those before it. */
static void
decisions(struct maker *m, bool seed)
{
	const struct hf_rule *r;
	size_t i;

	for (i = 0; i < m->rules.n; i++) {
		r = &m->rules.rule[i];
		if (hf_rule_holds(r) && r->decision && !r->rule &&
		    (r->at == 0) == seed)
			hf_brief_add(m->b, HF_DECISIONS, r->text);
	}
}

static const char arrow[] = " \xe2\x86\x92 ";

static void
answers(struct maker *m)
{
	const struct hf_fact_answer *a;
	size_t i;

	for (i = m->f->nanswers; i-- > 0;) {
		a = &m->f->answer[i];
		line(&m->text, a->question, ITEM_MAX / 2);
		hf_buf_puts(&m->text, arrow);
		line(&m->text, a->answer, ITEM_MAX);
		add(m, HF_DECISIONS);
	}
}

/* ---- files ---- */

static int
newest_first(const void *a, const void *b)
{
	const struct hf_fact_file *x = *(const struct hf_fact_file *const *)a;
	const struct hf_fact_file *y = *(const struct hf_fact_file *const *)b;

	return x->last_seen != y->last_seen ?
	    (x->last_seen < y->last_seen ? 1 : -1) : x < y ? -1 : x > y;
}

static void
push(struct maker *m, struct hf_list *l, struct hf_str t)
{
	struct hf_str *grown;

	if (l->n == l->cap) {
		l->cap = l->cap == 0 ? 64 : l->cap * 2;
		grown = hf_arena_alloc(&m->b->arena,
		    l->cap * sizeof(*grown));
		if (l->n > 0)
			memcpy(grown, l->item, l->n * sizeof(*grown));
		l->item = grown;
	}
	l->item[l->n++] = hf_strn(hf_arena_copy(&m->b->arena, t.s, t.n), t.n);
}

static void
carried_file(struct hf_str path, void *arg)
{
	struct maker *m = arg;

	push(m, &m->files, path);
}

static void
carried_other(struct hf_str item, void *arg)
{
	struct maker *m = arg;

	push(m, &m->others, item);
}

/* Files beyond the first whole: several in a line, below the session's
 * folder. */
static void
gather(struct maker *m, size_t whole)
{
	struct hf_str cwd = m->f->cwd, path;
	size_t i, n = 0;

	for (i = whole; i < m->files.n; i++) {
		path = m->files.item[i];
		if (cwd.n < 2 || path.n <= cwd.n + 1 ||
		    memcmp(path.s, cwd.s, cwd.n) != 0 ||
		    path.s[cwd.n] != '/' ||
		    hf_str_find(path, HF_STR(", "), 0) != SIZE_MAX) {
			hf_brief_add(m->b, HF_ARTIFACTS, path);
			continue;
		}
		if (n == 0) {
			hf_buf_puts(&m->text, "In ");
			hf_buf_str(&m->text, cwd);
		}
		hf_buf_puts(&m->text, n++ == 0 ? ": " : ", ");
		hf_buf_str(&m->text, hf_strn(path.s + cwd.n + 1,
		    path.n - cwd.n - 1));
		if (n == GATHERED) {
			add(m, HF_ARTIFACTS);
			n = 0;
		}
	}
	if (n > 0)
		add(m, HF_ARTIFACTS);
}

static void
workspace(struct maker *m)
{
	if (m->f->cwd.n == 0)
		return;
	hf_buf_puts(&m->text, HF_SAYS_WORKSPACE);
	hf_buf_str(&m->text, m->f->cwd);
	if (m->f->branch.n > 0) {
		hf_buf_puts(&m->text, ", branch ");
		hf_buf_str(&m->text, m->f->branch);
	}
	add(m, HF_ARTIFACTS);
}

static void
marked(struct maker *m, struct hf_str path, const char *behind)
{
	hf_buf_str(&m->text, path);
	hf_buf_puts(&m->text, behind);
	add(m, HF_ARTIFACTS);
}

/* Those that were read or are gone, newest first. */
static void
lesser_files(struct maker *m, const struct hf_fact_file *const *file)
{
	size_t i, reads = 0, gone = 0;

	for (i = 0; i < m->f->nfiles; i++)
		if (file[i]->deleted && gone++ < READ_MAX)
			marked(m, file[i]->path, HF_SAYS_DELETED);
	for (i = 0; i < m->f->nfiles; i++)
		if (!file[i]->written && reads++ < READ_MAX)
			marked(m, file[i]->path, HF_SAYS_READ);
}

/* whole: files that have an item of their own; lesser: others too. */
static void
artifacts(struct maker *m, size_t whole, bool lesser)
{
	const struct hf_fact_file **file;
	size_t i;

	m->b->list[HF_ARTIFACTS].n = 0;
	m->files.n = m->others.n = 0;
	file = hf_calloc(m->f->nfiles + 1, sizeof(*file));
	for (i = 0; i < m->f->nfiles; i++)
		file[i] = &m->f->file[i];
	qsort(file, m->f->nfiles, sizeof(*file), newest_first);
	for (i = 0; i < m->f->nfiles; i++)
		if (file[i]->written && !file[i]->deleted)
			push(m, &m->files, file[i]->path);
	hf_carry_files(&m->proof, carried_file, carried_other, m);
	for (i = 0; i < m->files.n && i < whole; i++)
		hf_brief_add(m->b, HF_ARTIFACTS, m->files.item[i]);
	gather(m, i);
	for (i = 0; i < m->others.n && lesser; i++)
		hf_brief_add(m->b, HF_ARTIFACTS, m->others.item[i]);
	if (lesser)
		lesser_files(m, file);
	workspace(m);
	free(file);
}

/* ---- commands ---- */

static void
command(struct maker *m, const struct hf_fact_command *c)
{
	hf_buf_putc(&m->text, '`');
	line(&m->text, c->text, COMMAND_MAX);
	hf_buf_puts(&m->text, c->failed ? "` failed" : "` succeeded");
	if (c->exit != HF_EXIT_UNKNOWN && (c->exit != 0) == c->failed)
		hf_buf_printf(&m->text, " with exit status %d", c->exit);
	if (c->output.n > 0) {
		hf_buf_puts(&m->text, ": ");
		line(&m->text, c->output, ITEM_MAX / 2);
	}
	add(m, c->failed ? HF_PENDING : HF_VERIFIED);
}

static void
commands(struct maker *m)
{
	const struct hf_facts *f = m->f;
	size_t i, passed = 0, failed = 0, others = 0;
	bool checks;

	for (i = f->ncommands; i-- > 0;) {
		if (!f->command[i].done || f->command[i].nchecks == 0 ||
		    hf_proof_ran_again(&m->proof, i))
			continue;
		checks = hf_proof_checks(&m->proof, i);
		if (!f->command[i].failed) {
			if (checks && passed < CHECKS_MAX &&
			    hf_proof_holds(&m->proof, i)) {
				command(m, &f->command[i]);
				passed++;
			}
		} else if (hf_proof_overcome(&m->proof, i)) {
			continue;
		} else if (checks ? failed++ < FAILURES_MAX :
		    others++ < OTHERS_MAX) {
			command(m, &f->command[i]);
		}
	}
}

/* ---- what is open ---- */

static void
todos(struct maker *m)
{
	const struct hf_fact_todo *t;
	size_t i;

	for (i = 0; i < m->f->ntodos; i++) {
		t = &m->f->todo[i];
		if (!hf_carry_todo_open(t))
			continue;
		line(&m->text, t->text, ITEM_MAX);
		hf_buf_puts(&m->text, strcmp(t->status, "in_progress") == 0 ?
		    HF_SAYS_PROGRESS : HF_SAYS_NOT_BEGUN);
		add(m, HF_PENDING);
	}
}

static void
unanswered(struct maker *m)
{
	const struct hf_facts *f = m->f;
	const struct hf_fact_text *last;

	if (f->nrequests == 0)
		return;
	last = &f->request[f->nrequests - 1];
	if (last->at <= f->said.at || hf_cues_filler(last->text))
		return;
	request(m, HF_SAYS_UNANSWERED, last->text, ITEM_MAX);
	add(m, HF_PENDING);
}

static bool
list_item(struct hf_str t, struct hf_str *item)
{
	size_t i = 0;

	if (t.n > 2 && (t.s[0] == '-' || t.s[0] == '*') && t.s[1] == ' ') {
		*item = hf_str_trim(hf_strn(t.s + 2, t.n - 2));
		return item->n > 0;
	}
	while (i < t.n && i < 3 && t.s[i] >= '0' && t.s[i] <= '9')
		i++;
	if (i == 0 || i + 1 >= t.n || (t.s[i] != '.' && t.s[i] != ')') ||
	    t.s[i + 1] != ' ')
		return false;
	*item = hf_str_trim(hf_strn(t.s + i + 2, t.n - i - 2));
	return item->n > 0;
}

/* List items behind a line that announces next steps, in the last answer,
 * and a sentence that begins with "Next". */
static void
stated_steps(struct maker *m)
{
	struct hf_str here, item, rest = m->f->said.text;
	bool listing = false;
	size_t n = 0;

	while (rest.n > 0 && n < STEPS_MAX) {
		here = hf_str_trim(hf_str_line(rest, &rest));
		if (here.n == 0)
			continue;
		if (listing && list_item(here, &item)) {
			add_clipped(m, HF_NEXT_STEPS, "", item);
			n++;
			continue;
		}
		listing = hf_cues_next(here);
		if (listing && here.n > 12 && hf_str_ends(here, ".")) {
			add_clipped(m, HF_NEXT_STEPS, "", here);
			n++;
		}
	}
}

static void
next_steps(struct maker *m, struct hf_str focus)
{
	const struct hf_fact_todo *t;
	size_t i, n = 0;

	if (focus.n > 0)
		add_clipped(m, HF_NEXT_STEPS, "First: ", focus);
	for (i = 0; i < m->f->ntodos && n < GO_ON_MAX; i++) {
		t = &m->f->todo[i];
		if (hf_carry_todo_open(t)) {
			add_clipped(m, HF_NEXT_STEPS, HF_SAYS_GO_ON,
			    t->text);
			n++;
		}
	}
	stated_steps(m);
}

/* When nobody named a step. */
static void
last_resort(struct maker *m)
{
	struct hf_told t;

	hf_own_told(&t, m->f);
	if (m->b->list[HF_NEXT_STEPS].n > 0 || t.n == 0)
		return;
	request(m, HF_SAYS_FINISH, t.r[t.n - 1]->text, ITEM_MAX);
	add(m, HF_NEXT_STEPS);
}

static void
uncertainties(struct maker *m)
{
	const struct hf_facts *f = m->f;

	hf_brief_add(m->b, HF_UNCERTAINTIES, HF_STR(HF_SAYS_NO_MODEL
	    ": it holds what the transcript proves; reasons and half-said "
	    "intentions may be missing"));
	if (f->compactions > 0) {
		hf_buf_printf(&m->text, "The session was compacted %zu "
		    "time%s; its model no longer saw what came before",
		    f->compactions, f->compactions == 1 ? "" : "s");
		add(m, HF_UNCERTAINTIES);
	}
	if (f->interruptions > 0) {
		hf_buf_printf(&m->text, "The user interrupted %zu turn%s; "
		    "their work may be half done", f->interruptions,
		    f->interruptions == 1 ? "" : "s");
		add(m, HF_UNCERTAINTIES);
	}
	if (f->open_tool.n > 0) {
		hf_buf_puts(&m->text, "A call of ");
		hf_buf_str(&m->text, f->open_tool);
		hf_buf_puts(&m->text, " has no result; whether it took "
		    "effect is unknown");
		add(m, HF_UNCERTAINTIES);
	}
	if (f->last_write > 0 && m->b->list[HF_VERIFIED].n == 0)
		hf_brief_add(m->b, HF_UNCERTAINTIES, HF_STR("Nothing was "
		    "checked by a command after the last edit"));
}

/* ---- size ---- */

/* Leaves the first keep items of a field, if it is too long at all. */
static void
shorten(struct maker *m, enum hf_field f, size_t keep, size_t budget)
{
	struct hf_list *l = &m->b->list[f];

	while (l->n > keep && hf_brief_tokens(m->b) > budget) {
		l->n--;
		m->left[f]++;
	}
}

/* Long items first of all. */
static void
clip_items(struct maker *m, size_t max)
{
	struct hf_list *l;
	size_t f, i;

	for (f = HF_GOAL + 1; f < HF_FIELDS; f++) {
		l = &m->b->list[f];
		for (i = 0; i < l->n && f != HF_ARTIFACTS; i++) {
			if (l->item[i].n <= max)
				continue;
			clip(&m->text, l->item[i], max);
			l->item[i] = hf_strn(hf_arena_copy(&m->b->arena,
			    m->text.data, m->text.len), m->text.len);
			hf_buf_clear(&m->text);
		}
	}
}

static void
say_left_out(struct maker *m)
{
	size_t f, n = 0;

	for (f = HF_GOAL + 1; f < HF_FIELDS; f++) {
		if (m->left[f] == 0 || f == HF_UNCERTAINTIES)
			continue;
		hf_buf_printf(&m->text, "%s%zu of the %s",
		    n++ == 0 ? "Left out for size, the oldest ones: " : ", ",
		    m->left[f], hf_field_name((enum hf_field)f));
	}
	if (n > 0)
		add(m, HF_UNCERTAINTIES);
}

/* The user's rules and the files that were written go last. */
static void
fit(struct maker *m, size_t budget)
{
	static const struct { enum hf_field f; size_t keep; } ladder[] = {
		{ HF_UNCERTAINTIES, 6 }, { HF_NEXT_STEPS, 5 },
		{ HF_VERIFIED, 6 }, { HF_DECISIONS, 24 },
		{ HF_PENDING, 24 }, { HF_DECISIONS, 12 },
		{ HF_VERIFIED, 3 }, { HF_NEXT_STEPS, 2 },
		{ HF_CONSTRAINTS, 60 }, { HF_PENDING, 12 },
		{ HF_DECISIONS, 4 }, { HF_CONSTRAINTS, 40 },
		{ HF_PENDING, 6 }, { HF_CONSTRAINTS, 24 },
		{ HF_UNCERTAINTIES, 2 }, { HF_ARTIFACTS, 8 },
		{ HF_CONSTRAINTS, 8 }, { HF_ARTIFACTS, 1 } };
	size_t i;

	if (hf_brief_tokens(m->b) > budget)
		artifacts(m, ONE_BY_ONE / 3, true);
	if (hf_brief_tokens(m->b) > budget)
		artifacts(m, 0, false);
	if (hf_brief_tokens(m->b) > budget)
		clip_items(m, ITEM_MAX / 2);
	/* What it takes to say so. */
	budget -= budget > 400 ? 40 : budget / 10;
	for (i = 0; i < sizeof(ladder) / sizeof(ladder[0]); i++)
		shorten(m, ladder[i].f, ladder[i].keep, budget);
	say_left_out(m);
}

int
hf_extract(const struct hf_facts *f, const struct hf_extract *how,
    struct hf_brief *out, struct hf_err *err)
{
	struct maker m = { .f = f, .b = out };

	if (f->nrequests == 0 && f->said.text.n == 0 && f->seed.text.n == 0)
		return hf_err_set(err, HF_E_EMPTY,
		    "the session holds no messages");
	hf_brief_init(out);
	hf_rules_read(&m.rules, f, how->seeded);
	hf_proof_init(&m.proof, f, how->seeded ? &m.rules.seed : NULL);
	goal(&m);
	rules(&m);
	decisions(&m, false);
	answers(&m);
	decisions(&m, true);
	artifacts(&m, ONE_BY_ONE, true);
	commands(&m);
	todos(&m);
	unanswered(&m);
	next_steps(&m, how->focus);
	hf_carry(out, &m.proof);
	last_resort(&m);
	uncertainties(&m);
	fit(&m, how->budget > 0 ? (size_t)how->budget : BUDGET);
	hf_proof_release(&m.proof);
	hf_rules_release(&m.rules);
	hf_buf_release(&m.text);
	return 0;
}
