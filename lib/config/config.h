/*
 * Configuration: defaults < config.json < HANDOFF_* < options; read anew
 * at each step (DESIGN sections 3 and 11, handoff-config(5)).
 */
#ifndef HF_CONFIG_CONFIG_H
#define HF_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/file.h"
#include "json/json.h"

enum { HF_CONFIG_ARGV = 256 };	/* words of a list */

struct hf_config {
	/* section 3 */
	int64_t ratio_ppm;		/* handoffRatio */
	int64_t tokens, min_turns, compactions;
	bool auto_handoff;
	/* section 4; NULL: not set */
	char *provider, *model, *base_url, *key_env, *ca_file;
	char **key_command, **command;	/* argv, NULL-terminated */
	int64_t timeout_seconds, max_tokens;
	bool allow_http;
	char *fallback;			/* "none" or "extract" */
	char *secrets_file;
	bool secrets_restore;
	/* sections 7 to 11 */
	char **start;			/* argv template */
	char **resume_there;		/* the same, for another machine */
	char *title_suffix;		/* NULL: off */
	bool save_to_disk, instead_of_compact;
	int64_t max_chain, cooldown_seconds, keep_days;
	char *store;			/* "files" or a URL */
	struct {			/* NULL: not set */
		char *user, *password_env, *ca_file, *cert_file, *key_file;
		char **password_command;
	} etcd;

	struct hf_json *file;		/* models and headers live in it */
	const struct hf_jval *models;	/* model → window, or NULL */
	const struct hf_jval *headers;
	char *path;			/* the file, there or not */
};

/* Loads it. HF_E_CONFIG naming the key and what is wrong with it: unknown
 * (with the nearest known one), there twice, wrong type, out of range; or
 * the file's line that is no JSON. null is as if the key were not there. A
 * file or folder that others may write, or that another user owns, is
 * refused. *c is to be released after success only. */
int	hf_config_load(struct hf_config *c, struct hf_err *err);
void	hf_config_release(struct hf_config *c);

/* $XDG_CONFIG_HOME/handoff, the caller's. */
char	*hf_config_dir(struct hf_err *err);

/* The table of keys, for config get/set, the page and tests. */
enum hf_key_kind { HF_KEY_BOOL, HF_KEY_INT, HF_KEY_RATIO, HF_KEY_STR,
	HF_KEY_ARGV, HF_KEY_MAP };
struct hf_key {
	const char *name;		/* "summarize.provider" */
	enum hf_key_kind kind;
	const char *fallback;		/* default as JSON; NULL: not set */
	int64_t min, max;		/* INT; RATIO in ppm; MAP of integers,
					 * 0: of strings */
	const char *words;		/* STR: "a|b", NULL: any text */
	const char *env;		/* HANDOFF_…, or NULL */
	size_t offset;			/* in struct hf_config */
};
const struct hf_key *hf_config_keys(size_t *n);
/* NULL and *err naming the nearest known key. */
const struct hf_key *hf_config_key(const char *name, struct hf_err *err);
/* Appends the value in force as compact JSON and says where it comes from
 * ("default", "file", "environment"). */
int	hf_config_get(const char *name, struct hf_buf *value,
	    const char **from, struct hf_err *err);
/* Sets a key in the file (text: JSON, or a bare string where a string is
 * wanted; NULL removes it), checked, durable; comments in the file and its
 * layout are kept. The file is made when there is none. A file that is no
 * JSON is left alone: HF_E_CONFIG. */
int	hf_config_set(const char *name, const char *text,
	    struct hf_err *err);

#endif
