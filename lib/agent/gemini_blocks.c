#include <string.h>

#include "agent/gemini.h"

enum { LABEL = 80 };

/* ---- parts ---- */

struct hf_str
hf_gemini_text(const struct hf_jval *content)
{
	const struct hf_jval *v;
	struct hf_jiter it;
	struct hf_str text;

	if (hf_json_type(content) == HF_J_STR)
		return hf_json_str(content);
	if (hf_json_type(content) == HF_J_OBJ)
		return hf_json_get_str(content, "text");
	hf_json_iter(&it, content);
	while ((v = hf_json_next(&it, NULL)) != NULL) {
		text = hf_json_type(v) == HF_J_STR ? hf_json_str(v) :
		    hf_json_get_str(v, "text");
		if (text.n > 0 && !hf_json_true(hf_json_get(v, "thought")))
			return text;
	}
	return HF_STR_NONE;
}

const struct hf_jval *
hf_gemini_part(const struct hf_jval *content, const char *key)
{
	const struct hf_jval *v, *part;
	struct hf_jiter it;

	if (hf_json_type(content) != HF_J_ARR)
		return hf_json_get(content, key);
	hf_json_iter(&it, content);
	while ((v = hf_json_next(&it, NULL)) != NULL)
		if ((part = hf_json_get(v, key)) != NULL)
			return part;
	return NULL;
}

bool
hf_gemini_cancelled(const struct hf_jval *response)
{
	return hf_str_starts(hf_json_get_str(hf_json_get(response,
	    "response"), "error"), "[Operation Cancelled]");
}

static void
text(struct hf_blocks *out, struct hf_str a)
{
	if (a.n > 0)
		hf_blocks_add(out, HF_BLOCK_TEXT)->text = a;
}

static void
image(struct hf_blocks *out, const struct hf_jval *v)
{
	struct hf_str type = hf_json_get_str(v, "mimeType");
	struct hf_buf label = HF_BUF_MAX(128);

	hf_buf_puts(&label, "[file");
	if (type.n > 0 && type.n < LABEL) {
		hf_buf_putc(&label, ' ');
		hf_text_safe(&label, type, false);
	}
	hf_buf_putc(&label, ']');
	hf_blocks_add(out, HF_BLOCK_IMAGE)->text = hf_strn(
	    hf_arena_copy(&out->arena, label.data, label.len), label.len);
	hf_buf_release(&label);
}

static void
call(struct hf_blocks *out, const struct hf_jval *v)
{
	struct hf_block *b = hf_blocks_add(out, HF_BLOCK_CALL);

	b->id = hf_json_get_str(v, "id");
	b->name = hf_json_get_str(v, "name");
	b->args = hf_json_get(v, "args");
}

/* ---- results ---- */

/* The last line of a, and what stands before it. */
static struct hf_str
last_line(struct hf_str a, struct hf_str *before)
{
	size_t i;

	for (i = a.n; i > 0 && a.s[i - 1] != '\n'; i--)
		;
	*before = hf_strn(a.s, i > 0 ? i - 1 : 0);
	return hf_strn(a.s + i, a.n - i);
}

static bool
strip(struct hf_str *a, const char *lead)
{
	size_t n = strlen(lead);

	if (!hf_str_starts(*a, lead))
		return false;
	*a = hf_strn(a->s + n, a->n - n);
	return true;
}

/* Output as the client wraps it against what may stand in it. */
static struct hf_str
unwrap(struct hf_str a)
{
	static const char end[] = "</untrusted_context>";

	a = hf_str_trim(a);
	if (!strip(&a, "<untrusted_context>"))
		return a;
	a = hf_str_trim(a);
	if (hf_str_ends(a, end))
		a.n -= sizeof(end) - 1;
	return hf_str_trim(a);
}

/*
 * A command's output between what the client says of it; its exit status,
 * which is told only when it is not 0.
 */
static struct hf_str
shell(struct hf_str a, int *exit)
{
	struct hf_str line, before;
	bool ended = hf_str_starts(a, "Output:");
	int64_t n;

	if (ended)
		*exit = 0;
	for (;;) {
		line = last_line(a, &before);
		if (strip(&line, "Exit Code:")) {
			if (hf_text_int(hf_str_trim(line), &n) && n >= -255 &&
			    n <= 255)
				*exit = (int)n;
		} else if (!hf_str_starts(line, "Process Group PGID:") &&
		    !hf_str_starts(line, "Background PIDs:") &&
		    !hf_str_starts(line, "Signal:")) {
			break;
		} else if (hf_str_starts(line, "Signal:") && *exit == 0) {
			*exit = HF_EXIT_UNKNOWN;
		}
		if (before.n == 0)
			break;
		a = before;
	}
	if (ended)
		strip(&a, "Output:");
	return hf_str_trim(a);
}

/* What a function gave: mostly a text, under one of two names. */
static struct hf_str
response_text(struct hf_blocks *out, const struct hf_jval *v, bool *error)
{
	const struct hf_jval *r = hf_json_get(v, "response");
	struct hf_str a = hf_json_get_str(r, "output");
	struct hf_buf all = HF_BUF_INIT;

	*error = false;
	if (a.s != NULL)
		return a;
	a = hf_json_get_str(r, "error");
	if (a.s != NULL) {
		*error = true;
		return a;
	}
	if (hf_json_type(hf_json_get(r, "content")) == HF_J_ARR)
		return hf_blocks_text(out, hf_json_get(r, "content"));
	if (r == NULL)
		return HF_STR_NONE;
	hf_json_write(&all, r);
	a = hf_strn(hf_arena_copy(&out->arena, hf_buf_cstr(&all), all.len),
	    all.len);
	hf_buf_release(&all);
	return a;
}

static void
result(struct hf_blocks *out, struct hf_str id, struct hf_str name,
    struct hf_str a, bool error)
{
	struct hf_block *b = hf_blocks_add(out, HF_BLOCK_RESULT);

	b->id = id;
	b->name = name;
	b->text = unwrap(a);
	b->error = error;
	if (hf_str_is(name, "run_shell_command"))
		b->text = shell(b->text, &b->exit);
	if (b->exit != HF_EXIT_UNKNOWN && b->exit != 0)
		b->error = true;
}

static void
response(struct hf_blocks *out, const struct hf_jval *v)
{
	bool error;
	struct hf_str a = response_text(out, v, &error);

	result(out, hf_json_get_str(v, "id"), hf_json_get_str(v, "name"), a,
	    error);
}

/* The answer to call id among the parts of a result; the first, if it says
 * nothing of a call. */
static const struct hf_jval *
answer_to(const struct hf_jval *parts, struct hf_str id)
{
	const struct hf_jval *v, *f;
	struct hf_jiter it;

	hf_json_iter(&it, hf_json_type(parts) == HF_J_ARR ? parts : NULL);
	while ((v = hf_json_next(&it, NULL)) != NULL) {
		f = hf_json_get(v, "functionResponse");
		if (f != NULL && hf_str_eq(hf_json_get_str(f, "id"), id))
			return f;
	}
	f = hf_gemini_part(parts, "functionResponse");
	return hf_json_get_str(f, "id").n == 0 ? f : NULL;
}

/* A call with what it gave, if that is there. */
static void
done_call(struct hf_blocks *out, const struct hf_jval *v)
{
	struct hf_str id = hf_json_get_str(v, "id");
	struct hf_str name = hf_json_get_str(v, "name");
	struct hf_str status = hf_json_get_str(v, "status");
	const struct hf_jval *given = hf_json_get(v, "result"), *f;
	bool failed = hf_str_is(status, "error") ||
	    hf_str_is(status, "cancelled"), error = false;
	struct hf_str a;

	call(out, v);
	if (hf_json_type(given) == HF_J_STR) {
		result(out, id, name, hf_json_str(given), failed);
	} else if ((f = answer_to(given, id)) != NULL) {
		a = response_text(out, f, &error);
		result(out, id, name, a, failed || error);
	} else if (failed) {
		result(out, id, name, hf_json_get_str(v, "resultDisplay"),
		    true);
	}
}

/* ---- messages ---- */

/* The parts of a message; what it refers to and the client read for it is
 * not the user's own. */
static void
parts(struct hf_blocks *out, const struct hf_jval *content, bool calls)
{
	static const char refs[] = "--- Content from referenced files ---";
	const struct hf_jval *v, *part;
	struct hf_jiter it;
	struct hf_str a;

	if (hf_json_type(content) != HF_J_ARR) {
		text(out, hf_gemini_text(content));
		return;
	}
	hf_json_iter(&it, content);
	while ((v = hf_json_next(&it, NULL)) != NULL) {
		a = hf_json_type(v) == HF_J_STR ? hf_json_str(v) :
		    hf_json_get_str(v, "text");
		if (hf_str_starts(hf_str_trim(a), refs))
			break;
		if (hf_json_true(hf_json_get(v, "thought")))
			hf_blocks_add(out, HF_BLOCK_THINKING)->text = a;
		else if (a.n > 0)
			text(out, a);
		else if ((part = hf_json_get(v, "functionCall")) != NULL) {
			if (calls)
				call(out, part);
		} else if ((part = hf_json_get(v, "functionResponse")) !=
		    NULL)
			response(out, part);
		else if ((part = hf_json_get(v, "inlineData")) != NULL ||
		    (part = hf_json_get(v, "fileData")) != NULL)
			image(out, part);
	}
}

static void
thoughts(struct hf_blocks *out, const struct hf_jval *list)
{
	const struct hf_jval *v;
	struct hf_jiter it;
	struct hf_str a;

	hf_json_iter(&it, list);
	while ((v = hf_json_next(&it, NULL)) != NULL) {
		a = hf_json_get_str(v, "description");
		if (a.n > 0)
			hf_blocks_add(out, HF_BLOCK_THINKING)->text = a;
	}
}

void
hf_gemini_blocks(const struct hf_row *row, struct hf_blocks *out)
{
	const struct hf_jval *content = hf_json_get(row->v, "content");
	const struct hf_jval *shown = hf_json_get(row->v, "displayContent");
	const struct hf_jval *calls = hf_json_get(row->v, "toolCalls"), *v;
	struct hf_str type = hf_json_get_str(row->v, "type");
	struct hf_jiter it;

	if (hf_str_is(type, "user")) {
		/* What was typed, where the client sent more. */
		if (hf_gemini_text(shown).n > 0 &&
		    hf_gemini_part(content, "functionResponse") == NULL)
			content = shown;
		parts(out, content, false);
	} else if (hf_str_is(type, "gemini")) {
		thoughts(out, hf_json_get(row->v, "thoughts"));
		parts(out, content, hf_json_size(calls) == 0);
		hf_json_iter(&it, calls);
		while ((v = hf_json_next(&it, NULL)) != NULL)
			done_call(out, v);
	}
}
