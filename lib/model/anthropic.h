/*
 * The provider "anthropic": the Messages API.
 */
#ifndef HF_MODEL_ANTHROPIC_H
#define HF_MODEL_ANTHROPIC_H

#include "model/provider.h"

extern const struct hf_provider hf_provider_anthropic;

#endif
