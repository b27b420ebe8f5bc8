/*
 * Claude Code: what a line of a session says, and what is in a row. The
 * figures of whole recorded sessions are checked by test_reference, files
 * and successors by test_claude_store.
 */
#include <limits.h>
#include <stdlib.h>

#include "agent/claude.h"
#include "base/clock.h"
#include "base/mem.h"
#include "check.h"

#define ID	"c0dec0de-0001-4a5e-8bad-000000000001"
#define TAIL	",\"sessionId\":\"" ID "\",\"cwd\":\"/w\"," \
		"\"timestamp\":\"2026-01-15T09:00:00.000Z\"}"
#define USER(uuid, up, content) \
	"{\"parentUuid\":" up ",\"isSidechain\":false,\"type\":\"user\"," \
	"\"message\":{\"role\":\"user\",\"content\":" content "}," \
	"\"uuid\":\"" uuid "\"" TAIL
#define ANSWER(uuid, up, stop, content) \
	"{\"parentUuid\":" up ",\"isSidechain\":false," \
	"\"type\":\"assistant\",\"requestId\":\"req\",\"message\":{" \
	"\"id\":\"msg\",\"model\":\"claude-x\",\"content\":" content "," \
	"\"stop_reason\":" stop ",\"usage\":{\"input_tokens\":10," \
	"\"cache_creation_input_tokens\":20," \
	"\"cache_read_input_tokens\":300,\"output_tokens\":4000}}," \
	"\"uuid\":\"" uuid "\"" TAIL
#define TEXT	"[{\"type\":\"text\",\"text\":\"hi\"}]"
#define CALL	"[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\"," \
		"\"input\":{\"command\":\"make\"}}]"

/* The session, and the row of the last line; its text lives on. */
static struct {
	struct hf_session s;
	struct hf_scan sc;
	struct hf_json *json;
	struct hf_row row;
	struct hf_blocks blocks;
} got;

static void
emit(struct hf_scan *sc, const struct hf_row *row)
{
	(void)sc;
	got.row = *row;
}

static void
forget(void)
{
	hf_json_free(got.json);
	free(got.sc.own);
	hf_arena_clear(&got.sc.arena);
	hf_session_release(&got.s);
	hf_blocks_release(&got.blocks);
	memset(&got, 0, sizeof(got));
	hf_session_init(&got.s);
	hf_blocks_init(&got.blocks);
	got.s.agent = &hf_agent_claude;
	got.sc.session = &got.s;
	got.sc.emit = emit;
	got.sc.own = hf_calloc(1, hf_agent_claude.own_size);
}

/* One more line. */
static const struct hf_row *
feed(const char *text)
{
	struct hf_record rec;
	struct hf_err err;

	memset(&rec, 0, sizeof(rec));
	rec.raw = hf_str(text);
	hf_json_free(got.json);
	got.json = hf_json_parse(rec.raw, HF_JSON_RAW, NULL, NULL, &err);
	if (got.json == NULL) {
		printf("Bail out! %s: %s\n", err.msg, text);
		exit(1);
	}
	rec.v = hf_json_root(got.json);
	got.sc.session->agent->row(&got.sc, &rec);
	return &got.row;
}

static const struct hf_row *
only(const char *text)
{
	forget();
	return feed(text);
}

static bool
is(struct hf_str a, const char *text)
{
	return hf_str_is(a, text);
}

/* ---- the user ---- */

/* What a prompt's text makes of a row, with an answer before it. */
static bool
prompt_is(const char *content, enum hf_row_kind kind, enum hf_turn turn)
{
	struct hf_buf line = HF_BUF_INIT;
	const struct hf_row *row;
	bool good;

	only(ANSWER("a", "null", "\"end_turn\"", TEXT));
	hf_buf_printf(&line, USER("u", "\"a\"", "%s"), content);
	row = feed(hf_buf_cstr(&line));
	good = row->kind == kind && row->turn == turn &&
	    row->flags == HF_ROW_CHAIN;
	if (!good)
		printf("# kind %d turn %d flags %x of %s\n", (int)row->kind,
		    (int)row->turn, row->flags, content);
	hf_buf_release(&line);
	return good;
}

static void
test_user(void)
{
	CHECK(prompt_is("\"do it\"", HF_ROW_PROMPT, HF_TURN_OPEN));
	CHECK(prompt_is(TEXT, HF_ROW_PROMPT, HF_TURN_OPEN));
	CHECK(prompt_is("\"<b>bold</b> is wrong\"", HF_ROW_PROMPT,
	    HF_TURN_OPEN));
	CHECK(prompt_is("[{\"type\":\"image\",\"source\":{}}]",
	    HF_ROW_PROMPT, HF_TURN_OPEN));
	CHECK(prompt_is("\"<command-name>/cost</command-name>\"",
	    HF_ROW_INJECTED, HF_TURN_NONE));
	CHECK(prompt_is("\"<command-message>x</command-message>\"",
	    HF_ROW_INJECTED, HF_TURN_NONE));
	CHECK(prompt_is("\"\\n <local-command-stdout>5k\"",
	    HF_ROW_INJECTED, HF_TURN_NONE));
	CHECK(prompt_is("\"<bash-input>ls</bash-input>\"",
	    HF_ROW_INJECTED, HF_TURN_NONE));
	CHECK(prompt_is("\"<bash-stdout>x</bash-stdout>\"",
	    HF_ROW_INJECTED, HF_TURN_NONE));
	CHECK(prompt_is("\"<system-reminder>x\"", HF_ROW_INJECTED,
	    HF_TURN_NONE));
	CHECK(prompt_is("\"<task-notification>x\"", HF_ROW_INJECTED,
	    HF_TURN_OPEN));
	CHECK(prompt_is("\"[Request interrupted by user for tool use]\"",
	    HF_ROW_INTERRUPT, HF_TURN_INTERRUPTED));
	CHECK(prompt_is("[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\","
	    "\"content\":\"ok\"}]", HF_ROW_RESULT, HF_TURN_OPEN));
	CHECK(prompt_is("\"<handoff-context>\\nx\"", HF_ROW_SEED,
	    HF_TURN_OPEN));
	CHECK(prompt_is("\"\"", HF_ROW_INJECTED, HF_TURN_NONE));
	/* The user's words behind what an editor put in front. */
	CHECK(prompt_is("[{\"type\":\"text\",\"text\":\"<ide_selection>x\"},"
	    "{\"type\":\"text\",\"text\":\"fix this\"}]", HF_ROW_PROMPT,
	    HF_TURN_OPEN));
	CHECK_STR(got.s.title, "fix this");
}

/* A brief that the session begins with asks nothing by itself. */
static void
test_seed(void)
{
	const struct hf_row *row;

	row = only(USER("u", "null", "\"<handoff-context>\\nGoal\""));
	CHECK_INT(row->kind, HF_ROW_SEED);
	CHECK_INT(row->turn, HF_TURN_CLOSED);
	CHECK_STR(got.s.title, NULL);
	feed(USER("v", "\"u\"", "\"go on\""));
	CHECK_STR(got.s.title, "go on");
	CHECK(!got.s.titled);
}

#define MARKED(mark, content) \
	"{\"parentUuid\":\"a\",\"type\":\"user\"," mark "\"message\":{" \
	"\"role\":\"user\",\"content\":" content "},\"uuid\":\"u\"" TAIL

static void
test_marks(void)
{
	const struct hf_row *row;

	row = only(MARKED("\"isMeta\":true,", "\"x\""));
	CHECK_INT(row->kind, HF_ROW_INJECTED);
	CHECK_INT(row->turn, HF_TURN_NONE);
	row = only(MARKED("\"isCompactSummary\":true,"
	    "\"isVisibleInTranscriptOnly\":true,", "\"x\""));
	CHECK_INT(row->kind, HF_ROW_SUMMARY);
	CHECK_INT(row->turn, HF_TURN_CLOSED);
	row = only(MARKED("\"isVisibleInTranscriptOnly\":true,", "\"x\""));
	CHECK_INT(row->kind, HF_ROW_INJECTED);
	row = only(MARKED("\"origin\":{\"kind\":\"human\"},", "\"x\""));
	CHECK_INT(row->kind, HF_ROW_PROMPT);
	row = only(MARKED("\"origin\":{\"kind\":\"task-notification\"},",
	    "\"x\""));
	CHECK_INT(row->kind, HF_ROW_INJECTED);
	CHECK_INT(row->turn, HF_TURN_OPEN);
	row = only(MARKED("\"isSidechain\":true,", "\"x\""));
	CHECK_INT(row->flags, HF_ROW_CHAIN | HF_ROW_SIDECHAIN);
	CHECK_STR(got.s.title, NULL);
	CHECK_STR(got.s.cwd, NULL);
	CHECK(!got.s.subagent);
}

/* What was typed while the model was at work. */
static void
test_queued(void)
{
#define QUEUED(more) "{\"parentUuid\":\"a\",\"type\":\"attachment\"," \
	"\"attachment\":{\"type\":\"queued_command\"," more "}," \
	"\"uuid\":\"u\"" TAIL
	const struct hf_row *row;

	row = only(QUEUED("\"prompt\":\"and test it\","
	    "\"commandMode\":\"prompt\",\"origin\":{\"kind\":\"human\"}"));
	CHECK_INT(row->kind, HF_ROW_PROMPT);
	CHECK_INT(row->turn, HF_TURN_NONE);
	hf_claude_blocks(row, &got.blocks);
	CHECK(got.blocks.n == 1 && is(got.blocks.b[0].text, "and test it"));
	row = only(QUEUED("\"prompt\":" TEXT));
	CHECK_INT(row->kind, HF_ROW_PROMPT);
	row = only(QUEUED("\"prompt\":\"<task-notification>x\","
	    "\"commandMode\":\"task-notification\""));
	CHECK_INT(row->kind, HF_ROW_INJECTED);
	row = only(QUEUED("\"prompt\":\"x\",\"commandMode\":\"prompt\","
	    "\"origin\":{\"kind\":\"peer\"}"));
	CHECK_INT(row->kind, HF_ROW_INJECTED);
	row = only("{\"parentUuid\":\"a\",\"type\":\"attachment\","
	    "\"attachment\":{\"type\":\"skill_listing\",\"content\":\"x\"},"
	    "\"uuid\":\"u\"" TAIL);
	CHECK_INT(row->kind, HF_ROW_OTHER);
	CHECK_INT(row->flags, HF_ROW_CHAIN);
}

/* ---- the assistant ---- */

static void
test_assistant(void)
{
	const struct hf_row *row;

	row = only(ANSWER("a", "\"u\"", "\"end_turn\"", TEXT));
	CHECK_INT(row->kind, HF_ROW_ASSISTANT);
	CHECK_INT(row->turn, HF_TURN_CLOSED);
	CHECK(row->has_usage);
	CHECK_INT(row->context, 4330);
	CHECK_INT(row->usage.input, 10);
	CHECK_INT(row->usage.cache_write, 20);
	CHECK_INT(row->usage.cache_read, 300);
	CHECK_INT(row->usage.output, 4000);
	CHECK(is(row->call, "msg") && is(row->request, "req"));
	CHECK(is(row->id, "a") && is(row->parent_id, "u"));
	CHECK_INT(row->parent, HF_PARENT_ID);
	CHECK_INT(row->time, hf_clock_parse(
	    HF_STR("2026-01-15T09:00:00Z")));
	CHECK_STR(got.s.model, "claude-x");
	/* Older clients told no reason, newer ones tell it on each row. */
	row = only(ANSWER("a", "\"u\"", "null", TEXT));
	CHECK_INT(row->turn, HF_TURN_CLOSED);
	row = only(ANSWER("a", "\"u\"", "null", CALL));
	CHECK_INT(row->turn, HF_TURN_OPEN);
	row = only(ANSWER("a", "\"u\"", "\"tool_use\"", TEXT));
	CHECK_INT(row->turn, HF_TURN_OPEN);
	row = only(ANSWER("a", "\"u\"", "null",
	    "[{\"type\":\"thinking\",\"thinking\":\"hm\"}]"));
	CHECK_INT(row->turn, HF_TURN_OPEN);
	row = only(ANSWER("a", "\"u\"", "\"pause_turn\"", TEXT));
	CHECK_INT(row->turn, HF_TURN_OPEN);
}

/* Counters that are none, and rows that the client made. */
static void
test_no_usage(void)
{
#define SAYS(model, mark, usage) "{\"type\":\"assistant\"," mark \
	"\"message\":{\"id\":\"m\",\"model\":\"" model "\",\"content\":" \
	TEXT ",\"usage\":{" usage "}},\"uuid\":\"a\",\"parentUuid\":null" TAIL
	const struct hf_row *row;

	row = only(SAYS("x", "", "\"input_tokens\":-12,"
	    "\"cache_read_input_tokens\":40000.0,\"output_tokens\":100"));
	CHECK_INT(row->context, 40100);
	row = only(SAYS("x", "", "\"input_tokens\":0,\"output_tokens\":0"));
	CHECK(!row->has_usage);
	CHECK_INT(row->context, -1);
	CHECK_INT(row->parent, HF_PARENT_ROOT);
	row = only(SAYS("<synthetic>", "", "\"input_tokens\":7"));
	CHECK_INT(row->flags, HF_ROW_CHAIN | HF_ROW_SYNTHETIC);
	CHECK(!row->has_usage && row->call.s == NULL);
	CHECK_INT(row->turn, HF_TURN_CLOSED);
	CHECK_STR(got.s.model, NULL);
	row = only(SAYS("<synthetic>", "\"isApiErrorMessage\":true,", ""));
	CHECK_INT(row->flags, HF_ROW_CHAIN | HF_ROW_SYNTHETIC | HF_ROW_ERROR);
	row = only(SAYS("x", "\"isSidechain\":true,", "\"input_tokens\":7"));
	CHECK(row->has_usage && (row->flags & HF_ROW_SIDECHAIN));
	CHECK_STR(got.s.model, NULL);
}

/* ---- compactions ---- */

static void
test_compaction(void)
{
#define BOUNDARY(name, more) "{\"parentUuid\":null,\"type\":\"system\"," \
	"\"subtype\":\"" name "\",\"uuid\":\"b\"," more "\"isMeta\":false" TAIL
	const struct hf_row *row;

	row = only(BOUNDARY("compact_boundary", "\"logicalParentUuid\":\"z\","
	    "\"compactMetadata\":{\"preTokens\":9,\"postTokens\":576,"
	    "\"preservedSegment\":{\"headUuid\":\"k\"}},"));
	CHECK_INT(row->kind, HF_ROW_COMPACTION);
	CHECK_INT(row->turn, HF_TURN_CLOSED);
	CHECK_INT(row->context, 576);
	CHECK_INT(row->parent, HF_PARENT_ID);
	CHECK(is(row->parent_id, "z") && is(row->kept, "k"));
	row = only(BOUNDARY("compact_boundary", "\"compactMetadata\":{"
	    "\"preservedMessages\":{\"uuids\":[\"p\",\"q\"]}},"));
	CHECK_INT(row->context, -1);
	CHECK_INT(row->parent, HF_PARENT_ROOT);
	CHECK(is(row->kept, "p"));
	row = only(BOUNDARY("microcompact_boundary", ""));
	CHECK_INT(row->kind, HF_ROW_OTHER);
	CHECK_INT(row->flags, HF_ROW_CHAIN | HF_ROW_MICRO);
	row = only(BOUNDARY("turn_duration", ""));
	CHECK_INT(row->flags, HF_ROW_CHAIN);
	CHECK_INT(row->turn, HF_TURN_NONE);
}

/* ---- lines beside the chain ---- */

static void
test_beside(void)
{
#define BESIDE(type, more) "{\"type\":\"" type "\"," more "\"sessionId\":\"" \
	ID "\"}"
#define QUEUE(op) BESIDE("queue-operation", "\"operation\":\"" op "\",")
	const struct hf_row *row;

	row = only(BESIDE("last-prompt", "\"leafUuid\":\"x\","));
	CHECK_INT(row->flags, HF_ROW_LEAF);
	CHECK(is(row->id, "x"));
	CHECK(got.sc.recognised);
	row = feed(QUEUE("enqueue"));
	CHECK_INT(row->kind, HF_ROW_QUEUED);
	CHECK_INT(row->queue, 1);
	CHECK_INT(feed(QUEUE("dequeue"))->queue, -1);
	CHECK_INT(feed(QUEUE("remove"))->queue, -1);
	CHECK_INT(feed(QUEUE("popAll"))->queue, INT_MIN);
	CHECK_INT(feed(QUEUE("other"))->kind, HF_ROW_OTHER);
	feed(BESIDE("permission-mode", "\"permissionMode\":\"plan\","));
	CHECK_STR(got.s.permission, "plan");
	row = feed(BESIDE("later-type", "\"x\":1,"));
	CHECK_INT(row->kind, HF_ROW_OTHER);
	CHECK_INT(row->flags, 0);
	/* It may be a link, if it has a place. */
	row = feed(BESIDE("later-type", "\"uuid\":\"p\","
	    "\"parentUuid\":\"o\","));
	CHECK_INT(row->flags, HF_ROW_CHAIN);
	row = feed(BESIDE("later-type", "\"uuid\":\"p\","
	    "\"parentUuid\":null,"));
	CHECK_INT(row->flags, 0);
	feed(BESIDE("handoff-meta", "\"parentSession\":\"old\","
	    "\"model\":\"m\","));
	CHECK_STR(got.s.parent, "old");
	CHECK_STR(got.s.model, "m");
}

static void
test_titles(void)
{
	only(BESIDE("ai-title", "\"aiTitle\":\"by the model\","));
	feed(USER("u", "null", "\"first\""));
	CHECK_STR(got.s.title, "by the model");
	feed(BESIDE("custom-title", "\"customTitle\":\"by hand\","));
	feed(BESIDE("ai-title", "\"aiTitle\":\"again\","));
	CHECK_STR(got.s.title, "by hand");
	CHECK(got.s.titled);
	feed(BESIDE("custom-title", "\"customTitle\":\"renamed\","));
	CHECK_STR(got.s.title, "renamed");
}

/* ---- the session ---- */

static void
test_session(void)
{
	only("{\"type\":\"user\",\"message\":{\"content\":\"x\"},"
	    "\"entrypoint\":\"sdk-cli\",\"version\":\"2.1.1\","
	    "\"gitBranch\":\"main\",\"permissionMode\":\"default\","
	    "\"uuid\":\"u\",\"parentUuid\":null" TAIL);
	CHECK_STR(got.s.id, ID);
	CHECK_STR(got.s.cwd, "/w");
	CHECK_STR(got.s.version, "2.1.1");
	CHECK_STR(got.s.branch, "main");
	CHECK_STR(got.s.permission, "default");
	CHECK(got.s.headless);
	feed("{\"type\":\"user\",\"message\":{\"content\":\"y\"},"
	    "\"entrypoint\":\"cli\",\"sessionId\":\"" ID "\","
	    "\"cwd\":\"/elsewhere\",\"uuid\":\"v\",\"parentUuid\":\"u\"}");
	CHECK(!got.s.headless);
	CHECK_STR(got.s.cwd, "/w");
	CHECK_STR(got.s.title, "x");
}

static void
test_subagent(void)
{
	const struct hf_row *row;

	row = only("{\"type\":\"user\",\"message\":{\"content\":\"x\"},"
	    "\"isSidechain\":true,\"agentId\":\"a1\",\"uuid\":\"u\","
	    "\"parentUuid\":null" TAIL);
	CHECK(got.s.subagent);
	CHECK_STR(got.s.parent, ID);
	CHECK_STR(got.s.cwd, "/w");
	CHECK_INT(row->flags, HF_ROW_CHAIN);
	CHECK_INT(row->kind, HF_ROW_PROMPT);
}

/* Rows of another session are inherited; a fork of a newer client tells it
 * by a queue-operation that is newer than the rows behind it. */
static void
test_inherited(void)
{
	const struct hf_row *row;

	forget();
	hf_session_set(&got.s.id, HF_STR("another"));
	row = feed(USER("u", "null", "\"x\""));
	CHECK_INT(row->flags, HF_ROW_CHAIN | HF_ROW_INHERITED);
	only(BESIDE("queue-operation", "\"operation\":\"enqueue\","
	    "\"timestamp\":\"2026-01-15T09:00:01Z\","));
	row = feed(USER("u", "null", "\"x\""));
	CHECK_INT(row->flags, HF_ROW_CHAIN);
	row = feed(ANSWER("a", "\"u\"", "\"end_turn\"", TEXT));
	CHECK_INT(row->flags, HF_ROW_CHAIN | HF_ROW_INHERITED);
	/* Behind rows of the chain it tells nothing. */
	only(USER("u", "null", "\"x\""));
	feed(BESIDE("queue-operation", "\"operation\":\"enqueue\","
	    "\"timestamp\":\"2026-01-15T09:00:01Z\","));
	row = feed(ANSWER("a", "\"u\"", "\"end_turn\"", TEXT));
	CHECK_INT(row->flags, HF_ROW_CHAIN);
}

/* A sub-agent of the same model says that its window is the large one. */
static void
test_window(void)
{
#define RESOLVED(model) "{\"parentUuid\":\"a\",\"type\":\"user\"," \
	"\"message\":{\"content\":[{\"type\":\"tool_result\"," \
	"\"tool_use_id\":\"t\",\"content\":\"x\"}]},\"toolUseResult\":{" \
	"\"resolvedModel\":\"" model "\"},\"uuid\":\"u\"" TAIL

	only(ANSWER("a", "null", "\"tool_use\"", CALL));
	CHECK_INT(feed(RESOLVED("claude-x[1m]"))->window, 1000000);
	CHECK_INT(feed(RESOLVED("claude-x"))->window, 0);
	CHECK_INT(feed(RESOLVED("claude-y[1m]"))->window, 0);
}

/* A row written by hand, without a place, follows the one before. */
static void
test_bare(void)
{
	const struct hf_row *row;

	row = only("{\"type\":\"user\",\"message\":{\"role\":\"user\","
	    "\"content\":\"x\"},\"uuid\":\"a\","
	    "\"timestamp\":\"2026-11-30T10:00:00.000Z\"}");
	CHECK_INT(row->kind, HF_ROW_PROMPT);
	CHECK_INT(row->parent, HF_PARENT_PREV);
	CHECK(got.sc.recognised);
	CHECK_STR(got.s.id, NULL);
}

/* ---- whose it is ---- */

static int
score(const char *path, const char *text)
{
	struct hf_json *j = hf_json_parse(hf_str(text), HF_JSON_RAW, NULL,
	    NULL, NULL);
	const struct hf_jval *v[2] = { NULL, hf_json_root(j) };
	int n = hf_agent_claude.recognise(path, v, 2);

	hf_json_free(j);
	return n;
}

static void
test_recognise(void)
{
	CHECK_INT(score("/x/a.jsonl", USER("u", "null", "\"x\"")), 90);
	CHECK_INT(score("/x/" ID ".jsonl", USER("u", "null", "\"x\"")), 95);
	CHECK_INT(score("/x/" ID ".jsonl", "{\"a\":1}"), 0);
	CHECK(score("/x/a.jsonl", QUEUE("enqueue")) > 0);
	/* The stream of claude -p, other agents' rows. */
	CHECK_INT(score(NULL, "{\"type\":\"assistant\",\"message\":{},"
	    "\"uuid\":\"u\",\"session_id\":\"" ID "\",\"timestamp\":\"x\"}"),
	    0);
	CHECK_INT(score(NULL, "{\"type\":\"user\",\"id\":\"u\","
	    "\"timestamp\":\"x\",\"content\":\"hi\"}"), 0);
	CHECK_INT(score(NULL, "{\"type\":\"message\",\"id\":\"u\","
	    "\"parentId\":null,\"message\":{}}"), 0);
	CHECK_INT(score(NULL, "{\"type\":\"turn.started\"}"), 0);
}

/* ---- blocks ---- */

static const struct hf_block *
block(size_t i)
{
	static const struct hf_block none;

	return i < got.blocks.n ? &got.blocks.b[i] : &none;
}

static void
blocks_of(const struct hf_row *row)
{
	hf_blocks_clear(&got.blocks);
	hf_claude_blocks(row, &got.blocks);
}

static void
test_blocks(void)
{
	blocks_of(only(ANSWER("a", "null", "\"tool_use\"",
	    "[{\"type\":\"thinking\",\"thinking\":\"hm\"},"
	    "{\"type\":\"text\",\"text\":\"hi\"},"
	    "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\","
	    "\"input\":{\"command\":\"make\"}}]")));
	CHECK_INT(got.blocks.n, 3);
	CHECK_INT(block(0)->kind, HF_BLOCK_THINKING);
	CHECK(block(1)->kind == HF_BLOCK_TEXT && is(block(1)->text, "hi"));
	CHECK(block(2)->kind == HF_BLOCK_CALL && is(block(2)->id, "t1") &&
	    is(block(2)->name, "Bash"));
	CHECK(is(hf_json_get_str(block(2)->args, "command"), "make"));
	blocks_of(only(USER("u", "null", "[{\"type\":\"text\","
	    "\"text\":\"<ide_opened_file>x\"},{\"type\":\"text\","
	    "\"text\":\"fix\"},{\"type\":\"image\",\"source\":{"
	    "\"type\":\"base64\",\"media_type\":\"image/png\","
	    "\"data\":\"AAAA\"}}]")));
	CHECK_INT(got.blocks.n, 2);
	CHECK(is(block(0)->text, "fix"));
	CHECK(block(1)->kind == HF_BLOCK_IMAGE &&
	    is(block(1)->text, "[image image/png]"));
	blocks_of(only(USER("u", "null", "\"whole\"")));
	CHECK(got.blocks.n == 1 && is(block(0)->text, "whole"));
}

static void
test_results(void)
{
#define RESULT(content, error, more) "{\"parentUuid\":\"a\"," \
	"\"type\":\"user\",\"message\":{\"content\":[{" \
	"\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":" \
	content ",\"is_error\":" error "}]}" more ",\"uuid\":\"u\"" TAIL

	blocks_of(only(RESULT("\"done\"", "false", "")));
	CHECK(block(0)->kind == HF_BLOCK_RESULT && is(block(0)->id, "t1"));
	CHECK(is(block(0)->text, "done") && !block(0)->error);
	CHECK_INT(block(0)->exit, HF_EXIT_UNKNOWN);
	blocks_of(only(RESULT("\"done\"", "false",
	    ",\"toolUseResult\":{\"stdout\":\"done\",\"stderr\":\"\"}")));
	CHECK_INT(block(0)->exit, 0);
	blocks_of(only(RESULT("\"done\"", "false", ",\"toolUseResult\":{"
	    "\"stdout\":\"\",\"backgroundTaskId\":\"b1\"}")));
	CHECK_INT(block(0)->exit, HF_EXIT_UNKNOWN);
	blocks_of(only(RESULT("\"Exit code 2\\nno rule\"", "true", "")));
	CHECK(block(0)->error);
	CHECK_INT(block(0)->exit, 2);
	blocks_of(only(RESULT("\"Error: Exit code 127\"", "true", "")));
	CHECK_INT(block(0)->exit, 127);
	blocks_of(only(RESULT("\"rejected\"", "true", "")));
	CHECK_INT(block(0)->exit, HF_EXIT_UNKNOWN);
	blocks_of(only(RESULT("[{\"type\":\"text\",\"text\":\"a\"},"
	    "{\"type\":\"image\"},{\"type\":\"text\",\"text\":\"b\"}]",
	    "false", "")));
	CHECK(is(block(0)->text, "a\n[image]\nb"));
}

int
main(void)
{
	test_user();
	test_seed();
	test_marks();
	test_queued();
	test_assistant();
	test_no_usage();
	test_compaction();
	test_beside();
	test_titles();
	test_session();
	test_subagent();
	test_inherited();
	test_window();
	test_bare();
	test_recognise();
	test_blocks();
	test_results();
	forget();
	free(got.sc.own);
	return check_done();
}
