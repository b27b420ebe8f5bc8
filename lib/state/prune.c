#include "state/prune.h"

#include <string.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/sig.h"
#include "state/main.h"
#include "state/record.h"

static const int64_t day_ms = 24 * 3600 * 1000;

static bool
is(const char *a, const char *b)
{
	return a != NULL && strcmp(a, b) == 0;
}

/* 1 it can go, 0 it stays. */
static int
is_over(struct hf_store *st, const struct hf_attempt *r, struct hf_err *err)
{
	struct hf_open open;
	struct hf_main m;
	int rc;

	if (r->phase != HF_PHASE_FAILED && r->phase != HF_PHASE_STARTED)
		return 0;
	if ((rc = hf_open_load(st, r->id, &open, err)) != 0) {
		hf_open_release(&open);
		return rc < 0 ? -1 : 0;
	}
	if (r->source.id == NULL)
		return 1;
	rc = hf_main_load(st, r->source.agent != NULL ? r->source.agent :
	    HF_AGENT_ANY, r->source.id, &m, err);
	if (rc >= 0)
		rc = !is(m.attempt, r->id) && !is(m.redirect.attempt, r->id);
	hf_main_release(&m);
	return rc;
}

static int
prune_one(struct hf_store *st, const char *key, size_t *removed,
    struct hf_err *err)
{
	struct hf_err why = { HF_OK, "" };
	struct hf_attempt r;
	int rc = hf_record_load(st, key + strlen("records/"), &r, &why);

	if (rc > 0 && (rc = is_over(st, &r, &why)) > 0) {
		rc = hf_store_remove(st, key, &r.rev, &why);
		if (rc > 0)
			++*removed;
	}
	hf_record_release(&r);
	if (rc >= 0 || why.code == HF_E_CHANGED)
		return 0;
	/* What cannot be read is no reason to keep the rest. */
	if (why.code == HF_E_INVALID) {
		hf_warn_err(&why);
		return 0;
	}
	*err = why;
	return -1;
}

int
hf_prune(struct hf_store *st, int64_t days, size_t *removed,
    struct hf_err *err)
{
	int64_t before = hf_clock_now() - days * day_ms, made;
	struct hf_keys keys;
	int rc = 0;

	*removed = 0;
	if (hf_store_list(st, "records", NULL, SIZE_MAX, &keys, err) < 0)
		return -1;
	for (size_t i = 0; i < keys.n && rc == 0; i++) {
		made = hf_record_id_time(keys.key[i] + strlen("records/"));
		if (made >= 0 && made < before)
			rc = prune_one(st, keys.key[i], removed, err);
		if (rc == 0)
			rc = hf_sig_check(err);
	}
	hf_keys_release(&keys);
	return rc < 0 ? -1 : hf_store_tidy(st, err);
}
