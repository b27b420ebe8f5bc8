/*
 * Context windows of models: the configuration's table, then the built-in
 * one (models.def, one line a family: MODEL_PREFIX, tokens).
 */
#ifndef HF_CONFIG_MODELS_H
#define HF_CONFIG_MODELS_H

#include <stdint.h>

#include "base/text.h"
#include "config/config.h"

/* Tokens, 0 when unknown. *from gets "config" or "table". The longest
 * prefix wins; a "provider/" in front and a date behind do not matter;
 * "[1m]" behind means 1,000,000. */
int64_t	hf_models_window(const struct hf_config *c, struct hf_str model,
	    const char **from);

#endif
