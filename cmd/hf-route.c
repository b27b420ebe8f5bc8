#include <stdlib.h>
#include <string.h>

#include "base/cmd.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/opt.h"
#include "json/doc.h"
#include "state/events.h"
#include "state/inbox.h"
#include "state/record.h"
#include "state/resume.h"
#include "state/route.h"

static const char name[] = "hf-route";

struct run {
	struct hf_store *st;
	struct hf_config config;
	bool dry, take, unknown;
	const char *prompt;
	size_t problems;
};

/* ---- where it leads ---- */

static struct hf_jnode *
resume_node(struct hf_jtree *t, const struct hf_main *m)
{
	const struct hf_agent *a = hf_agent_by_name(hf_str(m->agent));
	struct hf_jnode *list;
	struct hf_argv argv = { { NULL }, 0 };
	struct hf_session s;

	if (a == NULL || a->resume == NULL)
		return hf_jtree_null(t);
	hf_session_init(&s);
	s.agent = a;
	hf_session_set(&s.id, hf_str(m->id));
	hf_session_set(&s.path, hf_str(m->path));
	hf_session_set(&s.cwd, hf_str(m->cwd));
	a->resume(&s, NULL, &argv);
	list = hf_jtree_arr(t);
	for (size_t i = 0; i < argv.n; i++)
		hf_jpush_str(t, list, hf_str(argv.v[i]));
	hf_argv_release(&argv);
	hf_session_release(&s);
	return list;
}

static struct hf_jnode *
set_route(struct hf_doc *d, const char *from, const struct hf_main *m)
{
	struct hf_jtree *t = hf_doc_tree(d);
	struct hf_jnode *o = hf_jtree_obj(t);

	hf_jset_cstr(t, o, "from", from);
	hf_jset_cstr(t, o, "to", m->id);
	hf_jset_cstr(t, o, "agent", m->agent);
	hf_jset_cstr(t, o, "path", m->path);
	hf_jset_cstr(t, o, "cwd", m->cwd);
	hf_jset(t, o, "resume", resume_node(t, m));
	hf_doc_set(d, "route", o);
	return o;
}

/* ---- messages ---- */

static int
read_ids(const struct hf_jval *v, struct hf_message *msg, struct hf_err *err)
{
	const struct hf_jval *id = hf_json_get(v, "id"), *e = id;
	struct hf_jiter it;

	hf_json_iter(&it, id);
	if (hf_json_type(id) == HF_J_ARR)
		e = hf_json_next(&it, NULL);
	for (; e != NULL; e = hf_json_next(&it, NULL)) {
		struct hf_str a = hf_json_type(e) == HF_J_NUM ?
		    hf_json_num(e) : hf_json_str(e);

		if (a.n == 0 || a.n > HF_MESSAGE_ID_MAX ||
		    msg->nids == HF_MESSAGE_IDS)
			return hf_err_set(err, HF_E_INVALID,
			    "the message's id is no text of 1 to %d bytes, "
			    "nor a list of at most %d such",
			    (int)HF_MESSAGE_ID_MAX, (int)HF_MESSAGE_IDS);
		msg->id[msg->nids++] = a;
		if (e == id)
			break;
	}
	return 0;
}

/* Whom it is for: an id, AGENT:ID, or {agent, id}. A session that is not
 * registered is looked for by its id, never by a path. */
static int
addressee(struct run *r, const struct hf_jval *to, struct hf_main *m,
    struct hf_err *err)
{
	struct hf_str agent = hf_json_get_str(to, "agent");
	struct hf_str id = hf_json_type(to) == HF_J_OBJ ?
	    hf_json_get_str(to, "id") : hf_json_str(to);
	struct hf_buf what = HF_BUF_INIT;
	int rc;

	if (agent.n > 0) {
		hf_buf_str(&what, agent);
		hf_buf_putc(&what, ':');
	}
	hf_buf_str(&what, id);
	if (id.n == 0 || memchr(what.data, '\0', what.len) != NULL) {
		hf_main_init(m, HF_AGENT_ANY, "");
		rc = hf_err_set(err, HF_E_MISSING,
		    "the message names no session in \"to\"");
	} else if (memchr(id.s, '/', id.n) == NULL) {
		rc = hf_main_find(r->st, hf_buf_cstr(&what), m, NULL, err);
	} else if ((rc = hf_main_lookup(r->st, hf_buf_cstr(&what), m,
	    err)) == 0) {
		rc = hf_err_set(err, HF_E_NOT_FOUND,
		    "'%s' is not known here", hf_buf_cstr(&what));
	}
	hf_buf_release(&what);
	return rc < 0 ? -1 : 0;
}

static int
deliver(struct hf_doc *d, struct run *r, const struct hf_jval *v,
    struct hf_err *err)
{
	struct hf_message msg = { .text = hf_json_get_str(v, "text"),
		.sender = hf_json_get_str(v, "from") };
	struct hf_delivery done;
	struct hf_jnode *o;
	struct hf_main m;
	char *from = NULL;
	int rc;

	if (hf_json_type(v) != HF_J_OBJ)
		return hf_err_set(err, HF_E_INVALID,
		    "the message is no object");
	if (read_ids(v, &msg, err) < 0)
		return -1;
	rc = addressee(r, hf_json_get(v, "to"), &m, err);
	if (rc == 0) {
		from = hf_strdup(m.id);
		rc = hf_inbox_deliver(r->st, &msg, &m, &done, err);
	}
	if (rc == 0) {
		o = set_route(d, from, &m);
		hf_jset_cstr(hf_doc_tree(d), o, "relay", done.relay);
		hf_jset_bool(hf_doc_tree(d), o, "again", done.again);
		if (!done.again)
			hf_event_session("relayed", m.agent, from, m.id);
	}
	free(from);
	hf_main_release(&m);
	return rc;
}

/* ---- the stage ---- */

static bool
is_committed(const struct hf_doc *d)
{
	const struct hf_jval *p = hf_json_get(hf_doc_get(d, "commit"),
	    "phase");

	return hf_json_is(p, hf_phase_name(HF_PHASE_COMMITTED)) ||
	    hf_json_is(p, hf_phase_name(HF_PHASE_PENDING)) ||
	    hf_json_is(p, hf_phase_name(HF_PHASE_STARTED));
}

static int
act(struct hf_doc *d, void *arg, struct hf_err *err)
{
	struct run *r = arg;
	const struct hf_jval *s = hf_doc_get(d, "session");
	struct hf_str agent = hf_json_get_str(s, "agent");
	struct hf_str id = hf_json_get_str(s, "id");
	struct hf_main m;
	char *a, *i;
	int rc;

	if (hf_json_type(hf_doc_get(d, "message")) > HF_J_NULL)
		return deliver(d, r, hf_doc_get(d, "message"), err);
	if (!is_committed(d))
		return 0;
	if (agent.n == 0 || id.n == 0)
		return hf_err_set(err, HF_E_MISSING,
		    "the document names no session");
	a = hf_strndup(agent.s, agent.n);
	i = hf_strndup(id.s, id.n);
	rc = hf_main_load(r->st, a, i, &m, err);
	if (rc >= 0)
		rc = hf_route_follow(r->st, &m, NULL, err);
	if (rc == 0)
		set_route(d, i, &m);
	hf_main_release(&m);
	free(a);
	free(i);
	return rc;
}

/* ---- verbs ---- */

static int
say(const char *text, struct hf_err *err)
{
	struct hf_buf out = HF_BUF_INIT;
	int rc;

	hf_text_safe(&out, hf_str(text), false);
	hf_buf_putc(&out, '\n');
	rc = hf_out(hf_buf_view(&out), err);
	hf_buf_release(&out);
	return rc;
}

static int
resolve(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_main m;
	int rc = hf_route_resolve(r->st, what[0], &m, err);

	(void)n;
	if (rc == 0)
		rc = hf_err_set(err, HF_E_NOT_FOUND,
		    "'%s' is not known here", what[0]);
	else if (rc > 0)
		rc = say(m.id, err);
	hf_main_release(&m);
	return rc;
}

static int
add(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_main m;
	int rc = hf_route_add(r->st, what[0], what[1], err);

	(void)n;
	if (rc < 0)
		return -1;
	if (hf_main_lookup(r->st, what[0], &m, err) > 0)
		hf_event_session("routed", m.agent, m.id, m.redirect.id);
	hf_main_release(&m);
	return 0;
}

static int
remove_route(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_main m;
	int rc = hf_main_find(r->st, what[0], &m, NULL, err);
	struct hf_buf key = HF_BUF_INIT;

	(void)n;
	if (rc >= 0) {
		hf_buf_printf(&key, "%s:%s", m.agent, m.id);
		rc = hf_route_remove(r->st, hf_buf_cstr(&key), err);
	}
	if (rc == 0)
		rc = hf_err_set(err, HF_E_NOT_FOUND,
		    "'%s' is routed nowhere", m.id);
	else if (rc > 0) {
		hf_event_session("unrouted", m.agent, m.id, m.redirect.id);
		rc = 0;
	}
	hf_buf_release(&key);
	hf_main_release(&m);
	return rc;
}

static int
list_one(const struct hf_main *m, const char *problem, void *arg,
    struct hf_err *err)
{
	struct run *r = arg;
	struct hf_buf out = HF_BUF_INIT;
	int rc;

	if (m == NULL) {
		hf_warn("%s", problem);
		r->problems++;
		return 0;
	}
	hf_buf_printf(&out, "%s:", m->agent);
	hf_text_safe(&out, hf_str(m->id), false);
	hf_buf_printf(&out, "\t%s:", m->redirect.agent);
	hf_text_safe(&out, hf_str(m->redirect.id), false);
	hf_buf_putc(&out, '\n');
	rc = hf_out(hf_buf_view(&out), err);
	hf_buf_release(&out);
	return rc;
}

static int
list(struct run *r, int n, char **what, struct hf_err *err)
{
	(void)n, (void)what;
	if (hf_route_each(r->st, false, list_one, r, err) < 0)
		return -1;
	return r->problems > 0 ? HF_EX_DATAERR : HF_EX_OK;
}

static int
check_one(const struct hf_main *m, const char *problem, void *arg,
    struct hf_err *err)
{
	struct run *r = arg;

	(void)m, (void)err;
	if (problem != NULL) {
		hf_warn("%s", problem);
		r->problems++;
	}
	return 0;
}

static int
check(struct run *r, int n, char **what, struct hf_err *err)
{
	(void)n, (void)what;
	if (hf_route_each(r->st, true, check_one, r, err) < 0)
		return -1;
	return r->problems > 0 ? HF_EX_DATAERR : HF_EX_OK;
}

/* Prints what waits; with --take that is the handing over: what was not
 * written whole waits on. */
static int
inbox(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_inbox in = { NULL, 0, false };
	struct hf_buf out = HF_BUF_INIT;
	struct hf_err ignored;
	struct hf_main m;
	int rc = hf_main_find(r->st, what[0], &m, NULL, err);

	(void)n;
	if (rc >= 0)
		rc = hf_route_follow(r->st, &m, NULL, err);
	if (rc == 0)
		rc = r->take ? hf_inbox_claim(r->st, &m, SIZE_MAX,
		    r->unknown, &in, err) :
		    hf_inbox_look(r->st, &m, &in, err);
	for (size_t i = 0; i < in.n; i++)
		hf_inbox_line(&out, &in.w[i]);
	if (rc == 0 && hf_out(hf_buf_view(&out), err) < 0) {
		hf_inbox_undo(r->st, &in, &ignored);
		rc = -1;
	} else if (rc == 0 && r->take) {
		/* Written is written: nobody is to get it a second time. */
		rc = hf_inbox_done(r->st, &in, err);
	}
	if (rc == 0 && in.more)
		hf_warn("there are more messages than these %zu", in.n);
	rc = rc < 0 ? -1 : in.n > 0 ? HF_EX_OK : HF_EX_NO;
	hf_inbox_release(&in);
	hf_buf_release(&out);
	hf_main_release(&m);
	return rc;
}

/* What would be run; messages that wait stay where they are. */
static int
resume_dry(struct run *r, const struct hf_session *s,
    const struct hf_there *there, struct hf_err *err)
{
	struct hf_buf cmd = HF_BUF_INIT, out = HF_BUF_INIT;
	struct hf_inbox in = { NULL, 0, false };
	struct hf_main m;
	int rc;

	if (there->host != NULL)
		hf_resume_there_command(&cmd, s, there);
	else
		hf_resume_command(&cmd, s, r->prompt);
	hf_text_safe(&out, hf_buf_view(&cmd), false);
	hf_buf_putc(&out, '\n');
	rc = hf_main_load(r->st, s->agent->name, s->id, &m, err);
	if (rc > 0 && there->host == NULL)
		rc = hf_inbox_look(r->st, &m, &in, err);
	hf_main_release(&m);
	if (rc >= 0)
		rc = hf_out(hf_buf_view(&out), err);
	if (rc == 0 && in.n > 0)
		hf_warn("%zu message%s for it: handoff resume hands %s over",
		    in.n, in.n == 1 ? " waits" : "s wait",
		    in.n == 1 ? "it" : "them");
	hf_inbox_release(&in);
	hf_buf_release(&cmd);
	hf_buf_release(&out);
	return rc;
}

static int
resume(struct run *r, int n, char **what, struct hf_err *err)
{
	struct hf_there there;
	struct hf_session s;
	int rc = hf_resume_find(r->st, what[0], &s, &there, err);

	(void)n;
	if (rc >= 0 && r->dry)
		rc = resume_dry(r, &s, &there, err);
	else if (rc > 0)
		rc = hf_resume_there(&r->config, &s, &there, err);
	else if (rc == 0)
		rc = hf_resume_with_messages(&r->st, &r->config, &s,
		    r->prompt, err);
	hf_there_release(&there);
	hf_session_release(&s);
	return rc;
}

static const struct {
	const char *word;
	int operands;
	int (*does)(struct run *r, int n, char **what, struct hf_err *err);
} verbs[] = {
	{ "resolve", 1, resolve }, { "list", 0, list }, { "check", 0, check },
	{ "add", 2, add }, { "remove", 1, remove_route },
	{ "resume", 1, resume }, { "inbox", 1, inbox },
};

static int
verb(struct run *r, int n, char **rest, struct hf_err *err)
{
	struct hf_stage s = { name, false, act, r, false };

	if (n == 0)
		return hf_doc_stage(&s, err);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(rest[0], verbs[i].word) != 0)
			continue;
		if (n - 1 != verbs[i].operands)
			return hf_err_set(err, HF_E_USAGE,
			    "%s wants %d operand%s", rest[0],
			    verbs[i].operands,
			    verbs[i].operands == 1 ? "" : "s");
		return verbs[i].does(r, n - 1, rest + 1, err);
	}
	return hf_err_set(err, HF_E_USAGE, "'%s' is not a verb: resolve, "
	    "list, check, add, remove, resume, inbox are", rest[0]);
}

static int
run(int argc, char **argv, struct hf_err *err)
{
	struct run r = { 0 };
	const struct hf_opt opts[] = {
		{ 'n', "dry-run", NULL, "print the command, run nothing "
		    "(resume)", HF_OPT_FLAG, &r.dry, 0, 0 },
		{ 'p', "prompt", "TEXT", "what to say first (resume)",
		    HF_OPT_STR, &r.prompt, 0, 0 },
		{ 't', "take", NULL, "hand over what waits and acknowledge "
		    "it (inbox)", HF_OPT_FLAG, &r.take, 0, 0 },
		{ 0, "unknown", NULL, "with --take: again what may have been "
		    "handed over", HF_OPT_FLAG, &r.unknown, 0, 0 },
		{ 0, NULL, NULL, NULL, HF_OPT_FLAG, NULL, 0, 0 } };
	const struct hf_opt_usage usage = { name, "[resolve ID | list | check "
	    "| add OLD NEW | remove OLD | resume ID | inbox ID]",
	    "say where a session's messages go", opts };
	int n, rc;

	if ((rc = hf_opt_parse(&usage, argc, argv, &n, err)) != 0)
		return rc < 0 ? -1 : HF_EX_OK;
	if (hf_config_load(&r.config, err) < 0)
		return -1;
	rc = hf_store_open(&r.config, &r.st, err);
	if (rc == 0)
		rc = verb(&r, n, argv + 1, err);
	hf_store_close(r.st);
	hf_config_release(&r.config);
	return rc;
}

int
main(int argc, char **argv)
{
	return hf_cmd_main(name, run, argc, argv);
}
