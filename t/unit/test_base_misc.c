/* err, mem, buf, env, clock, hmac */
#include <errno.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/err.h"
#include "base/hmac.h"
#include "base/mem.h"
#include "check.h"

static void
messages(void)
{
	struct hf_err e = { 0 };
	char wide[2 * HF_ERR_MAX + 1];

	CHECK_INT(hf_err_set(&e, HF_E_BUSY, "a %s", "b\x1b[0m\nc"), -1);
	CHECK_INT(e.code, HF_E_BUSY);
	CHECK_STR(e.msg, "a b?[0m?c");
	hf_err_set(&e, HF_E_IO, "again: %s", e.msg);
	CHECK_STR(e.msg, "again: a b?[0m?c");
	hf_err_set(&e, HF_E_IO, "\xff \xc2\x85 \xe2\x80\xae \xc3\xa9");
	CHECK_STR(e.msg, "? ? ? \xc3\xa9");

	/* 511 bytes hold 255 characters of two bytes. */
	for (size_t i = 0; i < 2 * HF_ERR_MAX; i += 2)
		memcpy(wide + i, "\xc3\xa9", 2);
	wide[2 * HF_ERR_MAX] = '\0';
	hf_err_set(&e, HF_E_IO, "%s", wide);
	CHECK_INT(strlen(e.msg), 510);
	CHECK(memcmp(e.msg, wide, 510) == 0);
	hf_err_prefix(&e, "x");
	CHECK_INT(strlen(e.msg), 511);

	hf_err_sys(&e, ENOENT, "cannot open '%s'", "x");
	CHECK_STR(e.msg, "cannot open 'x': No such file or directory");
	CHECK_INT(e.code, HF_E_IO);
	hf_err_open(&e, ENOENT, "cannot open '%s'", "x");
	CHECK_INT(e.code, HF_E_NOT_FOUND);
	hf_err_open(&e, EACCES, "cannot open '%s'", "x");
	CHECK_INT(e.code, HF_E_IO);
	hf_err_prefix(&e, "line %d", 7);
	CHECK_STR(e.msg, "line 7: cannot open 'x': Permission denied");
	e = (struct hf_err){ 0 };
	hf_err_prefix(&e, "nothing");
	CHECK_STR(e.msg, "");
	CHECK_INT(hf_err_set(NULL, HF_E_IO, "x"), -1);
	CHECK_INT(hf_err_sys(NULL, EIO, "x"), -1);
	CHECK_INT(hf_err_open(NULL, EIO, "x"), -1);
}

static void
codes(void)
{
	bool good = true;

	for (int i = HF_OK + 1; i < HF_E_COUNT; i++)
		good = good &&
		    (int)hf_code_parse(hf_code_name((enum hf_code)i)) == i;
	CHECK(good);
	CHECK_STR(hf_code_name(HF_E_NOT_A_SESSION), "not-a-session");
	CHECK_STR(hf_code_name(HF_E_RATE_LIMITED), "rate-limited");
	CHECK_STR(hf_code_name(HF_E_COUNT), "internal");
	CHECK_INT(hf_code_parse("nonsense"), HF_E_INTERNAL);
	CHECK_INT(hf_code_parse("ok"), HF_E_INTERNAL);
	CHECK_INT(hf_code_parse(NULL), HF_E_INTERNAL);
	CHECK_INT(hf_code_status(HF_OK), 0);
	CHECK_INT(hf_code_status(HF_E_NOT_FOUND), 1);
	CHECK_INT(hf_code_status(HF_E_USAGE), 64);
	CHECK_INT(hf_code_status(HF_E_CYCLE), 65);
	CHECK_INT(hf_code_status(HF_E_CONFLICT), 69);
	CHECK_INT(hf_code_status(HF_E_INTERNAL), 70);
	CHECK_INT(hf_code_status(HF_E_EXISTS), 73);
	CHECK_INT(hf_code_status(HF_E_IO), 74);
	CHECK_INT(hf_code_status(HF_E_UNAVAILABLE), 75);
	CHECK_INT(hf_code_status(HF_E_VETOED), 77);
	CHECK_INT(hf_code_status(HF_E_CONFIG), 78);
	CHECK(hf_code_retry(HF_E_TIMEOUT) && !hf_code_retry(HF_E_IO));
}

static void
statuses(void)
{
	static const int order[] = {
		-1, 1, 0, 75, 77, 64, 69, 65, 73, 74, 78, 70, 143
	};
	bool good = true;

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		for (size_t j = 0; j <= i; j++)
			good = good &&
			    hf_status_worse(order[i], order[j]) == order[i] &&
			    hf_status_worse(order[j], order[i]) == order[i];
	CHECK(good);
}

static void
memory(void)
{
	struct hf_arena a;
	char *s, *first;
	bool good = true;

	s = hf_strdup("abc");
	CHECK_STR(s, "abc");
	free(s);
	s = hf_strndup("abc", 2);
	CHECK_STR(s, "ab");
	s = hf_reallocarray(s, 100, 10);
	CHECK_STR(s, "ab");
	free(s);
	s = hf_calloc(0, 8);
	CHECK(s != NULL);
	free(s);

	hf_arena_init(&a);
	first = hf_arena_copy(&a, "first", 5);
	for (size_t i = 0; i < 20000; i++) {
		char *p = hf_arena_alloc(&a, i % 977);

		good = good && (uintptr_t)p % alignof(max_align_t) == 0;
		memset(p, 0x55, i % 977);
	}
	memset(hf_arena_alloc(&a, 5 << 20), 0x55, 5 << 20);
	CHECK(good);
	CHECK_STR(first, "first");
	CHECK(a.total > 5 << 20);
	hf_arena_clear(&a);
	CHECK(a.head == NULL && a.total == 0);
	CHECK_STR(hf_arena_copy(&a, "x\0y", 3), "x");
	hf_arena_clear(&a);
}

/* Sizes that no machine has, in a child: it ends with 70 and a line. */
static void
no_memory(void)
{
	char line[128] = "";
	ssize_t n;
	int p[2], status = 0;
	pid_t pid;

	if (!CHECK(pipe(p) == 0))
		return;
	pid = fork();
	if (pid == 0) {
		dup2(p[1], 2);
		hf_reallocarray(NULL, SIZE_MAX / 2, 3);
		_exit(0);
	}
	close(p[1]);
	n = read(p[0], line, sizeof(line) - 1);
	close(p[0]);
	CHECK(n > 0);
	CHECK_STR(line, "handoff: out of memory\n");
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 70);
}

static void
buffers(void)
{
	struct hf_buf b = HF_BUF_INIT, small = HF_BUF_MAX(8);
	bool good = true;
	char *s;

	CHECK_STR(hf_buf_cstr(&b), "");
	CHECK(hf_buf_view(&b).s != NULL && hf_buf_view(&b).n == 0);
	s = hf_buf_steal(&b);
	CHECK_STR(s, "");
	free(s);
	hf_buf_cut(&b, 0);
	hf_buf_eat(&b, 0);
	hf_buf_str(&b, HF_STR_NONE);
	hf_buf_printf(&b, "%d-%s", 12, "x");
	hf_buf_putc(&b, '\0');
	hf_buf_puts(&b, "tail");
	CHECK_MEM(b.data, b.len, "12-x\0tail");
	hf_buf_eat(&b, 3);
	CHECK_MEM(b.data, b.len, "x\0tail");
	hf_buf_cut(&b, 1);
	CHECK_STR(b.data, "x");
	hf_buf_eat(&b, 99);
	CHECK_STR(b.data, "");
	for (int i = 0; i < 5000; i++)
		hf_buf_printf(&b, "%04d", i);
	CHECK_INT(b.len, 20000);
	CHECK(memcmp(b.data + 19996, "4999", 5) == 0);
	/* The NUL fits behind whatever the length. */
	for (size_t n = 1; n <= 2048; n++) {
		struct hf_buf one = HF_BUF_INIT;

		hf_buf_add(&one, b.data, n);
		good = good && one.cap > one.len && one.data[n] == '\0';
		hf_buf_release(&one);
	}
	CHECK(good);
	s = hf_buf_steal(&b);
	CHECK(strlen(s) == 20000 && b.data == NULL && b.len == 0);
	free(s);

	hf_buf_puts(&small, "12345678");
	CHECK(!small.full && small.len == 8);
	hf_buf_putc(&small, '9');
	CHECK(small.full);
	CHECK_STR(small.data, "12345678");
	hf_buf_cut(&small, 2);
	hf_buf_puts(&small, "x");
	CHECK_STR(small.data, "12");
	hf_buf_clear(&small);
	hf_buf_printf(&small, "%s", "123456789");
	CHECK(small.full && small.len == 0);
	hf_buf_clear(&small);
	CHECK(hf_buf_room(&small, SIZE_MAX) == NULL && small.full);
	hf_buf_clear(&small);
	CHECK(hf_buf_room(&small, 8) != NULL && !small.full);
	hf_buf_release(&small);
	CHECK(small.max == 8 && small.data == NULL);
}

/* In a child, for it changes the environment. */
static int
environment(void)
{
	static char home[] = "HOME=/h/", empty[] = "X=", xdg[] =
	    "XDG_STATE_HOME=/s", relative[] = "XDG_DATA_HOME=d";
	struct hf_err e = { 0 };
	int bad = 0;
	char *s;

	if (putenv(home) != 0 || putenv(empty) != 0 || putenv(xdg) != 0 ||
	    putenv(relative) != 0)
		return 99;
	bad += hf_env("X") != NULL || hf_env("NOT_SET_AT_ALL") != NULL;
	bad += strcmp(hf_env_home(&e), "/h/") != 0;
	s = hf_env_xdg("XDG_STATE_HOME", ".local/state", &e);
	bad += strcmp(s, "/s") != 0;
	free(s);
	s = hf_env_xdg("XDG_DATA_HOME", ".local/share", &e);
	bad += strcmp(s, "/h/.local/share") != 0;
	free(s);
	bad += hf_env_all()[0] == NULL;
	if (unsetenv("HOME") != 0)
		return 99;
	/* Whoever runs this has an entry, or there is a message. */
	bad += hf_env_home(&e) == NULL && e.code != HF_E_CONFIG;
	return bad;
}

static void
in_child(int (*run)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(run());
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	CHECK_INT(WEXITSTATUS(status), 0);
}

static const char *
formatted(int64_t ms)
{
	static char text[HF_TIME_LEN];

	hf_clock_format(ms, text);
	return text;
}

static long long
parsed(const char *s)
{
	return hf_clock_parse(hf_str(s));
}

static long long
http(const char *s)
{
	return hf_clock_parse_http(hf_str(s));
}

/* Every day of ten thousand years follows the one before. */
static bool
calendar(void)
{
	static const int days[] = {
		31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
	};
	int64_t ms = INT64_C(-62167219200000);
	struct hf_date d;

	for (int year = 0; year <= 9999; year++)
		for (int month = 1; month <= 12; month++) {
			bool leap = year % 4 == 0 &&
			    (year % 100 != 0 || year % 400 == 0);
			int n = days[month - 1] + (month == 2 && leap);

			for (int day = 1; day <= n; day++) {
				hf_clock_date(ms, &d);
				if (d.year != year || d.month != month ||
				    d.day != day || d.hour != 0 ||
				    parsed(formatted(ms)) != ms)
					return false;
				ms += 86400000;
			}
		}
	return ms == INT64_C(253402300800000);
}

static void
times(void)
{
	CHECK(calendar());
	CHECK_STR(formatted(0), "1970-01-01T00:00:00.000Z");
	CHECK_STR(formatted(1796032800000), "2026-11-30T10:00:00.000Z");
	CHECK_STR(formatted(-2), "1969-12-31T23:59:59.998Z");
	CHECK_STR(formatted(INT64_MAX), "9999-12-31T23:59:59.999Z");
	CHECK_STR(formatted(INT64_MIN), "0000-01-01T00:00:00.000Z");
	CHECK_INT(parsed("2026-11-30T10:00:00.000Z"), 1796032800000);
	CHECK_INT(parsed("2026-11-30t12:30:00+02:30"), 1796032800000);
	CHECK_INT(parsed("2026-11-30 05:00:00-05:00"), 1796032800000);
	CHECK_INT(parsed("2026-11-30T10:00:00.1z"), 1796032800100);
	CHECK_INT(parsed("2026-11-30T10:00:00.123999999Z"), 1796032800123);
	CHECK_INT(parsed("2016-12-31T23:59:60Z"), 1483228800000);
	CHECK_INT(parsed("2024-02-29T00:00:00Z"), 1709164800000);
	CHECK_INT(parsed("2023-02-29T00:00:00Z"), -1);
	CHECK_INT(parsed("1900-02-29T00:00:00Z"), -1);
	CHECK_INT(parsed("2026-11-31T10:00:00Z"), -1);
	CHECK_INT(parsed("2026-00-30T10:00:00Z"), -1);
	CHECK_INT(parsed("2026-13-30T10:00:00Z"), -1);
	CHECK_INT(parsed("2026-11-30T24:00:00Z"), -1);
	CHECK_INT(parsed("2026-11-30T10:60:00Z"), -1);
	CHECK_INT(parsed("2026-11-30T10:00:61Z"), -1);
	CHECK_INT(parsed("2026-11-30T10:00:00"), -1);
	CHECK_INT(parsed("2026-11-30T10:00:00.Z"), -1);
	CHECK_INT(parsed("2026-11-30T10:00:00+24:00"), -1);
	CHECK_INT(parsed("2026-11-30T10:00:00+0200"), -1);
	CHECK_INT(parsed("2026-11-30T10:00:00Zx"), -1);
	CHECK_INT(parsed("2026-11-30"), -1);
	CHECK_INT(parsed("26-11-30T10:00:00Z"), -1);
	CHECK_INT(parsed(""), -1);
	CHECK_INT(parsed(NULL), -1);
	CHECK_INT(http("Sun, 06 Nov 1994 08:49:37 GMT"), 784111777000);
	CHECK_INT(http("Sunday, 06-Nov-94 08:49:37 GMT"), 784111777000);
	CHECK_INT(http("Sun Nov  6 08:49:37 1994"), 784111777000);
	CHECK_INT(http("Sun Nov 16 08:49:37 1994"), 784975777000);
	CHECK_INT(http("Sun, 6 Nov 1994 08:49:37 GMT"), -1);
	CHECK_INT(http("Sun, 06 Nov 1994 08:49:37 UTC"), -1);
	CHECK_INT(http("06 Nov 1994 08:49:37 GMT"), -1);
	CHECK_INT(http("120"), -1);
	CHECK_INT(http(""), -1);
	CHECK(hf_clock_now() > 1700000000000);
	CHECK(hf_clock_boot() >= 0 && hf_clock_boot() <= hf_clock_boot());
}

static const char *
hex(const uint8_t sum[HF_SHA_LEN])
{
	static char text[HF_SHA_HEX];
	static struct hf_buf b;

	hf_buf_clear(&b);
	hf_text_hex(&b, sum, HF_SHA_LEN);
	memcpy(text, b.data, HF_SHA_HEX);
	hf_buf_release(&b);
	return text;
}

static const char *
hmac(const char *key, size_t n, const char *data, size_t m)
{
	uint8_t sum[HF_SHA_LEN];

	hf_hmac(hf_strn(key, n), hf_strn(data, m), sum);
	return hex(sum);
}

static const char *
sha(const char *s)
{
	static char text[HF_SHA_HEX];

	hf_sha256_hex(hf_str(s), text);
	return text;
}

/* RFC 4231, test cases 1 to 4, 6 and 7; 5 is about truncation. */
static void
hmacs(void)
{
	static const char long_text[] = "This is a test using a larger than "
	    "block-size key and a larger than block-size data. The key needs "
	    "to be hashed before being used by the HMAC algorithm.";
	char key[131], data[50];

	memset(key, 0x0b, 20);
	CHECK_STR(hmac(key, 20, "Hi There", 8), "b0344c61d8db38535ca8afceaf0b"
	    "f12b881dc200c9833da726e9376c2e32cff7");
	CHECK_STR(hmac("Jefe", 4, "what do ya want for nothing?", 28),
	    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, sizeof(key));
	memset(data, 0xdd, sizeof(data));
	CHECK_STR(hmac(key, 20, data, 50), "773ea91e36800e46854db8ebd09181a729"
	    "59098b3ef8c122d9635514ced565fe");
	CHECK_STR(hmac(key, 131, "Test Using Larger Than Block-Size Key - "
	    "Hash Key First", 54), "60e431591ee0b67f0d8a26aacbf5b77f"
	    "8e0bc6213728c5140546040f0ee37f54");
	CHECK_STR(hmac(key, 131, long_text, sizeof(long_text) - 1),
	    "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
	for (int i = 0; i < 25; i++)
		key[i] = (char)(i + 1);
	memset(data, 0xcd, sizeof(data));
	CHECK_STR(hmac(key, 25, data, 50), "82558a389a443c0ea4cc819899f2083a85"
	    "f0faa3e578f8077a2e3ff46729665b");
}

static void
hashes(void)
{
	char a[HF_UUID_LEN], b[HF_UUID_LEN];
	uint8_t zero[64] = { 0 }, r[64] = { 0 };
	struct hf_hash128 h = hf_hash128(HF_STR(""));

	CHECK_STR(sha(""), "e3b0c44298fc1c149afbf4c8996fb924"
	    "27ae41e4649b934ca495991b7852b855");
	CHECK_STR(sha("abc"), "ba7816bf8f01cfea414140de5dae2223"
	    "b00361a396177a9cb410ff61f20015ad");
	hmacs();
	CHECK(hf_hash(HF_STR("")) == UINT64_C(0x2d06800538d394c2));
	CHECK(hf_hash(HF_STR_NONE) == hf_hash(HF_STR("")));
	CHECK(hf_hash(HF_STR("a")) != hf_hash(HF_STR("b")));
	CHECK(h.hi == UINT64_C(0x99aa06d3014798d8) &&
	    h.lo == UINT64_C(0x6001c324468d497f));
	hf_random(r, sizeof(r));
	CHECK(memcmp(r, zero, sizeof(r)) != 0);

	hf_uuid4(a);
	hf_uuid4(b);
	CHECK(strlen(a) == 36 && strcmp(a, b) != 0);
	CHECK(a[14] == '4' && strchr("89ab", a[19]) != NULL);
	CHECK(a[8] == '-' && a[13] == '-' && a[18] == '-' && a[23] == '-');
	CHECK_INT(strspn(a, "0123456789abcdef-"), 36);
	hf_uuid7(1796032800000, a);
	CHECK(strncmp(a, "01a22be5-a500-7", 15) == 0);
	hf_uuid7(1796032800001, b);
	CHECK(strncmp(a, b, 12) == 0 && a[12] == '0' && b[12] == '1');
}

int
main(void)
{
	messages();
	codes();
	statuses();
	memory();
	no_memory();
	buffers();
	in_child(environment);
	times();
	hashes();
	return check_done();
}
