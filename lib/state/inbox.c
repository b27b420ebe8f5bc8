#include "state/inbox.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/sig.h"
#include "state/attempt.h"
#include "state/events.h"
#include "state/route.h"

enum { LEASE_SECONDS = 120, MOVES = 16 };

/* ---- keys and ids ---- */

static void
key_of(struct hf_buf *out, const char *top, const char *agent,
    const char *id, const char *relay)
{
	hf_buf_clear(out);
	hf_buf_printf(out, "%s/", top);
	if (agent != NULL) {
		hf_store_name(out, agent, id);
		if (relay != NULL)
			hf_buf_putc(out, '/');
	}
	hf_buf_puts(out, relay != NULL ? relay : "");
}

static void
put_part(struct hf_buf *out, struct hf_str part)
{
	hf_buf_printf(out, "%zu:", part.n);
	hf_buf_str(out, part);
}

/* Each part with its length: no two lists of parts read the same. */
static void
relay_id(const struct hf_message *msg, const struct hf_main *m,
    char out[HF_SHA_HEX])
{
	struct hf_buf b = HF_BUF_INIT;

	put_part(&b, hf_str(m->agent));
	put_part(&b, hf_str(m->id));
	put_part(&b, HF_STR("forward"));
	for (size_t i = 0; i < msg->nids; i++)
		put_part(&b, msg->id[i]);
	hf_sha256_hex(hf_buf_view(&b), out);
	hf_buf_release(&b);
}

/* ---- values ---- */

static void
set_time(struct hf_jtree *t, struct hf_jnode *o, const char *key)
{
	char at[HF_TIME_LEN];

	hf_clock_format(hf_clock_now(), at);
	hf_jset_cstr(t, o, key, at);
}

static char *
own(struct hf_str a)
{
	return hf_strndup(a.n > 0 ? a.s : "", a.n);
}

/* Writes the tree and frees it. */
static void
written(struct hf_buf *out, struct hf_jtree *t, struct hf_jnode *o)
{
	hf_buf_clear(out);
	hf_jtree_write(out, o, false);
	hf_buf_putc(out, '\n');
	hf_jtree_free(t);
}

/* A message as it stands in the journal and in an inbox. */
static void
message_value(struct hf_buf *out, const struct hf_message *msg,
    const struct hf_main *m, const char *state)
{
	struct hf_jtree *t = hf_jtree_new();
	struct hf_jnode *o = hf_jtree_obj(t), *ids = hf_jtree_arr(t);

	hf_jset_int(t, o, "v", 1);
	for (size_t i = 0; i < msg->nids; i++)
		hf_jpush_str(t, ids, msg->id[i]);
	hf_jset(t, o, "id", ids);
	hf_jset(t, o, "to", hf_main_name(t, m->agent, m->id));
	if (msg->sender.n > 0)
		hf_jset_str(t, o, "from", msg->sender);
	if (msg->late)
		hf_jset_bool(t, o, "late", true);
	set_time(t, o, "at");
	if (state != NULL)
		hf_jset_cstr(t, o, "state", state);
	hf_jset_str(t, o, "text", msg->text);
	written(out, t, o);
}

/* Who is at it: another one sees when he has died. */
static int
lease_value(struct hf_buf *out, struct hf_store *st, const char *agent,
    const char *id, const char *state, struct hf_err *err)
{
	struct hf_lease lease = { .held = false };
	struct hf_jtree *t;
	struct hf_jnode *o;

	if (hf_store_lease(st, LEASE_SECONDS, (long)getpid(), &lease,
	    err) < 0)
		return -1;
	t = hf_jtree_new();
	o = hf_jtree_obj(t);
	hf_jset_int(t, o, "v", 1);
	hf_jset(t, o, "session", hf_main_name(t, agent, id));
	hf_jset_cstr(t, o, "state", state);
	set_time(t, o, "at");
	hf_jset(t, o, "lease", hf_lease_to_json(t, &lease));
	written(out, t, o);
	return 0;
}

static bool
is_live(struct hf_store *st, const struct hf_jval *v)
{
	struct hf_lease lease;

	hf_lease_from_json(hf_json_get(v, "lease"), &lease);
	return lease.held && hf_store_look(st, &lease) == HF_LEASE_LIVE;
}

/* 1 and the value parsed, NULL when it is damaged; 0 there is none. */
static int
load(struct hf_store *st, const char *key, struct hf_json **out,
    struct hf_rev *rev, struct hf_err *err)
{
	struct hf_buf val = HF_BUF_INIT;
	struct hf_err why;
	int rc = hf_store_get(st, key, &val, rev, err);

	*out = NULL;
	if (rc > 0)
		*out = hf_json_parse(hf_buf_view(&val), HF_JSON_RAW, NULL,
		    NULL, &why);
	hf_buf_release(&val);
	return rc;
}

/* 1 it is there, 0, -1. */
static int
is_there(struct hf_store *st, const char *key, struct hf_err *err)
{
	return hf_store_get(st, key, NULL, NULL, err);
}

/* 0 also when it is there already. */
static int
create(struct hf_store *st, const char *step, const char *key,
    struct hf_str val, struct hf_err *err)
{
	(void)step;
	if (hf_attempt_step(step, err) < 0)
		return -1;
	if (hf_store_create(st, key, val, NULL, err) == 0 ||
	    err->code == HF_E_EXISTS)
		return 0;
	return -1;
}

static int
drop(struct hf_store *st, const char *step, const char *key,
    struct hf_err *err)
{
	(void)step;
	return hf_attempt_step(step, err) < 0 ||
	    hf_store_remove(st, key, NULL, err) < 0 ? -1 : 0;
}

/* ---- delivering ---- */

struct delivery {
	struct hf_store *st;
	const char *relay;
	struct hf_buf relays, journal, inbox, taken;	/* keys */
	struct hf_buf value;
};

static void
delivery_release(struct delivery *d)
{
	hf_buf_release(&d->relays);
	hf_buf_release(&d->journal);
	hf_buf_release(&d->inbox);
	hf_buf_release(&d->taken);
	hf_buf_release(&d->value);
}

static int
check(const struct hf_message *msg, struct hf_err *err)
{
	if (msg->nids == 0)
		return hf_err_set(err, HF_E_MISSING,
		    "the message has no id");
	if (msg->text.n == 0)
		return hf_err_set(err, HF_E_MISSING,
		    "the message has no text");
	if (msg->text.n > HF_MESSAGE_MAX)
		return hf_err_set(err, HF_E_OVERFLOW, "the message has %zu "
		    "bytes, more than %d", msg->text.n, (int)HF_MESSAGE_MAX);
	return 0;
}

/* 1: the journal says that it was delivered. */
static int
was_delivered(struct delivery *d, struct hf_err *err)
{
	struct hf_json *j;
	struct hf_rev rev;
	int rc = load(d->st, hf_buf_cstr(&d->journal), &j, &rev, err);

	if (rc > 0)
		rc = hf_json_is(hf_json_get(hf_json_root(j), "state"),
		    "done");
	hf_json_free(j);
	return rc;
}

/* Into the inbox of m; what was handed over already is not put there. */
static int
put_there(struct delivery *d, const struct hf_main *m, struct hf_err *err)
{
	int rc = is_there(d->st, hf_buf_cstr(&d->taken), err);

	if (rc != 0)
		return rc < 0 ? -1 : 0;
	key_of(&d->inbox, "inbox", m->agent, m->id, d->relay);
	return create(d->st, "relay.inbox", hf_buf_cstr(&d->inbox),
	    hf_buf_view(&d->value), err);
}

/* The main that a chain leads to, which *end then is. */
static int
follow(struct hf_store *st, const struct hf_main *m, struct hf_main *end,
    struct hf_err *err)
{
	int rc = hf_main_load(st, m->agent, m->id, end, err);

	return rc < 0 ? -1 : hf_route_follow(st, end, NULL, err);
}

/* A handoff may come between looking and putting: it is looked once more,
 * until both say the same. */
static int
put_at_end(struct delivery *d, struct hf_main *m, struct hf_err *err)
{
	struct hf_buf before = HF_BUF_INIT;
	struct hf_main end;
	int rc = 0;

	for (int i = 0; i < MOVES && rc == 0; i++) {
		rc = follow(d->st, m, &end, err);
		if (rc == 0 && i > 0 && strcmp(end.id, m->id) == 0 &&
		    strcmp(end.agent, m->agent) == 0) {
			hf_main_release(&end);
			break;
		}
		hf_main_release(m);
		*m = end;
		if (rc < 0 || put_there(d, m, err) < 0) {
			rc = -1;
		} else if (before.len > 0 && !hf_str_eq(hf_buf_view(&before),
		    hf_buf_view(&d->inbox))) {
			rc = drop(d->st, "relay.move", hf_buf_cstr(&before),
			    err);
		}
		hf_buf_clear(&before);
		hf_buf_str(&before, hf_buf_view(&d->inbox));
	}
	hf_buf_release(&before);
	return rc;
}

/* Says in the journal how it went. */
static int
close_journal(struct delivery *d, const struct hf_message *msg,
    const struct hf_main *source, struct hf_err *err)
{
	struct hf_rev rev;

	if (hf_store_get(d->st, hf_buf_cstr(&d->journal), NULL, &rev,
	    err) < 0)
		return -1;
	message_value(&d->value, msg, source, "done");
	if (hf_attempt_step("relay.done", err) < 0)
		return -1;
	if (hf_store_put(d->st, hf_buf_cstr(&d->journal),
	    hf_buf_view(&d->value), &rev, NULL, err) == 0 ||
	    err->code == HF_E_CHANGED)	/* by one who says the same */
		return 0;
	return -1;
}

static int
deliver(struct delivery *d, const struct hf_message *msg,
    const struct hf_main *source, struct hf_main *m, struct hf_err *err)
{
	struct hf_err ignored;

	if (lease_value(&d->value, d->st, source->agent, source->id,
	    "relaying", err) < 0 ||
	    create(d->st, "relay.open", hf_buf_cstr(&d->relays),
	    hf_buf_view(&d->value), err) < 0)
		return -1;
	message_value(&d->value, msg, source, "attempting");
	if (create(d->st, "relay.journal", hf_buf_cstr(&d->journal),
	    hf_buf_view(&d->value), err) < 0) {
		/* Nothing has happened: nothing is left to be asked about. */
		hf_store_remove(d->st, hf_buf_cstr(&d->relays), NULL,
		    &ignored);
		return -1;
	}
	message_value(&d->value, msg, source, NULL);
	if (put_at_end(d, m, err) < 0 ||
	    close_journal(d, msg, source, err) < 0)
		return -1;
	return drop(d->st, "relay.close", hf_buf_cstr(&d->relays), err);
}

int
hf_inbox_deliver(struct hf_store *st, const struct hf_message *msg,
    struct hf_main *m, struct hf_delivery *out, struct hf_err *err)
{
	struct delivery d = { .st = st, .relay = out->relay };
	struct hf_main source;
	int rc = -1;

	memset(out, 0, sizeof(*out));
	hf_main_init(&source, m->agent, m->id);
	if (check(msg, err) < 0)
		goto out;
	relay_id(msg, m, out->relay);
	key_of(&d.relays, "relays", NULL, NULL, out->relay);
	key_of(&d.journal, "journal", m->agent, m->id, out->relay);
	key_of(&d.taken, "taken", NULL, NULL, out->relay);
	rc = was_delivered(&d, err);
	if (rc > 0) {
		out->again = true;
		rc = hf_route_follow(st, m, NULL, err);
	} else if (rc == 0) {
		rc = deliver(&d, msg, &source, m, err);
	}
out:
	delivery_release(&d);
	hf_main_release(&source);
	return rc;
}

/* ---- moving on ---- */

struct drain {
	struct hf_store *st;
	struct hf_buf key;
	const char *agent, *id;
};

static int
move_one(const char *key, struct hf_str val, const struct hf_rev *rev,
    const struct hf_err *why, void *arg, struct hf_err *err)
{
	struct drain *d = arg;
	const char *relay = strrchr(key, '/') + 1;

	(void)rev;
	if (why != NULL) {
		hf_warn_err(why);
		return 0;
	}
	key_of(&d->key, "inbox", d->agent, d->id, relay);
	if (create(d->st, "relay.drain", hf_buf_cstr(&d->key), val,
	    err) < 0)
		return -1;
	return drop(d->st, "relay.drained", key, err);
}

int
hf_inbox_drain(struct hf_store *st, const char *from_agent,
    const char *from_id, const char *to_agent, const char *to_id,
    struct hf_err *err)
{
	struct drain d = { st, HF_BUF_INIT, to_agent, to_id };
	struct hf_buf prefix = HF_BUF_INIT;
	int rc;

	key_of(&prefix, "inbox", from_agent, from_id, NULL);
	rc = hf_store_each(st, hf_buf_cstr(&prefix), move_one, &d, err);
	hf_buf_release(&prefix);
	hf_buf_release(&d.key);
	return rc;
}

/* What a sender put into the inbox of one that m came from. */
static int
drain_ancestors(struct hf_store *st, const struct hf_main *m,
    struct hf_err *err)
{
	struct hf_main old;
	char *agent = m->from.agent != NULL ? hf_strdup(m->from.agent) : NULL;
	char *id = m->from.id != NULL ? hf_strdup(m->from.id) : NULL;
	int rc = 0;

	for (int i = 0; i < HF_ROUTE_MAX && rc == 0 && id != NULL; i++) {
		rc = hf_main_load(st, agent, id, &old, err);
		/* One that is routed nowhere keeps what is its own. */
		if (rc > 0 && old.redirect.id == NULL)
			rc = 2;
		else if (rc >= 0)
			rc = hf_inbox_drain(st, agent, id, m->agent, m->id,
			    err);
		free(agent);
		free(id);
		agent = old.from.agent;
		id = old.from.id;
		old.from.agent = old.from.id = NULL;
		hf_main_release(&old);
	}
	free(agent);
	free(id);
	return rc < 0 ? -1 : 0;
}

/* ---- looking ---- */

static void
waiting_release(struct hf_waiting *w)
{
	hf_json_free(w->json);
	free(w->key);
}

void
hf_inbox_release(struct hf_inbox *in)
{
	for (size_t i = 0; i < in->n; i++)
		waiting_release(&in->w[i]);
	free(in->w);
	*in = (struct hf_inbox){ NULL, 0, false };
}

static const char *
relay_of(const struct hf_waiting *w)
{
	return strrchr(w->key, '/') + 1;
}

/* 1 it is to be shown; 0 it is another's, or over. */
static int
judge(struct hf_store *st, struct hf_waiting *w, struct hf_err *err)
{
	struct hf_buf key = HF_BUF_INIT;
	struct hf_json *j;
	struct hf_rev rev;
	int rc;

	key_of(&key, "taken", NULL, NULL, relay_of(w));
	rc = load(st, hf_buf_cstr(&key), &j, &rev, err);
	if (rc == 0)
		rc = 1;
	else if (rc > 0 && hf_json_is(hf_json_get(hf_json_root(j), "state"),
	    "taken"))
		/* Its place was not cleared any more. */
		rc = drop(st, "inbox.clear", w->key, err);
	else if (rc > 0) {
		w->unknown = !is_live(st, hf_json_root(j));
		rc = w->unknown;
	}
	hf_json_free(j);
	hf_buf_release(&key);
	return rc;
}

struct look { struct hf_store *st; struct hf_inbox *in; size_t cap; };

static int
look_at(const char *key, struct hf_str val, const struct hf_rev *rev,
    const struct hf_err *why, void *arg, struct hf_err *err)
{
	struct look *l = arg;
	struct hf_waiting w = { .rev = *rev };
	const struct hf_jval *v;
	struct hf_err bad;
	int64_t from;
	int rc;

	if (why != NULL) {
		hf_warn_err(why);
		return 0;
	}
	w.json = hf_json_parse(val, HF_JSON_RAW, NULL, NULL, &bad);
	v = hf_json_root(w.json);
	w.text = hf_json_get_str(v, "text");
	w.at = hf_clock_parse(hf_json_get_str(v, "at"));
	if (hf_json_int(hf_json_get(v, "handed"), &from) && from > 0 &&
	    (size_t)from < w.text.n)
		w.text = hf_strn(w.text.s + from, w.text.n - (size_t)from);
	w.key = hf_strdup(key);
	if (w.text.n == 0) {
		hf_warn("'%s' is no message", key);
		rc = 0;
	} else
		rc = judge(l->st, &w, err);
	if (rc <= 0) {
		waiting_release(&w);
		return rc;
	}
	if (l->in->n == HF_INBOX_MAX) {
		l->in->more = true;
		waiting_release(&w);
		return 1;
	}
	if (l->in->n == l->cap) {
		l->cap = l->cap > 0 ? l->cap * 2 : 16;
		l->in->w = hf_reallocarray(l->in->w, l->cap, sizeof(w));
	}
	l->in->w[l->in->n++] = w;
	return 0;
}

static int
by_time(const void *a, const void *b)
{
	const struct hf_waiting *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return strcmp(x->key, y->key);
}

int
hf_inbox_look(struct hf_store *st, const struct hf_main *m,
    struct hf_inbox *out, struct hf_err *err)
{
	struct hf_inbox in = { NULL, 0, false };
	struct look l = { st, &in, 0 };
	struct hf_buf prefix = HF_BUF_INIT;
	int rc = drain_ancestors(st, m, err);

	key_of(&prefix, "inbox", m->agent, m->id, NULL);
	if (rc == 0)
		rc = hf_store_each(st, hf_buf_cstr(&prefix), look_at, &l,
		    err);
	hf_buf_release(&prefix);
	if (rc < 0) {
		hf_inbox_release(&in);
		return -1;
	}
	if (in.n > 1)
		qsort(in.w, in.n, sizeof(in.w[0]), by_time);
	*out = in;
	return 0;
}

/* ---- handing over ---- */

static void
taken_key(struct hf_buf *out, const struct hf_waiting *w)
{
	key_of(out, "taken", NULL, NULL, relay_of(w));
}

/* Whose end nobody knows: 0 it may be claimed once more, 1 another process
 * is at it by now, -1. */
static int
old_claim(struct hf_store *st, const char *key, struct hf_rev *rev,
    struct hf_err *err)
{
	struct hf_json *j;
	int rc = load(st, key, &j, rev, err);

	if (rc > 0)
		rc = is_live(st, hf_json_root(j));
	hf_json_free(j);
	return rc;
}

/* 1 it is ours, 0 another was faster. */
static int
claim_one(struct hf_store *st, const struct hf_main *m, struct hf_waiting *w,
    struct hf_err *err)
{
	struct hf_buf key = HF_BUF_INIT, val = HF_BUF_INIT;
	struct hf_rev rev = { "" };
	int rc = 0;

	taken_key(&key, w);
	if (w->unknown)
		rc = old_claim(st, hf_buf_cstr(&key), &rev, err);
	if (rc != 0) {
		rc = rc < 0 ? -1 : 0;
	} else if (lease_value(&val, st, m->agent, m->id, "handing-over",
	    err) < 0 || hf_attempt_step("inbox.claim", err) < 0) {
		rc = -1;
	} else if (hf_store_put(st, hf_buf_cstr(&key), hf_buf_view(&val),
	    &rev, NULL, err) == 0) {
		rc = 1;
	} else if (err->code != HF_E_CHANGED) {
		rc = -1;
	}
	hf_buf_release(&key);
	hf_buf_release(&val);
	return rc;
}

/* The beginning that fits, to the end of a line if there is one. */
static size_t
cut(struct hf_str text, size_t max)
{
	size_t n = hf_utf8_cut(text, max), k;

	for (k = n; k > n / 2; k--)
		if (text.s[k - 1] == '\n')
			return k;
	return n > 0 ? n : text.n;
}

int
hf_inbox_claim(struct hf_store *st, const struct hf_main *m, size_t max,
    bool unknown, struct hf_inbox *out, struct hf_err *err)
{
	struct hf_inbox in;
	struct hf_err ignored;
	size_t kept = 0, used = 0;
	int rc = hf_inbox_look(st, m, &in, err);

	if (rc < 0)
		return -1;
	for (size_t i = 0; i < in.n; i++) {
		struct hf_waiting *w = &in.w[i];

		if (rc < 0 || (w->unknown && !unknown) ||
		    (kept > 0 && used + w->text.n > max)) {
			in.more = in.more || !w->unknown || unknown;
			waiting_release(w);
			continue;
		}
		rc = claim_one(st, m, w, err);
		if (rc <= 0) {
			waiting_release(w);
			continue;
		}
		w->claimed = true;
		w->part = w->text;
		if (w->part.n > max)
			w->part.n = cut(w->text, max);
		used += w->part.n;
		in.w[kept++] = *w;
		rc = 0;
	}
	in.n = kept;
	if (rc < 0) {
		hf_inbox_undo(st, &in, &ignored);
		hf_inbox_release(&in);
		return -1;
	}
	*out = in;
	return 0;
}

/* The rest of a cut message waits on, from where it was cut. */
static int
keep_rest(struct hf_store *st, const struct hf_waiting *w,
    struct hf_err *err)
{
	const struct hf_jval *v = hf_json_root(w->json);
	struct hf_str whole = hf_json_get_str(v, "text");
	struct hf_buf val = HF_BUF_INIT, key = HF_BUF_INIT;
	struct hf_jtree *t = hf_jtree_new();
	struct hf_jnode *o = hf_jtree_copy(t, v);
	int rc = -1;

	hf_jset_int(t, o, "handed",
	    (int64_t)(w->part.s + w->part.n - whole.s));
	written(&val, t, o);
	taken_key(&key, w);
	if (hf_attempt_step("inbox.rest", err) == 0 &&
	    hf_store_put(st, w->key, hf_buf_view(&val), &w->rev, NULL,
	    err) == 0)
		rc = drop(st, "inbox.release", hf_buf_cstr(&key), err);
	hf_buf_release(&key);
	hf_buf_release(&val);
	return rc;
}

static int
done_one(struct hf_store *st, const struct hf_waiting *w, struct hf_err *err)
{
	const struct hf_jval *to = hf_json_get(hf_json_root(w->json), "to");
	struct hf_buf val = HF_BUF_INIT, key = HF_BUF_INIT;
	struct hf_jtree *t;
	struct hf_jnode *o;
	struct hf_rev rev;
	int rc;

	if (w->part.n < w->text.n)
		return keep_rest(st, w, err);
	taken_key(&key, w);
	rc = hf_store_get(st, hf_buf_cstr(&key), NULL, &rev, err);
	if (rc >= 0) {
		t = hf_jtree_new();
		o = hf_jtree_obj(t);
		hf_jset_int(t, o, "v", 1);
		hf_jset_cstr(t, o, "state", "taken");
		set_time(t, o, "at");
		/* So that its journal can be pruned with it. */
		hf_jset(t, o, "to", hf_jtree_copy(t, to));
		written(&val, t, o);
		rc = hf_attempt_step("inbox.taken", err) < 0 ||
		    hf_store_put(st, hf_buf_cstr(&key), hf_buf_view(&val),
		    &rev, NULL, err) < 0 ? -1 :
		    drop(st, "inbox.clear", w->key, err);
	}
	hf_buf_release(&val);
	hf_buf_release(&key);
	return rc;
}

static int
undo_one(struct hf_store *st, const struct hf_waiting *w, struct hf_err *err)
{
	struct hf_buf key = HF_BUF_INIT;
	int rc;

	taken_key(&key, w);
	rc = drop(st, "inbox.release", hf_buf_cstr(&key), err);
	hf_buf_release(&key);
	return rc;
}

/* Each one is tried: the first error is told. */
static int
each_claimed(struct hf_store *st, struct hf_inbox *in,
    int (*does)(struct hf_store *st, const struct hf_waiting *w,
    struct hf_err *err), struct hf_err *err)
{
	struct hf_err why;
	int rc = 0;

	for (size_t i = 0; i < in->n; i++) {
		if (!in->w[i].claimed)
			continue;
		if (does(st, &in->w[i], &why) == 0) {
			in->w[i].claimed = false;
		} else if (rc == 0) {
			*err = why;
			rc = -1;
		}
	}
	return rc;
}

int
hf_inbox_done(struct hf_store *st, struct hf_inbox *in, struct hf_err *err)
{
	return each_claimed(st, in, done_one, err);
}

int
hf_inbox_undo(struct hf_store *st, struct hf_inbox *in, struct hf_err *err)
{
	return each_claimed(st, in, undo_one, err);
}

/* ---- showing ---- */

static struct hf_str
first_id(const struct hf_jval *v)
{
	const struct hf_jval *id = hf_json_get(v, "id");

	return hf_json_type(id) == HF_J_STR ? hf_json_str(id) :
	    hf_json_str(hf_json_elem(id, 0));
}

void
hf_inbox_text(struct hf_buf *out, const struct hf_inbox *in)
{
	const struct hf_jval *v;
	struct hf_str sender;

	for (size_t i = 0; i < in->n; i++) {
		v = hf_json_root(in->w[i].json);
		sender = hf_json_get_str(v, "from");
		hf_buf_puts(out, i > 0 ? "\n" : "");
		if (hf_json_true(hf_json_get(v, "late")))
			hf_buf_puts(out, "Arrived after the brief; may have "
			    "been acted on");
		else
			hf_buf_puts(out, "Message for the previous session");
		if (sender.n > 0) {
			hf_buf_puts(out, " from ");
			hf_text_safe(out, sender, false);
		}
		hf_buf_puts(out, in->w[i].part.n < in->w[i].text.n ?
		    " (its beginning; the rest comes next):\n" : ":\n");
		hf_buf_str(out, in->w[i].part);
		hf_buf_putc(out, '\n');
	}
}

void
hf_inbox_line(struct hf_buf *out, const struct hf_waiting *w)
{
	const struct hf_jval *v = hf_json_root(w->json);
	struct hf_jtree *t = hf_jtree_new();
	struct hf_jnode *o = hf_jtree_obj(t), *m = hf_jtree_obj(t);
	const struct hf_jval *id = hf_json_get(v, "id");

	hf_jset_int(t, o, "v", 1);
	if (hf_json_size(id) == 1)
		hf_jset_str(t, m, "id", first_id(v));
	else
		hf_jset(t, m, "id", hf_jtree_copy(t, id));
	hf_jset(t, m, "to", hf_jtree_copy(t, hf_json_get(v, "to")));
	if (hf_json_get(v, "from") != NULL)
		hf_jset_str(t, m, "from", hf_json_get_str(v, "from"));
	hf_jset_str(t, m, "at", hf_json_get_str(v, "at"));
	hf_jset_bool(t, m, "late", hf_json_true(hf_json_get(v, "late")));
	hf_jset_str(t, m, "text", w->text);
	hf_jset(t, o, "message", m);
	hf_jset_cstr(t, o, "relay", relay_of(w));
	hf_jset_cstr(t, o, "state", w->unknown ? "unknown" : "waiting");
	hf_jtree_write(out, o, false);
	hf_buf_putc(out, '\n');
	hf_jtree_free(t);
}

/* ---- recovering ---- */

struct recover { struct hf_store *st; size_t *unknown; };

/* A delivery whose process has ended: did the message arrive? What it put
 * into the inbox of one that moved on meanwhile goes after it. */
static int
arrived(struct recover *r, const char *relay, const char *agent,
    const char *id, struct hf_err *err)
{
	struct hf_buf key = HF_BUF_INIT;
	struct hf_main end;
	int rc;

	key_of(&key, "taken", NULL, NULL, relay);
	rc = is_there(r->st, hf_buf_cstr(&key), err);
	if (rc != 0)
		goto out;
	rc = hf_main_load(r->st, agent, id, &end, err);
	if (rc >= 0 && hf_route_follow(r->st, &end, NULL, err) == 0 &&
	    drain_ancestors(r->st, &end, err) == 0) {
		key_of(&key, "inbox", end.agent, end.id, relay);
		rc = is_there(r->st, hf_buf_cstr(&key), err);
	} else {
		rc = -1;
	}
	hf_main_release(&end);
out:
	hf_buf_release(&key);
	return rc;
}

/* The journal says that it is done; one that was never written, nothing. */
static int
mark_done(struct recover *r, const char *key, struct hf_err *err)
{
	struct hf_buf val = HF_BUF_INIT;
	struct hf_jtree *t;
	struct hf_jnode *o;
	struct hf_json *j;
	struct hf_rev rev;
	int rc = load(r->st, key, &j, &rev, err);

	if (rc > 0 && j != NULL) {
		t = hf_jtree_new();
		o = hf_jtree_copy(t, hf_json_root(j));
		hf_jset_cstr(t, o, "state", "done");
		written(&val, t, o);
		rc = hf_store_put(r->st, key, hf_buf_view(&val), &rev, NULL,
		    err) == 0 || err->code == HF_E_CHANGED ? 0 : -1;
	}
	hf_json_free(j);
	hf_buf_release(&val);
	return rc < 0 ? -1 : 0;
}

static int
settle(struct recover *r, const char *relay, const char *agent,
    const char *id, struct hf_err *err)
{
	struct hf_buf journal = HF_BUF_INIT;
	int rc;

	key_of(&journal, "journal", agent, id, relay);
	rc = is_there(r->st, hf_buf_cstr(&journal), err);
	/* Before it was journalled nothing was promised to anybody. */
	if (rc > 0 && (rc = arrived(r, relay, agent, id, err)) > 0) {
		rc = mark_done(r, hf_buf_cstr(&journal), err);
	} else if (rc == 0 && is_there(r->st, hf_buf_cstr(&journal),
	    err) > 0) {
		++*r->unknown;
		hf_warn("a message to '%s' was not delivered: its sender was "
		    "killed; it stands in '%s'", id, hf_buf_cstr(&journal));
		hf_event_session("relay-unknown", agent, id, relay);
	}
	hf_buf_release(&journal);
	return rc;
}

static int
recover_one(const char *key, struct hf_str val, const struct hf_rev *rev,
    const struct hf_err *why, void *arg, struct hf_err *err)
{
	struct recover *r = arg;
	const struct hf_jval *v, *s;
	struct hf_json *j;
	struct hf_err bad;
	char *agent = NULL, *id = NULL;
	int rc = 0;

	(void)rev;
	if (why != NULL) {
		hf_warn_err(why);
		return 0;
	}
	j = hf_json_parse(val, HF_JSON_RAW, NULL, NULL, &bad);
	v = hf_json_root(j);
	s = hf_json_get(v, "session");
	if (is_live(r->st, v))
		goto out;
	agent = own(hf_json_get_str(s, "agent"));
	id = own(hf_json_get_str(s, "id"));
	if (agent[0] != '\0' && id[0] != '\0')
		rc = settle(r, strrchr(key, '/') + 1, agent, id, err);
	if (rc == 0)
		rc = drop(r->st, "relay.recover", key, err);
out:
	free(agent);
	free(id);
	hf_json_free(j);
	return rc;
}

int
hf_inbox_recover(struct hf_store *st, size_t *unknown, struct hf_err *err)
{
	struct recover r = { st, unknown };

	*unknown = 0;
	return hf_store_each(st, "relays", recover_one, &r, err);
}

/* ---- forgetting ---- */

struct prune { struct hf_store *st; int64_t before; size_t *removed; };

static int
prune_one(const char *key, struct hf_str val, const struct hf_rev *rev,
    const struct hf_err *why, void *arg, struct hf_err *err)
{
	struct prune *p = arg;
	const struct hf_jval *v, *to;
	struct hf_buf journal = HF_BUF_INIT;
	struct hf_json *j;
	struct hf_err bad;
	char *agent, *id;
	int64_t at;
	int rc = 0;

	if (why != NULL)
		return hf_sig_check(err);
	j = hf_json_parse(val, HF_JSON_RAW, NULL, NULL, &bad);
	v = hf_json_root(j);
	to = hf_json_get(v, "to");
	at = hf_clock_parse(hf_json_get_str(v, "at"));
	agent = own(hf_json_get_str(to, "agent"));
	id = own(hf_json_get_str(to, "id"));
	if (at >= 0 && at < p->before && agent[0] != '\0' &&
	    hf_json_is(hf_json_get(v, "state"), "taken")) {
		key_of(&journal, "journal", agent, id,
		    strrchr(key, '/') + 1);
		rc = hf_store_remove(p->st, hf_buf_cstr(&journal), NULL, err);
		if (rc >= 0)
			rc = hf_store_remove(p->st, key, rev, err);
		if (rc > 0)
			++*p->removed;
		rc = rc < 0 ? -1 : hf_sig_check(err);
	}
	free(agent);
	free(id);
	hf_json_free(j);
	hf_buf_release(&journal);
	return rc;
}

int
hf_inbox_prune(struct hf_store *st, int64_t days, size_t *removed,
    struct hf_err *err)
{
	struct prune p = { st, hf_clock_now() - days * 24 * 3600 * 1000,
		removed };

	*removed = 0;
	return hf_store_each(st, "taken", prune_one, &p, err);
}
