/*
 * .env files: lines of NAME=value as the tools that read them understand
 * them.
 */
#ifndef HF_BRIEF_DOTENV_H
#define HF_BRIEF_DOTENV_H

#include "base/text.h"

/* Calls cb for each setting: "export" in front is allowed, so are a colon
 * for the equals sign, quotes (values in them may have several lines; in
 * double ones \n \r \t and an escaped character are understood) and a
 * comment behind. Lines that are no setting are passed over. A value in
 * quotes with escapes is given as it is meant and as it is written. */
void	hf_dotenv_each(struct hf_str text,
	    void (*cb)(struct hf_str name, struct hf_str value, void *arg),
	    void *arg);

#endif
