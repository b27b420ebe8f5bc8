#include "state/seed.h"

#include <stdlib.h>
#include <string.h>

#include "brief/brief.h"

enum { HEAD_MAX = 1024 };

/* The attempt's id in the head of a seed, the caller's; NULL: none. */
static char *
attempt_of(struct hf_str seed)
{
	static const char begin[] = "handoff-";
	struct hf_str head = hf_strn(seed.s,
	    seed.n < HEAD_MAX ? seed.n : HEAD_MAX);
	size_t at = 0, n;
	char *id;

	while ((at = hf_str_find(head, hf_str(begin), at)) != SIZE_MAX) {
		for (n = at; n < head.n && head.s[n] != ' ' &&
		    head.s[n] != ',' && head.s[n] != '\n'; n++)
			;
		id = hf_strndup(head.s + at, n - at);
		if (hf_record_is_id(id))
			return id;
		free(id);
		at++;
	}
	return NULL;
}

static bool
has_hash(struct hf_store *st, const char *id, struct hf_str hash)
{
	struct hf_attempt r;
	struct hf_err ignored;
	bool same = false;

	if (hf_record_load(st, id, &r, &ignored) > 0)
		same = r.hash != NULL && hf_str_is(hash, r.hash);
	hf_record_release(&r);
	return same;
}

static int
open_store(struct hf_seeds *s)
{
	struct hf_config c;
	struct hf_err ignored;
	int rc;

	if (hf_config_load(&c, &ignored) < 0)
		return -1;
	rc = hf_store_open(&c, &s->st, &ignored);
	hf_config_release(&c);
	return rc;
}

bool
hf_seed_is_ours(struct hf_str seed, void *arg)
{
	struct hf_seeds *s = arg;
	struct hf_str hash;
	bool ours = false;
	char *id;

	if (s->failed || !hf_brief_is_seed(seed, &hash, NULL) ||
	    hash.n == 0 || (id = attempt_of(seed)) == NULL)
		return false;
	if (s->st == NULL && open_store(s) < 0)
		s->failed = true;
	else
		ours = has_hash(s->st, id, hash);
	free(id);
	return ours;
}

void
hf_seeds_close(struct hf_seeds *s)
{
	hf_store_close(s->st);
	s->st = NULL;
}
