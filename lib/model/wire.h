/*
 * One API's wire format: how a request is built, how its events are read.
 * All the rest of a call (keys, retries, deadlines) is call.c's. A wire is
 * pure.
 */
#ifndef HF_MODEL_WIRE_H
#define HF_MODEL_WIRE_H

#include "model/judge.h"

struct hf_wire_ask {
	const char *model;
	struct hf_str text;		/* the one user message */
	int64_t max_tokens;
	unsigned without;		/* HF_WITHOUT_* */
	bool home;			/* to the provider's own servers */
};

struct hf_wire {
	const char *name;
	const char *version;		/* "/v1": part of the path, which a
					 * base URL may have already */
	const char *key_header;		/* "x-api-key: ", the key behind it */
	const char *header;		/* one more, or NULL */
	/* Appends the path behind the version, with its "?query". */
	void (*path)(struct hf_buf *out, const char *model);
	/* Sets the members of a request. */
	void (*body)(struct hf_jtree *t, struct hf_jnode *o,
	    const struct hf_wire_ask *q);

	/* For a body of one's own: the array that the user message is
	 * appended to, the message, and whether tools may be called. */
	const char *list;		/* "messages" */
	void (*message)(struct hf_jtree *t, struct hf_jnode *list,
	    struct hf_str text);
	const char *choice;		/* member: "tool_choice" */
	const char *choice_none, *choice_auto;	/* its values, as JSON */
	const char *limit;		/* member for maxTokens; NULL: none at
					 * the top */
	bool plain;			/* "model" and "stream" are members of
					 * it, not parts of the URL */

	/* One event: its name ("" without) and its data as JSON. */
	void (*event)(struct hf_reader *r, struct hf_str name,
	    const struct hf_jval *v);
	/* The whole answer in one piece, from a server that does not
	 * stream. */
	void (*answer)(struct hf_reader *r, const struct hf_jval *v);
};

/* The JSON Schema of a brief, of nothing but what every API takes. */
struct hf_jnode *hf_wire_schema(struct hf_jtree *t);
/* Appends {"role":"user","content":text} to list. */
void	hf_wire_user(struct hf_jtree *t, struct hf_jnode *list,
	    struct hf_str text);
/* Does a model of this name think before it answers, unless told not to?
 * (OpenAI's) */
bool	hf_wire_reasons(const char *model);

/* Data of an event or an answer as it came: parsed, read into r; "[DONE]"
 * is the end of a stream. -1 with HF_E_UNAVAILABLE when it is no JSON. */
int	hf_wire_event(const struct hf_wire *w, struct hf_reader *r,
	    struct hf_str name, struct hf_str data, struct hf_err *err);
int	hf_wire_answer(const struct hf_wire *w, struct hf_reader *r,
	    struct hf_str body, struct hf_err *err);

/* Appends the URL of a request: base with or without version and slash, a
 * prefix and a query of it kept; a base that is the whole URL already is
 * taken as it is. */
void	hf_wire_url(const struct hf_wire *w, struct hf_buf *out,
	    const char *base, const char *model);

extern const struct hf_wire hf_wire_anthropic, hf_wire_openai,
	    hf_wire_responses, hf_wire_gemini;

#endif
