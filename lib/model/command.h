/*
 * The provider "command": any program. The prompt is its stdin, its stdout
 * the text; no shell; its own process group, ended at the deadline.
 */
#ifndef HF_MODEL_COMMAND_H
#define HF_MODEL_COMMAND_H

#include "model/provider.h"

extern const struct hf_provider hf_provider_command;

#endif
