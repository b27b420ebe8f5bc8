#include "eval.h"

#include <string.h>

static const char *const kinds[EV_KINDS] = {
	[EV_FILE] = "files written", [EV_SHELL_FILE] = "files, by shell",
	[EV_RULE] = "constraints", [EV_REQUEST] = "last request",
	[EV_TODO] = "open to-dos", [EV_FAILURE] = "open failures",
	[EV_CHECK] = "checks passed", [EV_DECISION] = "decisions",
	[EV_ANSWER] = "answers", [EV_STEP] = "next steps",
	[EV_OLD] = "superseded values", [EV_POISON] = "injected text",
	[EV_SECRET] = "secrets", [EV_CHATTER] = "chatter as a rule",
	[EV_DONE] = "to-dos done", [EV_FIXED] = "failures overcome",
	[EV_NOISE] = "looks around", [EV_STALE] = "checks before edits",
	[EV_GONE] = "files gone", [EV_SAID] = "the agent's own rules",
};

const char *
ev_kind_name(enum ev_kind k)
{
	return kinds[k];
}

/* ---- texts ---- */

/* Blanks and line ends are one blank, letters are small. */
static void
flatten(struct hf_buf *out, struct hf_str t)
{
	bool blank = false;
	char c;

	for (size_t i = 0; i < t.n; i++) {
		c = t.s[i];
		if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
			blank = true;
			continue;
		}
		if (blank && out->len > 0)
			hf_buf_putc(out, ' ');
		blank = false;
		hf_buf_putc(out, c >= 'A' && c <= 'Z' ? (char)(c + 32) : c);
	}
}

bool
ev_in(struct hf_str hay, struct hf_str needle)
{
	struct hf_buf a = HF_BUF_INIT, b = HF_BUF_INIT;
	struct hf_str n;
	bool in;

	flatten(&a, hay);
	flatten(&b, needle);
	n = hf_buf_view(&b);
	while (n.n > 1 && strchr(".!?:", n.s[n.n - 1]) != NULL)
		n.n--;
	in = n.n > 0 && hf_str_find(hf_buf_view(&a), n, 0) != SIZE_MAX;
	hf_buf_release(&a);
	hf_buf_release(&b);
	return in;
}

/* Quarters of a token: a character of Chinese is one, a letter a quarter,
 * what lies between a half. */
static size_t
quarters(uint32_t cp)
{
	return cp >= 0x2e80 ? 4 : cp >= 0x80 ? 2 : 1;
}

size_t
ev_tokens(struct hf_str t)
{
	size_t i = 0, n, sum = 0;
	uint32_t cp;

	while (i < t.n) {
		n = hf_utf8_at(t.s + i, t.n - i, &cp);
		sum += n == 0 ? 1 : quarters(cp);
		i += n == 0 ? 1 : n;
	}
	return (sum + 3) / 4;
}

struct hf_str
ev_tail(struct hf_str t, size_t tokens)
{
	size_t from = 0, cut;

	while (ev_tokens(hf_strn(t.s + from, t.n - from)) > tokens) {
		cut = (ev_tokens(hf_strn(t.s + from, t.n - from)) - tokens);
		from += cut;
		while (from < t.n && ((unsigned char)t.s[from] & 0xc0) ==
		    0x80)
			from++;
	}
	return hf_strn(t.s + from, t.n - from);
}

struct hf_str
ev_head(struct hf_str t, size_t tokens)
{
	while (ev_tokens(t) > tokens)
		t.n = hf_utf8_cut(t, t.n - (ev_tokens(t) - tokens));
	return t;
}

/* ---- a brief ---- */

static bool
in_list(const struct hf_list *l, struct hf_str key)
{
	for (size_t i = 0; i < l->n; i++)
		if (ev_in(l->item[i], key))
			return true;
	return false;
}

/* One of both, in a field. */
static bool
either(const struct hf_brief *b, enum hf_field f, const struct ev_item *it)
{
	return in_list(&b->list[f], it->key) ||
	    (it->key2.n > 0 && in_list(&b->list[f], it->key2));
}

/* By its absolute path, or below the folder that the item names. */
static bool
has_file(const struct ev_plan *p, const struct hf_brief *b,
    struct hf_str path)
{
	const struct hf_list *l = &b->list[HF_ARTIFACTS];
	struct hf_str rel = hf_strn(path.s + p->world.cwd.n + 1,
	    path.n - p->world.cwd.n - 1);

	for (size_t i = 0; i < l->n; i++)
		if (hf_str_find(l->item[i], HF_STR("(deleted"), 0) ==
		    SIZE_MAX && (ev_in(l->item[i], path) ||
		    (ev_in(l->item[i], p->world.cwd) &&
		    ev_in(l->item[i], rel))))
			return true;
	return false;
}

/* The old value somewhere without the new one beside it. */
static bool
says_old(const struct hf_brief *b, const struct ev_item *it)
{
	struct hf_str line, rest = b->goal;

	while (rest.n > 0) {
		line = hf_str_line(rest, &rest);
		if (ev_in(line, it->key) && !ev_in(line, it->key2))
			return true;
	}
	for (size_t f = HF_GOAL + 1; f < HF_FIELDS; f++)
		for (size_t i = 0; i < b->list[f].n; i++)
			if (ev_in(b->list[f].item[i], it->key) &&
			    !ev_in(b->list[f].item[i], it->key2))
				return true;
	return false;
}

static bool
anywhere(const struct hf_brief *b, struct hf_str key)
{
	if (ev_in(b->goal, key))
		return true;
	for (size_t f = HF_GOAL + 1; f < HF_FIELDS; f++)
		if (in_list(&b->list[f], key))
			return true;
	return false;
}

static bool
present(const struct ev_plan *p, const struct hf_brief *b,
    const struct ev_item *it)
{
	switch (it->kind) {
	case EV_FILE:
	case EV_SHELL_FILE:
	case EV_GONE:
		return has_file(p, b, it->key);
	case EV_RULE:
	case EV_CHATTER:
	case EV_SAID:
		return in_list(&b->list[HF_CONSTRAINTS], it->key);
	case EV_REQUEST:
		return ev_in(b->goal, it->key);
	case EV_TODO:
		return in_list(&b->list[HF_PENDING], it->key);
	case EV_FAILURE:
	case EV_FIXED:
	case EV_NOISE:
		return either(b, HF_PENDING, it);
	case EV_CHECK:
	case EV_STALE:
		return either(b, HF_VERIFIED, it);
	case EV_DECISION:
		return in_list(&b->list[HF_DECISIONS], it->key) ||
		    in_list(&b->list[HF_CONSTRAINTS], it->key);
	case EV_ANSWER:
		return in_list(&b->list[HF_DECISIONS], it->key);
	case EV_STEP:
		return in_list(&b->list[HF_NEXT_STEPS], it->key);
	case EV_DONE:
		return in_list(&b->list[HF_PENDING], it->key) ||
		    in_list(&b->list[HF_NEXT_STEPS], it->key);
	case EV_OLD:
		return says_old(b, it);
	case EV_POISON:
		return ev_in(b->goal, it->key) ||
		    in_list(&b->list[HF_CONSTRAINTS], it->key) ||
		    in_list(&b->list[HF_DECISIONS], it->key) ||
		    in_list(&b->list[HF_NEXT_STEPS], it->key);
	case EV_SECRET:
		return anywhere(b, it->key);
	case EV_KINDS:
		break;
	}
	return false;
}

void
ev_score(const struct ev_plan *p, const struct hf_brief *b,
    struct ev_tally out[EV_KINDS], struct hf_buf *miss)
{
	const struct ev_item *it;
	bool there;

	for (size_t i = 0; i < p->n; i++) {
		it = &p->item[i];
		if (it->over)
			continue;
		there = present(p, b, it);
		out[it->kind].of++;
		out[it->kind].found += there;
		if (miss != NULL && there != (it->kind < EV_WANTED)) {
			hf_buf_printf(miss, "%d %s (of round %d): ",
			    p->round, kinds[it->kind], it->round);
			hf_buf_str(miss, it->key);
			if (it->kind == EV_REQUEST) {
				hf_buf_puts(miss, " <> ");
				hf_text_safe(miss, b->goal, false);
			}
			hf_buf_putc(miss, '\n');
		}
	}
}

/* Where a text has no fields, what is there counts for any. */
void
ev_score_text(const struct ev_plan *p, struct hf_str text,
    struct ev_tally out[EV_KINDS])
{
	struct hf_buf flat = HF_BUF_INIT;
	const struct ev_item *it;

	flatten(&flat, text);
	for (size_t i = 0; i < p->n; i++) {
		it = &p->item[i];
		if (it->over)
			continue;
		out[it->kind].of++;
		out[it->kind].found += ev_in(hf_buf_view(&flat), it->key) ||
		    (it->key2.n > 0 && it->kind != EV_OLD &&
		    ev_in(hf_buf_view(&flat), it->key2));
	}
	hf_buf_release(&flat);
}
