/*
 * What is registered, what happened last, how far each session is from its
 * threshold: for people, and as documents.
 */
#ifndef HF_STATE_STATUS_H
#define HF_STATE_STATUS_H

#include "config/config.h"
#include "state/main.h"

/* A transcript larger than this is measured only when its session is asked
 * for by name. */
enum { HF_STATUS_CHEAP = 32 << 20 };

/* Appends the table of all mains, 80 columns wide, what holds some of them
 * up, and what a person should do about those that need one; with colour
 * for a terminal. *n counts them. */
int	hf_status_table(struct hf_store *st, const struct hf_config *c,
	    bool colour, struct hf_buf *out, size_t *n, struct hf_err *err);
/* Appends everything about one. */
int	hf_status_one(struct hf_store *st, const struct hf_config *c,
	    const struct hf_main *m, bool colour, struct hf_buf *out,
	    struct hf_err *err);
/* Appends it as a document: session, main, metrics and trigger where it was
 * measured, record, the last attempt's without its brief. */
int	hf_status_json(struct hf_store *st, const struct hf_config *c,
	    const struct hf_main *m, bool measure, struct hf_buf *out,
	    struct hf_err *err);

#endif
