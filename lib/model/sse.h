/*
 * Server-sent events (WHATWG HTML, "text/event-stream"): bytes in, split
 * anywhere, events out. Lines end with LF, CR or CRLF; comments and fields
 * that are not known are passed over; data lines are joined by newlines; a
 * BOM at the start does not matter. Pure: no I/O.
 */
#ifndef HF_MODEL_SSE_H
#define HF_MODEL_SSE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

enum { HF_SSE_MAX = 8 << 20, HF_SSE_NAME = 64 };

struct hf_sse {
	/* Gets each event; name is "" where the event has none. Both are
	 * borrowed until it returns. 0 to go on; anything else ends the
	 * feeding and is returned by it (-1 with *err). */
	int (*event)(struct hf_str name, struct hf_str data, void *arg,
	    struct hf_err *err);
	void *arg;
	/* internal */
	struct hf_buf line, data;
	char name[HF_SSE_NAME];
	bool begun, cr, any;		/* any: a data line came */
};

void	hf_sse_init(struct hf_sse *s);	/* event and arg are kept */
/* 0, or what event returned that was not 0; -1 with HF_E_OVERFLOW for a
 * line or an event of more than HF_SSE_MAX bytes. Not to be fed any more
 * after anything but 0. */
int	hf_sse_feed(struct hf_sse *s, struct hf_str bytes,
	    struct hf_err *err);
/* The end of the stream: gives out what came without its blank line (some
 * servers leave it away). As hf_sse_feed. */
int	hf_sse_end(struct hf_sse *s, struct hf_err *err);
void	hf_sse_release(struct hf_sse *s);

#endif
