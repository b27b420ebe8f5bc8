/*
 * Each agent's rows, as its real sessions have them (t/fixtures/samples):
 * one function an agent.
 */
#include "eval.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/file.h"
#include "base/hmac.h"
#include "base/io.h"
#include "base/proc.h"

/* ---- rows from a pattern ---- */

static void
stamp(struct hf_buf *b, int64_t ms)
{
	time_t s = (time_t)(ms / 1000);
	struct tm tm;
	char text[64];

	gmtime_r(&s, &tm);
	strftime(text, sizeof(text), "\"%Y-%m-%dT%H:%M:%S.000Z\"", &tm);
	hf_buf_puts(b, text);
}

static void
new_id(struct ev_file *f)
{
	snprintf(f->last, sizeof(f->last), "%08x-0000-4000-8000-%.12s",
	    ++f->rows, f->id + strlen(f->id) - 12);
}

static void
directive(struct ev_file *f, char c, va_list *ap)
{
	struct hf_buf *b = &f->out;

	switch (c) {
	case 'q':		/* a text, quoted */
		hf_json_quote(b, va_arg(*ap, struct hf_str));
		break;
	case 's':		/* JSON as it is */
		hf_buf_puts(b, va_arg(*ap, const char *));
		break;
	case 'd':
		hf_buf_printf(b, "%d", va_arg(*ap, int));
		break;
	case 'T':		/* the time, and on with it */
		f->time += 1700;
		stamp(b, f->time);
		break;
	case 'M':
		hf_buf_printf(b, "%lld", (long long)f->time);
		break;
	case 'i':
		hf_buf_printf(b, "\"%s\"", f->id);
		break;
	case 'l':		/* the row before */
		if (f->last[0] != '\0')
			hf_buf_printf(b, "\"%s\"", f->last);
		else
			hf_buf_puts(b, "null");
		break;
	case 'n':		/* this row's id */
		new_id(f);
		hf_buf_printf(b, "\"%s\"", f->last);
		break;
	case 'k':		/* the id of a call */
		hf_buf_printf(b, "\"call_%u_%.6s\"", va_arg(*ap, unsigned),
		    f->id);
		break;
	case 'c':
		hf_json_quote(b, f->cwd);
		break;
	case 'b':
		hf_json_quote(b, f->branch);
		break;
	}
}

/* Appends a pattern with its directives. */
static void
put(struct ev_file *f, const char *pattern, ...)
{
	va_list ap;

	va_start(ap, pattern);
	for (; *pattern != '\0'; pattern++)
		if (*pattern == '%')
			directive(f, *++pattern, &ap);
		else
			hf_buf_putc(&f->out, *pattern);
	va_end(ap);
}

/* A piece of JSON of its own. */
static const char *
json(struct ev_file *scratch, const char *pattern, ...)
{
	va_list ap;

	hf_buf_clear(&scratch->out);
	va_start(ap, pattern);
	for (; *pattern != '\0'; pattern++)
		if (*pattern == '%')
			directive(scratch, *++pattern, &ap);
		else
			hf_buf_putc(&scratch->out, *pattern);
	va_end(ap);
	return hf_buf_cstr(&scratch->out);
}

/* ---- the file ---- */

static int opencode_import(struct ev_file *f, struct hf_err *err);

int
ev_file_flush(struct ev_file *f, struct hf_err *err)
{
	struct hf_dir d = HF_DIR_INIT;
	char *dir;
	int rc, fd;

	if (f->client != NULL) {
		rc = opencode_import(f, err);
		hf_buf_clear(&f->out);
		return rc;
	}
	dir = hf_path_dir(f->path);
	rc = hf_dir_make(&d, dir, err);
	if (rc == 0) {
		fd = hf_file_open(&d, hf_path_base(f->path),
		    O_WRONLY | O_CREAT | O_APPEND);
		if (fd < 0 || write(fd, hf_buf_cstr(&f->out), f->out.len) !=
		    (ssize_t)f->out.len)
			rc = hf_err_set(err, HF_E_IO, "cannot write '%s'",
			    f->path);
		if (fd >= 0)
			close(fd);
	}
	hf_buf_clear(&f->out);
	hf_dir_close(&d);
	free(dir);
	return rc;
}

/* The last row that has an id is what the next one follows. */
static void
read_last(struct ev_file *f, const char *row_id, struct hf_str text)
{
	struct hf_str line, rest = text, id;
	struct hf_json *j;

	while (rest.n > 0) {
		line = hf_str_line(rest, &rest);
		j = hf_json_parse(line, 0, NULL, NULL, NULL);
		id = hf_json_get_str(hf_json_root(j), row_id);
		if (id.n > 0 && id.n < sizeof(f->last)) {
			memcpy(f->last, id.s, id.n);
			f->last[id.n] = '\0';
		}
		hf_json_free(j);
	}
}

/* The row that the next one follows; only some agents' rows name it. */
static int
find_last(struct ev_file *f, const char *row_id, struct hf_err *err)
{
	struct hf_buf text = HF_BUF_INIT;
	struct hf_dir d = HF_DIR_INIT;
	char *dir = hf_path_dir(f->path);
	int rc = hf_dir_open(&d, dir, err);

	if (rc == 0)
		rc = hf_file_read(&d, hf_path_base(f->path), &text, err);
	if (rc > 0)
		read_last(f, row_id, hf_buf_view(&text));
	hf_buf_release(&text);
	hf_dir_close(&d);
	free(dir);
	return rc > 0 ? 0 : -1;
}

int
ev_file_resume(struct ev_file *f, const struct ev_agent *a,
    const char *path, struct hf_err *err)
{
	struct hf_session s;
	int rc;

	hf_session_init(&s);
	rc = hf_session_peek(path, &s, err);
	if (rc == 0) {
		free(f->path);
		f->path = hf_strdup(path);
		snprintf(f->id, sizeof(f->id), "%s",
		    s.id != NULL ? s.id : "");
		f->last[0] = '\0';
		f->time += 3600000;
		if (a->row_id != NULL)
			rc = find_last(f, a->row_id, err);
	}
	hf_session_release(&s);
	return rc;
}

void
ev_file_release(struct ev_file *f)
{
	hf_buf_release(&f->out);
	free(f->path);
	memset(f, 0, sizeof(*f));
}

/* home/dir/NAME/prefixID.jsonl; NAME is the project's folder with a dash for
 * what is no letter or digit, or name. */
static void
place(struct ev_file *f, const char *home, const char *dir,
    const char *name, const char *prefix, int digits)
{
	struct hf_buf b = HF_BUF_INIT;
	size_t i;

	hf_uuid4(f->id);
	hf_buf_printf(&b, "%s/%s/", home, dir);
	for (i = 0; name == NULL && i < f->cwd.n; i++)
		hf_buf_putc(&b, (f->cwd.s[i] >= 'a' && f->cwd.s[i] <= 'z') ||
		    (f->cwd.s[i] >= 'A' && f->cwd.s[i] <= 'Z') ||
		    (f->cwd.s[i] >= '0' && f->cwd.s[i] <= '9') ?
		    f->cwd.s[i] : '-');
	hf_buf_printf(&b, "%s/%s%.*s.jsonl", name != NULL ? name : "",
	    prefix, digits, f->id);
	free(f->path);
	f->path = hf_buf_steal(&b);
	f->last[0] = '\0';
}

/* The list of the plan, each step by a pattern of text and status. */
static void
steps(struct ev_file *to, const char *pattern, const struct ev_event *e)
{
	for (size_t i = 0; i < e->ntodos; i++) {
		if (i > 0)
			hf_buf_putc(&to->out, ',');
		put(to, pattern, e->todo[i].text, hf_str(e->todo[i].status));
	}
}

/* "rm x", "git mv x y": agents without a tool for it. */
static struct hf_str
shell_of(struct hf_buf *b, const struct ev_event *e)
{
	hf_buf_clear(b);
	hf_buf_puts(b, e->tool == EV_MOVE ? "git mv " : "rm ");
	hf_buf_str(b, e->path);
	if (e->tool == EV_MOVE) {
		hf_buf_putc(b, ' ');
		hf_buf_str(b, e->path2);
	}
	return hf_buf_view(b);
}

/* ---- Claude Code ---- */

#define CLAUDE	"{\"parentUuid\":%l,\"isSidechain\":false,\"userType\":" \
	"\"external\",\"cwd\":%c,\"sessionId\":%i,\"version\":\"2.1.197\"," \
	"\"gitBranch\":%b,"
#define CLAUDE_END	",\"uuid\":%n,\"timestamp\":%T}\n"

static void
claude_says(struct ev_file *f, const char *block, const char *stop)
{
	put(f, CLAUDE "\"type\":\"assistant\",\"requestId\":\"req_%d\","
	    "\"message\":{\"id\":\"msg_%d\",\"type\":\"message\",\"role\":"
	    "\"assistant\",\"model\":\"claude-sonnet-4-5-20250929\","
	    "\"content\":[%s],\"stop_reason\":\"%s\",\"stop_sequence\":null,"
	    "\"usage\":{\"input_tokens\":12,\"cache_creation_input_tokens\":"
	    "900,\"cache_read_input_tokens\":%d,\"output_tokens\":200}}"
	    CLAUDE_END, (int)f->rows, (int)f->rows, block, stop,
	    20000 + (int)f->rows * 300);
}

static const char *
claude_input(struct ev_file *j, const struct ev_event *e, const char **name)
{
	static const char *const names[] = { "Read", "Write", "Edit", "Bash",
		"Bash", "Bash", "TodoWrite", "AskUserQuestion", "WebFetch" };
	struct hf_buf cmd = HF_BUF_INIT;
	const char *out = "";

	*name = names[e->tool];
	switch (e->tool) {
	case EV_READ:
		return json(j, "{\"file_path\":%q}", e->path);
	case EV_WRITE:
		return json(j, "{\"file_path\":%q,\"content\":%q}", e->path,
		    e->text);
	case EV_EDIT:
		return json(j, "{\"file_path\":%q,\"old_string\":\"x = 1\","
		    "\"new_string\":%q}", e->path, e->text);
	case EV_RUN:
		return json(j, "{\"command\":%q,\"description\":\"Run it\"}",
		    e->text);
	case EV_DELETE:
	case EV_MOVE:
		out = json(j, "{\"command\":%q}", shell_of(&cmd, e));
		hf_buf_release(&cmd);
		return out;
	case EV_TODO_LIST:
		json(j, "{\"todos\":[");
		steps(j, "{\"content\":%q,\"status\":%q,\"activeForm\":"
		    "\"Working\"}", e);
		hf_buf_puts(&j->out, "]}");
		return hf_buf_cstr(&j->out);
	case EV_ASK:
		return json(j, "{\"questions\":[{\"question\":%q,\"header\":"
		    "\"Choice\",\"options\":[{\"label\":%q,\"description\":"
		    "\"\"},{\"label\":\"Something else\",\"description\":"
		    "\"\"}],\"multiSelect\":false}]}", e->text, e->output);
	case EV_FETCH:
		return json(j, "{\"url\":%q,\"prompt\":\"What is it?\"}",
		    e->text);
	}
	return out;
}

static void
claude_result(struct ev_file *f, const struct ev_event *e, unsigned call)
{
	struct hf_buf text = HF_BUF_INIT;
	bool runs = e->tool == EV_RUN || e->tool == EV_DELETE ||
	    e->tool == EV_MOVE;

	if (e->tool == EV_ASK) {
		hf_buf_puts(&text, "User has answered your questions: \"");
		hf_buf_str(&text, e->text);
		hf_buf_puts(&text, "\"=\"");
		hf_buf_str(&text, e->output);
		hf_buf_puts(&text, "\". You can now continue with the user's "
		    "answers in mind.");
	} else {
		if (e->exit != 0)
			hf_buf_printf(&text, "Exit code %d\n", e->exit);
		hf_buf_str(&text, e->output);
	}
	put(f, CLAUDE "\"type\":\"user\",\"message\":{\"role\":\"user\","
	    "\"content\":[{\"tool_use_id\":%k,\"type\":\"tool_result\","
	    "\"content\":%q,\"is_error\":%s}]}", call, hf_buf_view(&text),
	    e->exit != 0 ? "true" : "false");
	if (runs && e->exit == 0)
		put(f, ",\"toolUseResult\":{\"stdout\":%q,\"stderr\":\"\","
		    "\"interrupted\":false,\"isImage\":false}", e->output);
	put(f, CLAUDE_END);
	hf_buf_release(&text);
}

static void
claude_user(struct ev_file *f, struct hf_str text, const char *more)
{
	put(f, CLAUDE "\"type\":\"user\",%s\"message\":{\"role\":\"user\","
	    "\"content\":%q}" CLAUDE_END, more, text);
}

static void
claude_tagged(struct ev_file *f, const char *begin, struct hf_str text,
    const char *end)
{
	struct hf_buf all = HF_BUF_INIT;

	hf_buf_puts(&all, begin);
	hf_buf_str(&all, text);
	hf_buf_puts(&all, end);
	claude_user(f, hf_buf_view(&all), "");
	hf_buf_release(&all);
}

static void
claude(struct ev_file *f, const char *home, const struct ev_event *e)
{
	struct ev_file j = { .time = f->time };
	unsigned call = f->rows;
	const char *name, *in;

	switch (e->what) {
	case EV_OPEN:
		place(f, home, ".claude/projects", NULL, "", 64);
		break;
	case EV_USER:
		claude_user(f, e->text, "");
		break;
	case EV_SAY:
	case EV_END:
		claude_says(f, json(&j, "{\"type\":\"text\",\"text\":%q}",
		    e->text), e->what == EV_END ? "end_turn" : "tool_use");
		break;
	case EV_TOOL:
		snprintf(j.id, sizeof(j.id), "%s", f->id);
		in = hf_strdup(claude_input(&j, e, &name));
		claude_says(f, json(&j, "{\"type\":\"tool_use\",\"id\":%k,"
		    "\"name\":\"%s\",\"input\":%s}", call, name, in),
		    "tool_use");
		claude_result(f, e, call);
		free((char *)(uintptr_t)in);
		break;
	case EV_INJECT:
		claude_user(f, e->text, "\"isMeta\":true,");
		break;
	case EV_ECHO:
		claude_tagged(f, "<bash-input>", HF_STR("cat notes"),
		    "</bash-input>");
		claude_tagged(f, "<bash-stdout>", e->text,
		    "</bash-stdout><bash-stderr></bash-stderr>");
		break;
	case EV_COMPACT:
		put(f, "{\"parentUuid\":null,\"logicalParentUuid\":%l,"
		    "\"isSidechain\":false,\"userType\":\"external\",\"cwd\":"
		    "%c,\"sessionId\":%i,\"version\":\"2.1.197\",\"type\":"
		    "\"system\",\"subtype\":\"compact_boundary\",\"content\":"
		    "\"Conversation compacted\",\"compactMetadata\":{"
		    "\"trigger\":\"manual\",\"preTokens\":98000,"
		    "\"postTokens\":9000}" CLAUDE_END);
		claude_user(f, e->text, "\"isCompactSummary\":true,"
		    "\"isVisibleInTranscriptOnly\":true,");
		break;
	case EV_STOP:
		claude_user(f, HF_STR("[Request interrupted by user]"), "");
		break;
	}
	hf_buf_release(&j.out);
}

/* ---- pi and oh-my-pi ---- */

#define PI	"\"id\":%n,\"parentId\":%s,\"timestamp\":%T"
#define PI_USAGE	"\"api\":\"openai-completions\",\"provider\":\"mock\"," \
	"\"model\":\"mock-model\",\"usage\":{\"input\":900,\"output\":21," \
	"\"cacheRead\":300,\"cacheWrite\":0,\"totalTokens\":1221,\"cost\":{" \
	"\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0," \
	"\"total\":0}}"

/* The id before, as it stands when the row's own is made. */
static void
pi_row(struct ev_file *f, const char *type, const char *body)
{
	char parent[80];

	if (f->last[0] != '\0')
		snprintf(parent, sizeof(parent), "\"%s\"", f->last);
	else
		snprintf(parent, sizeof(parent), "null");
	put(f, "{\"type\":\"%s\"," PI ",%s}\n", type, parent, body);
}

static void
pi_message(struct ev_file *f, const char *role, const char *content,
    const char *more)
{
	struct ev_file b = { .time = f->time };

	pi_row(f, "message", json(&b, "\"message\":{\"role\":\"%s\","
	    "\"content\":[%s],%s\"timestamp\":%M}", role, content, more));
	hf_buf_release(&b.out);
}

static void
pi_says(struct ev_file *f, const char *block, const char *stop)
{
	char more[640];

	snprintf(more, sizeof(more), PI_USAGE ",\"stopReason\":\"%s\",",
	    stop);
	pi_message(f, "assistant", block, more);
}

static const char *
pi_input(struct ev_file *j, const struct ev_event *e, const char **name)
{
	static const char *const names[] = { "read", "write", "edit", "bash",
		"bash", "bash", "todo_write", "ask", "bash" };
	struct hf_buf cmd = HF_BUF_INIT;
	const char *out = "";

	*name = names[e->tool];
	switch (e->tool) {
	case EV_READ:
		return json(j, "{\"path\":%q}", e->path);
	case EV_WRITE:
		return json(j, "{\"path\":%q,\"content\":%q}", e->path,
		    e->text);
	case EV_EDIT:
		return json(j, "{\"path\":%q,\"oldText\":\"x = 1\","
		    "\"newText\":%q}", e->path, e->text);
	case EV_RUN:
		return json(j, "{\"command\":%q}", e->text);
	case EV_DELETE:
	case EV_MOVE:
		out = json(j, "{\"command\":%q}", shell_of(&cmd, e));
		break;
	case EV_TODO_LIST:
		json(j, "{\"todos\":[");
		steps(j, "{\"content\":%q,\"status\":%q}", e);
		hf_buf_puts(&j->out, "]}");
		return hf_buf_cstr(&j->out);
	case EV_ASK:
		return json(j, "{\"question\":%q,\"options\":[%q,\"Something "
		    "else\"]}", e->text, e->output);
	case EV_FETCH:
		hf_buf_puts(&cmd, "curl -sL ");
		hf_buf_str(&cmd, e->text);
		out = json(j, "{\"command\":%q}", hf_buf_view(&cmd));
		break;
	}
	hf_buf_release(&cmd);
	return out;
}

/* A call with arguments that are JSON already, and its result. */
static void
pi_call(struct ev_file *f, struct ev_file *j, const char *name,
    const char *in, struct hf_str output, int exit)
{
	struct hf_buf text = HF_BUF_INIT;
	unsigned call = f->rows;
	char *copy = hf_strdup(in), more[200];

	snprintf(j->id, sizeof(j->id), "%s", f->id);
	pi_says(f, json(j, "{\"type\":\"toolCall\",\"id\":%k,\"name\":"
	    "\"%s\",\"arguments\":%s}", call, name, copy), "toolUse");
	hf_buf_str(&text, output);
	if (exit != 0)
		hf_buf_printf(&text, "\n\nCommand exited with code %d", exit);
	snprintf(more, sizeof(more), "\"toolCallId\":\"call_%u_%.6s\","
	    "\"toolName\":\"%s\",\"isError\":%s,", call, f->id, name,
	    exit != 0 ? "true" : "false");
	pi_message(f, "toolResult", json(j,
	    "{\"type\":\"text\",\"text\":%q}", hf_buf_view(&text)), more);
	hf_buf_release(&text);
	free(copy);
}

static void
pi_open(struct ev_file *f, const char *home, const char *dir)
{
	place(f, home, dir, NULL, "2026-01-15T09-00-00-000Z_", 64);
	put(f, "{\"type\":\"session\",\"version\":3,\"id\":%i,\"timestamp\":"
	    "%T,\"cwd\":%c}\n");
	pi_row(f, "model_change", "\"provider\":\"mock\",\"modelId\":"
	    "\"mock-model\",\"model\":\"mock/mock-model\"");
}

static void
pi_event(struct ev_file *f, struct ev_file *j, const struct ev_event *e)
{
	const char *name, *in;

	switch (e->what) {
	case EV_USER:
		pi_message(f, "user", json(j,
		    "{\"type\":\"text\",\"text\":%q}", e->text), "");
		break;
	case EV_SAY:
	case EV_END:
		pi_says(f, json(j, "{\"type\":\"text\",\"text\":%q}",
		    e->text), e->what == EV_END ? "stop" : "toolUse");
		break;
	case EV_TOOL:
		in = pi_input(j, e, &name);
		pi_call(f, j, name, in, e->output, e->exit);
		break;
	case EV_INJECT:
		pi_row(f, "custom_message", json(j, "\"customType\":"
		    "\"reminder\",\"content\":%q,\"display\":false",
		    e->text));
		break;
	case EV_ECHO:
		pi_row(f, "message", json(j, "\"message\":{\"role\":"
		    "\"bashExecution\",\"command\":\"cat notes\",\"output\":"
		    "%q,\"exitCode\":0,\"cancelled\":false,\"truncated\":"
		    "false,\"timestamp\":%M}", e->text));
		break;
	case EV_COMPACT:
		pi_row(f, "compaction", json(j, "\"summary\":%q,"
		    "\"firstKeptEntryId\":\"%s\",\"tokensBefore\":98000,"
		    "\"details\":{\"readFiles\":[],\"modifiedFiles\":[]},"
		    "\"fromHook\":false", e->text, f->last));
		break;
	case EV_STOP:
		pi_says(f, "", "aborted");
		break;
	case EV_OPEN:
		break;
	}
}

static void
pi(struct ev_file *f, const char *home, const struct ev_event *e)
{
	struct ev_file j = { .time = f->time };

	if (e->what == EV_OPEN)
		pi_open(f, home, ".pi/agent/sessions");
	else
		pi_event(f, &j, e);
	hf_buf_release(&j.out);
}

/* Its list is made once and its steps set one by one. */
static void
omp_todos(struct ev_file *f, struct ev_file *j, const struct ev_event *e)
{
	const char *op;

	json(j, "{\"op\":\"init\",\"list\":[{\"phase\":\"All\",\"items\":[");
	for (size_t i = 0; i < e->ntodos; i++) {
		hf_buf_puts(&j->out, i > 0 ? "," : "");
		hf_json_quote(&j->out, e->todo[i].text);
	}
	hf_buf_puts(&j->out, "]}]}");
	pi_call(f, j, "todo", hf_buf_cstr(&j->out), HF_STR("ok"), 0);
	for (size_t i = 0; i < e->ntodos; i++) {
		op = strcmp(e->todo[i].status, "completed") == 0 ? "done" :
		    strcmp(e->todo[i].status, "in_progress") == 0 ? "start" :
		    NULL;
		if (op != NULL)
			pi_call(f, j, "todo", json(j, "{\"op\":\"%s\","
			    "\"task\":%q}", op, e->todo[i].text),
			    HF_STR("ok"), 0);
	}
}

/* Sections of files, each with the changes of its lines. */
static void
omp_edit(struct ev_file *f, struct ev_file *j, const struct ev_event *e)
{
	struct hf_buf text = HF_BUF_INIT;

	hf_buf_putc(&text, '[');
	hf_buf_str(&text, e->path);
	hf_buf_puts(&text, "#3f9a]\n");
	if (e->tool == EV_DELETE)
		hf_buf_puts(&text, "REM\n");
	if (e->tool == EV_MOVE) {
		hf_buf_puts(&text, "MV ");
		hf_buf_str(&text, e->path2);
		hf_buf_putc(&text, '\n');
	}
	if (e->tool == EV_EDIT) {
		hf_buf_puts(&text, "SWAP 12..12\n+");
		hf_buf_str(&text, e->text);
		hf_buf_putc(&text, '\n');
	}
	pi_call(f, j, "edit", json(j, "{\"input\":%q}", hf_buf_view(&text)),
	    e->output, e->exit);
	hf_buf_release(&text);
}

static void
omp(struct ev_file *f, const char *home, const struct ev_event *e)
{
	struct ev_file j = { .time = f->time };

	if (e->what == EV_OPEN)
		pi_open(f, home, ".omp/agent/sessions");
	else if (e->what == EV_TOOL && e->tool == EV_TODO_LIST)
		omp_todos(f, &j, e);
	else if (e->what == EV_TOOL && (e->tool == EV_EDIT ||
	    e->tool == EV_DELETE || e->tool == EV_MOVE))
		omp_edit(f, &j, e);
	else
		pi_event(f, &j, e);
	hf_buf_release(&j.out);
}

/* ---- Codex ---- */

#define CODEX(type)	"{\"timestamp\":%T,\"type\":\"" type "\",\"payload\":"

static void
codex_message(struct ev_file *f, const char *role, struct hf_str text)
{
	put(f, CODEX("response_item") "{\"type\":\"message\",\"role\":\"%s\","
	    "\"content\":[{\"type\":\"%s\",\"text\":%q}]}}\n", role,
	    strcmp(role, "assistant") == 0 ? "output_text" : "input_text",
	    text);
}

static void
codex_open(struct ev_file *f, const char *home)
{
	place(f, home, ".codex/sessions/2026/01", "15",
	    "rollout-2026-01-15T09-00-00-", 64);
	put(f, CODEX("session_meta") "{\"id\":%i,\"timestamp\":%T,\"cwd\":%c,"
	    "\"originator\":\"codex_cli_rs\",\"cli_version\":\"0.125.0\","
	    "\"source\":\"cli\",\"git\":{\"branch\":%b}}}\n");
}

static void
codex_user(struct ev_file *f, struct hf_str text)
{
	f->own++;
	put(f, CODEX("event_msg") "{\"type\":\"task_started\",\"turn_id\":"
	    "\"turn-%d\",\"model_context_window\":258400}}\n", (int)f->own);
	put(f, CODEX("turn_context") "{\"turn_id\":\"turn-%d\",\"cwd\":%c,"
	    "\"approval_policy\":\"never\",\"model\":\"gpt-5.5\"}}\n",
	    (int)f->own);
	codex_message(f, "user", text);
	put(f, CODEX("event_msg") "{\"type\":\"user_message\",\"message\":%q,"
	    "\"images\":[]}}\n", text);
}

static void
codex_usage(struct ev_file *f)
{
	int total = 1221 * (int)++f->rows;

	put(f, CODEX("event_msg") "{\"type\":\"token_count\",\"info\":{"
	    "\"total_token_usage\":{\"input_tokens\":%d,\"output_tokens\":21,"
	    "\"total_tokens\":%d},\"last_token_usage\":{\"input_tokens\":1200,"
	    "\"output_tokens\":21,\"total_tokens\":1221},"
	    "\"model_context_window\":258400}}}\n", total, total);
}

static void
codex_patch(struct ev_file *f, const struct ev_event *e)
{
	struct hf_buf p = HF_BUF_INIT;
	unsigned call = f->rows;

	hf_buf_puts(&p, "*** Begin Patch\n");
	hf_buf_puts(&p, e->tool == EV_WRITE ? "*** Add File: " :
	    e->tool == EV_DELETE ? "*** Delete File: " :
	    "*** Update File: ");
	hf_buf_str(&p, e->path);
	hf_buf_putc(&p, '\n');
	if (e->tool == EV_MOVE) {
		hf_buf_puts(&p, "*** Move to: ");
		hf_buf_str(&p, e->path2);
		hf_buf_putc(&p, '\n');
	}
	if (e->tool == EV_WRITE || e->tool == EV_EDIT) {
		hf_buf_puts(&p, e->tool == EV_EDIT ? "@@\n-x = 1\n+" : "+");
		hf_buf_str(&p, e->text);
		hf_buf_putc(&p, '\n');
	}
	hf_buf_puts(&p, "*** End Patch");
	put(f, CODEX("response_item") "{\"type\":\"custom_tool_call\","
	    "\"status\":\"completed\",\"call_id\":%k,\"name\":"
	    "\"apply_patch\",\"input\":%q}}\n", call, hf_buf_view(&p));
	put(f, CODEX("response_item") "{\"type\":\"custom_tool_call_output\","
	    "\"call_id\":%k,\"output\":\"Exit code: 0\\nWall time: 0 "
	    "seconds\\nOutput:\\nSuccess. Updated the following files:\\n\"}}"
	    "\n", call);
	hf_buf_release(&p);
}

static void
codex_call(struct ev_file *f, const char *name, const char *args,
    struct hf_str output)
{
	unsigned call = f->rows;

	put(f, CODEX("response_item") "{\"type\":\"function_call\",\"name\":"
	    "\"%s\",\"arguments\":%q,\"call_id\":%k}}\n", name, hf_str(args),
	    call);
	put(f, CODEX("response_item") "{\"type\":\"function_call_output\","
	    "\"call_id\":%k,\"output\":%q}}\n", call, output);
}

static void
codex_run(struct ev_file *f, struct ev_file *j, struct hf_str command,
    const struct ev_event *e)
{
	struct hf_buf out = HF_BUF_INIT;

	hf_buf_printf(&out, "Chunk ID: bbfbc9\nWall time: 0.4 seconds\n"
	    "Process exited with code %d\nOriginal token count: 30\n"
	    "Output:\n", e->exit);
	hf_buf_str(&out, e->output);
	codex_call(f, "exec_command", json(j, "{\"cmd\":%q}", command),
	    hf_buf_view(&out));
	hf_buf_release(&out);
}

static void
codex_tool(struct ev_file *f, struct ev_file *j, const struct ev_event *e)
{
	struct hf_buf text = HF_BUF_INIT;

	switch (e->tool) {
	case EV_WRITE:
	case EV_EDIT:
	case EV_DELETE:
	case EV_MOVE:
		codex_patch(f, e);
		break;
	case EV_RUN:
		codex_run(f, j, e->text, e);
		break;
	case EV_READ:
	case EV_FETCH:
		hf_buf_puts(&text, e->tool == EV_READ ? "sed -n '1,200p' " :
		    "curl -sL ");
		hf_buf_str(&text, e->tool == EV_READ ? e->path : e->text);
		codex_run(f, j, hf_buf_view(&text), e);
		break;
	case EV_TODO_LIST:
		json(j, "{\"explanation\":\"\",\"plan\":[");
		steps(j, "{\"step\":%q,\"status\":%q}", e);
		hf_buf_puts(&j->out, "]}");
		codex_call(f, "update_plan", hf_buf_cstr(&j->out),
		    HF_STR("Plan updated"));
		break;
	case EV_ASK:
		hf_buf_puts(&text, "{\"answers\":{\"q1\":{\"answers\":[");
		hf_json_quote(&text, e->output);
		hf_buf_puts(&text, "]}}}");
		codex_call(f, "request_user_input", json(j, "{\"questions\":["
		    "{\"id\":\"q1\",\"header\":\"Choice\",\"question\":%q,"
		    "\"options\":[{\"label\":%q,\"description\":\"\"}]}]}",
		    e->text, e->output), hf_buf_view(&text));
		break;
	}
	codex_usage(f);
	hf_buf_release(&text);
}

static void
codex(struct ev_file *f, const char *home, const struct ev_event *e)
{
	struct ev_file j = { .time = f->time };

	switch (e->what) {
	case EV_OPEN:
		codex_open(f, home);
		break;
	case EV_USER:
		codex_user(f, e->text);
		break;
	case EV_SAY:
	case EV_END:
		put(f, CODEX("event_msg") "{\"type\":\"agent_message\","
		    "\"message\":%q}}\n", e->text);
		codex_message(f, "assistant", e->text);
		codex_usage(f);
		if (e->what == EV_END)
			put(f, CODEX("event_msg") "{\"type\":"
			    "\"task_complete\",\"turn_id\":\"turn-%d\","
			    "\"last_agent_message\":%q}}\n", (int)f->own,
			    e->text);
		break;
	case EV_TOOL:
		codex_tool(f, &j, e);
		break;
	case EV_INJECT:
		codex_message(f, "user", e->text);
		break;
	case EV_ECHO:
		json(&j, "<user_shell_command>\n<command>\ncat notes\n"
		    "</command>\n<result>\nExit code: 0\nOutput:\n");
		hf_buf_str(&j.out, e->text);
		hf_buf_puts(&j.out, "\n</result>\n</user_shell_command>");
		codex_message(f, "user", hf_buf_view(&j.out));
		break;
	case EV_COMPACT:
		put(f, CODEX("compacted") "{\"message\":%q,"
		    "\"replacement_history\":[{\"type\":\"message\",\"role\":"
		    "\"user\",\"content\":[{\"type\":\"input_text\",\"text\":"
		    "%q}]}]}}\n", e->text, e->text);
		put(f, CODEX("event_msg") "{\"type\":\"context_compacted\"}}"
		    "\n");
		break;
	case EV_STOP:
		put(f, CODEX("event_msg") "{\"type\":\"turn_aborted\","
		    "\"turn_id\":\"turn-%d\",\"reason\":\"interrupted\"}}\n",
		    (int)f->own);
		break;
	}
	hf_buf_release(&j.out);
}

/* ---- Gemini CLI ---- */

static void
gemini_call(struct ev_file *f, const char *name, const char *args,
    struct hf_str output)
{
	unsigned call = f->rows;

	put(f, "{\"id\":%n,\"timestamp\":%T,\"type\":\"gemini\",\"content\":"
	    "\"\",\"thoughts\":[],\"tokens\":{\"input\":1200,\"output\":21,"
	    "\"cached\":300,\"thoughts\":0,\"tool\":0,\"total\":1221},"
	    "\"model\":\"gemini-2.5-flash\",\"toolCalls\":[{\"id\":%k,"
	    "\"name\":\"%s\",\"args\":%s,\"result\":[{\"functionResponse\":{"
	    "\"id\":%k,\"name\":\"%s\",\"response\":{\"output\":%q}}}],"
	    "\"status\":\"success\",\"timestamp\":%T}]}\n", call, name, args,
	    call, name, output);
	put(f, "{\"id\":%n,\"timestamp\":%T,\"type\":\"user\",\"content\":[{"
	    "\"functionResponse\":{\"id\":%k,\"name\":\"%s\",\"response\":{"
	    "\"output\":%q}}}]}\n", call, name, output);
}

static void
gemini_run(struct ev_file *f, struct ev_file *j, struct hf_str command,
    const struct ev_event *e)
{
	struct hf_buf out = HF_BUF_INIT;
	char *args = hf_strdup(json(j, "{\"command\":%q}", command));

	hf_buf_puts(&out, "<untrusted_context>\nOutput: ");
	hf_buf_str(&out, e->output);
	if (e->exit != 0)
		hf_buf_printf(&out, "\nExit Code: %d", e->exit);
	hf_buf_puts(&out, "\nProcess Group PGID: 6065\n"
	    "</untrusted_context>");
	gemini_call(f, "run_shell_command", args, hf_buf_view(&out));
	hf_buf_release(&out);
	free(args);
}

static void
gemini_tool(struct ev_file *f, struct ev_file *j, const struct ev_event *e)
{
	struct hf_buf cmd = HF_BUF_INIT;

	switch (e->tool) {
	case EV_READ:
		gemini_call(f, "read_file", json(j, "{\"file_path\":%q}",
		    e->path), e->output);
		break;
	case EV_WRITE:
		gemini_call(f, "write_file", json(j, "{\"file_path\":%q,"
		    "\"content\":%q}", e->path, e->text), e->output);
		break;
	case EV_EDIT:
		gemini_call(f, "replace", json(j, "{\"file_path\":%q,"
		    "\"old_string\":\"x = 1\",\"new_string\":%q}", e->path,
		    e->text), e->output);
		break;
	case EV_RUN:
		gemini_run(f, j, e->text, e);
		break;
	case EV_DELETE:
	case EV_MOVE:
		gemini_run(f, j, shell_of(&cmd, e), e);
		break;
	case EV_TODO_LIST:
		json(j, "{\"todos\":[");
		steps(j, "{\"description\":%q,\"status\":%q}", e);
		hf_buf_puts(&j->out, "]}");
		gemini_call(f, "write_todos", hf_buf_cstr(&j->out),
		    HF_STR("Successfully updated the todo list."));
		break;
	case EV_ASK:
		hf_buf_puts(&cmd, "{\"answers\":{\"0\":");
		hf_json_quote(&cmd, e->output);
		hf_buf_puts(&cmd, "}}");
		gemini_call(f, "ask_user", json(j, "{\"questions\":[{"
		    "\"question\":%q,\"header\":\"Choice\",\"type\":"
		    "\"choice\",\"options\":[{\"label\":%q,\"description\":"
		    "\"\"}]}]}", e->text, e->output), hf_buf_view(&cmd));
		break;
	case EV_FETCH:
		gemini_call(f, "web_fetch", json(j, "{\"prompt\":%q}",
		    e->text), e->output);
		break;
	}
	hf_buf_release(&cmd);
}

/* Which folder the project is: Gemini CLI keeps it beside the sessions. */
static void
gemini_project(const struct ev_file *f, const char *home)
{
	struct hf_buf b = HF_BUF_INIT;
	struct hf_dir d = HF_DIR_INIT;
	struct hf_err err;

	hf_buf_printf(&b, "%s/.gemini/tmp/%s", home,
	    hf_path_base(f->cwd.s));
	if (hf_dir_make(&d, hf_buf_cstr(&b), &err) < 0 ||
	    hf_file_replace(&d, ".project_root", f->cwd, &err) < 0)
		hf_warn_err(&err);
	hf_dir_close(&d);
	hf_buf_release(&b);
}

static void
gemini(struct ev_file *f, const char *home, const struct ev_event *e)
{
	struct ev_file j = { .time = f->time };
	char sum[HF_SHA_HEX];
	struct hf_buf b = HF_BUF_INIT;

	snprintf(j.id, sizeof(j.id), "%s", f->id);
	switch (e->what) {
	case EV_OPEN:
		gemini_project(f, home);
		hf_buf_printf(&b, "%s/chats", hf_path_base(f->cwd.s));
		place(f, home, ".gemini/tmp", hf_buf_cstr(&b),
		    "session-2026-01-15T09-00-", 8);
		hf_sha256_hex(f->cwd, sum);
		put(f, "{\"sessionId\":%i,\"projectHash\":\"%s\","
		    "\"startTime\":%T,\"lastUpdated\":%T,\"kind\":\"main\"}"
		    "\n", sum);
		put(f, "{\"id\":%n,\"timestamp\":%T,\"type\":\"user\","
		    "\"content\":[{\"text\":\"<session_context>\\nToday is "
		    "Thursday.\\n</session_context>\"}]}\n");
		break;
	case EV_USER:
	case EV_INJECT:
		if (e->what == EV_INJECT)
			hf_buf_puts(&b, "<session_context>\n");
		hf_buf_str(&b, e->text);
		if (e->what == EV_INJECT)
			hf_buf_puts(&b, "\n</session_context>");
		put(f, "{\"id\":%n,\"timestamp\":%T,\"type\":\"user\","
		    "\"content\":[{\"text\":%q}]}\n", hf_buf_view(&b));
		break;
	case EV_SAY:
	case EV_END:
		put(f, "{\"id\":%n,\"timestamp\":%T,\"type\":\"gemini\","
		    "\"content\":%q,\"thoughts\":[],\"tokens\":{\"input\":"
		    "1200,\"output\":21,\"cached\":300,\"thoughts\":0,"
		    "\"tool\":0,\"total\":1221},\"model\":"
		    "\"gemini-2.5-flash\"}\n", e->text);
		break;
	case EV_TOOL:
		gemini_tool(f, &j, e);
		break;
	case EV_ECHO:		/* it keeps none of them */
	case EV_COMPACT:
	case EV_STOP:
		break;
	}
	hf_buf_release(&j.out);
	hf_buf_release(&b);
}

/* ---- opencode ---- */

#define OPENCODE(role)	"%s{\"info\":{\"id\":%n,\"sessionID\":%i,\"at\":%T," \
	"\"time\":{\"created\":%M,\"completed\":%M},\"agent\":\"build\"," \
	"\"role\":\"" role "\","
#define OPENCODE_PART	"\"parts\":[{\"id\":\"p%s\",\"sessionID\":%i," \
	"\"messageID\":%l,\"type\":"

static const char *
comma(const struct ev_file *f)
{
	return f->out.len > 0 ? "," : "";
}

static void
opencode_user(struct ev_file *f, struct hf_str text, bool injected)
{
	put(f, OPENCODE("user") "\"model\":{\"providerID\":\"mock\","
	    "\"modelID\":\"mock-model\"}},", comma(f));
	put(f, OPENCODE_PART "\"text\",\"text\":%q%s}]}", f->last, text,
	    injected ? ",\"synthetic\":true" : "");
}

static void
opencode_answer(struct ev_file *f, const char *finish)
{
	put(f, OPENCODE("assistant") "\"modelID\":\"mock-model\","
	    "\"providerID\":\"mock\",\"finish\":\"%s\",\"path\":{\"cwd\":%c},"
	    "\"tokens\":{\"total\":1221,\"input\":900,\"output\":21,"
	    "\"reasoning\":0,\"cache\":{\"write\":0,\"read\":300}}},",
	    comma(f), finish);
}

static void
opencode_call(struct ev_file *f, const char *name, const char *input,
    struct hf_str output, int exit)
{
	unsigned call = f->rows;

	opencode_answer(f, "tool-calls");
	put(f, OPENCODE_PART "\"tool\",\"tool\":\"%s\",\"callID\":%k,"
	    "\"state\":{\"status\":\"completed\",\"input\":%s,\"output\":%q,"
	    "\"metadata\":{\"exit\":%d},\"title\":\"\",\"time\":{\"start\":%M,"
	    "\"end\":%M}}}]}", f->last, name, call, input, output, exit);
}

static void
opencode_tool(struct ev_file *f, struct ev_file *j, const struct ev_event *e)
{
	struct hf_buf text = HF_BUF_INIT;

	switch (e->tool) {
	case EV_READ:
		opencode_call(f, "read", json(j, "{\"filePath\":%q}",
		    e->path), e->output, 0);
		break;
	case EV_WRITE:
		opencode_call(f, "write", json(j, "{\"filePath\":%q,"
		    "\"content\":%q}", e->path, e->text), e->output, 0);
		break;
	case EV_EDIT:
		opencode_call(f, "edit", json(j, "{\"filePath\":%q,"
		    "\"oldString\":\"x = 1\",\"newString\":%q}", e->path,
		    e->text), e->output, 0);
		break;
	case EV_RUN:
		opencode_call(f, "bash", json(j, "{\"command\":%q,"
		    "\"description\":\"\"}", e->text), e->output, e->exit);
		break;
	case EV_DELETE:
	case EV_MOVE:
		opencode_call(f, "bash", json(j, "{\"command\":%q,"
		    "\"description\":\"\"}", shell_of(&text, e)), e->output,
		    e->exit);
		break;
	case EV_TODO_LIST:
		json(j, "{\"todos\":[");
		steps(j, "{\"content\":%q,\"status\":%q,\"priority\":\"high\"}",
		    e);
		hf_buf_puts(&j->out, "]}");
		opencode_call(f, "todowrite", hf_buf_cstr(&j->out),
		    HF_STR("[]"), 0);
		break;
	case EV_ASK:
		hf_buf_puts(&text, "User has answered your questions: ");
		hf_json_quote(&text, e->text);
		hf_buf_putc(&text, '=');
		hf_json_quote(&text, e->output);
		opencode_call(f, "question", json(j, "{\"questions\":[{"
		    "\"question\":%q,\"header\":\"Choice\",\"options\":[{"
		    "\"label\":%q,\"description\":\"\"}]}]}", e->text,
		    e->output), hf_buf_view(&text), 0);
		break;
	case EV_FETCH:
		opencode_call(f, "webfetch", json(j, "{\"url\":%q,"
		    "\"format\":\"text\"}", e->text), e->output, 0);
		break;
	}
	hf_buf_release(&text);
}

/* A session in a database: its path has its id behind the file's name. */
static void
opencode_open(struct ev_file *f, const char *home)
{
	struct hf_buf b = HF_BUF_INIT;
	char id[HF_UUID_LEN];

	hf_uuid4(id);
	snprintf(f->id, sizeof(f->id), "ses_%.8s%.4s%.12s", id, id + 9,
	    id + 24);
	hf_buf_printf(&b, "%s/.local/share/opencode/opencode.db#%s", home,
	    f->id);
	free(f->path);
	f->path = hf_buf_steal(&b);
}

static void
opencode(struct ev_file *f, const char *home, const struct ev_event *e)
{
	struct ev_file j = { .time = f->time };

	switch (e->what) {
	case EV_OPEN:
		opencode_open(f, home);
		break;
	case EV_USER:
	case EV_INJECT:
		opencode_user(f, e->text, e->what == EV_INJECT);
		break;
	case EV_SAY:
	case EV_END:
		opencode_answer(f, "stop");
		put(f, OPENCODE_PART "\"text\",\"text\":%q}]}", f->last,
		    e->text);
		break;
	case EV_TOOL:
		opencode_tool(f, &j, e);
		break;
	case EV_ECHO:
	case EV_COMPACT:
	case EV_STOP:
		break;
	}
	hf_buf_release(&j.out);
}

/* An export of the new messages, for the client to take in. */
static int
opencode_import(struct ev_file *f, struct hf_err *err)
{
	struct hf_buf b = HF_BUF_INIT, said = HF_BUF_INIT;
	char *dir = hf_path_dir(f->client), *file = hf_path_join(dir,
	    "export.json");
	const char *const argv[] = { f->client, "import", file, NULL };
	struct hf_proc p = { .argv = argv, .out = &said, .errout = &said,
		.timeout_ms = 60000 };
	struct hf_dir d = HF_DIR_INIT;
	int status = 0, rc;

	hf_buf_printf(&b, "{\"info\":{\"id\":\"%s\",\"slug\":\"s\","
	    "\"directory\":\"%s\",\"title\":\"made up\",\"version\":"
	    "\"1.18.33\",\"time\":{\"created\":%lld,\"updated\":%lld}},"
	    "\"messages\":[", f->id, f->cwd.s, (long long)f->time,
	    (long long)f->time);
	hf_buf_str(&b, hf_buf_view(&f->out));
	hf_buf_puts(&b, "]}");
	rc = hf_dir_open(&d, dir, err);
	if (rc == 0)
		rc = hf_file_replace(&d, "export.json", hf_buf_view(&b), err);
	if (rc == 0)
		rc = hf_proc_run(&p, &status, err);
	if (rc == 0 && status != 0)
		rc = hf_err_set(err, HF_E_INTERNAL, "%s: %.200s", f->client,
		    hf_buf_cstr(&said));
	hf_dir_close(&d);
	hf_buf_release(&b);
	hf_buf_release(&said);
	free(file);
	free(dir);
	return rc;
}

/* ---- the table ---- */

const struct ev_agent ev_agents[] = {
	{ "claude", claude, "uuid", false },
	{ "codex", codex, NULL, false },
	{ "pi", pi, "id", false },
	{ "omp", omp, "id", false },
	{ "gemini", gemini, NULL, false },
	{ "opencode", opencode, NULL, true },
};
const size_t ev_nagents = sizeof(ev_agents) / sizeof(ev_agents[0]);

const struct ev_agent *
ev_agent(const char *name)
{
	for (size_t i = 0; i < ev_nagents; i++)
		if (strcmp(ev_agents[i].name, name) == 0)
			return &ev_agents[i];
	return NULL;
}
