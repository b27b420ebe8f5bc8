/*
 * The providers "claude", "codex" and "pi": the agent itself goes on with a
 * fork of the session that leaves no trace (FORMATS 11.1), with its own
 * login, system prompt and tools. The fork cannot act: Claude Code's tools
 * stay listed, so that its cached prefix is found, but a hook denies every
 * call; Codex may only read; pi, which gets a copy of the session, has no
 * tools.
 *
 * In its environment HANDOFF_FORK is 1, so that hooks of ours in it know.
 */
#ifndef HF_MODEL_FORK_H
#define HF_MODEL_FORK_H

#include "model/provider.h"

extern const struct hf_provider hf_provider_claude, hf_provider_codex,
	    hf_provider_pi;

/* What Claude Code printed with --output-format json, into *a; pure. */
int	hf_fork_claude(struct hf_str out, struct hf_answer *a,
	    struct hf_err *err);

#endif
