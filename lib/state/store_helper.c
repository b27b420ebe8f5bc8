/*
 * One request, one answer. What goes wrong between us and the program ends
 * it for the rest of the command: an answer that came too late could be
 * taken for the next one's, and a change whose outcome is not known must
 * not be followed by others as if it were.
 */
#include "state/store_helper.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hmac.h"
#include "base/mem.h"
#include "base/peer.h"
#include "base/proc.h"
#include "base/sig.h"
#include "state/store.h"

enum {
	/* A value, each byte escaped, and what stands around it; a page of
	 * several is not longer. */
	LINE_MAX_BYTES = 6 * HF_STORE_VALUE_MAX + 4096,
	OPEN_MS = 10000,
	ASK_MS = 10000,		/* what the program is told */
	MORE_MS = 3000,		/* and what we wait beyond it */
	GRACE_MS = 2000,	/* after a signal */
	END_MS = 3000,
	/* A lock ends with the command, or soon after its machine. */
	LOCKS_MAX = 4, LOCK_SECONDS = 7 * 86400, LOCK_TURN_MS = 500
};

struct helper {
	struct hf_store store;		/* first: this is one */
	char *url, *program;
	struct hf_peer peer;
	int64_t asked;			/* the number of the last request */
	struct hf_err why;		/* set: it is of no more use */
	char lock[LOCKS_MAX][64];	/* the lease of each; "" free */
};

static struct helper *
self(struct hf_store *s)
{
	return (struct helper *)(void *)s;
}

/* ---- the program ---- */

/* A TLS variant is the same program. */
int
hf_store_helper_name(const char *url, struct hf_buf *out,
    struct hf_err *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	size_t n = strspn(url, letters);

	if (n == 0 || n > 32 || url[0] == '-' ||
	    strncmp(url + n, "://", 3) != 0)
		return hf_err_set(err, HF_E_CONFIG, "store: '%s' is neither "
		    "'files' nor NAME://...", url);
	if (strncmp(url, "etcds:", 6) == 0)
		n--;
	hf_buf_puts(out, "hf-store-");
	hf_buf_str(out, hf_strn(url, n));
	return 0;
}

/* Beside ourselves, else wherever PATH finds it; the caller's. */
static char *
find_program(const char *name)
{
	char own[PATH_MAX], *dir, *path;
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (n <= 0)
		return hf_strdup(name);
	own[n] = '\0';
	dir = hf_path_dir(own);
	path = hf_path_join(dir, name);
	free(dir);
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return hf_strdup(name);
}

static int
lost(struct helper *h, const struct hf_err *err)
{
	h->why = *err;
	hf_peer_end(&h->peer, 0);
	return -1;
}

/* ---- a request ---- */

struct ask {
	struct hf_jtree *t;
	struct hf_jnode *o;
	long ms, grace_ms;
	struct hf_json *got;	/* the answer */
};

static void
ask_init(struct ask *a, const char *op)
{
	a->t = hf_jtree_new();
	a->o = hf_jtree_obj(a->t);
	a->ms = ASK_MS;
	a->grace_ms = GRACE_MS;
	a->got = NULL;
	hf_jset_null(a->t, a->o, "id");
	hf_jset_cstr(a->t, a->o, "op", op);
}

static void
ask_text(struct ask *a, const char *key, const char *text)
{
	hf_jset_cstr(a->t, a->o, key, text);
}

static void
ask_release(struct ask *a)
{
	hf_json_free(a->got);
	hf_jtree_free(a->t);
}

static const struct hf_jval *
answer(const struct ask *a, const char *key)
{
	return hf_json_get(hf_json_root(a->got), key);
}

/* The answer with our number; those to what was given up are passed over. */
static int
receive(struct helper *h, struct ask *a, int64_t deadline,
    struct hf_err *err)
{
	struct hf_str line;
	int64_t id;

	for (;;) {
		if (hf_peer_recv(&h->peer, &line, deadline, a->grace_ms,
		    err) < 0)
			return -1;
		a->got = hf_json_parse(line, 0, NULL, NULL, err);
		if (a->got == NULL || !hf_json_int(answer(a, "id"), &id))
			return hf_err_set(err, HF_E_UNAVAILABLE,
			    "'%s' says what is no answer", h->program);
		if (id == h->asked)
			return 0;
		hf_json_free(a->got);
		a->got = NULL;
	}
}

static int
take_error(const struct hf_jval *e, struct hf_err *err)
{
	struct hf_str code = hf_json_get_str(e, "code");
	struct hf_str msg = hf_json_get_str(e, "message");
	char *s = hf_strndup(code.n > 0 ? code.s : "", code.n);
	enum hf_code as = hf_code_parse(s);

	free(s);
	/* What is no code of ours is no bug of ours either. */
	if (as == HF_OK || as == HF_E_INTERNAL || as == HF_E_CANCELLED)
		as = HF_E_UNAVAILABLE;
	if (msg.n == 0)
		msg = HF_STR("the store says no more");
	return hf_err_set(err, as, "%.*s", (int)(msg.n < HF_ERR_MAX ? msg.n :
	    HF_ERR_MAX), msg.s);
}

static int
exchange(struct helper *h, struct ask *a, struct hf_err *err)
{
	int64_t deadline = hf_clock_boot() + a->ms + MORE_MS;
	struct hf_buf line = HF_BUF_INIT;
	int rc;

	hf_jset_int(a->t, a->o, "id", ++h->asked);
	hf_jset_int(a->t, a->o, "ms", a->ms);
	hf_jtree_write(&line, a->o, false);
	rc = hf_peer_send(&h->peer, hf_buf_view(&line), deadline,
	    a->grace_ms, err);
	hf_buf_release(&line);
	if (rc < 0 || receive(h, a, deadline, err) < 0)
		return lost(h, err);
	if (hf_json_type(answer(a, "error")) == HF_J_OBJ)
		return take_error(answer(a, "error"), err);
	return 0;
}

static int
start(struct helper *h, struct hf_err *err)
{
	const char *argv[] = { h->program, NULL };
	struct ask a;
	int64_t version;
	int rc;

	if (hf_peer_start(&h->peer, argv, LINE_MAX_BYTES, err) < 0) {
		if (err->code == HF_E_NOT_FOUND)
			hf_err_set(err, HF_E_CONFIG, "store: the program '%s' "
			    "is not installed", hf_path_base(h->program));
		return lost(h, err);
	}
	ask_init(&a, "open");
	hf_jset_int(a.t, a.o, "v", 1);
	ask_text(&a, "url", h->url);
	a.ms = OPEN_MS;
	rc = exchange(h, &a, err);
	if (rc == 0 && (!hf_json_int(answer(&a, "v"), &version) ||
	    version != 1))
		rc = hf_err_set(err, HF_E_CONFIG, "store: '%s' speaks another "
		    "version", h->program);
	ask_release(&a);
	return rc < 0 ? lost(h, err) : 0;
}

/* 0, or -1; *a is to be released in any case. */
static int
ask(struct hf_store *s, struct ask *a, struct hf_err *err)
{
	struct helper *h = self(s);

	if (h->why.code != HF_OK) {
		*err = h->why;
		return -1;
	}
	if (h->peer.pid < 0 && start(h, err) < 0)
		return -1;
	return exchange(h, a, err);
}

/* ---- values ---- */

/* A revision as the program spells it. */
static int
take_rev(const struct hf_jval *v, struct hf_rev *rev, struct hf_err *err)
{
	struct hf_str a = hf_json_str(v);

	if (a.n == 0 || a.n >= sizeof(rev->s) ||
	    memchr(a.s, '\0', a.n) != NULL)
		return hf_err_set(err, HF_E_UNAVAILABLE,
		    "the store gives no revision");
	memcpy(rev->s, a.s, a.n);
	rev->s[a.n] = '\0';
	return 0;
}

static int
helper_get(struct hf_store *s, const char *key, struct hf_buf *out,
    struct hf_rev *rev, struct hf_err *err)
{
	struct hf_str val;
	struct ask a;
	int rc;

	rev->s[0] = '\0';
	ask_init(&a, "get");
	ask_text(&a, "key", key);
	rc = ask(s, &a, err);
	val = hf_json_str(answer(&a, "value"));
	if (rc == 0 && val.s != NULL) {
		rc = take_rev(answer(&a, "revision"), rev, err);
		if (rc == 0 && out != NULL)
			hf_buf_str(out, val);
		if (rc == 0)
			rc = 1;
	} else if (rc == 0 && hf_json_type(answer(&a, "value")) != HF_J_NULL)
		rc = hf_err_set(err, HF_E_UNAVAILABLE,
		    "the store gives no value");
	ask_release(&a);
	return rc;
}

static int
change(struct hf_store *s, struct ask *a, const char *key, struct hf_str val,
    struct hf_rev *now, struct hf_err *err)
{
	int rc;

	if (!hf_utf8_valid(val)) {
		ask_release(a);
		return hf_err_set(err, HF_E_INVALID,
		    "'%s' cannot be stored: it is no text", key);
	}
	ask_text(a, "key", key);
	hf_jset_str(a->t, a->o, "value", val);
	rc = ask(s, a, err);
	if (rc == 0)
		rc = take_rev(answer(a, "revision"), now, err);
	ask_release(a);
	return rc;
}

static int
helper_put(struct hf_store *s, const char *key, struct hf_str val,
    const struct hf_rev *was, const struct hf_lease *under,
    struct hf_rev *now, struct hf_err *err)
{
	struct ask a;

	ask_init(&a, "put");
	ask_text(&a, "revision", was->s);
	if (under != NULL && under->held && under->id[0] != '\0')
		ask_text(&a, "while", under->id);
	return change(s, &a, key, val, now, err);
}

static int
helper_create(struct hf_store *s, const char *key, struct hf_str val,
    struct hf_rev *now, struct hf_err *err)
{
	struct ask a;

	ask_init(&a, "create");
	return change(s, &a, key, val, now, err);
}

static int
helper_remove(struct hf_store *s, const char *key, const struct hf_rev *was,
    struct hf_err *err)
{
	struct ask a;
	int rc;

	ask_init(&a, "delete");
	ask_text(&a, "key", key);
	if (was != NULL)
		ask_text(&a, "revision", was->s);
	rc = ask(s, &a, err);
	if (rc == 0)
		rc = hf_json_true(answer(&a, "removed"));
	ask_release(&a);
	return rc;
}

/* ---- lists ---- */

/* A key that may be one: below the prefix, and behind the last one. */
static bool
follows(struct hf_str key, const char *prefix, const char *after)
{
	size_t n = strlen(prefix);

	return hf_str_starts(key, prefix) && key.n > n + 1 &&
	    key.s[n] == '/' && memchr(key.s, '\0', key.n) == NULL &&
	    (after == NULL || strcmp(key.s, after) > 0);
}

static int
no_key(struct hf_err *err)
{
	return hf_err_set(err, HF_E_UNAVAILABLE,
	    "the store lists what was not asked for");
}

static int
add_keys(struct hf_keys *k, size_t *cap, const struct hf_jval *list,
    const char *prefix, const char *after, struct hf_err *err)
{
	const struct hf_jval *v;
	struct hf_jiter it;

	hf_json_iter(&it, list);
	while ((v = hf_json_next(&it, NULL)) != NULL) {
		struct hf_str key = hf_json_str(v);

		if (k->n > 0)
			after = k->key[k->n - 1];
		if (!follows(key, prefix, after))
			return no_key(err);
		if (k->n == *cap) {
			*cap = *cap > 0 ? *cap * 2 : 64;
			k->key = hf_reallocarray(k->key, *cap,
			    sizeof(k->key[0]));
		}
		k->key[k->n++] = hf_strndup(key.s, key.n);
	}
	return 0;
}

static int
helper_list(struct hf_store *s, const char *prefix, const char *after,
    size_t max, struct hf_keys *out, struct hf_err *err)
{
	size_t cap = 0, had;
	int rc = 0;

	do {
		struct ask a;

		had = out->n;
		ask_init(&a, "list");
		ask_text(&a, "prefix", prefix);
		if (had > 0 || after != NULL)
			ask_text(&a, "after", had > 0 ? out->key[had - 1] :
			    after);
		hf_jset_int(a.t, a.o, "max", max - had < INT32_MAX ?
		    (int64_t)(max - had) : INT32_MAX);
		rc = ask(s, &a, err);
		if (rc == 0)
			rc = add_keys(out, &cap, answer(&a, "keys"), prefix,
			    after, err);
		out->more = hf_json_true(answer(&a, "more"));
		ask_release(&a);
	} while (rc == 0 && out->more && out->n > had && out->n < max);
	while (out->n > max)
		free(out->key[--out->n]);
	return rc;
}

struct scan {
	const char *prefix;
	char *after;		/* the last one; NULL: none yet */
	bool more;
	hf_store_value_fn cb;
	void *arg;
};

/* One page, which is read whole before cb may ask for other things. */
static int
give_page(struct scan *sc, const struct ask *a, struct hf_err *err)
{
	const struct hf_jval *v;
	struct hf_jiter it;
	int rc = 0;

	sc->more = false;
	hf_json_iter(&it, answer(a, "values"));
	while (rc == 0 && (v = hf_json_next(&it, NULL)) != NULL) {
		struct hf_str key = hf_json_get_str(v, "key");
		struct hf_str val = hf_json_get_str(v, "value");
		struct hf_rev rev;

		if (!follows(key, sc->prefix, sc->after))
			return no_key(err);
		if (take_rev(hf_json_get(v, "revision"), &rev, err) < 0)
			return -1;
		free(sc->after);
		sc->after = hf_strndup(key.s, key.n);
		sc->more = hf_json_true(answer(a, "more"));
		if (hf_sig_check(err) < 0)
			return -1;
		rc = sc->cb(sc->after, val.s != NULL ? val : HF_STR(""), &rev,
		    NULL, sc->arg, err);
	}
	return rc;
}

static int
helper_each(struct hf_store *s, const char *prefix, hf_store_value_fn cb,
    void *arg, struct hf_err *err)
{
	struct scan sc = { prefix, NULL, false, cb, arg };
	int rc;

	do {
		struct ask a;

		ask_init(&a, "scan");
		ask_text(&a, "prefix", prefix);
		if (sc.after != NULL)
			ask_text(&a, "after", sc.after);
		rc = ask(s, &a, err);
		if (rc == 0)
			rc = give_page(&sc, &a, err);
		ask_release(&a);
	} while (rc == 0 && sc.more);
	free(sc.after);
	return rc;
}

static int
helper_watch(struct hf_store *s, const char *prefix, long ms,
    struct hf_err *err)
{
	struct ask a;
	int rc;

	ask_init(&a, "watch");
	ask_text(&a, "prefix", prefix);
	a.ms = ms > 0 ? ms : 1;
	a.grace_ms = 0;
	rc = ask(s, &a, err);
	if (rc == 0)
		rc = hf_json_true(answer(&a, "changed"));
	ask_release(&a);
	return rc;
}

/* ---- leases ---- */

/* Ours to keep alive, or one that lasts by itself until the next step. */
static int
new_lease(struct hf_store *s, int64_t seconds, bool held, char id[64],
    struct hf_err *err)
{
	struct hf_str got;
	struct ask a;
	int rc;

	ask_init(&a, "lease");
	hf_jset_int(a.t, a.o, "seconds", seconds);
	hf_jset_bool(a.t, a.o, "held", held);
	rc = ask(s, &a, err);
	got = hf_json_str(answer(&a, "lease"));
	if (rc == 0 && (got.n == 0 || got.n >= 64 ||
	    memchr(got.s, '\0', got.n) != NULL))
		rc = hf_err_set(err, HF_E_UNAVAILABLE,
		    "the store gives no lease");
	if (rc == 0) {
		memcpy(id, got.s, got.n);
		id[got.n] = '\0';
	}
	ask_release(&a);
	return rc;
}

static int
helper_lease(struct hf_store *s, int64_t seconds, long pid,
    struct hf_lease *out, struct hf_err *err)
{
	hf_lease_take(out, seconds, pid);
	return new_lease(s, seconds, pid == (long)getpid(), out->id, err);
}

/* In this boot of this machine its clock and its processes are known to us
 * better than to the store; elsewhere only the store can tell. Where it
 * cannot be asked the lease is left alone. */
static enum hf_lease_state
helper_look(struct hf_store *s, const struct hf_lease *l)
{
	struct hf_err ignored;
	enum hf_lease_state here = HF_LEASE_LIVE;
	struct ask a;
	bool ended;

	if (!l->held)
		return HF_LEASE_NONE;
	if (l->id[0] == '\0' || (strcmp(l->host, hf_proc_host()) == 0 &&
	    strcmp(l->boot, hf_proc_boot_id()) == 0))
		here = hf_lease_look(l);
	if (l->id[0] == '\0' || here != HF_LEASE_LIVE)
		return here;
	ask_init(&a, "alive");
	ask_text(&a, "lease", l->id);
	ended = ask(s, &a, &ignored) == 0 &&
	    hf_json_type(answer(&a, "alive")) == HF_J_BOOL &&
	    !hf_json_true(answer(&a, "alive"));
	ask_release(&a);
	return ended ? HF_LEASE_LAPSED : HF_LEASE_LIVE;
}

static void
release(struct hf_store *s, const char *lease)
{
	struct hf_err ignored;
	struct ask a;

	ask_init(&a, "release");
	ask_text(&a, "lease", lease);
	ask(s, &a, &ignored);
	ask_release(&a);
}

/* ---- locks ---- */

/* A value that goes with its lease, and says whose it is. */
static int
try_lock(struct hf_store *s, const char *key, const char *lease,
    struct hf_err *err)
{
	struct hf_buf val = HF_BUF_INIT;
	char unique[HF_UUID_LEN];
	struct hf_rev now;
	struct ask a;
	int rc;

	hf_uuid4(unique);
	hf_buf_puts(&val, "{\"host\":");
	hf_json_quote(&val, hf_str(hf_proc_host()));
	hf_buf_printf(&val, ",\"pid\":%ld,\"id\":\"%s\"}\n", (long)getpid(),
	    unique);
	ask_init(&a, "create");
	ask_text(&a, "lease", lease);
	rc = change(s, &a, key, hf_buf_view(&val), &now, err);
	hf_buf_release(&val);
	return rc;
}

static int
wait_for_lock(struct hf_store *s, const char *name, const char *lease,
    int64_t end, struct hf_err *err)
{
	struct hf_buf key = HF_BUF_INIT;
	int64_t left;
	int rc;

	hf_buf_printf(&key, "locks/%s", name);
	while ((rc = try_lock(s, hf_buf_cstr(&key), lease, err)) < 0 &&
	    err->code == HF_E_EXISTS) {
		left = end - hf_clock_boot();
		if (left <= 0) {
			hf_err_set(err, HF_E_LOCKED, "'%s' is locked by "
			    "another process", name);
			break;
		}
		if (helper_watch(s, "locks", left < LOCK_TURN_MS ?
		    (long)left : LOCK_TURN_MS, err) < 0)
			break;
	}
	hf_buf_release(&key);
	return rc;
}

static int
helper_lock(struct hf_store *s, const char *name, long wait_ms,
    struct hf_err *err)
{
	struct helper *h = self(s);
	int i = 0;

	while (i < LOCKS_MAX && h->lock[i][0] != '\0')
		i++;
	if (i == LOCKS_MAX)
		return hf_err_set(err, HF_E_INTERNAL, "too many locks");
	if (new_lease(s, LOCK_SECONDS, true, h->lock[i], err) < 0)
		return -1;
	if (wait_for_lock(s, name, h->lock[i], hf_clock_boot() + wait_ms,
	    err) == 0)
		return i;
	release(s, h->lock[i]);
	h->lock[i][0] = '\0';
	return -1;
}

static void
helper_unlock(struct hf_store *s, int lock)
{
	struct helper *h = self(s);

	release(s, h->lock[lock]);
	h->lock[lock][0] = '\0';
}

/* ---- the rest ---- */

/* What ended half way left nothing there: each change is one request. */
static int
helper_tidy(struct hf_store *s, struct hf_err *err)
{
	(void)s, (void)err;
	return 0;
}

static void
helper_close(struct hf_store *s)
{
	struct helper *h = self(s);

	hf_peer_end(&h->peer, END_MS);
	free(h->url);
	free(h->program);
	free(h);
}

static const struct hf_store_ops helper_ops = {
	helper_get, helper_put, helper_create, helper_remove, helper_list,
	helper_each, helper_watch, helper_lock, helper_unlock, helper_lease,
	helper_look, helper_tidy, helper_close
};

int
hf_store_helper_open(const char *url, struct hf_store **out,
    struct hf_err *err)
{
	struct hf_buf name = HF_BUF_INIT;
	struct helper *h;

	if (hf_store_helper_name(url, &name, err) < 0)
		return -1;
	h = hf_calloc(1, sizeof(*h));
	h->store.ops = &helper_ops;
	h->store.shared = true;
	h->url = hf_strdup(url);
	h->program = find_program(hf_buf_cstr(&name));
	h->peer = (struct hf_peer)HF_PEER_INIT;
	hf_buf_release(&name);
	*out = &h->store;
	return 0;
}
