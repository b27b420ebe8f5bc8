#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "json/jsonl.h"

/* ---- reading a text from a file ---- */

static void
note(uint64_t line, uint64_t off, const char *why, void *arg)
{
	hf_buf_printf(arg, "(%llu@%llu %s)", (unsigned long long)line,
	    (unsigned long long)off, why);
}

static FILE *
file_of(struct hf_str text)
{
	FILE *f = tmpfile();

	if (f == NULL || (text.n > 0 && hf_io_write(fileno(f), text.s,
	    text.n) < 0)) {
		printf("Bail out! no scratch file\n");
		exit(1);
	}
	return f;
}

struct result {
	struct hf_jsonl_stats stats;
	struct hf_buf rows;	/* member n of each row, ":line" */
	struct hf_buf why;
	bool offsets;		/* raw, off and reading again agree */
};

static void
look(struct result *res, int fd, struct hf_str text,
    const struct hf_jsonl_row *row)
{
	static struct hf_buf scratch = HF_BUF_INIT;
	struct hf_buf a = HF_BUF_INIT, b = HF_BUF_INIT;
	struct hf_json *again = hf_jsonl_at(fd, row->off, row->raw.n,
	    &scratch, NULL);

	hf_json_write(&a, row->v);
	hf_json_write(&b, hf_json_root(again));
	res->offsets = res->offsets && hf_str_eq(hf_buf_view(&a),
	    hf_buf_view(&b)) && hf_str_eq(row->raw,
	    hf_strn(text.s + row->off, row->raw.n));
	hf_buf_puts(&res->rows, res->rows.len > 0 ? " " : "");
	hf_buf_str(&res->rows, hf_json_num(hf_json_get(row->v, "n")));
	hf_buf_printf(&res->rows, ":%llu%s", (unsigned long long)row->line,
	    row->mended ? "m" : "");
	hf_buf_release(&a);
	hf_buf_release(&b);
	hf_json_free(again);
}

static struct result *
read_rows(struct hf_str text, uint64_t off, uint64_t limit)
{
	static struct result res;
	struct hf_err err = { HF_OK, "" };
	FILE *f = file_of(text);
	struct hf_jsonl_row row;
	struct hf_jsonl r;
	int k;

	hf_buf_clear(&res.rows);
	hf_buf_clear(&res.why);
	res.offsets = true;
	hf_jsonl_init(&r, fileno(f), "test", off, limit);
	r.explain = note;
	r.explain_arg = &res.why;
	while ((k = hf_jsonl_next(&r, &row, &err)) > 0)
		look(&res, fileno(f), text, &row);
	CHECK_INT(k, 0);
	CHECK_INT(hf_jsonl_next(&r, &row, &err), 0);
	CHECK(res.offsets);
	res.stats = r.stats;
	hf_jsonl_release(&r);
	fclose(f);
	return &res;
}

#define ALL	SIZE_MAX

/* Rows, bad, mended, torn and where a later reading goes on. */
static void
expect(struct hf_str text, const char *rows, unsigned bad, unsigned mended,
    bool torn, size_t left)
{
	struct result *res = read_rows(text, 0, UINT64_MAX);

	CHECK_STR(hf_buf_cstr(&res->rows), rows);
	CHECK_INT(res->stats.bad, bad);
	CHECK_INT(res->stats.mended, mended);
	CHECK_INT(res->stats.torn, torn);
	CHECK_INT(res->stats.end, left < ALL ? text.n - left : 0);
	CHECK_INT(res->stats.bytes, text.n);
}

#define EXPECT(lit, rows, bad, mended, torn, left) \
	expect(HF_STR(lit), rows, bad, mended, torn, left)
/* A row as the agents write them. */
#define ROW(n)	"{\"type\":\"user\",\"n\":" #n ",\"timestamp\":\"t\"}"

static void
test_good(void)
{
	EXPECT("", "", 0, 0, false, 0);
	EXPECT("\n \n\r\n", "", 0, 0, false, 0);
	EXPECT(ROW(1) "\n" ROW(2) "\n", "1:1 2:2", 0, 0, false, 0);
	EXPECT(ROW(1) "\n" ROW(2), "1:1 2:2", 0, 0, false, 0);
	EXPECT("\xef\xbb\xbf" ROW(1) "\r\n\r\n  " ROW(2) " \t\r\n",
	    "1:1 2:3", 0, 0, false, 0);
	EXPECT("\xef\xbb\xbf", "", 0, 0, false, 3);
	EXPECT("{\"n\":1,\"s\":\"a\xe2\x80\xa8" "b\"}\n", "1:1", 0, 0, false,
	    0);
	EXPECT("{\"n\":1,\"f\":1e999}\n", "1:1", 0, 0, false, 0);
}

static void
test_mended(void)
{
	EXPECT("{\"n\":1,\"s\":\"\xe9\"}\n", "1:1m", 0, 1, false, 0);
	EXPECT("{\"n\":1,\"s\":\"\\ud83d\"}\n" ROW(2) "\n", "1:1m 2:2", 0, 1,
	    false, 0);
	EXPECT("{\"n\":1,\"s\":\"a\tb\"}\n", "1:1m", 0, 1, false, 0);
}

static void
test_torn(void)
{
	EXPECT(ROW(1) "\n{\"type\":\"us", "1:1", 0, 0, true, 11);
	EXPECT("{\"n\":1}{\"type\":", "1:1", 0, 0, true, 8);
	EXPECT(ROW(1) "\n\0\0\0", "1:1", 0, 0, true, 3);
	EXPECT(ROW(1) "\0\0\0", "1:1", 0, 0, true, 3);
	/* What is not yet whole hides no row of its own. */
	EXPECT("{\"$set\":{\"messages\":[{\"id\":\"a\",\"timestamp\":\"t\","
	    "\"n\":1},{\"id\":\"b\",\"timestamp\":\"t\",\"n\":2}", "", 0, 0,
	    true, ALL);
	EXPECT("{\"timestamp\":\"t\",\"payload\":{\"type\":\"x\"}", "", 0, 0,
	    true, ALL);
}

static void
test_bad(void)
{
	EXPECT(ROW(1) "\nnonsense\n" ROW(2) "\n", "1:1 2:3", 1, 0, false, 0);
	EXPECT("[1,2]\n7\n\"x\"\n" ROW(1) "\n", "1:4", 3, 0, false, 0);
	EXPECT(ROW(1) "\n\0\0\0\0" ROW(2) "\n\0\0\n" ROW(3) "\n",
	    "1:1 2:2 3:4", 2, 0, false, 0);
	EXPECT(ROW(1) "\0\0\n" ROW(2) "\n", "1:1 2:2", 1, 0, false, 0);
	/* A row with something nested that begins like a row. */
	EXPECT("{\"parentUuid\":null,\"message\":{\"content\":[{\"type\":"
	    "\"text\",\"text\":\"x\"}],\"stop\n" ROW(2) "\n", "2:2", 1, 0,
	    false, 0);
	EXPECT("{\"parentUuid\":null,\"message\":{\"content\":[{\"type\":"
	    "\"text\",\"text\":\"x\"}\n" ROW(2) "\n", "2:2", 1, 0, false, 0);
}

static void
test_fused(void)
{
	struct result *res;

	EXPECT("{\"type\":\"pr-link\",\"prNu" ROW(1) "\n" ROW(2) "\n",
	    "1:1 2:2", 1, 0, false, 0);
	EXPECT(ROW(1) ROW(2) "\n", "1:1 2:1", 0, 0, false, 0);
	EXPECT("{\"n\":1}{\"n\":2} {\"n\":3}\n", "1:1 2:1 3:1", 0, 0, false,
	    0);
	EXPECT(ROW(1) "}garbage" ROW(2) "\n", "1:1 2:1", 1, 0, false, 0);
	/* The stub ends where a value could begin. */
	EXPECT("{\"type\":\"x\",\"v\":" ROW(1) "\n", "1:1", 1, 0, false, 0);
	EXPECT("{\"type\":\"x\",\"v\":[" ROW(1) ROW(2) "\n", "1:1 2:1", 1, 0,
	    false, 0);
	/* A stub with nested objects that are whole. */
	EXPECT("{\"parentUuid\":null,\"c\":[{\"type\":\"text\",\"n\":7},"
	    "{\"type\":\"te" ROW(1) "\n", "1:1", 1, 0, false, 0);
	/* The record behind the stub is mended too. */
	EXPECT("{\"type\":\"x{\"type\":\"u\",\"n\":1,\"s\":\"\xff\"}\n",
	    "1:1m", 1, 1, false, 0);
	/* Text that quotes a record is no record. */
	EXPECT("{\"type\":\"u\",\"s\":\"{\\\"type\\\":\\\"u\\\",\\\"n\\\":"
	    "9}\n" ROW(2) "\n", "2:2", 1, 0, false, 0);

	res = read_rows(HF_STR("{\"type\":\"pr" ROW(1) "xx\n[1]\n{\"a"), 0,
	    UINT64_MAX);
	CHECK(strstr(hf_buf_cstr(&res->why), "(1@0 byte 14: ") != NULL);
	CHECK(strstr(hf_buf_cstr(&res->why), "(1@48 a piece of a row)") !=
	    NULL);
	CHECK(strstr(hf_buf_cstr(&res->why), "(2@51 not an object)") !=
	    NULL);
	CHECK(strstr(hf_buf_cstr(&res->why), "(3@55 half written)") != NULL);
}

static void
test_joined(void)
{
	struct hf_buf b = HF_BUF_INIT;

	EXPECT("{\"type\":\"u\",\"n\":1,\"s\":\"one\ntwo\r\n\"}\n" ROW(2)
	    "\n", "1:1m 2:4", 0, 1, false, 0);
	EXPECT("{\"n\":1,\"s\":\"a\nb\",\"t\":\"c\nd\"}", "1:1m", 0, 1,
	    false, 0);
	EXPECT("{\"n\":1,\"s\":\"a\nb\"}" ROW(2) "x\n" ROW(3) "\n",
	    "1:1m 2:2 3:3", 1, 1, false, 0);
	/* It must not swallow the rows that follow. */
	EXPECT("{\"n\":1,\"s\":\"a\n" ROW(2) "\nb\"}\n" ROW(3) "\n",
	    "2:2 3:4", 2, 0, false, 0);
	EXPECT("{\"n\":1,\"s\":\"a\nb", "", 1, 0, true, 1);

	for (int lines = 63; lines <= 65; lines++) {
		struct result *res;

		hf_buf_clear(&b);
		hf_buf_puts(&b, "{\"n\":1,\"s\":\"");
		for (int i = 1; i < lines; i++)
			hf_buf_puts(&b, "x\n");
		hf_buf_puts(&b, "\"}\n" ROW(2) "\n");
		res = read_rows(hf_buf_view(&b), 0, UINT64_MAX);
		CHECK_INT(res->stats.rows, lines <= HF_JSONL_JOIN ? 2 : 1);
		CHECK_INT(res->stats.bad, lines <= HF_JSONL_JOIN ? 0 : 65);
		CHECK_INT(res->stats.lines, lines + 1);
	}
	hf_buf_release(&b);
}

/* Rows of all lengths around the size of the buffer. */
static void
test_buffer(void)
{
	struct hf_buf b = HF_BUF_INIT;
	struct result *res;
	size_t n = 0;

	for (size_t len = 1; len < 700000; len = len * 5 / 3 + 1) {
		hf_buf_printf(&b, "{\"type\":\"u\",\"n\":%zu,\"s\":\"", n++);
		for (size_t i = 0; i < len; i++)
			hf_buf_putc(&b, 'a');
		hf_buf_puts(&b, "\"}\n");
	}
	for (size_t i = 0; i < 20000; i++, n++)
		hf_buf_printf(&b, "{\"type\":\"u\",\"n\":%zu}\n", i);
	res = read_rows(hf_buf_view(&b), 0, UINT64_MAX);
	CHECK_INT(res->stats.rows, n);
	CHECK_INT(res->stats.lines, n);
	CHECK_INT(res->stats.bad, 0);
	CHECK_INT(res->stats.end, b.len);
	hf_buf_release(&b);
}

/* The rows of a file whose long strings end in damage. */
static void
long_rows(struct hf_buf *b)
{
	static const char *const end[] = { "\\n", "\xff", "\\x", "\\ud800",
		"\t" };

	for (size_t i = 0; i < sizeof(end) / sizeof(end[0]); i++) {
		hf_buf_printf(b, "{\"n\":%zu,\"s\":\"", i);
		for (int k = 0; k < 3000; k++)
			hf_buf_putc(b, 'x');
		hf_buf_printf(b, "%s\"} \r\n", end[i]);
	}
}

/* Skimmed rows: the same rows and counts, and what is damaged where it
 * matters is found. */
static void
test_skim(void)
{
	struct hf_jsonl_stats stats[2];
	struct hf_buf text = HF_BUF_INIT;
	struct hf_jsonl_row row;
	struct hf_err err;
	struct hf_jsonl r;
	FILE *f;

	long_rows(&text);
	hf_buf_puts(&text, ROW(2) ROW(3) "\n {\"n\":4,\"s\":\"ab\xff\"}\n"
	    "{\"n\":5,\"s\":\"ab\\x\"}\n{\"n\":6} {\"n\":7}\n[8]\n"
	    "{\"n\":6,\"s\":\"abcdefgh");
	f = file_of(hf_buf_view(&text));
	for (int i = 0; i < 2; i++) {
		hf_jsonl_init(&r, fileno(f), "test", 0, UINT64_MAX);
		r.skim = i == 1;
		while (hf_jsonl_next(&r, &row, &err) > 0)
			CHECK(row.raw.s[0] == '{' &&
			    row.raw.s[row.raw.n - 1] == '}');
		stats[i] = r.stats;
		hf_jsonl_release(&r);
	}
	CHECK_INT(stats[0].rows, 11);
	CHECK_INT(stats[0].bad, 1);
	CHECK_INT(stats[0].mended, 3);
	CHECK(stats[0].torn);
	CHECK_INT(stats[1].rows, stats[0].rows);
	CHECK_INT(stats[1].bad, stats[0].bad);
	CHECK_INT(stats[1].mended, stats[0].mended);
	CHECK_INT(stats[1].lines, stats[0].lines);
	CHECK_INT(stats[1].end, stats[0].end);
	CHECK(stats[1].torn);
	hf_buf_release(&text);
	fclose(f);
}

/* From any offset at which one reading ended a second goes on: together
 * they give what one gives, whatever was appended meanwhile. */
static void
test_resume(void)
{
	static const char text[] = ROW(1) "\n{\"type\":\"x" ROW(2) "\n\0\0"
	    ROW(3) ROW(4) "\n\nnonsense\n{\"n\":5}";
	struct hf_str all = hf_strn(text, sizeof(text) - 1);
	struct hf_jsonl_stats first;
	bool same = true;

	for (size_t cut = 0; cut <= all.n; cut++) {
		struct result *res = read_rows(all, 0, cut);

		same = same && res->stats.end <= cut;
		first = res->stats;
		res = read_rows(all, first.end, UINT64_MAX);
		same = same && first.rows + res->stats.rows == 5 &&
		    first.bad + res->stats.bad == 3 &&
		    first.lines + res->stats.lines == 5 && !res->stats.torn &&
		    res->stats.end == all.n;
		if (!same) {
			printf("# cut at %zu\n", cut);
			break;
		}
	}
	CHECK(same);
}

/* ---- hostile input ---- */

static char *
repeated(const char *what, size_t n)
{
	size_t len = strlen(what);
	char *p = hf_malloc(n);

	for (size_t i = 0; i < n; i++)
		p[i] = what[i % len];
	return p;
}

static void
hostile(const char *what, size_t n, bool lines)
{
	char *p = repeated(what, n);
	struct hf_jsonl_row row;
	struct hf_err err;
	struct hf_jsonl r;
	FILE *f;
	int k;

	if (!lines)
		p[n - 1] = '\n';
	f = file_of(hf_strn(p, n));
	hf_jsonl_init(&r, fileno(f), "test", 0, UINT64_MAX);
	while ((k = hf_jsonl_next(&r, &row, &err)) > 0)
		;
	CHECK_INT(k, 0);
	CHECK(r.stats.bad > 0 || r.stats.torn);
	hf_jsonl_release(&r);
	fclose(f);
	free(p);
}

/* That these end at all within the test's time is the test. */
static void
test_hostile(void)
{
	hostile("{\"type\"", 20 << 20, false);
	hostile("{\"type\":\"x\",\"a\":[", 20 << 20, false);
	hostile("{\"type\":{", 20 << 20, false);
	hostile("[", 20 << 20, false);
	hostile("\"", 20 << 20, false);
	hostile("\\", 20 << 20, false);
	hostile("{\"type\":1},", 20 << 20, false);
	hostile("{\"a\":\"x\n", 2 << 20, true);
	hostile("{\"a\n", 2 << 20, true);
	hostile("{\"type\":\"\xff\"", 20 << 20, false);
}

static void
test_long(void)
{
	static const char head[] = ROW(1) "\n{\"n\":2,\"s\":\"";
	static const char tail[] = "\"}\n" ROW(3) "\n";
	off_t end = (off_t)HF_JSONL_MAX + 100;
	FILE *f = file_of(HF_STR(head));
	struct hf_jsonl_row row;
	struct hf_err err;
	struct hf_jsonl r;

	/* A hole reads as NUL bytes and costs no disk. */
	CHECK(pwrite(fileno(f), tail, sizeof(tail) - 1, end) > 0);
	hf_jsonl_init(&r, fileno(f), "test", 0, UINT64_MAX);
	CHECK_INT(hf_jsonl_next(&r, &row, &err), 1);
	CHECK_INT(hf_jsonl_next(&r, &row, &err), 1);
	CHECK_INT(hf_json_count(hf_json_get(row.v, "n")), 3);
	CHECK_INT(row.line, 3);
	CHECK_INT(row.off, end + 3);
	CHECK_INT(hf_jsonl_next(&r, &row, &err), 0);
	CHECK_INT(r.stats.bad, 1);
	hf_jsonl_release(&r);
	fclose(f);
}

static void
test_errors(void)
{
	struct hf_err err = { HF_OK, "" };
	struct hf_buf scratch = HF_BUF_INIT;
	FILE *f = file_of(HF_STR("{\"n\":1}\n"));
	struct hf_jsonl_row row;
	struct hf_jsonl r;

	hf_jsonl_init(&r, -1, "gone", 0, UINT64_MAX);
	CHECK_INT(hf_jsonl_next(&r, &row, &err), -1);
	CHECK_INT(err.code, HF_E_IO);
	CHECK_STR(err.msg, "cannot read 'gone': Bad file descriptor");
	hf_jsonl_release(&r);
	hf_jsonl_release(&r);

	CHECK(hf_jsonl_at(fileno(f), 0, 100, &scratch, &err) == NULL);
	CHECK_INT(err.code, HF_E_CHANGED);
	CHECK(hf_jsonl_at(fileno(f), 1, 5, &scratch, &err) == NULL);
	CHECK_INT(err.code, HF_E_CHANGED);
	CHECK(hf_jsonl_at(fileno(f), 0, (uint64_t)1 << 40, &scratch, &err) ==
	    NULL);
	CHECK_INT(err.code, HF_E_OVERFLOW);

	/* Cut while it is read: it just ends. */
	hf_jsonl_init(&r, fileno(f), "test", 0, UINT64_MAX);
	CHECK(ftruncate(fileno(f), 4) == 0);
	CHECK_INT(hf_jsonl_next(&r, &row, &err), 0);
	CHECK(r.stats.torn);
	hf_jsonl_release(&r);
	hf_buf_release(&scratch);
	fclose(f);
}

int
main(void)
{
	test_good();
	test_mended();
	test_torn();
	test_bad();
	test_fused();
	test_joined();
	test_buffer();
	test_skim();
	test_resume();
	test_hostile();
	test_long();
	test_errors();
	return check_done();
}
