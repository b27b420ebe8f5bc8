#include "state/route.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hmac.h"
#include "base/mem.h"
#include "base/sig.h"

/* ---- following ---- */

/* Who has been seen: hashes for the question, names for the answer. */
struct visited {
	uint64_t *hash;
	char **name;
	size_t n, cap;
};

static void
visited_release(struct visited *v)
{
	for (size_t i = 0; i < v->n; i++)
		free(v->name[i]);
	free(v->name);
	free(v->hash);
}

/* Where it was seen before, SIZE_MAX if it is new (and is added). */
static size_t
visit(struct visited *v, const struct hf_main *m)
{
	struct hf_buf name = HF_BUF_INIT;
	uint64_t h;

	hf_store_name(&name, m->agent, m->id);
	h = hf_hash(hf_buf_view(&name));
	for (size_t i = 0; i < v->n; i++)
		if (v->hash[i] == h &&
		    hf_str_is(hf_buf_view(&name), v->name[i])) {
			hf_buf_release(&name);
			return i;
		}
	if (v->n == v->cap) {
		v->cap = v->cap > 0 ? v->cap * 2 : 16;
		v->hash = hf_reallocarray(v->hash, v->cap, sizeof(*v->hash));
		v->name = hf_reallocarray(v->name, v->cap, sizeof(*v->name));
	}
	v->hash[v->n] = h;
	v->name[v->n++] = hf_buf_steal(&name);
	return SIZE_MAX;
}

static int
cycle(const struct visited *v, size_t from, struct hf_err *err)
{
	struct hf_buf all = HF_BUF_INIT;

	for (size_t i = from; i < v->n; i++) {
		hf_buf_puts(&all, v->name[i]);
		hf_buf_puts(&all, " -> ");
	}
	hf_buf_puts(&all, v->name[from]);
	hf_err_set(err, HF_E_CYCLE, "the routes go round in a circle: %s",
	    hf_buf_cstr(&all));
	hf_buf_release(&all);
	return -1;
}

/* The main that *m leads to, which *m then is. */
static int
hop(struct hf_store *st, struct hf_main *m, struct hf_err *err)
{
	struct hf_main next;
	int rc;

	if (strcmp(m->redirect.agent, HF_AGENT_ANY) == 0)
		rc = hf_main_lookup(st, m->redirect.id, &next, err);
	else
		rc = hf_main_load(st, m->redirect.agent, m->redirect.id,
		    &next, err);
	if (rc < 0) {
		hf_main_release(&next);
		return -1;
	}
	hf_main_release(m);
	*m = next;
	return 0;
}

int
hf_route_follow(struct hf_store *st, struct hf_main *m, size_t *hops,
    struct hf_err *err)
{
	struct visited v = { NULL, NULL, 0, 0 };
	size_t seen;
	int rc = 0;

	while (rc == 0 && m->redirect.id != NULL) {
		if ((seen = visit(&v, m)) != SIZE_MAX)
			rc = cycle(&v, seen, err);
		else if (v.n > HF_ROUTE_MAX)
			rc = hf_err_set(err, HF_E_OVERFLOW,
			    "the chain of routes has more than %d links",
			    (int)HF_ROUTE_MAX);
		else
			rc = hop(st, m, err);
	}
	if (hops != NULL)
		*hops = v.n;
	visited_release(&v);
	return rc;
}

int
hf_route_resolve(struct hf_store *st, const char *what, struct hf_main *m,
    struct hf_err *err)
{
	int rc = hf_main_lookup(st, what, m, err);

	if (rc > 0 && hf_route_follow(st, m, NULL, err) < 0)
		return -1;
	return rc;
}

/* ---- by hand ---- */

struct add {
	const char *agent, *id;		/* where to */
};

static int
set_route(struct hf_main *m, void *arg, struct hf_err *err)
{
	const struct add *a = arg;

	if (m->redirect.id != NULL) {
		if (strcmp(m->redirect.id, a->id) == 0 &&
		    strcmp(m->redirect.agent, a->agent) == 0)
			return 0;
		return hf_err_set(err, HF_E_CONFLICT,
		    "'%s' is routed to '%s' already", m->id, m->redirect.id);
	}
	hf_main_set_redirect(m, a->agent, a->id, NULL, hf_clock_now());
	/* An attempt that is under way must not commit on top of it. */
	hf_main_end_attempt(m);
	return 1;
}

/* So that the end of a route is somebody whom resolve knows. */
static int
make_known(struct hf_main *m, void *arg, struct hf_err *err)
{
	(void)arg, (void)err;
	return m->stored ? 0 : 1;
}

/* Under the lock. *from and *to are there. */
static int
add_locked(struct hf_store *st, struct hf_main *from, struct hf_main *to,
    struct hf_err *err)
{
	struct add a = { NULL, NULL };
	char *agent, *id;
	struct hf_main end, seen;
	int rc;

	if (strcmp(from->id, to->id) == 0 &&
	    strcmp(from->agent, to->agent) == 0)
		return hf_err_set(err, HF_E_CYCLE,
		    "'%s' cannot be routed to itself", from->id);
	agent = hf_strdup(to->agent);
	id = hf_strdup(to->id);
	rc = hf_main_load(st, agent, id, &end, err) < 0 ? -1 :
	    hf_route_follow(st, &end, NULL, err);
	if (rc == 0 && strcmp(end.id, from->id) == 0 &&
	    strcmp(end.agent, from->agent) == 0)
		rc = hf_err_set(err, HF_E_CYCLE,
		    "'%s' leads to '%s' already: the route would close a "
		    "circle", id, from->id);
	hf_main_release(&end);
	if (rc == 0) {
		rc = hf_main_update(st, agent, id, &seen, make_known, NULL,
		    err);
		hf_main_release(&seen);
	}
	if (rc == 0) {
		a = (struct add){ agent, id };
		rc = hf_main_update(st, from->agent, from->id, &seen,
		    set_route, &a, err);
		hf_main_release(&seen);
	}
	free(agent);
	free(id);
	return rc;
}

int
hf_route_add(struct hf_store *st, const char *from, const char *to,
    struct hf_err *err)
{
	struct hf_main a, b;
	int lock, rc;

	if (from[0] == '\0' || to[0] == '\0')
		return hf_err_set(err, HF_E_USAGE, "an id cannot be empty");
	/* Checking for a circle looks at many mains: one at a time. */
	lock = hf_store_lock(st, "routes", HF_STORE_WAIT_MS, err);
	if (lock < 0)
		return -1;
	rc = hf_main_lookup(st, from, &a, err);
	if (rc >= 0) {
		rc = hf_main_lookup(st, to, &b, err);
		if (rc >= 0)
			rc = add_locked(st, &a, &b, err);
		hf_main_release(&b);
	}
	hf_main_release(&a);
	hf_store_unlock(st, lock);
	return rc;
}

static int
clear_route(struct hf_main *m, void *arg, struct hf_err *err)
{
	bool *was = arg;

	(void)err;
	*was = m->redirect.id != NULL;
	if (!*was)
		return 0;
	hf_main_clear_redirect(m);
	hf_main_end_attempt(m);
	return 1;
}

int
hf_route_remove(struct hf_store *st, const char *from, struct hf_err *err)
{
	struct hf_main m, seen;
	bool was = false;
	int rc = hf_main_lookup(st, from, &m, err);

	if (rc > 0) {
		rc = hf_main_update(st, m.agent, m.id, &seen, clear_route,
		    &was, err);
		hf_main_release(&seen);
	}
	hf_main_release(&m);
	return rc < 0 ? -1 : was;
}

/* ---- all ---- */

struct each {
	struct hf_store *st;
	bool check;
	int (*cb)(const struct hf_main *m, const char *problem, void *arg,
	    struct hf_err *err);
	void *arg;
};

/* What is wrong with the chain that begins at a main; "" nothing. */
static int
problem_of(struct each *e, const struct hf_main *m, struct hf_err *why,
    struct hf_err *err)
{
	struct hf_main end;
	int rc = hf_main_load(e->st, m->agent, m->id, &end, why);

	if (rc >= 0)
		rc = hf_route_follow(e->st, &end, NULL, why);
	if (rc == 0 && !end.stored)
		rc = hf_err_set(why, HF_E_NOT_FOUND,
		    "'%s' leads to '%s', which nobody knows", m->id, end.id);
	hf_main_release(&end);
	if (rc < 0 && why->code == HF_E_CANCELLED) {
		*err = *why;
		return -1;
	}
	return 0;
}

static int
each_main(const char *key, struct hf_main *m, const struct hf_err *damage,
    void *arg, struct hf_err *err)
{
	struct each *e = arg;
	struct hf_err why = { HF_OK, "" };

	(void)key;
	if (m == NULL)
		return e->cb(NULL, damage->msg, e->arg, err);
	if (m->redirect.id == NULL)
		return 0;
	if (e->check && problem_of(e, m, &why, err) < 0)
		return -1;
	return e->cb(m, why.code != HF_OK ? why.msg : NULL, e->arg, err);
}

int
hf_route_each(struct hf_store *st, bool check,
    int (*cb)(const struct hf_main *m, const char *problem, void *arg,
    struct hf_err *err),
    void *arg, struct hf_err *err)
{
	struct each e = { st, check, cb, arg };

	return hf_main_each(st, each_main, &e, err);
}
