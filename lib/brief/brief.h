/*
 * The brief: eight fields (DESIGN section 5, handoff-brief(5)); its JSON,
 * its Markdown, its seed text.
 */
#ifndef HF_BRIEF_BRIEF_H
#define HF_BRIEF_BRIEF_H

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "json/json.h"

enum hf_field {
	HF_GOAL, HF_DECISIONS, HF_CONSTRAINTS, HF_ARTIFACTS, HF_VERIFIED,
	HF_PENDING, HF_NEXT_STEPS, HF_UNCERTAINTIES, HF_FIELDS
};
enum { HF_BRIEF_MAX = 40000, HF_BRIEF_ITEMS = 4096 };

struct hf_list { struct hf_str *item; size_t n, cap; };
struct hf_brief {
	struct hf_arena arena;		/* all texts */
	struct hf_str goal;
	struct hf_list list[HF_FIELDS];	/* [HF_GOAL] unused */
};
const char *hf_field_name(enum hf_field f);	/* "next_steps" */
const char *hf_field_title(enum hf_field f);	/* "Next steps" */

void	hf_brief_init(struct hf_brief *b);
void	hf_brief_release(struct hf_brief *b);
void	hf_brief_goal(struct hf_brief *b, struct hf_str text);
/* Adds a copy, trimmed; empty ones and exact duplicates are dropped. */
void	hf_brief_add(struct hf_brief *b, enum hf_field f, struct hf_str t);
void	hf_brief_remove(struct hf_brief *b, enum hf_field f, size_t i);

/* *to (initialised by it) is from with each text passed through put, which
 * appends what becomes of it. */
void	hf_brief_map(const struct hf_brief *from, struct hf_brief *to,
	    void (*put)(struct hf_buf *out, struct hf_str text, void *arg),
	    void *arg);

/* The brief in a model's answer, into an empty one: fence stripped, each
 * '{' tried, the schema enforced (CASES V1 to V4). HF_E_INVALID_BRIEF (with
 * the JSON pointer, also for a size beyond HF_BRIEF_MAX), HF_E_EMPTY,
 * HF_E_TRUNCATED. */
int	hf_brief_parse(struct hf_brief *b, struct hf_str text,
	    struct hf_err *err);
/* From a value that must fit the schema exactly. */
int	hf_brief_from_json(struct hf_brief *b, const struct hf_jval *v,
	    struct hf_err *err);
struct hf_jnode *hf_brief_to_json(struct hf_jtree *t,
	    const struct hf_brief *b);
/* Characters of the compact form. */
size_t	hf_brief_size(const struct hf_brief *b);
/* About how many tokens it takes in a successor: four letters of ours are
 * one, two of others', a character of Chinese by itself. */
size_t	hf_brief_tokens(const struct hf_brief *b);
/* The JSON Schema (draft 2020-12), a static text. */
const char *hf_brief_schema(void);

/* "sha256:…" of the compact JSON. */
void	hf_brief_hash(const struct hf_brief *b, char out[72]);
/* Markdown, a heading a field; empty fields are left out. */
void	hf_brief_markdown(struct hf_buf *out, const struct hf_brief *b);

struct hf_seed_info {
	const char *attempt;		/* handoff id */
	const char *from_agent;		/* label of the source's agent */
	const char *from_id;
	bool other_agent;		/* the successor is another agent's */
};
/* The seed's text: tags, heading with id and hash, Markdown with our tags
 * in it neutralised, and the sentence behind. */
void	hf_brief_seed(struct hf_buf *out, const struct hf_brief *b,
	    const struct hf_seed_info *info);
/* Is text a seed? *hash and *body (may be NULL) get its parts. */
bool	hf_brief_is_seed(struct hf_str text, struct hf_str *hash,
	    struct hf_str *body);
/* The fields of a seed's Markdown body, as far as they are there. */
void	hf_brief_from_markdown(struct hf_brief *b, struct hf_str body);

#endif
