/*
 * Gemini CLI (FORMATS 7). gemini.c reads rows, gemini_blocks.c what is in
 * them, gemini_store.c finds files and folders of work, gemini_draft.c
 * writes successors.
 *
 * A row's v is the message; a message stands on a line of its own, in a
 * "$set" or in the header of an old file that is one JSON object.
 */
#ifndef HF_AGENT_GEMINI_H
#define HF_AGENT_GEMINI_H

#include "agent/table.h"

/* What row() keeps from record to record: plain bytes, no pointers. */
struct hf_gemini_own {
	uint64_t first;		/* hash of the id of the list's first message
				 * that is not the client's; 0: none */
	bool seeded;		/* the last message was a brief of ours */
	bool looked;		/* for the folder of work */
};

/* ---- what is in a message ---- */

void	hf_gemini_blocks(const struct hf_row *row, struct hf_blocks *out);
/* The text that a message's content begins with, a string or parts. */
struct hf_str hf_gemini_text(const struct hf_jval *content);
/* The first part of an array that has such a member: its value. */
const struct hf_jval *hf_gemini_part(const struct hf_jval *content,
	    const char *key);
/* Does the result of a call say that the user cancelled it? */
bool	hf_gemini_cancelled(const struct hf_jval *response);

/* ---- the store ---- */

/* ~/.gemini, of $GEMINI_CLI_HOME if that is set; the caller's. */
char	*hf_gemini_home(struct hf_err *err);
char	*hf_gemini_root(struct hf_err *err);
/* The newest file of each session in the store. */
int	hf_gemini_each(int (*cb)(const char *path, void *arg,
	    struct hf_err *err), void *arg, struct hf_err *err);
/* A session in several files is its newest one: s->path becomes that. The
 * folder of work by the store's own marks; a sub-agent's parent. */
void	hf_gemini_by_path(struct hf_session *s);
char	*hf_gemini_by_id(const char *id);
/* The files of the session, oldest first. */
int	hf_gemini_open(struct hf_source *src, const struct hf_session *s,
	    struct hf_err *err);
void	hf_gemini_owned(const struct hf_session *s,
	    void (*cb)(const char *id, void *arg), void *arg);
/* The folder of work whose SHA-256 is hash, of those that the registries
 * beside path (NULL: none), above it and at home know; the caller's; NULL. */
char	*hf_gemini_cwd(const char *path, struct hf_str hash);
/* A registry's entries, "projects" of a projects.json; NULL: there is none
 * that can be read. *j is the caller's. */
const struct hf_jval *hf_gemini_projects(const char *file,
	    struct hf_json **j);
/* Whose slug it is, by the mark in folder/slug; the caller's, NULL: no
 * mark. */
char	*hf_gemini_owner(const char *folder, const char *slug);

/* ---- successors ---- */

void	hf_gemini_new_id(int64_t ms, char out[64]);
int	hf_gemini_place(const struct hf_seed *seed, struct hf_place *out,
	    struct hf_err *err);
int	hf_gemini_draft(const struct hf_seed *seed, struct hf_buf *out,
	    struct hf_err *err);
/* Registers the folder of work under the slug. HF_E_EXISTS when another
 * folder has it by now. */
int	hf_gemini_publish(const struct hf_seed *seed,
	    const struct hf_place *p, struct hf_err *err);
void	hf_gemini_resume(const struct hf_session *s, const char *prompt,
	    struct hf_argv *out);

#endif
