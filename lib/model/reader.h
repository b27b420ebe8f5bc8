/*
 * What an answer says so far. A provider's event reader tells it; nothing
 * here knows a provider. Pure.
 */
#ifndef HF_MODEL_READER_H
#define HF_MODEL_READER_H

#include "json/json.h"

enum { HF_READER_TEXT = 4 << 20 };

/* Why a model stopped. */
enum hf_end {
	HF_END_NONE,		/* it has not, or the stream was cut */
	HF_END_STOP,		/* of itself */
	HF_END_LENGTH,		/* by a limit on tokens */
	HF_END_REFUSED,		/* a refusal, a content filter */
	HF_END_TOOL,		/* to have a tool called */
	HF_END_BROKEN		/* the server could not go on */
};

/* An error as an API told it, in its own words. */
struct hf_api_error {
	int status;		/* HTTP's, or what stands for it */
	char type[64], code[64];
	char message[512];
};

struct hf_reader {
	struct hf_buf text;	/* text blocks joined by newline */
	int64_t block;		/* the one that grows; -1 none yet */
	bool thought, called;	/* thinking, a tool call came */
	enum hf_end end;
	char finish[64];	/* its own word for it */
	char model[128];
	int64_t input, output, cached;	/* tokens; -1 not told. input has
					 * the cached ones in it */
	bool whole;		/* nothing that counts comes any more */
	bool failed;
	struct hf_api_error error;	/* when failed */
};

void	hf_reader_init(struct hf_reader *r);
void	hf_reader_release(struct hf_reader *r);
/* Text of a block; a new number begins a new block. */
void	hf_reader_text(struct hf_reader *r, int64_t block, struct hf_str text);
/* Takes out thoughts that a server left in front of the text, in tags of
 * their own; true when there were some. */
bool	hf_reader_unthink(struct hf_buf *text);
/* The reason of the end; the first that is given counts. */
void	hf_reader_finish(struct hf_reader *r, enum hf_end end,
	    struct hf_str word);
void	hf_reader_model(struct hf_reader *r, struct hf_str name);
/* An API's error object ({"message", "type", "code", "status"}, as all of
 * them have it) or its bare text. The status is taken from it, or from its
 * type; 400 where neither says. */
void	hf_reader_error(struct hf_reader *r, const struct hf_jval *e);
/* The same into *out; a status that is not 0 is kept. */
void	hf_api_error_read(struct hf_api_error *out, const struct hf_jval *e,
	    int status);
/* The count of a member into *to, if it is there. */
void	hf_reader_count(int64_t *to, const struct hf_jval *v,
	    const char *path);

#endif
