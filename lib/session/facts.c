#include "session/facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/hmac.h"

/*
 * A call is remembered until its result says whether it happened: a file
 * counts as written only when the tool said so, a command has its status.
 */
enum { PENDING = 64, SLOTS = HF_FACTS_FILES * 2, EFFECTS = 256,
	NUMBERS = 64, PRINTED = 8192 };

struct effect {
	enum hf_action_kind kind;
	struct hf_str path, path2;	/* absolute, in the arena */
	bool shell;			/* by a command line */
};
struct pending {
	struct hf_str id;		/* in the arena */
	struct hf_str name;
	struct effect *effect;		/* in the arena */
	size_t neffects;
	size_t command;			/* number of the command, from 1 */
	bool masked;			/* its status is another's */
	struct hf_str question;		/* ASK */
};

struct reader {
	struct hf_facts *f;
	struct hf_walk *w;
	struct pending pending[PENDING];	/* newest last */
	size_t npending;
	size_t forgotten;		/* commands dropped from the front */
	uint32_t *slot;			/* file by path: index + 1 */
	struct hf_actions actions;
	struct hf_shell shell;
	struct effect effects[EFFECTS];	/* of the call that is read */
	size_t neffects;
	uint32_t at;
};

static struct hf_str
copy(struct hf_facts *f, struct hf_str a, size_t max)
{
	if (a.n > max)
		a.n = hf_utf8_cut(a, max);
	return hf_strn(hf_arena_copy(&f->arena, a.n > 0 ? a.s : "", a.n),
	    a.n);
}

/* ---- paths ---- */

/* Appends the component to the path in out, resolving "." and "..". */
static void
component(struct hf_buf *out, struct hf_str c)
{
	if (c.n == 0 || hf_str_is(c, "."))
		return;
	if (!hf_str_is(c, "..")) {
		hf_buf_putc(out, '/');
		hf_buf_str(out, c);
		return;
	}
	while (out->len > 0 && out->data[out->len - 1] != '/')
		hf_buf_cut(out, out->len - 1);
	if (out->len > 0)
		hf_buf_cut(out, out->len - 1);
}

static void
components(struct hf_buf *out, struct hf_str path)
{
	size_t i, from = 0;

	for (i = 0; i <= path.n; i++)
		if (i == path.n || path.s[i] == '/') {
			component(out, hf_strn(path.s + from, i - from));
			from = i + 1;
		}
}

/* path made absolute below dir, which may be relative itself or none, and
 * the session's folder; in the arena. */
static struct hf_str
absolute(struct hf_facts *f, struct hf_str dir, struct hf_str path)
{
	struct hf_buf out = HF_BUF_INIT;
	struct hf_str kept;

	if (path.n > 0 && path.s[0] == '~')
		return copy(f, path, 4096);
	if (path.n == 0 || path.s[0] != '/') {
		if (dir.n == 0 || dir.s[0] != '/')
			components(&out, f->cwd);
		components(&out, dir);
	}
	components(&out, path);
	kept = copy(f, hf_buf_view(&out), 4096);
	hf_buf_release(&out);
	return kept;
}

static bool
below(struct hf_str path, struct hf_str dir)
{
	return dir.n > 0 && path.n > dir.n && path.s[dir.n] == '/' &&
	    memcmp(path.s, dir.s, dir.n) == 0;
}

/* Is it thrown away anyway? Not where the session itself lives there. */
static bool
is_scratch(const struct hf_facts *f, struct hf_str path)
{
	static const char *const dirs[] = { "/tmp", "/var/tmp", "/dev",
		"/proc" };
	size_t i;

	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (below(path, hf_str(dirs[i])) &&
		    !below(path, f->cwd))
			return true;
	return false;
}

/* ---- files ---- */

/* The file's place in the table, an empty one if it is not known. */
static size_t
slot_of(const struct reader *r, struct hf_str path)
{
	uint32_t i;
	size_t h;

	for (h = hf_hash(path) % SLOTS; (i = r->slot[h]) != 0;
	    h = (h + 1) % SLOTS)
		if (hf_str_eq(r->f->file[i - 1].path, path))
			break;
	return h;
}

static struct hf_fact_file *
file_of(struct reader *r, struct hf_str path)
{
	struct hf_facts *f = r->f;
	struct hf_fact_file *file;
	size_t h;

	if (path.n == 0)
		return NULL;
	h = slot_of(r, path);
	if (r->slot[h] != 0)
		return &f->file[r->slot[h] - 1];
	if (f->nfiles == HF_FACTS_FILES) {
		f->dropped++;
		return NULL;
	}
	file = &f->file[f->nfiles++];
	memset(file, 0, sizeof(*file));
	file->path = path;
	r->slot[h] = (uint32_t)f->nfiles;
	return file;
}

static void
wrote(struct reader *r, struct hf_str path, bool deleted)
{
	struct hf_fact_file *file = file_of(r, path);

	if (file == NULL)
		return;
	file->written = true;
	file->deleted = deleted;
	file->last_write = file->last_seen = r->at;
	r->f->last_write = r->at;
}

/* A command line removes what no tool of this session named, too. */
static void
removed(struct reader *r, const struct effect *e)
{
	struct hf_facts *f = r->f;
	size_t i;

	if (!e->shell || r->slot[slot_of(r, e->path)] != 0) {
		wrote(r, e->path, true);
		return;
	}
	for (i = 0; i < f->nfiles; i++)
		if (below(f->file[i].path, e->path))
			wrote(r, f->file[i].path, true);
	if (f->ngone < HF_FACTS_GONE)
		f->gone[f->ngone++] = e->path;
}

static void
happened(struct reader *r, const struct effect *e)
{
	struct hf_fact_file *file;

	switch (e->kind) {
	case HF_ACT_WRITE:
	case HF_ACT_EDIT:
		wrote(r, e->path, false);
		break;
	case HF_ACT_DELETE:
		removed(r, e);
		break;
	case HF_ACT_MOVE:
		removed(r, e);
		wrote(r, e->path2, false);
		break;
	case HF_ACT_READ:
		if ((file = file_of(r, e->path)) != NULL) {
			file->read = true;
			file->last_seen = r->at;
		}
		break;
	default:
		break;
	}
}

static void
add_effect(struct reader *r, enum hf_action_kind kind, bool shell,
    struct hf_str dir, struct hf_str path, struct hf_str to)
{
	struct effect *e;

	if (r->neffects == EFFECTS || hf_str_trim(path).n == 0)
		return;
	e = &r->effects[r->neffects];
	e->kind = kind;
	e->shell = shell;
	e->path = absolute(r->f, dir, hf_str_trim(path));
	e->path2 = to.n > 0 ? absolute(r->f, dir, hf_str_trim(to)) :
	    HF_STR_NONE;
	if (!shell || !is_scratch(r->f, to.n > 0 ? e->path2 : e->path))
		r->neffects++;
}

static void
by_shell(enum hf_shell_effect what, struct hf_str dir, struct hf_str path,
    struct hf_str to, void *arg)
{
	add_effect(arg, what == HF_SHELL_WRITES ? HF_ACT_WRITE :
	    what == HF_SHELL_REMOVES ? HF_ACT_DELETE : HF_ACT_MOVE, true,
	    dir, path, to);
}

/* ---- to-dos ---- */

static void
set_status(struct hf_fact_todo *t, struct hf_str status)
{
	size_t n = status.n < sizeof(t->status) - 1 ? status.n :
	    sizeof(t->status) - 1;

	if (n > 0)
		memcpy(t->status, status.s, n);
	t->status[n] = '\0';
}

static struct hf_str
first_str(const struct hf_jval *v, const char *const *keys)
{
	struct hf_str s;

	for (; *keys != NULL; keys++)
		if ((s = hf_json_get_str(v, *keys)).n > 0)
			return s;
	return HF_STR_NONE;
}

static void
todo_add(struct hf_facts *f, struct hf_str text, struct hf_str status)
{
	struct hf_fact_todo *t;

	if (hf_str_trim(text).n == 0)
		return;
	if (f->ntodos == HF_FACTS_TODOS) {
		f->dropped++;
		return;
	}
	t = &f->todo[f->ntodos++];
	t->text = copy(f, hf_str_trim(text), 2000);
	set_status(t, status.n > 0 ? status : HF_STR("pending"));
}

static void
todos(struct hf_facts *f, const struct hf_jval *items)
{
	static const char *const text_keys[] = { "content", "text", "step",
		"title", "subject", "description", "task", "todo", NULL };
	const struct hf_jval *v;
	struct hf_jiter it;

	f->ntodos = 0;
	hf_json_iter(&it, items);
	while ((v = hf_json_next(&it, NULL)) != NULL)
		if (hf_json_type(v) == HF_J_STR)
			todo_add(f, hf_json_str(v), HF_STR("pending"));
		else
			todo_add(f, first_str(v, text_keys),
			    hf_json_get_str(v, "status"));
}

/* By number from 1, as the agents count, or by text. */
static void
todo_set(struct hf_facts *f, struct hf_str item, struct hf_str status)
{
	int64_t n;
	size_t i;

	if (hf_text_int(item, &n) && n >= 1 && n <= (int64_t)f->ntodos) {
		set_status(&f->todo[n - 1], status);
		return;
	}
	for (i = 0; i < f->ntodos; i++)
		if (hf_str_eq(f->todo[i].text, hf_str_trim(item)))
			set_status(&f->todo[i], status);
}

/* ---- calls and results ---- */

static void
command(struct reader *r, const struct hf_action *a, struct pending *p)
{
	struct hf_facts *f = r->f;
	struct hf_fact_command *c;
	size_t half = HF_FACTS_COMMANDS / 2;

	if (f->ncommands == HF_FACTS_COMMANDS) {
		memmove(f->command, f->command + half,
		    half * sizeof(*f->command));
		f->ncommands = half;
		f->dropped += half;
		r->forgotten += half;
	}
	c = &f->command[f->ncommands++];
	memset(c, 0, sizeof(*c));
	c->text = copy(f, hf_str_trim(a->command), 2000);
	c->exit = HF_EXIT_UNKNOWN;
	c->at = r->at;
	hf_shell_parse(&r->shell, a->command);
	c->nchecks = hf_shell_checks(&r->shell, &f->arena, &c->check);
	hf_shell_files(&r->shell, by_shell, r);
	p->masked = hf_shell_masks(&r->shell);
	p->command = r->forgotten + f->ncommands;
}

/* The first question's words: a text, or a list of objects. */
static struct hf_str
question(const struct hf_jval *items)
{
	const struct hf_jval *v = items;

	if (hf_json_type(v) == HF_J_ARR)
		v = hf_json_elem(v, 0);
	return hf_json_type(v) == HF_J_STR ? hf_json_str(v) :
	    hf_json_get_str(v, "question");
}

static void
remember(struct reader *r, const struct hf_block *b, struct pending *p)
{
	struct hf_facts *f = r->f;
	const struct hf_action *a;
	size_t i;

	p->id = copy(f, b->id, 256);
	p->name = copy(f, b->name, 80);
	for (i = 0; i < r->actions.n; i++) {
		a = &r->actions.a[i];
		if (a->kind == HF_ACT_RUN)
			command(r, a, p);
		else if (a->kind == HF_ACT_TODOS)
			todos(f, a->items);
		else if (a->kind == HF_ACT_TODO_ADD)
			todo_add(f, a->item, a->status);
		else if (a->kind == HF_ACT_TODO_SET)
			todo_set(f, a->item, a->status);
		else if (a->kind == HF_ACT_ASK)
			p->question = copy(f, question(a->items), 2000);
		else if (a->path.n > 0)
			add_effect(r, a->kind, false, HF_STR_NONE, a->path,
			    a->path2);
	}
}

static void
call(struct reader *r, const struct hf_block *b)
{
	struct hf_facts *f = r->f;
	struct pending *p;
	size_t i;

	for (i = 0; i < r->npending; i++)	/* omp says it twice */
		if (b->id.n > 0 && hf_str_eq(r->pending[i].id, b->id))
			return;
	hf_actions_of(r->w->session->agent, b, &r->actions);
	if (r->npending == PENDING)
		memmove(r->pending, r->pending + 1,
		    --r->npending * sizeof(*r->pending));
	p = &r->pending[r->npending++];
	memset(p, 0, sizeof(*p));
	r->neffects = 0;
	remember(r, b, p);
	if (r->neffects == 0)
		return;
	p->effect = hf_arena_alloc(&f->arena,
	    r->neffects * sizeof(*p->effect));
	memcpy(p->effect, r->effects, r->neffects * sizeof(*p->effect));
	p->neffects = r->neffects;
}

/* ---- answers ---- */

/* Claude Code: … "question"="answer" … */
static struct hf_str
behind_question(struct hf_str question, struct hf_str text)
{
	size_t at = hf_str_find(text, question, 0), end;

	if (question.n == 0 || at == SIZE_MAX)
		return HF_STR_NONE;
	text = hf_strn(text.s + at + question.n,
	    text.n - at - question.n);
	if (!hf_str_starts(text, "\"=\""))
		return HF_STR_NONE;
	text = hf_strn(text.s + 3, text.n - 3);
	end = hf_str_find(text, HF_STR("\". You can now"), 0);
	if (end == SIZE_MAX)
		end = hf_str_find(text, HF_STR("\", \""), 0);
	return end != SIZE_MAX ? hf_strn(text.s, end) : HF_STR_NONE;
}

static void
strings(struct hf_buf *out, const struct hf_jval *v, int depth)
{
	struct hf_jiter it;

	if (hf_json_str(v).n > 0) {
		if (out->len > 0)
			hf_buf_puts(out, ", ");
		hf_buf_str(out, hf_json_str(v));
		return;
	}
	hf_json_iter(&it, v);
	while (depth < 8 && (v = hf_json_next(&it, NULL)) != NULL)
		strings(out, v, depth + 1);
}

/* Others: an object with the answers somewhere in it. */
static void
in_json(struct hf_buf *out, struct hf_str text)
{
	const struct hf_jval *v;
	struct hf_json *j = NULL;

	if (hf_str_starts(text, "{"))
		j = hf_json_parse(text, HF_JSON_MEND, NULL, NULL, NULL);
	if ((v = hf_json_get(hf_json_root(j), "answers")) == NULL)
		v = hf_json_get(hf_json_root(j), "answer");
	strings(out, v, 0);
	hf_json_free(j);
}

static void
answer(struct reader *r, struct hf_str asked, struct hf_str text)
{
	struct hf_facts *f = r->f;
	struct hf_fact_answer *a;
	struct hf_buf said = HF_BUF_INIT;

	if (f->nanswers == HF_FACTS_ANSWERS) {
		f->dropped++;
		return;
	}
	text = hf_str_trim(text);
	hf_buf_str(&said, behind_question(asked, text));
	if (said.len == 0)
		in_json(&said, text);
	if (said.len == 0)
		hf_buf_str(&said, text);
	a = &f->answer[f->nanswers++];
	a->question = asked;
	a->answer = copy(f, hf_buf_view(&said), 2000);
	a->at = r->at;
	hf_buf_release(&said);
}

/* ---- results ---- */

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The numbers of an output, from its end. */
static void
numbers(struct hf_facts *f, struct hf_fact_command *c, struct hf_str text)
{
	uint64_t found[NUMBERS];
	char digits[20];
	size_t i = text.n, n, least = i > PRINTED ? i - PRINTED : 0;

	while (i > least && c->nnumbers < NUMBERS) {
		for (n = 0; i > least && n < sizeof(digits) &&
		    (is_digit(text.s[i - 1]) || (n > 0 && n % 3 == 0 &&
		    text.s[i - 1] == ',' && i - 1 > least &&
		    is_digit(text.s[i - 2]))); i--)
			if (text.s[i - 1] != ',')
				digits[sizeof(digits) - ++n] = text.s[i - 1];
		if (n > 1)
			found[c->nnumbers++] = hf_hash(hf_strn(digits +
			    sizeof(digits) - n, n));
		if (n == 0)
			i--;
	}
	if (c->nnumbers == 0)
		return;
	c->number = hf_arena_alloc(&f->arena, c->nnumbers * sizeof(found[0]));
	memcpy(c->number, found, c->nnumbers * sizeof(found[0]));
}

/* A pipe's status is that of its end: what was printed tells more. */
static bool
went_wrong(const struct pending *p, const struct hf_fact_command *c,
    const struct hf_block *b)
{
	if (b->error || (b->exit != HF_EXIT_UNKNOWN && b->exit != 0))
		return true;
	return (p->masked || b->exit == HF_EXIT_UNKNOWN) && c->nchecks > 0 &&
	    hf_shell_complains(b->text);
}

static void
result(struct reader *r, const struct hf_block *b)
{
	struct hf_fact_command *c;
	struct pending *p = NULL;
	struct hf_buf told = HF_BUF_INIT;
	size_t i;

	for (i = r->npending; i-- > 0 && p == NULL;)
		if (hf_str_eq(r->pending[i].id, b->id))
			p = &r->pending[i];
	if (p == NULL)
		return;
	if (p->command > r->forgotten) {
		c = &r->f->command[p->command - r->forgotten - 1];
		c->done = true;
		c->exit = b->exit;
		c->failed = went_wrong(p, c, b);
		hf_shell_telling(&told, b->text, c->failed);
		c->output = copy(r->f, hf_buf_view(&told), 300);
		if (c->nchecks > 0)
			numbers(r->f, c, b->text);
		hf_buf_release(&told);
	}
	for (i = 0; !b->error && i < p->neffects; i++)
		happened(r, &p->effect[i]);
	if (!b->error && p->question.n > 0)
		answer(r, p->question, b->text);
	memmove(p, p + 1, (size_t)(r->pending + r->npending - p - 1) *
	    sizeof(*p));
	r->npending--;
}

/* ---- rows ---- */

/* The TEXT blocks of a row, joined; the middle of one beyond max is left
 * out. */
static struct hf_str
row_text(struct hf_facts *f, const struct hf_blocks *bs, size_t max)
{
	struct hf_buf text = HF_BUF_INIT, cut = HF_BUF_INIT;
	struct hf_str all, kept;
	size_t i, head, tail;

	for (i = 0; i < bs->n; i++) {
		if (bs->b[i].kind != HF_BLOCK_TEXT)
			continue;
		if (text.len > 0)
			hf_buf_putc(&text, '\n');
		hf_buf_str(&text, bs->b[i].text);
	}
	all = hf_str_trim(hf_buf_view(&text));
	if (all.n > max) {
		head = hf_utf8_cut(all, max / 4 * 3);
		tail = hf_utf8_cut(all, all.n - max / 5);
		hf_buf_str(&cut, hf_strn(all.s, head));
		hf_buf_printf(&cut, "\n[%zu bytes left out]\n", tail - head);
		hf_buf_str(&cut, hf_strn(all.s + tail, all.n - tail));
		all = hf_buf_view(&cut);
	}
	kept = copy(f, all, max);
	hf_buf_release(&text);
	hf_buf_release(&cut);
	return kept;
}

static void
request(struct reader *r, const struct hf_row *row,
    const struct hf_blocks *bs)
{
	struct hf_facts *f = r->f;
	struct hf_fact_text *t;
	struct hf_str text = row_text(f, bs, HF_FACTS_TEXT);
	size_t half = HF_FACTS_REQUESTS / 2;

	if (text.n == 0)
		return;
	if (f->nrequests == HF_FACTS_REQUESTS) {	/* the first stays */
		memmove(f->request + 1, f->request + half,
		    (f->nrequests - half) * sizeof(*f->request));
		f->nrequests -= half - 1;
		f->dropped += half - 1;
	}
	t = &f->request[f->nrequests++];
	t->text = text;
	t->at = r->at;
	t->time = row->time;
}

/* The first is the seed until someone knows better; of the others some. */
static void
seed(struct reader *r, const struct hf_blocks *bs)
{
	struct hf_facts *f = r->f;
	struct hf_fact_text *t;

	if (f->seed.text.n > 0 && f->nseeds == HF_FACTS_SEEDS)
		return;
	t = f->seed.text.n == 0 ? &f->seed : &f->other_seed[f->nseeds++];
	t->text = row_text(f, bs, HF_FACTS_SEED);
	t->at = r->at;
}

static void
assistant(struct reader *r, const struct hf_row *row,
    const struct hf_blocks *bs)
{
	struct hf_facts *f = r->f;
	struct hf_str text;
	size_t i;

	if (row->flags & HF_ROW_ERROR)
		f->errors++;
	if (row->flags & (HF_ROW_ERROR | HF_ROW_SYNTHETIC))
		return;
	text = row_text(f, bs, HF_FACTS_TEXT);
	if (text.n > 0) {
		f->said.text = text;
		f->said.at = r->at;
		f->said.time = row->time;
	}
	for (i = 0; i < bs->n; i++)
		if (bs->b[i].kind == HF_BLOCK_CALL)
			call(r, &bs->b[i]);
		else if (bs->b[i].kind == HF_BLOCK_RESULT)
			result(r, &bs->b[i]);
}

static void
one_row(struct reader *r, const struct hf_row *row,
    const struct hf_blocks *bs)
{
	struct hf_facts *f = r->f;
	size_t i;

	/* What is only repeated happened where it stood first. */
	if ((row->flags & HF_ROW_KEPT) && row->kind != HF_ROW_SUMMARY)
		return;
	switch (row->kind) {
	case HF_ROW_PROMPT:
		r->npending = 0;
		request(r, row, bs);
		break;
	case HF_ROW_SEED:
		seed(r, bs);
		break;
	case HF_ROW_COMPACTION:
		f->compactions++;
		__attribute__((fallthrough));
	case HF_ROW_SUMMARY:
		if (bs->n > 0) {
			f->summary.text = row_text(f, bs, HF_FACTS_TEXT);
			f->summary.at = r->at;
		}
		break;
	case HF_ROW_INTERRUPT:
		f->interruptions++;
		r->npending = 0;
		break;
	case HF_ROW_ASSISTANT:
		if (row->turn == HF_TURN_INTERRUPTED)
			f->interruptions++;
		assistant(r, row, bs);
		break;
	case HF_ROW_RESULT:	/* a line that the user ran has both */
		for (i = 0; i < bs->n; i++)
			if (bs->b[i].kind == HF_BLOCK_CALL)
				call(r, &bs->b[i]);
			else if (bs->b[i].kind == HF_BLOCK_RESULT)
				result(r, &bs->b[i]);
		break;
	case HF_ROW_OTHER:
	case HF_ROW_INJECTED:
	case HF_ROW_RESET:
	case HF_ROW_LIST:
	case HF_ROW_QUEUED:
		break;
	}
}

static void
init(struct hf_facts *f)
{
	memset(f, 0, sizeof(*f));
	hf_arena_init(&f->arena);
	f->file = hf_calloc(HF_FACTS_FILES, sizeof(*f->file));
	f->gone = hf_calloc(HF_FACTS_GONE, sizeof(*f->gone));
	f->command = hf_calloc(HF_FACTS_COMMANDS, sizeof(*f->command));
	f->request = hf_calloc(HF_FACTS_REQUESTS, sizeof(*f->request));
	f->todo = hf_calloc(HF_FACTS_TODOS, sizeof(*f->todo));
	f->answer = hf_calloc(HF_FACTS_ANSWERS, sizeof(*f->answer));
}

int
hf_facts_read(struct hf_walk *w, struct hf_facts *f, struct hf_err *err)
{
	const struct hf_blocks *bs;
	struct reader *r;
	struct hf_row row;
	size_t index;
	int rc;

	init(f);
	r = hf_calloc(1, sizeof(*r));
	r->f = f;
	r->w = w;
	r->slot = hf_calloc(SLOTS, sizeof(*r->slot));
	if (w->session->cwd != NULL)
		f->cwd = copy(f, hf_str(w->session->cwd), 4096);
	if (w->session->branch != NULL)
		f->branch = copy(f, hf_str(w->session->branch), 256);
	hf_walk_seek(w, 0);
	while ((rc = hf_walk_next(w, &row, &bs, &index, err)) > 0) {
		r->at = (uint32_t)index + 1;
		one_row(r, &row, bs);
	}
	if (r->npending > 0)
		f->open_tool = r->pending[r->npending - 1].name;
	hf_actions_release(&r->actions);
	hf_shell_release(&r->shell);
	free(r->slot);
	free(r);
	if (rc < 0)
		hf_facts_release(f);
	return rc;
}

bool
hf_facts_gone(const struct hf_facts *f, struct hf_str path)
{
	size_t i;

	for (i = 0; i < f->ngone; i++)
		if (hf_str_eq(f->gone[i], path) || below(path, f->gone[i]))
			return true;
	return false;
}

bool
hf_facts_seed(struct hf_facts *f, bool (*ours)(struct hf_str seed, void *arg),
    void *arg)
{
	size_t i;

	if (f->seed.text.n == 0 || ours == NULL)
		return false;
	if (ours(f->seed.text, arg))
		return true;
	for (i = 0; i < f->nseeds; i++)
		if (ours(f->other_seed[i].text, arg)) {
			f->seed = f->other_seed[i];
			return true;
		}
	return false;
}

void
hf_facts_release(struct hf_facts *f)
{
	free(f->file);
	free(f->gone);
	free(f->command);
	free(f->request);
	free(f->todo);
	free(f->answer);
	hf_arena_clear(&f->arena);
	memset(f, 0, sizeof(*f));
}
