/*
 * The provider "openai-responses": the Responses API.
 */
#ifndef HF_MODEL_RESPONSES_H
#define HF_MODEL_RESPONSES_H

#include "model/provider.h"

extern const struct hf_provider hf_provider_responses;

#endif
