/*
 * The provider "gemini": generateContent.
 */
#ifndef HF_MODEL_GEMINI_H
#define HF_MODEL_GEMINI_H

#include "model/provider.h"

extern const struct hf_provider hf_provider_gemini;

#endif
