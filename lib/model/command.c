#include "model/command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "model/reader.h"

enum { TEXT_MAX = 4 << 20, STDERR_MAX = 64 << 10 };

/* The last line that the program said, for the message. */
static struct hf_str
last_line(struct hf_str text)
{
	size_t from;

	text = hf_str_trim(text);
	for (from = text.n; from > 0 && text.s[from - 1] != '\n'; from--)
		;
	return hf_strn(text.s + from, text.n - from);
}

static int
judge(const char *program, int status, struct hf_str said,
    struct hf_answer *a, struct hf_err *err)
{
	struct hf_str line = last_line(said);
	bool thought;

	if (status != 0)
		return hf_err_set(err, HF_E_UNAVAILABLE,
		    "'%s' ended with status %d%s%.*s", program, status,
		    line.n > 0 ? ": " : "",
		    (int)(line.n < 300 ? line.n : 300), line.s);
	thought = hf_reader_unthink(&a->text);
	if (hf_str_trim(hf_buf_view(&a->text)).n == 0)
		return hf_err_set(err, HF_E_EMPTY, thought ?
		    "'%s' only thought and answered nothing" :
		    "'%s' printed nothing", program);
	return 0;
}

static int
ask(const struct hf_ask *q, struct hf_answer *a, struct hf_err *err)
{
	char **argv = q->config->command;
	struct hf_buf prompt = HF_BUF_INIT, said = HF_BUF_MAX(STDERR_MAX);
	struct hf_proc p = { 0 };
	int64_t began = hf_clock_boot();
	const char **env;
	int status, rc;

	if (argv == NULL || argv[0] == NULL)
		return hf_err_set(err, HF_E_CONFIG,
		    "summarize.command is not set");
	hf_prompt_text(q->prompt, &prompt);
	a->text.max = TEXT_MAX;
	env = hf_proc_env(NULL);
	p.argv = (const char *const *)argv;
	p.envp = env;
	if (q->session->cwd != NULL && access(q->session->cwd, X_OK) == 0)
		p.cwd = q->session->cwd;
	p.input = hf_buf_view(&prompt);
	p.out = &a->text;
	p.errout = &said;
	p.timeout_ms = (long)q->config->timeout_seconds * 1000;
	rc = hf_proc_run(&p, &status, err);
	a->attempts = 1;
	a->milliseconds = hf_clock_boot() - began;
	if (rc < 0 && err->code == HF_E_NOT_FOUND)
		err->code = HF_E_CONFIG;
	if (rc == 0)
		rc = judge(argv[0], status, hf_buf_view(&said), a, err);
	free(env);
	hf_buf_release(&prompt);
	hf_buf_release(&said);
	return rc;
}

const struct hf_provider hf_provider_command = {
	.name = "command",
	.sends = true,
	.ask = ask,
};
