#include <string.h>

#include "agent/opencode.h"

enum { LABEL = 200 };

/* ---- parts ---- */

/* Does the client keep a text from the user or from the model? */
static bool
is_own(const struct hf_jval *part)
{
	return !hf_json_true(hf_json_get(part, "synthetic")) &&
	    !hf_json_true(hf_json_get(part, "ignored"));
}

struct hf_str
hf_opencode_text(const struct hf_jval *parts)
{
	const struct hf_jval *v;
	struct hf_jiter it;
	struct hf_str text;

	hf_json_iter(&it, parts);
	while ((v = hf_json_next(&it, NULL)) != NULL) {
		text = hf_json_get_str(v, "text");
		if (hf_json_is(hf_json_get(v, "type"), "text") &&
		    is_own(v) && hf_str_trim(text).n > 0)
			return text;
	}
	return HF_STR_NONE;
}

const struct hf_jval *
hf_opencode_part(const struct hf_jval *parts, const char *type)
{
	const struct hf_jval *v;
	struct hf_jiter it;

	hf_json_iter(&it, parts);
	while ((v = hf_json_next(&it, NULL)) != NULL)
		if (hf_json_is(hf_json_get(v, "type"), type))
			return v;
	return NULL;
}

static void
text(struct hf_blocks *out, struct hf_str a)
{
	if (a.n > 0)
		hf_blocks_add(out, HF_BLOCK_TEXT)->text = a;
}

/* "[file notes.txt]" or "[file image/png]". */
static void
file(struct hf_blocks *out, const struct hf_jval *v)
{
	struct hf_str name = hf_json_get_str(v, "filename");
	struct hf_buf label = HF_BUF_MAX(2 * LABEL);

	if (name.n == 0)
		name = hf_json_get_str(v, "mime");
	hf_buf_puts(&label, "[file");
	if (name.n > 0 && name.n < LABEL) {
		hf_buf_putc(&label, ' ');
		hf_text_safe(&label, name, false);
	}
	hf_buf_putc(&label, ']');
	hf_blocks_add(out, HF_BLOCK_IMAGE)->text = hf_strn(
	    hf_arena_copy(&out->arena, label.data, label.len), label.len);
	hf_buf_release(&label);
}

/* ---- tools ---- */

static int
exit_of(const struct hf_jval *v)
{
	int64_t n;

	if (!hf_json_int(v, &n) || n < -255 || n > 255)
		return HF_EXIT_UNKNOWN;
	return (int)n;
}

/* A call and, when it has ended, what it gave. */
static void
tool(struct hf_blocks *out, const struct hf_jval *v)
{
	const struct hf_jval *state = hf_json_get(v, "state");
	struct hf_str status = hf_json_get_str(state, "status");
	bool failed = hf_str_is(status, "error");
	struct hf_block *b = hf_blocks_add(out, HF_BLOCK_CALL);

	b->id = hf_json_get_str(v, "callID");
	b->name = hf_json_get_str(v, "tool");
	b->args = hf_json_get(state, "input");
	if (!failed && !hf_str_is(status, "completed"))
		return;
	b = hf_blocks_add(out, HF_BLOCK_RESULT);
	b->id = hf_json_get_str(v, "callID");
	b->name = hf_json_get_str(v, "tool");
	b->text = hf_json_get_str(state, failed ? "error" : "output");
	b->exit = exit_of(hf_json_at(state, "metadata.exit"));
	b->error = failed || (b->exit != HF_EXIT_UNKNOWN && b->exit != 0);
}

/* ---- messages ---- */

void
hf_opencode_blocks(const struct hf_row *row, struct hf_blocks *out)
{
	const struct hf_jval *v;
	struct hf_jiter it;
	struct hf_str type;

	hf_json_iter(&it, hf_json_get(row->v, "parts"));
	while ((v = hf_json_next(&it, NULL)) != NULL) {
		type = hf_json_get_str(v, "type");
		if (hf_str_is(type, "text")) {
			if (is_own(v))
				text(out, hf_json_get_str(v, "text"));
		} else if (hf_str_is(type, "reasoning")) {
			hf_blocks_add(out, HF_BLOCK_THINKING)->text =
			    hf_json_get_str(v, "text");
		} else if (hf_str_is(type, "tool")) {
			tool(out, v);
		} else if (hf_str_is(type, "file")) {
			file(out, v);
		} else if (hf_str_is(type, "subtask")) {
			text(out, hf_json_get_str(v, "prompt"));
		}
	}
}
