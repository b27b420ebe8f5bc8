/*
 * Hooks: programs of the user in the configuration folder's hooks/ (DESIGN
 * section 8). No shell, an empty environment but for PATH, HOME, LANG and
 * HANDOFF_*, a time limit, bounded output. A hook, and the folders that
 * lead to it, must belong to the user or root and be writable by nobody
 * else: HF_E_CONFIG.
 */
#ifndef HF_STATE_HOOKS_H
#define HF_STATE_HOOKS_H

#include "config/config.h"
#include "state/record.h"

enum { HF_HOOK_OUTPUT = 64 << 10 };

/* Asks hooks/name with text on its stdin. 0 there is none; 1 with *status
 * its exit status and, if out is not NULL, what it printed; -1. */
int	hf_hook_run(const char *name, struct hf_str text, int *status,
	    struct hf_buf *out, struct hf_err *err);
/* May the handoff go on? HF_E_VETOED when before-switch says no. One that
 * cannot be asked, or does not answer in time, says no too. */
int	hf_hook_veto(struct hf_str document, struct hf_err *err);
/* What the blockers hook prints, a line each, added to the list (the
 * caller's to free); more than max are cut. One that fails is a blocker
 * itself: "blockers-hook-failed". */
int	hf_hook_blockers(struct hf_str document, char **list, size_t *n,
	    size_t max, struct hf_err *err);
/* Starts the successor: hooks/start, else the configuration's start with
 * {id} {path} {cwd} {agent} put in. 1 done, 0 there is nothing that would,
 * -1. */
int	hf_hook_start(const struct hf_config *c, const struct hf_attempt *r,
	    struct hf_str document, struct hf_err *err);
/* Tells hooks/name (switched, failed); what goes wrong is warned of. */
void	hf_hook_tell(const char *name, struct hf_str document);

#endif
