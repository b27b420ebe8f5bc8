/*
 * Programs that go on without us: in a session of their own, no terminal,
 * no descriptor of ours, what they say in the state folder's auto.log.
 */
#ifndef HF_STATE_DETACH_H
#define HF_STATE_DETACH_H

#include "base/buf.h"
#include "base/err.h"

#define HF_AUTO_LOG	"auto.log"
enum { HF_AUTO_LOG_MAX = 1 << 20 };	/* then it becomes auto.log.1 */

/* Starts argv (looked up in PATH) with input as its stdin, in our
 * environment without what marks a process as inside an agent. Does not
 * wait for it: that it cannot be run is only seen in the log. */
int	hf_detach(const char *const *argv, struct hf_str input,
	    struct hf_err *err);
/* Appends to the log, when there is a state folder. */
void	hf_auto_log(struct hf_str text);

#endif
