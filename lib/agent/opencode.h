/*
 * opencode (FORMATS 8). opencode.c reads records, opencode_blocks.c what is
 * in them, opencode_store.c the database, opencode_draft.c writes
 * successors.
 *
 * A record is an export, {"info":…,"messages":[{"info":…,"parts":[…]}]}, or
 * one of its messages: the database's rows are read as an export without
 * messages, then each message for itself. A row's v is the message.
 */
#ifndef HF_AGENT_OPENCODE_H
#define HF_AGENT_OPENCODE_H

#include "agent/table.h"

/* What row() keeps from record to record: plain bytes, no pointers. */
struct hf_opencode_own {
	uint64_t reverted;	/* hash of the id of the first message that
				 * the user took back; 0: none */
	bool gone;		/* that one was seen */
};

void	hf_opencode_row(struct hf_scan *sc, const struct hf_record *rec);
void	hf_opencode_blocks(const struct hf_row *row, struct hf_blocks *out);
/* The first text among a message's parts that the user wrote. */
struct hf_str hf_opencode_text(const struct hf_jval *parts);
/* The first part of that type; NULL. */
const struct hf_jval *hf_opencode_part(const struct hf_jval *parts,
	    const char *type);

/* ---- the store ---- */

/* The folder of the client's data; the caller's. */
char	*hf_opencode_data(struct hf_err *err);
char	*hf_opencode_root(struct hf_err *err);
/* The sessions in the database that no other one started. */
int	hf_opencode_each(int (*cb)(const char *path, void *arg,
	    struct hf_err *err), void *arg, struct hf_err *err);
/* The id that a path tells. A successor of ours that was imported is not
 * the file any more: s->path becomes its place in the database. */
void	hf_opencode_by_path(struct hf_session *s);
char	*hf_opencode_by_id(const char *id);
/* Is a part of that id in the database? */
bool	hf_opencode_has_part(const char *id);
int	hf_opencode_open(struct hf_source *src, const struct hf_session *s,
	    struct hf_err *err);
/* Sub-agents that have not ended. */
void	hf_opencode_owned(const struct hf_session *s,
	    void (*cb)(const char *id, void *arg), void *arg);
extern const struct hf_rows hf_opencode_rows;
/* The model of the session that was worked on last, as the database has it,
 * {"id":…,"providerID":…}; HF_E_NOT_FOUND. */
int	hf_opencode_last_model(struct hf_buf *out, struct hf_err *err);

/* ---- successors ---- */

void	hf_opencode_new_id(int64_t ms, char out[64]);
/* Into a folder of ours, for the client to import. HF_E_UNAVAILABLE where
 * the client is not installed. */
int	hf_opencode_place(const struct hf_seed *seed, struct hf_place *out,
	    struct hf_err *err);
int	hf_opencode_draft(const struct hf_seed *seed, struct hf_buf *out,
	    struct hf_err *err);
/* Has the client import it, and looks whether it did. */
int	hf_opencode_publish(const struct hf_seed *seed,
	    const struct hf_place *p, struct hf_err *err);
void	hf_opencode_resume(const struct hf_session *s, const char *prompt,
	    struct hf_argv *out);

#endif
