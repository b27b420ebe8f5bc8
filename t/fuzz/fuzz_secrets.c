/*
 * Masking twice is masking once, whatever the text and whatever is known to
 * be secret. The input is lines of known values ("NAME=value", or "value"),
 * an empty line, and the text.
 */
#include <stdlib.h>

#include "brief/dotenv.h"
#include "brief/secrets.h"

int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern char **environ;
/* Where no key can be kept: a fuzzer leaves no state behind. */
static char home[] = "HANDOFF_HOME=/dev/null/none";
static char *environment[] = { home, NULL };

enum { KNOWN_MAX = 16, NAME_MAX_HERE = 64 };

static void
known(struct hf_secrets *s, struct hf_str line)
{
	size_t eq = hf_str_find(line, HF_STR("="), 0);
	char name[NAME_MAX_HERE] = "";

	if (eq != SIZE_MAX && eq < sizeof(name)) {
		for (size_t i = 0; i < eq; i++)
			name[i] = line.s[i];
		line = hf_strn(line.s + eq + 1, line.n - eq - 1);
	}
	hf_secrets_add(s, line, name[0] != '\0' ? name : NULL);
}

static void
nothing(struct hf_str name, struct hf_str value, void *arg)
{
	size_t *sum = arg;

	*sum += name.n + value.n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hf_str text = hf_strn((const char *)data, size), line;
	struct hf_buf once = HF_BUF_INIT, twice = HF_BUF_INIT;
	struct hf_secrets *s;
	size_t n, sum = 0;

	environ = environment;
	if ((s = hf_secrets_load(NULL, NULL, NULL)) == NULL)
		abort();
	hf_dotenv_each(text, nothing, &sum);
	for (size_t i = 0; i < KNOWN_MAX; i++) {
		line = hf_str_line(text, &text);
		if (line.n == 0)
			break;
		known(s, line);
	}
	n = hf_secrets_mask(s, &once, text);
	if (n == 0 && !hf_str_eq(hf_buf_view(&once), hf_strn(text.s != NULL ?
	    text.s : "", text.n)) && text.n > 0)
		abort();
	if (hf_secrets_mask(s, &twice, hf_buf_view(&once)) != 0 ||
	    !hf_str_eq(hf_buf_view(&once), hf_buf_view(&twice)))
		abort();
	hf_buf_clear(&twice);
	hf_secrets_restore(s, &twice, hf_buf_view(&once));
	hf_buf_release(&once);
	hf_buf_release(&twice);
	hf_secrets_free(s);
	return 0;
}
