/*
 * A stage that works on several documents at once, each in a process of its
 * own: what takes long is another's work, and some of it is a program's.
 * The parent deals the documents out and writes the lines that come back,
 * whole.
 */
#ifndef HF_MODEL_JOBS_H
#define HF_MODEL_JOBS_H

#include "json/doc.h"

enum { HF_JOBS_MAX = 64 };

struct hf_jobs {
	const char *name;		/* of the stage */
	size_t jobs;			/* 1 to HF_JOBS_MAX */
	bool ordered;			/* else written as they are done */
	/* Runs in a worker: the stage over its own stdin and stdout. Its
	 * documents are good ones that the stage acts on. */
	int (*work)(void *arg, struct hf_err *err);
	void *arg;
	/* Called a few times a second with how many are done; may be NULL. */
	void (*tick)(size_t done, void *arg);
	void *tick_arg;
};

/* As hf_doc_stage: the exit status, or -1 with *err. With a signal no worker
 * is left. Open nothing before that must not be shared. */
int	hf_jobs_run(const struct hf_jobs *j, struct hf_err *err);

#endif
