#include "brief/own.h"

#include <string.h>

#include "brief/cues.h"
#include "brief/sentences.h"

enum { SENTENCES = 256, LINE = 2048 };

/* Appends t in one line. */
static void
line(struct hf_buf *out, struct hf_str t)
{
	size_t i;

	if (t.n > LINE)
		t.n = hf_utf8_cut(t, LINE);
	for (i = 0; i < t.n; i++)
		hf_buf_putc(out, strchr("\n\r\t", t.s[i]) != NULL &&
		    t.s[i] != '\0' ? ' ' : t.s[i]);
}

struct words {
	struct hf_buf text;
	size_t from[SENTENCES];		/* where each begins */
	size_t n;
};

static bool
ends_sentence(struct hf_str t)
{
	return hf_str_ends(t, ".") || hf_str_ends(t, "!") ||
	    hf_str_ends(t, "?") || hf_str_ends(t, ":") ||
	    hf_str_ends(t, "]") || (unsigned char)t.s[t.n - 1] >= 0x80;
}

static void
one_sentence(struct words *w, const struct hf_sentences *s,
    struct hf_str sentence)
{
	if (s->skipped > 0)
		hf_buf_printf(&w->text, "%s[%zu lines of pasted text]",
		    w->text.len > 0 ? " " : "", s->skipped);
	/* The user's line ends stay where a sentence has none of its own. */
	if (w->text.len > 0)
		hf_buf_putc(&w->text, s->item ||
		    !ends_sentence(hf_buf_view(&w->text)) ? '\n' : ' ');
	if (w->n < SENTENCES)
		w->from[w->n++] = w->text.len;
	if (s->item)
		hf_buf_puts(&w->text, "- ");
	line(&w->text, sentence);
}

static void
own_words(const struct hf_rules *rules, struct hf_str request,
    bool with_rules, struct words *w)
{
	struct hf_sentences s;
	struct hf_str sentence;

	hf_buf_clear(&w->text);
	w->n = 0;
	hf_sentences_init(&s, request);
	while (hf_sentences_next(&s, &sentence)) {
		if (s.heading || hf_rules_outdated(rules, sentence))
			continue;
		if (w->n > 0 && !with_rules && (s.rule_list ||
		    hf_cues_rule_alone(sentence)))
			continue;
		one_sentence(w, &s, sentence);
	}
	if (s.skipped > 0)
		hf_buf_printf(&w->text, "%s[%zu lines of pasted text]",
		    w->text.len > 0 ? " " : "", s.skipped);
	hf_sentences_release(&s);
}

/* Whole sentences of the beginning and of the end. */
static void
shortened(struct hf_buf *out, const struct words *w, size_t max)
{
	struct hf_str t = hf_buf_view(&w->text);
	size_t head = 0, tail = t.n, i;

	if (t.n <= max) {
		hf_buf_str(out, t);
		return;
	}
	for (i = 1; i < w->n && w->from[i] <= max * 2 / 3; i++)
		head = w->from[i];
	for (i = w->n; i-- > 1 && t.n - w->from[i] <= max / 3 &&
	    w->from[i] >= head;)
		tail = w->from[i];
	if (head == 0)		/* the first sentence is too long itself */
		head = hf_utf8_cut(t, max * 2 / 3);
	hf_buf_str(out, hf_str_trim(hf_strn(t.s, head)));
	hf_buf_puts(out, " \xe2\x80\xa6 ");
	if (tail < t.n)
		hf_buf_str(out, hf_strn(t.s + tail, t.n - tail));
}

void
hf_own_words(struct hf_buf *out, const struct hf_rules *rules,
    struct hf_str request, size_t max)
{
	struct words w = { .text = HF_BUF_INIT, .n = 0 };

	own_words(rules, request, false, &w);
	if (hf_cues_filler(hf_buf_view(&w.text)))
		own_words(rules, request, true, &w);
	shortened(out, &w, max);
	hf_buf_release(&w.text);
}

enum hf_own
hf_own_lean(struct hf_str text)
{
	struct hf_sentences s;
	struct hf_str sentence;
	size_t n = 0, fillers = 0, asked = 0;

	hf_sentences_init(&s, text);
	while (hf_sentences_next(&s, &sentence)) {
		n++;
		fillers += hf_cues_filler(sentence);
		asked += hf_cues_asks(sentence) ||
		    hf_cues_decision(sentence) ||
		    hf_cues_rule_alone(sentence);
	}
	hf_sentences_release(&s);
	if (n == 0)
		return HF_OWN_EMPTY;
	/* Questions, choices and rules are no objective: they are about
	 * one. */
	return fillers == n ? HF_OWN_GO_ON : fillers > 0 || asked == n ?
	    HF_OWN_LEANS : HF_OWN_STANDS;
}

void
hf_own_told(struct hf_told *t, const struct hf_facts *f)
{
	enum hf_own how;
	size_t i;

	memset(t, 0, sizeof(*t));
	for (i = f->nrequests; i-- > 0 && !t->stands;) {
		how = hf_own_lean(f->request[i].text);
		if (how == HF_OWN_EMPTY || how == HF_OWN_GO_ON)
			continue;
		t->stands = how == HF_OWN_STANDS;
		if (t->n == HF_TOLD_MAX && !t->stands)
			continue;
		if (t->n == HF_TOLD_MAX)
			t->n--;
		t->r[t->n++] = &f->request[i];
	}
}

