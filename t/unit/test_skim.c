/*
 * The skimmer against the parser: what it vouches for has the values that
 * the parser gives, but for the ends of long strings; what is damaged where
 * figures look is not vouched for.
 */
#include <stdlib.h>

#include "base/file.h"
#include "base/io.h"
#include "check.h"
#include "json/jsonl.h"
#include "json/skim.h"
#include "../helper/skim.h"

static struct hf_json *skimmed;

/* What is vouched for, as JSON; NULL: it is not. */
static const char *
skim(struct hf_str text)
{
	static struct hf_buf in = HF_BUF_INIT, out = HF_BUF_INIT;
	size_t n;

	hf_buf_clear(&in);
	hf_buf_clear(&out);
	hf_buf_str(&in, text);
	memset(hf_buf_room(&in, HF_SKIM_PAD), '\n', HF_SKIM_PAD);
	n = hf_json_skim(&skimmed, hf_strn(in.data, text.n));
	if (n == 0)
		return NULL;
	hf_json_write(&out, hf_json_root(skimmed));
	return hf_buf_cstr(&out);
}
#define SKIM(lit)	skim(HF_STR(lit))

static void
test_values(void)
{
	CHECK_STR(SKIM("{}"), "{}");
	CHECK_STR(SKIM("{\"a\":[],\"b\":{}} x"), "{\"a\":[],\"b\":{}}");
	CHECK_STR(SKIM("{ \"a\" : [ 1 , -0.5e+9 ,\ttrue, false , null ] }"),
	    "{\"a\":[1,-0.5e+9,true,false,null]}");
	CHECK_STR(SKIM("{\"a\":\"x\\n\\\"\\\\\\/\\u00e9\\ud83d\\ude00\"}"),
	    "{\"a\":\"x\\n\\\"\\\\/\xc3\xa9\xf0\x9f\x98\x80\"}");
	CHECK_STR(SKIM("{\"\\u0061\":{\"b\":[[\"\xc3\xa9\"]]}}"),
	    "{\"a\":{\"b\":[[\"\xc3\xa9\"]]}}");
}

static void
test_refused(void)
{
	static const char *const bad[] = { "", "[1]", "1", "{", "{\"a\"",
		"{\"a\":}", "{\"a\":1,}", "{\"a\":1 \"b\":2}", "{\"a\":[1,]}",
		"{\"a\":[1}}", "{a:1}", "{\"a\":01}", "{\"a\":1.}",
		"{\"a\":.5}", "{\"a\":-}", "{\"a\":1e}", "{\"a\":+1}",
		"{\"a\":nul}", "{\"a\":truex}", "{\"a\":\"\\x\"}",
		"{\"a\":\"\\u12g4\"}", "{\"a\":\"\\ud83d\"}",
		"{\"a\":\"\\ude00\"}", "{\"a\":\"\\ud83d\\u0041\"}",
		"{\"a\":\"\t\"}", "{\"a\":\"\xff\"}", "{\"a\":\"\xc3\"}",
		"{\"\xff\":1}", "{\"a\":\"b}", "{\"a\":\"b\\\"}",
		"{\"a\":1\n}", "{,}", "{\"a\" 1}", "{\"a\":1]" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!CHECK(skim(hf_str(bad[i])) == NULL))
			printf("# %s\n", bad[i]);
}

/* A string of n bytes, with one piece at each place near the steps of the
 * scan: the same as the parser, whole or cut. */
static void
test_places(void)
{
	static const char *const piece[] = { "\\\"", "\\\\", "\\n", "\xc3\xa9",
		"\\\\\\\"", "\\u00e9", "\\ud83d\\ude00", "\t", "\xff", "\\x",
		"\\ud800", "a" };
	bool good = true;

	for (size_t k = 0; k < sizeof(piece) / sizeof(piece[0]); k++)
		for (size_t n = 0; n < 1100; n += n < 140 || n > 1000 ? 1 :
		    37) {
			struct hf_buf b = HF_BUF_INIT;

			hf_buf_puts(&b, "{\"k\":\"");
			for (size_t i = 0; i < n; i++)
				hf_buf_putc(&b, 'a');
			hf_buf_puts(&b, piece[k]);
			hf_buf_puts(&b, "\",\"t\":\"\\\\\"}");
			good = good && skim_agrees(hf_buf_view(&b));
			hf_buf_release(&b);
		}
	CHECK(good);
}

/* Behind the beginning of a long string nothing but its end is looked for,
 * and the full reading counts the same. */
static void
test_unseen(void)
{
	static const char *const tail[] = { "\xff", "\\x", "\\ud800", "\\\"",
		"\\\\" };

	for (size_t k = 0; k < sizeof(tail) / sizeof(tail[0]); k++) {
		struct hf_buf b = HF_BUF_INIT;

		hf_buf_puts(&b, "{\"k\":\"");
		for (size_t i = 0; i < 2000; i++)
			hf_buf_putc(&b, 'a');
		hf_buf_puts(&b, tail[k]);
		hf_buf_puts(&b, "\"}");
		CHECK(skim(hf_buf_view(&b)) != NULL);
		CHECK(skim_agrees(hf_buf_view(&b)));
		hf_buf_release(&b);
	}
}

static int
one_sample(const char *path)
{
	struct hf_buf text = HF_BUF_INIT;
	struct hf_str rest, line;
	int rows = 0;
	bool good = true;

	if (hf_io_slurp_path(path, &text, NULL) == 0) {
		rest = hf_buf_view(&text);
		while (rest.n > 0) {
			line = hf_str_line(rest, &rest);
			good = good && skim_agrees(line);
			rows += skim(line) != NULL;
		}
	}
	if (!CHECK(good))
		printf("# %s\n", path);
	hf_buf_release(&text);
	return rows;
}

static int
in_folder(const char *name, void *arg, struct hf_err *err)
{
	char *path = hf_path_join("t/fixtures/samples", arg), *file;

	(void)err;
	file = hf_path_join(path, name);
	if (hf_str_ends(hf_str(name), ".jsonl"))
		CHECK(one_sample(file) > 0);
	free(file);
	free(path);
	return 0;
}

/* All fixtures: every row is vouched for, and is what the parser makes. */
static void
test_samples(void)
{
	static char agents[][8] = { "claude", "codex", "pi", "omp", "gemini" };
	struct hf_dir d = HF_DIR_INIT;
	char *path;

	for (size_t i = 0; i < sizeof(agents) / sizeof(agents[0]); i++) {
		path = hf_path_join("t/fixtures/samples", agents[i]);
		CHECK(hf_dir_open(&d, path, NULL) == 0);
		CHECK(hf_dir_each(&d, in_folder, agents[i], NULL) == 0);
		hf_dir_close(&d);
		free(path);
	}
}

/* More than the first guess of its memory, and more than it takes. */
static void
test_large(void)
{
	struct hf_buf b = HF_BUF_INIT;

	hf_buf_puts(&b, "{\"a\":[0");
	for (int i = 0; i < 3000; i++)
		hf_buf_printf(&b, ",\"%d\\n%0600d\"", i, i);
	hf_buf_puts(&b, "]}");
	CHECK(skim(hf_buf_view(&b)) != NULL);
	CHECK(skim_agrees(hf_buf_view(&b)));
	hf_buf_clear(&b);
	hf_buf_puts(&b, "{\"a\":");
	for (int i = 0; i < 200; i++)
		hf_buf_putc(&b, '[');
	for (int i = 0; i < 200; i++)
		hf_buf_putc(&b, ']');
	hf_buf_puts(&b, "}");
	CHECK(skim(hf_buf_view(&b)) == NULL);
	hf_buf_release(&b);
}

int
main(void)
{
	test_values();
	test_refused();
	test_places();
	test_unseen();
	test_samples();
	test_large();
	hf_json_free(skimmed);
	return check_done();
}
