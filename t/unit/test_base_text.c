#include <limits.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/text.h"
#include "check.h"

/* What a function appended, as a string that lives until the next call. */
static struct hf_buf out;

static const char *
appended(void)
{
	static char text[4096];
	size_t n = out.len < sizeof(text) ? out.len : sizeof(text) - 1;

	if (n > 0)
		memcpy(text, out.data, n);
	text[n] = '\0';
	hf_buf_clear(&out);
	return text;
}

static const char *
safe(struct hf_str a, bool keep)
{
	hf_text_safe(&out, a, keep);
	return appended();
}

static const char *
clip(const char *s, size_t width)
{
	hf_text_clip(&out, hf_str(s), width);
	return appended();
}

static const char *
shell(const char *s)
{
	hf_text_shell(&out, hf_str(s));
	return appended();
}

static void
slices(void)
{
	struct hf_str a = HF_STR("Hello World"), rest, line;

	CHECK(hf_str(NULL).s == NULL && hf_str(NULL).n == 0);
	CHECK(hf_str_eq(HF_STR_NONE, hf_str(NULL)));
	CHECK(!hf_str_eq(HF_STR_NONE, HF_STR("")));
	CHECK(!hf_str_is(HF_STR_NONE, ""));
	CHECK(hf_str_is(HF_STR(""), ""));
	CHECK(hf_str_is(a, "Hello World") && !hf_str_is(a, "Hello"));
	CHECK(hf_str_eq(HF_STR("a\0b"), HF_STR("a\0b")));
	CHECK(!hf_str_eq(HF_STR("a\0b"), HF_STR("a\0c")));
	CHECK(hf_str_starts(a, "Hello") && !hf_str_starts(a, "hello"));
	CHECK(!hf_str_starts(HF_STR("He"), "Hello"));
	CHECK(hf_str_starts(HF_STR_NONE, ""));
	CHECK(!hf_str_starts(HF_STR_NONE, "a"));
	CHECK(hf_str_ends(a, "World") && !hf_str_ends(a, "Worl"));
	CHECK(hf_str_ieq(a, HF_STR("hELLO wORLD")));
	CHECK(!hf_str_ieq(HF_STR("[]"), HF_STR("{}")));
	CHECK(hf_str_istarts(a, "HELLO ") && !hf_str_istarts(a, "HELLO_"));
	CHECK_INT(hf_str_find(a, HF_STR("o"), 0), 4);
	CHECK_INT(hf_str_find(a, HF_STR("o"), 5), 7);
	CHECK(hf_str_find(a, HF_STR("o"), 8) == SIZE_MAX);
	CHECK(hf_str_find(a, HF_STR("x"), 99) == SIZE_MAX);
	CHECK_INT(hf_str_find(a, HF_STR(""), 11), 11);
	CHECK(hf_str_find(a, HF_STR(""), 12) == SIZE_MAX);
	CHECK(hf_str_find(HF_STR_NONE, HF_STR("a"), 0) == SIZE_MAX);
	CHECK_INT(hf_str_ifind(a, "WORLD", 0), 6);
	CHECK(hf_str_ifind(a, "WORLDS", 0) == SIZE_MAX);
	CHECK_INT(hf_str_ifind(a, "", 11), 11);
	CHECK(hf_str_ifind(a, "", 12) == SIZE_MAX);
	CHECK(hf_str_is(hf_str_trim(HF_STR(" \t\r\n a b\v\f ")), "a b"));
	CHECK(hf_str_is(hf_str_trim(HF_STR("\xef\xbb\xbf\xc2\xa0x y"
	    "\xe3\x80\x80\n")), "x y"));
	CHECK(hf_str_is(hf_str_trim(HF_STR(" \n ")), ""));
	CHECK(hf_str_trim(HF_STR_NONE).s == NULL);

	line = hf_str_line(HF_STR("a\r\nb\r"), &rest);
	CHECK(hf_str_is(line, "a") && hf_str_is(rest, "b\r"));
	line = hf_str_line(rest, &rest);
	CHECK(hf_str_is(line, "b\r") && hf_str_is(rest, ""));
	line = hf_str_line(HF_STR("\n\n"), &rest);
	CHECK(hf_str_is(line, "") && hf_str_is(rest, "\n"));
	CHECK(hf_str_line(HF_STR_NONE, NULL).s == NULL);
}

/* Every code point there and back; everything else refused. */
static void
utf8_all(void)
{
	bool good = true;
	uint32_t got;
	char b[4];

	for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
		size_t n = hf_utf8_put(cp, b);

		if (cp >= 0xd800 && cp <= 0xdfff)
			good = good && n == 3 &&
			    memcmp(b, "\xef\xbf\xbd", 3) == 0;
		else
			good = good && hf_utf8_at(b, n, &got) == n &&
			    got == cp && hf_utf8_at(b, n - 1, NULL) == 0;
	}
	CHECK(good);
	CHECK_INT(hf_utf8_put(0x110000, b), 3);
}

static void
utf8(void)
{
	/* a, é, €, 😀, a bad byte */
	struct hf_str a = HF_STR("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xff");
	struct hf_str ten = HF_STR("0123456789\xc3\xa9xx\xf0\x9f\x98\x80");

	utf8_all();
	CHECK_INT(hf_utf8_at("\xc0\x80", 2, NULL), 0);
	CHECK_INT(hf_utf8_at("\xe0\x80\xaf", 3, NULL), 0);
	CHECK_INT(hf_utf8_at("\xf0\x80\x80\xaf", 4, NULL), 0);
	CHECK_INT(hf_utf8_at("\xed\xa0\x80", 3, NULL), 0);
	CHECK_INT(hf_utf8_at("\xf4\x90\x80\x80", 4, NULL), 0);
	CHECK_INT(hf_utf8_at("\xf5\x80\x80\x80", 4, NULL), 0);
	CHECK_INT(hf_utf8_at("\x80", 1, NULL), 0);
	CHECK_INT(hf_utf8_at("", 0, NULL), 0);
	CHECK(hf_utf8_valid(HF_STR("plain ascii text, long enough\xc3\xa9")));
	CHECK(!hf_utf8_valid(HF_STR("plain ascii text, long enough\xc3")));
	CHECK(hf_utf8_valid(HF_STR_NONE));
	CHECK_INT(hf_utf8_count(a), 5);
	CHECK_INT(hf_utf8_count(ten), 14);
	CHECK_INT(hf_utf16_count(a), 6);
	CHECK_INT(hf_utf8_offset(a, 3), 6);
	CHECK_INT(hf_utf8_offset(a, 4), 10);
	CHECK_INT(hf_utf8_offset(a, 99), a.n);

	CHECK_INT(hf_utf8_cut(a, 0), 0);
	CHECK_INT(hf_utf8_cut(a, 2), 1);
	CHECK_INT(hf_utf8_cut(a, 3), 3);
	CHECK_INT(hf_utf8_cut(a, 5), 3);
	CHECK_INT(hf_utf8_cut(a, 7), 6);
	CHECK_INT(hf_utf8_cut(a, 9), 6);
	CHECK_INT(hf_utf8_cut(a, 10), 10);
	CHECK_INT(hf_utf8_cut(a, 500), a.n);
	/* Stray continuation bytes are one each. */
	CHECK_INT(hf_utf8_cut(HF_STR("\x80\x80\x80\x80\x80\x80"), 5), 5);

	hf_utf8_repair(&out, HF_STR("ok\xff\xc3\xa9\xe2\x82"));
	CHECK_STR(appended(), "ok\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
	hf_utf8_repair(&out, HF_STR(""));
	CHECK_STR(appended(), "");
}

static void
terminal(void)
{
	CHECK_STR(safe(HF_STR("\x1b[31mred\x7f\x07"), false), "?[31mred??");
	CHECK_STR(safe(HF_STR("a\nb\tc\r"), false), "a?b?c?");
	CHECK_STR(safe(HF_STR("a\nb\tc\r"), true), "a\nb\tc?");
	CHECK_STR(safe(HF_STR("a\xc2\x9b" "b"), true), "a?b");
	CHECK_STR(safe(HF_STR("a\x9b" "b"), true), "a\xef\xbf\xbd" "b");
	CHECK_STR(safe(HF_STR("\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8z"), true),
	    "???z");
	CHECK_STR(safe(HF_STR("a\0b"), true), "a?b");
	CHECK_STR(safe(HF_STR("gr\xc3\xbc\xc3\x9f"), false),
	    "gr\xc3\xbc\xc3\x9f");
	CHECK_STR(safe(HF_STR_NONE, false), "");

	CHECK_INT(hf_text_width(HF_STR("abc")), 3);
	CHECK_INT(hf_text_width(HF_STR("\xe4\xb8\xad\xe6\x96\x87")), 4);
	CHECK_INT(hf_text_width(HF_STR("\xed\x95\x9c")), 2);	/* Hangul */
	CHECK_INT(hf_text_width(HF_STR("\xef\xbc\xa1")), 2);	/* full A */
	CHECK_INT(hf_text_width(HF_STR("\xf0\x9f\x98\x80")), 2);
	CHECK_INT(hf_text_width(HF_STR("e\xcc\x81")), 1);	/* e + acute */
	CHECK_INT(hf_text_width(HF_STR("\xe3\x82\xab\xe3\x82\x99")), 2);
	CHECK_INT(hf_text_width(HF_STR("\xc3\xa9\xd0\xb6")), 2);
	CHECK_INT(hf_text_width(HF_STR("\xff\x01")), 2);
}

static void
clipped(void)
{
	CHECK_STR(clip("hello", 5), "hello");
	CHECK_STR(clip("hello!", 5), "hell\xe2\x80\xa6");
	CHECK_STR(clip("hello", 1), "\xe2\x80\xa6");
	CHECK_STR(clip("hello", 0), "");
	CHECK_STR(clip("", 0), "");
	CHECK_STR(clip("a\nb\x1b", 10), "a b?");
	/* A wide character that would only half fit is left out. */
	CHECK_STR(clip("\xe4\xb8\xad\xe6\x96\x87\xe5\xad\x97", 4),
	    "\xe4\xb8\xad\xe2\x80\xa6");
	CHECK_STR(clip("\xe4\xb8\xad\xe6\x96\x87", 4),
	    "\xe4\xb8\xad\xe6\x96\x87");
	/* An accent stays with its letter. */
	CHECK_STR(clip("xe\xcc\x81zzz", 3), "xe\xcc\x81\xe2\x80\xa6");
}

static void
encoded(void)
{
	hf_text_percent(&out, HF_STR("claude-A.b/\xc3\xa9_9"));
	CHECK_STR(appended(), "claude-%41%2Eb%2F%C3%A9_9");
	hf_text_hex(&out, "\x00\xab\xff", 3);
	CHECK_STR(appended(), "00abff");
	CHECK_STR(shell("/usr/bin/x-1.0"), "/usr/bin/x-1.0");
	CHECK_STR(shell(""), "''");
	CHECK_STR(shell("it's $x"), "'it'\\''s $x'");
	CHECK_STR(shell("A=b"), "'A=b'");
	CHECK_STR(shell("~"), "'~'");
	CHECK_STR(shell("a\nb"), "'a\nb'");
	CHECK_STR(shell("*"), "'*'");
}

static long long
integer(const char *s)
{
	int64_t v = -77;

	return hf_text_int(hf_str(s), &v) ? v : -77;
}

static long long
ppm(const char *s)
{
	int64_t v = -77;

	return hf_text_ppm(hf_str(s), &v) ? v : -77;
}

static void
numbers(void)
{
	CHECK_INT(integer("0"), 0);
	CHECK_INT(integer("-12"), -12);
	CHECK_INT(integer("9223372036854775807"), INT64_MAX);
	CHECK_INT(integer("-9223372036854775808"), INT64_MIN);
	CHECK_INT(integer("9223372036854775808"), -77);
	CHECK_INT(integer("-9223372036854775809"), -77);
	CHECK_INT(integer(""), -77);
	CHECK_INT(integer("-"), -77);
	CHECK_INT(integer("+1"), -77);
	CHECK_INT(integer("1 "), -77);
	CHECK_INT(integer("1.0"), -77);
	CHECK_INT(integer("1e3"), -77);
	CHECK_INT(integer(NULL), -77);

	CHECK_INT(ppm("0.55"), 550000);
	CHECK_INT(ppm("0.75"), 750000);
	CHECK_INT(ppm("6e-1"), 600000);
	CHECK_INT(ppm("6E-01"), 600000);
	CHECK_INT(ppm("0.0095e+2"), 950000);
	CHECK_INT(ppm("1"), 1000000);
	CHECK_INT(ppm("0.750000000000"), 750000);
	CHECK_INT(ppm("0.9499999"), 949999);
	CHECK_INT(ppm("0.9500001"), 950000);
	CHECK_INT(ppm("75000000e-8"), 750000);
	CHECK_INT(ppm("0"), 0);
	CHECK_INT(ppm("-0"), 0);
	CHECK_INT(ppm("0e999999999999999999999"), 0);
	CHECK_INT(ppm("1e-999999999999999999999"), 0);
	CHECK_INT(ppm("-1e-9"), -1);
	CHECK_INT(ppm("-0.5"), -500000);
	CHECK_INT(ppm("1e999999999999999999999"), -77);
	CHECK_INT(ppm("9223372036854.775807"), INT64_MAX);
	CHECK_INT(ppm("9223372036854.775808"), -77);
	CHECK_INT(ppm("0.00000000000000000000000000075e27"), 750000);
	CHECK_INT(ppm(".5"), -77);
	CHECK_INT(ppm("5."), -77);
	CHECK_INT(ppm("00.5"), -77);
	CHECK_INT(ppm("+0.5"), -77);
	CHECK_INT(ppm("0.5e"), -77);
	CHECK_INT(ppm("0.5x"), -77);
	CHECK_INT(ppm("1e5-"), -77);
	CHECK_INT(ppm("nan"), -77);
	CHECK_INT(ppm(""), -77);
	CHECK_INT(ppm("-"), -77);
}

int
main(void)
{
	slices();
	utf8();
	terminal();
	clipped();
	encoded();
	numbers();
	hf_buf_release(&out);
	return check_done();
}
