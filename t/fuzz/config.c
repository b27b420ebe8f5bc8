/*
 * Editing a configuration file: a text that parses with the key's new value
 * is one that parses and has it; nothing else happens to a text that parses.
 */
#include <stdio.h>
#include <stdlib.h>

#include "config/edit.h"
#include "json/json.h"

int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
change(struct hf_str text, const char *name, struct hf_str value)
{
	struct hf_buf out = HF_BUF_INIT, again = HF_BUF_INIT;
	struct hf_err err;

	if (hf_edit_set(&out, text, name, value, &err) > 0 &&
	    hf_edit_set(&again, hf_buf_view(&out), name, value, &err) < 0) {
		fprintf(stderr, "cannot be done twice: %s\n", err.msg);
		abort();
	}
	/* Twice is once. */
	if (value.s != NULL && again.len > 0 &&
	    !hf_str_eq(hf_buf_view(&out), hf_buf_view(&again))) {
		fprintf(stderr, "the second time it is another\n");
		abort();
	}
	hf_buf_release(&out);
	hf_buf_release(&again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hf_str text = hf_strn((const char *)data, size);
	struct hf_json *j = hf_json_parse(text, HF_JSON_COMMENTS, NULL, NULL,
	    NULL);
	bool object = hf_json_type(hf_json_root(j)) == HF_J_OBJ;

	hf_json_free(j);
	if (!object)
		return 0;
	change(text, "a", HF_STR("1"));
	change(text, "a", HF_STR_NONE);
	change(text, "a.b", HF_STR("[1,\"x\"]"));
	change(text, "a.b", HF_STR_NONE);
	return 0;
}
