/*
 * The agents there are. A new one is one file in this folder, one line here
 * and one in the table of agent.c.
 */
#ifndef HF_AGENT_TABLE_H
#define HF_AGENT_TABLE_H

#include "agent/agent.h"

extern const struct hf_agent hf_agent_claude;
extern const struct hf_agent hf_agent_codex;
extern const struct hf_agent hf_agent_pi;
extern const struct hf_agent hf_agent_omp;
extern const struct hf_agent hf_agent_gemini;
extern const struct hf_agent hf_agent_opencode;

#endif
