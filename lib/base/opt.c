#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/opt.h"

/* The Makefile gives it; this is for a file compiled by hand. */
#ifndef HF_VERSION
#define HF_VERSION	"unreleased"
#endif

enum { DISTANCE_MAX = 3, WORD_MAX_LEN = 63, OPTS_MAX = 64 };

static const struct hf_opt builtin[] = {
	{ 0, "help", NULL, "print this and exit", HF_OPT_FLAG, NULL, 0, 0 },
	{ 0, "version", NULL, "print the version and exit", HF_OPT_FLAG,
	    NULL, 0, 0 },
	{ 0, NULL, NULL, NULL, HF_OPT_FLAG, NULL, 0, 0 },
};

struct parse {
	const struct hf_opt_usage *u;
	int argc;
	char **argv;
	int next;		/* what comes behind the current argument */
	struct hf_err *err;
};

/* "-f, --focus TEXT", or where there is no letter "    --focus TEXT" */
static size_t
left_column(struct hf_buf *out, const struct hf_opt *o)
{
	size_t before = out->len;

	if (o->letter != 0)
		hf_buf_printf(out, "  -%c, ", o->letter);
	else
		hf_buf_puts(out, "      ");
	hf_buf_printf(out, "--%s", o->word);
	if (o->arg != NULL)
		hf_buf_printf(out, " %s", o->arg);
	return out->len - before;
}

static void
option_lines(struct hf_buf *out, const struct hf_opt *opts, size_t width)
{
	for (const struct hf_opt *o = opts; o->word != NULL; o++) {
		size_t n = left_column(out, o);

		hf_buf_printf(out, "%*s%s\n", (int)(width - n + 2), "",
		    o->help);
	}
}

static size_t
widest(const struct hf_opt *opts)
{
	struct hf_buf line = HF_BUF_INIT;
	size_t n, width = 0;

	for (const struct hf_opt *o = opts; o->word != NULL; o++) {
		n = left_column(&line, o);
		if (n > width)
			width = n;
	}
	hf_buf_release(&line);
	return width;
}

static int
print_help(const struct hf_opt_usage *u, struct hf_err *err)
{
	struct hf_buf out = HF_BUF_INIT;
	size_t width = widest(u->opts), other = widest(builtin);
	int r;

	if (other > width)
		width = other;
	hf_buf_printf(&out, "usage: %s [OPTION ...]%s%s\n%s\n\n", u->prog,
	    u->operands[0] != '\0' ? " " : "", u->operands, u->about);
	option_lines(&out, u->opts, width);
	option_lines(&out, builtin, width);
	r = hf_out(hf_buf_view(&out), err);
	hf_buf_release(&out);
	return r == 0 ? 1 : -1;
}

static int
print_version(const struct hf_opt_usage *u, struct hf_err *err)
{
	struct hf_buf out = HF_BUF_INIT;
	int r;

	hf_buf_printf(&out, "%s %s\n", u->prog, HF_VERSION);
	r = hf_out(hf_buf_view(&out), err);
	hf_buf_release(&out);
	return r == 0 ? 1 : -1;
}

static const struct hf_opt *
find_word(const struct hf_opt *opts, struct hf_str word)
{
	for (; opts->word != NULL; opts++)
		if (hf_str_is(word, opts->word))
			return opts;
	return NULL;
}

static const struct hf_opt *
find_letter(const struct hf_opt *opts, char letter)
{
	for (; opts->word != NULL; opts++)
		if (letter != 0 && opts->letter == letter)
			return opts;
	return NULL;
}

static int
unknown_word(const struct parse *p, struct hf_str word)
{
	const char *words[OPTS_MAX], *near;
	char given[WORD_MAX_LEN + 1];
	size_t n = 0;

	for (size_t i = 0; builtin[i].word != NULL; i++)
		words[n++] = builtin[i].word;
	for (size_t i = 0; p->u->opts[i].word != NULL && n < OPTS_MAX; i++)
		words[n++] = p->u->opts[i].word;
	near = NULL;
	if (word.n <= WORD_MAX_LEN) {
		memcpy(given, word.s, word.n);
		given[word.n] = '\0';
		near = hf_nearest(given, words, n);
	}
	if (near != NULL)
		return hf_err_set(p->err, HF_E_USAGE,
		    "unknown option '--%.*s'; did you mean '--%s'?",
		    (int)hf_utf8_cut(word, HF_ERR_MAX), word.s, near);
	return hf_err_set(p->err, HF_E_USAGE, "unknown option '--%.*s'",
	    (int)hf_utf8_cut(word, HF_ERR_MAX), word.s);
}

/* Gives the option its argument. */
static int
store(const struct parse *p, const struct hf_opt *o, const char *value)
{
	int64_t v;

	if (o->kind == HF_OPT_STR) {
		*(const char **)o->target = value;
		return 0;
	}
	if (!hf_text_int(hf_str(value), &v) || v < o->min || v > o->max)
		return hf_err_set(p->err, HF_E_USAGE,
		    "option '--%s' needs an integer from %" PRId64 " to %"
		    PRId64 ", not '%s'", o->word, o->min, o->max, value);
	*(int64_t *)o->target = v;
	return 0;
}

/* An option that needs an argument and has none attached. */
static int
store_next(struct parse *p, const struct hf_opt *o)
{
	if (p->next >= p->argc)
		return hf_err_set(p->err, HF_E_USAGE,
		    "option '--%s' needs an argument: %s", o->word,
		    o->arg != NULL ? o->arg : "VALUE");
	return store(p, o, p->argv[p->next++]);
}

static int
long_option(struct parse *p, const char *text)
{
	const char *equals = strchr(text, '=');
	struct hf_str word = hf_str(text);
	const struct hf_opt *o;

	if (equals != NULL)
		word.n = (size_t)(equals - text);
	o = find_word(p->u->opts, word);
	if (o == NULL)
		o = find_word(builtin, word);
	if (o == NULL)
		return unknown_word(p, word);
	if (o->kind != HF_OPT_FLAG)
		return equals != NULL ? store(p, o, equals + 1) :
		    store_next(p, o);
	if (equals != NULL)
		return hf_err_set(p->err, HF_E_USAGE,
		    "option '--%s' takes no argument", o->word);
	if (o->target != NULL)
		*(bool *)o->target = true;
	else if (o == &builtin[0])
		return print_help(p->u, p->err);
	else if (o == &builtin[1])
		return print_version(p->u, p->err);
	return 0;
}

/* "-abc", "-fTEXT", "-abf TEXT" */
static int
letters(struct parse *p, const char *text)
{
	const struct hf_opt *o;
	size_t step;

	for (; *text != '\0'; text++) {
		o = find_letter(p->u->opts, *text);
		if (o == NULL) {
			/* The whole character, should it not be ASCII. */
			step = hf_utf8_at(text, strlen(text), NULL);
			return hf_err_set(p->err, HF_E_USAGE,
			    "unknown option '-%.*s'",
			    step > 0 ? (int)step : 1, text);
		}
		if (o->kind != HF_OPT_FLAG)
			return text[1] != '\0' ? store(p, o, text + 1) :
			    store_next(p, o);
		*(bool *)o->target = true;
	}
	return 0;
}

int
hf_opt_parse(const struct hf_opt_usage *u, int argc, char **argv,
    int *count, struct hf_err *err)
{
	struct parse p = { u, argc, argv, 1, err };
	bool ended = false;
	int n = 0, r;

	while (p.next < argc) {
		char *a = argv[p.next++];

		/* Operands move to places that were read already. */
		if (ended || a[0] != '-' || a[1] == '\0') {
			argv[++n] = a;
			continue;
		}
		if (strcmp(a, "--") == 0) {
			ended = true;
			continue;
		}
		r = a[1] == '-' ? long_option(&p, a + 2) : letters(&p, a + 1);
		if (r != 0)
			return r;
	}
	if (n + 1 < argc)
		argv[n + 1] = NULL;
	*count = n;
	return 0;
}

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Levenshtein's distance, a row at a time; b has at most WORD_MAX_LEN. */
static size_t
distance(const char *a, const char *b)
{
	size_t row[WORD_MAX_LEN + 1], n = strlen(b), corner, above;

	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i] != '\0'; i++) {
		corner = row[0];
		row[0] = i + 1;
		for (size_t j = 1; j <= n; j++) {
			above = row[j];
			row[j] = least(corner + (a[i] != b[j - 1]),
			    least(above, row[j - 1]) + 1);
			corner = above;
		}
	}
	return row[n];
}

const char *
hf_nearest(const char *s, const char *const *words, size_t n)
{
	size_t best = DISTANCE_MAX + 1, len = strlen(s), d;
	const char *near = NULL;

	/* A word that shares nothing with s is no help, however short. */
	if (best > len)
		best = len;
	if (len > WORD_MAX_LEN)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (strlen(words[i]) > WORD_MAX_LEN)
			continue;
		d = distance(s, words[i]);
		if (d < best) {
			best = d;
			near = words[i];
		}
	}
	return near;
}
