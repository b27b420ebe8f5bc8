#include "state/lease.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/proc.h"

static void
copy(char *out, size_t max, struct hf_str a)
{
	size_t n = a.n < max - 1 ? a.n : max - 1;

	if (n > 0)
		memcpy(out, a.s, n);
	out[n] = '\0';
}

void
hf_lease_take(struct hf_lease *l, int64_t seconds, long pid)
{
	bool alive = false;

	memset(l, 0, sizeof(*l));
	l->held = true;
	copy(l->host, sizeof(l->host), hf_str(hf_proc_host()));
	copy(l->boot, sizeof(l->boot), hf_str(hf_proc_boot_id()));
	l->deadline = hf_clock_boot() + seconds * 1000;
	if (pid > 0) {
		l->start = hf_proc_start(pid, &alive);
		l->pid = alive ? pid : 0;
	}
}

/* The same boot's clock counts for every container on the machine; its
 * process ids only under the same host name. */
enum hf_lease_state
hf_lease_look(const struct hf_lease *l)
{
	bool here = strcmp(l->host, hf_proc_host()) == 0;
	bool boot = strcmp(l->boot, hf_proc_boot_id()) == 0;
	unsigned long long start;
	bool alive = true;

	if (!l->held)
		return HF_LEASE_NONE;
	if (!boot && !here)
		return HF_LEASE_LIVE;
	if (!boot)
		return HF_LEASE_DEAD;
	if (hf_clock_boot() >= l->deadline)
		return HF_LEASE_LAPSED;
	if (!here || l->pid <= 0)
		return HF_LEASE_LIVE;
	start = hf_proc_start(l->pid, &alive);
	if (!alive || (start != 0 && l->start != 0 && start != l->start))
		return HF_LEASE_DEAD;
	return HF_LEASE_LIVE;
}

bool
hf_lease_same(const struct hf_lease *a, const struct hf_lease *b)
{
	return a->held == b->held && a->deadline == b->deadline &&
	    a->pid == b->pid && strcmp(a->boot, b->boot) == 0 &&
	    strcmp(a->host, b->host) == 0;
}

struct hf_jnode *
hf_lease_to_json(struct hf_jtree *t, const struct hf_lease *l)
{
	struct hf_jnode *o;
	char start[24];

	if (!l->held)
		return hf_jtree_null(t);
	o = hf_jtree_obj(t);
	hf_jset_cstr(t, o, "host", l->host);
	hf_jset_cstr(t, o, "boot", l->boot);
	hf_jset_int(t, o, "deadline", l->deadline);
	if (l->pid > 0)
		hf_jset_int(t, o, "pid", l->pid);
	else
		hf_jset_null(t, o, "pid");
	/* Ticks since the boot: a number that may need all its 64 bits. */
	snprintf(start, sizeof(start), "%llu", l->start);
	hf_jset(t, o, "start", hf_jtree_num(t, hf_str(start)));
	if (l->id[0] != '\0')
		hf_jset_cstr(t, o, "id", l->id);
	return o;
}

void
hf_lease_from_json(const struct hf_jval *v, struct hf_lease *l)
{
	int64_t n;

	memset(l, 0, sizeof(*l));
	if (!hf_json_int(hf_json_get(v, "deadline"), &l->deadline))
		return;
	l->held = true;
	copy(l->host, sizeof(l->host), hf_json_get_str(v, "host"));
	copy(l->boot, sizeof(l->boot), hf_json_get_str(v, "boot"));
	copy(l->id, sizeof(l->id), hf_json_get_str(v, "id"));
	if (hf_json_int(hf_json_get(v, "pid"), &n) && n > 0 && n <= INT32_MAX)
		l->pid = (long)n;
	if (hf_json_int(hf_json_get(v, "start"), &n) && n > 0)
		l->start = (unsigned long long)n;
}
