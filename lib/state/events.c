#include "state/events.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/io.h"
#include "json/json.h"
#include "state/main.h"

static const char events[] = "events.jsonl", older[] = "events.jsonl.1";

/* One write, so that lines of several processes do not mix; not flushed:
 * what is true stands elsewhere. */
static void
append(struct hf_str line)
{
	struct hf_dir d = HF_DIR_INIT;
	struct hf_err ignored;
	char *path = hf_store_dir(&ignored);
	struct stat st;
	int fd = -1;

	/* With files, whoever changes the state has made the folder. */
	if (path == NULL || hf_dir_make(&d, path, &ignored) < 0)
		goto out;
	if (fstatat(d.fd, events, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_size > HF_EVENTS_MAX)
		renameat(d.fd, events, d.fd, older);
	fd = hf_file_open(&d, events, O_WRONLY | O_APPEND | O_CREAT);
	if (fd >= 0) {
		hf_io_write(fd, line.s, line.n);
		close(fd);
	}
out:
	hf_dir_close(&d);
	free(path);
}

static struct hf_jnode *
begin(struct hf_jtree *t, const char *event)
{
	struct hf_jnode *o = hf_jtree_obj(t);
	char at[HF_TIME_LEN];

	hf_clock_format(hf_clock_now(), at);
	hf_jset_cstr(t, o, "at", at);
	hf_jset_cstr(t, o, "event", event);
	return o;
}

static void
end(struct hf_jtree *t, const struct hf_jnode *o)
{
	struct hf_buf line = HF_BUF_INIT;

	hf_jtree_write(&line, o, false);
	hf_buf_putc(&line, '\n');
	append(hf_buf_view(&line));
	hf_buf_release(&line);
	hf_jtree_free(t);
}

void
hf_event_attempt(const char *event, const struct hf_attempt *r)
{
	struct hf_jtree *t = hf_jtree_new();
	struct hf_jnode *o = begin(t, event);

	hf_jset_cstr(t, o, "attempt", r->id);
	hf_jset_cstr(t, o, "phase", hf_phase_name(r->phase));
	hf_jset_cstr(t, o, "reason", r->reason);
	hf_jset(t, o, "from", hf_main_name(t, r->source.agent,
	    r->source.id));
	hf_jset(t, o, "to", hf_main_name(t, r->target.agent, r->target.id));
	if (r->error != NULL) {
		hf_jset_cstr(t, o, "code", r->error_code);
		hf_jset_cstr(t, o, "error", r->error);
	}
	end(t, o);
}

void
hf_event_session(const char *event, const char *agent, const char *id,
    const char *to)
{
	struct hf_jtree *t = hf_jtree_new();
	struct hf_jnode *o = begin(t, event);

	hf_jset(t, o, "session", hf_main_name(t, agent, id));
	if (to != NULL)
		hf_jset_cstr(t, o, "to", to);
	end(t, o);
}
