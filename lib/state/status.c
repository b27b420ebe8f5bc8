#include "state/status.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/io.h"
#include "session/trigger.h"
#include "state/record.h"
#include "state/report.h"

/* Ids that begin with a time differ only behind eight digits. */
enum { GAUGE = 10, SHORT_ID = 13 };

/* ---- what is to be known about a main ---- */

struct look {
	struct hf_attempt record;	/* its last attempt; id NULL: none */
	bool measured;
	struct hf_session session;
	struct hf_metrics metrics;
	struct hf_trigger trigger;
	bool running;			/* the attempt is under way */
};

static void
look_release(struct look *l)
{
	hf_record_release(&l->record);
	if (l->measured) {
		hf_trigger_release(&l->trigger);
		hf_metrics_release(&l->metrics);
	}
	hf_session_release(&l->session);
}

/* What cannot be measured is not shown, whatever the reason. */
static void
measure(const struct hf_main *m, const struct hf_config *c, bool asked,
    struct look *l)
{
	struct hf_measure how = { .config = c, .limit = UINT64_MAX,
	    .stale_check = true };
	struct hf_trigger_main main = { .known = true };
	struct hf_trigger_in in = { &l->session, &l->metrics, &main, c, NULL,
		false, false };
	struct hf_file_id file;
	struct hf_err ignored;

	l->session.agent = hf_agent_by_name(hf_str(m->agent));
	if (l->session.agent == NULL || m->path == NULL ||
	    (m->redirect.id != NULL && !asked) ||
	    hf_measure_file(m->path, &file, &ignored) < 0 ||
	    (!asked && file.size > HF_STATUS_CHEAP))
		return;
	hf_session_set(&l->session.id, hf_str(m->id));
	hf_session_set(&l->session.path, hf_str(m->path));
	if (hf_measure(&l->session, NULL, &how, &l->metrics, NULL,
	    &ignored) < 0)
		return;
	main.registered = m->stored;
	main.enabled = m->enabled;
	main.requested = m->requested.on;
	main.redirected = m->redirect.id != NULL;
	hf_trigger_decide(&in, &l->trigger);
	l->measured = true;
}

static int
look_at(struct hf_store *st, const struct hf_config *c,
    const struct hf_main *m, bool asked, struct look *l, struct hf_err *err)
{
	const char *attempt = m->redirect.attempt != NULL ?
	    m->redirect.attempt : m->attempt;
	struct hf_err why = { HF_OK, "" };

	memset(l, 0, sizeof(*l));
	hf_session_init(&l->session);
	if (attempt != NULL &&
	    hf_record_load(st, attempt, &l->record, &why) < 0) {
		if (why.code != HF_E_INVALID) {
			*err = why;
			return -1;
		}
		hf_warn_err(&why);
	}
	l->running = hf_main_busy(st, m);
	measure(m, c, asked, l);
	return 0;
}

/* ---- words ---- */

static void
ago(struct hf_buf *out, int64_t then)
{
	int64_t seconds = (hf_clock_now() - then) / 1000;

	hf_report_age(out, seconds > 0 ? seconds : 0);
	hf_buf_puts(out, " ago");
}

/* What a person is to do; NULL: nothing. */
static const char *
advice(const struct hf_attempt *r, bool running)
{
	switch (r->phase) {
	case HF_PHASE_SUMMARIZING:
	case HF_PHASE_PREPARED:
		return running ? NULL :
		    "its process has ended: 'handoff recover' undoes it";
	case HF_PHASE_COMMITTED:
		return running ? NULL : "the brief is kept and the route is "
		    "there: 'handoff recover' completes it";
	case HF_PHASE_PENDING:
		return "the successor is there but was not started: "
		    "'handoff resume' opens it, 'handoff recover' starts it";
	case HF_PHASE_STARTED:
	case HF_PHASE_FAILED:
		break;
	}
	return NULL;
}

static const char *
phase_word(const struct hf_attempt *r, bool running)
{
	if (r->phase == HF_PHASE_SUMMARIZING || r->phase == HF_PHASE_PREPARED)
		return running ? "under way" : "broken off";
	if (r->phase == HF_PHASE_PENDING)
		return "start pending";
	return hf_phase_name(r->phase);
}

enum { NO_PAINT = 0, RED = 31, GREEN = 32, YELLOW = 33 };

/* Begins a colour, or with NO_PAINT ends it. */
static void
paint(struct hf_buf *out, bool colour, int what)
{
	if (colour)
		hf_buf_printf(out, "\033[%dm", what);
}

static void
gauge(struct hf_buf *out, const struct look *l, bool colour)
{
	enum { NEAR = 80 };		/* per cent */
	int64_t percent, bars;

	if (!l->measured || l->trigger.threshold <= 0) {
		hf_buf_printf(out, "%-17s", "-");
		return;
	}
	percent = l->metrics.tokens >= l->trigger.threshold * 10 ? 999 :
	    l->metrics.tokens * 100 / l->trigger.threshold;
	bars = percent >= 100 ? GAUGE : percent * GAUGE / 100;
	paint(out, colour, percent >= 100 ? RED : percent >= NEAR ? YELLOW :
	    GREEN);
	hf_buf_putc(out, '[');
	for (int64_t i = 0; i < GAUGE; i++)
		hf_buf_putc(out, i < bars ? '#' : '.');
	hf_buf_printf(out, "] %3d%%", (int)percent);
	paint(out, colour, NO_PAINT);
}

static void
switches(struct hf_buf *out, const struct hf_main *m,
    const struct hf_config *c)
{
	hf_buf_printf(out, "%-9s", m->redirect.id != NULL ? "moved" :
	    m->requested.on ? "asked for" : !m->enabled ? "off" :
	    c->auto_handoff ? "on" : "on (off)");
}

/* The beginning of an id, made harmless. */
static void
short_id(struct hf_buf *out, const char *id, bool fill)
{
	size_t before = out->len, n = strnlen(id, SHORT_ID);

	hf_text_safe(out, hf_strn(id, hf_utf8_cut(hf_str(id), n)), false);
	n = hf_text_width(hf_strn(out->data + before, out->len - before));
	for (; fill && n < SHORT_ID; n++)
		hf_buf_putc(out, ' ');
}

/* ---- the table ---- */

struct table {
	struct hf_store *st;
	const struct hf_config *config;
	bool colour;
	struct hf_buf *out;
	struct hf_buf notes;
	size_t n;
	bool off;		/* enabled, but the global switch is off */
};

static void
last_cell(struct hf_buf *out, const struct hf_main *m, const struct look *l)
{
	struct hf_buf cell = HF_BUF_INIT;

	if (l->record.id != NULL) {
		hf_buf_puts(&cell, phase_word(&l->record, l->running));
		hf_buf_putc(&cell, ' ');
		ago(&cell, l->record.changed);
	} else if (m->redirect.id != NULL) {
		hf_buf_puts(&cell, "routed ");
		ago(&cell, m->redirect.at);
	} else
		hf_buf_putc(&cell, '-');
	if (m->redirect.id == NULL && m->ndeferred > 0)
		hf_buf_printf(&cell, "; waits: %s", m->deferred[0]);
	hf_text_clip(out, hf_buf_view(&cell), 25);
	hf_buf_release(&cell);
}

static void
add_note(struct table *t, const struct hf_main *m, const struct look *l)
{
	const char *what;
	char until[HF_TIME_LEN];

	if (m->redirect.id == NULL && m->ndeferred > 0) {
		short_id(&t->notes, m->id, false);
		hf_buf_puts(&t->notes, ": waits for ");
		for (size_t i = 0; i < m->ndeferred; i++) {
			hf_buf_puts(&t->notes, i > 0 ? ", " : "");
			hf_text_safe(&t->notes, hf_str(m->deferred[i]),
			    false);
		}
		hf_buf_putc(&t->notes, '\n');
	}
	if (m->redirect.id == NULL && m->failures > 0 &&
	    m->retry_at > hf_clock_now()) {
		hf_clock_format(m->retry_at, until);
		short_id(&t->notes, m->id, false);
		hf_buf_printf(&t->notes, ": tried again not before %s\n",
		    until);
	}
	if (l->record.id == NULL)
		return;
	if (l->record.error != NULL &&
	    l->record.phase != HF_PHASE_STARTED) {
		short_id(&t->notes, m->id, false);
		hf_buf_puts(&t->notes, ": ");
		hf_text_safe(&t->notes, hf_str(l->record.error), false);
		hf_buf_putc(&t->notes, '\n');
	}
	if ((what = advice(&l->record, l->running)) == NULL)
		return;
	short_id(&t->notes, m->id, false);
	hf_buf_printf(&t->notes, ": %s\n", what);
}

static int
row(const char *key, struct hf_main *m, const struct hf_err *why, void *arg,
    struct hf_err *err)
{
	struct table *t = arg;
	struct look l;
	bool bad;

	(void)key;
	if (m == NULL) {
		hf_warn_err(why);
		return 0;
	}
	/* The end of a route that nobody switched on is no session of ours
	 * to report on. */
	if (strcmp(m->agent, HF_AGENT_ANY) == 0 && m->redirect.id == NULL)
		return 0;
	if (look_at(t->st, t->config, m, false, &l, err) < 0)
		return -1;
	if (t->n++ == 0)
		hf_buf_puts(t->out, "session        agent     auto       "
		    "to threshold       last handoff\n");
	short_id(t->out, m->id, true);
	hf_buf_printf(t->out, "  %-8.8s  ", m->agent);
	switches(t->out, m, t->config);
	hf_buf_puts(t->out, "  ");
	if (m->redirect.id != NULL) {
		hf_buf_puts(t->out, "-> ");
		short_id(t->out, m->redirect.id, true);
		hf_buf_putc(t->out, ' ');
	} else if (!hf_main_here(t->st, m)) {
		hf_buf_puts(t->out, "on ");
		hf_text_clip(t->out, hf_str(m->host), GAUGE + 4);
		for (size_t n = hf_text_width(hf_str(m->host));
		    n < GAUGE + 4; n++)
			hf_buf_putc(t->out, ' ');
	} else
		gauge(t->out, &l, t->colour);
	hf_buf_puts(t->out, "  ");
	bad = l.record.id != NULL && l.record.error != NULL &&
	    l.record.phase != HF_PHASE_STARTED;
	paint(t->out, t->colour && bad, RED);
	last_cell(t->out, m, &l);
	paint(t->out, t->colour && bad, NO_PAINT);
	hf_buf_putc(t->out, '\n');
	add_note(t, m, &l);
	t->off = t->off || (m->enabled && m->redirect.id == NULL &&
	    !t->config->auto_handoff);
	look_release(&l);
	return 0;
}

int
hf_status_table(struct hf_store *st, const struct hf_config *c, bool colour,
    struct hf_buf *out, size_t *n, struct hf_err *err)
{
	struct table t = { st, c, colour, out, HF_BUF_INIT, 0, false };
	int rc = hf_main_each(st, row, &t, err);

	if (rc == 0 && t.notes.len > 0) {
		hf_buf_putc(out, '\n');
		hf_buf_str(out, hf_buf_view(&t.notes));
	}
	if (rc == 0 && t.off)
		hf_buf_puts(out, "\nAutomatic handoff is off as a whole: "
		    "'handoff config set autoHandoff true'\n");
	hf_buf_release(&t.notes);
	*n = t.n;
	return rc;
}

/* ---- one ---- */

static void
label(struct hf_buf *out, const char *name)
{
	hf_buf_printf(out, "  %-12s ", name);
}

static void
line(struct hf_buf *out, const char *name, const char *text)
{
	label(out, name);
	hf_text_safe(out, hf_str(text), false);
	hf_buf_putc(out, '\n');
}

static void
path_line(struct hf_buf *out, const char *name, const char *path)
{
	if (path == NULL)
		return;
	label(out, name);
	hf_report_path(out, hf_str(path));
	hf_buf_putc(out, '\n');
}

static void
switch_lines(struct hf_buf *out, const struct hf_main *m,
    const struct hf_config *c)
{
	char until[HF_TIME_LEN];

	line(out, "automatic", !m->enabled ? "off" : c->auto_handoff ? "on" :
	    "on for this session, off as a whole (autoHandoff)");
	if (m->requested.on) {
		hf_clock_format(m->requested.until, until);
		label(out, "asked for");
		hf_buf_printf(out, "until %s", until);
		if (m->requested.focus != NULL) {
			hf_buf_puts(out, ", focus: ");
			hf_text_safe(out, hf_str(m->requested.focus), false);
		}
		hf_buf_putc(out, '\n');
	}
	for (size_t i = 0; i < m->ndeferred; i++)
		line(out, i == 0 ? "waits for" : "", m->deferred[i]);
	if (m->failures > 0 && m->retry_at > hf_clock_now()) {
		hf_clock_format(m->retry_at, until);
		line(out, "not before", until);
	}
}

static void
figure_lines(struct hf_buf *out, const struct look *l, bool colour)
{
	if (!l->measured)
		return;
	label(out, "context");
	hf_report_count(out, l->metrics.tokens);
	hf_buf_puts(out, " tokens, ");
	gauge(out, l, colour);
	hf_buf_puts(out, " of the threshold ");
	hf_report_count(out, l->trigger.threshold);
	hf_buf_putc(out, '\n');
}

static void
attempt_lines(struct hf_buf *out, const struct look *l)
{
	const struct hf_attempt *r = &l->record;
	const char *what;

	if (r->id == NULL)
		return;
	line(out, "last handoff", r->id);
	label(out, "");
	hf_buf_printf(out, "%s, %s, ", r->reason != NULL ? r->reason :
	    "manual", phase_word(r, l->running));
	ago(out, r->changed);
	hf_buf_putc(out, '\n');
	if (r->error != NULL)
		line(out, "", r->error);
	if ((what = advice(r, l->running)) != NULL)
		line(out, "", what);
}

int
hf_status_one(struct hf_store *st, const struct hf_config *c,
    const struct hf_main *m, bool colour, struct hf_buf *out,
    struct hf_err *err)
{
	const struct hf_agent *a = hf_agent_by_name(hf_str(m->agent));
	struct look l;

	if (look_at(st, c, m, true, &l, err) < 0)
		return -1;
	hf_buf_printf(out, "%s session ", a != NULL ? a->label : m->agent);
	hf_text_safe(out, hf_str(m->id), false);
	hf_buf_puts(out, m->stored ? "\n" : " (not registered)\n");
	path_line(out, "folder", m->cwd);
	path_line(out, "transcript", m->path);
	if (!hf_main_here(st, m))
		line(out, "machine", m->host);
	switch_lines(out, m, c);
	figure_lines(out, &l, colour);
	attempt_lines(out, &l);
	if (m->from.id != NULL)
		line(out, "comes from", m->from.id);
	if (m->redirect.id != NULL)
		line(out, "leads to", m->redirect.id);
	look_release(&l);
	return 0;
}

/* ---- documents ---- */

int
hf_status_json(struct hf_store *st, const struct hf_config *c,
    const struct hf_main *m, bool asked, struct hf_buf *out,
    struct hf_err *err)
{
	struct hf_jtree *t;
	struct hf_jnode *s, *main;
	struct hf_doc d;
	struct look l;

	if (look_at(st, c, m, asked, &l, err) < 0)
		return -1;
	hf_doc_new(&d);
	t = hf_doc_tree(&d);
	if (l.measured) {
		hf_metrics_to_doc(&d, &l.session, &l.metrics);
	} else {
		s = hf_jtree_obj(t);
		hf_jset_cstr(t, s, "agent", m->agent);
		hf_jset_cstr(t, s, "id", m->id);
		hf_jset_cstr(t, s, "path", m->path);
		hf_jset_cstr(t, s, "cwd", m->cwd);
		hf_doc_set(&d, "session", s);
	}
	main = hf_main_to_json(t, m);
	hf_jset_bool(t, main, "registered", m->stored);
	hf_doc_set(&d, "main", main);
	if (l.measured)
		hf_trigger_to_doc(&d, &l.trigger);
	if (l.record.id != NULL) {
		struct hf_jnode *r = hf_record_to_json(t, &l.record);

		hf_jdel(r, "brief");
		hf_doc_set(&d, "record", r);
	}
	hf_doc_line(&d, out);
	hf_doc_release(&d);
	look_release(&l);
	return 0;
}
