/*
 * Being called by the agents: what 'handoff setup AGENT' adds to their own
 * settings, and takes out of them again. Settings are merged (hookset.h);
 * a file that is ours whole is told by the mark in it, and one of that name
 * that is not ours is left alone.
 */
#ifndef HF_STATE_SETUP_H
#define HF_STATE_SETUP_H

#include "agent/agent.h"

enum hf_setup_do { HF_SETUP_SHOW, HF_SETUP_WRITE, HF_SETUP_REMOVE };

/* Shows, writes or removes what an agent needs to call driver (absolute),
 * and appends what was done, for people. HF_E_USAGE for an agent that has
 * no such settings, HF_E_CONFIG for a file that cannot be merged into: then
 * nothing at all was changed. Doing it again changes nothing. */
int	hf_setup(const char *agent, enum hf_setup_do what,
	    const char *driver, struct hf_buf *said, struct hf_err *err);

/* The names of the agents that it is offered for, ends with NULL. */
const char *const *hf_setup_agents(void);

/* Is it set up? 1 all of it, 0 not or only in part, -1 with *err the file
 * that cannot be read. *command, the caller's, is the program that the
 * agent calls; NULL when it calls none. */
int	hf_setup_is(const char *agent, char **command, struct hf_err *err);

#endif
