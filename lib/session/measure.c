#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "session/activity.h"
#include "session/capacity.h"

enum { TAIL = 4096, CUT = 1024 };

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

bool
hf_measure_in_store(const struct hf_session *s)
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
	const struct hf_measure *how;
	struct hf_source own;		/* if it was opened here */
	struct hf_source *src;
	struct hf_fold fold;
	struct hf_scan scan;
	struct hf_branch branch;
	struct hf_figures figures;
	struct hf_reread again;
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
	hf_capacity(f, f->window > 0 ? f->window : me->scan.window, me->how,
	    m);
	if (tokens(me, m, err) < 0)
		return -1;
	return hf_activity(f, g, &me->again, me->how, m, err);
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
 * Opens what is to be measured. The file is identified first and read no
 * further than it was long by then, so that what is said of it and what
 * was read are the same bytes.
 */
static int
start(struct measuring *me, struct hf_source *src, struct hf_metrics *m,
    struct hf_err *err)
{
	struct hf_session *s = me->session;
	struct hf_file_id id;
	uint64_t limit = me->how->limit > 0 ? me->how->limit : UINT64_MAX;

	if (s->agent == NULL && src == NULL &&
	    hf_session_peek(s->path, s, err) < 0)
		return -1;
	if (s->path != NULL) {
		if (hf_measure_file(s->path, &id, err) < 0)
			return -1;
		if (m != NULL)
			m->file = id;
		s->size = (int64_t)id.size;
		s->mtime = id.mtime_ns / 1000000;
		if (id.size < limit)
			limit = id.size;
	}
	me->src = src;
	if (src == NULL) {
		if (hf_source_open(&me->own, s, limit, err) < 0)
			return -1;
		me->src = &me->own;
	}
	me->src->strict = me->how->strict;
	me->src->explain = me->how->explain;
	/* Nobody looks further into a string here, but for a path. */
	me->src->cut = CUT;
	return 0;
}

/* The fold and the branch; the scan and the source live on. */
static int
read_all(struct measuring *me, struct hf_path *path, struct hf_err *err)
{
	hf_fold_init(&me->fold, me->session, me->src);
	if (hf_fold_run(&me->fold, &me->scan, me->src, err) < 0)
		return -1;
	hf_branch_find(&me->fold, &me->branch);
	hf_figures_count(&me->fold, &me->branch, &me->figures);
	me->session->prompted = me->fold.prompted;
	if (path != NULL)
		hf_figures_path(&me->fold, &me->branch, &me->figures, path);
	return 0;
}

int
hf_measure(struct hf_session *s, struct hf_source *src,
    const struct hf_measure *how, struct hf_metrics *m, struct hf_path *path,
    struct hf_err *err)
{
	struct measuring me = { .session = s, .how = how };
	struct hf_metrics got;
	struct hf_path p = { NULL, 0, 0, 0 };
	int rc = -1;

	init(&got);
	if (start(&me, src, &got, err) < 0 ||
	    read_all(&me, path != NULL ? &p : NULL, err) < 0)
		goto out;
	if (m != NULL) {
		hf_reread_init(&me.again, me.src, &me.scan);
		rc = fill(&me, &got, err);
		hf_reread_release(&me.again);
		if (rc < 0)
			goto out;
		*m = got;
		init(&got);
	}
	if (path != NULL)
		*path = p;
	p.row = NULL;
	rc = 0;
out:
	hf_path_release(&p);
	hf_metrics_release(&got);
	hf_fold_release(&me.fold);
	hf_fold_scan_release(&me.scan);
	if (me.src == &me.own)
		hf_source_close(&me.own);
	return rc;
}
