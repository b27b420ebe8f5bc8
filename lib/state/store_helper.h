/*
 * A store that a program keeps, spoken to in lines of JSON: hf-store(7).
 * hf_store_helper_open stands in store.h, with the other stores.
 */
#ifndef HF_STATE_STORE_HELPER_H
#define HF_STATE_STORE_HELPER_H

#include "base/buf.h"
#include "base/err.h"

/* Appends the name of the program that keeps the store at url:
 * "hf-store-etcd". HF_E_CONFIG for what is no NAME://... */
int	hf_store_helper_name(const char *url, struct hf_buf *out,
	    struct hf_err *err);

#endif
