/*
 * What a model might write of a session: true, in words of its own, and
 * with one lie in it.
 */
#include "eval.h"

#include <string.h>

#define BELOW(p, n)	((size_t)ev_below(&(p)->world.rng, (uint32_t)(n)))

static const char *const names[EV_LIES] = {
	[EV_LIE_NONE] = "none", [EV_LIE_FILE] = "invented file",
	[EV_LIE_NUMBER] = "wrong number",
	[EV_LIE_RULE] = "constraint by the assistant",
	[EV_LIE_NO_RUN] = "verified without a run",
	[EV_LIE_STALE] = "verified before a later edit",
	[EV_LIE_DROPPED] = "dropped constraint",
	[EV_LIE_FAILED] = "verified though it failed",
	[EV_LIE_COMMAND] = "invented command",
};

const char *
ev_lie_name(enum ev_lie l)
{
	return names[l];
}

/* ---- a model's words ---- */

struct words { struct hf_str cmd, name, tail, abs, rel, base, todo; };

static struct hf_str
word_of(const struct words *w, struct hf_str slot)
{
	static const struct { const char *name; size_t at; } slots[] = {
		{ "cmd", offsetof(struct words, cmd) },
		{ "name", offsetof(struct words, name) },
		{ "tail", offsetof(struct words, tail) },
		{ "abs", offsetof(struct words, abs) },
		{ "rel", offsetof(struct words, rel) },
		{ "base", offsetof(struct words, base) },
		{ "todo", offsetof(struct words, todo) },
	};

	for (size_t i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
		if (hf_str_is(slot, slots[i].name))
			return *(const struct hf_str *)(const void *)
			    ((const char *)w + slots[i].at);
	return HF_STR_NONE;
}

/* A report of this kind, filled. */
static struct hf_str
report(struct ev_plan *p, char kind, const struct words *w)
{
	const struct ev_table *t = &p->data->reports;
	struct hf_buf b = HF_BUF_INIT;
	struct hf_str text, out;
	size_t i, endat;

	do
		i = BELOW(p, t->n);
	while (t->line[i].field[0].s[0] != kind);
	text = t->line[i].field[1];
	for (i = 0; i < text.n; i++) {
		if (text.s[i] != '{') {
			hf_buf_putc(&b, text.s[i]);
			continue;
		}
		endat = hf_str_find(text, HF_STR("}"), i);
		hf_buf_str(&b, word_of(w, hf_strn(text.s + i + 1,
		    endat - i - 1)));
		i = endat;
	}
	out = hf_strn(hf_arena_copy(&p->world.arena, hf_buf_cstr(&b), b.len),
	    b.len);
	hf_buf_release(&b);
	return out;
}

static struct hf_str
last_line(struct hf_str t)
{
	for (size_t i = t.n; i > 0; i--)
		if (t.s[i - 1] == '~')
			return hf_strn(t.s + i, t.n - i);
	return t;
}

static struct hf_str
check_report(struct ev_plan *p, char kind, const struct ev_item *it)
{
	struct words w;

	memset(&w, 0, sizeof(w));
	w.cmd = it->key2.n > 0 && BELOW(p, 2) ? it->key2 : it->key;
	w.name = p->data->checks.line[it->which].field[0];
	w.tail = last_line(it->told);
	if (w.tail.n == 0)
		w.tail = HF_STR("no output");
	return report(p, kind, &w);
}

static struct hf_str
file_report(struct ev_plan *p, struct hf_str path)
{
	struct words w;
	size_t i = path.n;

	memset(&w, 0, sizeof(w));
	w.abs = path;
	w.rel = hf_strn(path.s + p->world.cwd.n + 1,
	    path.n - p->world.cwd.n - 1);
	while (i > 0 && path.s[i - 1] != '/')
		i--;
	w.base = hf_strn(path.s + i, path.n - i);
	return report(p, 'f', &w);
}

/* ---- the good brief ---- */

static void
tell(struct ev_plan *p, struct hf_brief *b, const struct ev_item *it)
{
	struct words w;

	memset(&w, 0, sizeof(w));
	switch (it->kind) {
	case EV_FILE:
		hf_brief_add(b, HF_ARTIFACTS, file_report(p, it->key));
		break;
	case EV_RULE:
		hf_brief_add(b, HF_CONSTRAINTS, BELOW(p, 10) < 6 ? it->told :
		    it->key);
		break;
	case EV_DECISION:
	case EV_ANSWER:
		hf_brief_add(b, HF_DECISIONS, it->told);
		break;
	case EV_REQUEST:
		hf_brief_goal(b, it->told);
		break;
	case EV_TODO:
		w.todo = it->key;
		hf_brief_add(b, HF_PENDING, report(p, 't', &w));
		break;
	case EV_FAILURE:
		hf_brief_add(b, HF_PENDING, check_report(p, 'x', it));
		break;
	case EV_CHECK:
		hf_brief_add(b, HF_VERIFIED, check_report(p, 'p', it));
		break;
	case EV_STEP:
		hf_brief_add(b, HF_NEXT_STEPS, it->told);
		break;
	default:
		break;
	}
}

static void
good(struct ev_plan *p, struct hf_brief *b)
{
	hf_brief_init(b);
	for (size_t i = 0; i < p->n; i++)
		if (!p->item[i].over)
			tell(p, b, &p->item[i]);
	hf_brief_add(b, HF_ARTIFACTS, ev_format(&p->world,
	    "workspace %s, branch %s", p->world.cwd.s, p->world.branch.s));
	hf_brief_add(b, HF_UNCERTAINTIES, HF_STR("Whether the old callers "
	    "rely on the order of the results is not known."));
}

/* ---- lies ---- */

static const struct ev_item *
one(struct ev_plan *p, enum ev_kind kind)
{
	size_t i = BELOW(p, p->n), k;

	for (k = 0; k < p->n; k++, i = (i + 1) % p->n)
		if (p->item[i].kind == kind && !p->item[i].over)
			return &p->item[i];
	return NULL;
}

static bool
add(struct hf_brief *b, enum hf_field f, struct hf_str text,
    struct hf_str *lie, enum hf_field *field)
{
	if (text.n == 0)
		return false;
	hf_brief_add(b, f, text);
	*lie = text;
	*field = f;
	return true;
}

static bool
invented_file(struct ev_plan *p, struct hf_brief *b, struct hf_str *lie,
    enum hf_field *field)
{
	struct hf_str path = ev_file(&p->world);

	switch (BELOW(p, 4)) {
	case 0:
		return add(b, HF_NEXT_STEPS, ev_format(&p->world,
		    "Finish the change in %s", path.s), lie, field);
	case 1:
		return add(b, HF_PENDING, ev_format(&p->world,
		    "%s is only half converted", path.s), lie, field);
	default:
		return add(b, HF_ARTIFACTS, file_report(p,
		    ev_absolute(&p->world, path)), lie, field);
	}
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
joins(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' &&
	    c <= 'Z') || strchr("_./-:", c) != NULL;
}

/* Where a number of at least least digits stands by itself; SIZE_MAX. */
static size_t
number_in(struct hf_str t, size_t least, size_t *n)
{
	for (size_t i = 0; i < t.n; i += *n > 0 ? *n : 1) {
		for (*n = 0; i + *n < t.n && is_digit(t.s[i + *n]); (*n)++)
			;
		if (*n >= least && (i == 0 || !joins(t.s[i - 1])) &&
		    (i + *n == t.n || !joins(t.s[i + *n]) ||
		    t.s[i + *n] == '.'))
			return i;
	}
	return SIZE_MAX;
}

/* The number in a true item becomes another one of its size. */
static bool
wrong_number(struct ev_plan *p, struct hf_brief *b, struct hf_str *lie,
    enum hf_field *field)
{
	static const enum hf_field fields[] = { HF_CONSTRAINTS, HF_VERIFIED,
		HF_PENDING, HF_DECISIONS };
	size_t f, i, k, at, n, tries;
	struct hf_list *l;
	char *copy;

	for (tries = 0; tries < 60; tries++) {
		f = fields[BELOW(p, 4)];
		l = &b->list[f];
		if (l->n == 0)
			continue;
		i = BELOW(p, l->n);
		at = number_in(l->item[i], f == HF_CONSTRAINTS ? 2 : 3, &n);
		if (at == SIZE_MAX)
			continue;
		copy = hf_arena_copy(&b->arena, l->item[i].s, l->item[i].n);
		k = at + BELOW(p, n);
		copy[k] = (char)('0' + (copy[k] - '0' + 1 +
		    (int)BELOW(p, 8)) % 10);
		if (copy[at] == '0')
			copy[at] = '3';
		*lie = l->item[i] = hf_strn(copy, l->item[i].n);
		*field = (enum hf_field)f;
		return true;
	}
	return false;
}

/* A check of which the session never spoke. */
static bool
never_run(struct ev_plan *p, struct hf_brief *b, struct hf_str *lie,
    enum hf_field *field)
{
	const struct ev_table *t = &p->data->checks;
	struct ev_item it;
	struct ev_line l;
	size_t i = BELOW(p, t->n), k, n;

	for (n = 0; n < t->n; n++, i = (i + 1) % t->n) {
		for (k = 0; k < p->n; k++)
			if (p->item[k].which == i &&
			    (p->item[k].kind == EV_CHECK ||
			    p->item[k].kind == EV_FAILURE))
				break;
		if (k == p->n)
			break;
	}
	if (n == t->n)
		return false;
	l = ev_fill_line(&p->world, &t->line[i], HF_STR("ledger"));
	memset(&it, 0, sizeof(it));
	it.key = l.field[1];
	it.told = l.field[3];
	it.which = i;
	return add(b, HF_VERIFIED, check_report(p, 'p', &it), lie, field);
}

static bool
false_claim(struct ev_plan *p, struct hf_brief *b, enum ev_kind kind,
    struct hf_str *lie, enum hf_field *field)
{
	const struct ev_item *it = one(p, kind);
	struct ev_item was;

	if (it == NULL)
		return false;
	was = *it;
	was.told = ev_fill_line(&p->world,
	    &p->data->checks.line[it->which], HF_STR("ledger")).field[3];
	/* Its figures would be wrong numbers too. */
	if (number_in(was.told, 1, &(size_t){ 0 }) != SIZE_MAX)
		was.told = HF_STR("no failures");
	return add(b, HF_VERIFIED, check_report(p, 'p', &was), lie, field);
}

static bool
dropped(struct ev_plan *p, struct hf_brief *b, struct hf_str *lie,
    enum hf_field *field)
{
	const struct ev_item *it = one(p, EV_RULE);
	struct hf_list *l = &b->list[HF_CONSTRAINTS];

	if (it == NULL)
		return false;
	for (size_t i = l->n; i-- > 0;)
		if (hf_str_eq(l->item[i], it->told) ||
		    hf_str_eq(l->item[i], it->key))
			hf_brief_remove(b, HF_CONSTRAINTS, i);
	*lie = it->key;
	*field = HF_CONSTRAINTS;
	return true;
}

static bool
invented_command(struct ev_plan *p, struct hf_brief *b, struct hf_str *lie,
    enum hf_field *field)
{
	static const char *const text[] = {
		"Run `bazel query //services/...` again",
		"`ninja -C out docs` still prints warnings",
		"Call `kubectl rollout restart deploy/api`",
		"`swiftlint --strict` has to be clean",
		"Continue with `alembic upgrade head`" };
	size_t i = BELOW(p, sizeof(text) / sizeof(text[0]));

	return add(b, i % 2 == 0 ? HF_NEXT_STEPS : HF_PENDING,
	    hf_str(text[i]), lie, field);
}

bool
ev_lie_make(struct ev_plan *p, enum ev_lie l, struct hf_brief *b,
    struct hf_str *lie, enum hf_field *field)
{
	const struct ev_item *it;

	good(p, b);
	*lie = HF_STR_NONE;
	*field = HF_GOAL;
	switch (l) {
	case EV_LIE_NONE:
		return true;
	case EV_LIE_FILE:
		return invented_file(p, b, lie, field);
	case EV_LIE_NUMBER:
		return wrong_number(p, b, lie, field);
	case EV_LIE_RULE:
		it = one(p, EV_SAID);
		return it != NULL && add(b, HF_CONSTRAINTS, it->key, lie,
		    field);
	case EV_LIE_NO_RUN:
		return never_run(p, b, lie, field);
	case EV_LIE_STALE:
		return false_claim(p, b, EV_STALE, lie, field);
	case EV_LIE_DROPPED:
		return dropped(p, b, lie, field);
	case EV_LIE_FAILED:
		return false_claim(p, b, EV_FAILURE, lie, field);
	case EV_LIE_COMMAND:
		return invented_command(p, b, lie, field);
	case EV_LIES:
		break;
	}
	return false;
}

/* What became of an item: the uncertainty that it is now. */
static void
why(struct hf_buf *out, const struct hf_brief *after, struct hf_str item)
{
	const struct hf_list *l = &after->list[HF_UNCERTAINTIES];

	for (size_t i = 0; i < l->n; i++)
		if (hf_str_find(l->item[i], item, 0) != SIZE_MAX) {
			hf_buf_str(out, l->item[i]);
			return;
		}
	hf_buf_str(out, item);
}

unsigned
ev_moved(const struct hf_brief *before, const struct hf_brief *after,
    struct hf_str lie, struct hf_buf *which)
{
	const struct hf_list *a, *z;
	unsigned moved = 0;
	size_t i, k;

	for (size_t f = HF_GOAL + 1; f < HF_FIELDS; f++) {
		a = &before->list[f];
		z = &after->list[f];
		for (i = 0; i < a->n; i++) {
			for (k = 0; k < z->n; k++)
				if (hf_str_eq(a->item[i], z->item[k]))
					break;
			if (k < z->n || hf_str_eq(a->item[i], lie))
				continue;
			moved++;
			if (which == NULL)
				continue;
			hf_buf_printf(which, "moved from %s: ",
			    hf_field_name((enum hf_field)f));
			why(which, after, a->item[i]);
			hf_buf_putc(which, '\n');
		}
	}
	return moved;
}
