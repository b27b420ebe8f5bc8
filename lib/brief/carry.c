#include "brief/carry.h"

#include <string.h>

#include "brief/rules.h"

enum { STEPS_MAX = 5, NOTES_MAX = 5, VERIFIED_MAX = 8, DONE = 80 };

static bool
starts(struct hf_str t, const char *lead)
{
	return hf_str_starts(t, lead);
}

/* t without the ending, if it has it. */
static bool
strip_end(struct hf_str *t, const char *end)
{
	if (!hf_str_ends(*t, end))
		return false;
	t->n -= strlen(end);
	return true;
}

struct hf_str
hf_carry_goal(struct hf_str goal)
{
	static const char *const marks[] = { "\n" HF_SAYS_BEFORE,
		"\n" HF_SAYS_LATEST };
	size_t i, at;

	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if ((at = hf_str_find(goal, hf_str(marks[i]), 0)) !=
		    SIZE_MAX)
			goal.n = at;
	return goal;
}

struct hf_str
hf_carry_latest(struct hf_str goal)
{
	static const char mark[] = "\n" HF_SAYS_LATEST;
	size_t at = hf_str_find(goal, HF_STR(mark), 0);

	if (at == SIZE_MAX)
		return HF_STR_NONE;
	at += sizeof(mark) - 1;
	return hf_strn(goal.s + at, goal.n - at);
}

bool
hf_carry_todo_open(const struct hf_fact_todo *t)
{
	static const char *const over[] = { "completed", "done",
		"cancelled", "canceled", "deleted", "abandoned" };
	size_t i;

	for (i = 0; i < sizeof(over) / sizeof(over[0]); i++)
		if (strcmp(t->status, over[i]) == 0)
			return false;
	return true;
}

/* ---- is it over? ---- */

/* Does the session's own list speak of it? */
static bool
in_todos(const struct hf_facts *f, struct hf_str text)
{
	size_t i;

	for (i = 0; i < f->ntodos; i++)
		if (hf_rules_same_text(f->todo[i].text, text))
			return true;
	return false;
}

/* Is what it says among the steps that were done? */
static bool
was_done(const struct hf_facts *f, struct hf_str text)
{
	struct hf_units a, b;
	size_t i;

	hf_units_of(&a, text);
	for (i = 0; i < f->ntodos; i++) {
		if (hf_carry_todo_open(&f->todo[i]))
			continue;
		hf_units_of(&b, f->todo[i].text);
		if (b.n > 1 && hf_units_in(&b, &a) >= DONE &&
		    hf_units_in(&a, &b) >= DONE)
			return true;
	}
	return false;
}

static bool
is_there(const struct hf_brief *b, enum hf_field f, struct hf_str text)
{
	size_t i;

	for (i = 0; i < b->list[f].n; i++)
		if (hf_rules_same_text(b->list[f].item[i], text))
			return true;
	return false;
}

/* ---- the lists ---- */

static void
pending(struct hf_brief *b, const struct hf_proof *p, struct hf_str item)
{
	struct hf_str text = item;

	if (starts(item, HF_SAYS_UNANSWERED) || starts(item, HF_SAYS_LAST))
		return;
	if (strip_end(&text, HF_SAYS_PROGRESS) ||
	    strip_end(&text, HF_SAYS_NOT_BEGUN)) {
		if (!in_todos(p->f, text))
			hf_brief_add(b, HF_PENDING, item);
		return;
	}
	/* What ran again is said anew, or is over. */
	if (!hf_proof_ran(p, item) && !was_done(p->f, item) &&
	    !is_there(b, HF_PENDING, item))
		hf_brief_add(b, HF_PENDING, item);
}

static void
earlier(struct hf_brief *b, enum hf_field f, struct hf_str item)
{
	struct hf_buf text = HF_BUF_INIT;

	hf_buf_str(&text, item);
	hf_buf_puts(&text, HF_SAYS_EARLIER);
	hf_brief_add(b, f, hf_buf_view(&text));
	hf_buf_release(&text);
}

/* What a step list repeats from elsewhere is made anew. */
static bool
is_made(struct hf_str item)
{
	return starts(item, HF_SAYS_GO_ON) || starts(item, HF_SAYS_MEND) ||
	    starts(item, HF_SAYS_FINISH) || starts(item, "First: ") ||
	    hf_str_ends(item, HF_SAYS_EARLIER);
}

static void
steps(struct hf_brief *b, const struct hf_proof *p)
{
	const struct hf_list *l = &p->seed->list[HF_NEXT_STEPS];
	size_t i, n = 0;

	for (i = 0; i < l->n && n < STEPS_MAX; i++)
		if (!is_made(l->item[i]) && !was_done(p->f, l->item[i]) &&
		    !in_todos(p->f, l->item[i]) &&
		    !hf_proof_succeeded(p, l->item[i]) &&
		    !is_there(b, HF_NEXT_STEPS, l->item[i])) {
			earlier(b, HF_NEXT_STEPS, l->item[i]);
			n++;
		}
}

/* Notes that each brief makes for itself. */
static bool
is_boilerplate(struct hf_str item)
{
	static const char *const leads[] = { HF_SAYS_NO_MODEL,
		"The session was compacted", "The user interrupted",
		"A call of ", "Nothing was checked", "Left out for size",
		"A model was to write", "claimed verified" };
	size_t i;

	for (i = 0; i < sizeof(leads) / sizeof(leads[0]); i++)
		if (starts(item, leads[i]))
			return true;
	return hf_str_ends(item, HF_SAYS_EARLIER);
}

static void
notes(struct hf_brief *b, const struct hf_proof *p)
{
	const struct hf_list *l = &p->seed->list[HF_UNCERTAINTIES];
	size_t i, n = 0;

	for (i = 0; i < l->n && n < NOTES_MAX; i++)
		if (!is_boilerplate(l->item[i])) {
			earlier(b, HF_UNCERTAINTIES, l->item[i]);
			n++;
		}
}

void
hf_carry(struct hf_brief *b, const struct hf_proof *p)
{
	const struct hf_list *l;
	size_t i;

	if (p->seed == NULL)
		return;
	l = &p->seed->list[HF_VERIFIED];
	for (i = 0; i < l->n && b->list[HF_VERIFIED].n < VERIFIED_MAX; i++)
		if (!hf_proof_ran(p, l->item[i]) &&
		    hf_proof_missing(p, l->item[i]) == NULL)
			hf_brief_add(b, HF_VERIFIED, l->item[i]);
	l = &p->seed->list[HF_PENDING];
	for (i = 0; i < l->n; i++)
		pending(b, p, l->item[i]);
	steps(b, p);
	notes(b, p);
}

/* ---- files ---- */

struct files {
	const struct hf_facts *f;
	void (*file)(struct hf_str path, void *arg);
	void (*other)(struct hf_str item, void *arg);
	void *arg;
};

static void
one_file(const struct files *c, struct hf_str path)
{
	size_t i;

	for (i = 0; i < c->f->nfiles; i++)
		if (c->f->file[i].written &&
		    hf_str_eq(c->f->file[i].path, path))
			return;		/* the session says what became of it */
	if (!hf_facts_gone(c->f, path))
		c->file(path, c->arg);
}

/* "In /work: a.c, b/c.h": files below a folder. */
static bool
gathered(const struct files *c, struct hf_str item)
{
	struct hf_str dir, rest, name;
	struct hf_buf path = HF_BUF_INIT;
	size_t at, end;

	if (!starts(item, "In /") ||
	    (at = hf_str_find(item, HF_STR(": "), 0)) == SIZE_MAX)
		return false;
	dir = hf_strn(item.s + 3, at - 3);
	rest = hf_strn(item.s + at + 2, item.n - at - 2);
	while (rest.n > 0) {
		end = hf_str_find(rest, HF_STR(", "), 0);
		name = hf_strn(rest.s, end != SIZE_MAX ? end : rest.n);
		rest = end != SIZE_MAX ? hf_strn(rest.s + end + 2,
		    rest.n - end - 2) : HF_STR("");
		hf_buf_clear(&path);
		hf_buf_str(&path, dir);
		hf_buf_putc(&path, '/');
		hf_buf_str(&path, name);
		one_file(c, hf_buf_view(&path));
	}
	hf_buf_release(&path);
	return true;
}

/* Does it speak of a file that is gone? */
static bool
of_deleted(const struct hf_facts *f, struct hf_str item)
{
	size_t i;

	for (i = 0; i < f->nfiles; i++)
		if (f->file[i].deleted &&
		    hf_str_find(item, f->file[i].path, 0) != SIZE_MAX)
			return true;
	return false;
}

void
hf_carry_files(const struct hf_proof *p,
    void (*file)(struct hf_str path, void *arg),
    void (*other)(struct hf_str item, void *arg), void *arg)
{
	struct files c = { p->f, file, other, arg };
	const struct hf_list *l;
	struct hf_str item;
	size_t i;

	if (p->seed == NULL)
		return;
	l = &p->seed->list[HF_ARTIFACTS];
	for (i = 0; i < l->n; i++) {
		item = l->item[i];
		if (hf_str_ends(item, HF_SAYS_READ) ||
		    hf_str_ends(item, HF_SAYS_DELETED) ||
		    starts(item, HF_SAYS_WORKSPACE))
			continue;
		if (item.s[0] == '/' &&
		    hf_str_find(item, HF_STR(" "), 0) == SIZE_MAX)
			one_file(&c, item);
		else if (!gathered(&c, item) && !of_deleted(p->f, item))
			other(item, arg);
	}
}
