/*
 * What all agents share: the table, titles, blocks, and what a tool call
 * does.
 */
#include <stdlib.h>

#include "agent/agent.h"
#include "check.h"

static bool
is(struct hf_str a, const char *text)
{
	return hf_str_is(a, text);
}

/* ---- the table ---- */

static void
test_table(void)
{
	const struct hf_agent *const *all;
	size_t i, n;

	all = hf_agents(&n);
	CHECK(n > 0);
	for (i = 0; i < n; i++) {
		CHECK(hf_agent_by_name(hf_str(all[i]->name)) == all[i]);
		CHECK(all[i]->row != NULL && all[i]->blocks != NULL &&
		    all[i]->recognise != NULL && all[i]->draft != NULL &&
		    all[i]->resume != NULL && all[i]->new_id != NULL);
	}
	CHECK(hf_agent_by_name(HF_STR("claud")) == NULL);
	CHECK(hf_agent_by_name(HF_STR_NONE) == NULL);
}

/* ---- titles ---- */

static bool
title_from(const char *prompt, const char *want)
{
	struct hf_session s;
	bool same;

	hf_session_init(&s);
	hf_session_title_prompt(&s, hf_str(prompt));
	same = check_str(s.title, want, __FILE__, __LINE__, "the title");
	hf_session_release(&s);
	return same;
}

static bool
successor(const char *title, const char *want)
{
	char *got = hf_successor_title(hf_str(title));
	bool same = check_str(got, want, __FILE__, __LINE__,
	    "the successor's title");

	free(got);
	return same;
}

static void
test_titles(void)
{
	char longest[101], cut[81];
	struct hf_session s;

	title_from("fix it", "fix it");
	title_from("\n\n  fix\tthe  parser \r\nnow", "fix the parser");
	title_from(" \n ", NULL);
	title_from("a\x1b[2Jb", "a [2Jb");
	memset(longest, 'x', 100);
	longest[100] = '\0';
	memset(cut, 'x', 79);
	memcpy(cut + 79, "", 1);
	hf_session_init(&s);
	hf_session_title_prompt(&s, hf_str(longest));
	CHECK_INT(hf_utf8_count(hf_str(s.title)), 80);
	CHECK(hf_str_starts(hf_str(s.title), cut));
	CHECK(hf_str_ends(hf_str(s.title), "…"));
	hf_session_title_prompt(&s, HF_STR("another"));
	CHECK(hf_str_starts(hf_str(s.title), "x"));
	hf_session_release(&s);
}

static void
test_successor_titles(void)
{
	successor("parser work", "parser work (handoff)");
	successor("parser work (handoff)", "parser work (handoff 2)");
	successor("parser work (handoff 9)", "parser work (handoff 10)");
	successor("x (handoff later)", "x (handoff later) (handoff)");
	successor("(handoff) x", "(handoff) x (handoff)");
	successor(NULL, "session (handoff)");
	successor("  ", "session (handoff)");
	successor("a\nb\x1b", "a b (handoff)");
	/* Never what Claude Code takes for a URL. */
	successor("handoff: x", "handoff - x (handoff)");
	successor("file:///x", "file -///x (handoff)");
	successor("git+ssh:x", "git+ssh -x (handoff)");
	successor("12:30 meeting", "12:30 meeting (handoff)");
	successor("fix a: b", "fix a: b (handoff)");
}

/* ---- blocks ---- */

static void
test_blocks(void)
{
	struct hf_json *j = hf_json_parse(HF_STR("[\"s\",{\"type\":\"text\","
	    "\"text\":\"a\"},{\"type\":\"image\",\"data\":\"AA\"},"
	    "{\"text\":\"\"},7,{\"text\":\"b\"}]"), 0, NULL, NULL, NULL);
	const struct hf_jval *v = hf_json_root(j);
	struct hf_blocks bs;
	struct hf_argv a;
	size_t i;

	hf_blocks_init(&bs);
	CHECK(is(hf_blocks_text(&bs, v), "s\na\n[image]\nb"));
	CHECK(is(hf_blocks_text(&bs, hf_json_elem(v, 0)), "s"));
	CHECK(hf_blocks_text(&bs, hf_json_elem(v, 4)).s == NULL);
	for (i = 0; i < 20; i++)
		CHECK_INT(hf_blocks_add(&bs, HF_BLOCK_RESULT)->exit,
		    HF_EXIT_UNKNOWN);
	CHECK_INT(bs.n, 20);
	hf_blocks_clear(&bs);
	CHECK_INT(bs.n, 0);
	hf_blocks_release(&bs);
	hf_json_free(j);
	memset(&a, 0, sizeof(a));
	hf_argv_add(&a, "x");
	CHECK(a.v[1] == NULL);
	hf_argv_release(&a);
	CHECK_INT(a.n, 0);
}

/* ---- actions ---- */

static const struct hf_tool tools[] = {
	{ "Read", HF_ACT_READ, "path|file", NULL },
	{ "Write", HF_ACT_WRITE, "path", NULL },
	{ "Edit", HF_ACT_EDIT, "path|input", NULL },
	{ "Rename", HF_ACT_MOVE, "from", "to" },
	{ "Bash", HF_ACT_RUN, "command", NULL },
	{ "Todos", HF_ACT_TODOS, "todos", NULL },
	{ "Add", HF_ACT_TODO_ADD, "subject", NULL },
	{ "Set", HF_ACT_TODO_SET, "id", "status" },
	{ "Ask", HF_ACT_ASK, "questions", NULL },
	{ "Agent", HF_ACT_SPAWN, "prompt", NULL },
	{ NULL, HF_ACT_OTHER, NULL, NULL }
};
static const struct hf_agent agent = { .name = "toy", .tools = tools };
static struct hf_actions acts;
static struct hf_json *args;

/* What a call does; how many actions that is. */
static size_t
of(const char *name, const char *arguments)
{
	struct hf_block call = { .kind = HF_BLOCK_CALL, .name = hf_str(name) };

	hf_json_free(args);
	args = hf_json_parse(hf_str(arguments), HF_JSON_RAW, NULL, NULL,
	    NULL);
	call.args = hf_json_root(args);
	hf_actions_of(&agent, &call, &acts);
	return acts.n;
}

static bool
does(size_t i, enum hf_action_kind kind, const char *path, const char *to)
{
	const struct hf_action *a = &acts.a[i];
	bool good = i < acts.n && a->kind == kind && is(a->path, path) &&
	    (to == NULL ? a->path2.s == NULL : is(a->path2, to));

	if (!good && i < acts.n)
		printf("# kind %d path %.*s\n", (int)a->kind,
		    (int)a->path.n, a->path.n > 0 ? a->path.s : "");
	return good;
}

static void
test_files(void)
{
	CHECK_INT(of("read", "{\"file\":\"/a\"}"), 1);
	CHECK(does(0, HF_ACT_READ, "/a", NULL));
	CHECK_INT(of("Read", "{\"path\":[\"/a\",{\"path\":\"b\"},7]}"), 2);
	CHECK(does(0, HF_ACT_READ, "/a", NULL) &&
	    does(1, HF_ACT_READ, "b", NULL));
	CHECK_INT(of("Write", "{\"path\":\" /a \"}"), 1);
	CHECK(does(0, HF_ACT_WRITE, "/a", NULL));
	CHECK_INT(of("Rename", "{\"from\":\"a\",\"to\":\"b\"}"), 1);
	CHECK(does(0, HF_ACT_MOVE, "a", "b"));
	CHECK_INT(of("Rename", "{\"from\":\"a\"}"), 0);
	CHECK_INT(of("Write", "{}"), 0);
	CHECK_INT(of("Write", "{\"path\":\"\"}"), 0);
	CHECK_INT(of("Write", "{\"path\":{\"x\":1}}"), 0);
	CHECK_INT(of("Other", "{\"path\":\"/a\"}"), 0);
}

#define PATCH "*** Begin Patch\\n*** Add File: a.c\\n+int a;\\n" \
	"*** Update File: b.c\\n@@\\n-x\\n+y\\n" \
	"*** Update File: c.c\\n*** Move to: d/c.c\\n@@\\n+z\\n" \
	"*** Delete File: e.c\\n*** End Patch"

static void
test_patch(void)
{
	CHECK_INT(of("Edit", "{\"input\":\"" PATCH "\"}"), 4);
	CHECK(does(0, HF_ACT_WRITE, "a.c", NULL));
	CHECK(does(1, HF_ACT_EDIT, "b.c", NULL));
	CHECK(does(2, HF_ACT_MOVE, "c.c", "d/c.c"));
	CHECK(does(3, HF_ACT_DELETE, "e.c", NULL));
	CHECK_INT(of("Edit", "\"" PATCH "\""), 4);	/* free-form */
	CHECK_INT(of("Bash", "{\"command\":\"apply_patch <<'EOF'\\n" PATCH
	    "\\nEOF\"}"), 5);
	CHECK_INT(acts.a[0].kind, HF_ACT_RUN);
	CHECK(does(1, HF_ACT_WRITE, "a.c", NULL));
	CHECK_INT(of("Bash", "{\"command\":[\"apply_patch\",\"" PATCH
	    "\"]}"), 5);
	CHECK_INT(of("Bash", "{\"command\":[\"bash\",\"-lc\","
	    "\"cd 'src dir' && apply_patch <<'EOF'\\n" PATCH "\\nEOF\"],"
	    "\"workdir\":\"/w\"}"), 5);
	CHECK(does(1, HF_ACT_WRITE, "/w/src dir/a.c", NULL));
	CHECK(does(3, HF_ACT_MOVE, "/w/src dir/c.c", "/w/src dir/d/c.c"));
	/* What only quotes a patch, or what stands behind its end. */
	CHECK_INT(of("Bash", "{\"command\":\"cat <<'EOF'\\n" PATCH "\"}"), 1);
	CHECK_INT(of("Edit", "{\"input\":\"" PATCH
	    "\\n*** Add File: no.c\\n\"}"), 4);
}

static void
test_commands(void)
{
	CHECK_INT(of("Bash", "{\"command\":\"make check\",\"cwd\":\"/w\"}"),
	    1);
	CHECK(is(acts.a[0].command, "make check") &&
	    is(acts.a[0].cwd, "/w"));
	CHECK_INT(of("Bash", "{\"command\":[\"/bin/bash\",\"-lc\","
	    "\"make x\"]}"), 1);
	CHECK(is(acts.a[0].command, "make x"));
	CHECK_INT(of("Bash", "{\"command\":[\"grep\",\"a b\",\"c\"]}"), 1);
	CHECK(is(acts.a[0].command, "grep 'a b' c"));
	CHECK_INT(of("Bash", "{\"command\":\"  \"}"), 0);
	CHECK_INT(of("Bash", "{\"command\":7}"), 0);
}

static void
test_todos(void)
{
	CHECK_INT(of("Todos", "{\"todos\":[{\"content\":\"x\"}]}"), 1);
	CHECK_INT(hf_json_size(acts.a[0].items), 1);
	CHECK_INT(of("Add", "{\"subject\":\"x\",\"status\":\"pending\"}"), 1);
	CHECK(is(acts.a[0].item, "x") && is(acts.a[0].status, "pending"));
	CHECK_INT(of("Set", "{\"id\":3,\"status\":\"completed\"}"), 1);
	CHECK(is(acts.a[0].item, "3") && is(acts.a[0].status, "completed"));
	CHECK_INT(of("Ask", "{\"questions\":[{\"question\":\"y?\"}]}"), 1);
	CHECK_INT(acts.a[0].kind, HF_ACT_ASK);
	CHECK_INT(of("Agent", "{\"prompt\":\"x\"}"), 1);
	CHECK_INT(acts.a[0].kind, HF_ACT_SPAWN);
}

/* No more than there is room for, whatever the patch says. */
static void
test_many(void)
{
	struct hf_buf text = HF_BUF_INIT;

	hf_buf_puts(&text, "{\"input\":\"*** Begin Patch\\n");
	for (int i = 0; i < 2 * HF_ACTIONS_MAX; i++)
		hf_buf_printf(&text, "*** Add File: f%d\\n", i);
	hf_buf_puts(&text, "\"}");
	CHECK_INT(of("Edit", hf_buf_cstr(&text)), HF_ACTIONS_MAX);
	hf_buf_release(&text);
}

int
main(void)
{
	test_table();
	test_titles();
	test_successor_titles();
	test_blocks();
	test_files();
	test_patch();
	test_commands();
	test_todos();
	test_many();
	hf_json_free(args);
	hf_actions_release(&acts);
	return check_done();
}
