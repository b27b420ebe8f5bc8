#include "brief/extract.h"

#include <stdlib.h>
#include <string.h>

#include "brief/cues.h"
#include "brief/rules.h"

enum { GOAL_MAX = 1500, ITEM_MAX = 400, RULES_MAX = 80, DECISIONS_MAX = 40,
	READ_MAX = 12, CHECKS_MAX = 12, FAILURES_MAX = 8, STEPS_MAX = 10,
	BUDGET = 4000, CHARS_PER_TOKEN = 4 };

struct maker {
	const struct hf_facts *f;
	struct hf_brief *b;
	struct hf_rules rules;
	struct hf_buf text;		/* scratch for one item */
};

/* At most max bytes of t, ended at a sentence or a word, "…" behind. */
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

/* Takes what an earlier brief says in a field over, behind what is new. */
static void
carry(struct maker *m, enum hf_field f, size_t max)
{
	const struct hf_list *l = &m->rules.seed.list[f];
	size_t i;

	for (i = 0; i < l->n && m->b->list[f].n < max; i++)
		hf_brief_add(m->b, f, l->item[i]);
}

/* ---- goal ---- */

static const struct hf_fact_text *
latest_request(const struct hf_facts *f)
{
	size_t i;

	for (i = f->nrequests; i-- > 0;)
		if (!hf_cues_filler(f->request[i].text))
			return &f->request[i];
	return f->nrequests > 0 ? &f->request[f->nrequests - 1] : NULL;
}

/* What the latest request continues: the goal of the brief that the session
 * began with, else the first request that stands by itself. */
static struct hf_str
base_request(const struct maker *m, const struct hf_fact_text *latest)
{
	const struct hf_fact_text *r;

	if (m->rules.seed.goal.n > 0)
		return m->rules.seed.goal;
	for (r = m->f->request; r < latest; r++)
		if (!hf_cues_filler(r->text) && !hf_cues_continues(r->text))
			return r->text;
	return HF_STR_NONE;
}

static void
goal(struct maker *m)
{
	const struct hf_fact_text *r = latest_request(m->f);
	struct hf_str base;

	base = m->rules.seed.goal;
	if (r == NULL || (hf_cues_filler(r->text) && base.n > 0)) {
		hf_brief_goal(m->b, base.n > 0 ? base :
		    HF_STR("Continue the session: it holds no request of "
		    "its user"));
		return;
	}
	base = hf_cues_continues(r->text) || hf_cues_filler(r->text) ?
	    base_request(m, r) : HF_STR_NONE;
	if (base.n > 0) {
		clip(&m->text, base, GOAL_MAX / 2);
		hf_buf_puts(&m->text, "\nLatest request: ");
		clip(&m->text, r->text, GOAL_MAX / 2);
	} else {
		clip(&m->text, r->text, GOAL_MAX);
	}
	hf_brief_goal(m->b, hf_buf_view(&m->text));
	hf_buf_clear(&m->text);
}

/* ---- what the user said ---- */

static void
rules(struct maker *m)
{
	size_t i;

	for (i = 0; i < m->rules.n; i++)
		if (!m->rules.rule[i].superseded &&
		    m->b->list[HF_CONSTRAINTS].n < RULES_MAX)
			hf_brief_add(m->b, HF_CONSTRAINTS,
			    m->rules.rule[i].text);
}

/* Sentences that choose or correct, newest first. */
static void
decisions(struct maker *m)
{
	struct hf_str sentence, rest;
	size_t i;

	for (i = m->f->nrequests; i-- > 0;) {
		rest = m->f->request[i].text;
		while ((sentence = hf_cues_sentence(&rest)).n > 0)
			if (!hf_cues_rule(sentence) &&
			    hf_cues_decision(sentence) &&
			    m->b->list[HF_DECISIONS].n < DECISIONS_MAX)
				hf_brief_add(m->b, HF_DECISIONS, sentence);
	}
}

static void
answers(struct maker *m)
{
	const struct hf_fact_answer *a;
	size_t i;

	for (i = m->f->nanswers; i-- > 0;) {
		a = &m->f->answer[i];
		clip(&m->text, a->question, ITEM_MAX / 2);
		hf_buf_puts(&m->text, " \xe2\x86\x92 ");
		clip(&m->text, a->answer, ITEM_MAX);
		add(m, HF_DECISIONS);
	}
	carry(m, HF_DECISIONS, DECISIONS_MAX);
}

/* ---- files and commands ---- */

static int
newest_first(const void *a, const void *b)
{
	const struct hf_fact_file *x = *(const struct hf_fact_file *const *)a;
	const struct hf_fact_file *y = *(const struct hf_fact_file *const *)b;

	return x->last_seen != y->last_seen ?
	    (x->last_seen < y->last_seen ? 1 : -1) : x < y ? -1 : x > y;
}

static void
file_item(struct maker *m, const struct hf_fact_file *file,
    const char *behind)
{
	hf_buf_str(&m->text, file->path);
	hf_buf_puts(&m->text, behind);
	add(m, HF_ARTIFACTS);
}

static void
workspace(struct maker *m)
{
	if (m->f->cwd.n == 0)
		return;
	hf_buf_puts(&m->text, "workspace ");
	hf_buf_str(&m->text, m->f->cwd);
	if (m->f->branch.n > 0) {
		hf_buf_puts(&m->text, ", branch ");
		hf_buf_str(&m->text, m->f->branch);
	}
	add(m, HF_ARTIFACTS);
}

/* Files written, what an earlier brief had, files read, the workspace. */
static void
artifacts(struct maker *m)
{
	const struct hf_facts *f = m->f;
	const struct hf_fact_file **file;
	size_t i, n = 0;

	file = hf_calloc(f->nfiles + 1, sizeof(*file));
	for (i = 0; i < f->nfiles; i++)
		file[i] = &f->file[i];
	qsort(file, f->nfiles, sizeof(*file), newest_first);
	for (i = 0; i < f->nfiles; i++)
		if (file[i]->written)
			file_item(m, file[i], file[i]->deleted ?
			    " (deleted)" : "");
	carry(m, HF_ARTIFACTS, HF_BRIEF_ITEMS);
	for (i = 0; i < f->nfiles && n < READ_MAX; i++)
		if (!file[i]->written) {
			file_item(m, file[i], " (read)");
			n++;
		}
	workspace(m);
	free(file);
}

/* Did the same command run again, later? */
static bool
ran_again(const struct hf_facts *f, size_t i)
{
	size_t k;

	for (k = i + 1; k < f->ncommands; k++)
		if (f->command[k].done &&
		    hf_str_eq(f->command[k].text, f->command[i].text))
			return true;
	return false;
}

static void
command(struct maker *m, const struct hf_fact_command *c)
{
	hf_buf_putc(&m->text, '`');
	clip(&m->text, c->text, ITEM_MAX / 2);
	hf_buf_puts(&m->text, c->failed ? "` failed" : "` succeeded");
	if (c->exit != HF_EXIT_UNKNOWN)
		hf_buf_printf(&m->text, " with exit status %d", c->exit);
	if (c->output.n > 0) {
		hf_buf_puts(&m->text, ": ");
		clip(&m->text, c->output, ITEM_MAX / 2);
	}
	add(m, c->failed ? HF_PENDING : HF_VERIFIED);
}

static void
commands(struct maker *m)
{
	const struct hf_facts *f = m->f;
	const struct hf_fact_command *c;
	size_t i, passed = 0, failed = 0;

	for (i = f->ncommands; i-- > 0 &&
	    (passed < CHECKS_MAX || failed < FAILURES_MAX);) {
		c = &f->command[i];
		if (!c->done || ran_again(f, i))
			continue;
		if (c->failed && failed < FAILURES_MAX) {
			command(m, c);
			failed++;
		} else if (!c->failed && c->at > f->last_write &&
		    passed < CHECKS_MAX && hf_cues_check(c->text)) {
			command(m, c);
			passed++;
		}
	}
}

/* ---- what is open ---- */

static bool
open_todo(const struct hf_fact_todo *t)
{
	return strcmp(t->status, "completed") != 0 &&
	    strcmp(t->status, "done") != 0 &&
	    strcmp(t->status, "cancelled") != 0 &&
	    strcmp(t->status, "canceled") != 0 &&
	    strcmp(t->status, "deleted") != 0 &&
	    strcmp(t->status, "abandoned") != 0;
}

static void
todos(struct maker *m)
{
	const struct hf_fact_todo *t;
	size_t i;

	for (i = 0; i < m->f->ntodos; i++) {
		t = &m->f->todo[i];
		if (!open_todo(t))
			continue;
		clip(&m->text, t->text, ITEM_MAX);
		hf_buf_puts(&m->text, strcmp(t->status, "in_progress") == 0 ?
		    " (to-do, in progress)" : " (to-do, not begun)");
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
	if (last->at > f->said.at && !hf_cues_filler(last->text))
		add_clipped(m, HF_PENDING, "The last request has no answer "
		    "yet: ", last->text);
}

static bool
list_item(struct hf_str line, struct hf_str *item)
{
	size_t i = 0;

	if (line.n > 2 && (line.s[0] == '-' || line.s[0] == '*') &&
	    line.s[1] == ' ') {
		*item = hf_str_trim(hf_strn(line.s + 2, line.n - 2));
		return item->n > 0;
	}
	while (i < line.n && i < 3 && line.s[i] >= '0' && line.s[i] <= '9')
		i++;
	if (i == 0 || i + 1 >= line.n || (line.s[i] != '.' &&
	    line.s[i] != ')') || line.s[i + 1] != ' ')
		return false;
	*item = hf_str_trim(hf_strn(line.s + i + 2, line.n - i - 2));
	return item->n > 0;
}

/* List items behind a line that announces next steps, in the last answer,
 * and a sentence that begins with "Next". */
static void
stated_steps(struct maker *m)
{
	struct hf_str line, item, rest = m->f->said.text;
	bool listing = false;
	size_t n = 0;

	while (rest.n > 0 && n < STEPS_MAX) {
		line = hf_str_trim(hf_str_line(rest, &rest));
		if (line.n == 0)
			continue;
		if (listing && list_item(line, &item)) {
			add_clipped(m, HF_NEXT_STEPS, "", item);
			n++;
			continue;
		}
		listing = hf_cues_next(line);
		if (listing && line.n > 12 && hf_str_ends(line, ".")) {
			add_clipped(m, HF_NEXT_STEPS, "", line);
			n++;
		}
	}
}

static void
next_steps(struct maker *m, struct hf_str focus)
{
	const struct hf_fact_text *r = latest_request(m->f);
	size_t i, n = 0;

	if (focus.n > 0)
		add_clipped(m, HF_NEXT_STEPS, "First: ", focus);
	for (i = 0; i < m->f->ntodos && n < 3; i++)
		if (open_todo(&m->f->todo[i])) {
			add_clipped(m, HF_NEXT_STEPS, "Go on with: ",
			    m->f->todo[i].text);
			n++;
		}
	stated_steps(m);
	if (r == NULL && m->f->nrequests == 0) {
		carry(m, HF_NEXT_STEPS, STEPS_MAX);
		carry(m, HF_PENDING, HF_BRIEF_ITEMS);
	}
	if (m->b->list[HF_NEXT_STEPS].n == 0 && r != NULL)
		add_clipped(m, HF_NEXT_STEPS, "See what of the last request "
		    "is left to do, and finish it: ", r->text);
}

static void
uncertainties(struct maker *m)
{
	const struct hf_facts *f = m->f;

	hf_brief_add(m->b, HF_UNCERTAINTIES, HF_STR("No model was used for "
	    "this brief: it holds what the transcript proves; reasons and "
	    "half-said intentions may be missing"));
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

/* Drops the last items of the longest optional list until the brief fits:
 * the user's rules and the files written go last. */
static void
fit(struct hf_brief *b, int64_t budget)
{
	static const enum hf_field order[] = { HF_DECISIONS, HF_VERIFIED,
		HF_NEXT_STEPS, HF_PENDING, HF_ARTIFACTS, HF_CONSTRAINTS };
	size_t max = (size_t)budget * CHARS_PER_TOKEN, i, size;
	struct hf_list *l;

	size = hf_brief_size(b);
	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		l = &b->list[order[i]];
		while (size > max && l->n > 4) {
			size -= hf_utf8_count(l->item[l->n - 1]) + 3 < size ?
			    hf_utf8_count(l->item[l->n - 1]) + 3 : size;
			l->n--;
		}
	}
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
	goal(&m);
	rules(&m);
	decisions(&m);
	answers(&m);
	artifacts(&m);
	commands(&m);
	todos(&m);
	unanswered(&m);
	next_steps(&m, how->focus);
	uncertainties(&m);
	fit(out, how->budget > 0 ? how->budget : BUDGET);
	hf_rules_release(&m.rules);
	hf_buf_release(&m.text);
	return 0;
}
