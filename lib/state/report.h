/*
 * Documents in words, for people: what the driver prints. Everything that
 * comes from a transcript is made harmless for a terminal; 80 columns.
 */
#ifndef HF_STATE_REPORT_H
#define HF_STATE_REPORT_H

#include "json/doc.h"

enum hf_report {
	HF_REPORT_FIGURES,	/* the session and its figures */
	HF_REPORT_DECISION,	/* what the trigger decided and why */
	HF_REPORT_RESULT,	/* what a handoff came to, how to go on */
	HF_REPORT_LINE,		/* one line: what auto did with it, or why
				 * not; nothing for one that is not due */
	HF_REPORT_WHY,		/* the same, and a line for that one too */
	HF_REPORT_PERSON,	/* the line of one that needs a person */
	HF_REPORT_ROW,		/* a row of the list of sessions */
	HF_REPORT_JSON		/* {"id","path",…} of the successor */
};
/* The kind of a name ("figures" …); -1 if it is none. */
int	hf_report_kind(const char *name);
/* Appends it. */
void	hf_report(enum hf_report kind, const struct hf_doc *d,
	    struct hf_buf *out);

/* "1,234,567"; "~/x" for a path below HOME. */
void	hf_report_count(struct hf_buf *out, int64_t n);
void	hf_report_path(struct hf_buf *out, struct hf_str path);
/* "3 s", "12 min", "5 h", "9 d". */
void	hf_report_age(struct hf_buf *out, int64_t seconds);

#endif
