#include "session/render.h"

#include <stdlib.h>
#include <string.h>

#include "base/hmac.h"

/*
 * Each row becomes pieces: a head line at the left margin ("user:",
 * "result of Bash, exit 1:") and a body indented by two blanks, so that no
 * line of a body can pass for a head. Pieces are gathered first, since what
 * is left out depends on the size of all.
 */
enum piece_class { USER, SUMMARY, ANSWER, CALL, RESULT, NOTE };

struct piece {
	enum piece_class class;
	struct hf_str head, body;	/* in the arena */
	struct hf_str id;		/* CALL: until its result comes */
	bool open;			/* CALL without a result */
	size_t cut;			/* bytes of the body left out */
};

enum { SLACK = 16384, PENDING = 64, CUT_SMALL = 200 };

struct pieces {
	struct piece *v;
	size_t n, cap;
	struct hf_arena arena;
	struct hf_buf scratch, masked;
	size_t pending[PENDING];	/* CALLs without a result, in order */
	size_t npending;
	uint64_t done[PENDING];		/* hashes of the last ids answered */
	size_t ndone;
	struct hf_render *r;
};

static struct piece *
add(struct pieces *ps, enum piece_class class, const char *head)
{
	struct piece *p;

	if (ps->n == ps->cap) {
		ps->cap = ps->cap == 0 ? 256 : ps->cap * 2;
		ps->v = hf_reallocarray(ps->v, ps->cap, sizeof(*ps->v));
	}
	p = &ps->v[ps->n++];
	memset(p, 0, sizeof(*p));
	p->class = class;
	p->head = hf_strn(hf_arena_copy(&ps->arena, head, strlen(head)),
	    strlen(head));
	return p;
}

/*
 * Appends text masked, repaired and escaped, at most max characters of it
 * (0: all); returns the bytes left out. Masking comes before the cut, so
 * that no half of a secret is left; only what the cut can reach is masked.
 */
static size_t
clean(struct pieces *ps, struct hf_str text, size_t max)
{
	struct hf_str view = text;
	size_t left = 0, end;

	if (max > 0 && text.n > max * 4 + SLACK)
		view.n = hf_utf8_cut(text, max * 4 + SLACK);
	hf_buf_clear(&ps->masked);
	if (ps->r->mask != NULL)
		ps->r->mask(&ps->masked, view, ps->r->mask_arg);
	else
		hf_buf_str(&ps->masked, view);
	view = hf_buf_view(&ps->masked);
	if (max > 0 && (end = hf_utf8_offset(view, max)) < view.n) {
		left = text.n > end ? text.n - end : view.n - end;
		view.n = end;
	}
	hf_buf_clear(&ps->scratch);
	hf_render_escape(&ps->scratch, view);
	return left;
}

static struct hf_str
stored(struct pieces *ps)
{
	struct hf_buf whole = HF_BUF_INIT;
	struct hf_str out;

	hf_utf8_repair(&whole, hf_buf_view(&ps->scratch));
	out = hf_str_trim(hf_buf_view(&whole));
	out = hf_strn(hf_arena_copy(&ps->arena, out.n > 0 ? out.s : "",
	    out.n), out.n);
	hf_buf_release(&whole);
	return out;
}

static void
text_piece(struct pieces *ps, enum piece_class class, const char *head,
    struct hf_str text, size_t max)
{
	struct piece *p;
	size_t cut;

	if (hf_str_trim(text).n == 0)
		return;
	cut = clean(ps, text, max);
	p = add(ps, class, head);
	p->body = stored(ps);
	p->cut = cut;
}

/* A call's arguments as "name: value" lines, decoded, each cut. */
static void
call_piece(struct pieces *ps, const struct hf_block *b)
{
	struct hf_buf body = HF_BUF_INIT, head = HF_BUF_INIT;
	const struct hf_jval *v;
	struct hf_jiter it;
	struct hf_str key;
	struct piece *p;
	size_t cut = 0;

	hf_json_iter(&it, b->args);
	while ((v = hf_json_next(&it, &key)) != NULL) {
		struct hf_buf value = HF_BUF_INIT;

		if (hf_json_type(v) == HF_J_STR)
			hf_buf_str(&value, hf_json_str(v));
		else
			hf_json_write(&value, v);
		cut += clean(ps, hf_buf_view(&value), HF_RENDER_RESULT);
		hf_buf_release(&value);
		if (body.len > 0)
			hf_buf_putc(&body, '\n');
		hf_buf_str(&body, key);
		hf_buf_puts(&body, ": ");
		hf_buf_str(&body, hf_buf_view(&ps->scratch));
	}
	hf_buf_puts(&head, "call of ");
	hf_text_clip(&head, b->name, 80);
	p = add(ps, CALL, hf_buf_cstr(&head));
	hf_buf_clear(&ps->scratch);
	hf_buf_str(&ps->scratch, hf_buf_view(&body));
	p->body = stored(ps);
	p->cut = cut;
	p->open = true;
	p->id = hf_strn(hf_arena_copy(&ps->arena, b->id.n > 0 ? b->id.s : "",
	    b->id.n), b->id.n);
	if (ps->npending == PENDING)
		memmove(ps->pending, ps->pending + 1,
		    --ps->npending * sizeof(ps->pending[0]));
	ps->pending[ps->npending++] = ps->n - 1;
	hf_buf_release(&head);
	hf_buf_release(&body);
}

/* Marks the call that a result answers; its piece, NULL if unknown. */
static struct piece *
answered(struct pieces *ps, struct hf_str id)
{
	struct piece *p;
	size_t i;

	for (i = ps->npending; i-- > 0;) {
		p = &ps->v[ps->pending[i]];
		if (!hf_str_eq(p->id, id))
			continue;
		p->open = false;
		ps->done[ps->ndone++ % PENDING] = hf_hash(id);
		memmove(ps->pending + i, ps->pending + i + 1,
		    (ps->npending - i - 1) * sizeof(ps->pending[0]));
		ps->npending--;
		return p;
	}
	return NULL;
}

/* Some agents write a result with its call and again as a message. */
static bool
said_before(const struct pieces *ps, struct hf_str id)
{
	size_t i;

	for (i = 0; i < ps->ndone && i < PENDING; i++)
		if (ps->done[i] == hf_hash(id))
			return true;
	return false;
}

static void
result_piece(struct pieces *ps, const struct hf_block *b)
{
	struct hf_buf head = HF_BUF_INIT;
	const struct piece *call = answered(ps, b->id);

	if (call == NULL && b->id.n > 0 && said_before(ps, b->id))
		return;
	hf_buf_puts(&head, "result");
	if (call != NULL) {
		hf_buf_puts(&head, " of ");
		hf_buf_str(&head, hf_strn(call->head.s + 8,
		    call->head.n - 8));
	}
	if (b->exit != HF_EXIT_UNKNOWN)
		hf_buf_printf(&head, ", exit status %d", b->exit);
	else if (b->error)
		hf_buf_puts(&head, ", failed");
	text_piece(ps, RESULT, hf_buf_cstr(&head),
	    hf_str_trim(b->text).n > 0 ? b->text : HF_STR("(no output)"),
	    HF_RENDER_RESULT);
	hf_buf_release(&head);
}

static void
user_blocks(struct pieces *ps, const struct hf_blocks *bs, const char *head,
    enum piece_class class)
{
	size_t i;

	for (i = 0; i < bs->n; i++)
		if (bs->b[i].kind == HF_BLOCK_TEXT)
			text_piece(ps, class, head, bs->b[i].text, 0);
		else if (bs->b[i].kind == HF_BLOCK_IMAGE)
			text_piece(ps, NOTE, head, bs->b[i].text, 200);
}

static void
assistant_blocks(struct pieces *ps, const struct hf_blocks *bs)
{
	size_t i;

	for (i = 0; i < bs->n; i++)
		if (bs->b[i].kind == HF_BLOCK_TEXT)
			text_piece(ps, ANSWER, "assistant", bs->b[i].text, 0);
		else if (bs->b[i].kind == HF_BLOCK_CALL)
			call_piece(ps, &bs->b[i]);
		else if (bs->b[i].kind == HF_BLOCK_RESULT)
			result_piece(ps, &bs->b[i]);
		else if (bs->b[i].kind == HF_BLOCK_IMAGE)
			text_piece(ps, NOTE, "assistant", bs->b[i].text, 200);
}

static void
one_row(struct pieces *ps, const struct hf_row *row,
    const struct hf_blocks *bs)
{
	size_t i;

	switch (row->kind) {
	case HF_ROW_PROMPT:
		user_blocks(ps, bs, "user", USER);
		break;
	case HF_ROW_SEED:
		user_blocks(ps, bs, "brief of an earlier session", SUMMARY);
		break;
	case HF_ROW_COMPACTION:
	case HF_ROW_SUMMARY:
		user_blocks(ps, bs, "summary of what came before", SUMMARY);
		break;
	case HF_ROW_INTERRUPT:
		add(ps, NOTE, "the user interrupted the turn here");
		break;
	case HF_ROW_ASSISTANT:
		if (!(row->flags & (HF_ROW_SYNTHETIC | HF_ROW_ERROR)))
			assistant_blocks(ps, bs);
		break;
	case HF_ROW_RESULT:	/* a line that the user ran has both */
		for (i = 0; i < bs->n; i++)
			if (bs->b[i].kind == HF_BLOCK_CALL)
				call_piece(ps, &bs->b[i]);
			else if (bs->b[i].kind == HF_BLOCK_RESULT)
				result_piece(ps, &bs->b[i]);
		break;
	case HF_ROW_OTHER:
	case HF_ROW_INJECTED:
	case HF_ROW_RESET:
	case HF_ROW_LIST:
	case HF_ROW_QUEUED:
		return;
	}
	ps->r->rows++;
}

/* Rows [from, to) of the branch; to 0: all that follow. */
static int
range(struct pieces *ps, struct hf_walk *w, size_t from, size_t to,
    struct hf_err *err)
{
	const struct hf_blocks *bs;
	struct hf_row row;
	size_t i = from;
	int rc;

	hf_walk_seek(w, from);
	while (i < to) {
		if ((rc = hf_walk_next(w, &row, &bs, &i, err)) <= 0)
			return rc;
		if (i++ >= to)
			break;
		one_row(ps, &row, bs);
	}
	return 0;
}

/* The summary first, then what was kept, then everything later. */
static int
gather(struct pieces *ps, struct hf_walk *w, struct hf_err *err)
{
	const struct hf_path *p = &w->path;
	size_t rest = p->visible;

	if (p->kept < p->visible) {
		while (rest < p->n && (p->row[rest].kind == HF_ROW_COMPACTION ||
		    p->row[rest].kind == HF_ROW_SUMMARY))
			rest++;
		if (range(ps, w, p->visible, rest, err) < 0 ||
		    range(ps, w, p->kept, p->visible, err) < 0)
			return -1;
	}
	return range(ps, w, rest, p->n, err);
}

/* ---- fitting ---- */

static size_t
size_of(const struct piece *p)
{
	return p->head.n + p->body.n + p->body.n / 32 + 48;
}

/* Takes from the oldest pieces of a class, leaving small bytes of each,
 * until what is over is gone. */
static void
shrink(struct pieces *ps, enum piece_class class, size_t small,
    size_t newest, size_t *over)
{
	struct piece *p;
	size_t i, keep;

	for (i = 0; i < ps->n && *over > 0; i++) {
		p = &ps->v[i];
		if (p->class != class || p->body.n <= small ||
		    ps->n - i <= newest)
			continue;
		keep = hf_utf8_cut(p->body, small);
		p->cut += p->body.n - keep;
		ps->r->elided += p->body.n - keep;
		*over -= p->body.n - keep < *over ? p->body.n - keep : *over;
		p->body.n = keep;
	}
}

static void
fit(struct pieces *ps)
{
	static const struct { enum piece_class class; size_t small, newest; }
	    ladder[] = {
		{ RESULT, CUT_SMALL, 16 }, { RESULT, 0, 16 },
		{ CALL, CUT_SMALL, 16 }, { ANSWER, 1000, 16 },
		{ CALL, 0, 16 }, { RESULT, 0, 0 }, { ANSWER, CUT_SMALL, 4 },
		{ CALL, CUT_SMALL, 0 }, { SUMMARY, 8000, 0 },
		{ ANSWER, 0, 1 }, { ANSWER, 1000, 0 }, { USER, 4000, 2 },
		{ USER, 1000, 1 }, { SUMMARY, 1000, 0 }, { USER, 200, 1 },
		{ USER, 4000, 0 },
	};
	size_t i, total = 0, over;

	for (i = 0; i < ps->n; i++)
		total += size_of(&ps->v[i]);
	if (ps->r->budget == 0 || total <= ps->r->budget)
		return;
	over = total - ps->r->budget;
	for (i = 0; i < sizeof(ladder) / sizeof(ladder[0]) && over > 0; i++)
		shrink(ps, ladder[i].class, ladder[i].small,
		    ladder[i].newest, &over);
}

/* ---- writing ---- */

static void
write_body(struct hf_buf *out, struct hf_str body)
{
	struct hf_str line, rest = body;

	while (rest.n > 0) {
		line = hf_str_line(rest, &rest);
		if (line.n > 0) {
			hf_buf_puts(out, "  ");
			hf_buf_str(out, line);
		}
		hf_buf_putc(out, '\n');
	}
}

static void
write_piece(struct hf_buf *out, const struct piece *p)
{
	hf_buf_str(out, p->head);
	if (p->class == CALL && p->open)
		hf_buf_puts(out, " (interrupted: no result)");
	hf_buf_puts(out, p->body.n > 0 || p->cut > 0 ? ":\n" : "\n");
	write_body(out, p->body);
	if (p->cut > 0)
		hf_buf_printf(out, "  [%zu bytes left out]\n", p->cut);
	hf_buf_putc(out, '\n');
}

int
hf_render(struct hf_walk *w, struct hf_render *r, struct hf_buf *out,
    struct hf_err *err)
{
	struct pieces ps;
	size_t i;
	int rc = -1;

	memset(&ps, 0, sizeof(ps));
	hf_arena_init(&ps.arena);
	ps.r = r;
	r->elided = r->rows = 0;
	if (gather(&ps, w, err) < 0)
		goto out;
	fit(&ps);
	for (i = 0; i < ps.n; i++)
		write_piece(out, &ps.v[i]);
	rc = out->full ? hf_err_set(err, HF_E_OVERFLOW,
	    "the transcript is too long to be rendered") : 0;
out:
	free(ps.v);
	hf_arena_clear(&ps.arena);
	hf_buf_release(&ps.scratch);
	hf_buf_release(&ps.masked);
	return rc;
}

/* Length of a tag of ours at the start of a ("< / Handoff-Context >"
 * without its '>'), 0 if there is none. */
static size_t
our_tag(struct hf_str a)
{
	size_t i = 1;

	while (i < a.n && (a.s[i] == ' ' || a.s[i] == '\t' || a.s[i] == '\n' ||
	    a.s[i] == '\r' || a.s[i] == '/'))
		i++;
	return hf_str_istarts(hf_strn(a.s + i, a.n - i), "handoff-context") ?
	    i : 0;
}

void
hf_render_escape(struct hf_buf *out, struct hf_str text)
{
	const char *p = text.s, *end = text.s + text.n, *lt;

	while (p < end) {
		lt = memchr(p, '<', (size_t)(end - p));
		if (lt == NULL)
			break;
		hf_buf_add(out, p, (size_t)(lt - p));
		if (our_tag(hf_strn(lt, (size_t)(end - lt))) > 0)
			hf_buf_puts(out, "&lt;");
		else
			hf_buf_putc(out, '<');
		p = lt + 1;
	}
	if (p < end)
		hf_buf_add(out, p, (size_t)(end - p));
}
