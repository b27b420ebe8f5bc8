#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "agent/codex.h"
#include "base/clock.h"
#include "base/hmac.h"

/* The version whose format is written. */
static const char version[] = "0.171.0";

void
hf_codex_new_id(int64_t ms, char out[64])
{
	char uuid[HF_UUID_LEN];

	hf_uuid7(ms, uuid);
	snprintf(out, 64, "%s", uuid);
}

/* ---- where it goes ---- */

/* The client's own names have local time. */
static void
local(int64_t ms, struct tm *out)
{
	time_t t = (time_t)(ms / 1000);

	if (localtime_r(&t, out) == NULL)
		*out = (struct tm){ .tm_year = 70, .tm_mday = 1 };
}

int
hf_codex_place(const struct hf_seed *seed, struct hf_place *out,
    struct hf_err *err)
{
	struct hf_buf dir = HF_BUF_INIT, name = HF_BUF_INIT;
	char *home = hf_codex_home(err);
	struct tm t;

	if (home == NULL)
		return -1;
	local(seed->time, &t);
	hf_buf_printf(&dir, "%s/sessions/%04d/%02d/%02d", home,
	    t.tm_year + 1900, t.tm_mon + 1, t.tm_mday);
	hf_buf_printf(&name, "rollout-%04d-%02d-%02dT%02d-%02d-%02d-%s.jsonl",
	    t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min,
	    t.tm_sec, seed->id);
	free(home);
	out->dir = hf_buf_steal(&dir);
	out->name = hf_buf_steal(&name);
	return 0;
}

/* ---- its content ---- */

struct draft {
	const struct hf_seed *seed;
	struct hf_buf *out;
	char time[HF_TIME_LEN];
};

/* Begins a row; the payload's own members and "}}\n" follow. */
static void
begin(struct draft *d, const char *type)
{
	hf_buf_printf(d->out, "{\"timestamp\":\"%s\",\"type\":\"%s\","
	    "\"payload\":{", d->time, type);
}

static void
end(struct draft *d)
{
	hf_buf_puts(d->out, "}}\n");
}

/* A member that is a string; nothing for NULL. The first has no comma. */
static void
member(struct draft *d, const char *key, const char *value)
{
	struct hf_buf *out = d->out;

	if (value == NULL)
		return;
	if (out->len > 0 && out->data[out->len - 1] != '{')
		hf_buf_putc(out, ',');
	hf_buf_printf(out, "\"%s\":", key);
	hf_json_quote(out, hf_str(value));
}

/* No provider: the client refuses one that is not its own. No history mode:
 * then rows need no numbers. The source "cli" has it listed. */
static void
header(struct draft *d)
{
	begin(d, "session_meta");
	member(d, "id", d->seed->id);
	member(d, "timestamp", d->time);
	member(d, "cwd", d->seed->cwd);
	member(d, "originator", "codex_cli_rs");
	member(d, "cli_version", version);
	member(d, "source", "cli");
	end(d);
}

/* A type of our own, which the client passes over. */
static void
origin(struct draft *d)
{
	const struct hf_session *s = d->seed->source;

	begin(d, "handoff_meta");
	if (s != NULL) {
		member(d, "parent_session", s->id);
		member(d, "agent", s->agent != NULL ? s->agent->name : NULL);
	}
	member(d, "handoff", d->seed->attempt);
	end(d);
}

/* The model sees the item, the client lists the event: both are needed. */
static void
said(struct draft *d, bool user, struct hf_str text)
{
	begin(d, "response_item");
	hf_buf_printf(d->out, "\"type\":\"message\",\"role\":\"%s\","
	    "\"content\":[{\"type\":\"%s\",\"text\":",
	    user ? "user" : "assistant", user ? "input_text" :
	    "output_text");
	hf_json_quote(d->out, text);
	hf_buf_puts(d->out, "}]");
	end(d);
	begin(d, "event_msg");
	hf_buf_printf(d->out, "\"type\":\"%s\",\"message\":",
	    user ? "user_message" : "agent_message");
	hf_json_quote(d->out, text);
	if (user)
		hf_buf_puts(d->out, ",\"images\":[],\"local_images\":[],"
		    "\"text_elements\":[]");
	end(d);
}

int
hf_codex_draft(const struct hf_seed *seed, struct hf_buf *out,
    struct hf_err *err)
{
	struct draft d = { seed, out, "" };

	hf_clock_format(seed->time, d.time);
	header(&d);
	origin(&d);
	said(&d, true, seed->text);
	said(&d, false, HF_STR("Handoff context received."));
	if (out->full)
		return hf_err_set(err, HF_E_OVERFLOW,
		    "the successor of '%s' is too large", seed->id);
	return 0;
}

/* ---- its name ---- */

/* The index may be a link to a file elsewhere: the name goes there. */
static int
append_line(const char *home, struct hf_str line, struct hf_err *err)
{
	char *path = hf_path_join(home, "session_index.jsonl"), *dir;
	char *real = realpath(path, NULL);
	struct hf_dir d = HF_DIR_INIT;
	int r;

	if (real != NULL) {
		free(path);
		path = real;
	}
	dir = hf_path_dir(path);
	r = hf_dir_open(&d, dir, err);
	if (r == 0)
		r = hf_file_append(&d, hf_path_base(path), line, err);
	hf_dir_close(&d);
	free(dir);
	free(path);
	return r;
}

/* Is its last byte, if there is one, the end of a line? */
static bool
ends_whole(const char *path)
{
	struct hf_buf last = HF_BUF_INIT;
	bool whole = true;

	if (hf_codex_tail(path, 1, &last) && last.len > 0)
		whole = last.data[0] == '\n';
	hf_buf_release(&last);
	return whole;
}

static void
index_line(const struct hf_seed *seed, const char *path, struct hf_buf *out)
{
	char time[HF_TIME_LEN];

	hf_clock_format(seed->time, time);
	if (!ends_whole(path))
		hf_buf_putc(out, '\n');
	hf_buf_puts(out, "{\"id\":");
	hf_json_quote(out, hf_str(seed->id));
	hf_buf_puts(out, ",\"thread_name\":");
	hf_json_quote(out, hf_str(seed->title));
	hf_buf_printf(out, ",\"updated_at\":\"%s\"}\n", time);
}

int
hf_codex_publish(const struct hf_seed *seed, const struct hf_place *p,
    struct hf_err *err)
{
	struct hf_buf name = HF_BUF_INIT, line = HF_BUF_INIT;
	char *home, *path;
	int r = 0;

	(void)p;
	if (seed->title == NULL)
		return 0;
	if ((home = hf_codex_home(err)) == NULL)
		return -1;
	path = hf_path_join(home, "session_index.jsonl");
	if (!hf_codex_name(path, hf_str(seed->id), &name)) {
		index_line(seed, path, &line);
		r = append_line(home, hf_buf_view(&line), err);
	}
	hf_buf_release(&name);
	hf_buf_release(&line);
	free(path);
	free(home);
	return r;
}

/* ---- going on ---- */

void
hf_codex_resume(const struct hf_session *s, const char *prompt,
    struct hf_argv *out)
{
	struct hf_buf text = HF_BUF_INIT;

	hf_argv_add(out, "codex");
	hf_argv_add(out, "resume");
	hf_argv_add(out, s->id != NULL ? s->id : "");
	if (prompt == NULL)
		return;
	/* Behind a blank it is no option. */
	if (prompt[0] == '-')
		hf_buf_putc(&text, ' ');
	hf_buf_puts(&text, prompt);
	hf_argv_add(out, hf_buf_cstr(&text));
	hf_buf_release(&text);
}
