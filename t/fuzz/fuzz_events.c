/*
 * Each API's event reader over any stream, and its reader of whole answers;
 * then what the error means. The first byte chooses the API. What is told
 * is well formed, whatever came.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/fork.h"
#include "model/splice.h"
#include "model/sse.h"
#include "model/wire.h"

int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct hf_wire *const wires[] = { &hf_wire_anthropic,
	&hf_wire_openai, &hf_wire_responses, &hf_wire_gemini };

struct feed {
	const struct hf_wire *w;
	struct hf_reader r;
};

static int
on_event(struct hf_str name, struct hf_str data, void *arg,
    struct hf_err *err)
{
	struct feed *f = arg;

	return hf_wire_event(f->w, &f->r, name, data, err);
}

static void
check(struct hf_reader *r)
{
	struct hf_err err = { HF_OK, "" };
	int64_t fit;

	if (!hf_utf8_valid(hf_buf_view(&r->text)) ||
	    !hf_utf8_valid(hf_str(r->finish)) ||
	    !hf_utf8_valid(hf_str(r->model)))
		abort();
	if (r->input < -1 || r->output < -1 || r->cached < -1)
		abort();
	if (!r->failed)
		return;
	hf_judge_set(&err, "x", &r->error);
	fit = hf_judge_fit(&r->error, 6000);
	if (err.code == HF_OK || fit < 50000 || fit > 900000)
		abort();
}

/* A changed body is JSON again. */
static void
splice(const struct hf_wire *w, struct hf_str body)
{
	struct hf_splice s = { .body = body, .text = HF_STR("x"),
		.model = "m", .choice = w->choice_none, .max_tokens = 1 };
	struct hf_buf out = HF_BUF_INIT;
	struct hf_json *j;

	if (hf_splice(w, &s, &out, NULL, NULL) == 0) {
		j = hf_json_parse(hf_buf_view(&out), HF_JSON_RAW, NULL, NULL,
		    NULL);
		if (j == NULL)
			abort();
		hf_json_free(j);
	}
	hf_buf_release(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hf_answer answer;
	struct hf_str a;
	struct feed f;
	struct hf_sse s = { .event = on_event, .arg = &f };

	if (size < 1)
		return 0;
	f.w = wires[data[0] % 4];
	a = hf_strn((const char *)data + 1, size - 1);
	hf_reader_init(&f.r);
	hf_sse_init(&s);
	if (hf_sse_feed(&s, a, NULL) == 0)
		(void)hf_sse_end(&s, NULL);
	check(&f.r);
	hf_sse_release(&s);
	hf_reader_release(&f.r);
	hf_reader_init(&f.r);
	(void)hf_wire_answer(f.w, &f.r, a, NULL);
	check(&f.r);
	hf_reader_release(&f.r);
	splice(f.w, a);
	hf_answer_init(&answer);
	(void)hf_fork_claude(a, &answer, NULL);
	hf_answer_release(&answer);
	return 0;
}
