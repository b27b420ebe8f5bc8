#include <string.h>

#include "agent/claude.h"

enum { LABEL = 80 };

/* "[image image/png]" and the like, in the arena. */
static void
add_label(struct hf_blocks *out, const struct hf_jval *e)
{
	struct hf_str type = hf_json_get_str(e, "type");
	struct hf_str media = hf_json_get_str(hf_json_get(e, "source"),
	    "media_type");
	char *label;
	struct hf_block *b;

	if (type.n == 0 || type.n > LABEL || media.n > LABEL)
		return;
	label = hf_arena_alloc(&out->arena, type.n + media.n + 3);
	b = hf_blocks_add(out, HF_BLOCK_IMAGE);
	b->text = hf_strn(label, type.n + media.n + (media.n > 0 ? 3 : 2));
	*label++ = '[';
	memcpy(label, type.s, type.n);
	label += type.n;
	if (media.n > 0) {
		*label++ = ' ';
		memcpy(label, media.s, media.n);
		label += media.n;
	}
	*label = ']';
}

/* The exit status that a failed command's output begins with. */
static int
told_exit(struct hf_str text)
{
	static const char lead[] = "Exit code ", error[] = "Error: ";
	size_t n = 0;
	int64_t status;

	if (hf_str_starts(text, error))
		text = hf_strn(text.s + sizeof(error) - 1,
		    text.n - (sizeof(error) - 1));
	if (!hf_str_starts(text, lead))
		return HF_EXIT_UNKNOWN;
	text = hf_strn(text.s + sizeof(lead) - 1, text.n - (sizeof(lead) - 1));
	while (n < text.n && text.s[n] >= '0' && text.s[n] <= '9')
		n++;
	if (!hf_text_int(hf_strn(text.s, n), &status) || status > 255)
		return HF_EXIT_UNKNOWN;
	return (int)status;
}

/* row is the whole record: beside the message it has what the tool gave. */
static void
add_result(struct hf_blocks *out, const struct hf_jval *e,
    const struct hf_jval *row)
{
	const struct hf_jval *given = hf_json_get(row, "toolUseResult");
	struct hf_str text = hf_blocks_text(out, hf_json_get(e, "content"));
	struct hf_block *b = hf_blocks_add(out, HF_BLOCK_RESULT);

	b->id = hf_json_get_str(e, "tool_use_id");
	b->text = text;
	b->error = hf_json_true(hf_json_get(e, "is_error"));
	if (b->error)
		b->exit = told_exit(text);
	else if (hf_json_type(hf_json_get(given, "stdout")) == HF_J_STR &&
	    !hf_json_true(hf_json_get(given, "interrupted")) &&
	    hf_json_get(given, "backgroundTaskId") == NULL)
		b->exit = 0;
}

static void
add_call(struct hf_blocks *out, const struct hf_jval *e)
{
	struct hf_block *b = hf_blocks_add(out, HF_BLOCK_CALL);

	b->id = hf_json_get_str(e, "id");
	b->name = hf_json_get_str(e, "name");
	b->args = hf_json_get(e, "input");
}

static void
add_text(struct hf_blocks *out, struct hf_str text, enum hf_row_kind kind)
{
	if (text.n == 0)
		return;
	/* In front of the user's words may stand what an editor added. */
	if (kind == HF_ROW_PROMPT && hf_claude_text(text) != HF_CLAUDE_OWN)
		return;
	hf_blocks_add(out, HF_BLOCK_TEXT)->text = text;
}

static void
add_element(struct hf_blocks *out, const struct hf_jval *e,
    const struct hf_row *row)
{
	const struct hf_jval *type = hf_json_get(e, "type");

	if (hf_json_is(type, "text"))
		add_text(out, hf_json_get_str(e, "text"), row->kind);
	else if (hf_json_is(type, "thinking"))
		hf_blocks_add(out, HF_BLOCK_THINKING)->text =
		    hf_json_get_str(e, "thinking");
	else if (hf_json_is(type, "redacted_thinking"))
		hf_blocks_add(out, HF_BLOCK_THINKING)->text = HF_STR("");
	else if (hf_json_is(type, "tool_use"))
		add_call(out, e);
	else if (hf_json_is(type, "tool_result"))
		add_result(out, e, row->v);
	else
		add_label(out, e);
}

void
hf_claude_blocks(const struct hf_row *row, struct hf_blocks *out)
{
	const struct hf_jval *content, *e;
	struct hf_jiter it;

	content = hf_json_get(hf_json_get(row->v, "message"), "content");
	if (content == NULL)
		content = hf_json_get(hf_json_get(row->v, "attachment"),
		    "prompt");
	if (hf_json_type(content) == HF_J_STR)
		add_text(out, hf_json_str(content), row->kind);
	if (hf_json_type(content) != HF_J_ARR)
		return;
	hf_json_iter(&it, content);
	while ((e = hf_json_next(&it, NULL)) != NULL)
		add_element(out, e, row);
}
