#include "agent/codex.h"

#include <stdlib.h>
#include <string.h>

enum { IMAGES_MAX = 16, HEAD_LINES = 12 };

/* ---- blocks ---- */

static void
text(struct hf_blocks *out, struct hf_str a)
{
	if (a.n > 0)
		hf_blocks_add(out, HF_BLOCK_TEXT)->text = a;
}

static struct hf_str
kept(struct hf_blocks *out, struct hf_buf *b)
{
	struct hf_str a = hf_strn(hf_arena_copy(&out->arena, hf_buf_cstr(b),
	    b->len), b->len);

	hf_buf_release(b);
	return a;
}

/* A picture; its file's name where there is one. */
static void
image(struct hf_blocks *out, struct hf_str path)
{
	struct hf_buf label = HF_BUF_INIT;

	hf_buf_puts(&label, "[image");
	if (path.n > 0 && path.n < 4096) {
		hf_buf_putc(&label, ' ');
		hf_text_safe(&label, path, false);
	}
	hf_buf_putc(&label, ']');
	hf_blocks_add(out, HF_BLOCK_IMAGE)->text = kept(out, &label);
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

static struct hf_block *
result(struct hf_blocks *out, struct hf_str id, struct hf_str a)
{
	struct hf_block *b = hf_blocks_add(out, HF_BLOCK_RESULT);

	b->id = id;
	b->text = a;
	return b;
}

/* ---- arguments ---- */

/* What JSON in a text says, kept as long as the blocks; NULL for none, or
 * when there are too many. */
static const struct hf_jval *
parsed(struct hf_blocks *out, struct hf_str a)
{
	struct hf_json *j = NULL;

	if (out->njson < sizeof(out->json) / sizeof(out->json[0]))
		j = hf_json_parse(a, HF_JSON_RAW | HF_JSON_MEND, NULL, NULL,
		    NULL);
	if (j != NULL)
		out->json[out->njson++] = j;
	return hf_json_root(j);
}

static const struct hf_jval *
made(struct hf_blocks *out, struct hf_buf *json)
{
	const struct hf_jval *v = parsed(out, hf_buf_view(json));

	hf_buf_release(json);
	return v;
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

/* An object, in text as the models write it, or a text of another kind. */
static const struct hf_jval *
arguments(struct hf_blocks *out, const struct hf_jval *v)
{
	const struct hf_jval *args;

	if (hf_json_type(v) != HF_J_STR)
		return v;
	args = parsed(out, hf_json_str(v));
	if (hf_json_type(args) == HF_J_STR)
		return made_one(out, "input", hf_json_str(args));
	if (hf_json_type(args) != HF_J_OBJ)
		return made_one(out, "input", hf_json_str(v));
	return args;
}

/* ---- results ---- */

static bool
number_after(struct hf_str line, const char *words, int *n)
{
	size_t skip = strlen(words);
	int64_t value;

	if (!hf_str_starts(line, words) || !hf_text_int(hf_str_trim(hf_strn(
	    line.s + skip, line.n - skip)), &value) || value < -255 ||
	    value > 255)
		return false;
	*n = (int)value;
	return true;
}

/*
 * The client's words in front of a command's output: the status is there.
 * One tool inside another writes two such heads. The output is what follows
 * the last line "Output:" of them.
 */
static int
read_head(struct hf_str a, struct hf_str *output)
{
	static const char *const words[] = { "Chunk ID: ", "Wall time: ",
		"Duration: ", "Original token count: ",
		"Total output lines: " };
	struct hf_str line, rest = a;
	int status = HF_EXIT_UNKNOWN, lines;
	bool inside = true;
	size_t i;

	*output = a;
	for (lines = 0; lines < HEAD_LINES && inside && rest.n > 0; lines++) {
		line = hf_str_line(rest, &rest);
		if (status == HF_EXIT_UNKNOWN &&
		    (number_after(line, "Process exited with code ",
		    &status) || number_after(line, "Exit code: ", &status))) {
			*output = rest;
			continue;
		}
		if (hf_str_is(line, "Output:")) {
			if (status != HF_EXIT_UNKNOWN) {
				*output = rest;
				break;
			}
			continue;
		}
		inside = false;
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			inside = inside || hf_str_starts(line, words[i]);
	}
	return status;
}

/* Failures of a tool that have no status. */
static bool
says_failed(struct hf_str a)
{
	static const char *const words[] = {
		"apply_patch verification failed", "exec_command failed",
		"failed to parse function arguments", "unsupported call",
		"unsupported custom tool call", "execution error",
		"patch rejected", "aborted", "command timed out" };
	size_t i;

	a = hf_str_trim(a);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (hf_str_istarts(a, words[i]))
			return true;
	return false;
}

static int
status_of(const struct hf_jval *v)
{
	int64_t n;

	if (!hf_json_int(v, &n) || n < -255 || n > 255)
		return HF_EXIT_UNKNOWN;
	return (int)n;
}

/* A text, with the client's head or in its JSON. */
static void
output_text(struct hf_blocks *out, struct hf_str id, struct hf_str a)
{
	const struct hf_jval *v = NULL;
	struct hf_block *b;
	struct hf_str inner;
	int status;

	if (hf_str_starts(a, "{\"output\":"))
		v = parsed(out, a);
	inner = hf_json_get_str(v, "output");
	if (inner.s != NULL) {
		status = status_of(hf_json_at(v, "metadata.exit_code"));
		a = inner;
	} else {
		status = read_head(a, &a);
	}
	b = result(out, id, a);
	b->exit = status;
	b->error = status != HF_EXIT_UNKNOWN ? status != 0 : says_failed(a);
}

static void
output(struct hf_blocks *out, const struct hf_jval *item)
{
	const struct hf_jval *v = hf_json_get(item, "output");
	const struct hf_jval *success = NULL;
	struct hf_str id = hf_json_get_str(item, "call_id");

	if (v == NULL)
		v = hf_json_get(item, "tools");	/* of a search for them */
	if (hf_json_type(v) == HF_J_OBJ) {
		success = hf_json_get(v, "success");
		v = hf_json_get(v, "content");
	}
	output_text(out, id, hf_blocks_text(out, v));
	if (hf_json_type(success) == HF_J_BOOL && !hf_json_true(success))
		out->b[out->n - 1].error = true;
}

/* ---- calls ---- */

static void
tool_call(struct hf_blocks *out, const struct hf_jval *v, struct hf_str type)
{
	struct hf_str id = hf_json_get_str(v, "call_id");

	if (id.n == 0)
		id = hf_json_get_str(v, "id");
	if (hf_str_is(type, "local_shell_call"))
		call(out, id, HF_STR("local_shell"), hf_json_get(v,
		    "action"));
	else if (hf_str_is(type, "tool_search_call"))
		call(out, id, HF_STR("tool_search"), arguments(out,
		    hf_json_get(v, "arguments")));
	else if (hf_str_is(type, "custom_tool_call"))
		call(out, id, hf_json_get_str(v, "name"), made_one(out,
		    "input", hf_json_get_str(v, "input")));
	else
		call(out, id, hf_json_get_str(v, "name"), arguments(out,
		    hf_json_get(v, "arguments")));
}

/* Calls that the model's own side ran: what came of them is not told. */
static void
done_call(struct hf_blocks *out, const struct hf_jval *v, struct hf_str type)
{
	struct hf_str id = hf_json_get_str(v, "id");
	struct hf_str status = hf_json_get_str(v, "status");
	bool search = hf_str_is(type, "web_search_call");

	if (id.n == 0)
		id = type;
	call(out, id, search ? HF_STR("web_search") :
	    HF_STR("image_generation"), hf_json_get(v, "action"));
	result(out, id, status)->error = hf_str_is(status, "failed");
}

/* A line that the user ran, as the model is told of it. */
static struct hf_str
between(struct hf_str a, const char *open, const char *close)
{
	size_t from = hf_str_find(a, hf_str(open), 0), to;

	if (from == SIZE_MAX)
		return HF_STR_NONE;
	from += strlen(open);
	to = hf_str_find(a, hf_str(close), from);
	return hf_str_trim(hf_strn(a.s + from, (to != SIZE_MAX ? to : a.n) -
	    from));
}

static void
user_shell(struct hf_blocks *out, struct hf_str a)
{
	struct hf_str id = HF_STR("user_shell_command");

	call(out, id, HF_STR("shell"), made_one(out, "command", between(a,
	    "<command>", "</command>")));
	output_text(out, id, between(a, "<result>", "</result>"));
}

/* ---- what the client did for a call that holds others ---- */

/* A folder as a URL of a file. */
static struct hf_str
folder(struct hf_str url)
{
	static const char scheme[] = "file://";

	if (hf_str_starts(url, scheme))
		return hf_strn(url.s + sizeof(scheme) - 1,
		    url.n - (sizeof(scheme) - 1));
	return url;
}

static void
command_execution(struct hf_blocks *out, const struct hf_jval *v)
{
	struct hf_str id = hf_json_get_str(v, "id");
	struct hf_buf json = HF_BUF_INIT;
	struct hf_block *b;

	pair(&json, "workdir", folder(hf_json_get_str(v, "cwd")));
	hf_buf_puts(&json, ",\"command\":");
	hf_json_write(&json, hf_json_get(v, "command"));
	hf_buf_putc(&json, '}');
	call(out, id, HF_STR("exec_command"), made(out, &json));
	b = result(out, id, hf_json_get_str(v, "aggregated_output"));
	b->exit = status_of(hf_json_get(v, "exit_code"));
	b->error = b->exit != 0 && !hf_json_is(hf_json_get(v, "status"),
	    "completed");
}

/* As a patch that names the files. */
static void
file_change(struct hf_blocks *out, const struct hf_jval *v)
{
	struct hf_str id = hf_json_get_str(v, "id"), path, type, to;
	struct hf_buf patch = HF_BUF_INIT;
	const struct hf_jval *change;
	struct hf_jiter it;

	hf_buf_puts(&patch, "*** Begin Patch\n");
	hf_json_iter(&it, hf_json_get(v, "changes"));
	while ((change = hf_json_next(&it, &path)) != NULL) {
		type = hf_json_get_str(change, "type");
		to = hf_json_get_str(change, "move_path");
		hf_buf_puts(&patch, hf_str_is(type, "add") ?
		    "*** Add File: " : hf_str_is(type, "delete") ?
		    "*** Delete File: " : "*** Update File: ");
		hf_buf_str(&patch, path);
		if (to.n > 0) {
			hf_buf_puts(&patch, "\n*** Move to: ");
			hf_buf_str(&patch, to);
		}
		hf_buf_putc(&patch, '\n');
	}
	hf_buf_puts(&patch, "*** End Patch\n");
	call(out, id, HF_STR("apply_patch"), made_one(out, "input",
	    hf_buf_view(&patch)));
	hf_buf_release(&patch);
	result(out, id, hf_json_get_str(v, "stdout"))->error =
	    !hf_json_is(hf_json_get(v, "status"), "completed");
}

/* ---- messages ---- */

static void
content(struct hf_blocks *out, const struct hf_jval *v)
{
	struct hf_jiter it;
	struct hf_str type, a;

	if (hf_json_type(v) == HF_J_STR) {
		text(out, hf_json_str(v));
		return;
	}
	hf_json_iter(&it, v);
	while ((v = hf_json_next(&it, NULL)) != NULL) {
		type = hf_json_get_str(v, "type");
		a = hf_json_get_str(v, "text");
		if (a.s != NULL && !hf_codex_label(a))
			text(out, a);
		else if (hf_str_is(type, "input_image") ||
		    hf_str_is(type, "image") ||
		    hf_str_is(type, "local_image"))
			image(out, hf_json_get_str(v, "path"));
	}
}

static void
message(struct hf_blocks *out, const struct hf_jval *item)
{
	const struct hf_jval *v = hf_json_get(item, "content");
	struct hf_str first = hf_codex_first_text(v);

	if (hf_codex_text(first) == HF_CODEX_SHELL &&
	    hf_json_is(hf_json_get(item, "role"), "user"))
		user_shell(out, first);
	else
		content(out, v);
}

static void
user_event(struct hf_blocks *out, const struct hf_jval *v)
{
	const struct hf_jval *e;
	struct hf_jiter it;
	int left = IMAGES_MAX;

	content(out, hf_json_get(v, "message"));
	hf_json_iter(&it, hf_json_get(v, "local_images"));
	while (left > 0 && (e = hf_json_next(&it, NULL)) != NULL) {
		image(out, hf_json_str(e));
		left--;
	}
	hf_json_iter(&it, hf_json_get(v, "images"));
	while (left-- > 0 && hf_json_next(&it, NULL) != NULL)
		image(out, HF_STR_NONE);
}

static void
reasoning(struct hf_blocks *out, const struct hf_jval *v)
{
	struct hf_str a = hf_blocks_text(out, hf_json_get(v, "summary"));

	if (a.n == 0)
		a = hf_blocks_text(out, hf_json_get(v, "content"));
	if (a.n > 0)
		hf_blocks_add(out, HF_BLOCK_THINKING)->text = a;
}

/* ---- rows ---- */

static void
completed(struct hf_blocks *out, const struct hf_jval *item)
{
	struct hf_str type = hf_json_get_str(item, "type");

	if (hf_str_is(type, "UserMessage"))
		content(out, hf_json_get(item, "content"));
	else if (hf_str_is(type, "CommandExecution"))
		command_execution(out, item);
	else if (hf_str_is(type, "FileChange"))
		file_change(out, item);
}

void
hf_codex_blocks(const struct hf_row *row, struct hf_blocks *out)
{
	const struct hf_jval *v = row->v;
	struct hf_str type = hf_json_get_str(v, "type");

	if (row->kind == HF_ROW_COMPACTION) {
		text(out, hf_json_get_str(v, "message"));
		return;
	}
	switch (hf_codex_item(type)) {
	case HF_CODEX_MESSAGE:
		message(out, v);
		break;
	case HF_CODEX_REASONING:
		reasoning(out, v);
		break;
	case HF_CODEX_CALL:
		tool_call(out, v, type);
		break;
	case HF_CODEX_DONE:
		done_call(out, v, type);
		break;
	case HF_CODEX_OUTPUT:
		output(out, v);
		break;
	case HF_CODEX_OTHER:
	case HF_CODEX_SEALED:
		if (hf_str_is(type, "user_message"))
			user_event(out, v);
		else if (hf_str_is(type, "item_completed"))
			completed(out, hf_json_get(v, "item"));
		break;
	}
}
