/*
 * Changing one key in the text of a configuration file, all else as it is:
 * comments, order, indent.
 */
#ifndef HF_CONFIG_EDIT_H
#define HF_CONFIG_EDIT_H

#include "base/buf.h"
#include "base/err.h"

/* Appends text, an object that parses (comments allowed) or blank, with name
 * set to value (compact JSON) or, value none, without it. "a.b" is looked
 * for as it stands and as member b of an object a. 1, 0 where there is
 * nothing to remove (out stays as it was), -1. */
int	hf_edit_set(struct hf_buf *out, struct hf_str text, const char *name,
	    struct hf_str value, struct hf_err *err);

#endif
