#include <string.h>

#include "agent/agent.h"

/* ---- actions ---- */

static struct hf_action *
add(struct hf_actions *out, enum hf_action_kind kind)
{
	struct hf_action *a;

	if (out->n == HF_ACTIONS_MAX)
		return NULL;
	a = &out->a[out->n++];
	memset(a, 0, sizeof(*a));
	a->kind = kind;
	return a;
}

/* path under base, in the arena if both have to be put together. */
static struct hf_str
under(struct hf_actions *out, struct hf_str base, struct hf_str path)
{
	char *joined;

	if (base.n == 0 || path.n == 0 || path.s[0] == '/' ||
	    path.s[0] == '~')
		return path;
	joined = hf_arena_alloc(&out->arena, base.n + path.n + 1);
	memcpy(joined, base.s, base.n);
	joined[base.n] = '/';
	memcpy(joined + base.n + 1, path.s, path.n);
	return hf_strn(joined, base.n + path.n + 1);
}

static void
add_path(struct hf_actions *out, enum hf_action_kind kind,
    struct hf_str base, struct hf_str path)
{
	struct hf_action *a;

	path = hf_str_trim(path);
	if (path.n > 0 && (a = add(out, kind)) != NULL)
		a->path = under(out, base, path);
}

/* ---- patches ---- */

static const char patch_begin[] = "*** Begin Patch";

/* Where a line or a shell's word begins with the mark of a patch. */
static size_t
find_patch(struct hf_str text)
{
	size_t i = 0;

	while ((i = hf_str_find(text, hf_str(patch_begin), i)) != SIZE_MAX) {
		if (i == 0 || strchr("\n '\"", text.s[i - 1]) != NULL)
			return i;
		i++;
	}
	return SIZE_MAX;
}

static bool
directive(struct hf_str line, const char *word, struct hf_str *value)
{
	size_t n = strlen(word);

	if (!hf_str_starts(line, word))
		return false;
	*value = hf_strn(line.s + n, line.n - n);
	return true;
}

/*
 * One action a file of the patches in text, the first of which begins at
 * byte from. What is moved is edited too, but the move says all: the old
 * name is gone and the new one written.
 */
static void
add_patch(struct hf_actions *out, struct hf_str text, size_t from,
    struct hf_str base)
{
	struct hf_str rest = hf_strn(text.s + from, text.n - from), line, p;
	struct hf_action *last;

	while (rest.n > 0) {
		line = hf_str_line(rest, &rest);
		last = out->n > 0 ? &out->a[out->n - 1] : NULL;
		if (directive(line, "*** Add File:", &p))
			add_path(out, HF_ACT_WRITE, base, p);
		else if (directive(line, "*** Update File:", &p))
			add_path(out, HF_ACT_EDIT, base, p);
		else if (directive(line, "*** Delete File:", &p))
			add_path(out, HF_ACT_DELETE, base, p);
		else if (directive(line, "*** Move to:", &p) &&
		    last != NULL && last->kind == HF_ACT_EDIT) {
			last->kind = HF_ACT_MOVE;
			last->path2 = under(out, base, hf_str_trim(p));
		} else if (hf_str_starts(line, "*** End Patch")) {
			from = find_patch(rest);
			if (from == SIZE_MAX)
				return;
			rest = hf_strn(rest.s + from, rest.n - from);
		}
	}
}

/* ---- arguments ---- */

/* The first argument of those named in keys ("a|b") that is there. */
static const struct hf_jval *
argument(const struct hf_jval *args, const char *keys)
{
	const struct hf_jval *v = NULL;
	char key[64];
	size_t n;

	if (hf_json_type(args) == HF_J_STR)	/* a tool with one, free-form */
		return args;
	while (keys != NULL && v == NULL) {
		n = strcspn(keys, "|");
		if (n < sizeof(key)) {
			memcpy(key, keys, n);
			key[n] = '\0';
			v = hf_json_get(args, key);
		}
		keys = keys[n] == '|' ? keys + n + 1 : NULL;
	}
	return v;
}

/* A string, or a number as it is spelled. */
static struct hf_str
scalar(struct hf_actions *out, const struct hf_jval *v)
{
	struct hf_buf text = HF_BUF_INIT;
	struct hf_str s = hf_json_str(v);

	if (s.s != NULL || hf_json_type(v) != HF_J_NUM)
		return s;
	hf_json_write(&text, v);
	s = hf_strn(hf_arena_copy(&out->arena, hf_buf_cstr(&text), text.len),
	    text.len);
	hf_buf_release(&text);
	return s;
}

static struct hf_str
first_of(const struct hf_jval *args, const char *const *keys)
{
	struct hf_str s;

	for (; *keys != NULL; keys++)
		if ((s = hf_json_get_str(args, *keys)).n > 0)
			return s;
	return HF_STR_NONE;
}

/* ---- files ---- */

static void
add_files(struct hf_actions *out, const struct hf_tool *tool,
    const struct hf_jval *v)
{
	static const char *const path_keys[] = { "path", "file_path",
	    "filePath", "file", NULL };
	const struct hf_jval *e;
	struct hf_jiter it;
	struct hf_str s = hf_json_str(v);
	size_t at;

	if (s.s != NULL && (at = find_patch(s)) != SIZE_MAX)
		add_patch(out, s, at, HF_STR_NONE);
	else if (s.s != NULL)
		add_path(out, tool->kind, HF_STR_NONE, s);
	hf_json_iter(&it, hf_json_type(v) == HF_J_ARR ? v : NULL);
	while ((e = hf_json_next(&it, NULL)) != NULL)
		add_path(out, tool->kind, HF_STR_NONE,
		    hf_json_type(e) == HF_J_STR ? hf_json_str(e) :
		    first_of(e, path_keys));
}

static void
add_move(struct hf_actions *out, const struct hf_tool *tool,
    const struct hf_jval *args)
{
	struct hf_str from = hf_json_str(argument(args, tool->key));
	struct hf_str to = hf_json_str(argument(args, tool->key2));
	struct hf_action *a;

	if (from.n > 0 && to.n > 0 &&
	    (a = add(out, HF_ACT_MOVE)) != NULL) {
		a->path = from;
		a->path2 = to;
	}
}

/* ---- commands ---- */

/* Is the list a shell with a script: bash -lc SCRIPT? Then the script. */
static struct hf_str
shell_script(const struct hf_jval *argv)
{
	static const char *const shells[] = { "sh", "bash", "zsh", "dash" };
	struct hf_str shell = hf_json_str(hf_json_elem(argv, 0));
	struct hf_str flag = hf_json_str(hf_json_elem(argv, 1));
	size_t i;

	if (hf_json_size(argv) != 3 ||
	    !(hf_str_is(flag, "-c") || hf_str_is(flag, "-lc")))
		return HF_STR_NONE;
	for (i = shell.n; i > 0 && shell.s[i - 1] != '/'; i--)
		;
	shell = hf_strn(shell.s + i, shell.n - i);
	for (i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (hf_str_is(shell, shells[i]))
			return hf_json_str(hf_json_elem(argv, 2));
	return HF_STR_NONE;
}

/* A command's text; a list is put together as a shell would take it. */
static struct hf_str
command_text(struct hf_actions *out, const struct hf_jval *v)
{
	struct hf_buf text = HF_BUF_INIT;
	const struct hf_jval *e;
	struct hf_jiter it;
	struct hf_str s;

	if (hf_json_type(v) != HF_J_ARR)
		return hf_json_str(v);
	if ((s = shell_script(v)).s != NULL)
		return s;
	hf_json_iter(&it, v);
	while ((e = hf_json_next(&it, NULL)) != NULL) {
		if (text.len > 0)
			hf_buf_putc(&text, ' ');
		s = hf_json_str(e);
		if (find_patch(s) != SIZE_MAX)
			hf_buf_str(&text, s);
		else
			hf_text_shell(&text, s);
	}
	s = hf_strn(hf_arena_copy(&out->arena, hf_buf_cstr(&text), text.len),
	    text.len);
	hf_buf_release(&text);
	return s;
}

/* "cd DIR && …" in front of a patch: where its files are. */
static struct hf_str
changed_dir(struct hf_str command)
{
	size_t end;
	char quote;

	command = hf_str_trim(command);
	if (!hf_str_starts(command, "cd "))
		return HF_STR_NONE;
	end = hf_str_find(command, HF_STR("&&"), 0);
	if (end == SIZE_MAX)
		return HF_STR_NONE;
	command = hf_str_trim(hf_strn(command.s + 3, end - 3));
	if (command.n >= 2 && ((quote = command.s[0]) == '\'' ||
	    quote == '"') && command.s[command.n - 1] == quote)
		return hf_strn(command.s + 1, command.n - 2);
	return hf_str_find(command, HF_STR(" "), 0) == SIZE_MAX ? command :
	    HF_STR_NONE;
}

/* A patch on a line of its own after apply_patch, as a here document or an
 * argument, is what the command does to files. */
static void
add_run(struct hf_actions *out, const struct hf_tool *tool,
    const struct hf_jval *args)
{
	static const char *const cwd_keys[] = { "workdir", "cwd",
	    "working_directory", "dir_path", "directory", NULL };
	struct hf_str command, cwd, before, into;
	struct hf_action *a;
	size_t at;

	command = command_text(out, argument(args, tool->key));
	if (hf_str_trim(command).n == 0 ||
	    (a = add(out, HF_ACT_RUN)) == NULL)
		return;
	cwd = first_of(args, cwd_keys);
	a->command = command;
	a->cwd = cwd;
	at = find_patch(command);
	before = hf_strn(command.s, at != SIZE_MAX ? at : 0);
	if (hf_str_find(before, HF_STR("apply_patch"), 0) == SIZE_MAX)
		return;
	into = changed_dir(before);
	add_patch(out, command, at, into.n > 0 ? under(out, cwd, into) : cwd);
}

/* ---- to-dos and questions ---- */

static void
add_todo(struct hf_actions *out, const struct hf_tool *tool,
    const struct hf_jval *args)
{
	struct hf_action *a;
	struct hf_str item = scalar(out, argument(args, tool->key));

	if (item.n == 0 || (a = add(out, tool->kind)) == NULL)
		return;
	a->item = item;
	a->status = hf_json_str(tool->key2 != NULL ?
	    argument(args, tool->key2) : hf_json_get(args, "status"));
}

static void
add_items(struct hf_actions *out, const struct hf_tool *tool,
    const struct hf_jval *args)
{
	const struct hf_jval *v = argument(args, tool->key);
	struct hf_action *a;

	if (v != NULL && (a = add(out, tool->kind)) != NULL)
		a->items = v;
}

/* ---- by the table ---- */

static const struct hf_tool *
find_tool(const struct hf_agent *ag, struct hf_str name)
{
	const struct hf_tool *t;

	if (ag == NULL)
		return NULL;
	for (t = ag->tools; t != NULL && t->name != NULL; t++)
		if (hf_str_ieq(name, hf_str(t->name)))
			return t;
	return NULL;
}

void
hf_actions_of(const struct hf_agent *ag, const struct hf_block *call,
    struct hf_actions *out)
{
	const struct hf_tool *tool = find_tool(ag, call->name);

	hf_arena_clear(&out->arena);
	out->n = 0;
	if (tool == NULL)
		return;
	switch (tool->kind) {
	case HF_ACT_READ:
	case HF_ACT_WRITE:
	case HF_ACT_EDIT:
	case HF_ACT_DELETE:
		add_files(out, tool, argument(call->args, tool->key));
		break;
	case HF_ACT_MOVE:
		add_move(out, tool, call->args);
		break;
	case HF_ACT_RUN:
		add_run(out, tool, call->args);
		break;
	case HF_ACT_TODO_ADD:
	case HF_ACT_TODO_SET:
		add_todo(out, tool, call->args);
		break;
	case HF_ACT_TODOS:
	case HF_ACT_ASK:
		add_items(out, tool, call->args);
		break;
	case HF_ACT_SPAWN:
	case HF_ACT_OTHER:
		add(out, tool->kind);
		break;
	}
}

void
hf_actions_release(struct hf_actions *as)
{
	hf_arena_clear(&as->arena);
	as->n = 0;
}
