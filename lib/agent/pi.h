/*
 * pi and oh-my-pi (omp): one format, two dialects (FORMATS 5 and 6). The
 * agents are the tables hf_agent_pi (pi.c) and hf_agent_omp (omp.c); what
 * both are made of is here. pi.c reads rows, pi_blocks.c what is in them,
 * pi_store.c finds files and writes successors.
 */
#ifndef HF_AGENT_PI_H
#define HF_AGENT_PI_H

#include "agent/agent.h"

extern const struct hf_agent hf_agent_pi;
extern const struct hf_agent hf_agent_omp;

enum hf_pi_dialect { HF_PI_PLAIN, HF_PI_OMP };

/* What row() keeps from record to record: plain bytes, no pointers. */
struct hf_pi_own {
	uint32_t entry;		/* records so far, the header too */
	uint8_t version;	/* 0: no header yet */
	uint8_t title;		/* where the title came from, enum in pi.c */
	bool seeded;		/* the last message was a brief of ours */
	bool answered;		/* a good answer named the model */
	char id[12], kept[12];	/* "#N": entries of version 1 have no ids */
};

void	hf_pi_row(struct hf_scan *sc, const struct hf_record *rec,
	    enum hf_pi_dialect d);
/* How sure is it that this is a file of the family, 0 to 100; *omp: that it
 * is oh-my-pi's. */
int	hf_pi_score(const char *path, const struct hf_jval *const *recs,
	    size_t n, bool *omp);

void	hf_pi_blocks(const struct hf_row *row, struct hf_blocks *out);
/* pi: a quarter of the UTF-16 units of the message, rounded up, an image
 * being 4,800 of them. omp: a quarter of the bytes of each piece of text,
 * rounded up, and 1,200 for an image. */
int64_t	hf_pi_estimate(const struct hf_row *row, enum hf_pi_dialect d);
/* The text that begins a message's content, a string or an array. */
struct hf_str hf_pi_first_text(const struct hf_jval *content);

/* The agent's session files of a root: in it and in the folders in it. */
int	hf_pi_each(const struct hf_agent *agent, const char *root,
	    int (*cb)(const char *path, void *arg, struct hf_err *err),
	    void *arg, struct hf_err *err);
/* The file whose name ends with _id.jsonl; the caller's; NULL: none. */
char	*hf_pi_by_id(const struct hf_agent *agent, const char *root,
	    const char *id);
/* The id that a file's name tells (<time>_<id>.jsonl). A file in the folder
 * of another session's artifacts is a sub-agent's, and that its parent. */
void	hf_pi_by_path(struct hf_session *s);
/* A folder from the environment, "~" expanded; the caller's. */
char	*hf_pi_dir(const char *value, struct hf_err *err);
/* Appends a path with '/', '\' and ':' as '-', without a leading slash. */
void	hf_pi_flat(struct hf_buf *out, const char *path);
/* path without symbolic links; a copy where it does not exist. */
char	*hf_pi_real(const char *path);

void	hf_pi_new_id(int64_t ms, char out[64]);
/* Name <time>_<id>.jsonl; dir becomes the place's. */
void	hf_pi_place(const struct hf_seed *seed, char *dir,
	    struct hf_place *out);
int	hf_pi_draft(const struct hf_seed *seed, enum hf_pi_dialect d,
	    struct hf_buf *out, struct hf_err *err);
/* program flag FILE-or-id [prompt] */
void	hf_pi_resume(const struct hf_session *s, const char *program,
	    const char *flag, const char *prompt, struct hf_argv *out);

#endif
