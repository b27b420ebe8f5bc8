#include "agent/pi.h"

#include <stdlib.h>
#include <string.h>

enum { IMAGE_CHARS = 4800, IMAGE_TOKENS = 1200 };

/* ---- blocks ---- */

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

/* ---- calls, in the form that the table of tools reads ---- */

/* Arguments of our own making, as JSON; NULL when there are too many. */
static const struct hf_jval *
made(struct hf_blocks *out, struct hf_buf *text)
{
	struct hf_json *j = NULL;

	if (out->njson < sizeof(out->json) / sizeof(out->json[0]))
		j = hf_json_parse(hf_buf_view(text), HF_JSON_RAW, NULL, NULL,
		    NULL);
	if (j != NULL)
		out->json[out->njson++] = j;
	hf_buf_release(text);
	return hf_json_root(j);
}

static void
pair(struct hf_buf *to, const char *key, struct hf_str value)
{
	hf_buf_putc(to, to->len == 0 ? '{' : ',');
	hf_buf_printf(to, "\"%s\":", key);
	hf_json_quote(to, value);
}

static const struct hf_jval *
made_one(struct hf_blocks *out, const char *key, struct hf_str value)
{
	struct hf_buf json = HF_BUF_INIT;

	pair(&json, key, value);
	hf_buf_putc(&json, '}');
	return made(out, &json);
}

/* "[src/x.c#1a2b]" above the changes of a file: its path. */
static struct hf_str
section(struct hf_str line)
{
	size_t i;

	if (line.n < 4 || line.s[0] != '[' || line.s[line.n - 1] != ']')
		return HF_STR_NONE;
	for (i = line.n - 2; i > 1 && line.s[i] != '#'; i--)
		;
	return i > 1 ? hf_strn(line.s + 1, i - 1) : HF_STR_NONE;
}

/* Is the section whose lines are rest one that removes its file? */
static bool
removes(struct hf_str rest)
{
	struct hf_str line;

	while (rest.n > 0) {
		line = hf_str_line(rest, &rest);
		if (section(line).n > 0)
			return false;
		if (hf_str_is(hf_str_trim(line), "REM"))
			return true;
	}
	return false;
}

/* omp's own kind of patch with its files named as in the common one; NULL
 * for a text that names none. */
static const struct hf_jval *
patch(struct hf_blocks *out, struct hf_str input)
{
	struct hf_buf text = HF_BUF_INIT;
	const struct hf_jval *args = NULL;
	struct hf_str line, path, rest = input;
	bool named = hf_str_find(input, HF_STR("*** Begin Patch"), 0) !=
	    SIZE_MAX;

	if (!named)
		hf_buf_puts(&text, "*** Begin Patch\n");
	while (rest.n > 0) {
		line = hf_str_line(rest, &rest);
		path = section(line);
		if (path.n > 0) {
			named = true;
			hf_buf_puts(&text, removes(rest) ?
			    "*** Delete File: " : "*** Update File: ");
			hf_buf_str(&text, path);
		} else if (hf_str_starts(line, "MV ")) {
			hf_buf_puts(&text, "*** Move to: ");
			hf_buf_str(&text, hf_str_trim(hf_strn(line.s + 3,
			    line.n - 3)));
		} else {
			hf_buf_str(&text, line);
		}
		hf_buf_putc(&text, '\n');
	}
	if (named)
		args = made_one(out, "input", hf_buf_view(&text));
	hf_buf_release(&text);
	return args;
}

static void
todo_items(struct hf_buf *json, const struct hf_jval *items)
{
	const struct hf_jval *v;
	struct hf_jiter it;

	hf_json_iter(&it, items);
	while ((v = hf_json_next(&it, NULL)) != NULL) {
		if (hf_json_str(v).n == 0)
			continue;
		if (json->data[json->len - 1] != '[')
			hf_buf_putc(json, ',');
		hf_json_quote(json, hf_json_str(v));
	}
}

/* omp's list in phases, as one list. */
static const struct hf_jval *
todo_list(struct hf_blocks *out, const struct hf_jval *args)
{
	struct hf_buf json = HF_BUF_INIT;
	const struct hf_jval *v;
	struct hf_jiter it;

	hf_buf_puts(&json, "{\"todos\":[");
	todo_items(&json, hf_json_get(args, "items"));
	hf_json_iter(&it, hf_json_get(args, "list"));
	while ((v = hf_json_next(&it, NULL)) != NULL)
		todo_items(&json, hf_json_get(v, "items"));
	hf_buf_puts(&json, "]}");
	return made(out, &json);
}

/* One entry for all that an "append" adds: a call is one action. */
static const struct hf_jval *
todo_append(struct hf_blocks *out, const struct hf_jval *items)
{
	struct hf_buf text = HF_BUF_INIT;
	const struct hf_jval *v, *args;
	struct hf_jiter it;

	hf_json_iter(&it, items);
	while ((v = hf_json_next(&it, NULL)) != NULL) {
		if (text.len > 0)
			hf_buf_puts(&text, "; ");
		hf_buf_str(&text, hf_json_str(v));
	}
	args = made_one(out, "task", hf_buf_view(&text));
	hf_buf_release(&text);
	return args;
}

static const struct hf_jval *
todo_status(struct hf_blocks *out, struct hf_str task, struct hf_str op)
{
	struct hf_buf json = HF_BUF_INIT;

	pair(&json, "task", task);
	pair(&json, "status", hf_str_is(op, "done") ? HF_STR("completed") :
	    hf_str_is(op, "start") ? HF_STR("in_progress") :
	    hf_str_is(op, "block") ? HF_STR("blocked") :
	    hf_str_is(op, "unblock") ? HF_STR("pending") :
	    HF_STR("cancelled"));
	hf_buf_putc(&json, '}');
	return made(out, &json);
}

static void
tool_call(struct hf_blocks *out, const struct hf_jval *v)
{
	const struct hf_jval *args = hf_json_get(v, "arguments"), *own = NULL;
	struct hf_str name = hf_json_get_str(v, "name");
	struct hf_str op = hf_json_get_str(args, "op");
	struct hf_str task = hf_json_get_str(args, "task");

	if (hf_str_is(name, "edit")) {
		own = patch(out, hf_json_get_str(args, "input"));
		if (own != NULL)
			name = HF_STR("apply_patch");
	} else if (hf_str_is(name, "todo") && hf_str_is(op, "init")) {
		own = todo_list(out, args);
	} else if (hf_str_is(name, "todo") && hf_str_is(op, "append")) {
		own = todo_append(out, hf_json_get(args, "items"));
		name = HF_STR("todo_append");
	} else if (hf_str_is(name, "todo") && task.n > 0 && op.n > 0) {
		own = todo_status(out, task, op);
		name = HF_STR("todo_status");
	}
	call(out, hf_json_get_str(v, "id"), name, own != NULL ? own : args);
}

/* ---- content ---- */

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
			tool_call(out, v);
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

/* A line that the user ran: the call and its result in one. */
static void
execution(struct hf_blocks *out, const struct hf_jval *m, struct hf_str id,
    struct hf_str name, const char *key)
{
	struct hf_block *b;

	call(out, id, name, made_one(out, key, hf_json_get_str(m, key)));
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
		call(out, path, HF_STR("read"), made_one(out, "path", path));
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
		execution(out, m, id, HF_STR("bash"), "command");
	else if (hf_str_is(role, "pythonExecution"))
		execution(out, m, id, HF_STR("python"), "code");
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
