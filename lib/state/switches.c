#include "state/switches.h"

#include <stdlib.h>
#include <string.h>

#include "state/events.h"

struct change {
	enum hf_switch what;
	const struct hf_request *req;
	const char *path, *cwd;		/* as they were found just now */
	bool here;			/* the transcript is */
};

static const char *const names[] = {
	[HF_SWITCH_ENABLE] = "enabled", [HF_SWITCH_DISABLE] = "disabled",
	[HF_SWITCH_REQUEST] = "requested", [HF_SWITCH_CANCEL] = "cancelled",
};

static void
request(struct hf_main *m, const struct hf_request *req)
{
	hf_main_clear_request(m);
	m->requested.on = true;
	m->requested.until = req->until;
	hf_main_set(&m->requested.focus, req->focus);
	hf_main_set(&m->requested.to, req->to);
}

static int
change(struct hf_main *m, void *arg, struct hf_err *err)
{
	const struct change *c = arg;
	bool on = c->what == HF_SWITCH_ENABLE || c->what == HF_SWITCH_REQUEST;

	if (on && m->redirect.id != NULL)
		return hf_err_set(err, HF_E_CONFLICT,
		    "session '%s' was handed off already, to '%s'", m->id,
		    m->redirect.id);
	if (!on && !m->stored)
		return 0;
	if (c->path != NULL)
		hf_main_set(&m->path, c->path);
	if (c->cwd != NULL)
		hf_main_set(&m->cwd, c->cwd);
	if (c->here)
		hf_main_place(m);
	if (c->what == HF_SWITCH_ENABLE)
		m->enabled = true;
	if (c->what == HF_SWITCH_DISABLE)
		m->enabled = false;
	if (c->what == HF_SWITCH_REQUEST)
		request(m, c->req);
	if (on)
		return 1;
	hf_main_clear_request(m);
	/* What a handoff was asked for is not wanted any more; behind the
	 * commit point it is too late. */
	if (m->lease.held && m->redirect.id == NULL)
		hf_main_end_attempt(m);
	return 1;
}

int
hf_switch_set(struct hf_store *st, struct hf_main *m, enum hf_switch what,
    const struct hf_request *req, struct hf_err *err)
{
	struct change c = { what, req, m->path, m->cwd,
		hf_main_present(m) };
	struct hf_main now;
	int rc;

	if (m->path != NULL && hf_main_owner(m->path, err) < 0)
		return -1;
	rc = hf_main_update(st, m->agent, m->id, &now, change, &c, err);
	hf_main_release(m);
	*m = now;
	if (rc == 0 && now.stored)
		hf_event_session(names[what], now.agent, now.id, NULL);
	return rc;
}
