#include "brief/sentences.h"

#include <string.h>

#include "brief/cues.h"

static bool
wordy(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
}

void
hf_sentences_init(struct hf_sentences *s, struct hf_str text)
{
	memset(s, 0, sizeof(*s));
	s->rest = text;
}

void
hf_sentences_release(struct hf_sentences *s)
{
	hf_buf_release(&s->joined);
}

/* "e.g." and the like end no sentence. */
static bool
abbreviated(struct hf_str t, size_t dot)
{
	static const char *const words[] = { "e.g", "i.e", "etc", "vs", "cf",
		"approx", "resp", "z.B", "bzw", "ca", "Nr", "incl", "no",
		"p.ex" };
	size_t i, n;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		n = strlen(words[i]);
		if (dot >= n && memcmp(t.s + dot - n, words[i], n) == 0 &&
		    (dot == n || !wordy((unsigned char)t.s[dot - n - 1])) &&
		    !(hf_str_is(hf_str(words[i]), "no") && (dot + 2 >= t.n ||
		    t.s[dot + 2] < '0' || t.s[dot + 2] > '9')))
			return true;
	}
	return false;
}

/* "./... and": dots with more of the sentence behind them. */
static bool
trails_off(struct hf_str t, size_t i)
{
	return i > 0 && t.s[i - 1] == '.' && i + 2 < t.n &&
	    t.s[i + 2] >= 'a' && t.s[i + 2] <= 'z';
}

/* Bytes of a mark that ends a sentence at place i, 0 if there is none. */
static size_t
end_at(struct hf_str t, size_t i)
{
	static const char *const wide[] = { "\xe3\x80\x82", "\xef\xbc\x81",
		"\xef\xbc\x9f", "\xef\xbc\x9b" };
	size_t k;

	if (t.s[i] == '.' || t.s[i] == '!' || t.s[i] == '?')
		return (i + 1 == t.n || strchr(" \n\t\r", t.s[i + 1]) !=
		    NULL) && !(t.s[i] == '.' && (abbreviated(t, i) ||
		    trails_off(t, i)));
	for (k = 0; k < sizeof(wide) / sizeof(wide[0]); k++)
		if (hf_str_starts(hf_strn(t.s + i, t.n - i), wide[k]))
			return 3;
	return 0;
}

/* The bytes of a list item's mark ("- ", "* ", "2. ", "3) "), 0 for none. */
static size_t
mark_of(struct hf_str s)
{
	size_t i = 0;

	if (s.n > 2 && (s.s[0] == '-' || s.s[0] == '*' || s.s[0] == '+') &&
	    s.s[1] == ' ')
		return 2;
	if (hf_str_starts(s, "\xe2\x80\xa2 "))
		return 4;
	while (i < s.n && i < 3 && s.s[i] >= '0' && s.s[i] <= '9')
		i++;
	if (i > 0 && i + 1 < s.n && (s.s[i] == '.' || s.s[i] == ')') &&
	    s.s[i + 1] == ' ')
		return i + 2;
	return 0;
}

/* ---- what is not the user's ---- */

/* Behind the line that closes a fence. */
static struct hf_str
behind_fence(struct hf_str rest, size_t *lines)
{
	struct hf_str line;

	while (rest.n > 0) {
		line = hf_str_trim(hf_str_line(rest, &rest));
		(*lines)++;
		if (hf_str_starts(line, "```") || hf_str_starts(line, "~~~"))
			break;
	}
	return rest;
}

/* "<name …>" at the start of a line and "</name>" somewhere behind it: the
 * text behind both; none if it is no such block. */
static struct hf_str
behind_tag(struct hf_str t, size_t *lines)
{
	char end[64] = "</";
	size_t n = 0, at, i;

	while (n + 1 < t.n && n < 48 && (wordy((unsigned char)t.s[n + 1]) ||
	    t.s[n + 1] == '-'))
		n++;
	if (n < 2)
		return HF_STR_NONE;
	memcpy(end + 2, t.s + 1, n);
	end[n + 2] = '>';
	end[n + 3] = '\0';
	at = hf_str_find(t, hf_str(end), 0);
	if (at == SIZE_MAX)
		return HF_STR_NONE;
	for (i = 0; i < at; i++)
		*lines += t.s[i] == '\n';
	(*lines)++;
	return hf_strn(t.s + at + n + 3, t.n - at - n - 3);
}

/* A line of a program's, not of a person's. */
static bool
log_line(struct hf_str line)
{
	static const char *const leads[] = { "\t", "    ", "at ", "npm ERR!",
		"Traceback", "error:", "warning:", "error[", "ERROR", "WARN",
		"INFO", "DEBUG", "FAIL", "not ok ", "ok ", "+ ", "$ ", "#",
		"make: ", "[" };
	size_t i, digits = 0;

	for (i = 0; i < sizeof(leads) / sizeof(leads[0]); i++)
		if (hf_str_starts(line, leads[i]))
			return true;
	for (i = 0; i < line.n && i < 12; i++)
		digits += line.s[i] >= '0' && line.s[i] <= '9';
	return digits >= 6;
}

enum { LOG_RUN = 3 };

/* Three such lines or more on end: the text behind them; none else. */
static struct hf_str
behind_log(struct hf_str t, size_t *lines)
{
	struct hf_str line, rest = t, next;
	size_t n = 0;

	while (rest.n > 0) {
		line = hf_str_line(rest, &next);
		if (line.n == 0 || !log_line(line))
			break;
		rest = next;
		n++;
	}
	if (n < LOG_RUN)
		return HF_STR_NONE;
	*lines += n;
	return rest.n > 0 ? rest : HF_STR("");
}

/* Steps over what is quoted at the start of a line. */
static bool
skip_quoted(struct hf_sentences *s)
{
	struct hf_str line, rest, next;

	line = hf_str_line(s->rest, &rest);
	if (hf_str_starts(hf_str_trim(line), ">")) {
		s->skipped++;
		next = rest;
	} else if (hf_str_starts(hf_str_trim(line), "```") ||
	    hf_str_starts(hf_str_trim(line), "~~~")) {
		s->skipped++;
		next = behind_fence(rest, &s->skipped);
	} else if (line.n > 0 && line.s[0] == '<') {
		next = behind_tag(s->rest, &s->skipped);
	} else {
		next = behind_log(s->rest, &s->skipped);
	}
	if (next.s == NULL)
		return false;
	s->rest = next;
	s->inside = false;
	return true;
}

/* ---- lines and sentences ---- */

enum { WRAP_MIN = 50, WRAP_MAX = 110, WRAP_SLACK = 12, WRAPPED_LINES = 4 };

static size_t
first_word(struct hf_str line)
{
	size_t n;

	for (n = 0; n < line.n && line.s[n] != ' '; n++)
		;
	return hf_text_width(hf_strn(line.s, n));
}

/* Does a line begin something new: an item, a quotation, a fence? */
static bool
begins_new(struct hf_str line)
{
	return line.n == 0 || mark_of(hf_str_trim(line)) > 0 ||
	    strchr("<>`#|~\t ", line.s[0]) != NULL;
}

/* Lines of the paragraph at the start of t; *max gets the columns of the
 * longest. */
static size_t
paragraph(struct hf_str t, size_t *max)
{
	struct hf_str line, rest = t;
	size_t lines = 0, width;

	for (*max = 0; rest.n > 0; lines++) {
		line = hf_str_line(rest, &rest);
		if (lines > 0 && begins_new(line))
			break;
		width = line.n > WRAP_MAX * 4 ? line.n : hf_text_width(line);
		if (width > *max)
			*max = width;
	}
	return lines;
}

/* The width that an editor seems to have broken the paragraph to: two lines
 * at least are about as long; 0 for none. *all: there are four or more, and
 * each word that begins one did not fit on the one before. */
static size_t
wrap_width(struct hf_str t, bool *all)
{
	struct hf_str line, rest = t;
	size_t max, full = 0, lines = paragraph(t, &max), i;

	*all = lines >= WRAPPED_LINES;
	if (max < WRAP_MIN || max > WRAP_MAX || lines < 2) {
		*all = false;
		return 0;
	}
	for (i = 0; i < lines; i++) {
		line = hf_str_line(rest, &rest);
		full += hf_text_width(line) + WRAP_SLACK > max;
		if (i + 1 < lines && hf_text_width(line) + 1 +
		    first_word(hf_str_line(rest, NULL)) <= max)
			*all = false;
	}
	return full > 1 ? max : 0;
}

/* A capital letter, also of Latin-1. */
static bool
capital(struct hf_str t)
{
	return (t.s[0] >= 'A' && t.s[0] <= 'Z') || (t.n > 1 &&
	    t.s[0] == '\xc3' && (unsigned char)t.s[1] >= 0x80 &&
	    (unsigned char)t.s[1] <= 0x9e);
}

/* Did an editor break the line, since the first word of the next did not
 * fit? One that looks like a beginning needs the more proof. */
static bool
goes_on(const struct hf_sentences *s, struct hf_str line, struct hf_str rest)
{
	struct hf_str next = hf_str_line(rest, NULL);
	size_t width;

	if (line.n < WRAP_MIN - WRAP_SLACK || line.n > WRAP_MAX * 3 ||
	    strchr(".!?", line.s[line.n - 1]) != NULL || begins_new(next))
		return false;
	if (capital(next) && !s->wrapped)
		return false;
	width = hf_text_width(line);
	if (s->width > 0)
		return width + 1 + first_word(next) > s->width;
	/* A colon ends a line that announces a list. */
	return width >= WRAP_MIN + 10 && width <= WRAP_MAX &&
	    (line.s[line.n - 1] != ':' ||
	    hf_str_find(line, HF_STR(". "), 0) != SIZE_MAX);
}

/* The paragraph's next lines that belong together, joined; *t gets them. */
static void
take_lines(struct hf_sentences *s, struct hf_str *t)
{
	struct hf_str line, rest;

	line = hf_str_line(s->rest, &rest);
	*t = line;
	if (!s->inside)
		s->width = wrap_width(s->rest, &s->wrapped);
	s->inside = line.n > 0;
	if (!goes_on(s, line, rest)) {
		s->rest = rest;
		return;
	}
	hf_buf_clear(&s->joined);
	for (;;) {
		hf_buf_str(&s->joined, line);
		if (!goes_on(s, line, rest))
			break;
		hf_buf_putc(&s->joined, ' ');
		line = hf_str_line(rest, &rest);
	}
	s->rest = rest;
	*t = hf_buf_view(&s->joined);
}

/* Takes the next line up: is it an item, does it announce rules? */
static void
begin_line(struct hf_sentences *s)
{
	struct hf_str t;
	size_t mark;

	take_lines(s, &t);
	t = hf_str_trim(t);
	mark = mark_of(t);
	if (t.n == 0)
		return;
	s->item = mark > 0;
	if (mark == 0)
		s->listed = (hf_str_ends(t, ":") || t.s[0] == '#' ||
		    hf_str_ends(t, "\xef\xbc\x9a")) && hf_cues_heading(t);
	s->rule_list = s->item && s->listed;
	s->heading = !s->item && s->listed;
	s->line = hf_str_trim(hf_strn(t.s + mark, t.n - mark));
}

bool
hf_sentences_next(struct hf_sentences *s, struct hf_str *sentence)
{
	size_t i, n = 0;

	s->skipped = 0;
	while (s->line.n == 0) {
		if (s->rest.n == 0)
			return false;
		if (!skip_quoted(s))
			begin_line(s);
	}
	for (i = 0; i < s->line.n && (n = end_at(s->line, i)) == 0; i++)
		;
	*sentence = hf_str_trim(hf_strn(s->line.s, i + n));
	s->line = hf_str_trim(hf_strn(s->line.s + i + n,
	    s->line.n - i - n));
	return true;
}
