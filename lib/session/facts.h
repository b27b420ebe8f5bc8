/*
 * What code can know of a session without a model: files, commands,
 * to-dos, requests, answers, in one walk of the active branch. Used by
 * extract, by the prompt and by the check of a brief.
 */
#ifndef HF_SESSION_FACTS_H
#define HF_SESSION_FACTS_H

#include "session/walk.h"

enum { HF_FACTS_FILES = 4096, HF_FACTS_COMMANDS = 4096,
	HF_FACTS_REQUESTS = 4096, HF_FACTS_TODOS = 512,
	HF_FACTS_ANSWERS = 512, HF_FACTS_TEXT = 16384 };

struct hf_fact_file {
	struct hf_str path;	/* absolute, "." and ".." resolved */
	bool written, read, deleted;
	uint32_t last_write;	/* place on the branch; 0: never */
	uint32_t last_seen;
};
struct hf_fact_command {
	struct hf_str text;
	struct hf_str output;	/* last line that is not blank, cut */
	bool done, failed;	/* its result came; it failed */
	int exit;		/* HF_EXIT_UNKNOWN if not told */
	uint32_t at;		/* place on the branch */
};
struct hf_fact_todo {
	struct hf_str text;
	char status[16];	/* pending, in_progress, completed … */
};
struct hf_fact_text {
	struct hf_str text;
	uint32_t at;
	int64_t time;
};
struct hf_fact_answer { struct hf_str question, answer; uint32_t at; };

struct hf_facts {
	struct hf_arena arena;
	struct hf_fact_file *file; size_t nfiles;
	struct hf_fact_command *command; size_t ncommands;
	struct hf_fact_todo *todo; size_t ntodos;
	struct hf_fact_text *request; size_t nrequests;	/* genuine user rows */
	struct hf_fact_answer *answer; size_t nanswers;
	struct hf_fact_text said;	/* last text of the assistant */
	struct hf_fact_text summary;	/* last compaction's */
	struct hf_fact_text seed;	/* brief that the session began with */
	struct hf_str open_tool;	/* name of an unfinished call */
	uint32_t last_write;		/* of any file */
	size_t interruptions, compactions, errors, dropped;
	struct hf_str cwd, branch;
};
int	hf_facts_read(struct hf_walk *w, struct hf_facts *f,
	    struct hf_err *err);
void	hf_facts_release(struct hf_facts *f);

#endif
