/*
 * The cursor: a file that grows, measured with what the measuring before
 * left and afresh, says the same; and what was read is not read again.
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/io.h"
#include "check.h"
#include "scratch.h"
#include "session/metrics.h"
#include "toy.h"

static const struct hf_agent tree = TOY_AGENT(HF_LEAF_LAST);
static const struct hf_agent hinted = TOY_AGENT(HF_LEAF_HINT);
static char *folder, *file;
static uint64_t seed = 1;
static bool wild;		/* rows that no agent writes */

static unsigned
any(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) +
	    UINT64_C(1442695040888963407);
	return (unsigned)(seed >> 33) % n;
}

static void
append(struct hf_str a)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	bool good = fd >= 0 && hf_io_write(fd, a.s, a.n) == 0;

	if (!good)
		CHECK(good);
	close(fd);
}

/* Measures the file as agent's (NULL: whose it is); the document without
 * its cursor and what the clock says, or what went wrong; the caller's.
 * *cursor, the caller's, is what is used and replaced; NULL: none. */
static char *
measure(const struct hf_agent *agent, char **cursor)
{
	struct hf_measure how = { .keep = true };
	struct hf_session s;
	struct hf_metrics m;
	struct hf_err err = { HF_OK, "" };
	struct hf_buf out = HF_BUF_INIT;
	struct hf_doc d;

	hf_session_init(&s);
	s.agent = agent;
	s.path = hf_strdup(file);
	if (cursor != NULL)
		how.cursor = hf_str(*cursor);
	if (hf_measure(&s, NULL, &how, &m, NULL, &err) == 0) {
		if (cursor != NULL) {
			free(*cursor);
			*cursor = m.cursor;
			m.cursor = NULL;
		}
		free(m.cursor);
		m.cursor = NULL;
		m.quiet = -1;
		m.file.mtime_ns = 0;
		hf_doc_new(&d);
		hf_metrics_to_doc(&d, &s, &m);
		hf_doc_line(&d, &out);
		hf_doc_release(&d);
		hf_metrics_release(&m);
	} else {
		hf_buf_puts(&out, err.msg);
	}
	hf_session_release(&s);
	return hf_buf_steal(&out);
}

static bool
agree(const struct hf_agent *agent, char **cursor, const char *what)
{
	char *fresh = NULL, *with = measure(agent, cursor);
	char *without = measure(agent, &fresh);
	bool good = strcmp(with, without) == 0;

	/* Even the next cursor, but where ids come twice. */
	if (good && !wild)
		good = fresh == NULL || *cursor == NULL ?
		    fresh == *cursor : strcmp(fresh, *cursor) == 0;

	if (!good)
		printf("# %s\n# with    %s# without %s", what, with,
		    without);
	free(fresh);
	free(with);
	free(without);
	return good;
}

static void
same(const struct hf_agent *agent, char **cursor, const char *what)
{
	CHECK(agree(agent, cursor, what));
}

/* ---- rows by chance ---- */

static void
toy_line(struct hf_buf *b, unsigned i)
{
	static const char *const kinds[] = { "assistant", "assistant",
		"result", "prompt", "assistant", "result", "other",
		"injected", "interrupt", "summary" };
	static const char *const turns[] = { "open", "closed", "open",
		"closed", "none", "interrupted", "exit" };
	static const char *const flags[] = { "sidechain", "error",
		"synthetic", "micro", "growth", "loose", "repeat",
		"inherited" };
	const char *kind = kinds[any(10)];
	unsigned back = any(wild ? 40 : 200) == 0 ? any(i + 1) :
	    any(8) == 0 ? any(6) : 0;

	if (any(60) == 0)
		kind = any(3) ? any(2) ? "compaction" : "reset" : "seed";
	if (wild && any(60) == 0)
		kind = "list";
	hf_buf_printf(b, "{\"k\":\"%s\",\"turn\":\"%s\"", kind,
	    turns[any(any(3) ? 4 : 7)]);
	hf_buf_printf(b, ",\"id\":\"n%u\"", wild && any(50) == 0 ?
	    any(i + 1) : i);
	if (wild && any(80) == 0)
		hf_buf_printf(b, ",\"before\":\"n%u\"",
		    i > 3 ? i - any(4) : 0);
	else if (any(40) == 0)
		hf_buf_puts(b, ",\"up\":\"^\"");
	else if (i > back && (!wild || any(60) != 0))
		hf_buf_printf(b, ",\"up\":\"n%u\"", wild && any(99) == 0 ?
		    i + any(70) : i - 1 - back);
	if (strcmp(kind, "assistant") == 0)
		hf_buf_printf(b, ",\"call\":\"c%u\",\"ctx\":%u,"
		    "\"u\":[%u,1,2,%u],\"calls\":[\"t%u\"]",
		    wild && any(60) == 0 ? any(i + 1) / 3 : i / 3,
		    any(5) ? i * 10 : 0, any(9), any(50), i);
	if (strcmp(kind, "result") == 0)
		hf_buf_printf(b, ",\"results\":[\"t%u\"]", i - 1 - any(3));
	if (any(3) == 0)
		hf_buf_printf(b, ",\"est\":%u", any(30));
	if (any(wild ? 12 : 90) == 0)
		hf_buf_printf(b, ",\"f\":\"%s\"", flags[any(8)]);
	hf_buf_puts(b, "}\n");
	if (any(30) == 0)
		hf_buf_printf(b, "{\"k\":\"other\",\"f\":\"leaf loose\","
		    "\"id\":\"n%u\"}\n", i > 2 ? i - any(3) : 0);
	if (any(60) == 0)
		hf_buf_puts(b, any(2) ? "{\"k\":\"assi\n" :
		    "{\"k\":\"other\",\"x\":\"a\nb\"}\n");
}

/* Appends text in pieces that end anywhere, measuring after each. */
static void
grow(const struct hf_agent *agent, struct hf_str text, unsigned most,
    const char *what)
{
	char *cursor = NULL;
	bool good = true;
	size_t n;

	unlink(file);
	while (text.n > 0 && good) {
		n = 1 + any(most);
		if (n > text.n)
			n = text.n;
		if (any(4) != 0) {
			const char *lf = memchr(text.s + n - 1, '\n',
			    text.n - n + 1);

			if (lf != NULL)
				n = (size_t)(lf - text.s) + 1;
		}
		append(hf_strn(text.s, n));
		text = hf_strn(text.s + n, text.n - n);
		good = agree(agent, &cursor, what);
	}
	/* Nothing changed. */
	CHECK(good && agree(agent, &cursor, what));
	free(cursor);
}

static void
test_toy(void)
{
	struct hf_buf b = HF_BUF_INIT;
	char what[64];

	for (unsigned round = 0; round < 60; round++) {
		unsigned rows = round % 3 == 0 ? 700 : 40 + any(200);

		seed = round + 1;
		wild = round % 2;
		hf_buf_clear(&b);
		for (unsigned i = 0; i < rows; i++)
			toy_line(&b, i);
		snprintf(what, sizeof(what), "round %u", round);
		grow(round % 4 < 2 ? &tree : &hinted, hf_buf_view(&b),
		    rows == 700 ? 4000 : 900, what);
	}
	wild = false;
	hf_buf_release(&b);
}

/* ---- all agents ---- */

static const char *const samples[] = {
	"claude/tool-compact-resume.jsonl", "claude/forked.jsonl",
	"claude/rename-interrupt.jsonl", "claude/busy-tool.jsonl",
	"claude/subagent-parent.jsonl", "claude/resumed-successor.jsonl",
	"codex/legacy-0.98-tool-compact.jsonl",
	"codex/paginated-tool-compact.jsonl", "codex/paginated-busy.jsonl",
	"codex/legacy-0.125-tool-compact.jsonl",
	"codex/legacy-0.125-interrupted.jsonl",
	"pi/tool-compact.jsonl", "pi/forked.jsonl", "pi/busy-tool.jsonl",
	"pi/error-tail.jsonl", "omp/tool-compact-titled.jsonl",
	"omp/handoff-in-place.jsonl", "omp/busy-tool.jsonl",
	"gemini/tool-compress.jsonl", "gemini/tool-turns.jsonl",
	"gemini/resumed-successor.jsonl", "gemini/busy-tool.jsonl" };

static void
test_samples(void)
{
	struct hf_buf text = HF_BUF_INIT;
	char *path;

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		path = hf_path_join("t/fixtures/samples", samples[i]);
		hf_buf_clear(&text);
		CHECK(hf_io_slurp_path(path, &text, NULL) == 0);
		for (unsigned k = 0; k < 3; k++)
			grow(NULL, hf_buf_view(&text), 1 + (unsigned)text.len /
			    (3 + 5 * k), samples[i]);
		free(path);
	}
	hf_buf_release(&text);
}

/* ---- what is not read again, and what is noticed ---- */

static void
rows(struct hf_buf *b, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		hf_buf_printf(b, "{\"k\":\"assistant\",\"id\":\"n%u\","
		    "\"up\":\"n%u\",\"call\":\"c%u\",\"ctx\":%u,"
		    "\"u\":[1,0,0,1],\"turn\":\"closed\"}\n", i, i - 1, i,
		    i + 1);
}

/* A file of n rows, measured. */
static void
begin(unsigned n, char **cursor)
{
	struct hf_buf b = HF_BUF_INIT;

	unlink(file);
	rows(&b, 0, n);
	append(hf_buf_view(&b));
	hf_buf_release(&b);
	free(*cursor);
	*cursor = NULL;
	free(measure(&tree, cursor));
	CHECK(*cursor != NULL);
}

static void
overwrite(off_t at, const char *text)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	CHECK(pwrite(fd, text, strlen(text), at) == (ssize_t)strlen(text));
	close(fd);
}

static void
test_only_the_end(void)
{
	struct hf_buf b = HF_BUF_INIT;
	char *cursor = NULL, *is, *would;

	begin(2000, &cursor);
	rows(&b, 2000, 2010);
	append(hf_buf_view(&b));
	would = measure(&tree, NULL);
	/* What is destroyed in the middle is not looked at … */
	overwrite(60000, "\n\n\n\n");
	is = measure(&tree, &cursor);
	CHECK_STR(is, would);
	free(is);
	free(would);
	/* … until all is read afresh. */
	is = measure(&tree, NULL);
	CHECK(strstr(is, "\"bad\":0") == NULL);
	free(is);
	free(cursor);
	hf_buf_release(&b);
}

static void
test_noticed(void)
{
	char *cursor = NULL;

	begin(500, &cursor);
	overwrite(10, "system   ");		/* at its beginning */
	append(HF_STR("{\"k\":\"prompt\",\"id\":\"x\",\"up\":\"n499\"}\n"));
	same(&tree, &cursor, "edited at the beginning");
	begin(500, &cursor);
	CHECK(truncate(file, 30000) == 0);
	same(&tree, &cursor, "shorter");
	begin(500, &cursor);
	CHECK(truncate(file, 30000) == 0);
	append(HF_STR("\n"));
	begin(400, &cursor);
	same(&tree, &cursor, "replaced");
	begin(500, &cursor);
	append(HF_STR("{\"k\":\"prompt\",\"id\":\"x\",\"up\":\"n9\"}\n"));
	same(&tree, &cursor, "another branch");
	begin(500, &cursor);
	append(HF_STR("{\"k\":\"assistant\",\"id\":\"x\",\"up\":\"n499\","
	    "\"call\":\"c7\",\"u\":[9,9,9,9],\"ctx\":1}\n"));
	same(&tree, &cursor, "an old call");
	begin(500, &cursor);
	append(HF_STR("{\"k\":\"prompt\",\"id\":\"n7\",\"up\":\"n499\"}\n"));
	same(&tree, &cursor, "an old row");
	free(cursor);
}

/* What is no cursor is as good as none. */
static void
test_damaged(void)
{
	char *cursor = NULL, *copy;
	size_t n;

	begin(300, &cursor);
	append(HF_STR("{\"k\":\"prompt\",\"id\":\"x\",\"up\":\"n299\"}\n"));
	n = cursor != NULL ? strlen(cursor) : 0;
	CHECK(n > 0);
	for (size_t i = 0; i < n; i += 7) {
		copy = hf_strdup(cursor);
		copy[i] = copy[i] == 'A' ? 'B' : 'A';
		if (i % 2)
			copy[n - i % n] = '\0';
		same(&tree, &copy, "damaged");
		free(copy);
	}
	free(cursor);
}

int
main(void)
{
	folder = scratch_make();
	file = hf_path_join(folder, "rows");
	test_toy();
	test_samples();
	test_only_the_end();
	test_noticed();
	test_damaged();
	free(file);
	scratch_remove(folder);
	return check_done();
}
