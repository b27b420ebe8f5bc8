/*
 * The store, leases, mains, records and routes, below a folder of their
 * own. Several processes at once are t/race.bats and t/crash.bats.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "scratch.h"

#include "base/clock.h"
#include "base/proc.h"
#include "base/sig.h"
#include "state/main.h"
#include "state/record.h"
#include "state/route.h"
#include "state/store.h"

static struct hf_store *st;
static struct hf_err err;

static const char *
name_of(const char *agent, const char *id)
{
	static char name[256];
	struct hf_buf b = HF_BUF_INIT;

	hf_store_name(&b, agent, id);
	snprintf(name, sizeof(name), "%s", hf_buf_cstr(&b));
	hf_buf_release(&b);
	return name;
}

static void
test_names(void)
{
	char longest[301], other[301];

	CHECK_STR(name_of("claude", "c0de-1"), "claude.c0de-1");
	CHECK_STR(name_of("any", "x/../y"), "any.x%2F%2E%2E%2Fy");
	CHECK_STR(name_of("any", "A.b"), "any.%41%2Eb");
	memset(longest, 'a', 300);
	longest[300] = '\0';
	memcpy(other, longest, sizeof(other));
	other[299] = 'b';
	CHECK(strlen(name_of("pi", longest)) <= HF_KEY_MAX);
	memcpy(longest, name_of("pi", longest), 256);
	CHECK(strcmp(longest, name_of("pi", other)) != 0);
	/* What is short enough stays readable. */
	memset(other, 'a', 300);
	other[HF_KEY_MAX - 3] = '\0';
	CHECK_INT(strlen(name_of("pi", other)), HF_KEY_MAX);
	CHECK(strchr(name_of("pi", other) + 3, '.') == NULL);
}

static void
test_values(void)
{
	struct hf_rev rev, old, none = { "" };
	struct hf_buf b = HF_BUF_INIT;

	CHECK_INT(hf_store_get(st, "mains/x", &b, &rev, &err), 0);
	CHECK_STR(rev.s, "");
	CHECK_INT(hf_store_create(st, "mains/x", HF_STR("one"), &rev, &err),
	    0);
	CHECK_INT(hf_store_create(st, "mains/x", HF_STR("two"), NULL, &err),
	    -1);
	CHECK_INT(err.code, HF_E_EXISTS);
	old = rev;
	CHECK_INT(hf_store_put(st, "mains/x", HF_STR("two"), &rev, &rev,
	    &err), 0);
	CHECK(strcmp(old.s, rev.s) != 0);
	CHECK_INT(hf_store_put(st, "mains/x", HF_STR("three"), &old, NULL,
	    &err), -1);
	CHECK_INT(err.code, HF_E_CHANGED);
	CHECK_INT(hf_store_put(st, "mains/x", HF_STR("three"), &none, NULL,
	    &err), -1);
	CHECK_INT(err.code, HF_E_CHANGED);
	CHECK_INT(hf_store_get(st, "mains/x", &b, &old, &err), 1);
	CHECK_STR(hf_buf_cstr(&b), "two");
	CHECK_STR(old.s, rev.s);
	CHECK_INT(hf_store_remove(st, "mains/x", &none, &err), -1);
	CHECK_INT(err.code, HF_E_CHANGED);
	CHECK_INT(hf_store_remove(st, "mains/x", &rev, &err), 1);
	CHECK_INT(hf_store_remove(st, "mains/x", NULL, &err), 0);
	hf_buf_release(&b);
}

static void
test_keys(void)
{
	static const char *const bad[] = { "", "mains", "mains/", "/x",
		"mains/../x", "mains/.x", "a/b/c/d", "mains//x" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_INT(hf_store_create(st, bad[i], HF_STR("x"), NULL,
		    &err), -1);
		CHECK_INT(err.code, HF_E_INVALID);
	}
}

static void
test_list(void)
{
	struct hf_keys k;

	CHECK_INT(hf_store_list(st, "inbox/pi.a", NULL, 9, &k, &err), 0);
	CHECK_INT(k.n, 0);
	hf_keys_release(&k);
	for (char c = 'd'; c >= 'a'; c--) {
		char key[] = "inbox/pi.a/?";

		key[11] = c;
		hf_store_create(st, key, HF_STR("x"), NULL, &err);
	}
	CHECK_INT(hf_store_list(st, "inbox/pi.a", NULL, 2, &k, &err), 0);
	CHECK_INT(k.n, 2);
	CHECK(k.more);
	CHECK_STR(k.key[1], "inbox/pi.a/b");
	hf_keys_release(&k);
	CHECK_INT(hf_store_list(st, "inbox/pi.a", "inbox/pi.a/b", 2, &k,
	    &err), 0);
	CHECK_INT(k.n, 2);
	CHECK(!k.more);
	CHECK_STR(k.key[0], "inbox/pi.a/c");
	hf_keys_release(&k);
	CHECK_INT(hf_store_watch(st, "inbox/pi.a", 1, &err), 0);
}

static void
test_lease(void)
{
	struct hf_jtree *t = hf_jtree_new();
	struct hf_buf b = HF_BUF_INIT;
	struct hf_lease l, back;
	struct hf_json *j;

	memset(&l, 0, sizeof(l));
	CHECK_INT(hf_lease_look(&l), HF_LEASE_NONE);
	hf_lease_take(&l, 60, (long)getpid());
	CHECK_INT(hf_lease_look(&l), HF_LEASE_LIVE);
	hf_jtree_write(&b, hf_lease_to_json(t, &l), false);
	j = hf_json_parse(hf_buf_view(&b), HF_JSON_RAW, NULL, NULL, &err);
	hf_lease_from_json(hf_json_root(j), &back);
	CHECK(hf_lease_same(&l, &back));
	CHECK(back.start == l.start);
	/* The same process id, but of another process. */
	back.start++;
	CHECK_INT(hf_lease_look(&back), HF_LEASE_DEAD);
	/* Another boot of this machine, and another machine. */
	back = l;
	snprintf(back.boot, sizeof(back.boot), "another");
	CHECK_INT(hf_lease_look(&back), HF_LEASE_DEAD);
	snprintf(back.host, sizeof(back.host), "another");
	CHECK_INT(hf_lease_look(&back), HF_LEASE_LIVE);
	/* A container on this machine: its clock is ours. */
	back = l;
	snprintf(back.host, sizeof(back.host), "another");
	back.start++;
	CHECK_INT(hf_lease_look(&back), HF_LEASE_LIVE);
	back.deadline = hf_clock_boot();
	CHECK_INT(hf_lease_look(&back), HF_LEASE_LAPSED);
	hf_lease_take(&l, 60, 0);
	CHECK_INT(hf_lease_look(&l), HF_LEASE_LIVE);
	hf_json_free(j);
	hf_buf_release(&b);
	hf_jtree_free(t);
}

static void
put_main(const char *key, const char *text)
{
	struct hf_rev rev;
	struct hf_buf b = HF_BUF_INIT;

	hf_store_get(st, key, &b, &rev, &err);
	CHECK_INT(hf_store_put(st, key, hf_str(text), &rev, NULL, &err), 0);
	hf_buf_release(&b);
}

static int
enable(struct hf_main *m, void *arg, struct hf_err *e)
{
	(void)arg, (void)e;
	m->enabled = true;
	return 1;
}

static void
test_main(void)
{
	struct hf_buf b = HF_BUF_INIT;
	struct hf_main m;

	CHECK_INT(hf_main_load(st, "pi", "s1", &m, &err), 0);
	CHECK(!m.stored && m.epoch == 0 && m.last_seq == -1);
	hf_main_release(&m);
	/* What a later version added is kept, numbers as they are spelled;
	 * a request that is over is gone. */
	put_main("mains/pi.s1", "{\"agent\":\"pi\",\"id\":\"s1\",\"epoch\":7,"
	    "\"new\":{\"x\":1.50},\"requested\":{\"until\":"
	    "\"2020-01-01T00:00:00Z\",\"focus\":\"f\",\"to\":null}}");
	CHECK_INT(hf_main_update(st, "pi", "s1", &m, enable, NULL, &err), 0);
	CHECK_INT(m.epoch, 7);
	CHECK(!m.requested.on);
	hf_main_release(&m);
	hf_store_get(st, "mains/pi.s1", &b, NULL, &err);
	CHECK(strstr(hf_buf_cstr(&b), "\"x\":1.50") != NULL);
	CHECK(strstr(hf_buf_cstr(&b), "\"enabled\":true") != NULL);
	CHECK(strstr(hf_buf_cstr(&b), "\"requested\":null") != NULL);
	hf_buf_release(&b);
	/* Damage is named, never taken for "none". */
	put_main("mains/pi.s2", "{\"agent\":\"pi\"");
	CHECK_INT(hf_main_load(st, "pi", "s2", &m, &err), -1);
	CHECK_INT(err.code, HF_E_INVALID);
	hf_main_release(&m);
	put_main("mains/pi.s2", "{\"agent\":\"pi\",\"id\":\"s3\",\"epoch\":1}");
	CHECK_INT(hf_main_load(st, "pi", "s2", &m, &err), -1);
	CHECK(strstr(err.msg, "s3") != NULL);
	hf_main_release(&m);
	hf_store_remove(st, "mains/pi.s2", NULL, &err);
}

static void
test_lookup(void)
{
	struct hf_main m;

	put_main("mains/claude.two", "{\"agent\":\"claude\",\"id\":\"two\","
	    "\"epoch\":1}");
	CHECK_INT(hf_main_lookup(st, "two", &m, &err), 1);
	CHECK_STR(m.agent, "claude");
	hf_main_release(&m);
	put_main("mains/pi.two", "{\"agent\":\"pi\",\"id\":\"two\","
	    "\"epoch\":1}");
	CHECK_INT(hf_main_lookup(st, "two", &m, &err), -1);
	CHECK(strstr(err.msg, "claude:two") != NULL);
	hf_main_release(&m);
	CHECK_INT(hf_main_lookup(st, "pi:two", &m, &err), 1);
	CHECK_STR(m.agent, "pi");
	hf_main_release(&m);
	CHECK_INT(hf_main_lookup(st, "nobody", &m, &err), 0);
	CHECK_STR(m.agent, HF_AGENT_ANY);
	hf_main_release(&m);
}

/* A route by hand from before the agent was known. */
static void
test_any(void)
{
	struct hf_main m;

	CHECK_INT(hf_route_add(st, "early", "late", &err), 0);
	CHECK_INT(hf_main_load(st, "claude", "early", &m, &err), 1);
	CHECK_STR(m.agent, HF_AGENT_ANY);
	CHECK_STR(m.redirect.id, "late");
	hf_main_release(&m);
	put_main("mains/claude.early", "{\"agent\":\"claude\","
	    "\"id\":\"early\",\"epoch\":1}");
	CHECK_INT(hf_route_resolve(st, "early", &m, &err), 1);
	CHECK_STR(m.id, "late");
	hf_main_release(&m);
}

static void
test_routes(void)
{
	struct hf_main m;
	size_t hops;

	CHECK_INT(hf_route_add(st, "ra", "ra", &err), -1);
	CHECK_INT(err.code, HF_E_CYCLE);
	CHECK_INT(hf_route_add(st, "ra", "rb", &err), 0);
	CHECK_INT(hf_route_add(st, "ra", "rb", &err), 0);
	CHECK_INT(hf_route_add(st, "rb", "rc", &err), 0);
	CHECK_INT(hf_route_add(st, "rc", "ra", &err), -1);
	CHECK_INT(err.code, HF_E_CYCLE);
	CHECK_INT(hf_route_add(st, "ra", "rd", &err), -1);
	CHECK_INT(err.code, HF_E_CONFLICT);
	CHECK_INT(hf_main_lookup(st, "ra", &m, &err), 1);
	CHECK_INT(hf_route_follow(st, &m, &hops, &err), 0);
	CHECK_STR(m.id, "rc");
	CHECK_INT(hops, 2);
	hf_main_release(&m);
	CHECK_INT(hf_route_remove(st, "rb", &err), 1);
	CHECK_INT(hf_route_remove(st, "rb", &err), 0);
	CHECK_INT(hf_route_resolve(st, "ra", &m, &err), 1);
	CHECK_STR(m.id, "rb");
	hf_main_release(&m);
	/* One that is on the disk all the same. */
	put_main("mains/any.rb", "{\"agent\":\"any\",\"id\":\"rb\","
	    "\"epoch\":1,\"redirect\":{\"agent\":\"any\",\"id\":\"ra\"}}");
	CHECK_INT(hf_route_resolve(st, "ra", &m, &err), -1);
	CHECK_INT(err.code, HF_E_CYCLE);
	CHECK(strstr(err.msg, "any.ra -> any.rb -> any.ra") != NULL);
	hf_main_release(&m);
}

static void
test_records(void)
{
	struct hf_attempt r, seen;
	char id[HF_ATTEMPT_LEN];
	int64_t now = hf_clock_now(), made;

	hf_record_new_id(id);
	CHECK(hf_record_is_id(id));
	made = hf_record_id_time(id);
	CHECK(made >= now - 1000 && made <= now + 1000);
	CHECK(!hf_record_is_id("handoff-"));
	CHECK(!hf_record_is_id("handoff-../x"));
	CHECK_INT(hf_record_id_time("handoff-x"), -1);
	hf_record_init(&r);
	hf_main_set(&r.id, id);
	r.phase = HF_PHASE_PREPARED;
	hf_main_set(&r.source.agent, "pi");
	hf_main_set(&r.source.id, "source");
	hf_main_set(&r.target.id, "target");
	hf_main_set(&r.brief, "{\"goal\":\"g\"}");
	CHECK_INT(hf_record_save(st, &r, &err), 0);
	CHECK_INT(hf_record_load(st, id, &seen, &err), 1);
	CHECK_STR(seen.brief, "{\"goal\":\"g\"}");
	CHECK_INT(seen.phase, HF_PHASE_PREPARED);
	seen.phase = HF_PHASE_FAILED;
	CHECK_INT(hf_record_save(st, &seen, &err), 0);
	/* Who has an older one must not overwrite it. */
	CHECK_INT(hf_record_save(st, &r, &err), -1);
	CHECK_INT(err.code, HF_E_CHANGED);
	hf_record_release(&seen);
	CHECK_INT(hf_record_find(st, "target", &seen, &err), 1);
	CHECK_STR(seen.id, id);
	hf_record_release(&seen);
	CHECK_INT(hf_record_find(st, "nobody", &seen, &err), 0);
	hf_record_release(&seen);
	hf_record_release(&r);
}

static void
test_open(void)
{
	char attempt[] = "handoff-0", agent[] = "pi", id[] = "s";
	struct hf_open o = { attempt, agent, id, { 0 } }, seen;
	struct hf_keys k;

	hf_lease_take(&o.lease, 60, 0);
	CHECK_INT(hf_open_create(st, &o, &err), 0);
	CHECK_INT(hf_open_list(st, &k, &err), 0);
	CHECK_INT(k.n, 1);
	CHECK_STR(k.key[0], "handoff-0");
	hf_keys_release(&k);
	CHECK_INT(hf_open_load(st, "handoff-0", &seen, &err), 1);
	CHECK_STR(seen.id, "s");
	CHECK(hf_lease_same(&seen.lease, &o.lease));
	hf_open_release(&seen);
	CHECK_INT(hf_open_remove(st, "handoff-0", &err), 1);
	CHECK_INT(hf_open_load(st, "handoff-0", &seen, &err), 0);
}

static void
test_folder(const char *dir)
{
	struct hf_store *other;
	struct stat s;
	char *sub = hf_path_join(dir, "mains");

	CHECK(stat(dir, &s) == 0 && (s.st_mode & 0777) == 0700);
	CHECK(stat(sub, &s) == 0 && (s.st_mode & 0777) == 0700);
	free(sub);
	sub = hf_path_join(dir, "mains/pi.s1.json");
	CHECK(stat(sub, &s) == 0 && (s.st_mode & 0777) == 0600);
	/* A file where the folder should be. */
	CHECK_INT(hf_store_file_open(sub, &other, &err), 0);
	CHECK_INT(hf_store_create(other, "mains/x", HF_STR("x"), NULL, &err),
	    -1);
	CHECK_INT(err.code, HF_E_IO);
	hf_store_close(other);
	free(sub);
}

int
main(void)
{
	char *top = scratch_make(), *dir = hf_path_join(top, "a/state");
	struct stat s;

	umask(0);
	hf_sig_init();
	test_names();
	test_lease();
	CHECK_INT(hf_store_file_open(dir, &st, &err), 0);
	/* Reading makes nothing. */
	CHECK_INT(hf_store_get(st, "mains/x", NULL, NULL, &err), 0);
	CHECK(stat(dir, &s) < 0);
	test_values();
	test_keys();
	test_list();
	test_main();
	test_lookup();
	test_any();
	test_routes();
	test_records();
	test_open();
	test_folder(dir);
	hf_store_close(st);
	free(dir);
	scratch_remove(top);
	return check_done();
}
