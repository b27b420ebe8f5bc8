#include "model/key.h"

#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/env.h"
#include "base/mem.h"
#include "base/proc.h"

enum { KEY_MAX = 16384, COMMAND_MS = 60000 };

static int
take(struct hf_api_key *k, struct hf_str value, const char *from,
    struct hf_err *err)
{
	size_t i;

	value = hf_str_trim(value);
	for (i = 0; i < value.n; i++)
		if (value.s[i] <= ' ' || value.s[i] > '~')
			return hf_err_set(err, HF_E_CONFIG,
			    "what '%s' holds can be no key", from);
	if (value.n == 0)
		return 0;
#ifdef __linux__
	/* From now on, to the end: copies of it are in libcurl too. */
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
	k->value = hf_strndup(value.s, value.n);
	return 0;
}

/* Its stderr is the user's: a password manager may ask there. */
static int
by_command(struct hf_api_key *k, char **argv, struct hf_err *err)
{
	struct hf_buf out = HF_BUF_MAX(KEY_MAX);
	struct hf_proc p = { 0 };
	int status, rc;

	p.argv = (const char *const *)argv;
	p.out = &out;
	p.timeout_ms = COMMAND_MS;
	rc = hf_proc_run(&p, &status, err);
	if (rc < 0 && err->code != HF_E_CANCELLED) {
		err->code = HF_E_CONFIG;
		hf_err_prefix(err, "summarize.keyCommand");
	} else if (rc == 0 && status != 0) {
		rc = hf_err_set(err, HF_E_CONFIG, "summarize.keyCommand: '%s' "
		    "ended with status %d", argv[0], status);
	} else if (rc == 0) {
		rc = take(k, hf_buf_view(&out), argv[0], err);
		if (rc == 0 && k->value == NULL)
			rc = hf_err_set(err, HF_E_CONFIG, "summarize.keyCommand"
			    ": '%s' printed no key", argv[0]);
	}
	if (out.data != NULL)
		explicit_bzero(out.data, out.cap);
	hf_buf_release(&out);
	return rc;
}

int
hf_api_key_get(struct hf_api_key *k, const struct hf_config *c,
    const char *usual, struct hf_err *err)
{
	const char *name = c->key_env != NULL ? c->key_env : usual;
	const char *value;
	int rc = 0;

	if (k->looked)
		return 0;
	if (c->key_command != NULL) {
		rc = by_command(k, c->key_command, err);
	} else {
		value = name != NULL ? hf_env(name) : NULL;
		if (value != NULL)
			rc = take(k, hf_str(value), name, err);
	}
	k->looked = rc == 0;
	return rc;
}

void
hf_api_key_release(struct hf_api_key *k)
{
	if (k->value != NULL)
		explicit_bzero(k->value, strlen(k->value));
	free(k->value);
	k->value = NULL;
	k->looked = false;
}
