#include "state/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "base/clock.h"
#include "base/env.h"
#include "base/mem.h"

static const char *const kinds[] = {
	[HF_REPORT_FIGURES] = "figures", [HF_REPORT_DECISION] = "decision",
	[HF_REPORT_RESULT] = "result", [HF_REPORT_LINE] = "line",
	[HF_REPORT_WHY] = "why", [HF_REPORT_PERSON] = "person",
	[HF_REPORT_ROW] = "row", [HF_REPORT_JSON] = "json",
};

int
hf_report_kind(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i], name) == 0)
			return (int)i;
	return -1;
}

/* ---- small things ---- */

void
hf_report_count(struct hf_buf *out, int64_t n)
{
	char digits[32];
	int i, len;

	len = snprintf(digits, sizeof(digits), "%lld",
	    (long long)(n < 0 ? -n : n));
	if (n < 0)
		hf_buf_putc(out, '-');
	for (i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			hf_buf_putc(out, ',');
		hf_buf_putc(out, digits[i]);
	}
}

void
hf_report_path(struct hf_buf *out, struct hf_str path)
{
	const char *home = hf_env_home(NULL);
	size_t n = home != NULL ? strlen(home) : 0;

	if (n > 1 && hf_str_starts(path, home) &&
	    (path.n == n || path.s[n] == '/')) {
		hf_buf_putc(out, '~');
		path = hf_strn(path.s + n, path.n - n);
	}
	hf_text_safe(out, path, false);
}

void
hf_report_age(struct hf_buf *out, int64_t seconds)
{
	static const struct { int64_t below, unit; const char *name; } u[] = {
		{ 120, 1, "s" }, { 7200, 60, "min" },
		{ 172800, 3600, "h" }, { INT64_MAX, 86400, "d" },
	};
	size_t i = 0;

	while (seconds >= u[i].below)
		i++;
	hf_buf_printf(out, "%lld %s", (long long)(seconds / u[i].unit),
	    u[i].name);
}

static int64_t
number(const struct hf_jval *v, const char *key)
{
	int64_t n;

	return hf_json_int(hf_json_get(v, key), &n) ? n : 0;
}

static void
safe(struct hf_buf *out, struct hf_str s)
{
	hf_text_safe(out, s, false);
}

static const char *
label(struct hf_str agent)
{
	const struct hf_agent *a = hf_agent_by_name(agent);

	return a != NULL ? a->label : "session";
}

/* "Claude Code session 9ed2ee9e" */
static void
name_session(struct hf_buf *out, const struct hf_jval *s)
{
	struct hf_str id = hf_json_get_str(s, "id");

	hf_buf_printf(out, "%s ", label(hf_json_get_str(s, "agent")));
	hf_text_clip(out, id, 40);
}

static void
plural(struct hf_buf *out, int64_t n, const char *what)
{
	hf_report_count(out, n);
	hf_buf_printf(out, " %s%s", what, n == 1 ? "" : "s");
}

/* ---- figures ---- */

static void
pressure(struct hf_buf *out, const struct hf_jval *m)
{
	int64_t tokens = number(m, "tokens"), cap = number(m, "capacity");

	hf_report_count(out, tokens);
	if (cap > 0) {
		hf_buf_puts(out, " of ");
		hf_report_count(out, cap);
	}
	hf_buf_puts(out, " tokens");
	if (cap > 0)
		hf_buf_printf(out, " (%lld %%)",
		    (long long)(tokens * 100 / cap));
	if (hf_json_is(hf_json_get(m, "tokensFrom"), "none"))
		hf_buf_puts(out, ", not known yet");
	else if (hf_json_is(hf_json_get(m, "tokensFrom"), "estimate"))
		hf_buf_puts(out, ", estimated");
}

static void
figures(const struct hf_doc *d, struct hf_buf *out)
{
	const struct hf_jval *s = hf_doc_get(d, "session");
	const struct hf_jval *m = hf_doc_get(d, "metrics");

	name_session(out, s);
	if (hf_json_get_str(s, "title").n > 0) {
		hf_buf_puts(out, " \"");
		hf_text_clip(out, hf_json_get_str(s, "title"), 40);
		hf_buf_putc(out, '"');
	}
	hf_buf_puts(out, "\n  folder       ");
	hf_report_path(out, hf_json_get_str(s, "cwd"));
	hf_buf_puts(out, "\n  model        ");
	safe(out, hf_json_get_str(s, "model").n > 0 ?
	    hf_json_get_str(s, "model") : HF_STR("unknown"));
	hf_buf_puts(out, "\n  context      ");
	pressure(out, m);
	hf_buf_puts(out, "\n  conversation ");
	plural(out, number(m, "turns"), "turn");
	hf_buf_puts(out, ", ");
	plural(out, number(m, "messages"), "message");
	hf_buf_puts(out, ", ");
	plural(out, number(m, "compactions"), "compaction");
	hf_buf_puts(out, ", ");
	safe(out, hf_json_get_str(m, "state"));
	hf_buf_putc(out, '\n');
}

/* ---- the decision ---- */

static const struct { const char *name, *words; } guards[] = {
	{ "redirected", "it was handed off already" },
	{ "archived", "it is archived" },
	{ "subagent", "it is a sub-agent's" },
	{ "not-registered", "it is not enabled (handoff enable)" },
	{ "disabled", "automatic handoff is off" },
	{ "busy", "it is in the middle of a turn" },
	{ "too-short", "Nothing to hand off (no messages yet)" },
};
static const struct { const char *name, *words; } blockers[] = {
	{ "activity:turn", "a turn is open" },
	{ "activity:torn-tail", "its last row is still being written" },
	{ "pending-inbox", "input waits in the agent's own queue" },
	{ "attempt-in-progress", "another handoff of it is under way" },
	{ "cooldown", "it waits after a failed attempt" },
	{ "chain-limit", "it was handed off often enough for one day" },
	{ "active-team-roster", "it leads a team" },
	{ "custom-permissions-require-manual-transfer",
	    "its permissions are its own: hand it off by hand" },
};

static void
blocker(struct hf_buf *out, struct hf_str b)
{
	size_t i;

	for (i = 0; i < sizeof(blockers) / sizeof(blockers[0]); i++)
		if (hf_str_is(b, blockers[i].name)) {
			hf_buf_puts(out, blockers[i].words);
			return;
		}
	if (hf_str_starts(b, "activity:tool:")) {
		hf_buf_puts(out, "a call of ");
		hf_text_clip(out, hf_strn(b.s + 14, b.n - 14), 40);
		hf_buf_puts(out, " is unfinished");
	} else if (hf_str_starts(b, "owned-agent:")) {
		hf_buf_puts(out, "its sub-agent ");
		hf_text_clip(out, hf_strn(b.s + 12, b.n - 12), 40);
		hf_buf_puts(out, " still runs");
	} else {
		hf_text_clip(out, b, 80);
	}
}

/* Why it does not happen; nothing when nothing stands against it. */
static void
why_not(struct hf_buf *out, const struct hf_jval *t)
{
	struct hf_str guard = hf_json_get_str(t, "guard");
	const struct hf_jval *b;
	struct hf_jiter it;
	size_t i, n = 0;

	for (i = 0; i < sizeof(guards) / sizeof(guards[0]); i++)
		if (guard.n > 0 && hf_str_is(guard, guards[i].name)) {
			hf_buf_puts(out, guards[i].words);
			n++;
		}
	hf_json_iter(&it, hf_json_get(t, "blockers"));
	while ((b = hf_json_next(&it, NULL)) != NULL) {
		if (hf_str_is(guard, "busy") &&
		    hf_json_is(b, "activity:turn"))
			continue;
		hf_buf_puts(out, n++ > 0 ? "; " : "");
		blocker(out, hf_json_str(b));
	}
}

static void
reason(struct hf_buf *out, const struct hf_jval *t)
{
	struct hf_str r = hf_json_get_str(t, "reason");

	if (hf_str_is(r, "manual"))
		hf_buf_puts(out, "asked for");
	else if (hf_str_is(r, "context-pressure"))
		hf_buf_puts(out, "the context is full enough");
	else if (hf_str_is(r, "repeated-compaction"))
		hf_buf_puts(out, "it was compacted often enough");
	else
		hf_buf_puts(out, "no reason to hand off");
}

static void
decision(const struct hf_doc *d, struct hf_buf *out)
{
	const struct hf_jval *t = hf_doc_get(d, "trigger");

	hf_buf_puts(out, "  threshold    ");
	hf_report_count(out, number(t, "threshold"));
	hf_buf_puts(out, " tokens, ");
	hf_report_count(out, number(t, "headroom") < 0 ?
	    -number(t, "headroom") : number(t, "headroom"));
	hf_buf_puts(out, number(t, "headroom") < 0 ? " beyond it\n" :
	    " to go\n");
	hf_buf_puts(out, "  decision     ");
	if (hf_json_true(hf_json_get(t, "due"))) {
		hf_buf_puts(out, "hand off: ");
		reason(out, t);
	} else if (hf_json_get_str(t, "guard").n > 0 ||
	    hf_json_size(hf_json_get(t, "blockers")) > 0) {
		hf_buf_puts(out, "not now: ");
		why_not(out, t);
	} else if (number(t, "headroom") <= 0) {
		hf_buf_puts(out, "not due: too few turns, or nothing was "
		    "measured since a compaction");
	} else {
		hf_buf_puts(out, "not due");
	}
	hf_buf_putc(out, '\n');
}

/* ---- the result ---- */

/* "cd DIR && claude --resume ID" of the route's argv. */
static void
resume_command(struct hf_buf *out, const struct hf_jval *route)
{
	const struct hf_jval *word;
	struct hf_jiter it;
	size_t n = 0;

	if (hf_json_get_str(route, "cwd").n > 0) {
		hf_buf_puts(out, "cd ");
		hf_text_shell(out, hf_json_get_str(route, "cwd"));
		hf_buf_puts(out, " && ");
	}
	hf_json_iter(&it, hf_json_get(route, "resume"));
	while ((word = hf_json_next(&it, NULL)) != NULL) {
		if (n++ > 0)
			hf_buf_putc(out, ' ');
		hf_text_shell(out, hf_json_str(word));
	}
}

static void
failure(const struct hf_doc *d, struct hf_buf *out)
{
	const struct hf_jval *e = hf_doc_get(d, "error");

	if (hf_json_is(hf_json_get(e, "code"), "cancelled")) {
		hf_buf_puts(out, "Handoff cancelled\n");
		return;
	}
	hf_buf_puts(out, "Handoff failed: ");
	safe(out, hf_json_get_str(e, "message"));
	hf_buf_putc(out, '\n');
}

static void
no_model(const struct hf_doc *d, struct hf_buf *out)
{
	const struct hf_jval *s = hf_doc_get(d, "summary");

	if (!hf_json_is(hf_json_get(s, "provider"), "extract"))
		return;
	if (hf_json_get(s, "fallback") != NULL) {
		hf_buf_puts(out, "The model failed (");
		safe(out, hf_json_get_str(hf_json_get(s, "fallback"),
		    "message"));
		hf_buf_puts(out, "); the brief was computed.\n");
	} else {
		hf_buf_puts(out, "No model was used: the brief was computed "
		    "from the transcript.\n");
	}
}

static void
result(const struct hf_doc *d, struct hf_buf *out)
{
	const struct hf_jval *c = hf_doc_get(d, "commit");
	const struct hf_jval *r = hf_doc_get(d, "route");
	struct hf_buf cmd = HF_BUF_INIT;

	if (hf_doc_get(d, "error") != NULL) {
		failure(d, out);
		return;
	}
	hf_buf_puts(out, "New session started with handoff context\n");
	hf_buf_puts(out, "  session      ");
	name_session(out, hf_json_get(c, "target"));
	hf_buf_puts(out, "\n  transcript   ");
	hf_report_path(out, hf_json_get_str(r, "path"));
	hf_buf_puts(out, "\n  continue     ");
	resume_command(&cmd, r);
	safe(out, hf_buf_view(&cmd));
	hf_buf_putc(out, '\n');
	if (hf_json_get_str(c, "saved").n > 0) {
		hf_buf_puts(out, "  saved        ");
		hf_report_path(out, hf_json_get_str(c, "saved"));
		hf_buf_putc(out, '\n');
	}
	no_model(d, out);
	hf_buf_release(&cmd);
}

/* ---- auto's line ---- */

static void
line(const struct hf_doc *d, bool all, struct hf_buf *out)
{
	const struct hf_jval *e = hf_doc_get(d, "error");
	const struct hf_jval *t = hf_doc_get(d, "trigger");
	const struct hf_jval *c = hf_doc_get(d, "commit");
	bool due = hf_json_true(hf_json_get(t, "due"));

	bool quiet = e == NULL && !due &&
	    (hf_json_get_str(t, "reason").n == 0 ||
	    hf_json_is(hf_json_get(t, "guard"), "redirected"));

	if (quiet && !all)
		return;
	name_session(out, hf_doc_get(d, "session"));
	if (e != NULL) {
		hf_buf_puts(out, ": failed: ");
		safe(out, hf_json_get_str(e, "message"));
	} else if (quiet && hf_json_get_str(t, "guard").n == 0) {
		hf_buf_puts(out, ": not due");
	} else if (!due) {
		hf_buf_puts(out, quiet ? ": not now: " : ": deferred: ");
		why_not(out, t);
	} else {
		hf_buf_puts(out, ": handed off to ");
		name_session(out, hf_json_get(c, "target"));
		hf_buf_puts(out, " (");
		reason(out, t);
		hf_buf_putc(out, ')');
	}
	hf_buf_putc(out, '\n');
}

/* Does its failure need somebody? What passes by itself does not, until it
 * has happened too often; a transcript that cannot be read is in the log. */
static bool
needs_person(const struct hf_doc *d)
{
	enum { TOO_OFTEN = 3 };
	const struct hf_jval *e = hf_doc_get(d, "error");
	struct hf_str code = hf_json_get_str(e, "code");
	char *name;
	int status;

	if (e == NULL)
		return false;
	name = hf_strndup(code.n > 0 ? code.s : "", code.n);
	status = hf_code_status(hf_code_parse(name));
	free(name);
	if (status == HF_EX_TEMPFAIL)
		return number(hf_doc_get(d, "main"), "failures") + 1 >=
		    TOO_OFTEN;
	return status != HF_EX_DATAERR && status != HF_EX_NO;
}

/* ---- a row of the list ---- */

static void
column(struct hf_buf *out, struct hf_str text, size_t width)
{
	size_t before = out->len, used;

	hf_text_clip(out, text, width);
	used = hf_text_width(hf_strn(out->data + before, out->len - before));
	while (used++ < width + 2)
		hf_buf_putc(out, ' ');
}

static void
row(const struct hf_doc *d, struct hf_buf *out)
{
	const struct hf_jval *s = hf_doc_get(d, "session");
	struct hf_buf cell = HF_BUF_INIT;
	int64_t then = hf_clock_parse(hf_json_get_str(s, "prompted"));

	column(out, hf_json_get_str(s, "agent"), 8);
	column(out, hf_json_get_str(s, "id"), 36);
	if (then >= 0)
		hf_report_age(&cell, (hf_clock_now() - then) / 1000 > 0 ?
		    (hf_clock_now() - then) / 1000 : 0);
	column(out, hf_buf_view(&cell), 7);
	hf_text_clip(out, hf_json_get_str(s, "title"), 24);
	hf_buf_putc(out, '\n');
	hf_buf_release(&cell);
}

/* ---- JSON ---- */

static void
json(const struct hf_doc *d, struct hf_buf *out)
{
	const struct hf_jval *c = hf_doc_get(d, "commit");
	const struct hf_jval *r = hf_doc_get(d, "route");
	const struct hf_jval *target = hf_json_get(c, "target");
	struct hf_str path = hf_json_get_str(target, "path");
	struct hf_jtree *t = hf_jtree_new();
	struct hf_jnode *o = hf_jtree_obj(t);

	/* The file that was written: a session may also be in a database. */
	if (path.n == 0)
		path = hf_json_get_str(r, "path");
	hf_jset_int(t, o, "v", 1);
	hf_jset_str(t, o, "agent", hf_json_get_str(target, "agent"));
	hf_jset_str(t, o, "id", hf_json_get_str(target, "id"));
	hf_jset_str(t, o, "path", path);
	hf_jset_str(t, o, "cwd", hf_json_get_str(r, "cwd"));
	hf_jset(t, o, "resume", hf_jtree_copy(t, hf_json_get(r, "resume")));
	hf_jset_str(t, o, "attempt", hf_json_get_str(c, "attempt"));
	hf_jset_str(t, o, "phase", hf_json_get_str(c, "phase"));
	/* What the successor's first request must hold: the attempt's id
	 * stands in the head of the brief. */
	hf_jset_str(t, o, "expect", hf_json_get_str(c, "attempt"));
	hf_jset(t, o, "source", hf_jtree_copy(t, hf_doc_get(d, "session")));
	hf_jtree_write(out, o, false);
	hf_buf_putc(out, '\n');
	hf_jtree_free(t);
}

void
hf_report(enum hf_report kind, const struct hf_doc *d, struct hf_buf *out)
{
	switch (kind) {
	case HF_REPORT_FIGURES:
		figures(d, out);
		break;
	case HF_REPORT_DECISION:
		decision(d, out);
		break;
	case HF_REPORT_RESULT:
		result(d, out);
		break;
	case HF_REPORT_LINE:
		line(d, false, out);
		break;
	case HF_REPORT_WHY:
		line(d, true, out);
		break;
	case HF_REPORT_PERSON:
		if (needs_person(d))
			line(d, false, out);
		break;
	case HF_REPORT_ROW:
		row(d, out);
		break;
	case HF_REPORT_JSON:
		json(d, out);
		break;
	}
}
