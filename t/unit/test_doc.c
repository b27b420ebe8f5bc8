#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "json/doc.h"

/* ---- one document ---- */

static const char *
line_of(const struct hf_doc *d)
{
	static struct hf_buf out = HF_BUF_INIT;

	hf_buf_clear(&out);
	hf_doc_line(d, &out);
	return hf_buf_cstr(&out);
}

static void
test_parse(void)
{
	struct hf_err err = { HF_OK, "" };
	struct hf_doc d;

	CHECK(hf_doc_parse(&d, HF_STR("[1]"), &err) < 0);
	CHECK_INT(err.code, HF_E_INVALID);
	CHECK(hf_doc_parse(&d, HF_STR("{\"v\":2}"), &err) < 0);
	CHECK_INT(err.code, HF_E_UNSUPPORTED);
	CHECK(hf_doc_parse(&d, HF_STR("{\"v\":\"1\"}"), &err) < 0);
	CHECK(hf_doc_parse(&d, HF_STR("{\"v\":1"), &err) < 0);
	CHECK(hf_doc_parse(&d, HF_STR("{\"session_id\":\"x\"}"), &err) == 0);
	CHECK_STR(line_of(&d), "{\"session_id\":\"x\"}\n");
	hf_doc_release(&d);
	hf_doc_new(&d);
	CHECK_STR(line_of(&d), "{\"v\":1}\n");
	CHECK(hf_doc_get(&d, "v") == NULL);
	CHECK(hf_doc_acts(&d));
	hf_doc_release(&d);
}

static void
test_change(void)
{
	static const char in[] = "{ \"v\":1, \"n\": 1.10,\"a\":[1E2],"
	    "\"big\":12345678901234567890,\"s\":\"\\u0041\",\"z\":{} }";
	struct hf_err why = { HF_E_TIMEOUT, "too slow" };
	struct hf_doc d;

	CHECK(hf_doc_parse(&d, hf_strn(in, sizeof(in) - 1), NULL) == 0);
	hf_doc_del(&d, "none");
	CHECK_MEM(line_of(&d), sizeof(in) - 1,
	    "{ \"v\":1, \"n\": 1.10,\"a\":[1E2],"
	    "\"big\":12345678901234567890,\"s\":\"\\u0041\",\"z\":{} }");
	hf_doc_set(&d, "a", hf_jtree_int(hf_doc_tree(&d), 7));
	hf_doc_set(&d, "new", hf_jtree_bool(hf_doc_tree(&d), true));
	hf_doc_del(&d, "z");
	CHECK_STR(line_of(&d), "{\"v\":1,\"n\":1.10,\"a\":7,"
	    "\"big\":12345678901234567890,\"s\":\"A\",\"new\":true}\n");
	CHECK_INT(hf_json_size(hf_doc_get(&d, "a")), 1);
	CHECK_INT(hf_doc_status(&d), 0);
	hf_doc_fail(&d, "hf-x", &why);
	CHECK(strstr(line_of(&d), ",\"error\":{\"stage\":\"hf-x\",\"code\":"
	    "\"timeout\",\"message\":\"too slow\",\"retry\":true}}") !=
	    NULL);
	CHECK_INT(hf_doc_status(&d), HF_EX_TEMPFAIL);
	hf_doc_release(&d);
}

static void
status(const char *text, int want, bool acts)
{
	struct hf_doc d;

	if (!CHECK(hf_doc_parse(&d, hf_str(text), NULL) == 0))
		return;
	CHECK_INT(hf_doc_status(&d), want);
	CHECK(hf_doc_acts(&d) == acts);
	/* The same once it has been changed. */
	hf_doc_set(&d, "x", hf_jtree_null(hf_doc_tree(&d)));
	CHECK_INT(hf_doc_status(&d), want);
	hf_doc_release(&d);
}

static void
test_status(void)
{
	status("{}", 0, true);
	status("{\"error\":null,\"trigger\":null}", 0, true);
	status("{\"error\":{\"code\":\"io\"}}", 74, false);
	status("{\"error\":{\"code\":\"what\"}}", 70, false);
	status("{\"error\":{}}", 70, false);
	status("{\"trigger\":{\"due\":true}}", 0, true);
	status("{\"trigger\":{\"due\":false,\"blockers\":[]}}", 1, false);
	status("{\"trigger\":{\"due\":false,\"guard\":\"archived\","
	    "\"blockers\":[]}}", 1, false);
	status("{\"trigger\":{\"due\":false,\"guard\":\"busy\"}}", 75,
	    false);
	status("{\"trigger\":{\"due\":false,\"guard\":null,"
	    "\"blockers\":[\"x\"]}}", 75, false);
	status("{\"trigger\":{\"due\":true},\"error\":{\"code\":\"vetoed\"}}",
	    77, false);
}

/* ---- the loop ---- */

static int
act(struct hf_doc *d, void *arg, struct hf_err *err)
{
	struct hf_str what = hf_json_get_str(d->root, "do");

	++*(int *)arg;
	if (hf_str_is(what, "fail"))
		return hf_err_set(err, HF_E_REFUSED, "no");
	if (hf_str_is(what, "add"))
		hf_doc_set(d, "added", hf_jtree_int(hf_doc_tree(d), 1));
	return 0;
}

struct streams { FILE *in, *out, *err; int saved[3]; };

/* Descriptors 0, 1 and 2 become files, and come back. */
static void
redirect(struct streams *s, const char *text)
{
	FILE **f[] = { &s->in, &s->out, &s->err };

	for (int i = 0; i < 3; i++) {
		*f[i] = tmpfile();
		s->saved[i] = dup(i);
		if (*f[i] == NULL || s->saved[i] < 0)
			exit(1);
	}
	hf_io_write(fileno(s->in), text, strlen(text));
	lseek(fileno(s->in), 0, SEEK_SET);
	for (int i = 0; i < 3; i++)
		dup2(fileno(*f[i]), i);
}

static void
restore(struct streams *s)
{
	for (int i = 0; i < 3; i++) {
		dup2(s->saved[i], i);
		close(s->saved[i]);
	}
}

static void
slurp(FILE *f, struct hf_buf *out)
{
	hf_buf_clear(out);
	lseek(fileno(f), 0, SEEK_SET);
	hf_io_slurp(fileno(f), out, "file", NULL);
	fclose(f);
}

static void
stage(const char *in, bool all, int want, int calls, const char *out,
    const char *errout)
{
	int n = 0;
	struct hf_stage s = { "hf-x", all, act, &n, false };
	struct hf_buf got = HF_BUF_INIT;
	struct hf_err err = { HF_OK, "" };
	struct streams st;
	int rc;

	redirect(&st, in);
	rc = hf_doc_stage(&s, &err);
	restore(&st);
	CHECK_INT(rc, want);
	CHECK_INT(n, calls);
	slurp(st.out, &got);
	CHECK_STR(hf_buf_cstr(&got), out);
	slurp(st.err, &got);
	if (errout == NULL)
		CHECK_STR(hf_buf_cstr(&got), "");
	else if (!CHECK(strstr(hf_buf_cstr(&got), errout) != NULL))
		printf("# got %s", hf_buf_cstr(&got));
	fclose(st.in);
	hf_buf_release(&got);
}

static void
test_stage(void)
{
	stage("", false, 1, 0, "", NULL);
	stage("\n", false, 1, 0, "", NULL);
	stage("{ \"a\": 1.0 }\n", false, 0, 1, "{ \"a\": 1.0 }\n", NULL);
	stage("{\"do\":\"add\",\"n\":1.0}\n", false, 0, 1,
	    "{\"do\":\"add\",\"n\":1.0,\"added\":1}\n", NULL);
	stage("{\"do\":\"fail\"}\n{}\n", false, 69, 2,
	    "{\"do\":\"fail\",\"error\":{\"stage\":\"hf-x\",\"code\":"
	    "\"refused\",\"message\":\"no\",\"retry\":false}}\n{}\n", NULL);
	/* Not due only where none is due; an error passes untouched. */
	stage("{\"trigger\":{\"due\":false}}\n", false, 1, 0,
	    "{\"trigger\":{\"due\":false}}\n", NULL);
	stage("{\"trigger\":{\"due\":false}}\n{}\n", false, 0, 1,
	    "{\"trigger\":{\"due\":false}}\n{}\n", NULL);
	stage("{\"error\" : {\"code\":\"io\"}}\n{\"do\":\"add\"}\n", false,
	    74, 1, "{\"error\" : {\"code\":\"io\"}}\n"
	    "{\"do\":\"add\",\"added\":1}\n", NULL);
	stage("{\"error\":{\"code\":\"io\"}}\n", true, 74, 1,
	    "{\"error\":{\"code\":\"io\"}}\n", NULL);
	/* Bad lines are named, the others go on. */
	stage("nonsense\n{\"v\":1}\n", false, 65, 1, "{\"v\":1}\n",
	    "line 1 of stdin");
	stage("{\"v\":1}\n{\"v\":1}", false, 65, 1, "{\"v\":1}\n",
	    "line 2 of stdin");
	stage("{\"v\":1}\n{\"v\":9}\n", false, 65, 1, "{\"v\":1}\n",
	    "another version");
}

static void
test_full(void)
{
	int n = 0;
	struct hf_stage s = { "hf-x", false, act, &n, false };
	struct hf_err err = { HF_OK, "" };
	struct streams st;
	int rc;

	redirect(&st, "{}\n{}\n");
	close(STDOUT_FILENO);
	rc = hf_doc_stage(&s, &err);
	restore(&st);
	CHECK_INT(rc, -1);
	CHECK_INT(err.code, HF_E_IO);
	CHECK(strstr(err.msg, "stdout") != NULL);
	CHECK_INT(n, 1);
	fclose(st.in);
	fclose(st.out);
	fclose(st.err);
}

int
main(void)
{
	test_parse();
	test_change();
	test_status();
	test_stage();
	test_full();
	return check_done();
}
