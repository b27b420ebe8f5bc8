/*
 * pi and oh-my-pi: rows, blocks and estimates of entries, whose a file is,
 * where files are, and what a successor looks like. The figures of whole
 * recorded sessions are checked by test_reference.
 */
#include "agent/pi.h"
#include "base/clock.h"
#include "check.h"
#include "scratch.h"

#define PI	(&hf_agent_pi)
#define OMP	(&hf_agent_omp)

/* ---- rows ---- */

enum { ROWS = 32 };

/* The rows of the last text, with copies of what the next one overwrites. */
static struct {
	struct hf_session s;
	struct hf_scan sc;
	struct hf_json *json[ROWS];
	struct hf_row row[ROWS];
	char id[ROWS][16], kept[ROWS][16];
	size_t n;
	struct hf_blocks blocks;
} got;

static void
emit(struct hf_scan *sc, const struct hf_row *row)
{
	(void)sc;
	got.row[got.n] = *row;
	snprintf(got.id[got.n], sizeof(got.id[0]), "%.*s", (int)row->id.n,
	    row->id.n > 0 ? row->id.s : "");
	snprintf(got.kept[got.n], sizeof(got.kept[0]), "%.*s",
	    (int)row->kept.n, row->kept.n > 0 ? row->kept.s : "");
	got.n++;
}

static void
forget(void)
{
	while (got.n > 0)
		hf_json_free(got.json[--got.n]);
	free(got.sc.own);
	hf_arena_clear(&got.sc.arena);
	hf_session_release(&got.s);
	hf_blocks_release(&got.blocks);
}

/* Translates the lines of text; the rows are in got. */
static void
feed(const struct hf_agent *agent, const char *text)
{
	struct hf_str line, rest = hf_str(text);
	struct hf_record rec;
	struct hf_err err;

	forget();
	memset(&got.sc, 0, sizeof(got.sc));
	got.s.agent = agent;
	got.sc.session = &got.s;
	got.sc.own = hf_calloc(1, agent->own_size);
	got.sc.emit = emit;
	hf_arena_init(&got.sc.arena);
	while (rest.n > 0 && got.n < ROWS) {
		line = hf_str_line(rest, &rest);
		memset(&rec, 0, sizeof(rec));
		rec.raw = line;
		got.json[got.n] = hf_json_parse(line, HF_JSON_RAW, NULL,
		    NULL, &err);
		if (!CHECK(got.json[got.n] != NULL)) {
			printf("# %s\n", err.msg);
			return;
		}
		rec.v = hf_json_root(got.json[got.n]);
		agent->row(&got.sc, &rec);
	}
}

static const struct hf_blocks *
blocks(size_t i)
{
	hf_blocks_clear(&got.blocks);
	hf_pi_blocks(&got.row[i], &got.blocks);
	return &got.blocks;
}

static bool
text_is(struct hf_str a, const char *want)
{
	bool same = hf_str_is(a, want);

	if (!same)
		printf("# got \"%.*s\"\n", (int)a.n, a.n > 0 ? a.s : "");
	return same;
}

#define HEAD(more)	"{\"type\":\"session\",\"id\":\"S\",\"cwd\":\"/w\"" \
	more "}\n"
#define V3	HEAD(",\"version\":3")
#define AT	",\"timestamp\":\"2026-01-15T09:00:00.000Z\""
#define MSG(id, up, body) "{\"type\":\"message\",\"id\":\"" id \
	"\",\"parentId\":\"" up "\"" AT ",\"message\":{" body "}}\n"
#define USER(id, up, text) MSG(id, up, "\"role\":\"user\",\"content\":" \
	"[{\"type\":\"text\",\"text\":\"" text "\"}]")
#define USAGE(i, o, r, w, t) "\"usage\":{\"input\":" #i ",\"output\":" #o \
	",\"cacheRead\":" #r ",\"cacheWrite\":" #w ",\"totalTokens\":" #t "}"
#define SAID(id, up, stop, usage) MSG(id, up, "\"role\":\"assistant\"," \
	"\"content\":[{\"type\":\"text\",\"text\":\"ok\"}],\"provider\":" \
	"\"p\",\"model\":\"m-" id "\",\"responseId\":\"r-" id "\"," usage \
	",\"stopReason\":\"" stop "\"")

static void
test_tree(void)
{
	feed(PI, V3 USER("a", "", "Go.") SAID("b", "a", "stop",
	    USAGE(1, 2, 3, 4, 10)) "{\"type\":\"label\",\"id\":\"c\","
	    "\"parentId\":\"b\",\"targetId\":\"a\"}\n");
	CHECK_INT(got.n, 4);
	CHECK(got.sc.recognised && !got.sc.unsupported);
	CHECK_STR(got.s.id, "S");
	CHECK_STR(got.s.cwd, "/w");
	CHECK_STR(got.s.title, "Go.");
	CHECK(!got.s.titled);
	CHECK(!(got.row[0].flags & HF_ROW_CHAIN));
	CHECK_INT(got.row[1].kind, HF_ROW_PROMPT);
	CHECK_INT(got.row[1].parent, HF_PARENT_ROOT);
	CHECK_INT(got.row[1].turn, HF_TURN_OPEN);
	CHECK_INT(got.row[1].time, hf_clock_parse(hf_str(
	    "2026-01-15T09:00:00.000Z")));
	CHECK_INT(got.row[2].kind, HF_ROW_ASSISTANT);
	CHECK_INT(got.row[2].parent, HF_PARENT_ID);
	CHECK(text_is(got.row[2].parent_id, "a"));
	CHECK(text_is(got.row[2].call, "r-b"));
	CHECK_INT(got.row[2].turn, HF_TURN_CLOSED);
	CHECK_INT(got.row[3].kind, HF_ROW_OTHER);
	CHECK(got.row[3].flags & HF_ROW_CHAIN);
}

static void
test_line(void)
{
	/* Version 1: no ids; a kept entry is named by its number, the
	 * header being 0. */
	feed(PI, HEAD("") "{\"type\":\"message\",\"message\":{\"role\":"
	    "\"user\",\"content\":\"One.\"}}\n{\"type\":\"compaction\","
	    "\"summary\":\"s\",\"firstKeptEntryIndex\":1}\n"
	    "{\"type\":\"compaction\",\"summary\":\"s\","
	    "\"firstKeptEntryIndex\":3}\n");
	CHECK_INT(got.n, 4);
	CHECK_INT(got.row[1].parent, HF_PARENT_PREV);
	CHECK_STR(got.id[1], "#1");
	CHECK_INT(got.row[2].kind, HF_ROW_COMPACTION);
	CHECK_STR(got.kept[2], "#1");
	CHECK_STR(got.kept[3], "");	/* itself */

	/* The ids of a version 1 file are replaced by the client: a line. */
	feed(PI, HEAD("") USER("a", "zz", "One."));
	CHECK_INT(got.row[1].parent, HF_PARENT_PREV);

	feed(PI, HEAD(",\"version\":4") USER("a", "", "One."));
	CHECK(got.sc.unsupported);
	feed(PI, HEAD(",\"version\":2") MSG("a", "", "\"role\":"
	    "\"hookMessage\",\"customType\":\"x\",\"content\":\"c\""));
	CHECK(!got.sc.unsupported);
	CHECK_INT(got.row[1].kind, HF_ROW_INJECTED);
	CHECK_INT(got.row[1].turn, HF_TURN_NONE);
}

static void
test_usage(void)
{
	feed(PI, V3 SAID("a", "", "stop", USAGE(1, 2, 3, 4, 100))
	    SAID("b", "a", "toolUse", USAGE(1, 2, 3, 4, 0))
	    SAID("c", "b", "stop", USAGE(0, 0, 0, 0, 0))
	    SAID("d", "c", "error", USAGE(1, 2, 3, 4, 9))
	    SAID("e", "d", "aborted", USAGE(1, 2, 3, 4, 9))
	    SAID("f", "e", "stop", USAGE(-5, 2.7, 3, 4, -1)));
	CHECK_INT(got.row[1].context, 100);
	CHECK_INT(got.row[1].usage.input, 1);
	CHECK_INT(got.row[1].usage.output, 2);
	CHECK_INT(got.row[1].usage.cache_read, 3);
	CHECK_INT(got.row[1].usage.cache_write, 4);
	CHECK_INT(got.row[2].context, 10);
	CHECK_INT(got.row[2].turn, HF_TURN_OPEN);
	CHECK(!got.row[3].has_usage);
	CHECK_INT(got.row[3].context, -1);
	CHECK(got.row[4].flags & HF_ROW_ERROR);
	CHECK(!got.row[4].has_usage);
	CHECK_INT(got.row[4].turn, HF_TURN_CLOSED);
	CHECK(got.row[5].flags & HF_ROW_ERROR);
	CHECK_INT(got.row[5].turn, HF_TURN_INTERRUPTED);
	CHECK_INT(got.row[6].context, 9);	/* 0 + 2 + 3 + 4 */
	CHECK_STR(got.s.model, "m-f");
	CHECK_STR(got.s.provider, "p");

#define SIDE	"\"usage\":{\"input\":10,\"output\":20,\"totalTokens\":50," \
	"\"orchestration\":{\"input\":5,\"output\":6,\"cacheRead\":7}"
	feed(OMP, V3 SAID("a", "", "stop", SIDE "}")
	    SAID("b", "a", "stop", SIDE ",\"contextTokens\":44}")
	    "{\"type\":\"model_usage\",\"id\":\"c\",\"parentId\":\"b\","
	    USAGE(7, 0, 0, 0, 7) "}\n");
	CHECK_INT(got.row[1].context, 32);
	CHECK_INT(got.row[2].context, 44);
	CHECK_INT(got.row[3].kind, HF_ROW_OTHER);
	CHECK(got.row[3].has_usage);
	CHECK_INT(got.row[3].context, -1);
	CHECK_INT(got.row[3].usage.input, 7);
	feed(PI, V3 SAID("b", "a", "stop", SIDE ",\"contextTokens\":44}"));
	CHECK_INT(got.row[1].context, 50);
}

/* The model of the last good answer; what was chosen, until there is one. */
static void
test_model(void)
{
	feed(PI, V3 "{\"type\":\"model_change\",\"id\":\"a\",\"parentId\":"
	    "null,\"provider\":\"q\",\"modelId\":\"n\"}\n");
	CHECK_STR(got.s.model, "n");
	CHECK_STR(got.s.provider, "q");
	feed(OMP, V3 "{\"type\":\"model_change\",\"id\":\"a\",\"parentId\":"
	    "null,\"model\":\"q/x/n\"}\n{\"type\":\"model_change\",\"id\":"
	    "\"b\",\"parentId\":\"a\",\"model\":\"q/tiny\",\"role\":"
	    "\"smol\"}\n");
	CHECK_STR(got.s.model, "x/n");
	CHECK_STR(got.s.provider, "q");
	feed(PI, V3 SAID("a", "", "stop", USAGE(1, 1, 1, 1, 4))
	    SAID("b", "a", "error", USAGE(1, 1, 1, 1, 4)));
	CHECK_STR(got.s.model, "m-a");
}

static void
test_compaction(void)
{
	feed(PI, V3 USER("a", "", "Go.") "{\"type\":\"compaction\",\"id\":"
	    "\"b\",\"parentId\":\"a\",\"summary\":\"Sum.\","
	    "\"firstKeptEntryId\":\"a\",\"tokensBefore\":9,"
	    "\"tokensAfter\":5}\n{\"type\":\"compaction\",\"id\":\"c\","
	    "\"parentId\":\"b\",\"summary\":\"Sum.\",\"firstKeptEntryId\":"
	    "\"c\"}\n{\"type\":\"branch_summary\",\"id\":\"d\","
	    "\"parentId\":\"c\",\"summary\":\"Other.\"}\n");
	CHECK_INT(got.row[2].kind, HF_ROW_COMPACTION);
	CHECK(text_is(got.row[2].kept, "a"));
	CHECK_INT(got.row[2].context, -1);	/* with the system prompt */
	CHECK_INT(got.row[2].turn, HF_TURN_NONE);
	CHECK_INT(got.row[3].kept.n, 0);
	CHECK_INT(got.row[4].kind, HF_ROW_SUMMARY);
	CHECK_INT(blocks(2)->n, 1);
	CHECK(text_is(got.blocks.b[0].text, "Sum."));
	CHECK_INT(blocks(4)->n, 1);
	CHECK(text_is(got.blocks.b[0].text, "Other."));
	feed(OMP, V3 "{\"type\":\"reset_boundary\",\"id\":\"a\","
	    "\"parentId\":null}\n");
	CHECK_INT(got.row[1].kind, HF_ROW_RESET);
}

static void
test_roles(void)
{
	feed(OMP, V3 USER("a", "", "<handoff-context>\\nx")
	    SAID("b", "a", "stop", USAGE(0, 0, 0, 0, 0))
	    SAID("c", "b", "stop", USAGE(0, 0, 0, 0, 0))
	    MSG("d", "c", "\"role\":\"user\",\"content\":\"Hm\","
	    "\"synthetic\":true")
	    MSG("e", "d", "\"role\":\"user\",\"content\":\"Hm\","
	    "\"attribution\":\"agent\"")
	    MSG("f", "e", "\"role\":\"developer\",\"content\":\"Hm\"")
	    MSG("g", "f", "\"role\":\"bashExecution\",\"command\":\"ls\","
	    "\"output\":\"x\",\"exitCode\":2")
	    MSG("h", "g", "\"role\":\"bashExecution\",\"command\":\"ls\","
	    "\"output\":\"x\",\"excludeFromContext\":true")
	    "{\"type\":\"custom_message\",\"id\":\"i\",\"parentId\":\"h\","
	    "\"customType\":\"handoff\",\"content\":\"B\"}\n"
	    "{\"type\":\"custom_message\",\"id\":\"j\",\"parentId\":\"i\","
	    "\"customType\":\"skill-prompt\",\"attribution\":\"user\","
	    "\"content\":\"long\",\"details\":{\"prompt\":\"/skill:x\"}}\n"
	    "{\"type\":\"custom_message\",\"id\":\"k\",\"parentId\":\"j\","
	    "\"customType\":\"note\",\"content\":\"N\"}\n");
	CHECK_INT(got.row[1].kind, HF_ROW_SEED);
	CHECK(got.row[2].flags & HF_ROW_SYNTHETIC);
	CHECK(!(got.row[3].flags & HF_ROW_SYNTHETIC));
	CHECK_INT(got.row[4].kind, HF_ROW_INJECTED);
	CHECK_INT(got.row[5].kind, HF_ROW_INJECTED);
	CHECK_INT(got.row[6].kind, HF_ROW_INJECTED);
	CHECK_INT(got.row[7].kind, HF_ROW_RESULT);
	CHECK_INT(got.row[7].turn, HF_TURN_NONE);
	CHECK_INT(got.row[8].kind, HF_ROW_INJECTED);
	CHECK_INT(got.row[9].kind, HF_ROW_SEED);
	CHECK_INT(got.row[10].kind, HF_ROW_PROMPT);
	CHECK_INT(got.row[11].kind, HF_ROW_INJECTED);
	CHECK_INT(blocks(10)->n, 1);
	CHECK(text_is(got.blocks.b[0].text, "/skill:x"));
	if (CHECK_INT(blocks(7)->n, 2)) {
		CHECK_INT(got.blocks.b[0].kind, HF_BLOCK_CALL);
		CHECK(text_is(hf_json_get_str(got.blocks.b[0].args,
		    "command"), "ls"));
		CHECK_INT(got.blocks.b[1].exit, 2);
		CHECK(got.blocks.b[1].error);
	}
}

#define CUSTOM(id, up, kind, data) "{\"type\":\"custom\",\"id\":\"" id \
	"\",\"parentId\":\"" up "\",\"customType\":\"" kind "\"," \
	"\"data\":{" data "}}\n"

static void
test_session(void)
{
	feed(OMP, "{\"type\":\"title\",\"v\":1,\"title\":\"Slot\",\"pad\":"
	    "\"xx\"}\n" HEAD(",\"version\":3,\"title\":\"Old\","
	    "\"parentSession\":\"P\"")
	    "{\"type\":\"title_change\",\"id\":\"a\",\"parentId\":null,"
	    "\"title\":\"Older\"}\n"
	    "{\"type\":\"session_init\",\"id\":\"b\",\"parentId\":\"a\"}\n"
	    CUSTOM("c", "b", "tool_execution_start",
	    "\"toolCallId\":\"t\",\"toolName\":\"bash\",\"args\":{}")
	    CUSTOM("d", "c", "session_exit", "\"kind\":\"normal\"")
	    CUSTOM("e", "d", "handoff", "\"parentSession\":\"Q\""));
	CHECK_STR(got.s.title, "Slot");
	CHECK(got.s.titled);
	CHECK_STR(got.s.parent, "P");
	CHECK(got.s.subagent);
	CHECK_INT(got.row[4].turn, HF_TURN_OPEN);
	if (CHECK_INT(blocks(4)->n, 1)) {
		CHECK(text_is(got.blocks.b[0].name, "bash"));
		CHECK(text_is(got.blocks.b[0].id, "t"));
	}
	CHECK_INT(got.row[5].turn, HF_TURN_EXIT);
	feed(PI, V3 CUSTOM("a", "", "handoff", "\"parentSession\":\"Q\"")
	    "{\"type\":\"session_info\",\"id\":\"b\",\"parentId\":\"a\","
	    "\"name\":\"One\"}\n");
	CHECK_STR(got.s.parent, "Q");
	CHECK_STR(got.s.title, "One");
	feed(PI, V3 "{\"type\":\"session_info\",\"id\":\"b\",\"parentId\":"
	    "\"a\",\"name\":\"One\"}\n{\"type\":\"session_info\",\"id\":"
	    "\"c\",\"parentId\":\"b\",\"name\":\" \"}\n");
	CHECK(got.s.title == NULL && !got.s.titled);
}

/* ---- blocks ---- */

#define CALL(id, name, args) MSG(id, "", "\"role\":\"assistant\"," \
	"\"content\":[{\"type\":\"thinking\",\"thinking\":\"T\"},{\"type\":" \
	"\"toolCall\",\"id\":\"c1\",\"name\":\"" name "\",\"arguments\":" \
	args "}],\"stopReason\":\"toolUse\"")
#define RESULT(name, text, more) MSG("r", "", "\"role\":\"toolResult\"," \
	"\"toolCallId\":\"c1\",\"toolName\":\"" name "\",\"content\":" \
	"[{\"type\":\"text\",\"text\":\"" text "\"}]" more)

static void
test_blocks(void)
{
	feed(PI, V3 CALL("a", "bash", "{\"command\":\"make\"}")
	    RESULT("bash", "no\\n\\nCommand exited with code 2",
	    ",\"isError\":true")
	    RESULT("bash", "fine", ",\"isError\":false")
	    RESULT("bash", "no", ",\"isError\":true")
	    RESULT("read", "x", ",\"isError\":false")
	    MSG("u", "", "\"role\":\"user\",\"content\":[{\"type\":\"text\","
	    "\"text\":\"see\"},{\"type\":\"image\",\"data\":\"AAAA\","
	    "\"mimeType\":\"image/png\"}]"));
	if (CHECK_INT(blocks(1)->n, 2)) {
		CHECK_INT(got.blocks.b[0].kind, HF_BLOCK_THINKING);
		CHECK(text_is(got.blocks.b[1].name, "bash"));
		CHECK(text_is(hf_json_get_str(got.blocks.b[1].args,
		    "command"), "make"));
	}
	CHECK_INT(blocks(2)->b[0].exit, 2);
	CHECK(got.blocks.b[0].error);
	CHECK(text_is(got.blocks.b[0].id, "c1"));
	CHECK_INT(blocks(3)->b[0].exit, 0);
	CHECK_INT(blocks(4)->b[0].exit, HF_EXIT_UNKNOWN);
	CHECK(got.blocks.b[0].error);
	CHECK_INT(blocks(5)->b[0].exit, HF_EXIT_UNKNOWN);
	if (CHECK_INT(blocks(6)->n, 2)) {
		CHECK_INT(got.blocks.b[1].kind, HF_BLOCK_IMAGE);
		CHECK(text_is(got.blocks.b[1].text, "[image image/png]"));
	}
}

/* What the call in row i does; out is the caller's. */
static void
actions(size_t i, struct hf_actions *out)
{
	const struct hf_blocks *bs = blocks(i);

	hf_actions_of(got.s.agent, &bs->b[bs->n - 1], out);
}

static void
test_omp_tools(void)
{
	static struct hf_actions as;

	feed(OMP, V3 CALL("a", "edit", "{\"input\":\"[src/a.c#1a2b]\\n"
	    "PUT 3.=3:\\n+x\\n[b.c#00ff]\\nREM\\n\"}")
	    CALL("b", "edit", "{\"path\":\"x\",\"edits\":[]}")
	    CALL("c", "todo", "{\"op\":\"init\",\"list\":[{\"phase\":\"P\","
	    "\"items\":[\"one\",\"two\"]},{\"phase\":\"Q\",\"items\":"
	    "[\"three\"]}]}")
	    CALL("d", "todo", "{\"op\":\"done\",\"task\":\"one\"}")
	    CALL("e", "todo", "{\"op\":\"view\"}")
	    CALL("f", "todo", "{\"op\":\"append\",\"items\":[\"x\","
	    "\"y\"]}"));
	CHECK(text_is(blocks(1)->b[1].name, "apply_patch"));
	CHECK(text_is(hf_json_get_str(got.blocks.b[1].args, "input"),
	    "*** Begin Patch\n*** Update File: src/a.c\nPUT 3.=3:\n+x\n"
	    "*** Delete File: b.c\nREM\n"));
	actions(1, &as);
	if (CHECK_INT(as.n, 2)) {
		CHECK_INT(as.a[0].kind, HF_ACT_EDIT);
		CHECK(text_is(as.a[0].path, "src/a.c"));
		CHECK_INT(as.a[1].kind, HF_ACT_DELETE);
		CHECK(text_is(as.a[1].path, "b.c"));
	}
	CHECK(text_is(blocks(2)->b[1].name, "edit"));
	CHECK(text_is(hf_json_get_str(got.blocks.b[1].args, "path"), "x"));
	CHECK(text_is(blocks(3)->b[1].name, "todo"));
	CHECK_INT(hf_json_size(hf_json_get(got.blocks.b[1].args, "todos")),
	    3);
	actions(3, &as);
	CHECK_INT(as.n, 1);
	CHECK_INT(as.a[0].kind, HF_ACT_TODOS);
	actions(4, &as);
	if (CHECK_INT(as.n, 1)) {
		CHECK_INT(as.a[0].kind, HF_ACT_TODO_SET);
		CHECK(text_is(as.a[0].item, "one"));
		CHECK(text_is(as.a[0].status, "completed"));
	}
	actions(5, &as);
	CHECK_INT(as.n, 0);
	actions(6, &as);
	if (CHECK_INT(as.n, 1)) {
		CHECK_INT(as.a[0].kind, HF_ACT_TODO_ADD);
		CHECK(text_is(as.a[0].item, "x; y"));
	}
	hf_actions_release(&as);
}

static void
test_estimate(void)
{
	/* A character outside the basic plane is two UTF-16 units and four
	 * bytes. */
	feed(PI, V3 USER("a", "", "abcde") USER("b", "a",
	    "\\ud83d\\ude00\\ud83d\\ude00x")
	    CALL("c", "bash", "{\"command\":\"make\"}")
	    MSG("d", "c", "\"role\":\"user\",\"content\":[{\"type\":"
	    "\"image\"}]")
	    MSG("e", "d", "\"role\":\"bashExecution\",\"command\":\"ab\","
	    "\"output\":\"cd\""));
	CHECK_INT(PI->estimate(&got.row[1]), 2);
	CHECK_INT(PI->estimate(&got.row[2]), 2);
	CHECK_INT(OMP->estimate(&got.row[2]), 3);
	CHECK_INT(PI->estimate(&got.row[3]), 6);	/* 1 + 4 + 18 */
	CHECK_INT(OMP->estimate(&got.row[3]), 1 + 1 + 5);
	CHECK_INT(PI->estimate(&got.row[4]), 1200);
	CHECK_INT(OMP->estimate(&got.row[4]), 1200);
	CHECK_INT(PI->estimate(&got.row[5]), 1);
	CHECK_INT(OMP->estimate(&got.row[5]), 2);
}

/* ---- whose it is ---- */

/* "pi", "omp" or "" for the first records of text. */
static const char *
owner(const char *path, const char *text)
{
	struct hf_json *json[8];
	const struct hf_jval *v[8];
	struct hf_str rest = hf_str(text);
	size_t n = 0;
	int pi, omp;

	while (rest.n > 0 && n < 8) {
		json[n] = hf_json_parse(hf_str_line(rest, &rest), 0, NULL,
		    NULL, NULL);
		v[n] = hf_json_root(json[n]);
		n++;
	}
	pi = PI->recognise(path, v, n);
	omp = OMP->recognise(path, v, n);
	while (n > 0)
		hf_json_free(json[--n]);
	return pi > omp ? "pi" : omp > 0 ? "omp" : "";
}

static void
test_recognise(void)
{
	CHECK_STR(owner("/x/a.jsonl", V3), "pi");
	CHECK_STR(owner(NULL, V3), "pi");
	CHECK_STR(owner("/h/.omp/agent/a.jsonl", V3), "omp");
	CHECK_STR(owner("/x/a.jsonl", HEAD(",\"titleSource\":\"auto\"")),
	    "omp");
	CHECK_STR(owner("/x/a.jsonl", "{\"type\":\"title\",\"v\":1,\"title\""
	    ":\"x\",\"pad\":\"xxx\"}\n" V3), "omp");
	CHECK_STR(owner("/x/a.jsonl", V3 CUSTOM("a", "", "session_exit",
	    "\"kind\":\"normal\"")), "omp");
	CHECK_STR(owner("/x/a.jsonl", V3 "{\"type\":\"model_change\","
	    "\"id\":\"a\",\"model\":\"p/m\"}\n"), "omp");
	CHECK_STR(owner("/x/a.jsonl", V3 "{\"type\":\"model_change\","
	    "\"id\":\"a\",\"provider\":\"p\",\"modelId\":\"m\"}\n"), "pi");
	CHECK_STR(owner("/x/a.jsonl", "nonsense\n" MSG("a", "", "\"role\":"
	    "\"user\",\"content\":\"x\",\"timestamp\":1")), "pi");
	CHECK_STR(owner("/x/a.jsonl", "{\"type\":\"response\",\"id\":\"1\"}"
	    "\n"), "");
	CHECK_STR(owner("/x/a.jsonl", "{\"type\":\"user\",\"sessionId\":"
	    "\"a\",\"uuid\":\"b\",\"message\":{\"role\":\"user\"}}\n"), "");
	CHECK_STR(owner("/x/a.jsonl", "{}\n[]\n"), "");
}

/* ---- files ---- */

#define NAME	"2026-01-15T09-00-00-000Z_abc-1.jsonl"

static int
count(const char *path, void *arg, struct hf_err *err)
{
	(void)path;
	(void)err;
	++*(int *)arg;
	return 0;
}

static void
test_files(void)
{
	char *top = scratch_make(), *at;
	struct hf_dir d, sub;
	struct hf_session s;
	struct hf_err err;
	int n = 0;

	CHECK(hf_dir_open(&d, top, &err) == 0);
	CHECK(hf_dir_sub(&sub, &d, "--w--", true, &err) == 0);
	CHECK(hf_file_replace(&sub, NAME, HF_STR("{}\n"), &err) == 0);
	CHECK(hf_file_replace(&sub, "." NAME ".1.tmp", HF_STR("x"),
	    &err) == 0);
	CHECK(hf_file_replace(&sub, NAME ".bak", HF_STR("x"), &err) == 0);
	CHECK(hf_file_replace(&d, "2026-01-15T09-00-00-000Z_q.jsonl",
	    HF_STR("{}\n"), &err) == 0);
	CHECK(hf_pi_each(PI, top, count, &n, &err) == 0);
	CHECK_INT(n, 2);
	at = hf_pi_by_id(PI, top, "abc-1");
	CHECK(at != NULL && hf_str_ends(hf_str(at), "/--w--/" NAME));
	free(at);
	CHECK(hf_pi_by_id(PI, top, "abc") == NULL);
	n = 0;
	CHECK(hf_pi_each(PI, "/nonexistent", count, &n, &err) == 0);
	CHECK_INT(n, 0);
	hf_dir_close(&sub);
	hf_dir_close(&d);
	scratch_remove(top);

	hf_session_init(&s);
	s.path = hf_strdup("/w/" NAME);
	hf_pi_by_path(&s);
	CHECK_STR(s.id, "abc-1");
	CHECK(!s.subagent);
	hf_session_release(&s);
	s.path = hf_strdup("/w/2026-01-15T09-00-00-000Z_abc-1/Helper.jsonl");
	hf_pi_by_path(&s);
	CHECK(s.id == NULL && s.subagent);
	CHECK_STR(s.parent, "abc-1");
	hf_session_release(&s);
	s.path = hf_strdup("/w/other.jsonl");
	hf_pi_by_path(&s);
	CHECK(s.id == NULL && !s.subagent);
	hf_session_release(&s);
}

/* In a process of its own: prints a successor's place. */
static int
print_place(const struct hf_agent *agent, const char *cwd)
{
	struct hf_seed seed = { .id = "ID", .cwd = cwd,
	    .time = 1768467600123 };
	struct hf_place p;
	struct hf_err err;

	if (agent->place(&seed, &p, &err) < 0) {
		printf("%s", err.msg);
		return 1;
	}
	printf("%s/%s", p.dir, p.name);
	hf_place_release(&p);
	return 0;
}

/* In a process of its own: prints how many files are the agent's, and
 * whether one is found by its id. */
static int
print_count(const struct hf_agent *agent, const char *id)
{
	struct hf_err err;
	char *path = agent->by_id(id);
	int n = 0;

	if (agent->each(count, &n, &err) < 0)
		return 1;
	printf("%d %s", n, path != NULL ? "found" : "no");
	free(path);
	return 0;
}

static const char *self;

static void
run_self(const char *const vars[3], const char *what, const char *agent,
    const char *arg, struct hf_buf *out)
{
	const char *argv[12] = { "env", "-i" };
	size_t n = 2;

	for (size_t i = 0; i < 3 && vars[i] != NULL; i++)
		argv[n++] = vars[i];
	argv[n++] = self;
	argv[n++] = what;
	argv[n++] = agent;
	argv[n++] = arg;
	scratch_run(argv, NULL, out, NULL);
}

static bool
place_is(const char *agent, const char *cwd, const char *const vars[3],
    const char *want)
{
	struct hf_buf out = HF_BUF_INIT, full = HF_BUF_INIT;
	bool same;

	run_self(vars, "place", agent, cwd, &out);
	hf_buf_printf(&full, "%s/2026-01-15T09-00-00-123Z_ID.jsonl", want);
	same = strcmp(hf_buf_cstr(&out), hf_buf_cstr(&full)) == 0;
	if (!same)
		printf("# got %s\n", hf_buf_cstr(&out));
	hf_buf_release(&out);
	hf_buf_release(&full);
	return same;
}

#define VARS(...)	((const char *const[3]){ __VA_ARGS__ })

static void
test_place(void)
{
	CHECK(place_is("pi", "/srv/a:b/my.x", VARS("HOME=/home/dev"),
	    "/home/dev/.pi/agent/sessions/--srv-a-b-my.x--"));
	CHECK(place_is("pi", "/srv/x", VARS("HOME=/home/dev",
	    "PI_CODING_AGENT_DIR=~/q"), "/home/dev/q/sessions/--srv-x--"));
	CHECK(place_is("pi", "/srv/x", VARS("HOME=/home/dev",
	    "PI_CODING_AGENT_SESSION_DIR=/s"), "/s"));
	CHECK(place_is("omp", "/home/dev/project", VARS("HOME=/home/dev"),
	    "/home/dev/.omp/agent/sessions/-project"));
	CHECK(place_is("omp", "/home/dev", VARS("HOME=/home/dev"),
	    "/home/dev/.omp/agent/sessions/-"));
	CHECK(place_is("omp", "/home/device", VARS("HOME=/home/dev"),
	    "/home/dev/.omp/agent/sessions/--home-device--"));
	CHECK(place_is("omp", "/tmp/none/x", VARS("HOME=/home/dev",
	    "TMPDIR=/tmp"), "/home/dev/.omp/agent/sessions/-tmp-none-x"));
	CHECK(place_is("omp", "/srv/x", VARS("HOME=/home/dev"),
	    "/home/dev/.omp/agent/sessions/--srv-x--"));
	CHECK(place_is("omp", "/srv/x", VARS("HOME=/home/dev",
	    "OMP_PROFILE=work", "PI_CODING_AGENT_DIR=/q"),
	    "/home/dev/.omp/profiles/work/agent/sessions/--srv-x--"));
	CHECK(place_is("omp", "/srv/x", VARS("HOME=/home/dev",
	    "PI_CODING_AGENT_DIR=/q"), "/q/sessions/--srv-x--"));
}

/* A folder that both use: each sees its own files only. */
static void
test_shared(void)
{
	char *top = scratch_make();
	struct hf_buf var = HF_BUF_INIT, out = HF_BUF_INIT;
	struct hf_dir d, sub, in;
	struct hf_err err;

	CHECK(hf_dir_open(&d, top, &err) == 0);
	CHECK(hf_dir_sub(&sub, &d, "sessions", true, &err) == 0);
	CHECK(hf_dir_sub(&in, &sub, "--w--", true, &err) == 0);
	CHECK(hf_file_replace(&in, "2026-01-15T09-00-00-000Z_p.jsonl",
	    HF_STR(V3 USER("a", "", "x")), &err) == 0);
	CHECK(hf_file_replace(&in, "2026-01-15T09-00-00-000Z_o.jsonl",
	    HF_STR(HEAD(",\"version\":3,\"title\":\"t\"")
	    USER("a", "", "x")), &err) == 0);
	hf_dir_close(&in);
	hf_dir_close(&sub);
	hf_dir_close(&d);
	hf_buf_printf(&var, "PI_CODING_AGENT_DIR=%s", top);
	run_self(VARS("HOME=/x", hf_buf_cstr(&var)), "count", "pi", "p", &out);
	CHECK_STR(hf_buf_cstr(&out), "1 found");
	hf_buf_clear(&out);
	run_self(VARS("HOME=/x", hf_buf_cstr(&var)), "count", "omp", "p",
	    &out);
	CHECK_STR(hf_buf_cstr(&out), "1 no");
	hf_buf_release(&var);
	hf_buf_release(&out);
	scratch_remove(top);
}

/* ---- successors ---- */

static struct hf_buf draft;

static void
write_draft(const struct hf_agent *agent, const struct hf_session *source,
    const char *model, const char *title)
{
	struct hf_seed seed = { .source = source, .id = "NEW",
	    .attempt = "att-1", .cwd = "/srv/\"x", .model = model,
	    .title = title, .time = 1768467600123,
	    .text = HF_STR("<handoff-context>\nb\n</handoff-context>\n") };
	struct hf_err err;

	hf_buf_clear(&draft);
	CHECK(agent->draft(&seed, &draft, &err) == 0);
}

/* Every entry but the first hangs on the one before it. */
static bool
linked(size_t from)
{
	for (size_t i = from; i < got.n; i++)
		if (i == from ? got.row[i].parent != HF_PARENT_ROOT :
		    !hf_str_eq(got.row[i].parent_id, got.row[i - 1].id))
			return false;
	return true;
}

static void
test_draft_pi(void)
{
	struct hf_session s;
	struct hf_buf again = HF_BUF_INIT;
	const struct hf_jval *usage;

	hf_session_init(&s);
	s.agent = PI;
	s.id = hf_strdup("OLD");
	s.provider = hf_strdup("acme");
	write_draft(PI, &s, "big", "Work (handoff)");
	hf_buf_str(&again, hf_buf_view(&draft));
	feed(PI, hf_buf_cstr(&draft));
	CHECK_INT(got.n, 6);
	CHECK_STR(got.s.id, "NEW");
	CHECK_STR(got.s.cwd, "/srv/\"x");
	CHECK_STR(got.s.parent, "OLD");
	CHECK_STR(got.s.title, "Work (handoff)");
	CHECK_STR(got.s.model, "big");
	CHECK_STR(got.s.provider, "acme");
	CHECK(linked(1));
	CHECK_INT(got.row[3].kind, HF_ROW_SEED);
	CHECK_INT(got.row[4].kind, HF_ROW_ASSISTANT);
	CHECK(got.row[4].flags & HF_ROW_SYNTHETIC);
	CHECK_INT(got.row[4].turn, HF_TURN_CLOSED);
	usage = hf_json_at(got.row[4].v, "message.usage");
	CHECK_INT(hf_json_size(usage), 6);
	CHECK_INT(hf_json_size(hf_json_get(usage, "cost")), 5);
	CHECK(text_is(hf_json_str(hf_json_at(got.row[4].v,
	    "message.provider")), "acme"));
	CHECK(text_is(hf_json_str(hf_json_at(got.row[2].v, "data.handoff")),
	    "att-1"));
	/* The same seed gives the same bytes. */
	write_draft(PI, &s, "big", "Work (handoff)");
	CHECK(hf_str_eq(hf_buf_view(&draft), hf_buf_view(&again)));
	hf_buf_release(&again);

	/* Of another agent, or without its provider: no model is named. */
	s.agent = OMP;
	write_draft(PI, &s, NULL, NULL);
	feed(PI, hf_buf_cstr(&draft));
	CHECK_INT(got.n, 4);
	CHECK(linked(1));
	CHECK(got.s.model == NULL);
	CHECK(text_is(hf_json_str(hf_json_at(got.row[3].v,
	    "message.stopReason")), "stop"));
	hf_session_release(&s);
}

static void
test_draft_omp(void)
{
	struct hf_session s;
	struct hf_str slot;
	char title[400];

	hf_session_init(&s);
	s.agent = OMP;
	s.id = hf_strdup("OLD");
	s.provider = hf_strdup("acme");
	write_draft(OMP, &s, "x/big", "Work (handoff)");
	slot = hf_str_line(hf_buf_view(&draft), NULL);
	CHECK_INT(slot.n, 255);
	feed(OMP, hf_buf_cstr(&draft));
	CHECK_INT(got.n, 5);
	CHECK_STR(got.s.title, "Work (handoff)");
	CHECK_STR(got.s.model, "x/big");
	CHECK_STR(got.s.provider, "acme");
	CHECK_STR(got.s.parent, "OLD");
	CHECK(linked(2));
	CHECK_INT(got.row[4].kind, HF_ROW_SEED);
	CHECK(hf_json_true(hf_json_get(got.row[4].v, "display")));
	CHECK(hf_json_is(hf_json_get(got.row[4].v, "attribution"),
	    "agent"));

	/* The slot keeps its size, and no character is cut in two. */
	for (size_t i = 0; i + 2 < sizeof(title); i += 2)
		memcpy(title + i, "\303\274", 3);
	write_draft(OMP, &s, NULL, title);
	slot = hf_str_line(hf_buf_view(&draft), NULL);
	CHECK_INT(slot.n, 255);
	CHECK(hf_utf8_valid(slot));
	write_draft(OMP, &s, NULL, NULL);
	CHECK_INT(hf_str_line(hf_buf_view(&draft), NULL).n, 255);
	feed(OMP, hf_buf_cstr(&draft));
	CHECK(got.s.title == NULL);
	CHECK(got.s.model == NULL);
	hf_session_release(&s);
}

static void
test_resume(void)
{
	struct hf_session s;
	struct hf_argv a = { .n = 0 };

	hf_session_init(&s);
	s.id = hf_strdup("ID");
	PI->resume(&s, NULL, &a);
	CHECK_INT(a.n, 3);
	CHECK_STR(a.v[0], "pi");
	CHECK_STR(a.v[1], "--session");
	CHECK_STR(a.v[2], "ID");
	hf_argv_release(&a);
	s.path = hf_strdup("/w/x.jsonl");
	OMP->resume(&s, "-v is wrong", &a);
	CHECK_INT(a.n, 4);
	CHECK_STR(a.v[1], "--resume");
	CHECK_STR(a.v[2], "/w/x.jsonl");
	CHECK_STR(a.v[3], " -v is wrong");
	hf_argv_release(&a);
	hf_session_release(&s);
}

int
main(int argc, char **argv)
{
	const struct hf_agent *agent;

	self = argv[0];
	if (argc == 4) {
		agent = strcmp(argv[2], "omp") == 0 ? OMP : PI;
		return strcmp(argv[1], "place") == 0 ?
		    print_place(agent, argv[3]) :
		    print_count(agent, argv[3]);
	}
	hf_session_init(&got.s);
	hf_blocks_init(&got.blocks);
	test_tree();
	test_line();
	test_usage();
	test_model();
	test_compaction();
	test_roles();
	test_session();
	test_blocks();
	test_omp_tools();
	test_estimate();
	test_recognise();
	test_files();
	test_place();
	test_shared();
	test_draft_pi();
	test_draft_omp();
	test_resume();
	forget();
	hf_buf_release(&draft);
	return check_done();
}
