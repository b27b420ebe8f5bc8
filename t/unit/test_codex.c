/*
 * Codex: rows, what is in them, usage by growth, forks, the store, names,
 * locks, successors. The figures of recorded sessions are checked by
 * t/metrics.bats.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <zstd.h>

#include "agent/codex.h"
#include "agent/unpack.h"
#include "base/clock.h"
#include "check.h"
#include "scratch.h"

#define CODEX	(&hf_agent_codex)
#define ID1	"01a22e00-0001-7000-8000-000000000001"
#define ID2	"01a22e00-0002-7000-8000-000000000002"
#define ID3	"01a22e00-0003-7000-8000-000000000003"

/* ---- rows ---- */

enum { ROWS = 48 };

/* The rows of the last text, with copies of what the next one overwrites. */
static struct {
	struct hf_session s;
	struct hf_scan sc;
	struct hf_json *json[ROWS];
	size_t njson;
	struct hf_row row[ROWS];
	char id[ROWS][16], up[ROWS][16], kept[ROWS][16];
	size_t n;
	uint64_t off;
	struct hf_blocks blocks;
} got;

static void
keep(char to[16], struct hf_str a)
{
	snprintf(to, 16, "%.*s", (int)a.n, a.n > 0 ? a.s : "");
}

static void
emit(struct hf_scan *sc, const struct hf_row *row)
{
	(void)sc;
	if (got.n == ROWS)
		return;
	got.row[got.n] = *row;
	keep(got.id[got.n], row->id);
	keep(got.up[got.n], row->parent_id);
	keep(got.kept[got.n], row->kept);
	got.n++;
}

static void
forget(void)
{
	while (got.njson > 0)
		hf_json_free(got.json[--got.njson]);
	got.n = 0;
	got.off = 0;
	free(got.sc.own);
	hf_arena_clear(&got.sc.arena);
	hf_session_release(&got.s);
	hf_blocks_release(&got.blocks);
	memset(&got.sc, 0, sizeof(got.sc));
}

/* Translates the lines of text, after those before; from is the line number
 * of the first. */
static void
more(const char *text, uint64_t from)
{
	struct hf_str line, rest = hf_str(text);
	struct hf_record rec;
	struct hf_err err;

	while (rest.n > 0 && got.njson < ROWS) {
		line = hf_str_line(rest, &rest);
		memset(&rec, 0, sizeof(rec));
		rec.raw = line;
		rec.line = from++;
		rec.ref.off = got.off;
		rec.ref.len = (uint32_t)line.n;
		got.off += line.n + 1;
		got.json[got.njson] = hf_json_parse(line, HF_JSON_RAW, NULL,
		    NULL, &err);
		if (got.json[got.njson] == NULL) {
			CHECK_STR(err.msg, "a row");
			return;
		}
		rec.v = hf_json_root(got.json[got.njson++]);
		CODEX->row(&got.sc, &rec);
	}
}

/* id: what the file's name says; NULL: nothing. */
static void
feed_as(const char *id, const char *text)
{
	forget();
	got.s.agent = CODEX;
	if (id != NULL)
		got.s.id = hf_strdup(id);
	got.sc.session = &got.s;
	got.sc.own = hf_calloc(1, CODEX->own_size);
	got.sc.emit = emit;
	hf_arena_init(&got.sc.arena);
	more(text, 1);
}

static void
feed(const char *text)
{
	feed_as(NULL, text);
}

static const struct hf_block *
block(size_t row, size_t i)
{
	static const struct hf_block nothing;

	hf_blocks_clear(&got.blocks);
	hf_codex_blocks(&got.row[row], &got.blocks);
	return i < got.blocks.n ? &got.blocks.b[i] : &nothing;
}

static bool
is(struct hf_str a, const char *want)
{
	bool same = hf_str_is(a, want) || (a.n == 0 && want[0] == '\0');

	if (!same)
		printf("# got \"%.*s\"\n", (int)a.n, a.n > 0 ? a.s : "");
	return same;
}

static struct hf_str
arg(const struct hf_block *b, const char *key)
{
	return hf_json_get_str(b->args, key);
}

/* How many rows of a kind there are that count. */
static size_t
kinds(enum hf_row_kind kind)
{
	size_t i, n = 0;

	for (i = 0; i < got.n; i++)
		n += got.row[i].kind == kind &&
		    !(got.row[i].flags & HF_ROW_KEPT);
	return n;
}

/* What the rows say of the turn, the last that says something. */
static enum hf_turn
state(void)
{
	size_t i;

	for (i = got.n; i > 0; i--)
		if (got.row[i - 1].turn != HF_TURN_NONE)
			return got.row[i - 1].turn;
	return HF_TURN_NONE;
}

#define AT(s)	"{\"timestamp\":\"2026-01-15T09:00:" s ".000Z\",\"type\":"
#define T	AT("05")
#define META(id, more) AT("00") "\"session_meta\",\"payload\":{\"id\":\"" \
	id "\",\"timestamp\":\"2026-01-15T09:00:00.000Z\",\"cwd\":\"/w\"," \
	"\"cli_version\":\"0.125.0\"" more "}}\n"
#define OWN	META(ID1, ",\"source\":\"cli\"")
#define ITEM(body) T "\"response_item\",\"payload\":{" body "}}\n"
#define EVENT(type, body) T "\"event_msg\",\"payload\":{\"type\":\"" type \
	"\"" body "}}\n"
#define MSG(role, text) ITEM("\"type\":\"message\",\"role\":\"" role \
	"\",\"content\":[{\"type\":\"x_text\",\"text\":\"" text "\"}]")
#define USER(text) MSG("user", text)
#define SAID(text) MSG("assistant", text)
#define TYPED(text) EVENT("user_message", ",\"message\":\"" text "\"")
#define DONE(type, body) EVENT("item_completed", ",\"item\":{\"type\":\"" \
	type "\"," body "}")
#define START(turn) EVENT("task_started", ",\"turn_id\":\"" turn \
	"\",\"model_context_window\":1000")
#define END(turn) EVENT("task_complete", ",\"turn_id\":\"" turn "\"")
#define ABORT(turn, why) EVENT("turn_aborted", ",\"turn_id\":\"" turn \
	"\",\"reason\":\"" why "\"")
#define CALL(id) ITEM("\"type\":\"function_call\",\"name\":" \
	"\"exec_command\",\"arguments\":\"{\\\"cmd\\\":\\\"make\\\"}\"," \
	"\"call_id\":\"" id "\"")
#define OUTPUT(id, text) ITEM("\"type\":\"function_call_output\"," \
	"\"call_id\":\"" id "\",\"output\":\"" text "\"")

static void
test_list(void)
{
	feed(OWN START("t") USER("Go.") TYPED("Go.") CALL("c")
	    OUTPUT("c", "x") SAID("Done.") END("t"));
	CHECK_INT(got.n, 8);
	CHECK(got.sc.recognised);
	CHECK_STR(got.s.id, ID1);
	CHECK_STR(got.s.cwd, "/w");
	CHECK_STR(got.s.version, "0.125.0");
	CHECK_STR(got.s.title, "Go.");
	CHECK(!got.s.titled && !got.s.headless && !got.s.subagent);
	CHECK(!(got.row[0].flags & HF_ROW_CHAIN));
	CHECK_INT(got.row[1].turn, HF_TURN_OPEN);
	CHECK_INT(got.row[1].window, 1000);
	CHECK_INT(got.row[2].kind, HF_ROW_PROMPT);
	CHECK_INT(got.row[2].parent, HF_PARENT_PREV);
	CHECK_INT(got.row[2].turn, HF_TURN_NONE);
	CHECK_INT(got.row[2].time, hf_clock_parse(hf_str(
	    "2026-01-15T09:00:05.000Z")));
	CHECK_INT(got.row[3].kind, HF_ROW_OTHER);
	CHECK(!(got.row[3].flags & HF_ROW_CHAIN));
	CHECK_INT(got.row[4].kind, HF_ROW_ASSISTANT);
	CHECK_INT(got.row[5].kind, HF_ROW_RESULT);
	CHECK_INT(got.row[6].kind, HF_ROW_ASSISTANT);
	CHECK(!(got.row[6].flags & HF_ROW_SYNTHETIC));
	CHECK_INT(got.row[7].turn, HF_TURN_CLOSED);
	/* Nothing of it: no row, no payload. */
	feed("{\"type\":\"thread.started\",\"thread_id\":\"x\"}\n"
	    "{\"type\":\"event_msg\"}\n{\"payload\":{}}\n");
	CHECK(!got.sc.recognised);
	CHECK_INT(got.n, 3);
}

static void
test_turns(void)
{
	feed(OWN START("a") END("a") START("b") END("a"));
	CHECK_INT(state(), HF_TURN_OPEN);	/* another turn's end */
	feed(OWN START("a") ABORT("a", "interrupted"));
	CHECK_INT(state(), HF_TURN_INTERRUPTED);
	CHECK_INT(got.row[2].kind, HF_ROW_INTERRUPT);
	feed(OWN START("a") ABORT("a", "review_ended"));
	CHECK_INT(state(), HF_TURN_CLOSED);
	CHECK_INT(kinds(HF_ROW_INTERRUPT), 0);
	/* One that was killed stays open; the next is simply added. */
	feed(OWN START("a") START("b") END("b"));
	CHECK_INT(state(), HF_TURN_CLOSED);
	/* Its start was lost. */
	feed(OWN ABORT("a", "interrupted"));
	CHECK_INT(state(), HF_TURN_INTERRUPTED);
	/* Without marks of turns the items tell. */
	feed(OWN USER("Go.") TYPED("Go."));
	CHECK_INT(state(), HF_TURN_OPEN);
	more(CALL("c"), 10);
	CHECK_INT(state(), HF_TURN_OPEN);
	more(OUTPUT("c", "x"), 11);
	CHECK_INT(state(), HF_TURN_OPEN);
	more(SAID("Done."), 12);
	CHECK_INT(state(), HF_TURN_CLOSED);
	more(USER("<environment_context>x"), 13);
	CHECK_INT(state(), HF_TURN_CLOSED);
	/* Reading that jumped knows of no open turn any more. */
	feed(OWN START("a") USER("Go."));
	more(END("b"), 2);
	CHECK_INT(state(), HF_TURN_CLOSED);
}

#define PIECES(...) ITEM("\"type\":\"message\",\"role\":\"user\"," \
	"\"content\":[" __VA_ARGS__ "]")
#define PIECE(text) "{\"type\":\"input_text\",\"text\":\"" text "\"}"

static void
test_prompts(void)
{
	feed(OWN TYPED("Go.") T "\"turn_context\",\"payload\":{}}\n"
	    USER("Go."));
	CHECK_INT(kinds(HF_ROW_PROMPT), 1);
	CHECK_INT(got.row[1].kind, HF_ROW_PROMPT);
	/* Asked twice in the same words. */
	feed(OWN USER("Go on.") TYPED("Go on.") USER("Go on.")
	    TYPED("Go on."));
	CHECK_INT(kinds(HF_ROW_PROMPT), 2);
	feed(OWN USER("One.") SAID("1") USER("One.") SAID("1"));
	CHECK_INT(kinds(HF_ROW_PROMPT), 2);	/* items only */
	feed(OWN USER("One.") TYPED("One.") TYPED("One."));
	CHECK_INT(kinds(HF_ROW_PROMPT), 2);	/* an item was lost */
	feed(OWN TYPED("One.") TYPED("Two."));
	CHECK_INT(kinds(HF_ROW_PROMPT), 2);	/* events only */
	feed(OWN USER("One.") DONE("UserMessage", "\"content\":[{\"type\":"
	    "\"text\",\"text\":\"One.\"}]"));
	CHECK_INT(kinds(HF_ROW_PROMPT), 1);
	/* A picture's labels, a text beside, blanks around. */
	feed(OWN PIECES(PIECE("<image name=[Image #1]>")
	    ",{\"type\":\"input_image\",\"image_url\":\"data:AAAA\"},"
	    PIECE("</image>") "," PIECE("See this.")) TYPED("See this. "));
	CHECK_INT(kinds(HF_ROW_PROMPT), 1);
	CHECK_STR(got.s.title, "See this.");
	feed(OWN PIECES(PIECE("AB") "," PIECE("CD")) TYPED("ABCD"));
	CHECK_INT(kinds(HF_ROW_PROMPT), 1);
	feed(OWN PIECES(PIECE("One.") "," PIECE("<x>more</x>"))
	    TYPED("One."));
	CHECK_INT(kinds(HF_ROW_PROMPT), 1);
	feed(OWN PIECES("{\"type\":\"input_image\"}") TYPED(""));
	CHECK_INT(kinds(HF_ROW_PROMPT), 1);
	/* Old clients told all of role user by events. */
	feed(OWN EVENT("user_message", ",\"message\":\"x\",\"kind\":"
	    "\"user_instructions\"") EVENT("user_message",
	    ",\"message\":\"y\",\"kind\":\"plain\""));
	CHECK_INT(kinds(HF_ROW_PROMPT), 1);
	CHECK_STR(got.s.title, "y");
}

static void
test_harness(void)
{
	static const char *const texts[] = { "<environment_context>\\nx",
		"# AGENTS.md instructions for /w\\n", "<turn_aborted>\\nx",
		"<user_instructions>x", "<skill>\\n<name>x</name>",
		"<subagent_notification>{}", "<hook_prompt hook_run_id='1'>",
		"Warning: apply_patch was requested via exec_command. x",
		("Another language model started to solve this problem and "
		"produced a summary of its thinking process. x") };
	static const char *const own[] = { "<b>bold</b> please",
		"<handoff> me", "Warning: it fails", "# AGENTS.md is wrong",
		"<_>x", "a <environment_context>" };
	struct hf_buf b = HF_BUF_INIT;
	size_t i;

	hf_buf_puts(&b, OWN);
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		hf_buf_printf(&b, USER("%s"), texts[i]);
	hf_buf_puts(&b, MSG("developer", "x") MSG("system", "x")
	    PIECES(PIECE("It says.")) "");
	feed(hf_buf_cstr(&b));
	CHECK_INT(kinds(HF_ROW_INJECTED), i + 2);
	CHECK_INT(kinds(HF_ROW_PROMPT), 1);
	hf_buf_clear(&b);
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		hf_buf_printf(&b, USER("%s"), own[i]);
	feed(hf_buf_cstr(&b));
	CHECK_INT(kinds(HF_ROW_PROMPT), i);
	hf_buf_release(&b);
#define FROM(type) ITEM("\"type\":\"message\",\"role\":\"user\"," \
	"\"content\":[" PIECE("x") "],\"internal_chat_message_metadata_" \
	"passthrough\":{\"content_item_metadata\":[{\"provenance\":" \
	"{\"type\":\"" type "\"}}]}")
	feed(OWN FROM("harness") FROM("user") FROM("other"));
	CHECK_INT(got.row[1].kind, HF_ROW_INJECTED);
	CHECK_INT(got.row[2].kind, HF_ROW_PROMPT);
	CHECK_INT(got.row[3].kind, HF_ROW_PROMPT);
}

static void
test_seed(void)
{
	feed(OWN USER("<handoff-context>\\nb") TYPED("<handoff-context>\\nb")
	    SAID("ok") EVENT("agent_message", ",\"message\":\"ok\"")
	    START("t") USER("Go.") TYPED("Go.") SAID("Done."));
	CHECK_INT(got.row[1].kind, HF_ROW_SEED);
	CHECK_INT(got.row[2].kind, HF_ROW_OTHER);
	CHECK(got.row[3].flags & HF_ROW_SYNTHETIC);
	CHECK_INT(got.row[3].turn, HF_TURN_CLOSED);
	CHECK_INT(kinds(HF_ROW_PROMPT), 1);
	CHECK(!(got.row[8].flags & HF_ROW_SYNTHETIC));
	CHECK_STR(got.s.title, "Go.");
	/* Without the acknowledgement the first answer is one. */
	feed(OWN USER("<handoff-context>b") START("t") SAID("Done."));
	CHECK(!(got.row[3].flags & HF_ROW_SYNTHETIC));
	CHECK_INT(got.row[1].turn, HF_TURN_CLOSED);
}

static void
test_rollback(void)
{
	feed(OWN USER("1") TYPED("1") SAID("a") USER("2") TYPED("2")
	    SAID("b") USER("3") TYPED("3") SAID("c")
	    EVENT("thread_rolled_back", ",\"num_turns\":2")
	    USER("4") EVENT("thread_rolled_back", ",\"num_turns\":9")
	    EVENT("thread_rolled_back", ",\"num_turns\":1"));
	CHECK_INT(got.row[10].parent, HF_PARENT_BEFORE);
	CHECK_STR(got.up[10], got.id[4]);
	CHECK_INT(got.row[10].turn, HF_TURN_CLOSED);
	CHECK_INT(got.row[11].parent, HF_PARENT_PREV);
	CHECK_INT(got.row[12].parent, HF_PARENT_BEFORE);
	CHECK_STR(got.up[12], got.id[1]);
	CHECK(!(got.row[13].flags & HF_ROW_CHAIN));
}

/* ---- usage ---- */

#define COUNTS(in, cached, written, out) "{\"input_tokens\":" #in \
	",\"cached_input_tokens\":" #cached ",\"cache_write_input_tokens\":" \
	#written ",\"output_tokens\":" #out ",\"total_tokens\":"
#define TOKENS(total, last, context) EVENT("token_count", ",\"info\":{" \
	"\"total_token_usage\":" total "0},\"last_token_usage\":" last \
	#context "},\"model_context_window\":1000}")

/* The growth of row i: input, read, written, output. */
static bool
grew(size_t i, int64_t in, int64_t read, int64_t written, int64_t out)
{
	const struct hf_usage *u = &got.row[i].usage;
	bool any = in + read + written + out > 0;

	if (u->input == in && u->cache_read == read &&
	    u->cache_write == written && u->output == out &&
	    got.row[i].has_usage == any &&
	    !!(got.row[i].flags & HF_ROW_GROWTH) == any)
		return true;
	printf("# got %lld %lld %lld %lld\n", (long long)u->input,
	    (long long)u->cache_read, (long long)u->cache_write,
	    (long long)u->output);
	return false;
}

static void
test_usage(void)
{
	feed(OWN TOKENS(COUNTS(10, 4, 1, 2), COUNTS(10, 4, 1, 2), 12)
	    TOKENS(COUNTS(10, 4, 1, 2), COUNTS(10, 4, 1, 2), 12)
	    TOKENS(COUNTS(30, 14, 1, 5), COUNTS(20, 10, 0, 3), 23)
	    EVENT("token_count", ",\"info\":null")
	    T "\"token_usage_record\",\"payload\":{\"usage\":{"
	    "\"input_tokens\":9}}}\n");
	CHECK(grew(1, 5, 4, 1, 2));
	CHECK_INT(got.row[1].context, 12);
	CHECK_INT(got.row[1].window, 1000);
	CHECK(got.row[1].flags & HF_ROW_CHAIN);
	CHECK_INT(got.row[1].kind, HF_ROW_OTHER);
	CHECK(grew(2, 0, 0, 0, 0));
	CHECK(grew(3, 10, 10, 0, 3));
	CHECK(grew(4, 0, 0, 0, 0));
	CHECK_INT(got.row[4].context, -1);
	CHECK(!(got.row[4].flags & HF_ROW_CHAIN));
	CHECK(grew(5, 0, 0, 0, 0));
	/* The rows before the first figure were lost. */
	feed(OWN TOKENS(COUNTS(30, 0, 0, 5), COUNTS(20, 0, 0, 3), 23));
	CHECK(grew(1, 30, 0, 0, 5));
	/* Odd types; a counter that began again. */
	feed(OWN TOKENS(COUNTS(30, 0, 0, 5), COUNTS(30, 0, 0, 5), 35.7)
	    TOKENS(COUNTS("40", -1, null, {}), COUNTS([], 0, 0, -3), -1)
	    TOKENS(COUNTS(8, 0, 0, 2), COUNTS(8, 0, 0, 2), 10));
	CHECK_INT(got.row[1].context, 35);
	CHECK(grew(2, 0, 0, 0, 0));
	CHECK_INT(got.row[2].context, -1);
	CHECK(grew(3, 8, 0, 0, 2));
}

#define FORK(more) META(ID1, ",\"forked_from_id\":\"" ID2 "\"" more)

static void
test_fork_usage(void)
{
	/* The parent's total, before a call and behind the first one. */
	feed(FORK("") TOKENS(COUNTS(900, 0, 0, 90), COUNTS(0, 0, 0, 0), 0)
	    TOKENS(COUNTS(911, 0, 0, 91), COUNTS(11, 0, 0, 1), 12));
	CHECK(grew(1, 0, 0, 0, 0));
	CHECK(grew(2, 11, 0, 0, 1));
	feed(FORK("") TOKENS(COUNTS(911, 0, 0, 91), COUNTS(11, 0, 0, 1), 12));
	CHECK(grew(1, 11, 0, 0, 1));
	feed(FORK("") TOKENS(COUNTS(14, 0, 0, 7), COUNTS(14, 0, 0, 7), 21));
	CHECK(grew(1, 14, 0, 0, 7));
	/* The parent's file was read before: its figures are known. */
#define PARENT	META(ID2, "") TOKENS(COUNTS(10, 0, 0, 2), \
	COUNTS(10, 0, 0, 2), 12) TOKENS(COUNTS(30, 0, 0, 5), \
	COUNTS(20, 0, 0, 3), 23)
	feed_as(ID1, PARENT FORK("") TOKENS(COUNTS(30, 0, 0, 5),
	    COUNTS(20, 0, 0, 3), 23) TOKENS(COUNTS(40, 0, 0, 6),
	    COUNTS(10, 0, 0, 1), 11));
	CHECK_STR(got.s.id, ID1);
	CHECK_STR(got.s.parent, ID2);
	CHECK(grew(4, 0, 0, 0, 0));
	CHECK(grew(5, 10, 0, 0, 1));
	feed_as(ID1, PARENT FORK("") TOKENS(COUNTS(50, 0, 0, 6),
	    COUNTS(50, 0, 0, 6), 56));
	CHECK(grew(4, 50, 0, 0, 6));	/* from zero, and beyond */
	feed_as(ID1, META(ID2, "") TOKENS(COUNTS(10, 0, 0, 2),
	    COUNTS(10, 0, 0, 2), 12) FORK("") TOKENS(COUNTS(10, 0, 0, 2),
	    COUNTS(10, 0, 0, 2), 12));
	CHECK(grew(3, 0, 0, 0, 0));	/* said again */
}

/* ---- compactions ---- */

#define COMPACTED(body) T "\"compacted\",\"payload\":{" body "}}\n"
#define KEPT(role, text) "{\"type\":\"message\",\"role\":\"" role \
	"\",\"content\":[{\"type\":\"x_text\",\"text\":\"" text "\"}]}"

static void
test_compaction(void)
{
	feed(OWN USER("One.") TYPED("One.") SAID("1")
	    COMPACTED("\"message\":\"Sum.\",\"replacement_history\":["
	    KEPT("user", "One.") "," KEPT("developer", "d") ","
	    KEPT("user", "<environment_context>") ","
	    "{\"type\":\"function_call\",\"name\":\"f\",\"call_id\":\"c\","
	    "\"arguments\":\"{}\"},{\"type\":\"function_call_output\","
	    "\"call_id\":\"c\",\"output\":\"o\"},"
	    KEPT("assistant", "1") "," KEPT("user", "Sum.") "]")
	    USER("<environment_context>") USER("One."));
	CHECK_INT(got.row[4].kind, HF_ROW_COMPACTION);
	CHECK(!(got.row[4].flags & HF_ROW_KEEPS_CONTEXT));
	CHECK_STR(got.kept[4], "");
	CHECK(is(block(4, 0)->text, "Sum."));
	CHECK_INT(got.blocks.n, 1);
	CHECK_INT(got.n, 11);
	CHECK_INT(got.row[5].kind, HF_ROW_PROMPT);
	CHECK_INT(got.row[6].kind, HF_ROW_ASSISTANT);
	CHECK_INT(got.row[7].kind, HF_ROW_RESULT);
	CHECK_INT(got.row[8].kind, HF_ROW_ASSISTANT);
	CHECK_INT(got.row[8].ref.item, 4);
	CHECK(is(block(5, 0)->text, "One."));
	CHECK_INT(block(6, 0)->kind, HF_BLOCK_CALL);
	CHECK(is(block(7, 0)->text, "o"));
	/* What the client says again is no turn, what the user does is. */
	CHECK(got.row[10].flags & HF_ROW_KEPT);
	CHECK_INT(kinds(HF_ROW_PROMPT), 1);
	more(TYPED("One."), 20);
	CHECK_INT(kinds(HF_ROW_PROMPT), 2);
	/* A summary that is an item too, and one that is marked. */
	feed(OWN T "\"response_item\",\"payload\":{\"type\":\"message\","
	    "\"role\":\"assistant\",\"content\":[]},\"metadata\":{"
	    "\"compaction_output\":true}}\n");
	CHECK_INT(got.row[1].kind, HF_ROW_SUMMARY);
}

static void
test_sealed(void)
{
	/* Unreadable summaries: what they were made of is shown. */
	feed(OWN USER("One.") COMPACTED("\"message\":\"Sum.\"")
	    SAID("1") COMPACTED("\"message\":\"\",\"replacement_history\":["
	    KEPT("user", "One.") ",{\"type\":\"compaction\","
	    "\"encrypted_content\":\"x\"}]") SAID("2")
	    COMPACTED("\"message\":\"\""));
	CHECK_INT(got.n, 7);
	CHECK_STR(got.kept[2], "");
	CHECK_STR(got.kept[4], got.id[2]);
	CHECK_STR(got.kept[6], got.id[2]);
	feed(OWN COMPACTED("\"message\":\"\",\"replacement_history\":["
	    KEPT("user", "One.") "]"));
	CHECK_INT(got.n, 3);
	CHECK_STR(got.kept[1], "");
}

static void
test_estimate(void)
{
#define ESTIMATE TOKENS(COUNTS(9, 0, 0, 9), COUNTS(0, 0, 0, 0), 70)
#define REAL	TOKENS(COUNTS(9, 0, 0, 9), COUNTS(9, 0, 0, 9), 18)
	feed(OWN REAL ESTIMATE COMPACTED("\"message\":\"s\""));
	CHECK(!(got.row[1].flags & HF_ROW_KEEPS_CONTEXT));
	CHECK(got.row[2].flags & HF_ROW_KEEPS_CONTEXT);
	CHECK_INT(got.row[2].context, 70);
	CHECK(got.row[3].flags & HF_ROW_KEEPS_CONTEXT);
	feed(OWN REAL COMPACTED("\"message\":\"s\"") ESTIMATE);
	CHECK(!(got.row[2].flags & HF_ROW_KEEPS_CONTEXT));
	CHECK(got.row[3].flags & HF_ROW_KEEPS_CONTEXT);
}

/* ---- the session ---- */

static void
test_meta(void)
{
	feed(META(ID1, ",\"source\":\"exec\",\"model_provider\":\"p\","
	    "\"git\":{\"branch\":\"b\"}"));
	CHECK(got.s.headless && !got.s.subagent);
	CHECK_STR(got.s.provider, "p");
	CHECK_STR(got.s.branch, "b");
	feed(META(ID1, ",\"source\":{\"subagent\":{\"thread_spawn\":{"
	    "\"parent_thread_id\":\"" ID2 "\"}}}"));
	CHECK(got.s.subagent && !got.s.headless);
	CHECK_STR(got.s.parent, ID2);
	feed(META(ID1, ",\"source\":{\"subagent\":\"review\"}"));
	CHECK(got.s.subagent);
	feed(META(ID1, ",\"source\":{\"internal\":\"guardian\"}"));
	CHECK(got.s.subagent);
	feed(OWN T "\"handoff_meta\",\"payload\":{\"parent_session\":\"P\"}}"
	    "\n");
	CHECK_STR(got.s.parent, "P");
	feed(OWN T "\"turn_context\",\"payload\":{\"cwd\":\"/x\",\"model\":"
	    "\"m\",\"approval_policy\":\"on-request\"}}\n");
	CHECK_STR(got.s.model, "m");
	CHECK_STR(got.s.permission, "on-request");
	CHECK_STR(got.s.cwd, "/w");
	/* The first row is damaged; a policy of the user's own. */
	feed_as(ID1, T "\"turn_context\",\"payload\":{\"cwd\":\"/x\","
	    "\"approval_policy\":{\"granular\":{}}}}\n");
	CHECK_STR(got.s.id, ID1);
	CHECK_STR(got.s.cwd, "/x");
	CHECK_STR(got.s.permission, "granular");
	feed(OWN EVENT("thread_name_updated", ",\"thread_name\":\"N\"")
	    EVENT("thread_name_updated", ",\"thread_name\":\" \"")
	    USER("Go.") EVENT("error", ",\"message\":\"x\""));
	CHECK_STR(got.s.title, "N");
	CHECK(got.s.titled);
	CHECK(got.row[4].flags & HF_ROW_ERROR);
	/* A file that was given another name is that session still. */
	feed_as(ID3, OWN USER("Go."));
	CHECK_STR(got.s.id, ID3);
	CHECK_STR(got.s.cwd, "/w");
}

#define LATER(s, text) AT(s) "\"response_item\",\"payload\":{\"type\":" \
	"\"message\",\"role\":\"user\",\"content\":\"" text "\"}}\n"
/* A fork that copied its parent's rows, written anew or as they were. */
static void
test_copies(void)
{
	feed(AT("10") "\"session_meta\",\"payload\":{\"id\":\"" ID1
	    "\",\"timestamp\":\"2026-01-15T09:00:10.000Z\","
	    "\"forked_from_id\":\"" ID2 "\"}}\n"
	    META(ID2, ",\"cwd\":\"/other\"") START("a") USER("Old.")
	    TYPED("Old.") TOKENS(COUNTS(9, 0, 0, 1), COUNTS(9, 0, 0, 1), 10)
	    AT("12") "\"response_item\",\"payload\":{\"type\":\"message\","
	    "\"role\":\"user\",\"content\":\"New.\"}}\n"
	    AT("13") "\"event_msg\",\"payload\":{\"type\":\"token_count\","
	    "\"info\":{\"total_token_usage\":" COUNTS(12, 0, 0, 3)
	    "0},\"last_token_usage\":" COUNTS(3, 0, 0, 2) "5}}}}\n");
	CHECK_STR(got.s.id, ID1);
	CHECK_STR(got.s.parent, ID2);
	CHECK(got.s.cwd == NULL);
	CHECK(got.row[1].flags & HF_ROW_INHERITED);
	CHECK_INT(got.row[2].turn, HF_TURN_NONE);
	CHECK_INT(got.row[3].kind, HF_ROW_PROMPT);
	CHECK(got.row[3].flags & HF_ROW_INHERITED);
	CHECK(grew(5, 9, 0, 0, 1));
	CHECK(got.row[5].flags & HF_ROW_INHERITED);
	CHECK_INT(got.row[6].kind, HF_ROW_PROMPT);
	CHECK(!(got.row[6].flags & HF_ROW_INHERITED));
	CHECK(grew(7, 3, 0, 0, 2));
	/* Of a fork, what is older than it is. */
	feed(AT("10") "\"session_meta\",\"payload\":{\"id\":\"" ID1
	    "\",\"timestamp\":\"2026-01-15T09:00:10.000Z\","
	    "\"forked_from_id\":\"" ID2 "\"}}\n" USER("Old.")
	    LATER("10", "New."));
	CHECK(got.row[1].flags & HF_ROW_INHERITED);
	CHECK(!(got.row[2].flags & HF_ROW_INHERITED));
	/* Copying that takes its time, without a pause. */
	feed(META(ID1, "") META(ID2, "") LATER("01", "1") LATER("02", "2")
	    LATER("04", "3"));
	CHECK(got.row[3].flags & HF_ROW_INHERITED);
	CHECK(!(got.row[4].flags & HF_ROW_INHERITED));
	/* All written in one second: the ids of the turns tell. */
#define BEGUN(turn) AT("00") "\"event_msg\",\"payload\":{\"type\":" \
	"\"task_started\",\"turn_id\":\"" turn "\"}}\n"
	feed(META(ID1, "") META(ID2, "")
	    BEGUN("019b0000-0000-7000-8000-000000000001") LATER("00", "Old.")
	    BEGUN("01a22e00-0009-7000-8000-000000000001") LATER("00", "New."));
	CHECK(got.row[3].flags & HF_ROW_INHERITED);
	CHECK(!(got.row[4].flags & HF_ROW_INHERITED));
	CHECK_INT(got.row[4].turn, HF_TURN_OPEN);
	CHECK(!(got.row[5].flags & HF_ROW_INHERITED));
	/* A parent's open turn, in its own part, is not the fork's. */
	feed_as(ID1, META(ID2, "") START("a") USER("Old.") FORK(""));
	CHECK_INT(state(), HF_TURN_EXIT);
}

/* ---- blocks ---- */

static void
test_calls(void)
{
	feed(OWN CALL("c") ITEM("\"type\":\"custom_tool_call\",\"name\":"
	    "\"apply_patch\",\"call_id\":\"d\",\"input\":\"*** Begin "
	    "Patch\\n*** Add File: a\"") ITEM("\"type\":\"local_shell_call\""
	    ",\"call_id\":\"e\",\"action\":{\"type\":\"exec\",\"command\":"
	    "[\"ls\",\"-l\"]}") ITEM("\"type\":\"web_search_call\","
	    "\"status\":\"completed\",\"action\":{\"query\":\"q\"}")
	    ITEM("\"type\":\"function_call\",\"name\":\"f\",\"call_id\":"
	    "\"g\",\"arguments\":\"{\\\"a\\\":\"")
	    ITEM("\"type\":\"reasoning\",\"summary\":[{\"type\":"
	    "\"summary_text\",\"text\":\"Hm.\"}],\"encrypted_content\":"
	    "\"x\""));
	CHECK_INT(block(1, 0)->kind, HF_BLOCK_CALL);
	CHECK(is(block(1, 0)->name, "exec_command"));
	CHECK(is(block(1, 0)->id, "c"));
	CHECK(is(arg(block(1, 0), "cmd"), "make"));
	CHECK(is(block(2, 0)->name, "apply_patch"));
	CHECK(is(arg(block(2, 0), "input"),
	    "*** Begin Patch\n*** Add File: a"));
	CHECK(is(block(3, 0)->name, "local_shell"));
	CHECK_INT(hf_json_size(hf_json_get(block(3, 0)->args, "command")),
	    2);
	CHECK(is(block(4, 0)->name, "web_search"));
	CHECK_INT(block(4, 1)->kind, HF_BLOCK_RESULT);
	CHECK(hf_str_eq(got.blocks.b[0].id, got.blocks.b[1].id));
	CHECK(is(arg(block(5, 0), "input"), "{\"a\":"));
	CHECK_INT(block(6, 0)->kind, HF_BLOCK_THINKING);
	CHECK(is(block(6, 0)->text, "Hm."));
	CHECK_INT(got.row[6].kind, HF_ROW_ASSISTANT);
}

/* What becomes of an output: its text, status, and whether it failed. */
static bool
outputs(const char *json, const char *text, int status, bool error)
{
	struct hf_buf b = HF_BUF_INIT;
	const struct hf_block *o;
	bool good;

	hf_buf_printf(&b, OWN ITEM("\"type\":\"custom_tool_call_output\","
	    "\"call_id\":\"c\",\"output\":%s"), json);
	feed(hf_buf_cstr(&b));
	hf_buf_release(&b);
	o = block(1, 0);
	good = o->kind == HF_BLOCK_RESULT && is(o->id, "c") &&
	    is(o->text, text) && o->exit == status && o->error == error;
	if (!good)
		printf("# exit %d, error %d\n", o->exit, o->error);
	return good;
}

static void
test_outputs(void)
{
	CHECK(outputs("\"Chunk ID: 1\\nWall time: 0.0 seconds\\nProcess "
	    "exited with code 3\\nOriginal token count: 3\\nOutput:\\nno\\n\"",
	    "no\n", 3, true));
	CHECK(outputs("\"Exit code: 0\\nWall time: 1 seconds\\nOutput:\\n"
	    "Exit code: 9\"", "Exit code: 9", 0, false));
	CHECK(outputs("\"Wall time: 0.0 seconds\\nOutput:\\nExit code: 0\\n"
	    "Wall time: 0 seconds\\nOutput:\\nSuccess.\"", "Success.", 0,
	    false));
	CHECK(outputs("\"Process exited with code 0\"", "", 0, false));
	CHECK(outputs("\"Process exited with code 0\\nExit code: 9\"",
	    "Exit code: 9", 0, false));
	CHECK(outputs("\"Chunk ID: 1\\nProcess running with session ID 5"
	    "\\nOutput:\\nx\"", "Chunk ID: 1\nProcess running with session "
	    "ID 5\nOutput:\nx", HF_EXIT_UNKNOWN, false));
	CHECK(outputs("\"plain\\nProcess exited with code 1\"",
	    "plain\nProcess exited with code 1", HF_EXIT_UNKNOWN, false));
	CHECK(outputs("\"{\\\"output\\\":\\\"x\\\",\\\"metadata\\\":{"
	    "\\\"exit_code\\\":2}}\"", "x", 2, true));
	CHECK(outputs("\"{\\\"output\\\":\"", "{\"output\":",
	    HF_EXIT_UNKNOWN, false));
	CHECK(outputs("\"apply_patch verification failed: x\"",
	    "apply_patch verification failed: x", HF_EXIT_UNKNOWN, true));
	CHECK(outputs("\"aborted\"", "aborted", HF_EXIT_UNKNOWN, true));
	CHECK(outputs("{\"content\":\"x\",\"success\":false}", "x",
	    HF_EXIT_UNKNOWN, true));
	CHECK(outputs("[{\"type\":\"input_text\",\"text\":\"x\"},{\"type\":"
	    "\"input_image\"}]", "x\n[input_image]", HF_EXIT_UNKNOWN,
	    false));
	CHECK(outputs("null", "", HF_EXIT_UNKNOWN, false));
	CHECK(outputs("\"Exit code: 70000\"", "Exit code: 70000",
	    HF_EXIT_UNKNOWN, false));
}

static void
test_user_shell(void)
{
	feed(OWN USER("<user_shell_command>\\n<command>\\nmake\\n</command>"
	    "\\n<result>\\nExit code: 2\\nDuration: 0.1 seconds\\nOutput:\\n"
	    "no rule\\n</result>\\n</user_shell_command>")
	    DONE("CommandExecution", "\"source\":\"user_shell\",\"id\":\"x\""
	    ));
	CHECK_INT(got.row[1].kind, HF_ROW_RESULT);
	CHECK_INT(got.row[1].turn, HF_TURN_NONE);
	CHECK_INT(got.row[2].kind, HF_ROW_OTHER);
	CHECK(got.s.title == NULL);
	CHECK_INT(block(1, 0)->kind, HF_BLOCK_CALL);
	CHECK(is(arg(block(1, 0), "command"), "make"));
	CHECK(is(block(1, 1)->text, "no rule"));
	CHECK_INT(block(1, 1)->exit, 2);
	CHECK(block(1, 1)->error);
}

/* Calls that a script of the model's made, told by the client alone. */
static void
test_done_items(void)
{
	feed(OWN CALL("c") DONE("CommandExecution", "\"id\":\"c\"")
	    DONE("CommandExecution", "\"id\":\"d\",\"command\":[\"/bin/bash\""
	    ",\"-lc\",\"make\"],\"cwd\":\"file:///w/x\",\"status\":\"failed\""
	    ",\"aggregated_output\":\"no\",\"exit_code\":2")
	    DONE("FileChange", "\"id\":\"e\",\"changes\":{\"/w/a\":{\"type\":"
	    "\"add\"},\"/w/b\":{\"type\":\"delete\"},\"/w/c\":{\"type\":"
	    "\"update\",\"move_path\":\"/w/d\"}},\"status\":\"completed\","
	    "\"stdout\":\"ok\"") DONE("AgentMessage", "\"id\":\"f\""));
	CHECK_INT(got.row[2].kind, HF_ROW_OTHER);
	CHECK_INT(got.row[3].kind, HF_ROW_RESULT);
	CHECK(is(block(3, 0)->name, "exec_command"));
	CHECK(is(arg(block(3, 0), "workdir"), "/w/x"));
	CHECK_INT(hf_json_size(hf_json_get(block(3, 0)->args, "command")),
	    3);
	CHECK_INT(block(3, 1)->exit, 2);
	CHECK(block(3, 1)->error);
	CHECK(is(arg(block(4, 0), "input"), "*** Begin Patch\n"
	    "*** Add File: /w/a\n*** Delete File: /w/b\n"
	    "*** Update File: /w/c\n*** Move to: /w/d\n*** End Patch\n"));
	CHECK(!block(4, 1)->error);
	CHECK_INT(got.row[5].kind, HF_ROW_OTHER);
}

static void
test_pictures(void)
{
	feed(OWN PIECES(PIECE("<image name=[Image #1]>")
	    ",{\"type\":\"input_image\",\"image_url\":\"data:AAAA\"},"
	    PIECE("</image>") "," PIECE("See.")) EVENT("user_message",
	    ",\"message\":\"Other.\",\"images\":[\"data:AAAA\"],"
	    "\"local_images\":[\"/w/a.png\"]"));
	CHECK(is(block(1, 0)->text, "[image]"));
	CHECK(is(block(1, 1)->text, "See."));
	CHECK_INT(got.blocks.n, 2);
	CHECK(is(block(2, 0)->text, "Other."));
	CHECK(is(block(2, 1)->text, "[image /w/a.png]"));
	CHECK(is(block(2, 2)->text, "[image]"));
	CHECK_INT(got.blocks.n, 3);
}

/* ---- the tools ---- */

static bool
acts(const char *item, enum hf_action_kind kind, const char *path,
    const char *command)
{
	static struct hf_actions as;
	struct hf_buf b = HF_BUF_INIT;
	bool good;

	hf_buf_printf(&b, OWN ITEM("%s"), item);
	feed(hf_buf_cstr(&b));
	hf_buf_release(&b);
	hf_actions_of(CODEX, block(1, 0), &as);
	good = as.n == 1 && as.a[0].kind == kind &&
	    is(as.a[0].path, path) && is(as.a[0].command, command);
	hf_actions_release(&as);
	return good;
}

#define FUNCTION(name, args) "\"type\":\"function_call\",\"name\":\"" name \
	"\",\"call_id\":\"c\",\"arguments\":\"" args "\""

static void
test_tools(void)
{
	CHECK(acts(FUNCTION("exec_command", "{\\\"cmd\\\":\\\"make\\\"}"),
	    HF_ACT_RUN, "", "make"));
	CHECK(acts(FUNCTION("shell", "{\\\"command\\\":[\\\"bash\\\","
	    "\\\"-lc\\\",\\\"make x\\\"]}"), HF_ACT_RUN, "", "make x"));
	CHECK(acts("\"type\":\"custom_tool_call\",\"name\":\"apply_patch\","
	    "\"call_id\":\"c\",\"input\":\"*** Begin Patch\\n*** Add File: "
	    "/a\\n*** End Patch\"", HF_ACT_WRITE, "/a", ""));
	CHECK(acts(FUNCTION("view_image", "{\\\"path\\\":\\\"/a\\\"}"),
	    HF_ACT_READ, "/a", ""));
	CHECK(acts(FUNCTION("update_plan", "{\\\"plan\\\":[{\\\"step\\\":"
	    "\\\"x\\\"}]}"), HF_ACT_TODOS, "", ""));
}

/* ---- whose file ---- */

static int
score(const char *text)
{
	struct hf_json *j = hf_json_parse(hf_str(text), HF_JSON_RAW, NULL,
	    NULL, NULL);
	const struct hf_jval *recs[2] = { NULL, hf_json_root(j) };
	int n = CODEX->recognise("/x/a.jsonl", recs, 2);

	hf_json_free(j);
	return n;
}

static void
test_recognise(void)
{
	CHECK(score(OWN) > 90);
	CHECK(score(START("t")) > 50);
	CHECK(score(T "\"turn_context\",\"payload\":{}}") > 50);
	CHECK_INT(score("{\"type\":\"thread.started\",\"thread_id\":\"x\"}"),
	    0);
	CHECK_INT(score("{\"type\":\"session\",\"id\":\"x\"}"), 0);
	CHECK_INT(score("{\"type\":\"event_msg\"}"), 0);
	CHECK_INT(score("[]"), 0);
}

/* ---- the store ---- */

static char *home;

#define DAY	"sessions/2026/11/30/"
#define NAME(id) "rollout-2026-11-30T22-00-00-" id ".jsonl"

static char *
put(const char *path, struct hf_str text)
{
	char *full = hf_path_join(home, path), *dir = hf_path_dir(full);
	struct hf_dir d = HF_DIR_INIT;
	struct hf_err err;

	if (hf_dir_make(&d, dir, &err) < 0 ||
	    hf_file_replace(&d, hf_path_base(full), text, &err) < 0) {
		printf("Bail out! %s\n", err.msg);
		exit(1);
	}
	hf_dir_close(&d);
	free(dir);
	return full;
}

static void
put_free(const char *path, const char *text)
{
	free(put(path, hf_str(text)));
}

static int
count(const char *path, void *arg, struct hf_err *err)
{
	(void)path;
	(void)err;
	++*(int *)arg;
	return 0;
}

static bool
by_id(const char *id, const char *want)
{
	char *path = CODEX->by_id(id);
	bool good = want == NULL ? path == NULL :
	    path != NULL && hf_str_ends(hf_str(path), want);

	if (!good)
		printf("# got %s\n", path != NULL ? path : "none");
	free(path);
	return good;
}

static void
test_files(void)
{
	struct hf_err err;
	int n = 0;

	CHECK(CODEX->each(count, &n, &err) == 0);
	CHECK_INT(n, 0);
	put_free(DAY NAME(ID1), OWN);
	put_free("sessions/" NAME(ID2), OWN);
	put_free("archived_sessions/" NAME(ID3) ".zst", "x");
	put_free(DAY NAME(ID1) ".zst", "x");	/* being packed */
	put_free(DAY ".handoff-x.tmp", "x");
	put_free(DAY "rollout-x.jsonl", "x");
	put_free("sessions/other/" NAME(ID3), "x");
	CHECK(CODEX->each(count, &n, &err) == 0);
	CHECK_INT(n, 3);
	CHECK(by_id(ID1, "/" DAY NAME(ID1)));
	CHECK(by_id(ID2, "/sessions/" NAME(ID2)));
	CHECK(by_id(ID3, "/archived_sessions/" NAME(ID3) ".zst"));
	CHECK(by_id("01a22e00-0001", NULL));
	CHECK(by_id("../x", NULL));
	CHECK_INT(hf_codex_time(HF_STR(ID1)), 0x01a22e000001);
	CHECK_INT(hf_codex_time(HF_STR("01a22e00-0001-4000-8000-"
	    "000000000001")), -1);
	CHECK_INT(hf_codex_time(HF_STR("turn-1")), -1);
}

static void
path_of(struct hf_session *s, const char *path)
{
	hf_session_release(s);
	s->path = hf_path_join(home, path);
	CODEX->by_path(s);
}

static void
test_names(void)
{
	struct hf_buf out = HF_BUF_INIT;
	struct hf_session s;

	hf_session_init(&s);
	put_free("session_index.jsonl", "bad\n{\"id\":\"" ID1 "\","
	    "\"thread_name\":\"Old\"}\n{\"id\":\"" ID1 "\",\"thread_name\":"
	    "\" New \"}\n{\"id\":\"" ID2 "\",\"thread_name\":\"About " ID1
	    "\"}\n{\"id\":\"" ID3 "\"}\n");
	path_of(&s, DAY NAME(ID1));
	CHECK_STR(s.id, ID1);
	CHECK_STR(s.title, "New");
	CHECK(!s.archived);
	path_of(&s, DAY NAME(ID1) ".zst");
	CHECK_STR(s.id, ID1);
	path_of(&s, "archived_sessions/" NAME(ID2));
	CHECK(s.archived);
	CHECK_STR(s.title, "About " ID1);
	CHECK(s.titled);
	path_of(&s, DAY NAME(ID3));
	CHECK(s.title == NULL && !s.titled);
	path_of(&s, "x.jsonl");
	CHECK(s.id == NULL && s.title == NULL);
	hf_session_release(&s);
	free(put("b/session_index.jsonl", HF_STR("{\"id\":\"" ID1
	    "\",\"thread_name\":\"Beside\"}")));
	path_of(&s, "b/" NAME(ID1));
	CHECK_STR(s.title, "Beside");
	hf_session_release(&s);
	CHECK(!hf_codex_name(NULL, HF_STR(ID1), &out));
	CHECK(!hf_codex_name("/nowhere/x", HF_STR(ID1), &out));
	hf_buf_release(&out);
}

/* ---- forks ---- */

#define BASED(id, parent, end) META(id, ",\"forked_from_id\":\"" parent \
	"\",\"history_base\":{\"thread_id\":\"" parent "\"," \
	"\"end_byte_offset\":" end "}")

/* The texts of the items in the source of path, each with its part. */
static bool
reads(const char *path, const char *want)
{
	struct hf_session s;
	struct hf_source src;
	struct hf_record rec;
	struct hf_buf out = HF_BUF_INIT;
	struct hf_err err = { .code = HF_OK };
	const struct hf_jval *v;
	bool good;

	hf_session_init(&s);
	s.agent = CODEX;
	s.path = hf_path_join(home, path);
	if (hf_source_open(&src, &s, UINT64_MAX, &err) == 0) {
		while (hf_source_next(&src, &rec, &err) > 0) {
			v = hf_json_at(rec.v, "payload.content");
			if (v == NULL)
				continue;
			hf_buf_puts(&out, src.part[rec.ref.part].inherited ?
			    "<" : "");
			hf_buf_str(&out, hf_codex_first_text(v));
		}
		hf_source_close(&src);
	}
	good = strcmp(hf_buf_cstr(&out), want) == 0;
	if (!good)
		printf("# got %s %s\n", hf_buf_cstr(&out),
		    err.code != HF_OK ? err.msg : "");
	hf_buf_release(&out);
	hf_session_release(&s);
	return good;
}

static char *
pack(const char *text, size_t *n)
{
	size_t size = strlen(text);
	char *out = hf_malloc(ZSTD_compressBound(size));

	*n = ZSTD_compress(out, ZSTD_compressBound(size), text, size, 3);
	return out;
}

static void
test_forks(void)
{
	static const char first[] = OWN USER("a") USER("b");
	struct hf_buf b = HF_BUF_INIT;
	char end[16], *packed;
	size_t n;

	put_free(DAY NAME(ID1), first);
	CHECK(reads(DAY NAME(ID1), "ab"));
	/* Up to the byte that belongs to it; through two parents. */
	snprintf(end, sizeof(end), "%zu", sizeof(first) - sizeof(USER("b")));
	hf_buf_printf(&b, BASED(ID2, ID1, "%s") USER("c"), end);
	put_free("sessions/" NAME(ID2), hf_buf_cstr(&b));
	CHECK(reads("sessions/" NAME(ID2), "<ac"));
	put_free(DAY NAME(ID3), BASED(ID3, ID2, "100000") USER("d"));
	CHECK(reads(DAY NAME(ID3), "<a<cd"));
	/* The parent was packed meanwhile. */
	packed = pack(first, &n);
	free(put(DAY NAME(ID1) ".zst", hf_strn(packed, n)));
	free(packed);
	packed = hf_path_join(home, DAY NAME(ID1));
	unlink(packed);
	CHECK(reads("sessions/" NAME(ID2), "<ac"));
	free(packed);
	/* It is not there; copied beside; its own grandparent. */
	put_free("c/" NAME(ID3), BASED(ID3, "01a22e00-0009-7000-8000-"
	    "000000000009", "9") USER("d"));
	CHECK(reads("c/" NAME(ID3), "d"));
	put_free("c/rollout-x-01a22e00-0009-7000-8000-000000000009.jsonl",
	    META("01a22e00-0009-7000-8000-000000000009", "") USER("e"));
	CHECK(reads("c/" NAME(ID3), "d"));	/* nine bytes of it */
	put_free("d/" NAME(ID3), BASED(ID3, "01a22e00-0009-7000-8000-"
	    "000000000009", "9999") USER("d"));
	put_free("d/rollout-x-01a22e00-0009-7000-8000-000000000009.jsonl",
	    BASED("01a22e00-0009-7000-8000-000000000009", ID3, "9999")
	    USER("e"));
	CHECK(reads("d/" NAME(ID3), "<ed"));
	hf_buf_release(&b);
}

/* ---- locks ---- */

static void
test_live(void)
{
	struct hf_session s;
	struct hf_live live;
	char *path;
	int fd;

	hf_session_init(&s);
	s.id = hf_strdup(ID1);
	CODEX->live(&s, &live);
	CHECK(!live.offers && !live.open && !live.dead);
	put_free("thread-writer-locks/x.lock", "");
	CODEX->live(&s, &live);
	CHECK(live.offers && !live.open && !live.dead);
	path = put("thread-writer-locks/" ID1 ".lock", HF_STR(""));
	CODEX->live(&s, &live);
	CHECK(!live.open && live.dead);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0);
	CODEX->live(&s, &live);
	CHECK(live.open && !live.dead);
	CHECK_INT(live.pid, 0);
	close(fd);
	/* Another who asks at the same time. */
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(flock(fd, LOCK_SH | LOCK_NB) == 0);
	CODEX->live(&s, &live);
	CHECK(!live.open);
	close(fd);
	/* It was only asked: the client gets it again. */
	CODEX->live(&s, &live);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(flock(fd, LOCK_EX | LOCK_NB) == 0);
	close(fd);
	free(path);
	hf_session_release(&s);
}

static void
on_owned(const char *id, void *arg)
{
	hf_buf_puts(arg, id);
}

static void
test_owned(void)
{
	struct hf_session s;
	struct hf_buf out = HF_BUF_INIT;
	char *path;
	int fd;

	hf_session_init(&s);
	s.id = hf_strdup(ID1);
#define SPAWNED	META(ID2, ",\"source\":{\"subagent\":{\"thread_spawn\":{" \
	"\"parent_thread_id\":\"" ID1 "\"}}}") START("t") USER("x")
	put_free("sessions/" NAME(ID2), SPAWNED);
	path = put("thread-writer-locks/" ID2 ".lock", HF_STR(""));
	CODEX->owned(&s, on_owned, &out);
	CHECK_STR(hf_buf_cstr(&out), "");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(flock(fd, LOCK_EX | LOCK_NB) == 0);
	CODEX->owned(&s, on_owned, &out);
	CHECK_STR(hf_buf_cstr(&out), ID2);
	hf_buf_clear(&out);
	put_free("sessions/" NAME(ID2), SPAWNED END("t"));
	CODEX->owned(&s, on_owned, &out);
	CHECK_STR(hf_buf_cstr(&out), "");
	close(fd);
	free(path);
	hf_buf_release(&out);
	hf_session_release(&s);
}

/* ---- successors ---- */

static void
test_draft(void)
{
	struct hf_session source;
	struct hf_buf out = HF_BUF_INIT;
	struct hf_seed seed = { .id = ID3, .attempt = "att-1",
	    .cwd = "/srv/\"x", .model = "m", .title = "T", .permission =
	    "never", .time = 1768467600123,
	    .text = HF_STR("<handoff-context>\nb\n</handoff-context>\n") };
	struct hf_err err;
	const struct hf_jval *v;
	size_t i;

	hf_session_init(&source);
	source.agent = CODEX;
	source.id = hf_strdup(ID1);
	seed.source = &source;
	CHECK(CODEX->draft(&seed, &out, &err) == 0);
	feed_as(ID3, hf_buf_cstr(&out));
	CHECK_INT(got.n, 6);
	CHECK_STR(got.s.cwd, "/srv/\"x");
	CHECK_STR(got.s.parent, ID1);
	CHECK(!got.s.headless);
	CHECK(got.s.provider == NULL && got.s.permission == NULL);
	CHECK_INT(got.row[2].kind, HF_ROW_SEED);
	CHECK_INT(got.row[3].kind, HF_ROW_OTHER);
	CHECK(got.row[4].flags & HF_ROW_SYNTHETIC);
	CHECK_INT(state(), HF_TURN_CLOSED);
	v = hf_json_root(got.json[0]);
	CHECK(is(hf_json_str(hf_json_at(v, "payload.originator")),
	    "codex_cli_rs"));
	CHECK(is(hf_json_str(hf_json_at(v, "payload.timestamp")),
	    "2026-01-15T09:00:00.123Z"));
	CHECK(hf_json_at(v, "payload.history_mode") == NULL);
	CHECK(is(hf_json_str(hf_json_at(hf_json_root(got.json[1]),
	    "payload.handoff")), "att-1"));
	CHECK(is(hf_json_str(hf_json_at(hf_json_root(got.json[3]),
	    "payload.message")), "<handoff-context>\nb\n"
	    "</handoff-context>\n"));
	for (i = 0; i < got.njson; i++)
		CHECK(hf_json_get(hf_json_root(got.json[i]), "ordinal") ==
		    NULL);
	hf_buf_release(&out);
	hf_session_release(&source);
}

static void
test_place(void)
{
	struct hf_seed seed = { .id = ID3, .time = 1768521600123 };
	struct hf_place p;
	struct hf_err err;
	char *want;

	setenv("TZ", "EST-9", 1);	/* nine hours east */
	CHECK(CODEX->place(&seed, &p, &err) == 0);
	CHECK_STR(p.name, "rollout-2026-01-16T09-00-00-" ID3 ".jsonl");
	want = hf_path_join(home, "sessions/2026/01/16");
	CHECK_STR(p.dir, want);
	free(want);
	hf_place_release(&p);
	unsetenv("TZ");
}

static char *
read_index(void)
{
	struct hf_buf out = HF_BUF_INIT;
	struct hf_dir d = HF_DIR_INIT;
	struct hf_err err;

	CHECK(hf_dir_open(&d, home, &err) == 0);
	CHECK(hf_file_read(&d, "session_index.jsonl", &out, &err) >= 0);
	hf_dir_close(&d);
	return hf_buf_steal(&out);
}

#define LINE3	"{\"id\":\"" ID3 "\",\"thread_name\":\"T \\\"x\\\"\"," \
	"\"updated_at\":\"2026-01-15T09:00:00.123Z\"}\n"

static void
test_publish(void)
{
	struct hf_seed seed = { .id = ID3, .title = "T \"x\"",
	    .time = 1768467600123 };
	struct hf_err err;
	struct hf_buf name = HF_BUF_INIT;
	char *text, *path, *other;

	path = hf_path_join(home, "session_index.jsonl");
	unlink(path);
	CHECK(CODEX->publish(&seed, NULL, &err) == 0);
	CHECK(CODEX->publish(&seed, NULL, &err) == 0);	/* once */
	text = read_index();
	CHECK_STR(text, LINE3);
	free(text);
	/* A last line that was cut short stays a line of its own. */
	put_free("session_index.jsonl", "{\"id\":\"x");
	CHECK(CODEX->publish(&seed, NULL, &err) == 0);
	text = read_index();
	CHECK_STR(text, "{\"id\":\"x\n" LINE3);
	free(text);
	/* A link to a file elsewhere. */
	unlink(path);
	other = put("e/index", HF_STR(""));
	CHECK(symlink(other, path) == 0);
	CHECK(CODEX->publish(&seed, NULL, &err) == 0);
	CHECK(hf_codex_name(other, HF_STR(ID3), &name));
	CHECK_STR(hf_buf_cstr(&name), "T \"x\"");
	hf_buf_release(&name);
	seed.title = NULL;
	CHECK(CODEX->publish(&seed, NULL, &err) == 0);
	free(other);
	free(path);
}

static void
test_resume(void)
{
	struct hf_session s;
	struct hf_argv a = { .n = 0 };
	char id[64];

	hf_session_init(&s);
	s.id = hf_strdup(ID1);
	CODEX->resume(&s, NULL, &a);
	CHECK_INT(a.n, 3);
	CHECK_STR(a.v[0], "codex");
	CHECK_STR(a.v[1], "resume");
	CHECK_STR(a.v[2], ID1);
	hf_argv_release(&a);
	CODEX->resume(&s, "--x", &a);
	CHECK_INT(a.n, 4);
	CHECK_STR(a.v[3], " --x");
	hf_argv_release(&a);
	hf_session_release(&s);
	CODEX->new_id(1768467600123, id);
	CHECK_INT(hf_codex_time(hf_str(id)), 1768467600123);
}

int
main(void)
{
	home = scratch_make();
	setenv("CODEX_HOME", home, 1);
	hf_session_init(&got.s);
	hf_blocks_init(&got.blocks);
	test_list();
	test_turns();
	test_prompts();
	test_harness();
	test_seed();
	test_rollback();
	test_usage();
	test_fork_usage();
	test_compaction();
	test_sealed();
	test_estimate();
	test_meta();
	test_copies();
	test_calls();
	test_outputs();
	test_user_shell();
	test_done_items();
	test_pictures();
	test_tools();
	test_recognise();
	test_files();
	test_names();
	test_forks();
	test_live();
	test_owned();
	test_draft();
	test_place();
	test_publish();
	test_resume();
	forget();
	scratch_remove(home);
	return check_done();
}
