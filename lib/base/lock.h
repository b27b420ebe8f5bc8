/*
 * Locks between processes: flock(2) on a file that is never removed, so a
 * killed holder frees it. Held only for short critical sections without
 * hooks, network or transcripts inside.
 */
#ifndef HF_BASE_LOCK_H
#define HF_BASE_LOCK_H

#include "base/err.h"
#include "base/file.h"

/* Takes d/name exclusively within wait_ms (0: only tries). Returns the
 * descriptor, or -1: HF_E_LOCKED at the deadline, HF_E_IO otherwise (no
 * flock on this file system is named), HF_E_CANCELLED by a signal. */
int	hf_lock(const struct hf_dir *d, const char *name, long wait_ms,
	    struct hf_err *err);
void	hf_unlock(int fd);

#endif
