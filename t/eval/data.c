#include "eval.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum { SLOTS = 8, SLOT_MAX = 8 };

/* ---- chance ---- */

static uint32_t
next(struct ev_rng *r)
{
	r->s ^= r->s << 13;
	r->s ^= r->s >> 7;
	r->s ^= r->s << 17;
	return (uint32_t)(r->s >> 21);
}

uint32_t
ev_below(struct ev_rng *r, uint32_t n)
{
	return n == 0 ? 0 : next(r) % n;
}

bool
ev_chance(struct ev_rng *r, unsigned percent)
{
	return ev_below(r, 100) < percent;
}

struct hf_str
ev_pick(struct ev_rng *r, const char *const *words, size_t n)
{
	return hf_str(words[ev_below(r, (uint32_t)n)]);
}

size_t
ev_draw(struct ev_rng *r, const struct ev_table *t, bool *used)
{
	size_t i = ev_below(r, (uint32_t)t->n), k;

	for (k = 0; k < t->n && used[i]; k++)
		i = (i + 1) % t->n;
	used[i] = true;
	return i;
}

/* ---- the files of templates ---- */

/* Fields end at a TAB; the last one has what is left. */
static void
split(struct ev_line *l, struct hf_str line)
{
	size_t i, tab;

	memset(l, 0, sizeof(*l));
	for (i = 0; i < EV_FIELDS; i++) {
		tab = i + 1 < EV_FIELDS ? hf_str_find(line, HF_STR("\t"), 0) :
		    SIZE_MAX;
		l->field[i] = hf_strn(line.s, tab != SIZE_MAX ? tab : line.n);
		if (tab == SIZE_MAX)
			return;
		line = hf_strn(line.s + tab + 1, line.n - tab - 1);
	}
}

static int
load(struct ev_table *t, const char *dir, const char *name,
    struct hf_err *err)
{
	struct hf_dir d = HF_DIR_INIT;
	struct hf_str line, rest;
	int rc;

	memset(t, 0, sizeof(*t));
	if (hf_dir_open(&d, dir, err) < 0)
		return -1;
	rc = hf_file_read(&d, name, &t->text, err);
	hf_dir_close(&d);
	if (rc == 0)
		hf_err_set(err, HF_E_NOT_FOUND, "no '%s' in '%s'", name, dir);
	if (rc <= 0)
		return -1;
	rest = hf_buf_view(&t->text);
	while (rest.n > 0) {
		line = hf_str_line(rest, &rest);
		if (line.n == 0 || line.s[0] == '#')
			continue;
		t->line = hf_reallocarray(t->line, t->n + 1,
		    sizeof(*t->line));
		split(&t->line[t->n++], line);
	}
	return 0;
}

/* Leaves every second line of the tables of sentences, from the first or
 * from the second. */
void
ev_data_half(struct ev_data *d, size_t from)
{
	struct ev_table *const halved[] = { &d->rules, &d->chatter,
		&d->supersede, &d->decisions, &d->poison, &d->said };
	struct ev_table *t;
	size_t i, k, n;

	for (i = 0; i < sizeof(halved) / sizeof(halved[0]); i++) {
		t = halved[i];
		for (k = from, n = 0; k < t->n; k += 2)
			t->line[n++] = t->line[k];
		t->n = n;
	}
}

static const struct { const char *name; size_t at; } tables[] = {
	{ "rules.txt", offsetof(struct ev_data, rules) },
	{ "chatter.txt", offsetof(struct ev_data, chatter) },
	{ "supersede.txt", offsetof(struct ev_data, supersede) },
	{ "decisions.txt", offsetof(struct ev_data, decisions) },
	{ "questions.txt", offsetof(struct ev_data, questions) },
	{ "poison.txt", offsetof(struct ev_data, poison) },
	{ "said.txt", offsetof(struct ev_data, said) },
	{ "tasks.txt", offsetof(struct ev_data, tasks) },
	{ "todos.txt", offsetof(struct ev_data, todos) },
	{ "checks.txt", offsetof(struct ev_data, checks) },
	{ "noise.txt", offsetof(struct ev_data, noise) },
	{ "reports.txt", offsetof(struct ev_data, reports) },
};

static struct ev_table *
table(struct ev_data *d, size_t i)
{
	return (struct ev_table *)(void *)((char *)d + tables[i].at);
}

int
ev_data_load(struct ev_data *d, const char *dir, struct hf_err *err)
{
	memset(d, 0, sizeof(*d));
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (load(table(d, i), dir, tables[i].name, err) < 0)
			return -1;
	return 0;
}

void
ev_data_release(struct ev_data *d)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		hf_buf_release(&table(d, i)->text);
		free(table(d, i)->line);
	}
	memset(d, 0, sizeof(*d));
}

/* ---- names ---- */

#define PICK(w, list) \
	ev_pick(&(w)->rng, list, sizeof(list) / sizeof((list)[0]))

static const char *const dirs[] = { "src", "lib", "internal/store",
	"app/models", "web/components", "pkg/wire", "core", "tools",
	"services/billing", "tests", "docs", "scripts" };
static const char *const stems[] = { "parser", "reader", "cache", "session",
	"router", "worker", "queue", "index", "export", "import", "ledger",
	"invoice", "token", "schema", "retry", "config", "report", "mailer",
	"upload", "search", "billing", "auth", "feed", "shard", "replica",
	"digest", "socket", "timer", "codec", "layout" };
static const char *const verbs[] = { "load", "parse", "flush", "merge",
	"resolve", "emit", "acquire", "scan", "render", "dispatch", "encode",
	"rebuild" };
static const char *const exts[] = { "c", "h", "py", "ts", "go", "rs", "md",
	"java", "sql", "tsx" };
static const char *const branches[] = { "main", "master", "release/2.4",
	"develop", "stable", "production" };
static const char *const libs[] = { "lodash", "requests", "serde", "zod",
	"sqlalchemy", "axios", "boost", "moment", "rxjs", "pandas" };
static const char *const commands[] = { "make check", "npm run lint",
	"cargo fmt", "pytest -q", "go vet ./...", "make test" };
static const char *const projects[] = { "billing", "parser-kit", "shop",
	"gateway", "notes_app", "fleet" };

void
ev_world_init(struct ev_world *w, uint64_t seed, const char *base)
{
	memset(w, 0, sizeof(*w));
	w->rng.s = seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du;
	for (int i = 0; i < 8; i++)
		next(&w->rng);
	hf_arena_init(&w->arena);
	w->cwd = ev_format(w, "%s/%s", base, PICK(w, projects).s);
	w->branch = ev_format(w, "feature/%s-%u", PICK(w, stems).s,
	    ev_below(&w->rng, 900) + 100);
}

void
ev_world_release(struct ev_world *w)
{
	hf_arena_clear(&w->arena);
}

struct hf_str
ev_format(struct ev_world *w, const char *fmt, ...)
{
	struct hf_buf b = HF_BUF_INIT;
	struct hf_str out;
	va_list ap;

	va_start(ap, fmt);
	hf_buf_vprintf(&b, fmt, ap);
	va_end(ap);
	out = hf_strn(hf_arena_copy(&w->arena, hf_buf_cstr(&b), b.len),
	    b.len);
	hf_buf_release(&b);
	return out;
}

struct hf_str
ev_word(struct ev_world *w)
{
	return PICK(w, stems);
}

struct hf_str
ev_file(struct ev_world *w)
{
	const char *dir = PICK(w, dirs).s, *stem = PICK(w, stems).s;
	const char *second = PICK(w, verbs).s, *ext = PICK(w, exts).s;
	unsigned n = w->nfiles++;

	if (ev_chance(&w->rng, 50))
		return ev_format(w, "%s/%s_%s%u.%s", dir, stem, second, n,
		    ext);
	return ev_format(w, "%s/%s/%s%u.%s", dir, second, stem, n, ext);
}

struct hf_str
ev_absolute(struct ev_world *w, struct hf_str path)
{
	return ev_format(w, "%s/%.*s", w->cwd.s, (int)path.n, path.s);
}

/* load_cache, parseInvoice, RetryQueue */
static struct hf_str
identifier(struct ev_world *w)
{
	const char *a = PICK(w, verbs).s, *b = PICK(w, stems).s;

	switch (ev_below(&w->rng, 3)) {
	case 0:
		return ev_format(w, "%s_%s", a, b);
	case 1:
		return ev_format(w, "%s%c%s", a, b[0] - 32, b + 1);
	default:
		return ev_format(w, "%c%s%c%s", b[0] - 32, b + 1, a[0] - 32,
		    a + 1);
	}
}

/* ---- slots ---- */

static struct hf_str
slot(struct ev_world *w, struct hf_str name, struct hf_str word)
{
	if (hf_str_is(name, "file"))
		return ev_file(w);
	if (hf_str_is(name, "dir"))
		return ev_format(w, "%s/%s", PICK(w, dirs).s,
		    PICK(w, stems).s);
	if (hf_str_is(name, "branch"))
		return PICK(w, branches);
	if (hf_str_is(name, "lib"))
		return PICK(w, libs);
	if (hf_str_is(name, "cmd"))
		return PICK(w, commands);
	if (hf_str_is(name, "name"))
		return identifier(w);
	if (hf_str_is(name, "n"))
		return ev_format(w, "%u", ev_chance(&w->rng, 50) ?
		    ev_below(&w->rng, 80) + 12 :
		    (ev_below(&w->rng, 90) + 10) * 10);
	if (hf_str_is(name, "a") || hf_str_is(name, "b"))
		return ev_format(w, "%u", ev_below(&w->rng, 40) +
		    (name.s[0] == 'a' ? 10 : 55));
	if (hf_str_is(name, "u") || hf_str_is(name, "v"))
		return ev_format(w, "%u", ev_below(&w->rng, 900) * 10 +
		    (name.s[0] == 'u' ? 3000 : 13001));
	if (hf_str_is(name, "p"))
		return ev_format(w, "%u", ev_below(&w->rng, 900) + 100);
	if (hf_str_is(name, "q"))
		return ev_format(w, "%u", ev_below(&w->rng, 8) + 2);
	if (hf_str_is(name, "cwd"))
		return w->cwd;
	return word;
}

/* Each slot of one name gets one value. */
struct hf_str
ev_fill(struct ev_world *w, struct hf_str t, struct hf_str word)
{
	struct { struct hf_str name, value; } seen[SLOTS];
	struct hf_buf out = HF_BUF_INIT;
	struct hf_str name, kept;
	size_t i = 0, end, n = 0, k;

	while (i < t.n) {
		end = t.s[i] == '{' ? hf_str_find(t, HF_STR("}"), i) :
		    SIZE_MAX;
		if (end == SIZE_MAX || end - i > SLOT_MAX) {
			hf_buf_putc(&out, t.s[i++]);
			continue;
		}
		name = hf_strn(t.s + i + 1, end - i - 1);
		for (k = 0; k < n && !hf_str_eq(seen[k].name, name); k++)
			;
		if (k == n && n < SLOTS) {
			seen[n].name = name;
			seen[n++].value = slot(w, name, word);
		}
		if (k < n)
			hf_buf_str(&out, seen[k].value);
		i = end + 1;
	}
	kept = hf_strn(hf_arena_copy(&w->arena, hf_buf_cstr(&out), out.len),
	    out.len);
	hf_buf_release(&out);
	return kept;
}

struct ev_line
ev_fill_line(struct ev_world *w, const struct ev_line *l,
    struct hf_str word)
{
	struct hf_buf all = HF_BUF_INIT;
	struct ev_line out;
	struct hf_str filled;

	for (size_t i = 0; i < EV_FIELDS; i++) {
		if (i > 0)
			hf_buf_putc(&all, '\t');
		hf_buf_str(&all, l->field[i]);
	}
	filled = ev_fill(w, hf_buf_view(&all), word);
	hf_buf_release(&all);
	split(&out, filled);
	return out;
}
