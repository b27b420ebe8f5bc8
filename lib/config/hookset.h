/*
 * Our hooks in an agent's settings: {"hooks":{"Event":[{"hooks":[{"type":
 * "command","command":…}]}]}}, the shape that Claude Code, Codex and Gemini
 * CLI share. All else in the text stays byte for byte.
 */
#ifndef HF_CONFIG_HOOKSET_H
#define HF_CONFIG_HOOKSET_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct hf_hookset {
	const char *event;
	int64_t timeout;	/* in the agent's own unit; 0: its default */
};

/* Is it a hook command of ours, of whatever version and folder: one that
 * runs "handoff hook"? */
bool	hf_hookset_is(struct hf_str command);
/* Appends text (blank: a new file) in which each event of set (ends with
 * event NULL) runs command once. 1; 0 when it does already, out as it was;
 * -1 with HF_E_CONFIG for a text that is no such settings. */
int	hf_hookset_add(struct hf_buf *out, struct hf_str text,
	    const struct hf_hookset *set, const char *command,
	    struct hf_err *err);
/* Appends text without any hook of ours, and without what only held them.
 * As above; "" when nothing else was in it. */
int	hf_hookset_remove(struct hf_buf *out, struct hf_str text,
	    struct hf_err *err);
/* How many events of set run a hook of ours; the first such command is
 * *command, the caller's, NULL when there is none. */
int	hf_hookset_count(struct hf_str text, const struct hf_hookset *set,
	    char **command, struct hf_err *err);

#endif
