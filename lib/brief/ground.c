#include "brief/ground.h"

#include <stdlib.h>
#include <string.h>

#include "brief/cues.h"
#include "brief/rules.h"
#include "brief/tokens.h"

enum {
	SAME = 60,		/* percent of its matter: it is that one */
	REPRESENTED = 34,	/* of a request, anywhere in the brief */
	ADD_MAX = 40,		/* rules and files that are put back */
	NAMED_MAX = 64
};

struct check {
	const struct hf_ground *how;
	struct hf_brief *b;
	struct hf_walk *w;
	struct hf_facts facts;
	struct hf_tokens tokens;
	struct hf_rules rules;
	bool seeded;
	struct hf_units generic;	/* what any report of success says */
	/* sentences that the user wrote, rules or not */
	struct hf_units *said;
	size_t nsaid;
	/* findings */
	struct hf_jtree *t;
	struct hf_jnode *ungrounded, *moved, *lost, *invented, *superseded;
	size_t hard, known, nmoved, nlost, ninvented, nsuperseded, kept;
	size_t written, listed;
	struct hf_buf first;		/* the first finding, for STRICT */
	struct hf_buf text;		/* scratch */
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
			} else if (bs->b[i].kind != HF_BLOCK_THINKING) {
				hf_tokens_add(&c->tokens, bs->b[i].text);
			}
	hf_tokens_add(&c->tokens, c->facts.cwd);
	hf_tokens_add(&c->tokens, c->facts.branch);
	return rc;
}

static void
said(struct check *c, struct hf_str text)
{
	struct hf_str s;

	while (c->nsaid < HF_SENTENCES_MAX &&
	    (s = hf_cues_sentence(&text)).n > 0) {
		if (c->nsaid % 256 == 0)
			c->said = hf_reallocarray(c->said, c->nsaid + 256,
			    sizeof(*c->said));
		hf_units_of(&c->said[c->nsaid++], s);
	}
}

static void
read_said(struct check *c)
{
	size_t f, i;

	for (i = c->facts.nrequests; i-- > 0;)
		said(c, c->facts.request[i].text);
	for (f = HF_DECISIONS; c->seeded && f < HF_FIELDS; f++)
		for (i = 0; i < c->rules.seed.list[f].n; i++)
			said(c, c->rules.seed.list[f].item[i]);
}

/* ---- findings ---- */

static void
note(struct check *c, struct hf_jnode *list, size_t *n, struct hf_str what)
{
	hf_jpush_str(c->t, list, what);
	(*n)++;
}

static void
finding(struct check *c, enum hf_field f, const char *why,
    struct hf_str item)
{
	if (c->first.len > 0)
		return;
	hf_buf_printf(&c->first, "/%s: %s: ", hf_field_name(f), why);
	hf_text_clip(&c->first, item, 120);
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
	struct hf_str unknown;		/* the first; none: all are known */
	enum hf_field field;
};

static void
named(struct hf_str token, bool known, void *arg)
{
	struct named *n = arg;
	size_t i;

	n->c->hard++;
	for (i = 0; !known && i < n->c->facts.nfiles; i++)
		known = hf_tokens_names(token, n->c->facts.file[i].path);
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
		n = (struct named){ c, HF_STR_NONE, f };
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
	struct named n = { c, HF_STR_NONE, HF_GOAL };

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

static bool
user_said(const struct check *c, const struct hf_units *u)
{
	size_t i;

	if (u->n == 0)
		return true;
	if (hf_rules_match(&c->rules, u, NULL) >= SAME)
		return true;
	for (i = 0; i < c->nsaid; i++)
		if (c->said[i].negative == u->negative &&
		    hf_units_in(u, &c->said[i]) >= SAME)
			return true;
	return false;
}

/* Is a rule superseded that the constraint repeats? */
static bool
outdated(const struct check *c, const struct hf_units *u)
{
	const struct hf_rule *rule = NULL;
	size_t i;

	if (u->nnumbers == 0)
		return false;
	if (hf_rules_match(&c->rules, u, &rule) >= 90 && rule->superseded)
		return true;
	for (i = 0; i < c->rules.n; i++)
		if (!c->rules.rule[i].superseded &&
		    hf_units_conflict(&c->rules.rule[i].units, u) &&
		    (rule == NULL || c->rules.rule[i].at >= rule->at))
			return true;
	return false;
}

static void
check_constraints(struct check *c)
{
	struct hf_list *l = &c->b->list[HF_CONSTRAINTS];
	struct hf_units u;
	size_t i = 0;
	bool gone;

	while (i < l->n) {
		hf_units_of(&u, l->item[i]);
		gone = false;
		if (outdated(c, &u)) {
			note(c, c->superseded, &c->nsuperseded, l->item[i]);
			gone = c->how->mode == HF_GROUND_REPAIR;
			finding(c, HF_CONSTRAINTS, "superseded", l->item[i]);
			if (gone)
				hf_brief_remove(c->b, HF_CONSTRAINTS, i);
		} else if (!user_said(c, &u)) {
			gone = move(c, HF_CONSTRAINTS, i,
			    "the user did not say so", HF_STR_NONE);
		}
		i += gone ? 0 : 1;
	}
}

static bool
kept_in(const struct hf_list *l, const struct hf_units *rule)
{
	struct hf_units u;
	size_t i;

	for (i = 0; i < l->n; i++) {
		hf_units_of(&u, l->item[i]);
		if (hf_units_in(rule, &u) >= SAME &&
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
		if (rule->superseded)
			continue;
		if (kept_in(&c->b->list[HF_CONSTRAINTS], &rule->units)) {
			c->kept++;
			continue;
		}
		note(c, c->lost, &c->nlost, rule->text);
		finding(c, HF_CONSTRAINTS, "lost", rule->text);
		if (c->how->mode == HF_GROUND_REPAIR && added++ < ADD_MAX)
			hf_brief_add(c->b, HF_CONSTRAINTS, rule->text);
	}
}

/* ---- verified ---- */

static void
read_generic(struct check *c)
{
	static const char *const words[] = { "pass", "passed", "passes",
		"success", "succeeded", "succeeds", "ok", "green", "fail",
		"failed", "failures", "errors", "error", "clean", "without",
		"run", "ran", "exit", "status", "code", "edit", "edits",
		"last", "verified", "checked", "works", "work", "make", "npm",
		"cargo", "yarn", "pnpm", "python", "python3", "bash", "sh",
		"node", "src", "file", "files", "change", "changes" };
	struct hf_units u;
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		hf_units_of(&u, hf_str(words[i]));
		if (u.n > 0)
			c->generic.h[c->generic.n++] = u.h[0];
	}
}

/* What a report of success is about. */
static struct hf_units
matter(const struct check *c, struct hf_str text)
{
	struct hf_units u;
	size_t i, k, n = 0;

	hf_units_of(&u, text);
	for (i = 0; i < u.n; i++) {
		for (k = 0; k < c->generic.n && c->generic.h[k] != u.h[i];
		    k++)
			;
		if (k == c->generic.n)
			u.h[n++] = u.h[i];
	}
	u.n = n;
	return u;
}

/* The first two words of a command, without "cd x &&" and variables. */
static struct hf_str
head_of(struct hf_str cmd)
{
	size_t at = hf_str_find(cmd, HF_STR("&&"), 0), i = 0, words = 0;

	if (hf_str_starts(cmd, "cd ") && at != SIZE_MAX)
		cmd = hf_str_trim(hf_strn(cmd.s + at + 2, cmd.n - at - 2));
	while (i < cmd.n && cmd.s[i] != '\n' && cmd.s[i] != '|' &&
	    cmd.s[i] != ';' && cmd.s[i] != '&' && cmd.s[i] != '>') {
		if (cmd.s[i] == ' ' && ++words == 2)
			break;
		i++;
	}
	return hf_str_trim(hf_strn(cmd.s, i));
}

/* Does the item speak of this command? */
static bool
speaks_of(const struct check *c, struct hf_str item,
    const struct hf_fact_command *cmd)
{
	struct hf_str head = head_of(cmd->text);
	struct hf_units a, b, both;
	size_t i;

	if (head.n >= 3 && hf_str_find(item, head, 0) != SIZE_MAX)
		return true;
	a = matter(c, item);
	b = matter(c, cmd->text);
	both = matter(c, cmd->output);
	for (i = 0; i < both.n && b.n < HF_UNITS_MAX; i++)
		b.h[b.n++] = both.h[i];
	if (a.n == 0)
		return hf_cues_check(cmd->text);
	for (i = 0; i < b.n; i++)
		for (size_t k = 0; k < a.n; k++)
			if (a.h[k] == b.h[i])
				return true;
	return false;
}

static bool
is_prose(struct hf_str path)
{
	return hf_str_ends(path, ".md") || hf_str_ends(path, ".txt") ||
	    hf_str_ends(path, ".rst") || hf_str_ends(path, "README") ||
	    hf_str_ends(path, ".adoc");
}

/* The last edit of what the item speaks of: the files that it names, else
 * any file that is not prose. */
static uint32_t
last_edit(const struct check *c, struct hf_str item)
{
	const struct hf_fact_file *file;
	uint32_t named_at = 0, any = 0;
	bool named_one = false;
	size_t i;

	for (i = 0; i < c->facts.nfiles; i++) {
		file = &c->facts.file[i];
		if (!file->written)
			continue;
		if (hf_tokens_names(item, file->path)) {
			named_one = true;
			if (file->last_write > named_at)
				named_at = file->last_write;
		} else if (!is_prose(file->path) && file->last_write > any) {
			any = file->last_write;
		}
	}
	return named_one ? named_at : any;
}

/* NULL when a command bears it out, else why not. */
static const char *
unproven(const struct check *c, struct hf_str item)
{
	uint32_t edit = last_edit(c, item);
	const struct hf_fact_command *cmd;
	const char *why = "claimed verified, no evidence";
	size_t i;

	for (i = c->facts.ncommands; i-- > 0;) {
		cmd = &c->facts.command[i];
		if (!cmd->done || !speaks_of(c, item, cmd))
			continue;
		if (cmd->failed)
			return "claimed verified, the command failed";
		if (cmd->at > edit)
			return NULL;
		why = "claimed verified, edited since";
		break;
	}
	for (i = 0; i < c->rules.seed.list[HF_VERIFIED].n; i++)
		if (hf_str_eq(c->rules.seed.list[HF_VERIFIED].item[i], item) &&
		    edit == 0)
			return NULL;
	return why;
}

static void
check_verified(struct check *c)
{
	struct hf_list *l = &c->b->list[HF_VERIFIED];
	const char *why;
	size_t i = 0;

	while (i < l->n) {
		why = unproven(c, l->item[i]);
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
			hf_brief_add(c->b, HF_ARTIFACTS, file->path);
	}
}

/* Is the last request anywhere in what is to be done? */
static void
last_request(struct check *c)
{
	static const enum hf_field fields[] = { HF_PENDING, HF_NEXT_STEPS,
		HF_DECISIONS, HF_CONSTRAINTS, HF_VERIFIED };
	const struct hf_fact_text *r = NULL;
	struct hf_units want, have;
	size_t i, k;

	for (i = c->facts.nrequests; i-- > 0 && r == NULL;)
		if (!hf_cues_filler(c->facts.request[i].text))
			r = &c->facts.request[i];
	if (r == NULL)
		return;
	hf_units_of(&want, r->text);
	hf_units_of(&have, c->b->goal);
	if (want.n == 0 || hf_units_in(&want, &have) >= REPRESENTED)
		return;
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		for (k = 0; k < c->b->list[fields[i]].n; k++) {
			hf_units_of(&have, c->b->list[fields[i]].item[k]);
			if (hf_units_in(&want, &have) >= REPRESENTED)
				return;
		}
	finding(c, HF_PENDING, "the last request is missing", r->text);
	if (c->how->mode != HF_GROUND_REPAIR)
		return;
	hf_buf_clear(&c->text);
	hf_buf_puts(&c->text, "The user's last request: ");
	hf_buf_str(&c->text, hf_strn(r->text.s, hf_utf8_cut(r->text,
	    r->text.n < 1000 ? r->text.n : 1000)));
	hf_brief_add(c->b, HF_PENDING, hf_buf_view(&c->text));
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
	hf_jset_int(t, o, "tokens", (int64_t)(hf_brief_size(c->b) / 4));
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
	c->seeded = c->facts.seed.text.n > 0 && c->how->ours != NULL &&
	    c->how->ours(c->facts.seed.text, c->how->arg);
	hf_rules_read(&c->rules, &c->facts, c->seeded);
	hf_tokens_init(&c->tokens, c->facts.cwd, c->how->home);
	read_said(c);
	read_generic(c);
	return read_tokens(c, err);
}

static void
all_checks(struct check *c)
{
	static const enum hf_field fields[] = { HF_DECISIONS, HF_ARTIFACTS,
		HF_VERIFIED, HF_PENDING, HF_NEXT_STEPS };
	size_t i;

	check_goal(c);
	check_constraints(c);
	check_verified(c);
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		check_names(c, fields[i]);
	check_names(c, HF_CONSTRAINTS);
	lost_constraints(c);
	forgotten_files(c);
	last_request(c);
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
	if (open_check(&c, err) < 0)
		goto out;
	all_checks(&c);
	if (how->mode == HF_GROUND_STRICT && c.first.len > 0) {
		hf_err_set(err, HF_E_INVALID_BRIEF, "%s",
		    hf_buf_cstr(&c.first));
		goto out;
	}
	if (how->mode == HF_GROUND_REPAIR)
		fit(&c);
	out = report(&c);
out:
	free(c.said);
	hf_rules_release(&c.rules);
	hf_tokens_release(&c.tokens);
	hf_facts_release(&c.facts);
	hf_buf_release(&c.first);
	hf_buf_release(&c.text);
	return out;
}
