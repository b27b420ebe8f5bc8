/*
 * Continuing a session: resolve it, then become its agent (DESIGN section
 * 9).
 */
#ifndef HF_STATE_RESUME_H
#define HF_STATE_RESUME_H

#include "state/inbox.h"
#include "state/route.h"

/* The session at the end of what's chain: its agent, id, path, cwd. 0; 1
 * when its transcript is on another machine, and *there says on whose;
 * HF_E_NOT_FOUND when neither the state nor an agent knows it, or its
 * transcript is gone. Both are to be released in any case. */
struct hf_there { char *host, *user; };
int	hf_resume_find(struct hf_store *st, const char *what,
	    struct hf_session *s, struct hf_there *there,
	    struct hf_err *err);
void	hf_there_release(struct hf_there *there);
/* Appends what continues it there: "ssh -t user@host handoff resume ID". */
void	hf_resume_there_command(struct hf_buf *out,
	    const struct hf_session *s, const struct hf_there *there);
/* Becomes the program of resumeThere, which continues it there; without one
 * says where it is: HF_E_NOT_FOUND. Returns only with an error. */
int	hf_resume_there(const struct hf_config *c,
	    const struct hf_session *s, const struct hf_there *there,
	    struct hf_err *err);
/* Appends "cd DIR && claude --resume ID" for a shell. */
void	hf_resume_command(struct hf_buf *out, const struct hf_session *s,
	    const char *prompt);
/* Becomes the agent, in its folder, without the variables that mark a
 * process as inside an agent. Returns only with an error. */
int	hf_resume_exec(const struct hf_session *s, const char *prompt,
	    struct hf_err *err);
/* The same with what waits for it as its prompt, behind the one given: it
 * is acknowledged once the agent's program runs, and waits on if that could
 * not be started. What is too long for a command line waits on, too. The
 * store is closed on the way: nobody is there any more to do it. */
int	hf_resume_with_messages(struct hf_store **st,
	    const struct hf_config *c, const struct hf_session *s,
	    const char *prompt, struct hf_err *err);

#endif
