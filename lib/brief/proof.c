#include "brief/proof.h"

#include <stdlib.h>
#include <string.h>

#include "base/hmac.h"
#include "brief/cues.h"
#include "brief/rules.h"
#include "brief/tokens.h"

enum { CLAIMS = 8, ABOUT = 50, TEXT_MAX = 1000 };

/* ---- runs ---- */

/* What tools that have no word for it in their names are for. */
static unsigned
kinds_of(const struct hf_shell_check *c)
{
	unsigned bits = hf_cues_checks(c->name) | hf_cues_checks(c->verb);

	if (hf_str_is(c->name, "tsc") || hf_str_is(c->name, "mypy") ||
	    hf_str_is(c->name, "pyright"))
		bits |= HF_CHECK_TYPES | HF_CHECK_LINTS;
	else if (bits == 0 && hf_str_is(c->name, "make"))
		bits = HF_CHECK_BUILDS;
	else if (bits == HF_CHECK_TOOL)
		bits |= HF_CHECK_TESTS | HF_CHECK_LINTS | HF_CHECK_BUILDS;
	return bits;
}

void
hf_proof_init(struct hf_proof *p, const struct hf_facts *f,
    const struct hf_brief *seed)
{
	const struct hf_fact_command *c;
	size_t i, k;

	p->f = f;
	p->seed = seed;
	p->kinds = hf_calloc(f->ncommands + 1, sizeof(*p->kinds));
	p->checks = hf_calloc(f->ncommands + 1, sizeof(*p->checks));
	for (i = 0; i < f->ncommands; i++) {
		c = &f->command[i];
		for (k = 0; k < c->nchecks && k < 8; k++) {
			p->kinds[i] |= kinds_of(&c->check[k]);
			if (hf_cues_check(&c->check[k]))
				p->checks[i] = (unsigned char)
				    (p->checks[i] | 1u << k);
		}
	}
}

void
hf_proof_release(struct hf_proof *p)
{
	free(p->kinds);
	free(p->checks);
	memset(p, 0, sizeof(*p));
}

bool
hf_proof_checks(const struct hf_proof *p, size_t i)
{
	return p->checks[i] != 0;
}

/* Is all that b did, or checked if it checked something, covered by a? */
static bool
covers(const struct hf_proof *p, size_t a, size_t b)
{
	const struct hf_fact_command *x = &p->f->command[a];
	const struct hf_fact_command *y = &p->f->command[b];
	size_t i, k, asked = 0;

	for (i = 0; i < y->nchecks && i < 8; i++) {
		if (p->checks[b] != 0 && !(p->checks[b] & 1u << i))
			continue;
		asked++;
		for (k = 0; k < x->nchecks && !hf_shell_covers(&x->check[k],
		    &y->check[i]); k++)
			;
		if (k == x->nchecks)
			return false;
	}
	return asked > 0;
}

bool
hf_proof_overcome(const struct hf_proof *p, size_t i)
{
	const struct hf_facts *f = p->f;
	size_t k;

	for (k = i + 1; k < f->ncommands; k++)
		if (f->command[k].done && !f->command[k].failed &&
		    covers(p, k, i))
			return true;
	return false;
}

bool
hf_proof_ran_again(const struct hf_proof *p, size_t i)
{
	const struct hf_facts *f = p->f;
	size_t k;

	for (k = i + 1; k < f->ncommands; k++)
		if (f->command[k].done && covers(p, k, i) && covers(p, i, k))
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

uint32_t
hf_proof_last_edit(const struct hf_facts *f, struct hf_str item)
{
	const struct hf_fact_file *file;
	uint32_t named_at = 0, any = 0;
	bool named = false;
	size_t i;

	for (i = 0; i < f->nfiles; i++) {
		file = &f->file[i];
		if (!file->written)
			continue;
		if (item.n > 0 && hf_tokens_names(item, file->path)) {
			named = true;
			if (file->last_write > named_at)
				named_at = file->last_write;
		}
		if (!is_prose(file->path) && file->last_write > any)
			any = file->last_write;
	}
	return named ? named_at : any;
}

/* Did a part of what i looked at, or more, fail later? */
static bool
failed_since(const struct hf_proof *p, size_t i)
{
	const struct hf_facts *f = p->f;
	size_t k;

	for (k = i + 1; k < f->ncommands; k++)
		if (f->command[k].done && f->command[k].failed &&
		    (covers(p, i, k) || covers(p, k, i)) &&
		    !hf_proof_overcome(p, k))
			return true;
	return false;
}

bool
hf_proof_holds(const struct hf_proof *p, size_t i)
{
	const struct hf_fact_command *c = &p->f->command[i];

	return c->done && !c->failed &&
	    c->at > hf_proof_last_edit(p->f, HF_STR_NONE) &&
	    !failed_since(p, i);
}

/* ---- what an item speaks of ---- */

struct claim {
	struct hf_shell shell;
	struct hf_arena arena;
	struct hf_shell_check check[CLAIMS];	/* in backticks */
	size_t n;
};

static bool
is_run(const struct hf_facts *f, const struct hf_shell_check *c)
{
	size_t i, k;

	for (i = 0; i < f->ncommands; i++)
		for (k = 0; k < f->command[i].nchecks; k++)
			if (hf_str_eq(f->command[i].check[k].name, c->name))
				return true;
	return false;
}

static void
add_claims(struct claim *c, const struct hf_facts *f, struct hf_str text)
{
	struct hf_shell_check *found;
	size_t i, n;

	hf_shell_parse(&c->shell, text);
	n = hf_shell_checks(&c->shell, &c->arena, &found);
	for (i = 0; i < n && c->n < CLAIMS; i++)
		if (hf_cues_check(&found[i]) || is_run(f, &found[i]))
			c->check[c->n++] = found[i];
}

/* The commands that an item names in backticks. */
static void
read_claims(struct claim *c, const struct hf_facts *f, struct hf_str item)
{
	size_t open, end, from = 0;

	while ((open = hf_str_find(item, HF_STR("`"), from)) != SIZE_MAX &&
	    (end = hf_str_find(item, HF_STR("`"), open + 1)) != SIZE_MAX) {
		add_claims(c, f, hf_strn(item.s + open + 1, end - open - 1));
		from = end + 1;
	}
}

static void
release(struct claim *c)
{
	hf_shell_release(&c->shell);
	hf_arena_clear(&c->arena);
}

static bool
runs_claim(const struct hf_fact_command *cmd, const struct claim *c)
{
	size_t i, k;

	for (i = 0; i < c->n; i++)
		for (k = 0; k < cmd->nchecks; k++)
			if (hf_shell_covers(&cmd->check[k], &c->check[i]))
				return true;
	return false;
}

static bool
bounded(struct hf_str t, size_t at, size_t n)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		char c = i == 0 ? (at > 0 ? t.s[at - 1] : ' ') :
		    (at + n < t.n ? t.s[at + n] : ' ');

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || c == '_' || c == '-')
			return false;
	}
	return true;
}

static bool
has_phrase(struct hf_str item, struct hf_str phrase)
{
	char text[128];
	size_t at = 0;

	if (phrase.n < 2 || phrase.n >= sizeof(text))
		return false;
	memcpy(text, phrase.s, phrase.n);
	text[phrase.n] = '\0';
	for (; (at = hf_str_ifind(item, text, at)) != SIZE_MAX; at++)
		if (bounded(item, at, phrase.n))
			return true;
	return false;
}

enum { VERB_NEAR = 24 };

/* Is the verb close behind the program's name ("mvn -q test")? */
static bool
verb_follows(struct hf_str item, const struct hf_shell_check *c)
{
	char text[64];
	struct hf_str rest;
	size_t at = 0;

	if (c->name.n >= sizeof(text))
		return false;
	memcpy(text, c->name.s, c->name.n);
	text[c->name.n] = '\0';
	for (; (at = hf_str_ifind(item, text, at)) != SIZE_MAX; at++) {
		rest = hf_strn(item.s + at + c->name.n,
		    item.n - at - c->name.n);
		if (rest.n > c->verb.n + VERB_NEAR)
			rest.n = c->verb.n + VERB_NEAR;
		if (bounded(item, at, c->name.n) && has_phrase(rest, c->verb))
			return true;
	}
	return false;
}

/* Does the item name what is checked, by program and verb ("make check"), or
 * by a program that does nothing else? 0: no; the more, the surer. */
static size_t
names_check(struct hf_str item, const struct hf_shell_check *c)
{
	size_t i, n = 1;

	if (!has_phrase(item, c->name))
		return 0;
	if (c->verb.n > 0 && verb_follows(item, c))
		n = 2;
	else if (c->verb.n > 0 && hf_cues_checks(c->name) != HF_CHECK_TOOL)
		return 0;
	for (i = 0; i < c->n; i++)
		n += hf_str_find(item, c->operand[i], 0) != SIZE_MAX;
	return n;
}

static size_t
names_run(struct hf_str item, const struct hf_fact_command *cmd)
{
	size_t i, n, best = 0;

	for (i = 0; i < cmd->nchecks; i++)
		if ((n = names_check(item, &cmd->check[i])) > best)
			best = n;
	return best;
}

/* Is most of what the item says in the command and what it printed? */
static bool
tells_of(struct hf_str item, const struct hf_fact_command *cmd)
{
	struct hf_buf all = HF_BUF_INIT;
	struct hf_units a, b;

	hf_buf_str(&all, cmd->text);
	hf_buf_putc(&all, ' ');
	hf_buf_str(&all, cmd->output);
	hf_units_of(&a, item);
	hf_units_of(&b, hf_buf_view(&all));
	hf_buf_release(&all);
	return a.n > 0 && hf_units_in(&a, &b) >= ABOUT;
}

/* Does it name a program and what it was to do, "make lint", that nobody
 * ran? That is asked when no run is named. */
static bool
names_other(struct hf_str item)
{
	static const char *const programs[] = { "make", "npm", "yarn",
		"pnpm", "bun", "cargo", "go", "just", "rake", "tox" };
	struct hf_str rest, word;
	size_t i, at, n;

	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		for (at = 0; (at = hf_str_ifind(item, programs[i], at)) !=
		    SIZE_MAX; at++) {
			n = strlen(programs[i]);
			if (!bounded(item, at, n))
				continue;
			rest = hf_strn(item.s + at + n, item.n - at - n);
			if (hf_str_starts(rest, " run "))
				rest = hf_strn(rest.s + 4, rest.n - 4);
			for (n = 1; n < rest.n && rest.s[0] == ' ' &&
			    strchr(" ,.;:`'\"", rest.s[n]) == NULL; n++)
				;
			word = hf_strn(rest.s, n < rest.n ? n : rest.n);
			if (hf_cues_checks(hf_str_trim(word)) != 0)
				return true;
		}
	return false;
}

/* ---- the verdict ---- */

/* Which runs an item means, by the surest sign that there is. */
struct meant {
	const struct hf_proof *p;
	const struct hf_facts *f;
	struct hf_str item;
	struct claim claim;
	size_t best;		/* of names_run */
	unsigned kinds;
	enum { BY_CLAIM, BY_NAME, BY_KIND, BY_WORDS, BY_NOTHING } how;
};

static void
read_meaning(struct meant *m)
{
	size_t i, n;
	unsigned kinds;

	read_claims(&m->claim, m->f, m->item);
	m->how = BY_CLAIM;
	if (m->claim.n > 0)
		return;
	for (i = 0; i < m->f->ncommands; i++)
		if ((n = names_run(m->item, &m->f->command[i])) > m->best)
			m->best = n;
	kinds = hf_cues_checks(m->item);
	m->how = BY_NAME;
	if (m->best > 0)
		return;
	m->how = BY_NOTHING;	/* a tool that never ran */
	if ((kinds & HF_CHECK_TOOL) || names_other(m->item))
		return;
	m->kinds = kinds;
	m->how = kinds != 0 ? BY_KIND : BY_WORDS;
}

static bool
means(const struct meant *m, size_t i)
{
	const struct hf_fact_command *cmd = &m->f->command[i];

	switch (m->how) {
	case BY_CLAIM:
		return runs_claim(cmd, &m->claim);
	case BY_NAME:
		return names_run(m->item, cmd) == m->best;
	case BY_KIND:
		return (m->p->kinds[i] & m->kinds) != 0;
	case BY_WORDS:
		return tells_of(m->item, cmd);
	case BY_NOTHING:
		break;
	}
	return false;
}

/* Of several runs the last one counts, where tests in general are meant
 * each that is not overcome. */
static const char *
by_runs(const struct meant *m, uint32_t edit)
{
	const struct hf_facts *f = m->f;
	const char *why = "claimed verified, no evidence";
	const struct hf_fact_command *cmd;
	bool passed = false;
	size_t i;

	for (i = f->ncommands; i-- > 0;) {
		cmd = &f->command[i];
		if (!cmd->done || !means(m, i))
			continue;
		if (cmd->failed && (!passed || m->how == BY_KIND) &&
		    !hf_proof_overcome(m->p, i))
			return "claimed verified, the command failed";
		if (cmd->failed || passed)
			continue;
		if (cmd->at <= edit) {
			why = "claimed verified, edited since";
			break;
		}
		passed = true;
		if (m->how != BY_KIND)
			break;
	}
	return passed ? NULL : why;
}

/* Did the brief that the session began with say so? */
static bool
in_seed(const struct meant *m, const struct hf_brief *seed)
{
	const struct hf_list *l = &seed->list[HF_VERIFIED];
	struct hf_units a, b;
	struct claim was;
	size_t i, k, n;
	bool same = false;

	hf_units_of(&a, m->item);
	for (i = 0; i < l->n && !same; i++) {
		same = hf_rules_same_text(l->item[i], m->item);
		hf_units_of(&b, l->item[i]);
		same = same || (a.n > 0 && hf_units_in(&a, &b) >= 70 &&
		    hf_units_has_numbers(&a, &b));
		memset(&was, 0, sizeof(was));
		read_claims(&was, m->f, l->item[i]);
		for (k = 0; k < was.n && !same; k++) {
			for (n = 0; n < m->claim.n && !same; n++)
				same = hf_shell_covers(&was.check[k],
				    &m->claim.check[n]);
			same = same || (m->claim.n == 0 &&
			    names_check(m->item, &was.check[k]) > 0);
		}
		release(&was);
	}
	return same;
}

const char *
hf_proof_missing(const struct hf_proof *p, struct hf_str item)
{
	static const char nothing[] = "claimed verified, no evidence";
	struct meant m = { .p = p, .f = p->f, .item = item };
	uint32_t edit = hf_proof_last_edit(p->f, item);
	const char *why;

	if (item.n > TEXT_MAX)
		m.item.n = hf_utf8_cut(item, TEXT_MAX);
	read_meaning(&m);
	why = by_runs(&m, edit);
	if (why != NULL && strcmp(why, nothing) == 0 && edit == 0 &&
	    p->seed != NULL && in_seed(&m, p->seed))
		why = NULL;
	release(&m.claim);
	return why;
}

static bool
last_run(const struct hf_proof *p, struct hf_str item, bool *failed)
{
	struct claim c;
	size_t i;
	bool ran = false;

	memset(&c, 0, sizeof(c));
	read_claims(&c, p->f, item);
	for (i = p->f->ncommands; i-- > 0 && !ran && c.n > 0;) {
		ran = p->f->command[i].done &&
		    runs_claim(&p->f->command[i], &c);
		*failed = p->f->command[i].failed;
	}
	release(&c);
	return ran;
}

bool
hf_proof_succeeded(const struct hf_proof *p, struct hf_str item)
{
	bool failed = false;

	return last_run(p, item, &failed) && !failed;
}

bool
hf_proof_ran(const struct hf_proof *p, struct hf_str item)
{
	bool failed = false;

	return last_run(p, item, &failed);
}

static bool
printed(const struct hf_fact_command *c, struct hf_str digits)
{
	uint64_t h = hf_hash(digits);
	size_t i;

	for (i = 0; i < c->nnumbers; i++)
		if (c->number[i] == h)
			return true;
	return hf_str_find(c->text, digits, 0) != SIZE_MAX;
}

bool
hf_proof_other_number(const struct hf_proof *p, struct hf_str item,
    struct hf_str digits)
{
	struct meant m = { .p = p, .f = p->f, .item = item };
	bool ran = false, said = false;
	size_t i;

	if (item.n > TEXT_MAX)
		m.item.n = hf_utf8_cut(item, TEXT_MAX);
	read_meaning(&m);
	if (m.how == BY_CLAIM || m.how == BY_NAME)
		for (i = 0; i < p->f->ncommands && !said; i++)
			if (p->f->command[i].done && means(&m, i)) {
				ran = true;
				said = printed(&p->f->command[i], digits);
			}
	if (ran && !said && p->seed != NULL)
		said = in_seed(&m, p->seed);
	release(&m.claim);
	return ran && !said;
}
