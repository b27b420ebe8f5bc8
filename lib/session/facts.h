/*
 * What code can know of a session without a model: files, commands,
 * to-dos, requests, answers, in one walk of the active branch. Used by
 * extract, by the prompt and by the check of a brief.
 *
 * Files are those of the agents' tools and of patches, and what plain
 * command lines write, move and remove ("cat > x", "sed -i", "git mv");
 * temporary folders and devices do not count.
 */
#ifndef HF_SESSION_FACTS_H
#define HF_SESSION_FACTS_H

#include "session/shell.h"
#include "session/walk.h"

enum { HF_FACTS_FILES = 4096, HF_FACTS_GONE = 512,
	HF_FACTS_COMMANDS = 4096,
	HF_FACTS_REQUESTS = 4096, HF_FACTS_TODOS = 512,
	HF_FACTS_ANSWERS = 512, HF_FACTS_SEEDS = 8, HF_FACTS_TEXT = 16384,
	HF_FACTS_SEED = 262144 };

struct hf_fact_file {
	struct hf_str path;	/* absolute, "." and ".." resolved */
	bool written, read;
	bool deleted;		/* or moved away */
	uint32_t last_write;	/* place on the branch; 0: never */
	uint32_t last_seen;
};
struct hf_fact_command {
	struct hf_str text;
	struct hf_str output;	/* the line that tells most of it, cut */
	bool done;		/* its result came */
	bool failed;		/* by its status; by what it printed where
				 * that is not the status of what it ran */
	int exit;		/* HF_EXIT_UNKNOWN if not told */
	uint32_t at;		/* place on the branch */
	/* What it did but look around; NULL: nothing. Of such a command the
	 * numbers of two digits or more that it printed, as hf_hash of the
	 * digits, the last ones first. */
	struct hf_shell_check *check; size_t nchecks;
	uint64_t *number; size_t nnumbers;
};
struct hf_fact_todo {
	struct hf_str text;
	char status[16];	/* pending, in_progress, completed … */
};
struct hf_fact_text {
	struct hf_str text;	/* of one beyond HF_FACTS_TEXT its begin and
				 * its end; of a seed up to HF_FACTS_SEED */
	uint32_t at;
	int64_t time;
};
struct hf_fact_answer { struct hf_str question, answer; uint32_t at; };

struct hf_facts {
	struct hf_arena arena;
	struct hf_fact_file *file; size_t nfiles;
	struct hf_str *gone; size_t ngone;	/* paths, folders too, that
					 * command lines removed or moved and
					 * no tool had named */
	struct hf_fact_command *command; size_t ncommands;
	struct hf_fact_todo *todo; size_t ntodos;
	struct hf_fact_text *request; size_t nrequests;	/* genuine user rows */
	struct hf_fact_answer *answer; size_t nanswers;
	struct hf_fact_text said;	/* last text of the assistant */
	struct hf_fact_text summary;	/* last compaction's */
	/* Briefs that rows hold: ours, or what anyone typed. seed is the
	 * first; hf_facts_seed takes the right one. */
	struct hf_fact_text seed;
	struct hf_fact_text other_seed[HF_FACTS_SEEDS]; size_t nseeds;
	struct hf_str open_tool;	/* name of an unfinished call */
	uint32_t last_write;		/* of any file */
	size_t interruptions, compactions, errors, dropped;
	struct hf_str cwd, branch;
};
int	hf_facts_read(struct hf_walk *w, struct hf_facts *f,
	    struct hf_err *err);
void	hf_facts_release(struct hf_facts *f);
/* Was the path removed, by itself or with a folder that it is in? */
bool	hf_facts_gone(const struct hf_facts *f, struct hf_str path);
/* Makes the first seed that is one of ours the seed; false when none is
 * (NULL as ours: none is). */
bool	hf_facts_seed(struct hf_facts *f,
	    bool (*ours)(struct hf_str seed, void *arg), void *arg);

#endif
