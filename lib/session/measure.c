#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "session/capacity.h"
#include "session/cursor.h"

enum { TAIL = 4096 };

/* ---- the file ---- */

/* The hash of the last bytes: a file that was written anew at the same
 * size, within the clock's grain, still differs there. */
static int
tail_of(int fd, const char *path, uint64_t size, char out[HF_DIGEST_LEN],
    struct hf_err *err)
{
	char bytes[TAIL];
	uint64_t want = size < TAIL ? size : TAIL;
	ssize_t n = hf_io_pread(fd, bytes, (size_t)want,
	    (off_t)(size - want));

	if (n < 0)
		return hf_err_sys(err, errno, "cannot read '%s'", path);
	memcpy(out, "sha256:", 7);
	hf_sha256_hex(hf_strn(bytes, (size_t)n), out + 7);
	return 0;
}

static int
file_of(int fd, const char *path, struct hf_file_id *out, struct hf_err *err)
{
	struct stat sb;

	if (fstat(fd, &sb) < 0)
		return hf_err_sys(err, errno, "cannot read '%s'", path);
	if (!S_ISREG(sb.st_mode))
		return hf_err_set(err, HF_E_NOT_A_SESSION,
		    "'%s' is no regular file", path);
	memset(out, 0, sizeof(*out));
	out->dev = (uint64_t)sb.st_dev;
	out->ino = (uint64_t)sb.st_ino;
	out->size = (uint64_t)sb.st_size;
	out->mtime_ns = (int64_t)sb.st_mtim.tv_sec * 1000000000 +
	    sb.st_mtim.tv_nsec;
	return tail_of(fd, path, out->size, out->tail, err);
}

int
hf_measure_file(const char *path, struct hf_file_id *out, struct hf_err *err)
{
	const struct hf_agent *agent = hf_agent_of_rows(path);
	int fd, rc;

	if (agent != NULL)
		return agent->rows->identify(path, out, err);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return hf_err_open(err, errno, "cannot open '%s'", path);
	rc = file_of(fd, path, out, err);
	close(fd);
	return rc;
}

bool
hf_file_id_same(const struct hf_file_id *a, const struct hf_file_id *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	    a->mtime_ns == b->mtime_ns && strcmp(a->tail, b->tail) == 0;
}

static bool
in_store(const struct hf_session *s)
{
	char *root, *store = NULL, *path = NULL, *file;
	bool in = false;

	if (s->path == NULL || s->agent == NULL || s->agent->root == NULL ||
	    (root = s->agent->root(NULL)) == NULL)
		return false;
	store = realpath(root, NULL);
	file = hf_session_file(s->path);
	path = realpath(file, NULL);
	if (store != NULL && path != NULL) {
		in = strncmp(path, store, strlen(store)) == 0 &&
		    path[strlen(store)] == '/';
	}
	free(path);
	free(file);
	free(store);
	free(root);
	return in;
}

/* ---- one measuring ---- */

struct measuring {
	struct hf_session *session;
	struct hf_measure how;
	struct hf_source own;		/* if it was opened here */
	struct hf_source *src;
	struct hf_fold fold;
	struct hf_scan scan;
	struct hf_branch branch;
	struct hf_figures figures;
	struct hf_reread again;
	struct hf_activity open;
	uint64_t limit;			/* bytes of the file */
	struct hf_cursor cursor;	/* what is known from before */
	bool based;			/* the branch goes on there */
	struct hf_cursor_end *end;	/* for the next one; NULL: none is
					 * wanted */
};

/*
 * What follows the last real usage is estimated and added; without any
 * usage everything is. What a compaction left unknown stays unknown.
 */
static int
tokens(struct measuring *me, struct hf_metrics *m, struct hf_err *err)
{
	const struct hf_figures *g = &me->figures;
	const struct hf_agent *agent = me->session->agent;
	const struct hf_row *row;
	const struct hf_node *n;
	int64_t sum = g->context > 0 ? g->context : 0, more;
	uint32_t i;

	m->tokens_from = g->from;
	for (i = g->estimate; i != HF_NONE && agent->estimate != NULL;
	    i = hf_branch_next(&me->fold, i)) {
		n = hf_fold_node(&me->fold, i);
		if (!(n->flags & HF_ROW_ESTIMATE) ||
		    !hf_fold_main(&me->fold, n->flags))
			continue;
		if (hf_reread(&me->again, hf_node_ref(n), &row, err) < 0)
			return -1;
		more = agent->estimate(row);
		if (more > 0 && __builtin_add_overflow(sum, more, &sum))
			sum = INT64_MAX;
	}
	if (g->context <= 0 && sum > 0)
		m->tokens_from = "estimate";
	m->tokens = sum;
	return 0;
}

static int
fill(struct measuring *me, struct hf_metrics *m, struct hf_err *err)
{
	const struct hf_figures *g = &me->figures;
	const struct hf_fold *f = &me->fold;

	m->turns = g->turns;
	m->compactions = g->compactions;
	m->micro = g->micro;
	m->messages = g->messages;
	m->seeded = g->seeded;
	hf_fold_total(f, &m->total, &m->calls);
	m->rows = me->src->rows;
	m->bad = me->src->bad;
	m->mended = me->src->mended;
	m->duplicates = f->duplicates;
	m->sidechain = me->session->subagent ? 0 : f->sidechain;
	m->inherited = f->inherited;
	m->errors = f->errors;
	m->seq = f->seq;
	hf_fold_digest(f, m->digest);
	hf_capacity(f, f->window > 0 ? f->window : me->scan.window, &me->how,
	    m);
	if (tokens(me, m, err) < 0)
		return -1;
	return hf_activity_open(f, g, &me->again, &me->open, err);
}

static void
init(struct hf_metrics *m)
{
	memset(m, 0, sizeof(*m));
	m->quiet = -1;
	m->tokens_from = "none";
	m->capacity_from = "unknown";
}

/*
 * What is to be measured. The file is identified first and read no further
 * than it was long by then, so that what is said of it and what was read are
 * the same bytes.
 */
static int
identify(struct measuring *me, struct hf_metrics *m, struct hf_err *err)
{
	struct hf_session *s = me->session;

	me->limit = me->how.limit > 0 ? me->how.limit : UINT64_MAX;
	if (s->path == NULL)
		return 0;
	if (hf_measure_file(s->path, &m->file, err) < 0)
		return -1;
	s->size = (int64_t)m->file.size;
	s->mtime = m->file.mtime_ns / 1000000;
	if (m->file.size < me->limit)
		me->limit = m->file.size;
	return 0;
}

static int
start(struct measuring *me, struct hf_source *src, struct hf_err *err)
{
	me->src = src;
	if (src == NULL) {
		if (hf_source_open(&me->own, me->session, me->limit, err) < 0)
			return -1;
		me->src = &me->own;
	}
	me->src->strict = me->how.strict;
	me->src->explain = me->how.explain;
	/* Nobody looks further into a string here. */
	me->src->skim = true;
	return 0;
}

static void
stop(struct measuring *me)
{
	hf_activity_release(&me->open);
	hf_fold_release(&me->fold);
	hf_fold_scan_release(&me->scan);
	if (me->src == &me->own)
		hf_source_close(&me->own);
	me->src = NULL;
}

/* The branch and what it says, once all rows are in. */
static void
conclude(struct measuring *me, struct hf_path *path)
{
	struct hf_fold *f = &me->fold;

	if (me->end != NULL)
		hf_cursor_prepare(f, me->end);
	hf_branch_find(f, &me->branch);
	me->based = f->based && me->branch.first == HF_NODE_BASE;
	hf_figures_count(f, &me->branch, me->based ? &me->cursor.base : NULL,
	    &me->figures, me->end != NULL ? me->end->at : NULL,
	    me->end != NULL ? me->end->from : 0);
	me->session->prompted = f->prompted;
	if (path != NULL)
		hf_figures_path(f, &me->branch, &me->figures, path);
}

/*
 * What a glance at the file, or an earlier measuring, told of the session
 * may be older than what its rows say: what the path tells stays.
 */
static void
forget(struct hf_session *s)
{
	struct hf_session new;
	bool subagent = s->subagent;

	hf_session_init(&new);
	new.agent = s->agent;
	hf_session_set(&new.id, hf_str(s->id));
	hf_session_set(&new.path, hf_str(s->path));
	new.size = s->size;
	new.mtime = s->mtime;
	hf_session_release(s);
	*s = new;
	if (s->path != NULL && s->agent->by_path != NULL)
		s->agent->by_path(s);
	s->subagent = s->subagent || subagent;
}

/* Everything from the beginning; the scan and the source live on. */
static int
read_all(struct measuring *me, struct hf_source *src, struct hf_path *path,
    struct hf_err *err)
{
	if (start(me, src, err) < 0)
		return -1;
	forget(me->session);
	hf_fold_init(&me->fold, me->session, me->src);
	hf_fold_scan_init(&me->fold, &me->scan);
	if (hf_fold_run(&me->fold, &me->scan, me->src, err) < 0)
		return -1;
	conclude(me, path);
	return 0;
}

/* Does the branch, or what may be open on it, lead to what was left out? */
static bool
is_lost(const struct measuring *me)
{
	const struct hf_fold *f = &me->fold;

	return f->lost || (f->based && (me->branch.first == HF_NODE_OLD ||
	    (me->figures.group != HF_NONE &&
	    me->figures.group <= HF_NODE_BASE)));
}

/* What the path tells may have changed since: another name, another file of
 * the same session. False: it leads elsewhere now. */
static bool
by_path(struct hf_session *s)
{
	char *was = hf_strdup(s->path);
	bool same;

	if (s->agent->by_path != NULL)
		s->agent->by_path(s);
	same = strcmp(s->path, was) == 0;
	free(was);
	return same;
}

/* Only what was appended. 1; 0 when that does not do; -1. */
static int
read_on(struct measuring *me, struct hf_err *err)
{
	struct hf_session *s = me->session;

	if (!me->cursor.resumes || start(me, NULL, err) < 0 ||
	    !hf_cursor_resume(&me->cursor, me->src, s))
		return 0;
	hf_fold_init(&me->fold, s, me->src);
	if (!hf_cursor_load(&me->cursor, &me->fold, &me->scan))
		return 0;
	if (hf_fold_run(&me->fold, &me->scan, me->src, err) < 0)
		return err->code == HF_E_CANCELLED ? -1 : 0;
	if (me->fold.lost)
		return 0;
	conclude(me, NULL);
	return !is_lost(me) && by_path(s);
}

/* What depends on the clock and on processes. */
static void
say(struct measuring *me, const struct hf_activity *open, struct hf_metrics *m)
{
	me->how.stale_check = me->how.stale_check &&
	    in_store(me->session);
	hf_activity(&me->fold, open, &me->how, m);
}

/* The file is the same, and so is all that it says. */
static void
repeat(struct measuring *me, struct hf_metrics *m)
{
	const struct hf_cursor *c = &me->cursor;
	struct hf_file_id file = m->file;

	*m = c->m;
	m->quiet = -1;
	m->file = file;
	hf_fold_init(&me->fold, me->session, NULL);
	me->fold.peak = c->peak;
	me->fold.time = c->time;
	me->fold.queue = c->queue;
	hf_capacity(&me->fold, c->window, &me->how, m);
	m->cursor = hf_strndup(me->how.cursor.s, me->how.cursor.n);
	say(me, &c->open, m);
}

/* Fills m, once all rows are in. */
static int
finish(struct measuring *me, struct hf_metrics *m, struct hf_err *err)
{
	struct hf_cursor_in in = { &me->fold, &me->branch,
		&me->figures, me->end, me->based ? &me->cursor.base : NULL,
		me->src, m, &me->open, NULL, me->scan.window };
	size_t n = me->session->agent->own_size;
	void *own;
	int rc;

	/* Reading rows again changes what the agent keeps. */
	in.own = own = hf_malloc(n);
	if (n > 0)
		memcpy(own, me->scan.own, n);
	hf_reread_init(&me->again, me->src, &me->scan);
	rc = fill(me, m, err);
	hf_reread_release(&me->again);
	if (rc == 0 && me->end != NULL)
		m->cursor = hf_cursor_write(&in);
	free(own);
	if (rc == 0)
		say(me, &me->open, m);
	return rc;
}

/* By the cursor of an earlier measuring. 1, 0 it is of no use, -1. */
static int
by_cursor(struct measuring *me, struct hf_metrics *m, struct hf_err *err)
{
	int rc;

	if (!hf_cursor_open(&me->cursor, me->how.cursor, me->session) ||
	    !by_path(me->session))
		return 0;
	if (identify(me, m, err) < 0)
		return -1;
	if (hf_file_id_same(&me->cursor.file, &m->file)) {
		repeat(me, m);
		return 1;
	}
	/* Touched, or changed in its place. */
	/* A database is not appended to: any row may have changed. */
	if (hf_agent_of_rows(me->session->path) != NULL ||
	    me->cursor.file.size >= m->file.size ||
	    me->cursor.file.dev != m->file.dev ||
	    me->cursor.file.ino != m->file.ino)
		return 0;
	rc = read_on(me, err);
	return rc > 0 && finish(me, m, err) < 0 ? 0 : rc;
}

/* Without the cursor. known: whose session it is was told by the caller. */
static int
afresh(struct measuring *me, struct hf_source *src, bool known,
    struct hf_metrics *m, struct hf_path *path, struct hf_err *err)
{
	struct hf_session *s = me->session;
	char *file;
	int rc = 0;

	if (!known) {
		file = hf_strdup(s->path);
		hf_session_release(s);
		rc = hf_session_peek(file, s, err);
		free(file);
	}
	if (rc < 0 || identify(me, m, err) < 0)
		return -1;
	if (read_all(me, src, path, err) < 0)
		return -1;
	return finish(me, m, err);
}

int
hf_measure(struct hf_session *s, struct hf_source *src,
    const struct hf_measure *how, struct hf_metrics *m, struct hf_path *path,
    struct hf_err *err)
{
	struct measuring me = { .session = s, .how = *how };
	struct hf_metrics got;
	struct hf_path p = { NULL, 0, 0, 0 };
	bool known = s->agent != NULL || src != NULL;
	int rc = 0;

	init(&got);
	if (m != NULL && src == NULL && how->keep && s->path != NULL)
		me.end = hf_calloc(1, sizeof(*me.end));
	if (path == NULL && src == NULL && s->path != NULL &&
	    how->cursor.n > 0 && !how->strict && !how->explain)
		rc = by_cursor(&me, &got, err);
	if (rc == 0) {
		stop(&me);
		hf_metrics_release(&got);
		init(&got);
		rc = afresh(&me, src, known, &got, path != NULL ? &p : NULL,
		    err);
	}
	if (rc >= 0 && m != NULL) {
		*m = got;
		init(&got);
	}
	if (rc >= 0 && path != NULL) {
		*path = p;
		p.row = NULL;
	}
	hf_path_release(&p);
	hf_metrics_release(&got);
	hf_cursor_release(&me.cursor);
	free(me.end);
	stop(&me);
	return rc < 0 ? -1 : 0;
}
