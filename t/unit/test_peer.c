/* Base64, the URL of a state in etcd, programs that are talked to. */
#include "check.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/hmac.h"
#include "base/peer.h"
#include "base/sig.h"
#include "net/etcd_url.h"

/* RFC 4648, section 10. */
static void
vectors(void)
{
	static const char *const pairs[][2] = { { "", "" }, { "f", "Zg==" },
		{ "fo", "Zm8=" }, { "foo", "Zm9v" }, { "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" }, { "foobar", "Zm9vYmFy" },
		{ "\xff\xfe\xfd", "//79" }, { "\xfb\xef\xbe", "++++" } };
	struct hf_buf b = HF_BUF_INIT;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		hf_buf_clear(&b);
		hf_base64(&b, hf_str(pairs[i][0]));
		CHECK_STR(hf_buf_cstr(&b), pairs[i][1]);
		hf_buf_clear(&b);
		CHECK_INT(hf_base64_decode(&b, hf_str(pairs[i][1])), 0);
		CHECK_STR(hf_buf_cstr(&b), pairs[i][0]);
	}
	hf_buf_release(&b);
}

static void
refused(void)
{
	static const char *const bad[] = { "Zg", "Zg=", "Zg===", "Z", "=",
		"====", "Z===", "Zh==", "Zm9=", "Zm8=Zm8=", "Zm\n8", "Zm-_",
		"Zg==\n", " Zg=", "Zg= ", "Zm 8" };
	struct hf_buf b = HF_BUF_INIT;

	hf_buf_puts(&b, "x");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!CHECK_INT(hf_base64_decode(&b, hf_str(bad[i])), -1))
			printf("# %s\n", bad[i]);
	CHECK_STR(hf_buf_cstr(&b), "x");
	hf_buf_release(&b);
}

/* Every length, every byte, there and back. */
static void
round_trips(void)
{
	struct hf_buf text = HF_BUF_INIT, back = HF_BUF_INIT;
	char bytes[600];
	bool same = true;

	hf_random(bytes, sizeof(bytes));
	for (size_t i = 0; i < 256; i++)
		bytes[i] = (char)i;
	for (size_t n = 0; n <= sizeof(bytes); n++) {
		hf_buf_clear(&text);
		hf_buf_clear(&back);
		hf_base64(&text, hf_strn(bytes, n));
		same = same && text.len == (n + 2) / 3 * 4 &&
		    hf_base64_decode(&back, hf_buf_view(&text)) == 0 &&
		    hf_str_eq(hf_buf_view(&back), hf_strn(bytes, n));
	}
	CHECK(same);
	hf_buf_release(&text);
	hf_buf_release(&back);
}

static void
url(const char *text, bool tls, size_t n, const char *first,
    const char *last, const char *prefix)
{
	struct hf_err err = { HF_OK, "" };
	struct hf_etcd_url u;

	if (CHECK_INT(hf_etcd_url_parse(text, &u, &err), 0)) {
		CHECK_INT(u.tls, tls);
		CHECK_INT((long long)u.n, (long long)n);
		CHECK_STR(u.endpoint[0], first);
		CHECK_STR(u.endpoint[u.n - 1], last);
		CHECK_STR(u.prefix, prefix);
	} else
		printf("# %s: %s\n", text, err.msg);
	hf_etcd_url_release(&u);
}

static void
urls(void)
{
	static const char *const bad[] = { "etcd:/h", "http://h", "etcd://",
		"etcd:///p", "etcd://h,", "etcd://h:0", "etcd://h:65536",
		"etcd://h:x", "etcd://h:", "etcd://u:geheim@h", "etcd://h h",
		"etcd://h/a b", "etcd://h/a?b", "etcd://h/a%41",
		"etcd://[::1", "etcd://h#f", "etcd://h?q" };
	struct hf_err err = { HF_OK, "" };
	struct hf_etcd_url u;

	url("etcd://h", false, 1, "http://h:2379", "http://h:2379",
	    "/handoff");
	url("etcd://10.0.0.5:2379,b.example:1/team-a/", false, 2,
	    "http://10.0.0.5:2379", "http://b.example:1", "/team-a");
	url("etcds://[::1]:5,[::2]//x/y", true, 2, "https://[::1]:5",
	    "https://[::2]:2379", "/x/y");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!CHECK_INT(hf_etcd_url_parse(bad[i], &u, &err), -1))
			printf("# %s\n", bad[i]);
		CHECK_INT(err.code, HF_E_CONFIG);
		CHECK(strstr(err.msg, "geheim") == NULL);
		hf_etcd_url_release(&u);
	}
}

/* ---- peers ---- */

static void
talks(void)
{
	const char *const argv[] = { "cat", NULL };
	struct hf_err err = { HF_OK, "" };
	struct hf_peer p;
	struct hf_str line;
	int64_t end = hf_clock_boot() + 10000;

	if (!CHECK_INT(hf_peer_start(&p, argv, 1 << 20, &err), 0))
		return;
	CHECK_INT(hf_peer_send(&p, HF_STR("one"), end, 0, &err), 0);
	CHECK_INT(hf_peer_send(&p, HF_STR(""), end, 0, &err), 0);
	CHECK_INT(hf_peer_recv(&p, &line, end, 0, &err), 0);
	CHECK_MEM(line.s, line.n, "one");
	CHECK_INT(hf_peer_recv(&p, &line, end, 0, &err), 0);
	CHECK_INT((long long)line.n, 0);
	/* It says nothing more. */
	CHECK_INT(hf_peer_recv(&p, &line, hf_clock_boot() + 50, 0, &err), -1);
	CHECK_INT(err.code, HF_E_UNAVAILABLE);
	hf_peer_end(&p, 5000);
	CHECK_INT(hf_peer_send(&p, HF_STR("x"), end, 0, &err), -1);
	CHECK_INT(err.code, HF_E_UNAVAILABLE);
}

static void
too_long(void)
{
	const char *const argv[] = { "head", "-c", "2000000", "/dev/zero",
		NULL };
	struct hf_err err = { HF_OK, "" };
	struct hf_peer p;
	struct hf_str line;

	if (!CHECK_INT(hf_peer_start(&p, argv, 1 << 20, &err), 0))
		return;
	CHECK_INT(hf_peer_recv(&p, &line, hf_clock_boot() + 10000, 0, &err),
	    -1);
	CHECK_INT(err.code, HF_E_UNAVAILABLE);
	CHECK(strstr(err.msg, "too long") != NULL);
	hf_peer_end(&p, 0);
}

static void
gone(void)
{
	const char *const no[] = { "/nowhere/hf-store-x", NULL };
	const char *const argv[] = { "true", NULL };
	struct hf_err err = { HF_OK, "" };
	struct hf_peer p;
	struct hf_str line;

	CHECK_INT(hf_peer_start(&p, no, 100, &err), -1);
	CHECK_INT(err.code, HF_E_NOT_FOUND);
	hf_peer_end(&p, 0);
	if (!CHECK_INT(hf_peer_start(&p, argv, 100, &err), 0))
		return;
	CHECK_INT(hf_peer_recv(&p, &line, hf_clock_boot() + 10000, 0, &err),
	    -1);
	CHECK_INT(err.code, HF_E_UNAVAILABLE);
	CHECK(strstr(err.msg, "has ended") != NULL);
	hf_peer_end(&p, 5000);
}

/* One that does not end with its input is ended. */
static void
stubborn(void)
{
	const char *const argv[] = { "sleep", "600", NULL };
	struct hf_err err = { HF_OK, "" };
	struct hf_peer p;
	int64_t began = hf_clock_boot();

	if (!CHECK_INT(hf_peer_start(&p, argv, 100, &err), 0))
		return;
	hf_peer_end(&p, 50);
	CHECK(hf_clock_boot() - began < 60000);
	CHECK_INT(p.pid, -1);
}

int
main(void)
{
	hf_sig_init();
	vectors();
	refused();
	round_trips();
	urls();
	talks();
	too_long();
	gone();
	stubborn();
	return check_done();
}
