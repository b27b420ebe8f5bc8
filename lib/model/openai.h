/*
 * The provider "openai": Chat Completions, of OpenAI and of
 * everything that is compatible (baseUrl).
 */
#ifndef HF_MODEL_OPENAI_H
#define HF_MODEL_OPENAI_H

#include "model/provider.h"

extern const struct hf_provider hf_provider_openai;

#endif
