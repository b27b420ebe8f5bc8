/*
 * The fold by the rows of a toy agent (toy.h): what counts, which branch is
 * the active one, what its context is, what is unfinished.
 */
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "check.h"
#include "scratch.h"
#include "session/walk.h"
#include "toy.h"

static const struct hf_agent tree = TOY_AGENT(HF_LEAF_LAST);
static const struct hf_agent hinted = TOY_AGENT(HF_LEAF_HINT);
static char *folder;

/* What a test looks at; released by the next one. */
static struct hf_metrics m;
static struct hf_path path;
static struct hf_err err;

static char *
write_rows(const char *rows)
{
	struct hf_dir d = HF_DIR_INIT;
	char *file = hf_path_join(folder, "rows");

	CHECK(hf_dir_open(&d, folder, &err) == 0);
	CHECK(hf_file_replace(&d, "rows", hf_str(rows), &err) == 0);
	hf_dir_close(&d);
	return file;
}

static int
fold_as(const struct hf_agent *agent, const struct hf_measure *how,
    const char *rows)
{
	struct hf_session s;
	int rc;

	hf_metrics_release(&m);
	hf_path_release(&path);
	err = (struct hf_err){ HF_OK, "" };
	hf_session_init(&s);
	s.agent = agent;
	s.path = write_rows(rows);
	rc = hf_measure(&s, NULL, how, &m, &path, &err);
	if (rc < 0)
		printf("# %s\n", err.msg);
	hf_session_release(&s);
	return rc;
}

static int
fold(const char *rows)
{
	return fold_as(&tree, &(struct hf_measure){ 0 }, rows);
}

/* Is kind activity there? */
static bool
active(const char *activity)
{
	for (size_t i = 0; i < m.nactivity; i++)
		if (strcmp(m.activity[i], activity) == 0)
			return true;
	return false;
}

#define P(id, up) "{\"k\":\"prompt\",\"id\":\"" id "\",\"up\":\"" up \
	"\",\"turn\":\"open\"}\n"
#define ROOT(id) "{\"k\":\"prompt\",\"id\":\"" id "\",\"turn\":\"open\"}\n"
#define A(id, up, call, ctx) "{\"k\":\"assistant\",\"id\":\"" id \
	"\",\"up\":\"" up "\",\"call\":\"" call "\",\"ctx\":" ctx \
	",\"u\":[1,2,3,4],\"turn\":\"closed\"}\n"
#define ROW(k, rest) "{\"k\":\"" k "\"," rest "}\n"

static void
test_counting(void)
{
	CHECK(fold(ROOT("a") A("b", "a", "m1", "100") P("c", "b")
	    A("d", "c", "m2", "250")) == 0);
	CHECK_INT(m.turns, 2);
	CHECK_INT(m.messages, 4);
	CHECK_INT(m.calls, 2);
	CHECK_INT(m.tokens, 250);
	CHECK_STR(m.tokens_from, "usage");
	CHECK_INT(m.total.input, 2);
	CHECK_INT(m.total.cache_read, 4);
	CHECK_INT(m.total.cache_write, 6);
	CHECK_INT(m.total.output, 8);
	CHECK_INT(m.rows, 4);
	CHECK_INT(m.seq, 4);
	CHECK_INT(m.state, HF_STATE_IDLE);
	CHECK_INT(path.n, 4);
	CHECK_INT(path.visible, 0);
	CHECK_INT(path.kept, 0);
	CHECK_INT(path.row[1].kind, HF_ROW_ASSISTANT);
}

/* Three rows of one call; the fullest counts, wherever it stands. */
static void
test_fullest_row(void)
{
	CHECK(fold(ROOT("a")
	    ROW("assistant", "\"id\":\"b\",\"up\":\"a\",\"call\":\"m\","
	    "\"req\":\"r\",\"ctx\":109,\"u\":[100,0,0,9]")
	    ROW("assistant", "\"id\":\"c\",\"up\":\"b\",\"call\":\"m\","
	    "\"req\":\"r\",\"ctx\":259,\"u\":[100,0,0,159]")
	    ROW("assistant", "\"id\":\"d\",\"up\":\"c\",\"call\":\"m\","
	    "\"req\":\"r\",\"ctx\":109,\"u\":[100,0,0,9]")) == 0);
	CHECK_INT(m.calls, 1);
	CHECK_INT(m.duplicates, 2);
	CHECK_INT(m.messages, 2);
	CHECK_INT(m.total.output, 159);
	CHECK_INT(m.total.input, 100);
	CHECK_INT(m.tokens, 259);
}

/* Of rows that are equally full the later one counts. */
static void
test_equally_full(void)
{
	CHECK(fold(ROOT("a")
	    ROW("assistant", "\"id\":\"b\",\"up\":\"a\",\"call\":\"m\","
	    "\"ctx\":100,\"u\":[91,0,0,9]")
	    ROW("assistant", "\"id\":\"c\",\"up\":\"b\",\"call\":\"m\","
	    "\"ctx\":101,\"u\":[92,0,0,9]")) == 0);
	CHECK_INT(m.total.input, 92);
	CHECK_INT(m.tokens, 101);
}

static void
test_request_ids(void)
{
	/* Two requests of the main chain are two calls. */
	CHECK(fold(ROOT("a")
	    ROW("assistant", "\"id\":\"b\",\"up\":\"a\",\"call\":\"m\","
	    "\"req\":\"r1\",\"ctx\":10,\"u\":[1,0,0,9]")
	    ROW("assistant", "\"id\":\"c\",\"up\":\"b\",\"call\":\"m\","
	    "\"req\":\"r2\",\"ctx\":20,\"u\":[2,0,0,8]")) == 0);
	CHECK_INT(m.calls, 2);
	CHECK_INT(m.total.output, 17);
	/* A side question replays the message: the id alone is the key. */
	CHECK(fold(ROOT("a")
	    ROW("assistant", "\"id\":\"b\",\"up\":\"a\",\"call\":\"m\","
	    "\"req\":\"r1\",\"ctx\":10,\"u\":[1,0,0,9]")
	    ROW("assistant", "\"id\":\"c\",\"call\":\"m\",\"ctx\":900,"
	    "\"req\":\"r2\",\"u\":[2,0,0,99],\"f\":\"sidechain\"")) == 0);
	CHECK_INT(m.calls, 1);
	CHECK_INT(m.duplicates, 1);
	CHECK_INT(m.sidechain, 1);
	CHECK_INT(m.tokens, 10);
	CHECK_INT(m.total.output, 99);
	/* The same, the side row first. */
	CHECK(fold(ROW("assistant", "\"id\":\"c\",\"call\":\"m\",\"ctx\":900,"
	    "\"req\":\"r2\",\"u\":[2,0,0,9],\"f\":\"sidechain\"")
	    ROOT("a")
	    ROW("assistant", "\"id\":\"b\",\"up\":\"a\",\"call\":\"m\","
	    "\"req\":\"r1\",\"ctx\":10,\"u\":[1,0,0,5]")) == 0);
	CHECK_INT(m.calls, 1);
	CHECK_INT(m.tokens, 10);
	CHECK_INT(path.n, 2);
}

static void
test_sidechain(void)
{
	static const char rows[] = ROOT("a") A("b", "a", "m1", "100")
	    ROW("prompt", "\"id\":\"s\",\"f\":\"sidechain\"")
	    ROW("assistant", "\"id\":\"t\",\"up\":\"s\",\"call\":\"m2\","
	    "\"ctx\":9000,\"u\":[5,5,5,5],\"f\":\"sidechain\","
	    "\"turn\":\"open\"");

	CHECK(fold(rows) == 0);
	CHECK_INT(m.tokens, 100);
	CHECK_INT(m.turns, 1);
	CHECK_INT(m.sidechain, 2);
	CHECK_INT(m.calls, 2);
	CHECK_INT(m.total.input, 6);
	CHECK_INT(m.state, HF_STATE_IDLE);
	/* In a sub-agent's own file they are the main chain. */
	CHECK(fold(ROW("other", "\"sub\":true,\"f\":\"loose\"")
	    ROW("prompt", "\"id\":\"s\",\"f\":\"sidechain\"")
	    ROW("assistant", "\"id\":\"t\",\"up\":\"s\",\"call\":\"m2\","
	    "\"ctx\":9000,\"u\":[5,5,5,5],\"f\":\"sidechain\"")) == 0);
	CHECK_INT(m.tokens, 9000);
	CHECK_INT(m.turns, 1);
	CHECK_INT(m.sidechain, 0);
}

static void
test_inherited(void)
{
	CHECK(fold(ROW("prompt", "\"id\":\"a\",\"f\":\"inherited\"")
	    ROW("assistant", "\"id\":\"b\",\"up\":\"a\",\"call\":\"m1\","
	    "\"ctx\":500,\"u\":[9,9,9,9],\"f\":\"inherited\"")
	    P("c", "b")
	    ROW("assistant", "\"id\":\"d\",\"up\":\"c\",\"call\":\"m1\","
	    "\"ctx\":500,\"u\":[9,9,9,9]")) == 0);
	CHECK_INT(m.inherited, 2);
	CHECK_INT(m.turns, 1);
	CHECK_INT(m.messages, 3);
	CHECK_INT(m.calls, 0);
	CHECK_INT(m.total.input, 0);
	CHECK_INT(m.tokens, 500);
	CHECK_INT(m.duplicates, 1);
}

static void
test_errors(void)
{
	CHECK(fold(ROOT("a") A("b", "a", "m1", "100") P("c", "b")
	    ROW("assistant", "\"id\":\"d\",\"up\":\"c\",\"call\":\"e1\","
	    "\"f\":\"error\",\"turn\":\"closed\"")
	    ROW("assistant", "\"id\":\"e\",\"up\":\"d\",\"call\":\"e2\","
	    "\"f\":\"synthetic\",\"turn\":\"closed\"")) == 0);
	CHECK_INT(m.errors, 1);
	CHECK_INT(m.calls, 1);
	CHECK_INT(m.tokens, 100);
	CHECK_INT(m.messages, 3);
	/* One that was charged for was spent, and is no context. */
	CHECK(fold(ROOT("a") A("b", "a", "m1", "100")
	    ROW("assistant", "\"id\":\"d\",\"up\":\"b\",\"call\":\"e1\","
	    "\"f\":\"error\",\"ctx\":7000,\"u\":[7000,0,0,0]")) == 0);
	CHECK_INT(m.calls, 2);
	CHECK_INT(m.total.input, 7001);
	CHECK_INT(m.tokens, 100);
}

static void
test_growth(void)
{
	CHECK(fold(ROOT("a")
	    ROW("other", "\"up\":\"^\",\"f\":\"growth\",\"ctx\":70,"
	    "\"u\":[10,1,1,1]")
	    ROW("other", "\"up\":\"^\",\"f\":\"growth\",\"ctx\":90,"
	    "\"u\":[20,2,2,2]")
	    ROW("other", "\"f\":\"loose\",\"u\":[5,0,0,0]")) == 0);
	CHECK_INT(m.total.input, 35);
	CHECK_INT(m.calls, 3);
	CHECK_INT(m.tokens, 90);
	CHECK_INT(m.duplicates, 0);
}

/* Counters are clamped, sums do not overflow. */
static void
test_huge(void)
{
	CHECK(fold(ROOT("a")
	    ROW("assistant", "\"id\":\"b\",\"up\":\"a\",\"call\":\"1\","
	    "\"ctx\":9223372036854775807,"
	    "\"u\":[9007199254740993,0,0,-5]")) == 0);
	CHECK_INT(m.total.input, INT64_C(9007199254740992));
	CHECK_INT(m.total.output, 0);
	CHECK_INT(m.tokens, INT64_MAX);
}

/* ---- the branch ---- */

static void
test_branch(void)
{
	/* The branch that was left does not count. */
	CHECK(fold(ROOT("a") A("b", "a", "m1", "100") P("c", "b")
	    A("d", "c", "m2", "900") P("e", "b")
	    A("f", "e", "m3", "200")) == 0);
	CHECK_INT(m.turns, 2);
	CHECK_INT(m.tokens, 200);
	CHECK_INT(m.calls, 3);
	CHECK_INT(path.n, 4);
	/* A parent that comes later, one that never does. */
	CHECK(fold(A("b", "a", "m1", "100") ROOT("a")
	    P("c", "b")) == 0);
	CHECK_INT(path.n, 3);
	CHECK(fold(P("b", "gone") A("c", "b", "m1", "7")) == 0);
	CHECK_INT(path.n, 2);
	CHECK_INT(m.tokens, 7);
}

static void
test_cycles(void)
{
	CHECK(fold(P("a", "b") A("b", "a", "m1", "100")) == 0);
	CHECK_INT(path.n, 2);
	CHECK_INT(m.tokens, 100);
	CHECK(fold(P("a", "a")) == 0);
	CHECK_INT(path.n, 1);
	CHECK(fold_as(&hinted, &(struct hf_measure){ 0 }, P("a", "b")
	    A("b", "a", "m1", "100") ROOT("x")
	    ROW("other", "\"f\":\"leaf\",\"id\":\"x\"")) == 0);
	CHECK_INT(path.n, 1);
	CHECK_INT(m.turns, 1);
}

static void
test_hint(void)
{
	static const struct hf_measure how = { 0 };

	/* The newest row that descends from the hint. */
	CHECK(fold_as(&hinted, &how, ROOT("a") A("b", "a", "m1", "100")
	    ROW("other", "\"f\":\"leaf\",\"id\":\"b\"")
	    P("c", "b") A("d", "c", "m2", "300")
	    ROOT("x") A("y", "x", "m3", "900")) == 0);
	CHECK_INT(m.tokens, 300);
	CHECK_INT(path.n, 4);
	/* Itself, if none does. */
	CHECK(fold_as(&hinted, &how, ROOT("a") A("b", "a", "m1", "100")
	    P("c", "a") A("d", "c", "m2", "300")
	    ROW("other", "\"f\":\"leaf\",\"id\":\"b\"")) == 0);
	CHECK_INT(m.tokens, 100);
	/* The last row, if the hint is not there. */
	CHECK(fold_as(&hinted, &how, ROOT("a") A("b", "a", "m1", "100")
	    ROW("other", "\"f\":\"leaf\",\"id\":\"gone\"")) == 0);
	CHECK_INT(m.tokens, 100);
	/* The last hint counts. */
	CHECK(fold_as(&hinted, &how, ROOT("a") A("b", "a", "m1", "100")
	    A("c", "a", "m2", "200")
	    ROW("other", "\"f\":\"leaf\",\"id\":\"b\"")
	    ROW("other", "\"f\":\"leaf\",\"id\":\"c\"")) == 0);
	CHECK_INT(m.tokens, 200);
}

static void
test_lists(void)
{
	/* A row takes the place of the one with its id. */
	CHECK(fold(ROOT("a")
	    ROW("assistant", "\"id\":\"b\",\"up\":\"^\",\"call\":\"b\","
	    "\"ctx\":10,\"u\":[1,0,0,1]")
	    ROW("prompt", "\"id\":\"c\",\"up\":\"^\"")
	    ROW("assistant", "\"id\":\"b\",\"up\":\"^\",\"call\":\"b\","
	    "\"ctx\":12,\"u\":[1,0,0,3],\"f\":\"replaces\"")
	    ROW("assistant", "\"id\":\"d\",\"up\":\"^\",\"call\":\"d\","
	    "\"ctx\":20,\"u\":[1,0,0,1]")) == 0);
	CHECK_INT(path.n, 4);
	CHECK_INT(m.turns, 2);
	CHECK_INT(m.calls, 2);
	CHECK_INT(m.total.output, 4);
	CHECK_INT(m.tokens, 20);
	CHECK_INT(path.row[1].kind, HF_ROW_ASSISTANT);
	CHECK_INT(path.row[2].kind, HF_ROW_PROMPT);
}

#define LIST(more)	ROW("list", "\"up\":\"^\"" more)
#define NEXT(id, more)	ROW("prompt", "\"id\":\"" id "\",\"up\":\"^\"" more)
#define SAID(id, more)	ROW("assistant", "\"id\":\"" id "\",\"up\":\"^\"," \
	"\"call\":\"" id "\"" more)

static void
test_new_lists(void)
{
	uint64_t seq;
	char digest[HF_DIGEST_LEN];

	/* What was there before is repeated: counted once, seen anew. */
	CHECK(fold(NEXT("a", "") SAID("b", ",\"ctx\":9,\"u\":[1,0,0,1]")
	    NEXT("gone", ",\"turn\":\"open\"")) == 0);
	seq = m.seq;
	memcpy(digest, m.digest, sizeof(digest));
	CHECK(fold(NEXT("a", "") SAID("b", ",\"ctx\":9,\"u\":[1,0,0,1]")
	    NEXT("gone", ",\"turn\":\"open\"")
	    LIST(",\"turn\":\"closed\"") NEXT("a", ",\"turn\":\"open\"")
	    SAID("b", "")) == 0);
	CHECK_INT(path.n, 6);
	CHECK_INT(path.visible, 3);
	CHECK_INT(path.kept, 3);
	CHECK(path.row[4].flags & HF_ROW_KEPT);
	CHECK_INT(m.turns, 2);
	CHECK_INT(m.calls, 1);
	CHECK_INT(m.messages, 3);
	CHECK_INT(m.tokens, 9);
	CHECK_INT(m.state, HF_STATE_IDLE);
	/* It means nothing new. */
	CHECK_INT(m.seq, seq);
	CHECK_STR(m.digest, digest);

	/* What is new in it counts; so does usage that comes late. */
	CHECK(fold(NEXT("a", "") LIST("") NEXT("a", "") NEXT("c", "")
	    SAID("d", "") NEXT("a", ",\"f\":\"replaces\"")
	    SAID("d", ",\"ctx\":30,\"u\":[1,0,0,1]")) == 0);
	CHECK_INT(path.n, 5);
	CHECK_INT(m.turns, 2);
	CHECK_INT(m.tokens, 30);
	CHECK(fold(SAID("a", "") LIST("") SAID("a", "")
	    SAID("a", ",\"ctx\":30,\"u\":[1,0,0,1]")) == 0);
	CHECK_INT(path.n, 3);
	CHECK_INT(m.tokens, 30);
	CHECK(fold(NEXT("a", "") LIST("")) == 0);
	CHECK_INT(path.n, 2);
	CHECK_INT(m.turns, 1);
}

/* A row in the place of another takes that off the branch, and what was
 * behind it. */
static void
test_rewound(void)
{
#define BACK(to)	ROW("other", "\"before\":\"" to "\"")
	CHECK(fold(NEXT("a", "") SAID("b", ",\"ctx\":9") NEXT("c", "")
	    SAID("d", ",\"ctx\":20")) == 0);
	CHECK_INT(m.seq, 4);
	CHECK(fold(NEXT("a", "") SAID("b", ",\"ctx\":9") NEXT("c", "")
	    SAID("d", ",\"ctx\":20") BACK("c") NEXT("e", "")) == 0);
	CHECK_INT(path.n, 4);
	CHECK_INT(m.turns, 2);
	CHECK_INT(m.tokens, 9);
	CHECK_INT(m.seq, 6);
	CHECK(fold(NEXT("a", "") BACK("a") NEXT("b", "")) == 0);
	CHECK_INT(path.n, 2);
	CHECK_INT(m.turns, 1);
	CHECK(fold(NEXT("a", "") BACK("zz")) == 0);
	CHECK_INT(path.n, 1);
	CHECK_INT(m.turns, 0);
}

/* Several rows of one record follow each other and count once. */
static void
test_items(void)
{
	CHECK(fold(ROW("result", "\"id\":\"a\",\"more\":["
	    "{\"k\":\"prompt\",\"id\":\"a\"},"
	    "{\"k\":\"prompt\",\"up\":\"^\"}]")
	    A("b", "a", "m", "5")) == 0);
	CHECK_INT(m.seq, 2);
	CHECK_INT(m.rows, 2);
	CHECK_INT(path.row[0].kind, HF_ROW_RESULT);
	CHECK_INT(path.row[1].kind, HF_ROW_PROMPT);
	CHECK_INT(path.row[1].ref.item, 1);
	CHECK_INT(m.tokens, 5);
}

/* ---- context ---- */

static void
test_compaction(void)
{
	CHECK(fold(ROOT("a") A("b", "a", "m1", "9000")
	    ROW("compaction", "\"id\":\"c\",\"up\":\"b\",\"ctx\":1200,"
	    "\"kept\":\"b\"")) == 0);
	CHECK_INT(m.tokens, 1200);
	CHECK_STR(m.tokens_from, "compaction");
	CHECK_INT(m.compactions, 1);
	CHECK_INT(path.visible, 2);
	CHECK_INT(path.kept, 1);
	/* One that does not say leaves it unknown; no estimate helps. */
	CHECK(fold(ROOT("a") A("b", "a", "m1", "9000")
	    ROW("compaction", "\"id\":\"c\",\"up\":\"b\","
	    "\"kept\":\"gone\"")
	    ROW("prompt", "\"id\":\"d\",\"up\":\"c\",\"est\":30")) == 0);
	CHECK_INT(m.tokens, 0);
	CHECK_STR(m.tokens_from, "none");
	CHECK_INT(path.kept, path.visible);
	/* A newer reply counts. */
	CHECK(fold(ROOT("a") A("b", "a", "m1", "9000")
	    ROW("compaction", "\"id\":\"c\",\"up\":\"b\",\"ctx\":1200")
	    A("d", "c", "m2", "1300")) == 0);
	CHECK_INT(m.tokens, 1300);
	CHECK_STR(m.tokens_from, "usage");
	/* The figure before it already is the new one. */
	CHECK(fold(ROOT("a") A("b", "a", "m1", "1100")
	    ROW("compaction", "\"id\":\"c\",\"up\":\"b\","
	    "\"f\":\"keeps\"")) == 0);
	CHECK_INT(m.tokens, 1100);
	CHECK_STR(m.tokens_from, "compaction");
	/* What the compaction repeats says nothing. */
	CHECK(fold(ROOT("a") A("b", "a", "m1", "9000")
	    ROW("compaction", "\"id\":\"c\",\"up\":\"b\",\"ctx\":1200")
	    ROW("prompt", "\"id\":\"k\",\"up\":\"c\",\"f\":\"repeat\"")
	    ROW("assistant", "\"id\":\"l\",\"up\":\"k\",\"call\":\"m1\","
	    "\"ctx\":9000,\"u\":[1,2,3,4],\"f\":\"repeat\"")) == 0);
	CHECK_INT(m.tokens, 1200);
	CHECK_INT(m.turns, 1);
	CHECK_INT(m.calls, 1);
	CHECK_INT(m.seq, 3);
	/* A small one resets nothing. */
	CHECK(fold(ROOT("a") A("b", "a", "m1", "9000")
	    ROW("compaction", "\"id\":\"c\",\"up\":\"b\",\"ctx\":1,"
	    "\"f\":\"micro\"")) == 0);
	CHECK_INT(m.tokens, 9000);
	CHECK_INT(m.compactions, 0);
	CHECK_INT(m.micro, 1);
}

static void
test_compaction_elsewhere(void)
{
	CHECK(fold(ROOT("a") A("b", "a", "m1", "100")
	    ROW("compaction", "\"id\":\"c\",\"up\":\"b\",\"ctx\":5")
	    P("d", "b") A("e", "d", "m2", "300")) == 0);
	CHECK_INT(m.compactions, 0);
	CHECK_INT(m.tokens, 300);
	CHECK_INT(path.visible, 0);
}

static void
test_reset(void)
{
	CHECK(fold(ROOT("a") A("b", "a", "m1", "9000") P("a2", "b")
	    A("b2", "a2", "m3", "9500")
	    ROW("reset", "\"id\":\"c\",\"up\":\"b2\"")
	    ROW("prompt", "\"id\":\"d\",\"up\":\"c\",\"est\":30")) == 0);
	CHECK_INT(m.turns, 1);
	CHECK_INT(m.messages, 1);
	CHECK_INT(m.tokens, 30);
	CHECK_STR(m.tokens_from, "estimate");
	CHECK_INT(path.visible, 4);
	CHECK_INT(path.kept, 4);
}

static void
test_estimates(void)
{
	CHECK(fold(ROW("prompt", "\"id\":\"a\",\"est\":1000")
	    A("b", "a", "m1", "100")
	    ROW("prompt", "\"id\":\"c\",\"up\":\"b\",\"est\":7")
	    ROW("other", "\"id\":\"d\",\"up\":\"c\"")
	    ROW("result", "\"id\":\"e\",\"up\":\"d\",\"est\":5")) == 0);
	CHECK_INT(m.tokens, 112);
	CHECK_STR(m.tokens_from, "usage");
	CHECK(fold(ROW("prompt", "\"id\":\"a\",\"est\":10")
	    ROW("prompt", "\"id\":\"b\",\"up\":\"a\",\"est\":3")) == 0);
	CHECK_INT(m.tokens, 13);
	CHECK_STR(m.tokens_from, "estimate");
}

/* A successor's seed and its acknowledgement are nobody's messages. */
static void
test_seed(void)
{
#define SEED ROW("seed", "\"id\":\"a\"") \
	ROW("assistant", "\"id\":\"b\",\"up\":\"a\",\"call\":\"k\"," \
	"\"turn\":\"closed\"")
	CHECK(fold(SEED) == 0);
	CHECK(m.seeded);
	CHECK_INT(m.messages, 0);
	CHECK_INT(m.turns, 0);
	CHECK_INT(m.state, HF_STATE_IDLE);
	CHECK(fold(SEED P("c", "b") A("d", "c", "m1", "50")) == 0);
	CHECK(m.seeded);
	CHECK_INT(m.turns, 1);
	CHECK_INT(m.messages, 2);
	CHECK_INT(m.tokens, 50);
	/* One in the middle is text like any other. */
	CHECK(fold(ROOT("x") ROW("seed", "\"id\":\"a\",\"up\":\"x\"")) == 0);
	CHECK(!m.seeded);
	CHECK_INT(m.messages, 1);
#undef SEED
}

/* ---- state ---- */

static void
test_state(void)
{
	CHECK(fold(ROOT("a")) == 0);
	CHECK_INT(m.state, HF_STATE_BUSY);
	CHECK(active("turn"));
	CHECK(fold(ROOT("a")
	    ROW("interrupt", "\"id\":\"b\",\"up\":\"a\","
	    "\"turn\":\"interrupted\"")) == 0);
	CHECK_INT(m.state, HF_STATE_INTERRUPTED);
	CHECK_INT(m.nactivity, 0);
	CHECK(fold(ROOT("a") ROW("other", "\"id\":\"b\",\"up\":\"a\","
	    "\"turn\":\"exit\"")) == 0);
	CHECK_INT(m.state, HF_STATE_INTERRUPTED);
	CHECK(fold(ROOT("a") A("b", "a", "m", "1")
	    ROW("other", "\"id\":\"c\",\"up\":\"b\","
	    "\"turn\":\"exit\"")) == 0);
	CHECK_INT(m.state, HF_STATE_IDLE);
	CHECK(fold(ROW("other", "\"id\":\"b\"")) == 0);
	CHECK_INT(m.state, HF_STATE_UNKNOWN);
}

static void
test_tools(void)
{
#define CALL(id, up, what, turn) ROW("assistant", "\"id\":\"" id \
	"\",\"up\":\"" up "\",\"call\":\"m\",\"calls\":[" what \
	"],\"turn\":\"" turn "\"")
#define DONE(id, up, what) ROW("result", "\"id\":\"" id "\",\"up\":\"" \
	up "\",\"results\":[" what "],\"turn\":\"open\"")
	CHECK(fold(ROOT("a") CALL("b", "a", "\"Bash\"", "open")) == 0);
	CHECK_INT(m.state, HF_STATE_BUSY);
	CHECK(active("turn") && active("tool:Bash"));
	/* Whatever the row says of its turn (M13). */
	CHECK(fold(ROOT("a") CALL("b", "a", "\"Bash\"", "closed")) == 0);
	CHECK_INT(m.state, HF_STATE_BUSY);
	CHECK(active("turn") && active("tool:Bash"));
	/* Its result came: still busy, but no tool. */
	CHECK(fold(ROOT("a") CALL("b", "a", "\"Bash\"", "open")
	    DONE("c", "b", "\"Bash\"")) == 0);
	CHECK_INT(m.state, HF_STATE_BUSY);
	CHECK(!active("tool:Bash"));
	/* Two calls in two rows; the result of the first is beside the
	 * branch. */
	CHECK(fold(ROOT("a") CALL("b", "a", "\"Read\"", "open")
	    CALL("c", "b", "\"Bash\"", "open") DONE("d", "b", "\"Read\"")
	    ROW("other", "\"id\":\"e\",\"up\":\"c\"")) == 0);
	CHECK(!active("tool:Read") && active("tool:Bash"));
	/* It is part of the branch all the same, behind its call. */
	CHECK_INT(path.n, 5);
	CHECK_INT(path.row[1].kind, HF_ROW_ASSISTANT);
	CHECK_INT(path.row[2].kind, HF_ROW_RESULT);
	CHECK_INT(path.row[3].kind, HF_ROW_ASSISTANT);
	/* Three calls, two results beside the branch, in their order. */
	CHECK(fold(ROOT("a") CALL("b", "a", "\"Read\"", "open")
	    CALL("c", "b", "\"Grep\"", "open")
	    CALL("d", "c", "\"Bash\"", "open") DONE("e", "b", "\"Read\"")
	    DONE("f", "c", "\"Grep\"") DONE("g", "d", "\"Bash\"")
	    A("h", "g", "m2", "7")) == 0);
	CHECK_INT(path.n, 8);
	CHECK_INT(path.row[2].kind, HF_ROW_RESULT);
	CHECK_INT(path.row[4].kind, HF_ROW_RESULT);
	CHECK_INT(m.messages, 3);
	/* One of a branch that was left is not. */
	CHECK(fold(ROOT("a") CALL("b", "a", "\"Read\"", "open")
	    DONE("c", "b", "\"Read\"") P("d", "b")) == 0);
	CHECK_INT(path.n, 3);
	/* A turn that another row ended has no open calls. */
	CHECK(fold(ROOT("a") CALL("b", "a", "\"Bash\"", "open")
	    ROW("other", "\"id\":\"c\",\"up\":\"b\","
	    "\"turn\":\"closed\"")) == 0);
	CHECK_INT(m.state, HF_STATE_IDLE);
	CHECK_INT(m.nactivity, 0);
	/* Nor has one that another message followed. */
	CHECK(fold(ROOT("a") CALL("b", "a", "\"Bash\"", "open")
	    A("c", "b", "m2", "5")) == 0);
	CHECK_INT(m.state, HF_STATE_IDLE);
#undef CALL
#undef DONE
}

static void
test_queue(void)
{
#define Q(n) ROW("queued", "\"f\":\"loose\",\"q\":" n)
	CHECK(fold(ROOT("a") A("b", "a", "m", "5") Q("1") Q("1")
	    Q("-1")) == 0);
	CHECK(active("queued-input"));
	CHECK_INT(m.seq, 5);
	CHECK(fold(ROOT("a") Q("1") Q("-1")) == 0);
	CHECK(!active("queued-input"));
	CHECK(fold(ROOT("a") Q("1") Q("1") Q("-99")) == 0);
	CHECK(!active("queued-input"));
	/* What was taken without being seen coming is no debt. */
	CHECK(fold(ROOT("a") Q("-1") Q("1")) == 0);
	CHECK(active("queued-input"));
#undef Q
}

static void
test_torn(void)
{
	CHECK(fold(ROOT("a") A("b", "a", "m", "5") "{\"k\":\"pro") == 0);
	CHECK(active("torn-tail"));
	CHECK_INT(m.state, HF_STATE_BUSY);
	CHECK_INT(m.bad, 0);
}

static void
test_quiet(void)
{
	int64_t now = hf_clock_now();
	char rows[256];
	struct hf_measure how = { .stale_check = true };

	snprintf(rows, sizeof(rows), ROW("prompt", "\"id\":\"a\","
	    "\"turn\":\"open\",\"time\":%lld"), (long long)now + 86400000);
	CHECK(fold(rows) == 0);
	CHECK(m.quiet >= 0 && m.quiet < 60);
	/* Fresh, so still busy; nobody can say who has it open. */
	CHECK(fold_as(&tree, &how, ROOT("a")) == 0);
	CHECK_INT(m.state, HF_STATE_BUSY);
}

/* ---- window ---- */

static void
test_capacity(void)
{
	struct hf_measure how = { .capacity_host = 200000 };

	CHECK(fold(ROOT("a") A("b", "a", "m", "5")) == 0);
	CHECK_INT(m.capacity, 0);
	CHECK_STR(m.capacity_from, "unknown");
	CHECK(fold_as(&tree, &how, ROOT("a") A("b", "a", "m", "5")) == 0);
	CHECK_INT(m.capacity, 200000);
	CHECK_STR(m.capacity_from, "host");
	how.capacity_option = 100000;
	CHECK(fold_as(&tree, &how, ROOT("a") A("b", "a", "m", "5")) == 0);
	CHECK_INT(m.capacity, 100000);
	CHECK_STR(m.capacity_from, "option");
	CHECK(fold_as(&tree, &how, ROOT("a")
	    ROW("other", "\"up\":\"^\",\"window\":50000")) == 0);
	CHECK_INT(m.capacity, 50000);
	CHECK_STR(m.capacity_from, "transcript");
	/* Real usage proves more; a sidechain's or an error's does not. */
	CHECK(fold_as(&tree, &how, ROOT("a")
	    A("b", "a", "m", "120000")) == 0);
	CHECK_INT(m.capacity, 120000);
	CHECK_STR(m.capacity_from, "usage");
	CHECK(fold_as(&tree, &how, ROOT("a") A("b", "a", "m", "5")
	    ROW("assistant", "\"id\":\"s\",\"call\":\"n\",\"ctx\":900000,"
	    "\"u\":[1,1,1,1],\"f\":\"sidechain\"")) == 0);
	CHECK_INT(m.capacity, 100000);
	/* Nor does that of the model before. */
	CHECK(fold_as(&tree, &how,
	    "{\"k\":\"prompt\",\"id\":\"a\",\"model\":\"large\"}\n"
	    A("b", "a", "m", "120000")
	    "{\"k\":\"prompt\",\"id\":\"c\",\"up\":\"b\","
	    "\"model\":\"small\"}\n" A("d", "c", "n", "5000")) == 0);
	CHECK_INT(m.capacity, 100000);
}

/* ---- revision, errors, damage ---- */

static void
test_revision(void)
{
	char before[HF_DIGEST_LEN];

	CHECK(fold(ROOT("a") A("b", "a", "m", "5")) == 0);
	memcpy(before, m.digest, sizeof(before));
	CHECK(strncmp(m.digest, "sha256:", 7) == 0);
	CHECK_INT(strlen(m.digest), 71);
	/* Housekeeping is no change. */
	CHECK(fold(ROOT("a") A("b", "a", "m", "5")
	    ROW("other", "\"id\":\"x\",\"up\":\"b\"")
	    ROW("injected", "\"id\":\"y\",\"up\":\"x\"")
	    ROW("other", "\"f\":\"leaf\",\"id\":\"b\"")) == 0);
	CHECK_STR(m.digest, before);
	CHECK_INT(m.seq, 2);
	CHECK(fold(ROOT("a") A("b", "a", "m", "6")) == 0);
	CHECK(strcmp(m.digest, before) != 0);
	CHECK(fold(ROOT("a") A("b", "a", "m", "5") P("c", "b")) == 0);
	CHECK(strcmp(m.digest, before) != 0);
	CHECK_INT(m.seq, 3);
}

static void
test_refused(void)
{
	struct hf_measure strict = { .strict = true };

	CHECK(fold("") < 0);
	CHECK_INT(err.code, HF_E_EMPTY);
	CHECK(fold("\n\n") < 0);
	CHECK_INT(hf_code_status(err.code), 65);
	CHECK(fold("{\"x\":1}\n") < 0);
	CHECK_INT(err.code, HF_E_NOT_A_SESSION);
	CHECK(fold("{\"k\":\"other\",\"later\":1}\n") < 0);
	CHECK_INT(err.code, HF_E_UNSUPPORTED);
	CHECK(fold(ROOT("a") "{\"k\":broken}\n" P("b", "a")) == 0);
	CHECK_INT(m.bad, 1);
	CHECK_INT(m.turns, 2);
	CHECK(fold_as(&tree, &strict, ROOT("a") "{\"k\":broken}\n"
	    P("b", "a")) < 0);
	CHECK_INT(err.code, HF_E_INVALID);
	CHECK(fold_as(&tree, &strict, ROOT("a")) == 0);
}

/* Only what was there when it began is read. */
static void
test_limit(void)
{
	struct hf_measure how = { .limit = sizeof(ROOT("a")) - 1 };

	CHECK(fold_as(&tree, &how, ROOT("a") P("b", "a")) == 0);
	CHECK_INT(m.turns, 1);
	CHECK_INT(m.file.size, sizeof(ROOT("a") P("b", "a")) - 1);
}

/* ---- the walk ---- */

static void
test_walk(void)
{
	struct hf_session s;
	struct hf_walk w;
	struct hf_row row;
	const struct hf_blocks *blocks;
	size_t i;

	hf_session_init(&s);
	s.agent = &tree;
	s.path = write_rows(ROOT("a") A("b", "a", "m", "5") P("x", "b")
	    ROW("assistant", "\"id\":\"c\",\"up\":\"b\",\"calls\":[\"Read\"],"
	    "\"more\":[{\"k\":\"result\",\"up\":\"^\","
	    "\"results\":[\"Read\"]}]"));
	CHECK(hf_walk_open(&w, &s, UINT64_MAX, &err) == 0);
	CHECK_INT(w.path.n, 4);
	CHECK_INT(hf_walk_next(&w, &row, &blocks, &i, &err), 1);
	CHECK_INT(row.kind, HF_ROW_PROMPT);
	CHECK_INT(i, 0);
	hf_walk_seek(&w, 2);
	CHECK_INT(hf_walk_next(&w, &row, &blocks, &i, &err), 1);
	CHECK_INT(row.kind, HF_ROW_ASSISTANT);
	CHECK_INT(blocks->n, 1);
	CHECK_INT(blocks->b[0].kind, HF_BLOCK_CALL);
	CHECK_INT(hf_walk_next(&w, &row, &blocks, &i, &err), 1);
	CHECK_INT(row.kind, HF_ROW_RESULT);
	CHECK_INT(blocks->b[0].kind, HF_BLOCK_RESULT);
	CHECK_INT(hf_walk_next(&w, &row, &blocks, NULL, &err), 0);
	hf_walk_close(&w);
	hf_session_release(&s);
}

int
main(void)
{
	folder = scratch_make();
	test_counting();
	test_fullest_row();
	test_equally_full();
	test_request_ids();
	test_sidechain();
	test_inherited();
	test_errors();
	test_growth();
	test_huge();
	test_branch();
	test_cycles();
	test_hint();
	test_lists();
	test_new_lists();
	test_rewound();
	test_items();
	test_compaction();
	test_compaction_elsewhere();
	test_reset();
	test_estimates();
	test_seed();
	test_state();
	test_tools();
	test_queue();
	test_torn();
	test_quiet();
	test_capacity();
	test_revision();
	test_refused();
	test_limit();
	test_walk();
	hf_metrics_release(&m);
	hf_path_release(&path);
	scratch_remove(folder);
	return check_done();
}
