/*
 * What is installed, what works, what does not and why, and what to do
 * about it.
 */
#ifndef HF_STATE_DOCTOR_H
#define HF_STATE_DOCTOR_H

#include "base/buf.h"
#include "base/err.h"

/* Appends the report, a line a finding: "ok" works, "--" is not there, and
 * nothing is wrong with that, "!!" needs a person. With automatic only what
 * an unattended run needs is looked at. *bad counts the "!!". */
int	hf_doctor(const char *driver, bool automatic, struct hf_buf *out,
	    size_t *bad, struct hf_err *err);

#endif
