#include "state/late.h"

#include <inttypes.h>
#include <stdio.h>

#include "session/facts.h"
#include "state/attempt.h"
#include "state/inbox.h"

/* The user's own words in the first limit bytes. */
static int
read_requests(const struct hf_attempt *r, uint64_t limit, struct hf_facts *f,
    struct hf_err *err)
{
	struct hf_session s;
	struct hf_walk w;
	int rc = -1;

	hf_session_init(&s);
	s.agent = hf_agent_by_name(hf_str(r->source.agent));
	hf_session_set(&s.path, hf_str(r->source.path));
	hf_session_set(&s.id, hf_str(r->source.id));
	if (s.agent != NULL && hf_walk_open(&w, &s, limit, err) == 0) {
		rc = hf_facts_read(&w, f, err);
		hf_walk_close(&w);
	}
	hf_session_release(&s);
	return rc;
}

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

/* A database has no size to read up to: its rows have times. */
static bool
is_late(const struct hf_attempt *r, const struct hf_fact_text *said,
    size_t i, size_t seen, bool by_time)
{
	return by_time ? said->time > r->begun : i >= seen;
}

int
hf_late_forward(struct hf_store *st, const struct hf_attempt *r,
    struct hf_err *err)
{
	const struct hf_agent *a;
	struct hf_facts before = { 0 }, now = { 0 };
	struct hf_file_id file;
	struct hf_err ignored;
	size_t seen = 0;
	int rc = 0;

	if (hf_attempt_step("commit.late", err) < 0)
		return -1;
	/* A brief that was taken over has no transcript here. */
	if (r->source.path == NULL || r->revision.size < 0 ||
	    hf_measure_file(r->source.path, &file, &ignored) < 0 ||
	    file.size == (uint64_t)r->revision.size)
		return 0;
	a = hf_agent_of_rows(r->source.path);
	if ((a == NULL && read_requests(r, (uint64_t)r->revision.size,
	    &before, &ignored) < 0) ||
	    read_requests(r, UINT64_MAX, &now, &ignored) < 0)
		goto out;
	seen = before.nrequests;
	for (size_t i = 0; i < now.nrequests && rc == 0; i++)
		if (is_late(r, &now.request[i], i, seen, a != NULL))
			rc = deliver(st, r, &now.request[i], i, err);
out:
	hf_facts_release(&before);
	hf_facts_release(&now);
	return rc;
}
