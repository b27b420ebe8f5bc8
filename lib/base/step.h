/*
 * Named fault points: places where a crash or a failed call must be
 * survived. In a build with HF_FAULTS a test can stop the process there,
 * or make the call fail:
 *
 *	HANDOFF_CRASH_AT=commit.redirect	SIGKILL at the point
 *	HANDOFF_FAIL_AT=commit.seed-fsync:ENOSPC	the call fails so
 *	HANDOFF_STOP_AT=commit.locked		SIGSTOP at the point
 *
 * Each takes NAME or NAME#N, the N-th time that this process reaches it,
 * and several with commas between. NAME alone crashes and stops the first
 * time, and fails every time. The names that were reached are appended to
 * the file in HANDOFF_STEP_LOG, so that a campaign knows which points there
 * are. What cannot be understood aborts. Without HF_FAULTS all of this is
 * nothing.
 *
 * A point stands directly before the call that it is about:
 *
 *	if (hf_step("file.fsync") < 0 || fsync(fd) < 0)
 */
#ifndef HF_BASE_STEP_H
#define HF_BASE_STEP_H

#ifdef HF_FAULTS
/* 0, or -1 with errno set when a failure was asked for here. */
int	hf_step(const char *name);
#else
#define hf_step(name)	(0)
#endif

#endif
