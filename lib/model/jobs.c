#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "model/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sig.h"

enum { AHEAD = 4, CHUNK = 64 << 10, TICK_MS = 200 };

/* A document between its coming and its going. */
struct slot {
	struct hf_buf line;		/* as it came, then as it goes */
	bool taken, done;
};

struct worker {
	pid_t pid;			/* 0: not started, or gone */
	int to, from;
	struct hf_buf got;
	size_t slot;			/* what it works on */
	bool busy;
};

struct pool {
	const struct hf_jobs *j;
	struct worker worker[HF_JOBS_MAX];
	/* A ring: those from head to tail came in this order. */
	struct slot *slot;
	size_t nslots, head, tail;
	struct hf_buf in;		/* read, not dealt out yet */
	size_t at;			/* what is before was dealt out */
	uint64_t lines;
	size_t finished;
	bool eof;
	int status;
};

/* ---- workers ---- */

static void
close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* The child: only its own two pipes are left to it. */
static void
be_worker(struct pool *p, int in, int out)
{
	struct hf_err err = { HF_OK, "" };
	size_t i;
	int rc;

	hf_sig_fork();
#ifdef __linux__
	/* A parent that is killed leaves nobody who pays for calls. */
	prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
#endif
	for (i = 0; i < p->j->jobs; i++) {
		close_fd(&p->worker[i].to);
		close_fd(&p->worker[i].from);
	}
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		_exit(HF_EX_SOFTWARE);
	close(in);
	close(out);
	rc = p->j->work(p->j->arg, &err);
	hf_sig_die();
	_exit(rc >= 0 ? rc : hf_code_status(err.code));
}

static int
start(struct pool *p, struct worker *w, struct hf_err *err)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 };

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 ||
	    (w->pid = fork()) < 0) {
		hf_err_sys(err, errno, "cannot start a worker");
		w->pid = 0;
		close_fd(&in[0]);
		close_fd(&in[1]);
		close_fd(&out[0]);
		close_fd(&out[1]);
		return -1;
	}
	if (w->pid == 0) {
		close(in[1]);
		close(out[0]);
		be_worker(p, in[0], out[1]);
	}
	close(in[0]);
	close(out[1]);
	w->to = in[1];
	w->from = out[0];
	return 0;
}

static void
reap(struct worker *w)
{
	int st;

	close_fd(&w->to);
	close_fd(&w->from);
	while (waitpid(w->pid, &st, 0) < 0 && errno == EINTR)
		;
	w->pid = 0;
}

static void
pool_close(struct pool *p, bool cancelled)
{
	size_t i;

	for (i = 0; i < p->j->jobs && cancelled; i++)
		if (p->worker[i].pid > 0)
			kill(p->worker[i].pid, SIGTERM);
	for (i = 0; i < p->j->jobs; i++) {
		if (p->worker[i].pid > 0)
			reap(&p->worker[i]);
		hf_buf_release(&p->worker[i].got);
	}
	for (i = 0; i < p->nslots; i++)
		hf_buf_release(&p->slot[i].line);
	free(p->slot);
	hf_buf_release(&p->in);
}

/* ---- out ---- */

static int
write_slot(struct pool *p, struct slot *s, struct hf_err *err)
{
	struct hf_str line = hf_buf_view(&s->line);
	struct hf_doc d;
	int rc;

	if (hf_doc_parse(&d, line, NULL) == 0) {
		p->status = hf_status_worse(p->status, hf_doc_status(&d));
		hf_doc_release(&d);
	} else {
		p->status = hf_status_worse(p->status, HF_EX_SOFTWARE);
	}
	hf_buf_putc(&s->line, '\n');
	rc = hf_out(hf_buf_view(&s->line), err);
	hf_buf_release(&s->line);
	s->taken = s->done = false;
	return rc;
}

/* Writes what may go now, and frees the ring as far as it is done. */
static int
flush(struct pool *p, struct hf_err *err)
{
	struct slot *s;
	size_t i;

	for (i = p->head; i != p->tail; i++) {
		s = &p->slot[i % p->nslots];
		if (s->taken && !s->done && p->j->ordered)
			break;
		if (s->taken && s->done && write_slot(p, s, err) < 0)
			return -1;
	}
	while (p->head != p->tail && !p->slot[p->head % p->nslots].taken)
		p->head++;
	return 0;
}

/* A worker that died took its document with it. */
static void
lost(struct pool *p, struct worker *w)
{
	struct slot *s = &p->slot[w->slot];
	struct hf_err why = { HF_OK, "" };
	struct hf_buf text = HF_BUF_INIT;
	struct hf_doc d;

	hf_err_set(&why, HF_E_INTERNAL, "a worker died");
	if (hf_doc_parse(&d, hf_buf_view(&s->line), NULL) == 0) {
		hf_doc_fail(&d, p->j->name, &why);
		hf_doc_line(&d, &text);
		hf_buf_cut(&text, text.len - 1);
		hf_doc_release(&d);
		hf_buf_release(&s->line);
		s->line = text;
	}
	s->done = true;
}

static void
collect(struct pool *p, struct worker *w)
{
	char chunk[CHUNK];
	struct slot *s = &p->slot[w->slot];
	ssize_t n = read(w->from, chunk, sizeof(chunk));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0) {
		hf_buf_add(&w->got, chunk, (size_t)n);
		if (w->got.data[w->got.len - 1] != '\n')
			return;
		hf_buf_cut(&w->got, w->got.len - 1);
		hf_buf_release(&s->line);
		s->line = w->got;
		w->got = (struct hf_buf)HF_BUF_INIT;
		s->done = true;
	} else {
		lost(p, w);
		hf_buf_clear(&w->got);
		reap(w);
	}
	w->busy = false;
	p->finished++;
}

/* ---- in ---- */

static void
no_document(struct pool *p, const char *why)
{
	hf_warn("line %llu of stdin is no document: %s",
	    (unsigned long long)p->lines, why);
	p->status = hf_status_worse(p->status, HF_EX_DATAERR);
}

static struct worker *
idle(struct pool *p)
{
	size_t i;

	for (i = 0; i < p->j->jobs; i++)
		if (!p->worker[i].busy)
			return &p->worker[i];
	return NULL;
}

static int
hand_over(struct pool *p, struct worker *w, size_t slot, struct hf_err *err)
{
	struct hf_buf *line = &p->slot[slot].line;
	struct hf_buf whole = HF_BUF_INIT;

	if (w->pid == 0 && start(p, w, err) < 0)
		return -1;
	w->busy = true;
	w->slot = slot;
	hf_buf_str(&whole, hf_buf_view(line));
	hf_buf_putc(&whole, '\n');
	/* It reads a line whole before it does anything: this cannot block
	 * for long. One that is dead is noticed when nothing comes back. */
	(void)hf_io_write(w->to, whole.data, whole.len);
	hf_buf_release(&whole);
	return 0;
}

/* One line: a worker's, or passed on. */
static int
deal(struct pool *p, struct hf_str line, struct worker *w,
    struct hf_err *err)
{
	struct hf_err why = { HF_OK, "" };
	struct hf_doc d;
	struct slot *s;
	bool acts;

	p->lines++;
	if (hf_str_trim(line).n == 0)
		return 0;
	if (hf_doc_parse(&d, line, &why) < 0) {
		no_document(p, why.msg);
		return 0;
	}
	acts = hf_doc_acts(&d);
	hf_doc_release(&d);
	s = &p->slot[p->tail % p->nslots];
	s->taken = true;
	s->done = !acts;
	hf_buf_str(&s->line, line);
	return acts ? hand_over(p, w, p->tail++ % p->nslots, err) :
	    (p->tail++, 0);
}

/* Deals out lines that are there, while somebody can take them. */
static int
deal_all(struct pool *p, struct hf_err *err)
{
	struct worker *w;
	const char *end;
	size_t left;

	while (p->tail - p->head < p->nslots && (w = idle(p)) != NULL) {
		left = p->in.len - p->at;
		end = left > 0 ? memchr(p->in.data + p->at, '\n', left) :
		    NULL;
		if (end == NULL)
			break;
		left = (size_t)(end - (p->in.data + p->at));
		if (deal(p, hf_strn(p->in.data + p->at, left), w, err) < 0)
			return -1;
		p->at += left + 1;
		if (flush(p, err) < 0)
			return -1;
	}
	hf_buf_eat(&p->in, p->at);
	p->at = 0;
	if (p->eof && p->in.len > 0 && memchr(p->in.data, '\n',
	    p->in.len) == NULL) {
		p->lines++;
		no_document(p, "it has no end: it may be torn");
		hf_buf_clear(&p->in);
	}
	return 0;
}

static int
fill(struct pool *p, struct hf_err *err)
{
	char chunk[CHUNK];
	ssize_t n = read(STDIN_FILENO, chunk, sizeof(chunk));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (n < 0)
		return hf_err_sys(err, errno, "cannot read 'stdin'");
	if (n == 0)
		p->eof = true;
	hf_buf_add(&p->in, chunk, (size_t)n);
	if (p->in.full)
		return hf_err_set(err, HF_E_OVERFLOW, "line %llu of 'stdin' "
		    "has more than %d bytes",
		    (unsigned long long)p->lines + 1, HF_DOC_MAX);
	return 0;
}

/* ---- the loop ---- */

/* Waits for something to do, and does it. */
static int
turn(struct pool *p, struct hf_err *err)
{
	struct pollfd fd[HF_JOBS_MAX + 2];
	bool room = p->tail - p->head < p->nslots && idle(p) != NULL;
	size_t i;

	fd[0] = (struct pollfd){ hf_sig_fd(), POLLIN, 0 };
	fd[1] = (struct pollfd){ !p->eof && room ? STDIN_FILENO : -1, POLLIN,
		0 };
	for (i = 0; i < p->j->jobs; i++)
		fd[i + 2] = (struct pollfd){ p->worker[i].busy ?
			p->worker[i].from : -1, POLLIN, 0 };
	if (poll(fd, (nfds_t)(p->j->jobs + 2), p->j->tick != NULL ? TICK_MS :
	    -1) < 0 && errno != EINTR)
		return hf_err_sys(err, errno, "cannot wait for the workers");
	if (hf_sig_check(err) < 0)
		return -1;
	if (fd[1].revents != 0 && fill(p, err) < 0)
		return -1;
	for (i = 0; i < p->j->jobs; i++)
		if (p->worker[i].busy && fd[i + 2].revents != 0)
			collect(p, &p->worker[i]);
	if (p->j->tick != NULL)
		p->j->tick(p->finished, p->j->tick_arg);
	return flush(p, err);
}

static bool
is_over(const struct pool *p)
{
	return p->eof && p->in.len == 0 && p->head == p->tail;
}

int
hf_jobs_run(const struct hf_jobs *j, struct hf_err *err)
{
	struct pool p = { .j = j, .status = -1 };
	size_t i;
	int rc = 0;

	p.in.max = HF_DOC_MAX + CHUNK;
	p.nslots = j->jobs * AHEAD;
	p.slot = hf_calloc(p.nslots, sizeof(*p.slot));
	for (i = 0; i < j->jobs; i++)
		p.worker[i].to = p.worker[i].from = -1;
	while (rc == 0 && !is_over(&p)) {
		rc = turn(&p, err);
		if (rc == 0)
			rc = deal_all(&p, err);
	}
	pool_close(&p, rc < 0);
	if (rc < 0)
		return -1;
	return p.status < 0 ? HF_EX_NO : p.status;
}
