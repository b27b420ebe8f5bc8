/*
 * Claude Code (FORMATS 3). claude.c reads rows, claude_blocks.c what is in
 * them, claude_store.c finds files, tells who has them open and writes
 * successors.
 */
#ifndef HF_AGENT_CLAUDE_H
#define HF_AGENT_CLAUDE_H

#include "agent/agent.h"

extern const struct hf_agent hf_agent_claude;

/* What a text in a user row is, by how it begins. */
enum hf_claude_text {
	HF_CLAUDE_OWN,		/* the user's own words */
	HF_CLAUDE_ECHO,		/* a command's echo, a reminder: the client's */
	HF_CLAUDE_NOTICE,	/* a task's or another agent's: a turn begins */
	HF_CLAUDE_INTERRUPT,	/* "[Request interrupted by user…" */
	HF_CLAUDE_SEED		/* a brief of ours */
};
enum hf_claude_text hf_claude_text(struct hf_str text);

void	hf_claude_blocks(const struct hf_row *row, struct hf_blocks *out);

/* ${CLAUDE_CONFIG_DIR:-~/.claude}/name; the caller's. */
char	*hf_claude_dir(const char *name, struct hf_err *err);
/* Appends the folder name of a working folder: every UTF-16 unit that is no
 * ASCII letter or digit becomes '-'; beyond 200 units a hash follows. */
void	hf_claude_encode(struct hf_buf *out, struct hf_str path);
/* Is the file's name a session id (a UUID) with ".jsonl"? */
bool	hf_claude_is_id(const char *path);
void	hf_claude_by_path(struct hf_session *s);
int	hf_claude_each(int (*cb)(const char *path, void *arg,
	    struct hf_err *err), void *arg, struct hf_err *err);
char	*hf_claude_by_id(const char *id);
void	hf_claude_live(const struct hf_session *s, struct hf_live *out);
void	hf_claude_owned(const struct hf_session *s,
	    void (*cb)(const char *id, void *arg), void *arg);

void	hf_claude_new_id(int64_t ms, char out[64]);
int	hf_claude_place(const struct hf_seed *seed, struct hf_place *out,
	    struct hf_err *err);
int	hf_claude_draft(const struct hf_seed *seed, struct hf_buf *out,
	    struct hf_err *err);
void	hf_claude_resume(const struct hf_session *s, const char *prompt,
	    struct hf_argv *out);
void	hf_claude_title_row(const struct hf_session *s, struct hf_str title,
	    struct hf_buf *out);

#endif
