#include "check.h"

#include <stdlib.h>

#include "base/mem.h"
#include "json/json.h"
#include "json/lex.h"
#include "json/num.h"

/* The compact text of what was read, or the error; until the next call. */
static const char *
read_as(struct hf_str text, unsigned flags)
{
	static struct hf_buf out = HF_BUF_INIT;
	struct hf_err err = { 0 };
	struct hf_json *j = hf_json_parse(text, flags, NULL, NULL, &err);

	hf_buf_clear(&out);
	if (j == NULL)
		hf_buf_printf(&out, "%s: %s", hf_code_name(err.code), err.msg);
	else
		hf_json_write(&out, hf_json_root(j));
	hf_json_free(j);
	return hf_buf_cstr(&out);
}

#define READ(lit, flags)	read_as(HF_STR(lit), (flags))

static void
test_read(void)
{
	CHECK_STR(READ("{\"a\":1.10,\"b\":1E2,\"c\":12345678901234567890}",
	    0), "{\"a\":1.10,\"b\":1E2,\"c\":12345678901234567890}");
	CHECK_STR(READ(" [1e999,-0] \r\n", 0), "[1e999,-0]");
	CHECK_STR(READ("{\"a\":1,\"a\":2}", 0), "{\"a\":1,\"a\":2}");
	CHECK_STR(READ("", 0), "invalid: byte 1: no JSON");
	CHECK_STR(READ("{\"a\":1} x", 0),
	    "invalid: byte 8: something follows the value");
	CHECK_STR(READ("{} {}", 0),
	    "invalid: byte 3: something follows the value");
	CHECK(strncmp(READ("{\n\"a\":1,\n\"b\" 2}", 0), "invalid: line 3: ",
	    17) == 0);
	CHECK(strncmp(READ("[1,2", 0), "invalid: byte 5: ", 17) == 0);
	CHECK(strncmp(READ("[1,]", 0), "invalid: ", 9) == 0);
	CHECK(strncmp(READ("// x\n[1]", 0), "invalid: ", 9) == 0);
	CHECK_STR(READ("// x\n{\"a\": \"//\", /* y */ \"b\":[1,],}",
	    HF_JSON_COMMENTS), "{\"a\":\"//\",\"b\":[1]}");
	CHECK(strncmp(READ("[\"\xff\"]", 0), "invalid: ", 9) == 0);
	CHECK(strncmp(READ("[\"\\ud83d\"]", 0), "invalid: ", 9) == 0);
	CHECK(strncmp(READ("[\"a\tb\"]", 0), "invalid: ", 9) == 0);
	CHECK(strncmp(READ("[\"a\0b\"]", 0), "invalid: ", 9) == 0);
}

static void
test_mend(void)
{
	bool mended = false;
	struct hf_json *j;

	CHECK_STR(READ("[\"\xff\xe9t\xc3\xa9\"]", HF_JSON_MEND),
	    "[\"\xef\xbf\xbd\xef\xbf\xbdt\xc3\xa9\"]");
	CHECK_STR(READ("[\"\xed\xa0\xbd\"]", HF_JSON_MEND),
	    "[\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"]");
	CHECK_STR(READ("[\"\\ud83d\",\"\\ude00x\",\"\\ud83d\\ude00\"]",
	    HF_JSON_MEND),
	    "[\"\xef\xbf\xbd\",\"\xef\xbf\xbdx\",\"\xf0\x9f\x98\x80\"]");
	CHECK_STR(READ("[\"\\ud83d\\ud83d\\uDE00\\ud83d\"]", HF_JSON_MEND),
	    "[\"\xef\xbf\xbd\xf0\x9f\x98\x80\xef\xbf\xbd\"]");
	/* A backslash before it: no escape at all. */
	CHECK_STR(READ("[\"\\\\ud83d\x01\"]", HF_JSON_MEND),
	    "[\"\\\\ud83d\\u0001\"]");
	CHECK_STR(READ("[\"a\tb\r\n\0\0\0\"]", HF_JSON_MEND),
	    "[\"a\\tb\\r\\n\xef\xbf\xbd\"]");
	CHECK_STR(READ("\0\0{\"a\"\0:\"\xff\"}\0", HF_JSON_MEND),
	    "{\"a\":\"\xef\xbf\xbd\"}");
	CHECK_STR(READ("{\"k\xff\":1.50}", HF_JSON_MEND),
	    "{\"k\xef\xbf\xbd\":1.50}");
	/* The first error is told when mending is no help. */
	CHECK_STR(READ("[\"\xff\", x]", HF_JSON_MEND),
	    READ("[\"\xff\", x]", 0));
	CHECK(strncmp(READ("[\"\\ud8\"]", HF_JSON_MEND), "invalid: ", 9) ==
	    0);
	CHECK(strncmp(READ("[\"\\", HF_JSON_MEND), "invalid: ", 9) == 0);

	j = hf_json_parse(HF_STR("[\"\xff\"]"), HF_JSON_MEND, NULL, &mended,
	    NULL);
	CHECK(j != NULL && mended);
	hf_json_free(j);
	j = hf_json_parse(HF_STR("[\"\"]"), HF_JSON_MEND, NULL, &mended,
	    NULL);
	CHECK(j != NULL && !mended);
	hf_json_free(j);
}

static void
test_prefix(void)
{
	struct hf_json *j;
	size_t used = 0;

	j = hf_json_parse(HF_STR("{\"a\":1}{\"b\""), HF_JSON_PREFIX, &used,
	    NULL, NULL);
	CHECK(j != NULL);
	CHECK_INT(used, 7);
	hf_json_free(j);
	j = hf_json_parse(HF_STR("{\"a\":\"\xff\"} x"),
	    HF_JSON_PREFIX | HF_JSON_MEND, &used, NULL, NULL);
	CHECK(j != NULL);
	CHECK_INT(used, 9);
	hf_json_free(j);
	j = hf_json_parse(HF_STR("[1] "), 0, &used, NULL, NULL);
	CHECK(j != NULL);
	CHECK_INT(used, 4);
	hf_json_free(j);
}

/* n levels of brackets around what. */
static char *
nested(size_t n, const char *open, const char *what, const char *close)
{
	struct hf_buf b = HF_BUF_INIT;

	for (size_t i = 0; i < n; i++)
		hf_buf_puts(&b, open);
	hf_buf_puts(&b, what);
	for (size_t i = 0; i < n; i++)
		hf_buf_puts(&b, close);
	return hf_buf_steal(&b);
}

static void
check_depth(size_t n, const char *open, const char *close, bool good)
{
	char *text = nested(n, open, "1", close);

	CHECK(good == (strcmp(read_as(hf_str(text), 0),
	    "invalid: byte 1: nested more than 512 levels deep") != 0));
	if (good)
		CHECK_STR(read_as(hf_str(text), 0), text);
	free(text);
}

static void
test_limits(void)
{
	struct hf_buf b = HF_BUF_INIT;
	char *bomb;

	check_depth(512, "[", "]", true);
	check_depth(513, "[", "]", false);
	check_depth(512, "{\"a\":", "}", true);
	check_depth(513, "{\"a\":", "}", false);
	check_depth(100000, "[", "]", false);
	/* Many values are no depth. */
	hf_buf_puts(&b, "[[]");
	for (int i = 0; i < 1000; i++)
		hf_buf_puts(&b, ",[[1],{}]");
	hf_buf_puts(&b, "]");
	CHECK_STR(read_as(hf_buf_view(&b), 0), hf_buf_cstr(&b));
	hf_buf_release(&b);

	/* Brackets without end: memory is bounded. */
	bomb = hf_malloc(16 << 20);
	memset(bomb, '[', 16 << 20);
	CHECK(strstr(read_as(hf_strn(bomb, 16 << 20), HF_JSON_MEND),
	    ": too many values") != NULL);
	free(bomb);
}

static void
test_values(void)
{
	struct hf_json *j = hf_json_parse(HF_STR("{\"s\":\"a\\u0000b\","
	    "\"n\":{\"m\":{\"k\":40000.0}},\"a\":[1,[2],\"x\"],\"t\":true,"
	    "\"f\":false,\"z\":null,\"s\":2,\"neg\":-5,\"half\":1300.9,"
	    "\"big\":1e300,\"str\":\"7\",\"ms\":1768467600000.25}"), 0, NULL,
	    NULL, NULL);
	const struct hf_jval *v = hf_json_root(j);
	struct hf_jiter it;
	struct hf_str key;
	int64_t n = 0;
	size_t members = 0;

	CHECK_MEM(hf_json_get_str(v, "s").s, hf_json_get_str(v, "s").n,
	    "a\0b");
	CHECK(hf_json_int(hf_json_at(v, "n.m.k"), &n));
	CHECK_INT(n, 40000);
	CHECK(hf_json_at(v, "n.m.x") == NULL);
	CHECK(hf_json_at(v, "n..k") == NULL);
	CHECK(hf_json_at(NULL, "n") == NULL);
	CHECK_INT(hf_json_size(v), 12);
	CHECK_INT(hf_json_size(hf_json_get(v, "t")), 0);
	CHECK(hf_json_is(hf_json_elem(hf_json_get(v, "a"), 2), "x"));
	CHECK(hf_json_elem(hf_json_get(v, "a"), 3) == NULL);
	CHECK(hf_json_true(hf_json_get(v, "t")));
	CHECK(!hf_json_true(hf_json_get(v, "f")));
	CHECK(!hf_json_true(NULL));
	CHECK_INT(hf_json_type(hf_json_get(v, "z")), HF_J_NULL);
	CHECK_INT(hf_json_type(hf_json_get(v, "neg")), HF_J_NUM);
	CHECK_INT(hf_json_type(hf_json_get(v, "none")), HF_J_NONE);
	CHECK_INT(hf_json_count(hf_json_get(v, "neg")), 0);
	CHECK_INT(hf_json_count(hf_json_get(v, "half")), 1300);
	CHECK_INT(hf_json_count(hf_json_get(v, "big")), (int64_t)1 << 53);
	CHECK_INT(hf_json_count(hf_json_get(v, "str")), 0);
	CHECK_INT(hf_json_count(hf_json_get(v, "z")), 0);
	CHECK_INT(hf_json_ms(hf_json_get(v, "ms")), 1768467600000);
	CHECK_INT(hf_json_ms(hf_json_get(v, "neg")), -1);
	CHECK_INT(hf_json_ms(hf_json_get(v, "big")), -1);
	CHECK_INT(hf_json_ms(hf_json_get(v, "str")), -1);
	CHECK_STR(hf_json_num(hf_json_get(v, "t")).s, NULL);

	hf_json_iter(&it, v);
	while (hf_json_next(&it, &key) != NULL)
		members += key.s != NULL;
	CHECK_INT(members, 12);
	hf_json_iter(&it, hf_json_get(v, "a"));
	CHECK(hf_json_next(&it, NULL) != NULL);
	CHECK_INT(hf_json_size(hf_json_next(&it, NULL)), 1);
	CHECK(hf_json_is(hf_json_next(&it, &key), "x") && key.s == NULL);
	CHECK(hf_json_next(&it, NULL) == NULL);
	hf_json_iter(&it, hf_json_get(v, "t"));
	CHECK(hf_json_next(&it, NULL) == NULL);
	hf_json_free(j);
	hf_json_free(NULL);
}

static void
test_again(void)
{
	struct hf_json *j = NULL;
	struct hf_buf b = HF_BUF_INIT;
	bool good = true;

	CHECK(hf_json_again(&j, HF_STR("x"), 0, NULL, NULL, NULL) < 0);
	CHECK(j != NULL && hf_json_root(j) == NULL);
	for (int i = 0; i < 200 && good; i++) {
		hf_buf_clear(&b);
		hf_buf_printf(&b, "{\"n\":%d,\"a\":[", i);
		for (int k = 0; k < i * 7; k++)
			hf_buf_puts(&b, "1,");
		hf_buf_puts(&b, i % 3 == 0 ? "\"\xff\"]}" : "\"y\"]}");
		good = hf_json_again(&j, hf_buf_view(&b), HF_JSON_MEND, NULL,
		    NULL, NULL) == 0 &&
		    hf_json_count(hf_json_get(hf_json_root(j), "n")) == i &&
		    hf_json_size(hf_json_get(hf_json_root(j), "a")) ==
		    (size_t)i * 7 + 1;
	}
	CHECK(good);
	hf_buf_release(&b);
	hf_json_free(j);
}

static void
test_tree(void)
{
	struct hf_jtree *t = hf_jtree_new();
	struct hf_jnode *o = hf_jtree_obj(t), *a = hf_jtree_arr(t);
	struct hf_json *j = hf_json_parse(HF_STR("{\"x\":[1.0,{\"y\":1E2}]}"),
	    0, NULL, NULL, NULL);
	struct hf_buf b = HF_BUF_INIT;

	hf_jset_int(t, o, "v", 1);
	hf_jset_str(t, o, "bad", HF_STR("a\xff\"\\/\x01\x7f"));
	hf_jset_cstr(t, o, "none", NULL);
	hf_jset(t, o, "copy", hf_jtree_copy(t, hf_json_root(j)));
	hf_jset_bool(t, o, "b", true);
	hf_jset(t, o, "gone", hf_jtree_copy(t, NULL));
	hf_jpush_str(t, a, HF_STR("x"));
	hf_jpush(a, hf_jtree_num(t, HF_STR("1.10")));
	hf_jset(t, o, "a", a);
	hf_jset_int(t, o, "v", -9223372036854775807 - 1);
	hf_jdel(o, "gone");
	hf_jdel(o, "never");
	hf_json_free(j);
	hf_jtree_write(&b, o, false);
	CHECK_STR(hf_buf_cstr(&b), "{\"v\":-9223372036854775808,"
	    "\"bad\":\"a\xef\xbf\xbd\\\"\\\\/\\u0001\x7f\",\"none\":null,"
	    "\"copy\":{\"x\":[1.0,{\"y\":1E2}]},\"b\":true,"
	    "\"a\":[\"x\",1.10]}");
	CHECK(hf_jtrue(hf_jget(o, "b")) && !hf_jtrue(hf_jget(o, "c")));
	CHECK_INT(hf_jsize(hf_jget(o, "a")), 2);
	CHECK_INT(hf_jtype(hf_jget(o, "none")), HF_J_NULL);
	CHECK_INT(hf_jtype(hf_jget(o, "missing")), HF_J_NONE);
	CHECK_STR(hf_jstr(hf_jget(o, "v")).s, NULL);
	hf_buf_clear(&b);
	hf_jtree_write(&b, a, true);
	CHECK_STR(hf_buf_cstr(&b), "[\n  \"x\",\n  1.10\n]\n");
	hf_buf_clear(&b);
	hf_lex_pretty(&b, HF_STR("{\"a{,\\\"\":[{},[],{\"b\":[[1.0]]}],\"c\":"
	    "null}"));
	CHECK_STR(hf_buf_cstr(&b), "{\n  \"a{,\\\"\": [\n    {},\n    [],\n"
	    "    {\n      \"b\": [\n        [\n          1.0\n        ]\n"
	    "      ]\n    }\n  ],\n  \"c\": null\n}\n");
	hf_buf_release(&b);
	hf_jtree_free(t);
}

static const char *
ppm(int64_t n)
{
	static struct hf_buf b = HF_BUF_INIT;
	struct hf_jtree *t = hf_jtree_new();

	hf_buf_clear(&b);
	hf_jtree_write(&b, hf_jtree_ppm(t, n), false);
	hf_jtree_free(t);
	return hf_buf_cstr(&b);
}

static void
test_text(void)
{
	struct hf_buf b = HF_BUF_INIT;

	CHECK_STR(ppm(750000), "0.75");
	CHECK_STR(ppm(1), "0.000001");
	CHECK_STR(ppm(0), "0");
	CHECK_STR(ppm(20000000), "20");
	CHECK_STR(ppm(-1500000), "-1.5");
	hf_json_quote(&b, HF_STR("a\"\\\n\0\xff\xc3\xa9"));
	CHECK_STR(hf_buf_cstr(&b),
	    "\"a\\\"\\\\\\n\\u0000\xef\xbf\xbd\xc3\xa9\"");
	hf_buf_clear(&b);
	hf_json_write(&b, NULL);
	CHECK_STR(hf_buf_cstr(&b), "null");
	hf_buf_release(&b);
}

static const char *
as_int(const char *s)
{
	static char out[32];
	int64_t n;

	if (!hf_num_int(hf_str(s), &n))
		return NULL;
	snprintf(out, sizeof(out), "%lld", (long long)n);
	return out;
}

static void
test_num(void)
{
	int64_t n = 7;

	CHECK_STR(as_int("0"), "0");
	CHECK_STR(as_int("-0"), "0");
	CHECK_STR(as_int("1e2"), "100");
	CHECK_STR(as_int("1.5E+1"), "15");
	CHECK_STR(as_int("1200e-2"), "12");
	CHECK_STR(as_int("1250e-2"), NULL);
	CHECK_STR(as_int("0e999999999999"), "0");
	CHECK_STR(as_int("0.000e5"), "0");
	CHECK_STR(as_int("1e-999999999999"), NULL);
	CHECK_STR(as_int("1e18"), "1000000000000000000");
	CHECK_STR(as_int("1e19"), NULL);
	CHECK_STR(as_int("9223372036854775807"), "9223372036854775807");
	CHECK_STR(as_int("9223372036854775808"), NULL);
	CHECK_STR(as_int("-9223372036854775808"), "-9223372036854775808");
	CHECK_STR(as_int("-9223372036854775809"), NULL);
	CHECK_STR(as_int("99999999999999999999999999999999"), NULL);
	CHECK_STR(as_int("0.00001e5"), "1");
	CHECK_STR(as_int(NULL), NULL);
	CHECK_STR(as_int(""), NULL);
	CHECK_STR(as_int("01"), NULL);
	CHECK_STR(as_int("1."), NULL);
	CHECK_STR(as_int(".5"), NULL);
	CHECK_STR(as_int("+1"), NULL);
	CHECK_STR(as_int("1e"), NULL);
	CHECK_STR(as_int("1 "), NULL);
	CHECK_STR(as_int("0x10"), NULL);
	CHECK(hf_num_count(HF_STR("9007199254740993"), &n));
	CHECK_INT(n, 9007199254740992);
	CHECK(hf_num_count(HF_STR("9007199254740991.9"), &n));
	CHECK_INT(n, 9007199254740991);
	CHECK(hf_num_count(HF_STR("-1e99"), &n));
	CHECK_INT(n, 0);
	CHECK(!hf_num_count(HF_STR("x"), &n));
}

static void
test_lex(void)
{
	static const char text[] = "{\"a\\\\\":\"}]\\\"}\",\"b\":[{}]} tail";
	struct hf_lex whole = { 0, false, false };
	bool same = true;

	CHECK_INT(hf_lex_value(&whole, text, strlen(text)), 24);
	/* In any two pieces the same. */
	for (size_t i = 0; i < 24; i++) {
		struct hf_lex l = { 0, false, false };

		same = same && hf_lex_value(&l, text, i) == SIZE_MAX &&
		    hf_lex_value(&l, text + i, strlen(text) - i) == 24 - i;
	}
	CHECK(same);
}

int
main(void)
{
	test_read();
	test_mend();
	test_prefix();
	test_limits();
	test_values();
	test_again();
	test_tree();
	test_text();
	test_num();
	test_lex();
	return check_done();
}
