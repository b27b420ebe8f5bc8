#include "brief/ground.h"

#include <stdlib.h>
#include <string.h>

#include "brief/heard.h"
#include "brief/own.h"
#include "brief/proof.h"
#include "brief/tokens.h"

enum {
	SAME = 60,		/* percent of its matter: it is that one */
	MORE = 20,		/* of its matter: others said it rather */
	REPRESENTED = 34,	/* of a request, anywhere in the brief */
	ADD_MAX = 40,		/* rules and files that are put back */
	REQUEST_MAX = 1000
};

struct check {
	const struct hf_ground *how;
	struct hf_brief *b;
	struct hf_walk *w;
	struct hf_facts facts;
	struct hf_tokens tokens;
	struct hf_rules rules;
	struct hf_proof proof;
	bool seeded;
	struct hf_heard heard;
	/* findings */
	struct hf_jtree *t;
	struct hf_jnode *ungrounded, *moved, *lost, *invented, *superseded;
	size_t hard, known, nmoved, nlost, ninvented, nsuperseded, kept;
	size_t written, listed;
	struct hf_buf first;		/* the first finding, for STRICT */
	struct hf_buf text, masked;	/* scratch */
};

/* ---- what the transcript holds ---- */

static void
add_json(struct check *c, const struct hf_jval *v, int depth)
{
	const struct hf_jval *m;
	struct hf_jiter it;
	struct hf_str key;

	if (hf_json_type(v) == HF_J_STR) {
		hf_tokens_add(&c->tokens, hf_json_str(v));
	} else if (hf_json_type(v) == HF_J_NUM) {
		hf_tokens_add(&c->tokens, hf_json_num(v));
	} else if (depth < 16) {
		hf_json_iter(&it, v);
		while ((m = hf_json_next(&it, &key)) != NULL) {
			hf_tokens_add(&c->tokens, key);
			add_json(c, m, depth + 1);
		}
	}
}

static int
read_tokens(struct check *c, struct hf_err *err)
{
	const struct hf_blocks *bs;
	struct hf_row row;
	size_t i;
	int rc;

	hf_walk_seek(c->w, 0);
	while ((rc = hf_walk_next(c->w, &row, &bs, NULL, err)) > 0)
		for (i = 0; i < bs->n; i++)
			if (bs->b[i].kind == HF_BLOCK_CALL) {
				hf_tokens_add(&c->tokens, bs->b[i].name);
				add_json(c, bs->b[i].args, 0);
			} else if (bs->b[i].kind == HF_BLOCK_RESULT) {
				hf_tokens_add_output(&c->tokens,
				    bs->b[i].text);
			} else if (bs->b[i].kind != HF_BLOCK_THINKING) {
				hf_tokens_add(&c->tokens, bs->b[i].text);
			}
	hf_tokens_add(&c->tokens, c->facts.cwd);
	hf_tokens_add(&c->tokens, c->facts.branch);
	return rc;
}

/* ---- findings ---- */

/* Text of the transcript, its secrets masked; until the next call. */
static struct hf_str
safe(struct check *c, struct hf_str text)
{
	if (c->how->mask == NULL)
		return text;
	hf_buf_clear(&c->masked);
	c->how->mask(&c->masked, text, c->how->mask_arg);
	return hf_buf_view(&c->masked);
}

static void
note(struct check *c, struct hf_jnode *list, size_t *n, struct hf_str what)
{
	hf_jpush_str(c->t, list, safe(c, what));
	(*n)++;
}

static void
finding(struct check *c, enum hf_field f, const char *why,
    struct hf_str item)
{
	if (c->first.len > 0)
		return;
	hf_buf_printf(&c->first, "/%s: %s: ", hf_field_name(f), why);
	hf_text_clip(&c->first, safe(c, item), 120);
}

/* Moves item i of a field to the uncertainties; with SCORE it only says
 * so. Returns whether the item is gone. */
static bool
move(struct check *c, enum hf_field f, size_t i, const char *why,
    struct hf_str token)
{
	struct hf_str item = c->b->list[f].item[i];

	hf_buf_clear(&c->text);
	hf_buf_puts(&c->text, why);
	if (token.n > 0) {
		hf_buf_puts(&c->text, " (");
		hf_buf_str(&c->text, token);
		hf_buf_putc(&c->text, ')');
	}
	hf_buf_puts(&c->text, ": ");
	hf_buf_str(&c->text, item);
	note(c, c->moved, &c->nmoved, hf_buf_view(&c->text));
	finding(c, f, why, item);
	if (c->how->mode != HF_GROUND_REPAIR)
		return false;
	hf_brief_remove(c->b, f, i);
	hf_brief_add(c->b, HF_UNCERTAINTIES, hf_buf_view(&c->text));
	return true;
}

/* ---- names ---- */

struct named {
	struct check *c;
	struct hf_str item;
	struct hf_str unknown;		/* the first; none: all are known */
	enum hf_field field;
};

/* Of a command's report the number must be one that it printed. */
static bool
other_number(const struct named *n, struct hf_str token)
{
	char digits[32];
	size_t i, len = 0;

	if (n->field != HF_VERIFIED && n->field != HF_PENDING)
		return false;
	for (i = 0; i < token.n; i++)
		if (token.s[i] >= '0' && token.s[i] <= '9' &&
		    len < sizeof(digits))
			digits[len++] = token.s[i];
		else if (token.s[i] != ',')
			return false;
	return len > 2 && hf_proof_other_number(&n->c->proof, n->item,
	    hf_strn(digits, len));
}

static void
named(struct hf_str token, bool known, void *arg)
{
	struct named *n = arg;
	size_t i;

	n->c->hard++;
	for (i = 0; !known && i < n->c->facts.nfiles; i++)
		known = hf_tokens_names(token, n->c->facts.file[i].path);
	known = known && !other_number(n, token);
	if (known) {
		n->c->known++;
		return;
	}
	if (n->unknown.n == 0)
		n->unknown = token;
	hf_jpush_str(n->c->t, n->c->ungrounded, token);
	if (n->field == HF_ARTIFACTS)
		note(n->c, n->c->invented, &n->c->ninvented, token);
}

/* A command in backticks whose program was never named. */
static struct hf_str
unknown_command(struct check *c, struct hf_str item)
{
	size_t open, end, from = 0, k;
	struct hf_str word;

	while ((open = hf_str_find(item, HF_STR("`"), from)) != SIZE_MAX &&
	    (end = hf_str_find(item, HF_STR("`"), open + 1)) != SIZE_MAX) {
		word = hf_str_trim(hf_strn(item.s + open + 1,
		    end - open - 1));
		from = end + 1;
		for (k = 0; k < word.n && word.s[k] != ' '; k++)
			;
		if (k == word.n || k == 0)
			continue;
		word.n = k;
		if (!hf_tokens_has(&c->tokens, word))
			return word;
	}
	return HF_STR_NONE;
}

static void
check_names(struct check *c, enum hf_field f)
{
	struct hf_list *l = &c->b->list[f];
	struct named n;
	size_t i = 0;

	while (i < l->n) {
		n = (struct named){ c, l->item[i], HF_STR_NONE, f };
		hf_tokens_check(&c->tokens, l->item[i], named, &n);
		if (n.unknown.n == 0) {
			n.unknown = unknown_command(c, l->item[i]);
			if (n.unknown.n > 0) {
				c->hard++;
				hf_jpush_str(c->t, c->ungrounded, n.unknown);
			}
		}
		if (n.unknown.n == 0 || !move(c, f, i,
		    "not in the transcript", n.unknown))
			i++;
	}
}

/* The goal cannot move: what it names without ground is said beside it. */
static void
check_goal(struct check *c)
{
	struct named n = { c, c->b->goal, HF_STR_NONE, HF_GOAL };

	hf_tokens_check(&c->tokens, c->b->goal, named, &n);
	if (n.unknown.n == 0)
		return;
	finding(c, HF_GOAL, "not in the transcript", n.unknown);
	if (c->how->mode != HF_GROUND_REPAIR)
		return;
	hf_buf_clear(&c->text);
	hf_buf_puts(&c->text, "the goal names what the transcript does not: ");
	hf_buf_str(&c->text, n.unknown);
	hf_brief_add(c->b, HF_UNCERTAINTIES, hf_buf_view(&c->text));
}

/* ---- constraints ---- */

/* Is a rule superseded that the constraint repeats? */
static bool
outdated(const struct check *c, const struct hf_units *u,
    struct hf_str text)
{
	const struct hf_rule *rule = NULL;
	size_t i;

	if (hf_rules_outdated(&c->rules, text))
		return true;
	if (u->nnumbers == 0)
		return false;
	if (hf_rules_match(&c->rules, u, &rule) >= 90 && rule->superseded)
		return true;
	for (i = 0; i < c->rules.n; i++)
		if (hf_rule_holds(&c->rules.rule[i]) &&
		    c->rules.rule[i].rule &&
		    hf_units_conflict(&c->rules.rule[i].units, u) &&
		    (rule == NULL || c->rules.rule[i].at >= rule->at))
			return true;
	return false;
}

/* Superseded ones go, the later one is there or comes back. */
static void
check_outdated(struct check *c)
{
	struct hf_list *l = &c->b->list[HF_CONSTRAINTS];
	struct hf_units u;
	size_t i = 0;

	while (i < l->n) {
		hf_units_of(&u, l->item[i]);
		if (!outdated(c, &u, l->item[i])) {
			i++;
			continue;
		}
		note(c, c->superseded, &c->nsuperseded, l->item[i]);
		finding(c, HF_CONSTRAINTS, "superseded", l->item[i]);
		if (c->how->mode == HF_GROUND_REPAIR)
			hf_brief_remove(c->b, HF_CONSTRAINTS, i);
		else
			i++;
	}
}

/* What the user's words do not settle: who else said it. */
struct doubt {
	struct hf_units *u;
	int *user, *others;
	size_t n;
};

static void
doubts_release(struct doubt *d)
{
	free(d->u);
	free(d->user);
	free(d->others);
}

static const char *
not_said(enum hf_heard_as v)
{
	return v == HF_HEARD_OPPOSITE ? "the user said the opposite" :
	    v == HF_HEARD_OTHER_NUMBER ? "the user gave another number" :
	    "the user did not say so";
}

/* Moves what the user did not say; gathers what is doubtful, in order. */
static void
check_said(struct check *c, struct doubt *d)
{
	struct hf_list *l = &c->b->list[HF_CONSTRAINTS];
	enum hf_heard_as v;
	struct hf_units u;
	size_t i;
	int percent;
	bool gone;

	/* First those that are clear, so that each sentence is known to be
	 * one's or free. */
	for (i = 0; i < l->n; i++) {
		hf_units_of(&u, l->item[i]);
		hf_heard_user(&c->heard, &u, &percent);
	}
	i = 0;

	while (i < l->n) {
		hf_units_of(&u, l->item[i]);
		v = hf_heard_user(&c->heard, &u, &percent);
		gone = false;
		if (v == HF_HEARD_ALIKE) {
			d->u[d->n] = u;
			d->user[d->n++] = percent;
		} else if (v != HF_HEARD) {
			gone = move(c, HF_CONSTRAINTS, i, not_said(v),
			    HF_STR_NONE);
		}
		i += gone ? 0 : 1;
	}
}

static void
settle_doubts(struct check *c, const struct doubt *d)
{
	struct hf_list *l = &c->b->list[HF_CONSTRAINTS];
	struct hf_units u;
	size_t i = 0, k;
	bool gone;

	while (i < l->n) {
		hf_units_of(&u, l->item[i]);
		gone = false;
		for (k = 0; k < d->n; k++)
			if (u.n == d->u[k].n && memcmp(u.h, d->u[k].h,
			    u.n * sizeof(u.h[0])) == 0)
				break;
		if (k < d->n && d->others[k] >= d->user[k] + MORE)
			gone = move(c, HF_CONSTRAINTS, i,
			    not_said(HF_HEARD_NOT), HF_STR_NONE);
		i += gone ? 0 : 1;
	}
}

static int
check_constraints(struct check *c, struct hf_err *err)
{
	size_t n = c->b->list[HF_CONSTRAINTS].n;
	struct doubt d = { NULL, NULL, NULL, 0 };
	int rc = 0;

	check_outdated(c);
	d.u = hf_calloc(n + 1, sizeof(*d.u));
	d.user = hf_calloc(n + 1, sizeof(*d.user));
	d.others = hf_calloc(n + 1, sizeof(*d.others));
	check_said(c, &d);
	if (d.n > 0)
		rc = hf_heard_others(c->w, d.u, d.others, d.n, err);
	if (rc == 0)
		settle_doubts(c, &d);
	doubts_release(&d);
	return rc;
}

static bool
kept_in(const struct hf_list *l, const struct hf_units *rule)
{
	struct hf_units u;
	size_t i;

	for (i = 0; i < l->n; i++) {
		hf_units_of(&u, l->item[i]);
		if (hf_units_in(rule, &u) >= SAME &&
		    hf_units_has_numbers(rule, &u) &&
		    u.negative == rule->negative)
			return true;
	}
	return false;
}

static void
lost_constraints(struct check *c)
{
	const struct hf_rule *rule;
	size_t i, added = 0;

	for (i = 0; i < c->rules.n; i++) {
		rule = &c->rules.rule[i];
		if (!hf_rule_holds(rule) || !rule->rule)
			continue;
		if (kept_in(&c->b->list[HF_CONSTRAINTS], &rule->units)) {
			c->kept++;
			continue;
		}
		note(c, c->lost, &c->nlost, rule->text);
		finding(c, HF_CONSTRAINTS, "lost", rule->text);
		if (c->how->mode == HF_GROUND_REPAIR && added++ < ADD_MAX)
			hf_brief_add(c->b, HF_CONSTRAINTS,
			    safe(c, rule->text));
	}
}

/* ---- verified ---- */

static void
check_verified(struct check *c)
{
	struct hf_list *l = &c->b->list[HF_VERIFIED];
	const char *why;
	size_t i = 0;

	while (i < l->n) {
		why = hf_proof_missing(&c->proof, l->item[i]);
		if (why == NULL || !move(c, HF_VERIFIED, i, why, HF_STR_NONE))
			i++;
	}
}

/* ---- what was forgotten ---- */

static bool
is_listed(const struct hf_list *l, struct hf_str path)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		if (hf_tokens_names(l->item[i], path))
			return true;
	return false;
}

static void
forgotten_files(struct check *c)
{
	const struct hf_fact_file *file;
	size_t i, added = 0;

	for (i = 0; i < c->facts.nfiles; i++) {
		file = &c->facts.file[i];
		if (!file->written || file->deleted)
			continue;
		c->written++;
		if (is_listed(&c->b->list[HF_ARTIFACTS], file->path)) {
			c->listed++;
			continue;
		}
		finding(c, HF_ARTIFACTS, "not listed", file->path);
		if (c->how->mode == HF_GROUND_REPAIR &&
		    added++ < HF_BRIEF_ITEMS / 2)
			hf_brief_add(c->b, HF_ARTIFACTS,
			    safe(c, file->path));
	}
}

/* Is so much of a text anywhere in what is to be done? */
static bool
represented(const struct check *c, struct hf_str text)
{
	static const enum hf_field fields[] = { HF_PENDING, HF_NEXT_STEPS,
		HF_DECISIONS, HF_CONSTRAINTS, HF_VERIFIED };
	struct hf_units want, have;
	size_t i, k;

	hf_units_of(&want, text);
	hf_units_of(&have, c->b->goal);
	if (want.n == 0 || hf_units_in(&want, &have) >= REPRESENTED)
		return true;
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		for (k = 0; k < c->b->list[fields[i]].n; k++) {
			hf_units_of(&have, c->b->list[fields[i]].item[k]);
			if (hf_units_in(&want, &have) >= REPRESENTED)
				return true;
		}
	return false;
}

static void
last_request(struct check *c)
{
	struct hf_buf own = HF_BUF_INIT;
	struct hf_told t;

	hf_own_told(&t, &c->facts);
	if (t.n == 0)
		return;
	hf_own_words(&own, &c->rules, t.r[t.n - 1]->text, REQUEST_MAX);
	if (!represented(c, hf_buf_view(&own))) {
		finding(c, HF_PENDING, "the last request is missing",
		    hf_buf_view(&own));
		if (c->how->mode == HF_GROUND_REPAIR) {
			hf_buf_clear(&c->text);
			hf_buf_puts(&c->text, "The user's last request: ");
			hf_buf_str(&c->text, safe(c, hf_buf_view(&own)));
			hf_brief_add(c->b, HF_PENDING,
			    hf_buf_view(&c->text));
		}
	}
	hf_buf_release(&own);
}

/* Repairs must not push the brief over its size: what was added last goes
 * first. */
static void
fit(struct check *c)
{
	static const enum hf_field order[] = { HF_UNCERTAINTIES,
		HF_ARTIFACTS, HF_CONSTRAINTS };
	size_t i;

	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		while (c->b->list[order[i]].n > 1 &&
		    hf_brief_size(c->b) > HF_BRIEF_MAX)
			hf_brief_remove(c->b, order[i],
			    c->b->list[order[i]].n - 1);
}

/* ---- the report ---- */

static struct hf_jnode *
report(struct check *c)
{
	struct hf_jtree *t = c->t;
	struct hf_jnode *o = hf_jtree_obj(t), *k = hf_jtree_obj(t),
	    *a = hf_jtree_obj(t);

	hf_jset_cstr(t, o, "checked", "transcript");
	hf_jset_int(t, o, "characters", (int64_t)hf_brief_size(c->b));
	hf_jset_int(t, o, "tokens", (int64_t)hf_brief_tokens(c->b));
	hf_jset(t, o, "grounded", hf_jtree_ppm(t, c->hard == 0 ? 1000000 :
	    (int64_t)(c->known * 1000 / c->hard * 1000)));
	hf_jset(t, o, "ungrounded", c->ungrounded);
	hf_jset_int(t, k, "found", (int64_t)(c->kept + c->nlost));
	hf_jset_int(t, k, "kept", (int64_t)c->kept);
	hf_jset(t, k, "lost", c->lost);
	hf_jset(t, k, "superseded", c->superseded);
	hf_jset(t, o, "constraints", k);
	hf_jset_int(t, a, "written", (int64_t)c->written);
	hf_jset_int(t, a, "listed", (int64_t)c->listed);
	hf_jset(t, a, "invented", c->invented);
	hf_jset(t, o, "artifacts", a);
	hf_jset(t, o, "moved", c->moved);
	return o;
}

static int
open_check(struct check *c, struct hf_err *err)
{
	if (hf_facts_read(c->w, &c->facts, err) < 0)
		return -1;
	c->seeded = hf_facts_seed(&c->facts, c->how->ours, c->how->arg);
	hf_rules_read(&c->rules, &c->facts, c->seeded);
	hf_proof_init(&c->proof, &c->facts, c->seeded ? &c->rules.seed :
	    NULL);
	hf_tokens_init(&c->tokens, c->facts.cwd, c->how->home);
	hf_heard_read(&c->heard, &c->facts, &c->rules);
	return read_tokens(c, err);
}

static int
all_checks(struct check *c, struct hf_err *err)
{
	static const enum hf_field fields[] = { HF_DECISIONS, HF_ARTIFACTS,
		HF_VERIFIED, HF_PENDING, HF_NEXT_STEPS };
	size_t i;

	check_goal(c);
	if (check_constraints(c, err) < 0)
		return -1;
	check_verified(c);
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		check_names(c, fields[i]);
	check_names(c, HF_CONSTRAINTS);
	lost_constraints(c);
	forgotten_files(c);
	last_request(c);
	return 0;
}

struct hf_jnode *
hf_ground(const struct hf_ground *how, struct hf_brief *b,
    struct hf_walk *w, struct hf_jtree *t, struct hf_err *err)
{
	struct hf_jnode *out = NULL;
	struct check c = { .how = how, .b = b, .w = w, .t = t };

	c.ungrounded = hf_jtree_arr(t);
	c.moved = hf_jtree_arr(t);
	c.lost = hf_jtree_arr(t);
	c.invented = hf_jtree_arr(t);
	c.superseded = hf_jtree_arr(t);
	if (open_check(&c, err) < 0 || all_checks(&c, err) < 0)
		goto out;
	if (how->mode == HF_GROUND_STRICT && c.first.len > 0) {
		hf_err_set(err, HF_E_INVALID_BRIEF, "%s",
		    hf_buf_cstr(&c.first));
		goto out;
	}
	if (how->mode == HF_GROUND_REPAIR)
		fit(&c);
	out = report(&c);
out:
	hf_heard_release(&c.heard);
	hf_proof_release(&c.proof);
	hf_rules_release(&c.rules);
	hf_tokens_release(&c.tokens);
	hf_facts_release(&c.facts);
	hf_buf_release(&c.first);
	hf_buf_release(&c.text);
	hf_buf_release(&c.masked);
	return out;
}
