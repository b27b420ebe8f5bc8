/*
 * A JSON text without the length of its strings. Transcripts are long
 * because their texts are; who counts needs only their beginnings.
 */
#ifndef HF_JSON_SHORTEN_H
#define HF_JSON_SHORTEN_H

#include "base/buf.h"

/* Appends text with the inside of each string cut to at most max bytes, not
 * within an escape or a code point. False if there is anything in a string
 * that is not as it should be (bad UTF-8, a wrong escape, half a surrogate
 * pair, a control byte, no end): what out has got then is of no use. Outside
 * strings nothing is checked. */
bool	hf_shorten(struct hf_buf *out, struct hf_str text, size_t max);

#endif
