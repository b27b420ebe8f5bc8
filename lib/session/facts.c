#include "session/facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/hmac.h"

/*
 * A call is remembered until its result says whether it happened: a file
 * counts as written only when the tool said so, a command has its status.
 */
enum { PENDING = 64, SLOTS = HF_FACTS_FILES * 2 };

struct pending {
	struct hf_str id;		/* in the arena */
	struct hf_str name;
	struct hf_action *act;		/* copies in the arena */
	size_t nact;
	size_t command;			/* number of the command, from 1 */
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

/* path made absolute under cwd, in the arena. */
static struct hf_str
absolute(struct hf_facts *f, struct hf_str path)
{
	struct hf_buf out = HF_BUF_INIT;
	struct hf_str kept;

	if (path.n > 0 && path.s[0] == '~')
		return copy(f, path, 4096);
	if (path.n == 0 || path.s[0] != '/')
		components(&out, f->cwd);
	components(&out, path);
	kept = copy(f, hf_buf_view(&out), 4096);
	hf_buf_release(&out);
	return kept;
}

/* ---- files ---- */

static struct hf_fact_file *
file_of(struct reader *r, struct hf_str path)
{
	struct hf_facts *f = r->f;
	struct hf_fact_file *file;
	uint32_t i;
	size_t h;

	path = absolute(f, hf_str_trim(path));
	if (path.n == 0)
		return NULL;
	for (h = hf_hash(path) % SLOTS; (i = r->slot[h]) != 0;
	    h = (h + 1) % SLOTS)
		if (hf_str_eq(f->file[i - 1].path, path))
			return &f->file[i - 1];
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

static void
happened(struct reader *r, const struct hf_action *a)
{
	struct hf_fact_file *file;

	switch (a->kind) {
	case HF_ACT_WRITE:
	case HF_ACT_EDIT:
		wrote(r, a->path, false);
		break;
	case HF_ACT_DELETE:
		wrote(r, a->path, true);
		break;
	case HF_ACT_MOVE:
		wrote(r, a->path, true);
		wrote(r, a->path2, false);
		break;
	case HF_ACT_READ:
		if ((file = file_of(r, a->path)) != NULL) {
			file->read = true;
			file->last_seen = r->at;
		}
		break;
	default:
		break;
	}
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

static size_t
command(struct reader *r, const struct hf_action *a)
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
	return r->forgotten + f->ncommands;
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
			p->command = command(r, a);
		else if (a->kind == HF_ACT_TODOS)
			todos(f, a->items);
		else if (a->kind == HF_ACT_TODO_ADD)
			todo_add(f, a->item, a->status);
		else if (a->kind == HF_ACT_TODO_SET)
			todo_set(f, a->item, a->status);
		else if (a->kind == HF_ACT_ASK && hf_json_size(a->items) > 0)
			p->question = copy(f, hf_json_type(a->items) ==
			    HF_J_STR ? hf_json_str(a->items) :
			    hf_json_get_str(hf_json_elem(a->items, 0),
			    "question"), 2000);
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
	remember(r, b, p);
	p->act = hf_arena_alloc(&f->arena,
	    (r->actions.n + 1) * sizeof(*p->act));
	for (i = 0; i < r->actions.n; i++)
		if (r->actions.a[i].path.n > 0) {
			p->act[p->nact] = r->actions.a[i];
			p->act[p->nact].path = copy(f,
			    r->actions.a[i].path, 4096);
			p->act[p->nact++].path2 = copy(f,
			    r->actions.a[i].path2, 4096);
		}
}

/* The last line of the output that is not blank. */
static struct hf_str
last_line(struct hf_str text)
{
	size_t from;

	text = hf_str_trim(text);
	for (from = text.n; from > 0 && text.s[from - 1] != '\n'; from--)
		;
	return hf_str_trim(hf_strn(text.s + from, text.n - from));
}

static void
answer(struct reader *r, struct hf_str question, struct hf_str text)
{
	struct hf_facts *f = r->f;
	struct hf_fact_answer *a;

	if (f->nanswers == HF_FACTS_ANSWERS) {
		f->dropped++;
		return;
	}
	a = &f->answer[f->nanswers++];
	a->question = question;
	a->answer = copy(f, hf_str_trim(text), 2000);
	a->at = r->at;
}

static void
result(struct reader *r, const struct hf_block *b)
{
	struct hf_fact_command *c;
	struct pending *p = NULL;
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
		c->failed = b->error ||
		    (b->exit != HF_EXIT_UNKNOWN && b->exit != 0);
		c->output = copy(r->f, last_line(b->text), 300);
	}
	for (i = 0; !b->error && i < p->nact; i++)
		happened(r, &p->act[i]);
	if (!b->error && p->question.n > 0)
		answer(r, p->question, b->text);
	memmove(p, p + 1, (size_t)(r->pending + r->npending - p - 1) *
	    sizeof(*p));
	r->npending--;
}

/* ---- rows ---- */

/* The TEXT blocks of a row, joined. */
static struct hf_str
row_text(struct hf_facts *f, const struct hf_blocks *bs)
{
	struct hf_buf text = HF_BUF_INIT;
	struct hf_str kept;
	size_t i;

	for (i = 0; i < bs->n; i++) {
		if (bs->b[i].kind != HF_BLOCK_TEXT)
			continue;
		if (text.len > 0)
			hf_buf_putc(&text, '\n');
		hf_buf_str(&text, bs->b[i].text);
	}
	kept = copy(f, hf_str_trim(hf_buf_view(&text)), HF_FACTS_TEXT);
	hf_buf_release(&text);
	return kept;
}

static void
request(struct reader *r, const struct hf_row *row,
    const struct hf_blocks *bs)
{
	struct hf_facts *f = r->f;
	struct hf_fact_text *t;
	struct hf_str text = row_text(f, bs);
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
	text = row_text(f, bs);
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
		f->seed.text = row_text(f, bs);
		f->seed.at = r->at;
		break;
	case HF_ROW_COMPACTION:
		f->compactions++;
		__attribute__((fallthrough));
	case HF_ROW_SUMMARY:
		if (bs->n > 0) {
			f->summary.text = row_text(f, bs);
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
	free(r->slot);
	free(r);
	if (rc < 0)
		hf_facts_release(f);
	return rc;
}

void
hf_facts_release(struct hf_facts *f)
{
	free(f->file);
	free(f->command);
	free(f->request);
	free(f->todo);
	free(f->answer);
	hf_arena_clear(&f->arena);
	memset(f, 0, sizeof(*f));
}
