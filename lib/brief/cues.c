#include "brief/cues.h"

#include <string.h>

/*
 * A sentence is looked at clause by clause. A cue says what a clause is;
 * who its subject is decides whether it counts: "never push" and "you must
 * not push" are rules, "I never saw that" and "it always fails" are not.
 */
enum cue_kind {
	RULE,		/* with any subject but "I" */
	IMPERATIVE,	/* at the start of a clause, or of "you" and "we" */
	ADVERB,		/* never, always, only: by the verb behind */
	WANT,		/* of "I" too */
	MODAL,		/* RULE that makes one of "it" and "that" as well */
	LABEL,		/* in front of a colon */
	LEAD,		/* words before a clause that say nothing */
	STORY,		/* the clause tells something */
	TALE,		/* so it does, but for one with a modal verb */
	HEDGE,		/* the whole sentence does */
	DECISION, CORRECTION, FILLER, CONTINUES, NEXT, HEADING,
	TESTS, LINTS, BUILDS, TYPES, TOOL
};
enum {
	WORD = 1,	/* bounded by characters that are no ASCII letter,
			 * digit or underscore */
	START = 2	/* only at the beginning */
};

static const struct cue {
	enum cue_kind kind;
	int how;
	const char *text;	/* lower case; "~" is a gap */
} cues[] = {
#include "brief/cues.def"
};
enum { NCUES = sizeof(cues) / sizeof(cues[0]) };

enum { HITS_MAX = 96, SENTENCE_MIN = 6, SENTENCE_MAX = 1000,
	FILLER_MAX = 80, CONTINUES_MAX = 300 };

static bool
wordy(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
}

/* ---- looking for cues ---- */

/* The table by first byte, so that a text is gone through once. */
struct index {
	uint16_t from[257];
	uint16_t cue[NCUES];
};

static void
make_index(struct index *x)
{
	uint16_t next[257];
	size_t i;

	memset(x->from, 0, sizeof(x->from));
	for (i = 0; i < NCUES; i++)
		x->from[(unsigned char)cues[i].text[0] + 1]++;
	for (i = 1; i < 257; i++)
		x->from[i] = (uint16_t)(x->from[i] + x->from[i - 1]);
	memcpy(next, x->from, sizeof(next));
	for (i = 0; i < NCUES; i++)
		x->cue[next[(unsigned char)cues[i].text[0]]++] = (uint16_t)i;
}

struct hit {
	const struct cue *cue;
	size_t at, n;
};
struct hits {
	struct hit h[HITS_MAX];
	size_t n;
};

/* The length of a part of a cue at place i of text, 0 if it is not there. */
static size_t
part_at(struct hf_str text, size_t i, const char *part, size_t n, bool word)
{
	if (n > text.n - i || memcmp(text.s + i, part, n) != 0)
		return 0;
	if (word && ((i > 0 && wordy((unsigned char)text.s[i - 1]) &&
	    wordy((unsigned char)part[0])) || (i + n < text.n &&
	    wordy((unsigned char)text.s[i + n]) &&
	    wordy((unsigned char)part[n - 1]))))
		return 0;
	return n;
}

static size_t
cue_at(const struct cue *c, struct hf_str text, size_t i)
{
	const char *gap = strchr(c->text, '~'), *part = c->text;
	size_t n = gap != NULL ? (size_t)(gap - part) : strlen(part), at = i;
	bool word = (c->how & WORD) != 0;

	while (gap != NULL && n > 0 && part[n - 1] == ' ')
		n--;
	if (part_at(text, i, part, n, word) == 0)
		return 0;
	while (gap != NULL) {
		at += n;
		for (part = gap + 1; *part == ' '; part++)
			;
		gap = strchr(part, '~');
		n = gap != NULL ? (size_t)(gap - part) : strlen(part);
		while (gap != NULL && n > 0 && part[n - 1] == ' ')
			n--;
		while (at < text.n && part_at(text, at, part, n, word) == 0)
			at++;
		if (at >= text.n)
			return 0;
	}
	return at + n - i;
}

/* All cues in a text that is flat. */
static void
look(struct hits *out, struct hf_str text)
{
	const struct cue *c;
	struct index x;
	size_t i, k, n;

	out->n = 0;
	make_index(&x);
	for (i = 0; i < text.n; i++)
		for (k = x.from[(unsigned char)text.s[i]];
		    k < x.from[(unsigned char)text.s[i] + 1]; k++) {
			c = &cues[x.cue[k]];
			if (out->n < HITS_MAX &&
			    (n = cue_at(c, text, i)) > 0)
				out->h[out->n++] = (struct hit){ c, i, n };
		}
}

static const struct hit *
hit_at(const struct hits *hs, enum cue_kind kind, size_t at)
{
	const struct hit *best = NULL;
	size_t i;

	for (i = 0; i < hs->n; i++)
		if (hs->h[i].cue->kind == kind && hs->h[i].at == at &&
		    (best == NULL || hs->h[i].n > best->n))
			best = &hs->h[i];
	return best;
}

/* One of the kind that begins in [from, to); what counts only at the start
 * must stand at from. */
static const struct hit *
hit_in(const struct hits *hs, enum cue_kind kind, size_t from, size_t to)
{
	size_t i;

	for (i = 0; i < hs->n; i++)
		if (hs->h[i].cue->kind == kind && hs->h[i].at >= from &&
		    hs->h[i].at < to && (hs->h[i].at == from ||
		    !(hs->h[i].cue->how & START)))
			return &hs->h[i];
	return NULL;
}

/* Small letters, single blanks, straight apostrophes, no emphasis. */
static void
flatten(struct hf_buf *out, struct hf_str t)
{
	bool blank = false;
	size_t i;
	char c;

	for (i = 0; i < t.n; i++) {
		c = t.s[i];
		if (t.n - i >= 3 && (memcmp(t.s + i, "\xe2\x80\x99", 3) == 0 ||
		    memcmp(t.s + i, "\xe2\x80\x98", 3) == 0)) {
			c = '\'';
			i += 2;
		}
		if (strchr("*`\"", c) != NULL && c != '\0')
			continue;
		if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
			blank = out->len > 0;
			continue;
		}
		if (blank)
			hf_buf_putc(out, ' ');
		blank = false;
		/* Also of Latin-1: A with grave to Thorn. */
		if ((c >= 'A' && c <= 'Z') || (i > 0 && t.s[i - 1] == '\xc3' &&
		    (unsigned char)c >= 0x80 && (unsigned char)c <= 0x9e))
			c = (char)(c + 32);
		hf_buf_putc(out, c);
	}
}

/* ---- clauses ---- */

/* The bytes of what parts two clauses at place i, 0 if nothing does. With
 * the words of the second list a clause begins. */
static size_t
parts_at(struct hf_str t, size_t i)
{
	static const char *const begins[] = { " without ", " using only ",
		" as long as ", " unless ", " because " };

	static const char *const parts[] = { ", ", "; ", ": ", " but ",
		" and ", " - ", "\xef\xbc\x8c", "\xef\xbc\x9b",
		"\xef\xbc\x9a", " \xe2\x80\x93 ", " \xe2\x80\x94 " };
	size_t k;

	for (k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
		if (hf_str_starts(hf_strn(t.s + i, t.n - i), parts[k]))
			return strlen(parts[k]);
	for (k = 0; k < sizeof(begins) / sizeof(begins[0]); k++)
		if (hf_str_starts(hf_strn(t.s + i, t.n - i), begins[k]))
			return 1;
	return 0;
}

struct clause {
	struct hf_str t;		/* the flat sentence */
	const struct hits *hs;
	size_t from, to;		/* without the words that lead it in */
};

enum subject { NOUN, I, WE, YOU, IT, UNDER };

static struct hf_str
word_at(const struct clause *c, size_t at)
{
	size_t n;

	while (at < c->to && !wordy((unsigned char)c->t.s[at]))
		at++;
	for (n = at; n < c->to && (wordy((unsigned char)c->t.s[n]) ||
	    c->t.s[n] == '\''); n++)
		;
	return hf_strn(c->t.s + at, n - at);
}

static bool
one_of(struct hf_str w, const char *const *list)
{
	for (; *list != NULL; list++)
		if (hf_str_is(w, *list))
			return true;
	return false;
}

static enum subject
subject_of(const struct clause *c)
{
	static const char *const first[] = { "i", "i'm", "i've", "i'd",
		"i'll", "im", "my", NULL };
	static const char *const thing[] = { "it", "it's", "that", "that's",
		"this", "they", "he", "she", "there", "there's", "these",
		"those", "which", "what", "they're", "nobody's", NULL };
	static const char *const under[] = { "if", "when", "because",
		"since", "while", "although", "as", "after", "until",
		"where", "who", "whose", "why", "how", NULL };
	struct hf_str w = word_at(c, c->from);

	if (one_of(w, first))
		return I;
	if (hf_str_is(w, "we") || hf_str_is(w, "we're"))
		return WE;
	if (hf_str_is(w, "you") || hf_str_is(w, "you're"))
		return YOU;
	return one_of(w, thing) ? IT : one_of(w, under) ? UNDER : NOUN;
}

/* Steps over "please", "and", "for now" and blanks at the start. */
static void
strip(struct clause *c)
{
	const struct hit *h;

	for (;;) {
		while (c->from < c->to && !wordy((unsigned char)
		    c->t.s[c->from]))
			c->from++;
		h = hit_at(c->hs, LEAD, c->from);
		if (h == NULL || h->at + h->n >= c->to)
			return;
		c->from = h->at + h->n;
	}
}

/* Is it a verb of what was, or of what something does? */
static bool
tells(struct hf_str w)
{
	static const char *const past[] = { "saw", "had", "was", "were",
		"told", "said", "got", "took", "did", "found", "came",
		"went", "been", "seen", "gave", "sent", "thought", "knew",
		"made", "ran", "wrote", "broke", "is", "has", "does", NULL };
	static const char *const not_verbs[] = { "tests", "files", "this",
		"its", "his", "less", "across", "always", "needs", "commits",
		"tabs", "spaces", "as", "pass", "process", "access",
		"address", "us", "docs", "status", "class", "css", NULL };

	if (w.n < 2 || one_of(w, not_verbs))
		return false;
	return one_of(w, past) || (w.n > 3 && hf_str_ends(w, "ed") &&
	    !hf_str_is(w, "need") && !hf_str_is(w, "embed")) ||
	    (w.n > 3 && hf_str_ends(w, "s") && !hf_str_ends(w, "ss"));
}

/* Does a verb of the clause tell something ("all tests failed")? Not one
 * that only says which are meant ("files that were edited"). */
static bool
tale(const struct clause *c)
{
	static const char *const words[] = { "was", "were", "had", "did",
		"failed", "worked", "passed", "looked", "happened", "sent",
		"took", "saw", "went", "came", "works", "fails", "passes",
		"happens", "crashes", "looks", "seems", "fail", "pass",
		"work", NULL };
	static const char *const which[] = { "that", "which", "who", "it",
		"they", "you", NULL };
	struct hf_str w, before = HF_STR_NONE;
	size_t at = c->from;

	while ((w = word_at(c, at)).n > 0) {
		if (one_of(w, words) && !one_of(before, which))
			return true;
		at = (size_t)(w.s - c->t.s) + w.n;
		before = w;
	}
	return false;
}

/* "never", "always", "only" where h stands. */
static bool
adverb(const struct clause *c, const struct hit *h, enum subject who)
{
	static const char *const no_verbs[] = { "the", "a", "an", "that",
		"this", "mind", "again", "one", "two", "three", "some", "my",
		"because", NULL };
	struct hf_str w = word_at(c, h->at + h->n);

	if (who == I || who == IT || who == UNDER || tells(w) ||
	    one_of(w, no_verbs))
		return false;
	if (w.n > 0 && w.s[0] >= '0' && w.s[0] <= '9')
		return false;
	return !tale(c);
}

static bool
imperative(const struct clause *c, enum subject who)
{
	static const char *const open[] = { "no", "all", "every", "each",
		"any", "everything", "nothing", "nobody", "whenever",
		"anything", "always", "never", NULL };
	const struct hit *h = hit_at(c->hs, IMPERATIVE, c->from);
	struct hf_str w;

	if (h == NULL || who == I || who == IT || h->at + h->n >= c->to)
		return false;
	/* With these a story may begin as well as an order. */
	if (!one_of(hf_strn(c->t.s + h->at, h->n), open))
		return true;
	w = word_at(c, h->at + h->n);
	return !tale(c) && hit_in(c->hs, TALE, c->from, c->to) == NULL &&
	    !((hf_str_is(hf_strn(c->t.s + h->at, h->n), "never") ||
	    hf_str_is(hf_strn(c->t.s + h->at, h->n), "always")) && tells(w));
}

/* "If you need X you should always …", in one clause. */
static bool
obliged(const struct clause *c)
{
	static const char *const words[] = { "you should", "you must",
		"you may not", "you need to", "you have to" };
	size_t i, at;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		at = hf_str_find(hf_strn(c->t.s, c->to), hf_str(words[i]),
		    c->from + 12);
		if (at != SIZE_MAX)
			return true;
	}
	return false;
}

static bool
clause_rules(const struct clause *c)
{
	enum subject who = subject_of(c);
	const struct hit *h;
	size_t i;

	if (hit_in(c->hs, WANT, c->from, c->to) != NULL)
		return true;
	if (hit_in(c->hs, STORY, c->from, c->to) != NULL || who == I)
		return false;
	if (imperative(c, who))
		return true;
	if (who == UNDER)
		return obliged(c);
	if (hit_in(c->hs, MODAL, c->from, c->to) != NULL)
		return true;
	if (hit_in(c->hs, TALE, c->from, c->to) != NULL)
		return false;
	if (hit_in(c->hs, RULE, c->from, c->to) != NULL)
		return true;
	for (i = 0; i < c->hs->n; i++) {
		h = &c->hs->h[i];
		if (h->cue->kind == ADVERB && h->at >= c->from &&
		    h->at < c->to && adverb(c, h, who))
			return true;
	}
	return false;
}

/* ---- sentences ---- */

/* "?" or its full-width form at the end. */
static bool
question(struct hf_str t)
{
	return hf_str_ends(t, "?") || hf_str_ends(t, "\xef\xbc\x9f");
}

/* "Could you please not …?" asks for it all the same. */
static bool
polite(struct hf_str t)
{
	static const char *const leads[] = { "can you", "could you",
		"would you", "will you", "please", "pls" };
	size_t i;

	for (i = 0; i < sizeof(leads) / sizeof(leads[0]); i++)
		if (hf_str_starts(t, leads[i]))
			return true;
	return false;
}

/* Does it begin with a case ("before you commit", "if it fails")? */
static bool
has_case(struct hf_str t)
{
	static const char *const leads[] = { "if ", "when ", "whenever ",
		"before ", "after ", "during ", "each time ", "every time ",
		"once " };
	size_t i;

	for (i = 0; i < sizeof(leads) / sizeof(leads[0]); i++)
		if (hf_str_starts(t, leads[i]))
			return !hf_str_starts(t, "after that") &&
			    !hf_str_starts(t, "after this");
	return false;
}

/* What to do in that case: the clause begins with a verb. */
static bool
orders(const struct clause *c)
{
	static const char *const verbs[] = { "use", "run", "make", "update",
		"add", "commit", "submit", "ask", "stop", "report", "explain",
		"check", "verify", "re-read", "read", "restart", "rebuild",
		"write", "rerun", "create", "open", "call", "put", "fix",
		"show", "tell", "explain", "revert", "close", "start", "give",
		"include", "return", "log", "generate", "remove", "preview",
		"prefer", NULL };

	return one_of(word_at(c, c->from), verbs);
}

/* The number of the first clause that rules, from 1; 0: none. */
static int
rules(struct hf_str t, const struct hits *hs)
{
	struct clause c = { .t = t, .hs = hs };
	size_t i = 0, from = 0, n;
	const struct hit *label = hit_at(hs, LABEL, 0);
	bool in_case = has_case(t);

	int number = 0;

	if (hit_in(hs, HEDGE, 0, t.n) != NULL)
		return 0;
	if (label != NULL && label->n < t.n && t.s[label->n] == ':')
		return 1;
	while (i <= t.n) {
		n = i < t.n ? parts_at(t, i) : 1;
		if (n == 0) {
			i++;
			continue;
		}
		c.from = from;
		c.to = i;
		strip(&c);
		if (c.from < c.to && (++number, clause_rules(&c) ||
		    (in_case && from > 0 && orders(&c))))
			return number;
		i += n;
		from = i;
	}
	return 0;
}

/* Is it of a length that a rule may have? The flat text is in *flat. */
static bool
looked_at(struct hf_str sentence, struct hf_buf *flat, struct hits *hs)
{
	if (sentence.n < SENTENCE_MIN || sentence.n > SENTENCE_MAX)
		return false;
	flatten(flat, sentence);
	look(hs, hf_buf_view(flat));
	return true;
}

static int
ruling_clause(struct hf_str sentence)
{
	struct hf_buf flat = HF_BUF_INIT;
	struct hits hs;
	int number = 0;

	if (looked_at(sentence, &flat, &hs) && (!question(sentence) ||
	    polite(hf_buf_view(&flat))))
		number = rules(hf_buf_view(&flat), &hs);
	hf_buf_release(&flat);
	return number;
}

bool
hf_cues_rule(struct hf_str sentence)
{
	return ruling_clause(sentence) > 0;
}

bool
hf_cues_rule_alone(struct hf_str sentence)
{
	return ruling_clause(sentence) == 1;
}

/* Where no blanks divide words, and where the verb is not the first. */
static bool
polite_anywhere(struct hf_str t)
{
	static const char *const words[] = {
		"\xe8\xaf\xb7", "\xe5\xb8\xae",
		"\xe8\x83\xbd\xe4\xb8\x8d\xe8\x83\xbd",
		"\xe8\x83\xbd\xe5\x90\xa6", "\xe5\x8f\xaf\xe4\xbb\xa5",
		"kannst du", "k\xc3\xb6nntest du", "peux-tu", "pourrais-tu",
		"puedes", "podr\xc3\xad" "as", "voc\xc3\xaa" " pode",
		"poderia",
		"\xe3\x81\x8f\xe3\x81\xa0\xe3\x81\x95\xe3\x81\x84",
		"\xec\xa4\x98"
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (hf_str_ifind(t, words[i], 0) != SIZE_MAX)
			return true;
	return false;
}

bool
hf_cues_asks(struct hf_str sentence)
{
	struct hf_buf flat = HF_BUF_INIT;
	struct hits hs;
	bool is = question(sentence) && looked_at(sentence, &flat, &hs) &&
	    !polite(hf_buf_view(&flat)) && !polite_anywhere(sentence);

	hf_buf_release(&flat);
	return is;
}

bool
hf_cues_decision(struct hf_str sentence)
{
	struct hf_buf flat = HF_BUF_INIT;
	struct hits hs;
	bool is = false;

	if (!question(sentence) && looked_at(sentence, &flat, &hs))
		is = hit_in(&hs, DECISION, 0, flat.len) != NULL;
	hf_buf_release(&flat);
	return is;
}

bool
hf_cues_correction(struct hf_str sentence)
{
	struct hf_buf flat = HF_BUF_INIT;
	struct hits hs;
	bool is = false;

	if (looked_at(sentence, &flat, &hs))
		is = hit_in(&hs, CORRECTION, 0, flat.len) != NULL;
	hf_buf_release(&flat);
	return is;
}

/* ---- whole texts ---- */

/* The longest filler at place i; a punctuation mark or blank counts one. */
static size_t
filler_at(const struct hits *hs, struct hf_str text, size_t i)
{
	static const char *const marks[] = { ",", ".", "!", " ", "-", ":",
		";", "?", "~", "\xef\xbc\x8c", "\xe3\x80\x82",
		"\xef\xbc\x81", "\xe3\x80\x81", "\xf0\x9f\x91\x8d",
		"\xf0\x9f\x99\x82", "\xe2\x9c\x85" };
	const struct hit *h = hit_at(hs, FILLER, i);
	size_t k;

	for (k = 0; h == NULL && k < sizeof(marks) / sizeof(marks[0]); k++)
		if (hf_str_starts(hf_strn(text.s + i, text.n - i), marks[k]))
			return strlen(marks[k]);
	return h != NULL ? h->n : 0;
}

bool
hf_cues_filler(struct hf_str text)
{
	struct hf_buf flat = HF_BUF_INIT;
	struct hits hs;
	size_t i = 0, n = 1;

	text = hf_str_trim(text);
	if (text.n > FILLER_MAX)
		return false;
	flatten(&flat, text);
	look(&hs, hf_buf_view(&flat));
	while (i < flat.len && (n = filler_at(&hs, hf_buf_view(&flat),
	    i)) > 0)
		i += n;
	hf_buf_release(&flat);
	return n > 0;
}

/* "Good. Go on with the crash." leans on what was said as much as "Also …"
 * does. */
bool
hf_cues_continues(struct hf_str text)
{
	struct hf_buf flat = HF_BUF_INIT;
	struct hits hs;
	bool does;

	text = hf_str_trim(text);
	if (text.n == 0 || text.n >= CONTINUES_MAX)
		return false;
	flatten(&flat, text);
	look(&hs, hf_buf_view(&flat));
	does = hit_in(&hs, CONTINUES, 0, flat.len) != NULL ||
	    hit_at(&hs, FILLER, 0) != NULL;
	hf_buf_release(&flat);
	return does;
}

static bool
line_has(struct hf_str line, enum cue_kind kind)
{
	struct hf_buf flat = HF_BUF_INIT;
	struct hits hs;
	bool does;

	if (line.n >= 120)
		return false;
	flatten(&flat, line);
	look(&hs, hf_buf_view(&flat));
	does = hit_in(&hs, kind, 0, flat.len) != NULL;
	hf_buf_release(&flat);
	return does;
}

bool
hf_cues_next(struct hf_str line)
{
	return line_has(line, NEXT);
}

bool
hf_cues_heading(struct hf_str line)
{
	return line_has(line, HEADING);
}

bool
hf_cues_check(const struct hf_shell_check *c)
{
	static const char *const managers[] = { "npm", "pnpm", "yarn",
		"cargo", "docker", "bun", "go", "terraform", "bazel", NULL };

	if (one_of(c->name, managers))	/* their verbs tell */
		return hf_cues_checks(c->verb) != 0;
	if (hf_str_is(c->name, "make") || hf_str_is(c->name, "gmake"))
		return true;
	return hf_cues_checks(c->name) != 0 || hf_cues_checks(c->verb) != 0 ||
	    (c->n > 0 && c->verb.n == 0 &&
	    (hf_cues_checks(c->operand[0]) | HF_CHECK_TOOL) !=
	    HF_CHECK_TOOL);
}

unsigned
hf_cues_checks(struct hf_str text)
{
	static const struct { enum cue_kind kind; unsigned bit; } kinds[] = {
		{ TESTS, HF_CHECK_TESTS }, { LINTS, HF_CHECK_LINTS },
		{ BUILDS, HF_CHECK_BUILDS }, { TYPES, HF_CHECK_TYPES },
		{ TOOL, HF_CHECK_TOOL } };
	struct hf_buf flat = HF_BUF_INIT;
	struct hits hs;
	unsigned bits = 0;
	size_t i;

	if (text.n == 0 || text.n > SENTENCE_MAX)
		return 0;
	flatten(&flat, text);
	look(&hs, hf_buf_view(&flat));
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (hit_in(&hs, kinds[i].kind, 0, flat.len) != NULL)
			bits |= kinds[i].bit;
	hf_buf_release(&flat);
	return bits;
}
