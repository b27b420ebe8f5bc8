/*
 * Gemini CLI: rows of messages and lists, blocks, whose a file is, sessions
 * in several files, folders of work, and what a successor looks like. The
 * figures of whole recorded sessions are checked by metrics.bats.
 *
 * Runs itself once more with $GEMINI_CLI_HOME in a scratch folder.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/gemini.h"
#include "base/clock.h"
#include "base/hmac.h"
#include "check.h"
#include "scratch.h"
#include "session/metrics.h"

#define GEMINI	(&hf_agent_gemini)

/* ---- rows ---- */

enum { ROWS = 48 };

static struct {
	struct hf_session s;
	struct hf_scan sc;
	struct hf_json *json[ROWS];
	struct hf_row row[ROWS];
	size_t n, records;
	struct hf_blocks blocks;
} got;

static void
emit(struct hf_scan *sc, const struct hf_row *row)
{
	(void)sc;
	if (got.n < ROWS)
		got.row[got.n++] = *row;
}

static void
forget(void)
{
	while (got.records > 0)
		hf_json_free(got.json[--got.records]);
	got.n = 0;
	free(got.sc.own);
	hf_arena_clear(&got.sc.arena);
	hf_session_release(&got.s);
	hf_blocks_release(&got.blocks);
}

static void
record(const char *line, size_t n)
{
	struct hf_record rec = { .raw = hf_strn(line, n) };
	struct hf_err err;

	got.json[got.records] = hf_json_parse(rec.raw, HF_JSON_RAW, NULL,
	    NULL, &err);
	if (!CHECK(got.json[got.records] != NULL)) {
		printf("# %s\n", err.msg);
		return;
	}
	rec.v = hf_json_root(got.json[got.records++]);
	GEMINI->row(&got.sc, &rec);
}

/* Translates the lines of text; the rows are in got. */
static void
feed(const char *text)
{
	struct hf_str line, rest = hf_str(text);

	forget();
	memset(&got.sc, 0, sizeof(got.sc));
	got.s.agent = GEMINI;
	got.sc.session = &got.s;
	got.sc.own = hf_calloc(1, GEMINI->own_size);
	got.sc.emit = emit;
	hf_arena_init(&got.sc.arena);
	while (rest.n > 0 && got.records < ROWS) {
		line = hf_str_line(rest, &rest);
		record(line.s, line.n);
	}
}

static const struct hf_blocks *
blocks(size_t i)
{
	hf_blocks_clear(&got.blocks);
	hf_gemini_blocks(&got.row[i], &got.blocks);
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

#define HEAD(id, more) "{\"sessionId\":\"" id "\",\"projectHash\":\"h\"" \
	more "}\n"
#define AT	",\"timestamp\":\"2026-01-15T09:00:00.000Z\""
#define MSG(id, type, more) "{\"id\":\"" id "\"" AT ",\"type\":\"" type \
	"\"" more "}"
#define USER(id, text) MSG(id, "user", ",\"content\":[{\"text\":\"" text \
	"\"}]")
#define SAID(id, text, total) MSG(id, "gemini", ",\"content\":\"" text \
	"\",\"model\":\"m-" id "\",\"tokens\":{\"input\":100,\"output\":7," \
	"\"cached\":30,\"thoughts\":3,\"tool\":5,\"total\":" #total "}")
#define PLAIN(id, text) MSG(id, "gemini", ",\"content\":[{\"text\":\"" \
	text "\"}]")
#define GAVE(id, call, more) MSG(id, "user", ",\"content\":[{" \
	"\"functionResponse\":{\"id\":\"" call "\",\"name\":" \
	"\"run_shell_command\",\"response\":{" more "}}}]")
#define SET(list) "{\"$set\":{\"messages\":[" list "]}}\n"
#define CTX	USER("ctx", "<session_context>\\nx\\n</session_context>")
#define LF	"\n"

static void
test_messages(void)
{
	feed(HEAD("S", "") CTX LF USER("u1", "  Go.") LF
	    SAID("g1", "Done.", 120) LF MSG("e", "error",
	    ",\"content\":\"x\"") LF "{\"$set\":{\"lastUpdated\":\"t\"}}\n"
	    "{\"type\":\"user\",\"content\":\"no id\"}\n");
	CHECK_INT(got.n, 7);
	CHECK(got.sc.recognised);
	CHECK_STR(got.s.id, "S");
	CHECK_STR(got.s.title, "Go.");
	CHECK(!got.s.titled);
	CHECK_STR(got.s.model, "m-g1");
	CHECK(!(got.row[0].flags & HF_ROW_CHAIN));
	CHECK_INT(got.row[1].kind, HF_ROW_INJECTED);
	CHECK_INT(got.row[1].turn, HF_TURN_NONE);
	CHECK_INT(got.row[2].kind, HF_ROW_PROMPT);
	CHECK_INT(got.row[2].turn, HF_TURN_OPEN);
	CHECK_INT(got.row[2].parent, HF_PARENT_PREV);
	CHECK(got.row[2].flags & HF_ROW_REPLACES);
	CHECK_INT(got.row[2].time, hf_clock_parse(hf_str(
	    "2026-01-15T09:00:00.000Z")));
	CHECK_INT(got.row[3].kind, HF_ROW_ASSISTANT);
	CHECK_INT(got.row[3].turn, HF_TURN_CLOSED);
	CHECK(text_is(got.row[3].call, "g1"));
	CHECK_INT(got.row[3].context, 120);
	CHECK_INT(got.row[3].usage.input, 75);
	CHECK_INT(got.row[3].usage.cache_read, 30);
	CHECK_INT(got.row[3].usage.output, 10);
	CHECK_INT(got.row[4].turn, HF_TURN_CLOSED);
	CHECK(!(got.row[5].flags & HF_ROW_CHAIN));
	/* One without an id is dropped by the client too. */
	CHECK(!(got.row[6].flags & HF_ROW_CHAIN));
}

static void
test_tokens(void)
{
	feed(SAID("a", "x", 0) LF SAID("b", "x", -4) LF
	    MSG("c", "gemini", ",\"content\":\"x\",\"tokens\":null") LF
	    MSG("d", "gemini", ",\"content\":\"x\",\"tokens\":{\"input\":"
	    "0,\"total\":0}"));
	CHECK_INT(got.row[0].context, 115);
	CHECK_INT(got.row[1].context, 115);
	CHECK_INT(got.row[2].context, -1);
	CHECK(!got.row[2].has_usage);
	CHECK_INT(got.row[2].call.n, 0);
	CHECK(!got.row[3].has_usage);
}

/* When a turn is over. */
static void
test_turns(void)
{
	feed(MSG("a", "gemini", ",\"content\":\"\"") LF
	    MSG("b", "gemini", ",\"content\":\"\",\"toolCalls\":[{\"id\":"
	    "\"c\",\"name\":\"glob\",\"args\":{}}]") LF
	    MSG("c", "gemini", ",\"content\":\"I look.\",\"toolCalls\":[{"
	    "\"id\":\"c\",\"name\":\"glob\",\"args\":{}}]") LF
	    MSG("d", "gemini", ",\"content\":[{\"functionCall\":{}}]") LF
	    GAVE("e", "c", "\"output\":\"x\"") LF
	    GAVE("f", "c", "\"error\":\"[Operation Cancelled] Reason: x\"")
	    LF USER("g", "<hook_context>x") LF USER("h", "") LF
	    USER("i", "<state_snapshot>x</state_snapshot>"));
	for (size_t i = 0; i < 5; i++)
		CHECK_INT(got.row[i].turn, HF_TURN_OPEN);
	CHECK_INT(got.row[4].kind, HF_ROW_RESULT);
	CHECK_INT(got.row[5].turn, HF_TURN_INTERRUPTED);
	CHECK_INT(got.row[6].kind, HF_ROW_INJECTED);
	CHECK_INT(got.row[7].kind, HF_ROW_INJECTED);
	CHECK_INT(got.row[8].kind, HF_ROW_SUMMARY);
	CHECK_INT(got.row[8].turn, HF_TURN_NONE);
}

static void
test_seed(void)
{
	feed(USER("a", "<handoff-context>b</handoff-context>") LF
	    MSG("b", "gemini", ",\"content\":\"Ok.\",\"tokens\":null,"
	    "\"model\":\"x\"") LF PLAIN("c", "More."));
	CHECK_INT(got.row[0].kind, HF_ROW_SEED);
	CHECK(got.row[1].flags & HF_ROW_SYNTHETIC);
	CHECK(got.s.model == NULL);
	CHECK(!(got.row[2].flags & HF_ROW_SYNTHETIC));
}

static void
test_header(void)
{
	feed(HEAD("S", ",\"kind\":\"subagent\",\"summary\":\"Lexer\","
	    "\"handoff\":{\"parentSession\":\"OLD\"}")
	    USER("a", "Go.") LF "{\"$set\":{\"summary\":\"Parser\"}}\n"
	    "{\"$set\":{\"sessionId\":\"T\"}}\n");
	CHECK(got.s.subagent);
	CHECK_STR(got.s.title, "Parser");
	CHECK(got.s.titled);
	CHECK_STR(got.s.parent, "OLD");
	CHECK_STR(got.s.id, "T");
	CHECK(got.s.cwd == NULL);
}

/* ---- lists ---- */

static void
test_list(void)
{
	feed(HEAD("S", "") SET(CTX "," USER("u1", "One.") ","
	    SAID("g1", "Done.", 9)));
	CHECK_INT(got.n, 5);
	CHECK_INT(got.row[1].kind, HF_ROW_LIST);
	CHECK(got.row[1].flags & HF_ROW_CHAIN);
	CHECK_INT(got.row[1].turn, HF_TURN_CLOSED);
	CHECK_INT(got.row[2].kind, HF_ROW_INJECTED);
	CHECK_INT(got.row[3].kind, HF_ROW_PROMPT);
	CHECK_INT(got.row[3].ref.item, 3);
	CHECK_INT(got.row[4].context, 9);
	CHECK_STR(got.s.title, "One.");

	/* One that ends with a prompt is open, an empty one is not. */
	feed(SET(CTX "," USER("u1", "One.")) SET(CTX) SET(""));
	CHECK_INT(got.row[0].turn, HF_TURN_OPEN);
	CHECK_INT(got.row[3].turn, HF_TURN_CLOSED);
	CHECK_INT(got.row[5].turn, HF_TURN_CLOSED);

	/* An old file: all in one object. */
	feed("{\"sessionId\":\"S\",\"projectHash\":\"h\",\"messages\":["
	    USER("u1", "One.") "," SAID("g1", "Done.", 9) "]}\n");
	CHECK_INT(got.n, 3);
	CHECK_STR(got.s.id, "S");
	CHECK_INT(got.row[2].context, 9);
}

/* A row of a list is given alone when it is asked for. */
static void
test_only(void)
{
	static const char list[] = SET(CTX "," USER("u1", "One.") ","
	    SAID("g1", "Done.", 9));

	feed(list);
	got.n = 0;
	got.sc.only = true;
	got.sc.item = 3;
	record(list, sizeof(list) - 2);
	CHECK_INT(got.n, 1);
	CHECK_INT(got.row[0].ref.item, 3);
	CHECK(text_is(got.row[0].id, "u1"));
	got.n = 0;
	got.sc.item = 5;
	record(list, sizeof(list) - 2);
	CHECK_INT(got.n, 0);
}

#define ACK	"Got it. Thanks for the additional context!"
#define BEFORE	HEAD("S", "") CTX LF USER("u1", "One.") LF \
	SAID("g1", "Done.", 9) LF

static size_t
compactions(const char *text)
{
	size_t n = 0;

	feed(text);
	for (size_t i = 0; i < got.n; i++)
		if (got.row[i].kind == HF_ROW_COMPACTION)
			n++;
	return n;
}

static void
test_compaction(void)
{
	CHECK_INT(compactions(BEFORE SET(CTX "," USER("s1", "So far.") ","
	    PLAIN("s2", ACK) "," USER("k1", "One.") "," PLAIN("k2", "Done."))
	    USER("u2", "Two.")), 1);
	CHECK_INT(got.n, 12);
	CHECK_INT(got.row[4].kind, HF_ROW_LIST);
	CHECK_INT(got.row[5].kind, HF_ROW_COMPACTION);
	CHECK_INT(got.row[5].ref.item, 1);
	CHECK_INT(got.row[5].context, -1);
	CHECK_INT(got.row[7].kind, HF_ROW_SUMMARY);
	CHECK(!(got.row[7].flags & HF_ROW_KEPT));
	CHECK_INT(got.row[7].ref.item, 3);
	/* What was kept has new ids, but was there before. */
	for (size_t i = 8; i < 11; i++)
		CHECK(got.row[i].flags & HF_ROW_KEPT);
	CHECK_INT(got.row[11].kind, HF_ROW_PROMPT);
	CHECK(!(got.row[11].flags & HF_ROW_KEPT));

	/* The replay of one, later, is none. */
	CHECK_INT(compactions(BEFORE SET(CTX "," USER("s1", "So far.") ","
	    PLAIN("s2", ACK)) SET(CTX "," USER("s1", "So far.") ","
	    PLAIN("s2", ACK))), 1);
	/* A second one is. */
	CHECK_INT(compactions(BEFORE SET(USER("s1", "So far.") ","
	    PLAIN("s2", ACK)) SET(USER("s3", "So far.") ","
	    PLAIN("s4", ACK))), 2);
	/* A replay with the ids that were there, a first list, an answer
	 * that a model gave, a long one: none. */
	CHECK_INT(compactions(BEFORE SET(CTX "," USER("u1", "One.") ","
	    PLAIN("g1", ACK))), 0);
	CHECK_INT(compactions(SET(CTX "," USER("s1", "One.") ","
	    PLAIN("s2", ACK))), 0);
	CHECK_INT(compactions(BEFORE SET(CTX "," USER("s1", "One.") ","
	    SAID("s2", ACK, 9))), 0);
	CHECK_INT(compactions(BEFORE SET(CTX "," USER("s1", "One.") ","
	    PLAIN("s2", ACK ACK ACK))), 0);
	CHECK_INT(compactions(BEFORE SET(CTX)), 0);
}

static void
test_rewind(void)
{
	feed(BEFORE "{\"$rewindTo\":\"u1\"}\n" USER("u2", "Two."));
	CHECK_INT(got.row[4].parent, HF_PARENT_BEFORE);
	CHECK(text_is(got.row[4].parent_id, "u1"));
	CHECK_INT(got.row[4].turn, HF_TURN_CLOSED);
	CHECK(got.row[4].flags & HF_ROW_CHAIN);
	CHECK_INT(compactions(BEFORE "{\"$rewindTo\":\"u1\"}\n" SET(CTX ","
	    USER("s1", "One.") "," PLAIN("s2", ACK))), 0);
}

/* ---- blocks ---- */

#define CALL(id, more) "{\"id\":\"" id "\",\"name\":\"run_shell_command\"," \
	"\"args\":{\"command\":\"make\"}" more "}"
#define OUTPUT(id, text) ",\"status\":\"success\",\"result\":[{" \
	"\"functionResponse\":{\"id\":\"" id "\",\"response\":{\"output\":\"" \
	text "\"}}}]"

static void
test_calls(void)
{
	const struct hf_blocks *bs;

	feed(MSG("a", "gemini", ",\"content\":\"I look.\",\"thoughts\":[{"
	    "\"subject\":\"s\",\"description\":\"d\"}],\"toolCalls\":["
	    CALL("1", OUTPUT("1", "<untrusted_context>\\nOutput: a\\nb\\n"
	    "Process Group PGID: 7\\n</untrusted_context>")) ","
	    CALL("2", OUTPUT("2", "Output: c\\nExit Code: 2\\n"
	    "Process Group PGID: 7")) "," CALL("3",
	    ",\"status\":\"success\"") "," CALL("4", ",\"status\":"
	    "\"cancelled\",\"result\":null,\"resultDisplay\":\"no\"") ","
	    CALL("5", ",\"result\":\"plain\"") "," CALL("6",
	    OUTPUT("other", "Output: x")) "," CALL("7", ",\"result\":[{"
	    "\"functionResponse\":{\"response\":{\"error\":\"bad\"}}}]")
	    "]"));
	bs = blocks(0);
	CHECK_INT(bs->n, 14);
	CHECK_INT(bs->b[0].kind, HF_BLOCK_THINKING);
	CHECK(text_is(bs->b[1].text, "I look."));
	CHECK_INT(bs->b[2].kind, HF_BLOCK_CALL);
	CHECK(text_is(bs->b[2].id, "1"));
	CHECK(text_is(hf_json_get_str(bs->b[2].args, "command"), "make"));
	CHECK_INT(bs->b[3].kind, HF_BLOCK_RESULT);
	CHECK(text_is(bs->b[3].text, "a\nb"));
	CHECK_INT(bs->b[3].exit, 0);
	CHECK(text_is(bs->b[5].text, "c"));
	CHECK_INT(bs->b[5].exit, 2);
	CHECK(bs->b[5].error);
	/* 3 has no result yet: its message follows. */
	CHECK_INT(bs->b[7].kind, HF_BLOCK_CALL);
	CHECK(text_is(bs->b[7].id, "4"));
	CHECK(text_is(bs->b[8].text, "no"));
	CHECK(bs->b[8].error);
	CHECK_INT(bs->b[8].exit, HF_EXIT_UNKNOWN);
	CHECK(text_is(bs->b[10].text, "plain"));
	/* 6 got another call's result. */
	CHECK(text_is(bs->b[12].id, "7"));
	CHECK(text_is(bs->b[13].text, "bad"));
	CHECK(bs->b[13].error);
}

static void
test_parts(void)
{
	const struct hf_blocks *bs;

	feed(GAVE("a", "1", "\"output\":\"Output: ok\"") LF
	    GAVE("b", "1", "\"content\":[{\"text\":\"x\"},{\"text\":\"y\"}]")
	    LF GAVE("c", "1", "\"n\":1") LF
	    MSG("d", "user", ",\"content\":[{\"text\":\"See @x.\"},"
	    "{\"inlineData\":{\"mimeType\":\"image/png\"}},{\"text\":"
	    "\"\\n--- Content from referenced files ---\"},{\"text\":"
	    "\"secret\"}]") LF
	    MSG("e", "user", ",\"content\":[{\"text\":\"long\"}],"
	    "\"displayContent\":[{\"text\":\"/short\"}]") LF
	    MSG("f", "gemini", ",\"content\":[{\"text\":\"t\",\"thought\":"
	    "true},{\"functionCall\":{\"id\":\"9\",\"name\":\"glob\","
	    "\"args\":{}}},{\"text\":\"x\"}]") LF
	    MSG("g", "user", ",\"content\":\"plain\""));
	bs = blocks(0);
	CHECK_INT(bs->n, 1);
	CHECK_INT(bs->b[0].kind, HF_BLOCK_RESULT);
	CHECK(text_is(bs->b[0].text, "ok"));
	CHECK_INT(bs->b[0].exit, 0);
	CHECK(text_is(blocks(1)->b[0].text, "x\ny"));
	CHECK(text_is(blocks(2)->b[0].text, "{\"n\":1}"));
	bs = blocks(3);
	CHECK_INT(bs->n, 2);
	CHECK(text_is(bs->b[0].text, "See @x."));
	CHECK(text_is(bs->b[1].text, "[file image/png]"));
	CHECK(text_is(blocks(4)->b[0].text, "/short"));
	bs = blocks(5);
	CHECK_INT(bs->n, 3);
	CHECK_INT(bs->b[0].kind, HF_BLOCK_THINKING);
	CHECK_INT(bs->b[1].kind, HF_BLOCK_CALL);
	CHECK(text_is(bs->b[2].text, "x"));
	CHECK(text_is(blocks(6)->b[0].text, "plain"));
}

/* ---- whose file is it ---- */

static int
score(const char *path, const char *line)
{
	struct hf_json *j = hf_json_parse(hf_str(line), HF_JSON_RAW, NULL,
	    NULL, NULL);
	const struct hf_jval *v = hf_json_root(j);
	int n;

	CHECK(v != NULL);
	n = GEMINI->recognise(path, &v, 1);
	hf_json_free(j);
	return n;
}

static void
test_recognise(void)
{
	CHECK(score(NULL, "{\"sessionId\":\"s\",\"projectHash\":\"h\"}") > 90);
	CHECK(score(NULL, "{\"$set\":{\"lastUpdated\":\"x\"}}") > 50);
	CHECK(score(NULL, PLAIN("a", "x")) > 50);
	CHECK_INT(score(NULL, USER("a", "x")), 0);
	CHECK(score("/h/.gemini/tmp/x/chats/session-y.jsonl",
	    USER("a", "x")) > 50);
	/* Claude Code has a sessionId and a uuid. */
	CHECK_INT(score(NULL, "{\"sessionId\":\"s\",\"type\":\"user\","
	    "\"uuid\":\"u\"}"), 0);
}

/* ---- the store, in $GEMINI_CLI_HOME ---- */

/* Writes a file below the home, with its folders. */
static void
put(const char *path, const char *text)
{
	char *home = hf_gemini_home(NULL), *full = hf_path_join(home, path);
	char *dir = hf_path_dir(full);
	struct hf_dir d = HF_DIR_INIT;
	struct hf_err err;

	if (!CHECK(hf_dir_make(&d, dir, &err) == 0 && hf_file_replace(&d,
	    hf_path_base(full), hf_str(text), &err) == 0))
		printf("# %s\n", err.msg);
	hf_dir_close(&d);
	free(dir);
	free(full);
	free(home);
}

/* What stands in a file below the home; the caller's. */
static char *
content(const char *path)
{
	char *home = hf_gemini_home(NULL);
	struct hf_buf b = HF_BUF_INIT;
	struct hf_dir d = HF_DIR_INIT;
	char *dir, *full = hf_path_join(home, path);

	dir = hf_path_dir(full);
	if (hf_dir_open(&d, dir, NULL) == 0)
		hf_file_read(&d, hf_path_base(full), &b, NULL);
	hf_dir_close(&d);
	free(dir);
	free(full);
	free(home);
	return hf_buf_steal(&b);
}

static bool
under_home(const char *got_path, const char *want)
{
	char *home = hf_gemini_home(NULL), *full = hf_path_join(home, want);
	bool same = got_path != NULL && strcmp(got_path, full) == 0;

	if (!same)
		printf("# got %s\n", got_path != NULL ? got_path : "NULL");
	free(full);
	free(home);
	return same;
}

/* The folder that a successor of cwd goes to, below the home. */
static bool
goes_to(const char *cwd, const char *want)
{
	struct hf_seed seed = { .id = "abcdef01-2345", .cwd = cwd,
	    .time = 1768467600123 };
	struct hf_place p = { NULL, NULL };
	struct hf_err err;
	bool same;

	if (!CHECK(GEMINI->place(&seed, &p, &err) == 0))
		return false;
	CHECK_STR(p.name, "session-2026-01-15T09-00-abcdef01.jsonl");
	same = under_home(p.dir, want);
	hf_place_release(&p);
	return same;
}

static void
test_place(void)
{
	/* Nothing is there: the folder's name, as the client would. */
	CHECK(goes_to("/none/My  Project_2", "tmp/my-project-2/chats"));
	CHECK(goes_to("/none/..x..", "tmp/x/chats"));
	CHECK(goes_to("/none/\xe6\x97\xa5", "tmp/project/chats"));
	CHECK(goes_to("/", "tmp/project/chats"));
	/* A name that is taken, by the registry or by a mark. */
	put("projects.json", "{\"projects\":{\"/other/lib\":\"lib\","
	    "\"/none/known\":\"as-it-is\",\"/none/lost\":\"taken\","
	    "\"/none/bad\":\"../up\"}}");
	put("tmp/lib-1/.project_root", "/third/lib\n");
	put("history/lib-2/.project_root", "/third/lib");
	put("tmp/taken/.project_root", "/other/one");
	put("tmp/kept/.project_root", "/none/marked");
	CHECK(goes_to("/none/lib", "tmp/lib-3/chats"));
	CHECK(goes_to("/none/known", "tmp/as-it-is/chats"));
	CHECK(goes_to("/none/lost", "tmp/lost/chats"));
	CHECK(goes_to("/none/bad", "tmp/bad/chats"));
	CHECK(goes_to("/none/marked", "tmp/kept/chats"));
}

static int
publish(const char *cwd, const char *slug, struct hf_err *err)
{
	struct hf_seed seed = { .id = "abcdef01", .cwd = cwd };
	char *root = hf_gemini_root(NULL), *dir = hf_path_join(root, slug);
	struct hf_place p = { hf_path_join(dir, "chats"), hf_strdup("x") };
	struct hf_dir d = HF_DIR_INIT;
	int rc;

	CHECK(hf_dir_make(&d, p.dir, err) == 0);
	hf_dir_close(&d);
	rc = GEMINI->publish(&seed, &p, err);
	hf_place_release(&p);
	free(dir);
	free(root);
	return rc;
}

static void
test_publish(void)
{
	struct hf_err err;
	char *text;

	put("projects.json", "{\"more\":[1.50],\"projects\":{\"/a\":\"a\"}}");
	CHECK(publish("/none/b\"c", "b-c", &err) == 0);
	text = content("projects.json");
	CHECK_STR(text, "{\n  \"more\": [\n    1.50\n  ],\n"
	    "  \"projects\": {\n    \"/a\": \"a\",\n"
	    "    \"/none/b\\\"c\": \"b-c\"\n  }\n}\n");
	CHECK(publish("/none/b\"c", "b-c", &err) == 0);
	free(text);
	text = content("tmp/b-c/.project_root");
	CHECK_STR(text, "/none/b\"c");
	free(text);
	/* The folder is another's by now. */
	CHECK(publish("/none/c", "b-c", &err) < 0);
	CHECK_INT(err.code, HF_E_EXISTS);
	/* A registry that cannot be read is left to the client. */
	put("projects.json", "{\"projects\":{");
	CHECK(publish("/none/d", "d", &err) == 0);
	text = content("projects.json");
	CHECK_STR(text, "{\"projects\":{");
	free(text);
	text = content("tmp/d/.project_root");
	CHECK_STR(text, "/none/d");
	free(text);
}

/* A lock that was left behind is taken away. */
static void
test_lock(void)
{
	struct timespec old[2] = { { 1000, 0 }, { 1000, 0 } };
	char *home = hf_gemini_home(NULL);
	char *lock = hf_path_join(home, "projects.json.lock");
	struct hf_err err;
	struct stat sb;

	CHECK(mkdir(lock, 0700) == 0);
	CHECK(utimensat(AT_FDCWD, lock, old, 0) == 0);
	put("projects.json", "{\"projects\":{}}");
	CHECK(publish("/none/e", "e", &err) == 0);
	CHECK(stat(lock, &sb) < 0);
	free(lock);
	free(home);
}

#define CHATS	"tmp/work/chats/"
#define LONG	"11111111-2222-3333-4444-555555555555"
#define OLD	CHATS "session-2026-01-15T09-00-11111111.jsonl"
#define NEW	CHATS "session-2026-01-15T09-05-11111111.jsonl"

static int
count(const char *path, void *arg, struct hf_err *err)
{
	(void)path;
	(void)err;
	++*(int *)arg;
	return 0;
}

/* One session in two files, another with the same part of an id. */
static void
test_files(void)
{
	char *home = hf_gemini_home(NULL), *path;
	static const struct hf_measure how = { 0 };
	struct hf_session s;
	struct hf_metrics m;
	struct hf_err err;
	int n = 0;

	put("tmp/work/.project_root", "/none/work\n");
	put(OLD, HEAD(LONG, "") USER("u1", "One.") LF
	    SAID("g1", "Done.", 50) LF);
	put(NEW, HEAD(LONG, "") SET(USER("u1", "One.") ","
	    PLAIN("g1", "Done.")) USER("u2", "Two.") LF
	    SAID("g2", "Done.", 60) LF);
	put(CHATS "session-2026-01-15T09-01-11111111.jsonl",
	    HEAD("11111111-other", "") USER("x1", "Else.") LF);
	put(CHATS "notes.jsonl", "{}\n");
	CHECK(GEMINI->each(count, &n, &err) == 0);
	CHECK_INT(n, 2);
	path = GEMINI->by_id(LONG);
	CHECK(under_home(path, NEW));
	free(path);
	CHECK(GEMINI->by_id("11111111-none") == NULL);

	/* Whichever is named: both are read, and it is the newer one. */
	path = hf_path_join(home, OLD);
	CHECK(hf_session_peek(path, &s, &err) == 0);
	CHECK(under_home(s.path, NEW));
	CHECK_STR(s.id, LONG);
	CHECK_STR(s.cwd, "/none/work");
	CHECK(hf_measure(&s, NULL, &how, &m, NULL, &err) == 0);
	CHECK_INT(m.turns, 2);
	CHECK_INT(m.tokens, 60);
	CHECK_INT(m.calls, 2);
	CHECK_INT(m.messages, 4);
	hf_metrics_release(&m);
	hf_session_release(&s);
	free(path);
	free(home);
}

static void
note(const char *id, void *arg)
{
	snprintf(arg, 64, "%s", id);
}

static void
test_subagent(void)
{
	char *home = hf_gemini_home(NULL), *path;
	char id[64] = "";
	struct hf_session s;
	struct hf_err err;

	put(CHATS LONG "/kid.jsonl", HEAD("kid", ",\"kind\":\"subagent\"")
	    USER("k1", "Look.") LF);
	path = hf_path_join(home, CHATS LONG "/kid.jsonl");
	CHECK(hf_session_peek(path, &s, &err) == 0);
	CHECK(s.subagent);
	CHECK_STR(s.parent, LONG);
	CHECK_STR(s.cwd, "/none/work");
	hf_session_release(&s);
	free(path);
	path = hf_path_join(home, NEW);
	CHECK(hf_session_peek(path, &s, &err) == 0);
	GEMINI->owned(&s, note, id);
	CHECK_STR(id, "kid");
	hf_session_release(&s);
	put(CHATS LONG "/kid.jsonl", HEAD("kid", ",\"kind\":\"subagent\"")
	    USER("k1", "Look.") LF SAID("k2", "Seen.", 5) LF);
	id[0] = '\0';
	CHECK(hf_session_peek(path, &s, &err) == 0);
	GEMINI->owned(&s, note, id);
	CHECK_STR(id, "");
	hf_session_release(&s);
	free(path);
	free(home);
}

/* A file elsewhere: by the hash in its header, from a registry beside it or
 * at home. */
static void
test_hash(void)
{
	char *dir = scratch_make(), hex[HF_SHA_HEX], *path, *cwd;
	struct hf_dir d = HF_DIR_INIT;
	struct hf_err err;

	hf_sha256_hex(HF_STR("/none/far"), hex);
	path = hf_path_join(dir, "x.jsonl");
	put("projects.json", "{\"projects\":{}}");
	CHECK(hf_gemini_cwd(path, hf_str(hex)) == NULL);
	CHECK(hf_dir_open(&d, dir, &err) == 0);
	CHECK(hf_file_replace(&d, "projects.json", HF_STR(
	    "{\"projects\":{\"/none/near\":\"n\",\"/none/far\":\"f\"}}"),
	    &err) == 0);
	hf_dir_close(&d);
	cwd = hf_gemini_cwd(path, hf_str(hex));
	CHECK_STR(cwd, "/none/far");
	free(cwd);
	CHECK(hf_gemini_cwd(NULL, hf_str(hex)) == NULL);
	put("projects.json", "{\"projects\":{\"/none/far\":\"f\"}}");
	cwd = hf_gemini_cwd(NULL, hf_str(hex));
	CHECK_STR(cwd, "/none/far");
	free(cwd);
	free(path);
	scratch_remove(dir);
}

/* ---- successors ---- */

static void
test_draft(void)
{
	struct hf_buf draft = HF_BUF_INIT, again = HF_BUF_INIT;
	struct hf_session s;
	struct hf_seed seed = { .source = &s, .id = "NEW", .attempt = "att-1",
	    .cwd = "/home/dev/project", .model = "big",
	    .title = "Work (handoff)", .time = 1768467600123,
	    .text = HF_STR("<handoff-context>\nb\n</handoff-context>\n") };
	struct hf_err err;

	hf_session_init(&s);
	s.agent = GEMINI;
	s.id = hf_strdup("OLD");
	CHECK(GEMINI->draft(&seed, &draft, &err) == 0);
	CHECK(GEMINI->draft(&seed, &again, &err) == 0);
	CHECK(hf_str_eq(hf_buf_view(&draft), hf_buf_view(&again)));
	feed(hf_buf_cstr(&draft));
	CHECK_INT(got.n, 3);
	CHECK_STR(got.s.id, "NEW");
	CHECK_STR(got.s.title, "Work (handoff)");
	CHECK_STR(got.s.parent, "OLD");
	CHECK_INT(got.row[1].kind, HF_ROW_SEED);
	CHECK_INT(got.row[1].id.n, HF_UUID_LEN - 1);
	CHECK(!hf_str_eq(got.row[1].id, got.row[2].id));
	CHECK(got.row[2].flags & HF_ROW_SYNTHETIC);
	CHECK_INT(got.row[2].turn, HF_TURN_CLOSED);
	CHECK(text_is(hf_json_get_str(hf_json_root(got.json[0]),
	    "projectHash"), "1afbf223bb0b58ba08766ec87173ebd68e0507d66983531a"
	    "95b52ff9b529c7db"));
	CHECK(hf_json_is(hf_json_get(hf_json_root(got.json[0]), "kind"),
	    "main"));
	CHECK(text_is(hf_json_str(hf_json_at(hf_json_root(got.json[0]),
	    "handoff.id")), "att-1"));
	CHECK_INT(hf_json_type(hf_json_get(got.row[2].v, "tokens")),
	    HF_J_NULL);
	CHECK(text_is(hf_json_get_str(got.row[2].v, "model"), "big"));
	hf_buf_release(&draft);
	hf_buf_release(&again);
	hf_session_release(&s);
}

static void
test_resume(void)
{
	struct hf_session s;
	struct hf_argv a = { .n = 0 };

	hf_session_init(&s);
	s.id = hf_strdup("ID");
	GEMINI->resume(&s, NULL, &a);
	CHECK_INT(a.n, 3);
	CHECK_STR(a.v[0], "gemini");
	CHECK_STR(a.v[1], "--resume");
	CHECK_STR(a.v[2], "ID");
	hf_argv_release(&a);
	GEMINI->resume(&s, "go on", &a);
	CHECK_INT(a.n, 5);
	CHECK_STR(a.v[4], "go on");
	hf_argv_release(&a);
	GEMINI->resume(&s, "/quit is wrong", &a);
	CHECK_STR(a.v[4], " /quit is wrong");
	hf_argv_release(&a);
	hf_session_release(&s);
}

static int
all_tests(void)
{
	hf_session_init(&got.s);
	hf_blocks_init(&got.blocks);
	test_messages();
	test_tokens();
	test_turns();
	test_seed();
	test_header();
	test_list();
	test_only();
	test_compaction();
	test_rewind();
	test_calls();
	test_parts();
	test_recognise();
	test_place();
	test_publish();
	test_lock();
	test_files();
	test_subagent();
	test_hash();
	test_draft();
	test_resume();
	forget();
	return check_done();
}

int
main(int argc, char **argv)
{
	const char *const again[] = { argv[0], "inside", NULL };
	struct hf_buf var = HF_BUF_INIT;
	char *dir;
	int status;

	if (argc == 2)
		return all_tests();
	dir = scratch_make();
	hf_buf_printf(&var, "GEMINI_CLI_HOME=%s", dir);
	status = scratch_run(again, (const char *const[3]){
	    hf_buf_cstr(&var) }, NULL, NULL);
	hf_buf_release(&var);
	scratch_remove(dir);
	return status;
}
