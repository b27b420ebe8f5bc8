#include <string.h>

#include "session/reread.h"

static void
capture(struct hf_scan *sc, const struct hf_row *row)
{
	struct hf_reread *r = sc->to;

	if (r->found || row->ref.item > r->item)
		return;
	/* The wanted one, or the nearest before it. */
	r->row = *row;
	r->found = row->ref.item == r->item;
}

void
hf_reread_init(struct hf_reread *r, struct hf_source *src,
    struct hf_scan *scan)
{
	const struct hf_session *s = scan->session;

	memset(r, 0, sizeof(*r));
	r->src = src;
	r->scan = scan;
	hf_session_init(&r->shadow);
	r->shadow.agent = s->agent;
	r->shadow.subagent = s->subagent;
	r->shadow.archived = s->archived;
	hf_session_set(&r->shadow.id, hf_str(s->id));
	hf_session_set(&r->shadow.path, hf_str(s->path));
	hf_session_set(&r->shadow.cwd, hf_str(s->cwd));
	scan->session = &r->shadow;
	scan->emit = capture;
	scan->to = r;
}

void
hf_reread_release(struct hf_reread *r)
{
	hf_session_release(&r->shadow);
	r->scan = NULL;
}

int
hf_reread(struct hf_reread *r, struct hf_ref ref, const struct hf_row **row,
    struct hf_err *err)
{
	struct hf_record rec;

	if (hf_source_at(r->src, ref, &rec, err) < 0)
		return -1;
	r->item = ref.item;
	r->found = false;
	r->scan->only = true;
	r->scan->item = ref.item;
	hf_row_init(&r->row, &rec);
	r->scan->session->agent->row(r->scan, &rec);
	*row = &r->row;
	return 0;
}
