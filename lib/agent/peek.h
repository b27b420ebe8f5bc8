/*
 * What the first and last bytes of a session tell: hf_session_peek and
 * hf_session_peek_source of agent.h, and opening what may be a session.
 */
#ifndef HF_AGENT_PEEK_H
#define HF_AGENT_PEEK_H

#include "agent/agent.h"

/* Opens a regular file for reading, without waiting for a FIFO's other end.
 * HF_E_NOT_FOUND, HF_E_NOT_A_SESSION for a folder and the like, HF_E_IO. */
int	hf_peek_open(const char *path, struct hf_err *err);
/* What the last rows of an agent's file say about the turn; HF_TURN_NONE
 * where nothing can be told. */
enum hf_turn hf_peek_turn(const struct hf_agent *agent, const char *path);

#endif
