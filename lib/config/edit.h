/*
 * Changing one key in the text of a configuration file: comments, order
 * and layout of everything else stay as they are.
 */
#ifndef HF_CONFIG_EDIT_H
#define HF_CONFIG_EDIT_H

#include "base/buf.h"
#include "base/err.h"

/* Appends text with the key (dotted: one level of objects) set to value, a
 * JSON text; none removes it. text is JSON with comments that is known to
 * parse, or blank. */
int	hf_config_edit(struct hf_str text, const char *key,
	    struct hf_str value, struct hf_buf *out, struct hf_err *err);

#endif
