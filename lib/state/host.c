#include "state/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hmac.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/proc.h"
#include "state/detach.h"
#include "state/events.h"
#include "state/inbox.h"
#include "state/resume.h"
#include "state/settle.h"
#include "state/switches.h"

enum {
	STOP_SECONDS = 120,		/* until a turn is written down */
	NOW_MS = 100000,		/* a handoff that is waited for */
	SAID_MAX = 64 << 10,
	/* Claude Code passes 10,000 characters on whole, and of more only a
	 * preview; what does not fit comes with the next prompt. */
	CONTEXT_MAX = 8500
};

enum event { OTHER, BEGIN, PROMPT, COMMAND, STOP, COMPACT };

static const struct { const char *name; enum event event; } events[] = {
	{ "SessionStart", BEGIN },
	{ "UserPromptSubmit", PROMPT }, { "BeforeAgent", PROMPT },
	{ "UserPromptExpansion", COMMAND },
	{ "Stop", STOP }, { "AfterAgent", STOP },
	{ "agent-turn-complete", STOP },
	{ "PreCompact", COMPACT },
};

static const char moved_words[] = "This session was handed off already. "
	"Continue with:\n";

struct host {
	struct hf_store *st;
	const struct hf_config *config;
	const struct hf_host *how;
	struct hf_host_answer *answer;
	const struct hf_jval *v;
	char *event_name;
	enum event event;
	const struct hf_agent *agent;
	char *id, *path;		/* path NULL: not told */
	struct hf_main main;
};

/* ---- what is told ---- */

static char *
text_of(const struct hf_jval *v, const char *a, const char *b)
{
	struct hf_str s = hf_json_get_str(v, a);

	if (s.n == 0)
		s = hf_json_get_str(v, b);
	return s.n > 0 ? hf_strndup(s.s, s.n) : NULL;
}

static enum event
event_of(const char *name)
{
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strcmp(events[i].name, name) == 0)
			return events[i].event;
	return OTHER;
}

static bool
is_below(const char *path, const struct hf_agent *a)
{
	struct hf_err ignored;
	char *root = a->root(&ignored);
	size_t n = root != NULL ? strlen(root) : 0;
	bool below = n > 0 && strncmp(path, root, n) == 0 && path[n] == '/';

	free(root);
	return below;
}

/* As it is told; else whose folder the transcript is in; else whose words
 * these are. */
static const struct hf_agent *
agent_of(const struct host *h)
{
	const struct hf_agent *const *all, *a;
	struct hf_session s;
	struct hf_err ignored;
	size_t n;

	if (h->how->agent != NULL)
		return hf_agent_by_name(hf_str(h->how->agent));
	all = hf_agents(&n);
	for (size_t i = 0; h->path != NULL && i < n; i++)
		if (is_below(h->path, all[i]))
			return all[i];
	if (h->path != NULL) {
		a = hf_session_peek(h->path, &s, &ignored) == 0 ? s.agent :
		    NULL;
		hf_session_release(&s);
		if (a != NULL)
			return a;
	}
	if (hf_json_get(h->v, "thread-id") != NULL ||
	    hf_json_get(h->v, "turn_id") != NULL)
		return hf_agent_by_name(HF_STR("codex"));
	if (strcmp(h->event_name, "BeforeAgent") == 0 ||
	    strcmp(h->event_name, "AfterAgent") == 0)
		return hf_agent_by_name(HF_STR("gemini"));
	return hf_agent_by_name(HF_STR("claude"));
}

/* pi's own words name only the file. */
static int
complete_id(struct host *h, struct hf_err *err)
{
	struct hf_session s;
	int rc = 0;

	if (h->id != NULL)
		return 0;
	if (h->path == NULL)
		return hf_err_set(err, HF_E_MISSING,
		    "the event names no session");
	rc = hf_session_peek(h->path, &s, err);
	if (rc == 0 && s.id != NULL)
		h->id = hf_strdup(s.id);
	else if (rc == 0)
		rc = hf_err_set(err, HF_E_MISSING,
		    "the event names no session");
	hf_session_release(&s);
	return rc;
}

/* 1, 0 for an event that is not ours, -1. */
static int
read_event(struct host *h, struct hf_err *err)
{
	h->event_name = h->how->event != NULL &&
	    strcmp(h->how->event, "notify") != 0 ?
	    hf_strdup(h->how->event) :
	    text_of(h->v, "hook_event_name", "type");
	if (h->event_name == NULL)
		return hf_err_set(err, HF_E_INVALID,
		    "what stdin holds is no hook's event");
	if ((h->event = event_of(h->event_name)) == OTHER)
		return 0;
	h->path = text_of(h->v, "transcript_path", "rollout_path");
	h->id = text_of(h->v, "session_id", "thread-id");
	if ((h->agent = agent_of(h)) == NULL)
		return hf_err_set(err, HF_E_USAGE,
		    "the agent '%s' is not known", h->how->agent);
	if (complete_id(h, err) < 0)
		return -1;
	return hf_main_load(h->st, h->agent->name, h->id, &h->main, err) <
	    0 ? -1 : 1;
}

/* ---- what is answered ---- */

static void
answer(struct host *h, struct hf_jtree *t, struct hf_jnode *o)
{
	hf_jtree_write(&h->answer->out, o, false);
	hf_buf_putc(&h->answer->out, '\n');
	hf_jtree_free(t);
}

/* The prompt goes no further, and the user reads why. */
static void
block(struct host *h, struct hf_str reason)
{
	struct hf_jtree *t = hf_jtree_new();
	struct hf_jnode *o = hf_jtree_obj(t);

	hf_jset_cstr(t, o, "decision", "block");
	hf_jset_str(t, o, "reason", hf_str_trim(reason));
	answer(h, t, o);
}

/* "cd X && claude --resume ID", and the session at the end of the chain. */
static int
where_to(struct host *h, struct hf_buf *out, struct hf_err *err)
{
	struct hf_buf key = HF_BUF_INIT;
	struct hf_there there;
	struct hf_session s;
	int rc;

	hf_buf_printf(&key, "%s:%s", h->main.agent, h->main.id);
	rc = hf_resume_find(h->st, hf_buf_cstr(&key), &s, &there, err);
	if (rc == 0)
		hf_resume_command(out, &s, NULL);
	else if (rc > 0)
		hf_resume_there_command(out, &s, &there);
	hf_there_release(&there);
	hf_session_release(&s);
	hf_buf_release(&key);
	return rc < 0 ? -1 : 0;
}

/* ---- /handoff, and instead of a compaction ---- */

/* Runs the driver's now on the session. *status, and what it said. */
static int
run_now(struct host *h, struct hf_str focus, int *status,
    struct hf_buf *out, struct hf_err *err)
{
	const char *argv[8], **env = hf_proc_env(NULL);
	char *words = focus.n > 0 ? hf_strndup(focus.s, focus.n) : NULL;
	struct hf_buf said = HF_BUF_MAX(SAID_MAX);
	struct hf_proc p = { argv, (const char *const *)env, NULL,
		HF_STR_NONE, out, &said, NOW_MS };
	size_t n = 0;
	int rc;

	argv[n++] = h->how->driver;
	argv[n++] = "now";
	if (words != NULL) {
		argv[n++] = "--focus";
		argv[n++] = words;
	}
	argv[n++] = "--";
	argv[n++] = h->path != NULL ? h->path : h->id;
	argv[n] = NULL;
	rc = hf_proc_run(&p, status, err);
	if (rc == 0 && *status != 0)
		hf_buf_str(out, hf_buf_view(&said));
	hf_buf_release(&said);
	free(words);
	free(env);
	return rc;
}

static bool
is_extract(const struct hf_config *c)
{
	return c->provider == NULL || strcmp(c->provider, "extract") == 0;
}

static int
ask(struct host *h, struct hf_str focus, struct hf_err *err)
{
	char *words = focus.n > 0 ? hf_strndup(focus.s,
	    hf_utf8_cut(focus, HF_FOCUS_MAX)) : NULL;
	struct hf_request req = { hf_clock_now() +
		(int64_t)HF_REQUEST_SECONDS * 1000, words, NULL };
	int rc;

	if (h->path != NULL)
		hf_main_set(&h->main.path, h->path);
	rc = hf_switch_set(h->st, &h->main, HF_SWITCH_REQUEST, &req, err);
	free(words);
	if (rc == 0)
		rc = hf_host_wait(h->how->driver, h->agent->name, h->id,
		    HF_REQUEST_SECONDS, h->how->json, err);
	return rc;
}

static int
moved(struct host *h, struct hf_err *err)
{
	struct hf_buf text = HF_BUF_INIT;
	int rc;

	hf_buf_puts(&text, moved_words);
	rc = where_to(h, &text, err);
	if (rc == 0)
		block(h, hf_buf_view(&text));
	hf_buf_release(&text);
	return rc;
}

/* The words behind "/handoff". */
static struct hf_str
focus_of(const struct host *h)
{
	struct hf_str p = hf_json_get_str(h->v, "prompt");
	struct hf_str args = hf_json_get_str(h->v, "command_args");

	p = hf_str_trim(p);
	if (hf_str_starts(p, "/handoff"))
		return hf_str_trim(hf_strn(p.s + 8, p.n - 8));
	return hf_str_trim(args);
}

static bool
is_our_command(const struct host *h)
{
	struct hf_str p = hf_str_trim(hf_json_get_str(h->v, "prompt"));

	if (h->event == COMMAND &&
	    hf_json_is(hf_json_get(h->v, "command_name"), "handoff"))
		return true;
	return hf_str_starts(p, "/handoff") && (p.n == 8 ||
	    p.s[8] == ' ' || p.s[8] == '\n' || p.s[8] == '\t');
}

/* /handoff was typed: no turn comes of it, whatever happens. */
static int
command(struct host *h, struct hf_err *err)
{
	struct hf_buf text = HF_BUF_MAX(SAID_MAX);
	int status = 0, rc;

	if (h->main.redirect.id != NULL)
		return moved(h, err);
	if (is_extract(h->config)) {
		rc = run_now(h, focus_of(h), &status, &text, err);
	} else if ((rc = ask(h, focus_of(h), err)) == 0) {
		hf_buf_puts(&text, "The brief is being written. "
		    "'handoff status' says when the new session is there.");
	}
	if (rc < 0) {
		hf_buf_clear(&text);
		hf_buf_printf(&text, "Handoff failed: %s", err->msg);
		rc = 0;
	}
	block(h, hf_buf_view(&text));
	hf_buf_release(&text);
	return rc;
}

/* Only between two turns: in the middle of one it is let go on. */
static int
compact(struct host *h, struct hf_err *err)
{
	struct hf_buf text = HF_BUF_MAX(SAID_MAX);
	int status = 0, rc;

	/* Only there does status 2 stop it. */
	if (!h->config->instead_of_compact || h->path == NULL ||
	    strcmp(h->agent->name, "claude") != 0 ||
	    h->main.redirect.id != NULL)
		return 0;
	if ((rc = hf_settle_busy(h->config, h->path, err)) != 0)
		return rc < 0 ? -1 : 0;
	rc = run_now(h, hf_json_get_str(h->v, "custom_instructions"),
	    &status, &text, err);
	if (rc == 0 && status == 0) {
		hf_buf_puts(&h->answer->said, "Handed off instead of "
		    "compacting.\n");
		hf_buf_str(&h->answer->said, hf_buf_view(&text));
		h->answer->status = 2;
	} else if (rc == 0)
		rc = hf_err_set(err, HF_E_UNAVAILABLE, "the compaction goes "
		    "on: %.*s", (int)hf_str_line(hf_buf_view(&text), NULL).n,
		    hf_buf_cstr(&text));
	hf_buf_release(&text);
	return rc;
}

/* ---- the end of a turn ---- */

int
hf_host_wait(const char *driver, const char *agent, const char *id,
    int64_t seconds, struct hf_str json, struct hf_err *err)
{
	struct hf_buf key = HF_BUF_INIT;
	char limit[32];
	const char *argv[] = { "hf-state", "after", "--driver", driver,
		"--seconds", limit, NULL, NULL };
	int rc;

	snprintf(limit, sizeof(limit), "%lld", (long long)seconds);
	hf_buf_printf(&key, "%s:%s", agent, id);
	argv[6] = hf_buf_cstr(&key);
	rc = hf_detach(argv, json, err);
	hf_buf_release(&key);
	return rc;
}

static int
stop(struct host *h, struct hf_err *err)
{
	const struct hf_main *m = &h->main;

	if (m->redirect.id != NULL || !(m->requested.on ||
	    (m->enabled && h->config->auto_handoff)))
		return 0;
	return hf_host_wait(h->how->driver, h->agent->name, h->id,
	    STOP_SECONDS, h->how->json, err);
}

/* ---- messages ---- */

/* The oldest messages that wait and fit, with what is said about each. They
 * are claimed, so that nobody else hands them over too, and done only once
 * they are written. */
static int
waiting(struct host *h, struct hf_buf *text, struct hf_err *err)
{
	struct hf_inbox *in = hf_calloc(1, sizeof(*in));
	size_t max = CONTEXT_MAX;

	for (;;) {
		if (hf_inbox_claim(h->st, &h->main, max, false, in,
		    err) < 0) {
			free(in);
			return -1;
		}
		h->answer->own = in;
		hf_buf_clear(text);
		hf_inbox_text(text, in);
		if (in->n <= 1 || text->len <= CONTEXT_MAX + 1000)
			return in->n > 0;
		/* Many short ones. */
		if (hf_inbox_undo(h->st, in, err) < 0)
			return -1;
		hf_inbox_release(in);
		max /= 2;
	}
}

/* What waits goes to the model. */
static int
give(struct host *h, struct hf_err *err)
{
	struct hf_buf text = HF_BUF_INIT;
	struct hf_jtree *t;
	struct hf_jnode *o, *out;
	int rc = waiting(h, &text, err);

	if (rc > 0) {
		t = hf_jtree_new();
		o = hf_jtree_obj(t);
		out = hf_jtree_obj(t);
		hf_jset_cstr(t, out, "hookEventName", h->event_name);
		hf_jset_str(t, out, "additionalContext",
		    hf_buf_view(&text));
		hf_jset(t, o, "hookSpecificOutput", out);
		answer(h, t, o);
	}
	hf_buf_release(&text);
	return rc < 0 ? -1 : 0;
}

int
hf_host_done(struct hf_store *st, struct hf_host_answer *a, bool written,
    struct hf_err *err)
{
	struct hf_inbox *in = a->own;
	int rc;

	if (in == NULL)
		return 0;
	rc = written ? hf_inbox_done(st, in, err) :
	    hf_inbox_undo(st, in, err);
	hf_inbox_release(in);
	free(in);
	a->own = NULL;
	return rc;
}

/* The session is opened. One that was handed off says so at once, not only
 * when somebody has typed something. */
static int
begin(struct host *h, struct hf_err *err)
{
	struct hf_buf text = HF_BUF_INIT;
	struct hf_jtree *t;
	struct hf_jnode *o;
	int rc;

	if (h->main.redirect.id == NULL)
		return give(h, err);
	hf_buf_puts(&text, moved_words);
	if ((rc = where_to(h, &text, err)) == 0) {
		t = hf_jtree_new();
		o = hf_jtree_obj(t);
		hf_jset_str(t, o, "systemMessage", hf_buf_view(&text));
		answer(h, t, o);
	}
	hf_buf_release(&text);
	return rc;
}

/* Which prompt it is: the agent's own id for it, else the time it gives.
 * Without either every prompt is another one. */
static struct hf_str
prompt_id(const struct host *h, char made[HF_UUID_LEN])
{
	static const char *const names[] = { "prompt_id", "turn_id",
		"timestamp" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct hf_str s = hf_json_get_str(h->v, names[i]);

		if (s.n > 0 && s.n <= HF_MESSAGE_ID_MAX)
			return s;
	}
	hf_uuid4(made);
	return hf_str(made);
}

/* Only what has arrived at the other end, and can be read there, is kept
 * from going its way here. */
static int
forward(struct host *h, struct hf_err *err)
{
	char made[HF_UUID_LEN];
	struct hf_message msg = { .id = { HF_STR("prompt"),
		prompt_id(h, made) }, .nids = 2,
		.text = hf_json_get_str(h->v, "prompt"),
		.sender = HF_STR("user") };
	struct hf_buf text = HF_BUF_INIT;
	struct hf_delivery done;
	struct hf_main to;
	int rc;

	hf_buf_puts(&text, "This session was handed off. Your prompt waits "
	    "in the new one; continue with:\n");
	rc = where_to(h, &text, err);
	if (rc == 0) {
		rc = hf_main_load(h->st, h->agent->name, h->id, &to, err);
		if (rc >= 0)
			rc = hf_inbox_deliver(h->st, &msg, &to, &done, err);
		if (rc == 0 && !done.again)
			hf_event_session("relayed", to.agent, h->id, to.id);
		hf_main_release(&to);
	}
	if (rc == 0)
		block(h, hf_buf_view(&text));
	hf_buf_release(&text);
	return rc;
}

static int
prompt(struct host *h, struct hf_err *err)
{
	if (is_our_command(h))
		return command(h, err);
	return h->main.redirect.id != NULL ? forward(h, err) : give(h, err);
}

/* ---- the whole ---- */

static int
act(struct host *h, struct hf_err *err)
{
	switch (h->event) {
	case PROMPT:
		return prompt(h, err);
	case COMMAND:
		return is_our_command(h) ? command(h, err) : 0;
	case STOP:
		return stop(h, err);
	case COMPACT:
		return compact(h, err);
	case BEGIN:
		return begin(h, err);
	case OTHER:
		break;
	}
	return 0;
}

int
hf_host(struct hf_store *st, const struct hf_config *c,
    const struct hf_host *how, struct hf_host_answer *a, struct hf_err *err)
{
	struct host h = { .st = st, .config = c, .how = how, .answer = a };
	struct hf_json *j = hf_json_parse(how->json, HF_JSON_MEND, NULL,
	    NULL, err);
	struct hf_err ignored;
	int rc = -1;

	memset(a, 0, sizeof(*a));
	if (j == NULL) {
		hf_err_prefix(err, "the event of a hook");
	} else {
		h.v = hf_json_root(j);
		rc = read_event(&h, err);
		if (rc > 0)
			rc = act(&h, err);
	}
	if (rc < 0) {
		hf_buf_clear(&a->out);
		hf_host_done(st, a, false, &ignored);
	}
	hf_main_release(&h.main);
	free(h.event_name);
	free(h.id);
	free(h.path);
	hf_json_free(j);
	return rc;
}
