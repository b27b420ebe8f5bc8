#include "state/late.h"

#include <inttypes.h>
#include <stdio.h>

#include "session/facts.h"
#include "state/attempt.h"
#include "state/inbox.h"

static int
deliver(struct hf_store *st, const struct hf_attempt *r,
    const struct hf_fact_text *said, size_t n, struct hf_err *err)
{
	struct hf_message msg = { .text = said->text, .late = true };
	struct hf_delivery done;
	struct hf_main m;
	char number[24];
	int rc;

	snprintf(number, sizeof(number), "%zu", n);
	msg.id[msg.nids++] = HF_STR("late");
	msg.id[msg.nids++] = hf_str(r->id);
	msg.id[msg.nids++] = hf_str(number);
	rc = hf_main_load(st, r->source.agent, r->source.id, &m, err);
	if (rc >= 0)
		rc = hf_inbox_deliver(st, &msg, &m, &done, err);
	hf_main_release(&m);
	return rc < 0 ? -1 : 0;
}

/* Was it written behind what the last look saw? A database has no size to
 * read up to: its rows have times. */
static bool
is_late(const struct hf_attempt *r, const struct hf_walk *w,
    const struct hf_fact_text *said)
{
	const struct hf_source_part *part;
	const struct hf_ref *ref;

	if (hf_agent_of_rows(r->source.path) != NULL)
		return said->time > r->begun;
	if (said->at == 0 || said->at > w->path.n)
		return false;
	ref = &w->path.row[said->at - 1].ref;
	part = &w->src.part[ref->part];
	return !part->inherited && !part->packed && part->text.s == NULL &&
	    ref->off >= (uint64_t)r->revision.size;
}

static int
look(struct hf_store *st, const struct hf_attempt *r, struct hf_walk *w,
    struct hf_err *err)
{
	struct hf_facts f = { 0 };
	struct hf_err ignored;
	int rc = 0;

	if (hf_facts_read(w, &f, &ignored) == 0)
		for (size_t i = 0; i < f.nrequests && rc == 0; i++)
			if (is_late(r, w, &f.request[i]))
				rc = deliver(st, r, &f.request[i], i, err);
	hf_facts_release(&f);
	return rc;
}

int
hf_late_forward(struct hf_store *st, const struct hf_attempt *r,
    struct hf_err *err)
{
	struct hf_file_id file;
	struct hf_err ignored;
	struct hf_session s;
	struct hf_walk w;
	int rc = 0;

	if (hf_attempt_step("commit.late", err) < 0)
		return -1;
	/* A brief that was taken over has no transcript here. */
	if (r->source.path == NULL || r->revision.size < 0 ||
	    hf_measure_file(r->source.path, &file, &ignored) < 0 ||
	    file.size == (uint64_t)r->revision.size)
		return 0;
	hf_session_init(&s);
	s.agent = hf_agent_by_name(hf_str(r->source.agent));
	hf_session_set(&s.path, hf_str(r->source.path));
	hf_session_set(&s.id, hf_str(r->source.id));
	if (s.agent != NULL &&
	    hf_walk_open(&w, &s, UINT64_MAX, &ignored) == 0) {
		rc = look(st, r, &w, err);
		hf_walk_close(&w);
	}
	hf_session_release(&s);
	return rc;
}
