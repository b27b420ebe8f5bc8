/*
 * Base64 (RFC 4648, section 4): the standard alphabet, always padded.
 */
#ifndef HF_BASE_BASE64_H
#define HF_BASE_BASE64_H

#include "base/buf.h"

void	hf_base64(struct hf_buf *out, struct hf_str a);
/* Appends the bytes. Exact: another alphabet, white space, padding that is
 * missing or too much and bits behind the last byte are -1; what was
 * appended by then is taken back. */
int	hf_base64_decode(struct hf_buf *out, struct hf_str text);

#endif
