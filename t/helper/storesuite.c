/*
 * storesuite PART: what every store must do, against the one that
 * HANDOFF_STORE names. Prints what failed; the status says whether anything
 * did. t/store.bats runs it over files and over etcd.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cmd.h"
#include "base/sig.h"
#include "state/store.h"

static struct hf_store *st;
static struct hf_config config;
static struct hf_err err;
static int bad;

#define CHECK(cond) check(cond, __LINE__, #cond)

static void
check(bool good, int line, const char *what)
{
	if (good)
		return;
	bad++;
	printf("storesuite.c:%d: %s (%s: %s)\n", line, what,
	    hf_code_name(err.code), err.msg);
}

static bool
holds(const char *key, struct hf_str want, struct hf_rev *rev)
{
	struct hf_buf b = HF_BUF_INIT;
	bool good = hf_store_get(st, key, &b, rev, &err) == 1 &&
	    hf_str_eq(hf_buf_view(&b), want);

	hf_buf_release(&b);
	return good;
}

/* ---- the parts ---- */

static void
values(void)
{
	struct hf_rev a, b, c, none = { "" };
	struct hf_buf big = HF_BUF_INIT;
	char *room;

	CHECK(hf_store_get(st, "mains/x", NULL, &a, &err) == 0);
	CHECK(a.s[0] == '\0');
	CHECK(hf_store_create(st, "mains/x", HF_STR("one"), &a, &err) == 0);
	CHECK(a.s[0] != '\0' && holds("mains/x", HF_STR("one"), &b));
	CHECK(strcmp(a.s, b.s) == 0);
	CHECK(hf_store_create(st, "mains/x", HF_STR("two"), &b, &err) == -1);
	CHECK(err.code == HF_E_EXISTS);
	CHECK(hf_store_put(st, "mains/x", HF_STR("two"), &a, &b, &err) == 0);
	CHECK(strcmp(a.s, b.s) != 0 && holds("mains/x", HF_STR("two"), &c));
	CHECK(strcmp(b.s, c.s) == 0);
	CHECK(hf_store_put(st, "mains/x", HF_STR("no"), &a, NULL, &err) == -1);
	CHECK(err.code == HF_E_CHANGED);
	CHECK(hf_store_put(st, "mains/x", HF_STR("no"), &none, NULL,
	    &err) == -1);
	CHECK(err.code == HF_E_CHANGED);
	CHECK(hf_store_put(st, "mains/y", HF_STR("no"), &a, NULL, &err) == -1);
	CHECK(err.code == HF_E_CHANGED);
	CHECK(hf_store_put(st, "mains/y", HF_STR("y"), &none, &a, &err) == 0);
	CHECK(hf_store_remove(st, "mains/x", &a, &err) == -1);
	CHECK(err.code == HF_E_CHANGED && holds("mains/x", HF_STR("two"), &c));
	CHECK(hf_store_remove(st, "mains/x", &b, &err) == 1);
	CHECK(hf_store_remove(st, "mains/x", NULL, &err) == 0);
	CHECK(hf_store_remove(st, "mains/y", NULL, &err) == 1);
	CHECK(hf_store_get(st, "mains/y", NULL, &a, &err) == 0);
	/* Every length up to a block of base64 and beyond, odd characters,
	 * a megabyte. */
	for (size_t n = 0; n < 8; n++) {
		static const char text[] = "\xc3\xa4\"\\\n\x01"
		    "\xf0\x9f\x98\x80";
		struct hf_str odd = hf_strn(text, n < 7 ? n : 10);

		if (!hf_utf8_valid(odd))
			continue;
		CHECK(hf_store_create(st, "mains/odd", odd, NULL, &err) == 0);
		CHECK(holds("mains/odd", odd, &a));
		CHECK(hf_store_remove(st, "mains/odd", &a, &err) == 1);
	}
	room = hf_buf_room(&big, 1 << 20);
	for (size_t i = 0; i < 1 << 20; i++)
		room[i] = (char)(' ' + i % 90);
	big.len = 1 << 20;
	CHECK(hf_store_create(st, "records/big", hf_buf_view(&big), NULL,
	    &err) == 0);
	CHECK(holds("records/big", hf_buf_view(&big), &a));
	hf_buf_release(&big);
}

static int
count_value(const char *key, struct hf_str val, const struct hf_rev *rev,
    const struct hf_err *why, void *arg, struct hf_err *e)
{
	size_t *n = arg;
	char want[64];

	(void)e;
	snprintf(want, sizeof(want), "inbox/pi.a/%05zu", *n);
	CHECK(why == NULL && rev->s[0] != '\0');
	CHECK(strcmp(key, want) == 0 && hf_str_is(val, want));
	++*n;
	return *n == 140 ? 1 : 0;
}

/* More than a page, with neighbours that begin alike. */
static void
lists(void)
{
	struct hf_keys k = { NULL, 0, false };
	char key[64], after[64] = "";
	size_t n = 0;

	CHECK(hf_store_list(st, "inbox/pi.a", NULL, 9, &k, &err) == 0);
	CHECK(k.n == 0 && !k.more);
	hf_keys_release(&k);
	for (size_t i = 0; i < 150; i++) {
		snprintf(key, sizeof(key), "inbox/pi.a/%05zu", i);
		CHECK(hf_store_create(st, key, hf_str(key), NULL,
		    &err) == 0);
	}
	CHECK(hf_store_create(st, "inbox/pi.a0/x", HF_STR("x"), NULL,
	    &err) == 0);
	CHECK(hf_store_create(st, "inbox/pi.a-/x", HF_STR("x"), NULL,
	    &err) == 0);
	do {
		CHECK(hf_store_list(st, "inbox/pi.a", after[0] != '\0' ?
		    after : NULL, 64, &k, &err) == 0);
		for (size_t i = 0; i < k.n; i++, n++) {
			snprintf(key, sizeof(key), "inbox/pi.a/%05zu", n);
			CHECK(strcmp(k.key[i], key) == 0);
		}
		snprintf(after, sizeof(after), "%s", k.key[k.n - 1]);
		CHECK(k.more == (n < 150));
		if (!k.more)
			break;
		hf_keys_release(&k);
	} while (n < 150);
	hf_keys_release(&k);
	CHECK(n == 150);
	CHECK(hf_store_list(st, "inbox/pi.a", NULL, SIZE_MAX, &k,
	    &err) == 0);
	CHECK(k.n == 150 && !k.more);
	hf_keys_release(&k);
	CHECK(hf_store_list(st, "inbox/pi.a", after, 5, &k, &err) == 0);
	CHECK(k.n == 0 && !k.more);
	hf_keys_release(&k);
	n = 0;
	CHECK(hf_store_each(st, "inbox/pi.a", count_value, &n, &err) == 1);
	CHECK(n == 140);
}

static void
leases(void)
{
	struct hf_lease mine, other, gone;
	struct hf_rev rev = { "" };

	memset(&other, 0, sizeof(other));
	CHECK(hf_store_look(st, &other) == HF_LEASE_NONE);
	CHECK(hf_store_lease(st, 300, (long)getpid(), &mine, &err) == 0);
	CHECK(mine.held && hf_store_look(st, &mine) == HF_LEASE_LIVE);
	CHECK(hf_store_lease(st, 300, 0, &other, &err) == 0);
	CHECK(hf_store_look(st, &other) == HF_LEASE_LIVE);
	CHECK(!hf_lease_same(&mine, &other));
	CHECK(hf_store_put_under(st, "mains/l", HF_STR("1"), &rev, &mine,
	    &rev, &err) == 0);
	CHECK(hf_store_put_under(st, "mains/l", HF_STR("2"), &rev, &other,
	    &rev, &err) == 0);
	/* Over, by this machine's clock. */
	gone = mine;
	gone.deadline = 1;
	CHECK(hf_store_look(st, &gone) == HF_LEASE_LAPSED);
	/* Of a machine that nothing is known of but the lease's name. */
	gone = other;
	snprintf(gone.host, sizeof(gone.host), "elsewhere");
	snprintf(gone.boot, sizeof(gone.boot), "another");
	CHECK(hf_store_look(st, &gone) == HF_LEASE_LIVE);
}

static void
locks(void)
{
	int a, b, c;
	int64_t began;

	a = hf_store_lock(st, "routes", 1000, &err);
	CHECK(a >= 0);
	b = hf_store_lock(st, "others", 1000, &err);
	CHECK(b >= 0);
	began = hf_clock_boot();
	c = hf_store_lock(st, "routes", 300, &err);
	CHECK(c < 0 && err.code == HF_E_LOCKED);
	CHECK(hf_clock_boot() - began >= 250);
	hf_store_unlock(st, a);
	a = hf_store_lock(st, "routes", 1000, &err);
	CHECK(a >= 0);
	hf_store_unlock(st, a);
	hf_store_unlock(st, b);
}

/* Waits for "go" below mains, as t/store.bats writes it meanwhile. */
static void
watches(void)
{
	struct hf_rev rev;
	int64_t end = hf_clock_boot() + 30000;

	CHECK(hf_store_get(st, "mains/go", NULL, &rev, &err) == 0);
	CHECK(hf_store_watch(st, "mains", 100, &err) == 0);
	puts("waiting");
	fflush(stdout);
	while (hf_store_get(st, "mains/go", NULL, &rev, &err) == 0 &&
	    hf_clock_boot() < end)
		CHECK(hf_store_watch(st, "mains", 30000, &err) >= 0);
	CHECK(hf_clock_boot() < end && rev.s[0] != '\0');
}

static void
go(void)
{
	CHECK(hf_store_create(st, "mains/go", HF_STR("go"), NULL, &err) == 0);
}

/* A counter that several processes count up. */
static void
counts(void)
{
	for (int i = 0; i < 20; i++) {
		for (;;) {
			struct hf_buf b = HF_BUF_INIT, now = HF_BUF_INIT;
			struct hf_rev rev;
			int64_t n = 0;
			int rc = hf_store_get(st, "mains/n", &b, &rev, &err);

			CHECK(rc >= 0);
			hf_text_int(hf_buf_view(&b), &n);
			hf_buf_printf(&now, "%lld", (long long)n + 1);
			rc = hf_store_put(st, "mains/n", hf_buf_view(&now),
			    &rev, NULL, &err);
			hf_buf_release(&b);
			hf_buf_release(&now);
			if (rc == 0)
				break;
			CHECK(err.code == HF_E_CHANGED);
			if (err.code != HF_E_CHANGED)
				return;
		}
	}
}

static const struct { const char *name; void (*does)(void); } parts[] = {
	{ "values", values }, { "lists", lists }, { "leases", leases },
	{ "locks", locks }, { "watches", watches }, { "go", go },
	{ "counts", counts },
};

static int
run(int argc, char **argv, struct hf_err *e)
{
	if (argc != 2)
		return hf_err_set(e, HF_E_USAGE, "which part?");
	if (hf_config_load(&config, e) < 0)
		return -1;
	if (hf_store_open(&config, &st, e) < 0) {
		hf_config_release(&config);
		return -1;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(argv[1], parts[i].name) == 0)
			parts[i].does();
	hf_store_close(st);
	hf_config_release(&config);
	return bad > 0;
}

int
main(int argc, char **argv)
{
	return hf_cmd_main("storesuite", run, argc, argv);
}
