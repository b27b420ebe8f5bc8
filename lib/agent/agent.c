#include "agent/agent.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "agent/table.h"

enum { TITLE_MAX = 80 };

/* ---- the table ---- */

static const struct hf_agent *const table[] = {
	&hf_agent_claude,
	&hf_agent_codex,
	&hf_agent_pi,
	&hf_agent_omp,
	&hf_agent_gemini,
	&hf_agent_opencode,
};

const struct hf_agent *const *
hf_agents(size_t *n)
{
	*n = sizeof(table) / sizeof(table[0]);
	return table;
}

const struct hf_agent *
hf_agent_by_name(struct hf_str name)
{
	size_t i, n;

	hf_agents(&n);
	for (i = 0; i < n; i++)
		if (hf_str_is(name, table[i]->name))
			return table[i];
	return NULL;
}

const struct hf_agent *
hf_agent_of_rows(const char *path)
{
	size_t i, n;

	hf_agents(&n);
	for (i = 0; i < n; i++)
		if (table[i]->rows != NULL && table[i]->rows->is(path))
			return table[i];
	return NULL;
}

char *
hf_session_file(const char *path)
{
	const char *mark = hf_agent_of_rows(path) != NULL ?
	    strrchr(path, '#') : NULL;

	return mark != NULL ? hf_strndup(path, (size_t)(mark - path)) :
	    hf_strdup(path);
}

/* ---- sessions ---- */

void
hf_session_init(struct hf_session *s)
{
	memset(s, 0, sizeof(*s));
	s->mtime = s->prompted = -1;
}

void
hf_session_release(struct hf_session *s)
{
	free(s->id);
	free(s->path);
	free(s->cwd);
	free(s->model);
	free(s->title);
	free(s->parent);
	free(s->provider);
	free(s->branch);
	free(s->permission);
	free(s->version);
	hf_session_init(s);
}

void
hf_session_set(char **field, struct hf_str a)
{
	char *new;

	if (a.s == NULL)
		return;
	if (*field != NULL && strlen(*field) == a.n &&
	    memcmp(*field, a.s, a.n) == 0)
		return;
	new = hf_strndup(a.s, a.n);
	free(*field);
	*field = new;
}

/* Appends text as one line: runs of blanks are one, control bytes go. */
static void
one_line(struct hf_buf *out, struct hf_str text)
{
	size_t i, n;
	bool blank = false;
	uint32_t cp;

	for (i = 0; i < text.n; i += n) {
		n = hf_utf8_at(text.s + i, text.n - i, &cp);
		if (n == 0 || cp <= 0x20 || hf_text_harmful(cp)) {
			blank = out->len > 0;
			n = n == 0 ? 1 : n;
			continue;
		}
		if (blank)
			hf_buf_putc(out, ' ');
		blank = false;
		hf_buf_add(out, text.s + i, n);
	}
}

void
hf_session_title_prompt(struct hf_session *s, struct hf_str prompt)
{
	struct hf_buf out = HF_BUF_INIT;
	struct hf_str line, rest = hf_str_trim(prompt);
	size_t end;

	if (s->title != NULL || rest.n == 0)
		return;
	line = hf_str_line(rest, &rest);
	one_line(&out, line);
	end = hf_utf8_offset(hf_buf_view(&out), TITLE_MAX);
	if (end < out.len) {
		end = hf_utf8_offset(hf_buf_view(&out), TITLE_MAX - 1);
		hf_buf_cut(&out, end);
		hf_buf_puts(&out, "…");
	}
	if (out.len > 0)
		s->title = hf_buf_steal(&out);
	hf_buf_release(&out);
}

/* The number in a title's " (handoff N)", 1 for " (handoff)", 0 for none;
 * *n gets the length of what stands before it. */
static int64_t
handoff_number(struct hf_str title, size_t *n)
{
	static const char mark[] = " (handoff";
	size_t i, from = SIZE_MAX;
	int64_t number;

	if (!hf_str_ends(title, ")"))
		return 0;
	for (i = 0; (i = hf_str_find(title, hf_str(mark), i)) != SIZE_MAX; i++)
		from = i;
	if (from == SIZE_MAX)
		return 0;
	i = from + sizeof(mark) - 1;
	if (i == title.n - 1)
		number = 1;
	else if (title.s[i] != ' ' || !hf_text_int(hf_strn(title.s + i + 1,
	    title.n - i - 2), &number) || number < 1 || number > 999999)
		return 0;
	*n = from;
	return number;
}

/* Where the colon of a URL's scheme at the start of title is; SIZE_MAX. */
static size_t
scheme_colon(struct hf_str title)
{
	size_t i;
	char c;

	for (i = 0; i < title.n; i++) {
		c = title.s[i];
		if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))
			continue;
		if (c == ':' && i > 0)
			return i;
		if (i == 0 || !((c >= '0' && c <= '9') || c == '+' ||
		    c == '-' || c == '.'))
			break;
	}
	return SIZE_MAX;
}

char *
hf_successor_title(struct hf_str title)
{
	struct hf_buf line = HF_BUF_INIT, out = HF_BUF_INIT;
	struct hf_str t;
	size_t n, colon;
	int64_t number;

	one_line(&line, title);
	t = hf_buf_view(&line);
	n = t.n;
	number = handoff_number(t, &n);
	t.n = hf_utf8_offset(hf_strn(t.s, n), TITLE_MAX);
	if (t.n == 0)
		t = HF_STR("session");
	colon = scheme_colon(t);
	if (colon == SIZE_MAX) {
		hf_buf_str(&out, t);
	} else {
		hf_buf_add(&out, t.s, colon);
		hf_buf_puts(&out, " -");
		hf_buf_add(&out, t.s + colon + 1, t.n - colon - 1);
	}
	if (number == 0)
		hf_buf_puts(&out, " (handoff)");
	else
		hf_buf_printf(&out, " (handoff %lld)",
		    (long long)number + 1);
	hf_buf_release(&line);
	return hf_buf_steal(&out);
}

/* ---- rows and what is in them ---- */

void
hf_row_init(struct hf_row *row, const struct hf_record *rec)
{
	memset(row, 0, sizeof(*row));
	row->ref = rec->ref;
	row->context = row->time = -1;
	row->v = rec->v;
}

void
hf_blocks_init(struct hf_blocks *bs)
{
	memset(bs, 0, sizeof(*bs));
	hf_arena_init(&bs->arena);
}

void
hf_blocks_clear(struct hf_blocks *bs)
{
	while (bs->njson > 0)
		hf_json_free(bs->json[--bs->njson]);
	hf_arena_clear(&bs->arena);
	bs->n = 0;
}

void
hf_blocks_release(struct hf_blocks *bs)
{
	hf_blocks_clear(bs);
	free(bs->b);
	hf_blocks_init(bs);
}

struct hf_block *
hf_blocks_add(struct hf_blocks *bs, enum hf_block_kind k)
{
	struct hf_block *b;

	if (bs->n == bs->cap) {
		bs->cap = bs->cap == 0 ? 8 : bs->cap * 2;
		bs->b = hf_reallocarray(bs->b, bs->cap, sizeof(*bs->b));
	}
	b = &bs->b[bs->n++];
	memset(b, 0, sizeof(*b));
	b->kind = k;
	b->exit = HF_EXIT_UNKNOWN;
	return b;
}

/* An element's text; for what is no text a label such as "[image]". */
static struct hf_str
element_text(const struct hf_jval *v, char label[64])
{
	struct hf_str text, type;

	if (hf_json_type(v) == HF_J_STR)
		return hf_json_str(v);
	text = hf_json_get_str(v, "text");
	if (text.s != NULL)
		return text;
	type = hf_json_get_str(v, "type");
	if (type.n == 0 || type.n > 60)
		return HF_STR_NONE;
	label[0] = '[';
	memcpy(label + 1, type.s, type.n);
	label[type.n + 1] = ']';
	return hf_strn(label, type.n + 2);
}

struct hf_str
hf_blocks_text(struct hf_blocks *bs, const struct hf_jval *v)
{
	struct hf_buf out = HF_BUF_INIT;
	const struct hf_jval *e, *only;
	struct hf_jiter it;
	struct hf_str text;
	char label[64];

	if (hf_json_type(v) != HF_J_ARR)
		return hf_json_str(v);
	only = hf_json_size(v) == 1 ? hf_json_elem(v, 0) : NULL;
	if ((text = hf_json_get_str(only, "text")).s != NULL)
		return text;
	hf_json_iter(&it, v);
	while ((e = hf_json_next(&it, NULL)) != NULL) {
		text = element_text(e, label);
		if (text.n == 0)
			continue;
		if (out.len > 0)
			hf_buf_putc(&out, '\n');
		hf_buf_str(&out, text);
	}
	text = hf_strn(hf_arena_copy(&bs->arena, hf_buf_cstr(&out), out.len),
	    out.len);
	hf_buf_release(&out);
	return text;
}

/* ---- places and commands ---- */

void
hf_place_release(struct hf_place *p)
{
	free(p->dir);
	free(p->name);
	p->dir = p->name = NULL;
}

/* The last slot stays NULL, so v can be passed to exec as it is. */
void
hf_argv_add(struct hf_argv *a, const char *s)
{
	if (a->n + 1 >= sizeof(a->v) / sizeof(a->v[0]))
		abort();
	a->v[a->n++] = hf_strdup(s);
}

void
hf_argv_release(struct hf_argv *a)
{
	while (a->n > 0)
		free(a->v[--a->n]);
	memset(a, 0, sizeof(*a));
}
