#include "agent/pi.h"

#include <stdlib.h>

enum { IMAGE_CHARS = 4800, IMAGE_TOKENS = 1200 };

/* ---- content ---- */

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

	hf_buf_puts(&label, "[image");
	if (type.n > 0 && type.n < 64) {
		hf_buf_putc(&label, ' ');
		hf_text_safe(&label, type, false);
	}
	hf_buf_putc(&label, ']');
	hf_blocks_add(out, HF_BLOCK_IMAGE)->text = hf_strn(
	    hf_arena_copy(&out->arena, label.data, label.len), label.len);
	hf_buf_release(&label);
}

static void
call(struct hf_blocks *out, struct hf_str id, struct hf_str name,
    const struct hf_jval *args)
{
	struct hf_block *b = hf_blocks_add(out, HF_BLOCK_CALL);

	b->id = id;
	b->name = name;
	b->args = args;
}

/* A string, or an array of text, thinking, toolCall and image. */
static void
content(struct hf_blocks *out, const struct hf_jval *v)
{
	struct hf_jiter it;
	struct hf_str type;

	if (hf_json_type(v) == HF_J_STR) {
		text(out, hf_json_str(v));
		return;
	}
	hf_json_iter(&it, v);
	while ((v = hf_json_next(&it, NULL)) != NULL) {
		type = hf_json_get_str(v, "type");
		if (hf_str_is(type, "text"))
			text(out, hf_json_get_str(v, "text"));
		else if (hf_str_is(type, "toolCall"))
			call(out, hf_json_get_str(v, "id"),
			    hf_json_get_str(v, "name"),
			    hf_json_get(v, "arguments"));
		else if (hf_str_is(type, "thinking"))
			hf_blocks_add(out, HF_BLOCK_THINKING)->text =
			    hf_json_get_str(v, "thinking");
		else if (hf_str_is(type, "image"))
			image(out, v);
	}
}

/* ---- results ---- */

/* The status that the tool wrote behind a failed command's output. */
static int
exit_in_text(struct hf_str a)
{
	static const char mark[] = "Command exited with code ";
	struct hf_str line;
	size_t from;
	int64_t n;

	a = hf_str_trim(a);
	for (from = a.n; from > 0 && a.s[from - 1] != '\n'; from--)
		;
	line = hf_strn(a.s + from, a.n - from);
	if (!hf_str_starts(line, mark) || !hf_text_int(hf_strn(line.s +
	    sizeof(mark) - 1, line.n - (sizeof(mark) - 1)), &n) ||
	    n < -255 || n > 255)
		return HF_EXIT_UNKNOWN;
	return (int)n;
}

static int
exit_member(const struct hf_jval *v)
{
	int64_t n;

	if (!hf_json_int(v, &n) || n < -255 || n > 255)
		return HF_EXIT_UNKNOWN;
	return (int)n;
}

/* Both clients make an error of every status but 0, omp but for a command
 * that it left running. */
static void
tool_result(struct hf_blocks *out, const struct hf_jval *m)
{
	const struct hf_jval *details = hf_json_get(m, "details");
	struct hf_block *b;
	struct hf_str joined;

	joined = hf_blocks_text(out, hf_json_get(m, "content"));
	b = hf_blocks_add(out, HF_BLOCK_RESULT);
	b->text = joined;
	b->id = hf_json_get_str(m, "toolCallId");
	b->name = hf_json_get_str(m, "toolName");
	b->error = hf_json_true(hf_json_get(m, "isError"));
	b->exit = HF_EXIT_UNKNOWN;
	if (!hf_str_is(b->name, "bash"))
		return;
	b->exit = exit_member(hf_json_get(details, "exitCode"));
	if (b->exit == HF_EXIT_UNKNOWN)
		b->exit = exit_in_text(b->text);
	if (b->exit == HF_EXIT_UNKNOWN && !b->error &&
	    hf_json_get(details, "async") == NULL)
		b->exit = 0;
	if (b->exit != HF_EXIT_UNKNOWN && b->exit != 0)
		b->error = true;
}

/* A line that the user ran: the call and its result in one. The message
 * holds the member that the tool's arguments would. */
static void
execution(struct hf_blocks *out, const struct hf_jval *m, struct hf_str id,
    struct hf_str name)
{
	struct hf_block *b;

	call(out, id, name, m);
	b = hf_blocks_add(out, HF_BLOCK_RESULT);
	b->id = id;
	b->name = name;
	b->text = hf_json_get_str(m, "output");
	b->exit = exit_member(hf_json_get(m, "exitCode"));
	b->error = hf_json_true(hf_json_get(m, "cancelled")) ||
	    (b->exit != HF_EXIT_UNKNOWN && b->exit != 0);
}

/* Files that the client read for an "@name" in the prompt. */
static void
mentions(struct hf_blocks *out, const struct hf_jval *files)
{
	const struct hf_jval *v;
	struct hf_block *b;
	struct hf_jiter it;
	struct hf_str path;

	hf_json_iter(&it, files);
	while ((v = hf_json_next(&it, NULL)) != NULL) {
		path = hf_json_get_str(v, "path");
		if (path.n == 0)
			continue;
		call(out, path, HF_STR("read"), v);
		b = hf_blocks_add(out, HF_BLOCK_RESULT);
		b->id = path;
		b->name = HF_STR("read");
		b->text = hf_json_get_str(v, "content");
		b->exit = HF_EXIT_UNKNOWN;
		b->error = hf_json_get(v, "skippedReason") != NULL;
	}
}

/* ---- rows ---- */

/* What the user typed stands in details, the skill's own text in content. */
static void
custom(struct hf_blocks *out, const struct hf_jval *v)
{
	const struct hf_jval *details = hf_json_get(v, "details");
	struct hf_str typed = hf_json_get_str(details, "prompt");

	if (typed.n == 0)
		typed = hf_json_get_str(details, "args");
	if (typed.n > 0 && hf_str_is(hf_json_get_str(v, "customType"),
	    "skill-prompt"))
		text(out, typed);
	else
		content(out, hf_json_get(v, "content"));
}

static void
message(struct hf_blocks *out, const struct hf_jval *m, struct hf_str id)
{
	struct hf_str role = hf_json_get_str(m, "role");

	if (hf_str_is(role, "toolResult"))
		tool_result(out, m);
	else if (hf_str_is(role, "bashExecution"))
		execution(out, m, id, HF_STR("bash"));
	else if (hf_str_is(role, "pythonExecution"))
		execution(out, m, id, HF_STR("python"));
	else if (hf_str_is(role, "fileMention"))
		mentions(out, hf_json_get(m, "files"));
	else if (hf_str_is(role, "branchSummary") ||
	    hf_str_is(role, "compactionSummary"))
		text(out, hf_json_get_str(m, "summary"));
	else if (hf_str_is(role, "custom") ||
	    hf_str_is(role, "hookMessage"))
		custom(out, m);
	else
		content(out, hf_json_get(m, "content"));
}

void
hf_pi_blocks(const struct hf_row *row, struct hf_blocks *out)
{
	const struct hf_jval *v = row->v;
	const struct hf_jval *data = hf_json_get(v, "data");
	struct hf_str type = hf_json_get_str(v, "type");

	if (hf_str_is(type, "message"))
		message(out, hf_json_get(v, "message"),
		    hf_json_get_str(v, "id"));
	else if (hf_str_is(type, "custom_message"))
		custom(out, v);
	else if (hf_str_is(type, "compaction") ||
	    hf_str_is(type, "branch_summary"))
		text(out, hf_json_get_str(v, "summary"));
	else if (hf_str_is(type, "custom") && hf_str_is(hf_json_get_str(v,
	    "customType"), "tool_execution_start"))
		call(out, hf_json_get_str(data, "toolCallId"),
		    hf_json_get_str(data, "toolName"),
		    hf_json_get(data, "args"));
}

/* ---- estimates ---- */

struct tally {
	enum hf_pi_dialect d;
	int64_t chars, tokens;
};

static void
count(struct tally *t, struct hf_str a)
{
	if (t->d == HF_PI_OMP)
		t->tokens += (int64_t)((a.n + 3) / 4);
	else
		t->chars += (int64_t)hf_utf16_count(a);
}

static void
count_json(struct tally *t, const struct hf_jval *v)
{
	struct hf_buf b = HF_BUF_INIT;

	if (v != NULL)
		hf_json_write(&b, v);
	count(t, hf_buf_view(&b));
	hf_buf_release(&b);
}

static void
count_content(struct tally *t, const struct hf_jval *v)
{
	struct hf_jiter it;
	struct hf_str type;

	if (hf_json_type(v) == HF_J_STR) {
		count(t, hf_json_str(v));
		return;
	}
	hf_json_iter(&it, v);
	while ((v = hf_json_next(&it, NULL)) != NULL) {
		type = hf_json_get_str(v, "type");
		if (hf_str_is(type, "image")) {
			t->chars += IMAGE_CHARS;
			t->tokens += IMAGE_TOKENS;
		} else if (hf_str_is(type, "toolCall")) {
			count(t, hf_json_get_str(v, "name"));
			count_json(t, hf_json_get(v, "arguments"));
		} else {
			count(t, hf_json_get_str(v, "text"));
			count(t, hf_json_get_str(v, "thinking"));
		}
	}
}

int64_t
hf_pi_estimate(const struct hf_row *row, enum hf_pi_dialect d)
{
	struct tally t = { d, 0, 0 };
	const struct hf_jval *m = hf_json_get(row->v, "message");

	if (m == NULL)		/* custom_message, branch_summary */
		m = row->v;
	count_content(&t, hf_json_get(m, "content"));
	count(&t, hf_json_get_str(m, "summary"));
	if (hf_json_get(m, "command") != NULL) {
		count(&t, hf_json_get_str(m, "command"));
		count(&t, hf_json_get_str(m, "output"));
	}
	return d == HF_PI_OMP ? t.tokens : (t.chars + 3) / 4;
}
