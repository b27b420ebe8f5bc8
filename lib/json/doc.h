/*
 * Documents: one JSON object a line, "v":1, on stdin and stdout
 * (DESIGN section 1, hf-documents(5)). A stage acts on what is not in
 * error and due, adds its members and passes the rest on.
 */
#ifndef HF_JSON_DOC_H
#define HF_JSON_DOC_H

#include <stdbool.h>

#include "base/io.h"
#include "json/json.h"

enum { HF_DOC_MAX = 64 << 20 };	/* longest line of a document */

struct hf_doc {
	struct hf_json *in;		/* as it came */
	const struct hf_jval *root;
	struct hf_str line;		/* its bytes, the caller's */
	struct hf_jtree *tree;		/* made at the first change */
	struct hf_jnode *obj;
};

/* Parses a line (numbers raw). HF_E_INVALID if it is no object,
 * HF_E_UNSUPPORTED if it has a "v" other than 1. line must outlive the
 * document. */
int	hf_doc_parse(struct hf_doc *d, struct hf_str line,
	    struct hf_err *err);
/* A new one with nothing but "v":1. */
void	hf_doc_new(struct hf_doc *d);
void	hf_doc_release(struct hf_doc *d);

/* A member as it came in (not what was set since). */
const struct hf_jval *hf_doc_get(const struct hf_doc *d, const char *key);
/* The tree to make values in, and setting a top-level member. */
struct hf_jtree *hf_doc_tree(struct hf_doc *d);
void	hf_doc_set(struct hf_doc *d, const char *key, struct hf_jnode *val);
void	hf_doc_del(struct hf_doc *d, const char *key);
/* Sets "error" {stage, code, message, retry}. */
void	hf_doc_fail(struct hf_doc *d, const char *stage,
	    const struct hf_err *err);

/* Does a stage after hf-trigger act on it: no error, and a trigger, if
 * there is one, that says due? */
bool	hf_doc_acts(const struct hf_doc *d);
/* The exit status of a document as it stands now: its error's; else not
 * due: 75 if guarded by busy or blocked, else 1; else 0. null is as if the
 * member were not there. */
int	hf_doc_status(const struct hf_doc *d);
/* Appends its line with LF: unchanged documents byte for byte. */
void	hf_doc_line(const struct hf_doc *d, struct hf_buf *out);

/* The loop of a stage: reads documents from stdin, calls act on each that
 * the stage acts on (all = true: on every one that is an object), writes
 * each out at once, and returns the exit status. act returns 0, or -1 with
 * *err set, which becomes the document's error under the name stage.
 * A line that is no document, or a torn last one: reported, status 65.
 * No documents: status 1, silently. A signal: -1 with HF_E_CANCELLED. */
struct hf_stage {
	const char *name;
	bool all;
	int (*act)(struct hf_doc *d, void *arg, struct hf_err *err);
	void *arg;
	bool quiet;		/* writes nothing to stdout */
};
int	hf_doc_stage(const struct hf_stage *s, struct hf_err *err);

#endif
