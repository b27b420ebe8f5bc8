/*
 * Codex: rollouts (FORMATS 4). codex.c reads rows, codex_items.c tells what
 * items and texts are, codex_usage.c counts, codex_blocks.c reads what is in
 * a row, codex_store.c finds files, codex_draft.c writes successors.
 *
 * A row's v is the payload of its record; of the rows behind a compaction,
 * the item that it kept.
 */
#ifndef HF_AGENT_CODEX_H
#define HF_AGENT_CODEX_H

#include "agent/table.h"

/* ---- what items and texts are ---- */

/* The kinds of a response item, by its type. */
enum hf_codex_item {
	HF_CODEX_OTHER,
	HF_CODEX_MESSAGE,
	HF_CODEX_REASONING,
	HF_CODEX_CALL,		/* its output is another item */
	HF_CODEX_DONE,		/* a call that holds its result */
	HF_CODEX_OUTPUT,
	HF_CODEX_SEALED		/* a summary that only the model can read */
};
enum hf_codex_item hf_codex_item(struct hf_str type);

/* What a text of role user is, by how it begins. */
enum hf_codex_text {
	HF_CODEX_OWN,		/* the user's own words */
	HF_CODEX_HARNESS,	/* the client's: instructions, notices */
	HF_CODEX_SHELL,		/* a line that the user ran: "!make" */
	HF_CODEX_SUMMARY,	/* of a compaction */
	HF_CODEX_SEED		/* a brief of ours */
};
enum hf_codex_text hf_codex_text(struct hf_str text);
/* The first text of a message's content that is not a picture's label. */
struct hf_str hf_codex_first_text(const struct hf_jval *content);
/* Is it a label around a picture, of the client's making? */
bool	hf_codex_label(struct hf_str text);

/* What of a prompt is remembered, to know it again. */
enum { HF_CODEX_PARTS = 4 };
struct hf_codex_mark {
	uint64_t hash[HF_CODEX_PARTS];	/* of the whole, of its parts */
	uint32_t n;
};
/* Of a string or an array of parts. */
void	hf_codex_mark(struct hf_codex_mark *m, const struct hf_jval *content);
bool	hf_codex_same(const struct hf_codex_mark *a,
	    const struct hf_codex_mark *b);

/* Has a compaction (its payload) a summary that only the model can read? */
bool	hf_codex_sealed(const struct hf_jval *v);
/* The kind of an item that a compaction kept behind its summary; OTHER for
 * what is not shown: instructions, the summary once more. */
enum hf_row_kind hf_codex_kept(const struct hf_jval *v,
	    struct hf_str summary);

/* ---- rows ---- */

/* The session_meta rows so far: none, another session's, the file's own. */
enum hf_codex_meta { HF_CODEX_META_NONE, HF_CODEX_META_OTHER,
	HF_CODEX_META_OWN };

enum { HF_CODEX_PROMPTS = 64, HF_CODEX_CALLS = 32 };

struct hf_codex_counts { int64_t in, cached, written, out; };

/* What row() keeps from record to record: plain bytes, no pointers. */
struct hf_codex_own {
	struct hf_codex_counts total;	/* the client's counter */
	uint64_t turn;		/* hash of the open turn's id; 0: none */
	uint64_t line;		/* of the last record */
	int64_t began;		/* when the session began, ms */
	int64_t copied;		/* when a fork's last copy was written, ms */
	struct hf_codex_mark waiting;	/* a prompt whose other row may
					 * still come */
	struct { uint64_t hash; uint32_t row; } prompt[HF_CODEX_PROMPTS];
	uint32_t prompts;	/* on the branch; the last of them are
				 * remembered */
	uint32_t lost;		/* those that are not */
	uint64_t call[HF_CODEX_CALLS];	/* hashes of the last calls' ids */
	uint32_t calls;
	uint32_t rows;		/* of the chain */
	uint32_t readable;	/* the first that no summary stands for */
	uint8_t meta;		/* enum hf_codex_meta */
	bool waits, by_event;	/* there is one waiting; an event's */
	bool counted;		/* total is one */
	bool forked;		/* the counter may begin with a parent's */
	bool at_fork;		/* total is the parent's */
	bool copying;		/* rows are copies of a parent's */
	bool tasks;		/* turns are marked in this file */
	bool estimated;		/* the last figure was an estimate */
	bool compacted;		/* what follows may repeat */
	bool seeded;		/* the last message was a brief of ours */
	bool inherited;		/* the record at hand is a copy */
	bool named;		/* an event told the title */
	char id[16], up[16];	/* "#N", of the row at hand */
};

/* Reads what a token_count tells: context, window, and usage as growth of
 * the client's counter. */
void	hf_codex_usage(struct hf_codex_own *own, struct hf_row *row,
	    const struct hf_jval *info);

void	hf_codex_blocks(const struct hf_row *row, struct hf_blocks *out);

/* ---- the store ---- */

/* $CODEX_HOME or ~/.codex; the caller's. */
char	*hf_codex_home(struct hf_err *err);
/* The rollout files in sessions/ and archived_sessions/. */
int	hf_codex_each(int (*cb)(const char *path, void *arg,
	    struct hf_err *err), void *arg, struct hf_err *err);
/* The id in the file's name, whether it is archived, and the name that the
 * user gave the session, from the index beside the store. */
void	hf_codex_by_path(struct hf_session *s);
/* That name alone. */
void	hf_codex_set_name(struct hf_session *s);
char	*hf_codex_by_id(const char *id);
/* The history that a fork has in its parents' files, then its own file. */
int	hf_codex_open(struct hf_source *src, const struct hf_session *s,
	    struct hf_err *err);
void	hf_codex_live(const struct hf_session *s, struct hf_live *out);
void	hf_codex_owned(const struct hf_session *s,
	    void (*cb)(const char *id, void *arg), void *arg);
/* The milliseconds in a UUID of version 7; -1 for anything else. */
int64_t	hf_codex_time(struct hf_str id);
/* Appends the last bytes of a file, at most max; false if there is none. */
bool	hf_codex_tail(const char *path, size_t max, struct hf_buf *out);
/* The name that the last line of id in an index gives it, in out; false if
 * there is none. path NULL or not there: none. */
bool	hf_codex_name(const char *path, struct hf_str id,
	    struct hf_buf *out);

/* ---- successors ---- */

void	hf_codex_new_id(int64_t ms, char out[64]);
int	hf_codex_place(const struct hf_seed *seed, struct hf_place *out,
	    struct hf_err *err);
int	hf_codex_draft(const struct hf_seed *seed, struct hf_buf *out,
	    struct hf_err *err);
/* Names it in the index. */
int	hf_codex_publish(const struct hf_seed *seed, const struct hf_place *p,
	    struct hf_err *err);
void	hf_codex_resume(const struct hf_session *s, const char *prompt,
	    struct hf_argv *out);

#endif
