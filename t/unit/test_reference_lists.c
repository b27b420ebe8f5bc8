/*
 * The fold against a slow and obvious reference, on made-up transcripts of
 * the agents whose history is a list: Codex, Gemini CLI and opencode. Turns
 * that end, are aborted or stay open, cumulative counters, forks, prompts
 * that are taken back, compactions, messages that are rewritten or repeated,
 * all in random order, and damage between the rows. The reference works on
 * what was made up, not on the text of it.
 */
#include <stdarg.h>

#include "base/io.h"
#include "check.h"
#include "scratch.h"
#include "session/metrics.h"

enum { ROUNDS = 400, STEPS = 60, LIST = 2 * STEPS };

enum who { CODEX, GEMINI, OPENCODE };

static const char *const names[] = { "codex", "gemini", "opencode" };

enum what {
	ASK, HARNESS, ANSWER, CALL, RESULT, COMPACT, BACK,
	/* Codex */
	BEGIN, END, ABORT, STRAY, COUNT, AGAIN, NO_INFO, ESTIMATED,
	/* Gemini CLI */
	REWRITE, REPLAY, DROP, NOTE,
	/* opencode */
	FAIL, STOPPED, CUT
};

struct step {
	enum what what;
	int id;			/* of a message, a turn, a prompt */
	int n;			/* BACK: prompts, or a message's id; DROP,
				 * COMPACT: messages */
	bool inherited;		/* Codex: copied from the parent */
	bool figures, tools;	/* it has them */
	int64_t in, cached, out;
};

struct made {
	uint64_t random;
	struct step step[STEPS];
	int n, bad, inherited;
	bool forked, turns;	/* Codex: turns are marked */
	bool event_first, paginated, torn;
	int reverted;		/* opencode: id, -1 */
	struct hf_buf text;
};

struct answer {
	int64_t tokens, turns, compactions, calls, in, cached, out;
	enum hf_state state;
};

static int
below(struct made *g, int n)
{
	g->random ^= g->random << 13;
	g->random ^= g->random >> 7;
	g->random ^= g->random << 17;
	return (int)((g->random >> 20) % (unsigned)n);
}

static void put(struct made *g, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void
put(struct made *g, const char *fmt, ...)
{
	char line[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	hf_buf_puts(&g->text, line);
}

/* ---- making one up ---- */

/* A message's id is its step's place. */
static struct step *
add(struct made *g, enum what what)
{
	struct step *s = &g->step[g->n];

	memset(s, 0, sizeof(*s));
	s->what = what;
	s->id = g->n++;
	s->in = 1 + below(g, 90000);
	s->cached = below(g, (int)s->in);
	s->out = 1 + below(g, 500);
	s->figures = below(g, 5) != 0;
	s->tools = below(g, 3) == 0;
	return s;
}

static void
make_codex(struct made *g)
{
	static const enum what marked[] = { BEGIN, END, ABORT, STRAY };
	static const enum what any[] = { ASK, ASK, HARNESS, ANSWER, ANSWER,
		CALL, CALL, COUNT, COUNT, COUNT, AGAIN, NO_INFO, COMPACT,
		ESTIMATED, BACK };
	int want = 1 + below(g, STEPS - 1), turn = -1;
	struct step *s;

	g->turns = below(g, 3) != 0;
	g->forked = below(g, 3) == 0;
	g->event_first = below(g, 2) == 0;
	g->paginated = below(g, 2) == 0;
	g->inherited = g->forked ? below(g, want) : 0;
	if (g->turns)
		turn = add(g, BEGIN)->id;
	while (g->n < want) {
		if (g->n == g->inherited)
			turn = -1;
		if (g->turns && below(g, 3) == 0)
			s = add(g, marked[below(g, 4)]);
		else
			s = add(g, any[below(g, 15)]);
		if (s->what == BEGIN)
			turn = s->id;
		if (s->what == END || s->what == ABORT)
			s->n = turn;
		s->n = s->what == BACK ? 1 + below(g, 3) : s->n;
	}
	for (int i = 0; i < g->inherited; i++)
		g->step[i].inherited = true;
}

static void
make_opencode(struct made *g)
{
	static const enum what any[] = { ASK, ASK, ASK, HARNESS, ANSWER,
		ANSWER, ANSWER, CALL, FAIL, STOPPED, CUT, COMPACT };
	int want = 1 + below(g, STEPS);

	while (g->n < want)
		add(g, any[below(g, 12)]);
	g->reverted = below(g, 4) == 0 ? below(g, g->n) : -1;
}

/* ---- damage ---- */

static void
damage(struct made *g, int i)
{
	switch (below(g, 40)) {
	case 0:
		put(g, "{\"type\":\"user\",\"x\n");
		g->bad++;
		break;
	case 1:
		put(g, "\r\n");
		break;
	case 2:		/* a stub, and the next row on its line */
		put(g, "{\"timestamp\":\"2026-01-15T09:00:00.000Z\",\"pa");
		g->torn = i == g->n - 1;
		g->bad += !g->torn;
		break;
	case 3:
		for (int k = 0; k < 40; k++)
			hf_buf_putc(&g->text, '\0');
		g->torn = i == g->n - 1;
		g->bad += !g->torn;
		break;
	case 4:
		put(g, "{\"type\":\"something_new\",\"payload\":{}}\n");
		break;
	}
}

/* ---- Codex ---- */

enum { HOUR_OWN = 10, HOUR_PARENT = 9 };

/* The start of a row; what was copied is as old as the fork. */
static void
codex_row(struct made *g, int i, const char *type)
{
	put(g, "{\"timestamp\":\"2026-01-15T%02d:%02d:00.000Z\",\"type\":"
	    "\"%s\",\"payload\":", i < g->inherited ? HOUR_PARENT : HOUR_OWN,
	    i < g->inherited ? 30 : 1 + i % 58, type);
}

static void
codex_meta(struct made *g, const char *id, int hour, const char *more)
{
	put(g, "{\"timestamp\":\"2026-01-15T%02d:30:00.000Z\",\"type\":"
	    "\"session_meta\",\"payload\":{\"id\":\"%s\",\"timestamp\":"
	    "\"2026-01-15T%02d:30:00.000Z\",\"cwd\":\"/p\",\"originator\":"
	    "\"x\",\"cli_version\":\"1\"%s}}\n", HOUR_PARENT, id, hour, more);
}

static void
codex_item(struct made *g, int i, const char *role, const char *text)
{
	codex_row(g, i, "response_item");
	put(g, "{\"type\":\"message\",\"role\":\"%s\",\"content\":[{\"type\":"
	    "\"%s\",\"text\":\"%s\"}]}}\n", role, strcmp(role, "user") == 0 ?
	    "input_text" : "output_text", text);
}

static void
codex_asked(struct made *g, int i, const char *text)
{
	codex_row(g, i, "event_msg");
	if (g->paginated)
		put(g, "{\"type\":\"item_completed\",\"item\":{\"type\":"
		    "\"UserMessage\",\"content\":[{\"type\":\"text\","
		    "\"text\":\"%s\"}]}}}\n", text);
	else
		put(g, "{\"type\":\"user_message\",\"message\":\"%s\"}}\n",
		    text);
}

static void
codex_turn(struct made *g, int i, const char *type, int turn)
{
	codex_row(g, i, "event_msg");
	put(g, "{\"type\":\"%s\",\"turn_id\":\"turn-%d\"}}\n", type, turn);
}

static void
codex_count(struct made *g, int i, const struct step *last,
    const struct step *total)
{
	codex_row(g, i, "event_msg");
	put(g, "{\"type\":\"token_count\",\"info\":{\"total_token_usage\":{"
	    "\"input_tokens\":%lld,\"cached_input_tokens\":%lld,"
	    "\"output_tokens\":%lld},\"last_token_usage\":{\"input_tokens\":"
	    "%lld,\"cached_input_tokens\":%lld,\"output_tokens\":%lld,"
	    "\"total_tokens\":%lld}}}}\n", (long long)total->in,
	    (long long)total->cached, (long long)total->out,
	    (long long)last->in, (long long)last->cached,
	    (long long)last->out, (long long)last->in + last->out);
}

static void
codex_compacted(struct made *g, int i)
{
	codex_row(g, i, "compacted");
	put(g, "{\"message\":\"summary %d\",\"replacement_history\":[{"
	    "\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":"
	    "\"input_text\",\"text\":\"kept %d\"}]}]}}\n", i, i);
}

/* The counters so far: what a fork begins with, then what each call adds. */
static struct step
codex_total(const struct made *g, int upto)
{
	struct step t = { .in = g->forked ? 900000 : 0,
		.cached = g->forked ? 1000 : 0, .out = g->forked ? 500 : 0 };

	for (int i = 0; i <= upto; i++)
		if (g->step[i].what == COUNT) {
			t.in += g->step[i].in;
			t.cached += g->step[i].cached;
			t.out += g->step[i].out;
		}
	return t;
}

/* The last call that was counted up to there, -1. */
static int
codex_last(const struct made *g, int upto)
{
	while (upto >= 0 && g->step[upto].what != COUNT)
		upto--;
	return upto;
}

/* A call has its output behind it, but perhaps the last one. */
static bool
codex_unanswered(const struct made *g, int i)
{
	return g->step[i].what == CALL && i == g->n - 1 && g->step[i].tools;
}

static void
codex_step(struct made *g, int i)
{
	const struct step *s = &g->step[i];
	struct step total = codex_total(g, i);
	char text[64];
	int last;

	snprintf(text, sizeof(text), "prompt %d", s->id);
	switch (s->what) {
	case ASK:
		if (g->event_first)
			codex_asked(g, i, text);
		codex_item(g, i, "user", text);
		if (!g->event_first)
			codex_asked(g, i, text);
		break;
	case HARNESS:
		codex_item(g, i, "user", "<environment_context>x");
		break;
	case ANSWER:
		codex_item(g, i, "assistant", "done");
		break;
	case CALL:
		codex_row(g, i, "response_item");
		put(g, "{\"type\":\"function_call\",\"name\":\"f\","
		    "\"arguments\":\"{}\",\"call_id\":\"c%d\"}}\n", i);
		if (codex_unanswered(g, i))
			break;
		codex_row(g, i, "response_item");
		put(g, "{\"type\":\"function_call_output\",\"call_id\":"
		    "\"c%d\",\"output\":\"ok\"}}\n", i);
		break;
	case BEGIN:
		codex_turn(g, i, "task_started", i);
		break;
	case END:
		codex_turn(g, i, "task_complete", s->n);
		break;
	case ABORT:
		codex_turn(g, i, "turn_aborted", s->n);
		break;
	case STRAY:
		codex_turn(g, i, "task_complete", 999);
		break;
	case COUNT:
		codex_count(g, i, s, &total);
		break;
	case AGAIN:
		if ((last = codex_last(g, i)) >= 0) {
			codex_count(g, i, &g->step[last], &total);
			break;
		}
		__attribute__((fallthrough));
	case NO_INFO:
		codex_row(g, i, "event_msg");
		put(g, "{\"type\":\"token_count\",\"info\":null}}\n");
		break;
	case ESTIMATED:
		codex_row(g, i, "event_msg");
		put(g, "{\"type\":\"token_count\",\"info\":{"
		    "\"total_token_usage\":{\"input_tokens\":%lld,"
		    "\"cached_input_tokens\":%lld,\"output_tokens\":%lld},"
		    "\"last_token_usage\":{\"input_tokens\":0,"
		    "\"output_tokens\":0,\"total_tokens\":%lld}}}}\n",
		    (long long)total.in, (long long)total.cached,
		    (long long)total.out, (long long)s->in);
		codex_compacted(g, i);
		break;
	case COMPACT:
		codex_compacted(g, i);
		break;
	case BACK:
		codex_row(g, i, "event_msg");
		put(g, "{\"type\":\"thread_rolled_back\",\"num_turns\":%d}}\n",
		    s->n);
		break;
	default:
		break;
	}
}

static void
write_codex(struct made *g)
{
	codex_meta(g, "aaaaaaaa-0000-7000-8000-000000000001", g->forked ?
	    HOUR_OWN - 1 : HOUR_PARENT, g->forked ? ",\"forked_from_id\":"
	    "\"aaaaaaaa-0000-7000-8000-000000000002\"" : "");
	if (g->inherited > 0)
		codex_meta(g, "aaaaaaaa-0000-7000-8000-000000000002",
		    HOUR_PARENT - 1, "");
	for (int i = 0; i < g->n; i++) {
		codex_step(g, i);
		damage(g, i);
	}
}

/* The branch behind the first upto steps: a prompt that was taken back goes,
 * and all behind it. */
static int
codex_branch(const struct made *g, int upto, int *live)
{
	int n = 0, back, k, first;

	for (int i = 0; i < upto; i++) {
		back = g->step[i].what == BACK ? g->step[i].n : 0;
		first = n;
		for (k = n; k-- > 0 && back > 0; )
			if (g->step[live[k]].what == ASK) {
				first = k;
				back--;
			}
		n = first;
		live[n++] = i;
	}
	return n;
}

/* Is there a prompt that a step could take back? */
static bool
codex_asked_before(const struct made *g, int i)
{
	int live[STEPS], n = codex_branch(g, i, live);

	while (n-- > 0)
		if (g->step[live[n]].what == ASK)
			return true;
	return false;
}

/* Was the last figure before it the client's estimate? */
static bool
codex_estimated(const struct made *g, int i)
{
	while (--i >= 0)
		if (g->step[i].what == COUNT)
			return false;
		else if (g->step[i].what == AGAIN && codex_last(g, i) >= 0)
			return false;
		else if (g->step[i].what == ESTIMATED)
			return true;
	return false;
}

static int64_t
codex_context(const struct made *g, const int *live, int n)
{
	const struct step *s;
	int64_t tokens = 0;
	int last;

	for (int k = 0; k < n; k++) {
		s = &g->step[live[k]];
		last = s->what == COUNT || s->what == AGAIN ?
		    codex_last(g, live[k]) : -1;
		if (last >= 0)
			tokens = g->step[last].in + g->step[last].out;
		else if (s->what == ESTIMATED)
			tokens = s->in;
		else if (s->what == COMPACT &&
		    !codex_estimated(g, live[k]))
			tokens = 0;
	}
	return tokens;
}

static enum hf_state
codex_state(const struct made *g)
{
	enum hf_state state = HF_STATE_UNKNOWN;
	const struct step *s;
	int open = -1;

	for (int i = 0; i < g->n; i++) {
		s = &g->step[i];
		if (i == g->inherited)
			open = -1;
		if (s->what == BEGIN) {
			open = s->id;
			if (!s->inherited)
				state = HF_STATE_BUSY;
		} else if (s->what == BACK) {
			if (!codex_asked_before(g, i))
				continue;
			state = HF_STATE_IDLE;
			open = -1;
		} else if (s->what == STRAY) {
			if (open < 0)
				state = HF_STATE_IDLE;
		} else if (s->what == END || s->what == ABORT) {
			if (open >= 0 && open != s->n)
				continue;
			state = s->what == END ? HF_STATE_IDLE :
			    HF_STATE_INTERRUPTED;
			open = -1;
		} else if (!g->turns && (s->what == ASK ||
		    s->what == CALL) && !s->inherited) {
			state = HF_STATE_BUSY;
		} else if (!g->turns && s->what == ANSWER) {
			state = HF_STATE_IDLE;
		}
	}
	return codex_unanswered(g, g->n - 1) ? HF_STATE_BUSY : state;
}

/* What the counter grew by, but for what the parent had spent. */
static void
codex_spent(const struct made *g, struct answer *a)
{
	struct step total = codex_total(g, g->n - 1);
	struct step base = codex_total(g, g->inherited - 1);

	a->cached = total.cached - base.cached;
	a->in = total.in - base.in - a->cached;
	a->out = total.out - base.out;
}

static struct answer
codex_answer(const struct made *g)
{
	struct answer a = { 0 };
	int live[STEPS], n = codex_branch(g, g->n, live);
	const struct step *s;

	for (int k = 0; k < n; k++) {
		s = &g->step[live[k]];
		a.turns += s->what == ASK && !s->inherited;
		a.compactions += s->what == COMPACT || s->what == ESTIMATED;
	}
	for (int i = g->inherited; i < g->n; i++)
		a.calls += g->step[i].what == COUNT;
	a.tokens = codex_context(g, live, n);
	a.state = codex_state(g);
	codex_spent(g, &a);
	return a;
}

/* ---- Gemini CLI ---- */

/* A message as it is known at some point. */
struct shown { int step, id; };

static void
gemini_figures(struct made *g, const struct step *s)
{
	if (!s->figures) {
		put(g, "\"tokens\":null,");
		return;
	}
	put(g, "\"tokens\":{\"input\":%lld,\"output\":%lld,\"cached\":%lld,"
	    "\"thoughts\":0,\"tool\":0,\"total\":%lld},", (long long)s->in,
	    (long long)s->out, (long long)s->cached,
	    (long long)s->in + s->out);
}

/* As a row, or again in a list, where it has no figures. */
static void
gemini_message(struct made *g, const struct step *s, int id, bool again)
{
	put(g, "{\"id\":\"m%d\",\"timestamp\":\"2026-01-15T09:00:00.000Z\",",
	    id);
	switch (s->what) {
	case ANSWER:
	case REWRITE:
		if (!again)
			gemini_figures(g, s);
		put(g, "\"type\":\"gemini\",\"model\":\"x\",\"content\":"
		    "\"done\"%s}", s->tools ? ",\"toolCalls\":[{\"id\":\"t\","
		    "\"name\":\"f\",\"args\":{}}]" : "");
		break;
	case RESULT:
		put(g, "\"type\":\"user\",\"content\":[{\"functionResponse\":"
		    "{\"id\":\"t\",\"name\":\"f\",\"response\":{}}}]}");
		break;
	case HARNESS:
		put(g, "\"type\":\"user\",\"content\":[{\"text\":"
		    "\"<session_context>x\"}]}");
		break;
	default:
		put(g, "\"type\":\"user\",\"content\":[{\"text\":\"ask %d\"}]}",
		    id);
		break;
	}
}

/* Does a step show a message of its own? */
static bool
gemini_shows(const struct step *s)
{
	return s->what == ASK || s->what == ANSWER || s->what == RESULT ||
	    s->what == HARNESS;
}

/* Is there more than what the client put in front? */
static bool
gemini_talk(const struct made *g, const struct shown *list, int n)
{
	while (n-- > 0)
		if (list[n].step < 0 || g->step[list[n].step].what != HARNESS)
			return true;
	return false;
}

/* The list of messages behind the first upto steps. A compression's summary
 * and answer have negative steps. */
static int
gemini_list(const struct made *g, int upto, struct shown *list)
{
	const struct step *s;
	int n = 0, k, kept;

	memset(list, 0, LIST * sizeof(*list));
	for (int i = 0; i < upto; i++) {
		s = &g->step[i];
		if (gemini_shows(s)) {
			list[n++] = (struct shown){ i, s->id };
		} else if (s->what == REWRITE) {
			for (k = 0; k < n; k++)
				if (list[k].id == s->n)
					list[k].step = i;
		} else if (s->what == BACK) {
			for (k = 0; k < n && list[k].id != s->n; k++)
				;
			/* One that is not there takes all with it. */
			n = k < n ? k : 0;
		} else if (s->what == DROP) {
			n = n > s->n ? n - s->n : 0;
		} else if (s->what == COMPACT &&
		    gemini_talk(g, list, n)) {
			kept = n < s->n ? n : s->n;
			memmove(list + 2, list + n - kept, (size_t)kept *
			    sizeof(*list));
			for (k = 2; k < kept + 2; k++)
				list[k].id += 1000;
			list[0] = (struct shown){ -1, 100000 + i };
			list[1] = (struct shown){ -2, 200000 + i };
			n = kept + 2;
		}
	}
	return n;
}

static void
make_gemini(struct made *g)
{
	static const enum what any[] = { ASK, ASK, ASK, ANSWER, ANSWER,
		ANSWER, REWRITE, RESULT, HARNESS, NOTE, REPLAY, DROP, COMPACT,
		BACK };
	int want = 1 + below(g, STEPS - 1), last = -1;
	struct shown list[LIST];
	bool listed = false;
	struct step *s;
	int n;

	while (g->n < want) {
		s = add(g, any[below(g, 14)]);
		if (s->what == ANSWER)
			last = s->id;
		else if (s->what == REWRITE)
			s->n = last;
		if (s->what == REWRITE && last < 0)
			s->what = NOTE;
		/* What a list repeated cannot be taken back one by one. */
		n = listed ? 0 : gemini_list(g, s->id, list);
		if (s->what == BACK && n == 0)
			s->what = NOTE;
		else if (s->what == BACK)
			s->n = below(g, 9) == 0 ? LIST :
			    list[below(g, n)].id;
		if (s->what == DROP || s->what == COMPACT)
			s->n = below(g, 4);
		if (s->what == REPLAY || s->what == DROP ||
		    s->what == COMPACT) {
			listed = true;
			last = -1;
		}
	}
}

static void
gemini_write_list(struct made *g, int upto)
{
	struct shown list[LIST];
	int n = gemini_list(g, upto, list);

	put(g, "{\"$set\":{\"messages\":[");
	for (int k = 0; k < n; k++) {
		if (k > 0)
			put(g, ",");
		if (list[k].step == -2)
			put(g, "{\"id\":\"m%d\",\"type\":\"gemini\","
			    "\"content\":\"Got it. Thanks for the additional "
			    "context!\"}", list[k].id);
		else if (list[k].step == -1)
			put(g, "{\"id\":\"m%d\",\"type\":\"user\",\"content\":"
			    "[{\"text\":\"<state_snapshot>x\"}]}", list[k].id);
		else
			gemini_message(g, &g->step[list[k].step], list[k].id,
			    true);
	}
	put(g, "]}}\n");
}

static void
write_gemini(struct made *g)
{
	const struct step *s;

	put(g, "{\"sessionId\":\"s\",\"projectHash\":\"h\",\"kind\":\"main\","
	    "\"startTime\":\"2026-01-15T09:00:00.000Z\"}\n");
	for (int i = 0; i < g->n; i++) {
		s = &g->step[i];
		if (gemini_shows(s) || s->what == REWRITE) {
			gemini_message(g, s, s->what == REWRITE ? s->n : s->id,
			    false);
			put(g, "\n");
		} else if (s->what == REPLAY || s->what == DROP ||
		    s->what == COMPACT) {
			gemini_write_list(g, i + 1);
		} else if (s->what == BACK) {
			put(g, "{\"$rewindTo\":\"m%d\"}\n", s->n);
		} else {
			put(g, "{\"$set\":{\"lastUpdated\":"
			    "\"2026-01-15T09:00:00.000Z\"}}\n");
		}
		damage(g, i);
	}
}

static bool
gemini_open(const struct made *g, const struct shown *m, bool *says)
{
	const struct step *s;

	*says = true;
	if (m->step < 0) {
		*says = m->step == -2;
		return false;
	}
	s = &g->step[m->step];
	*says = s->what != HARNESS;
	return s->what == ASK || s->what == RESULT ||
	    ((s->what == ANSWER || s->what == REWRITE) && s->tools);
}

/* By the last message; where the list ends with one that says nothing, a
 * list that was written whole is idle, one that grew is as before. */
static enum hf_state
gemini_state(const struct made *g)
{
	enum hf_state state = HF_STATE_UNKNOWN;
	struct shown list[LIST];
	const struct step *s;
	bool says, open;
	int n;

	for (int i = 0; i < g->n; i++) {
		s = &g->step[i];
		n = gemini_list(g, i + 1, list);
		if (s->what == REPLAY || s->what == DROP ||
		    s->what == COMPACT) {
			open = n > 0 && gemini_open(g, &list[n - 1], &says) &&
			    says;
			state = open ? HF_STATE_BUSY : HF_STATE_IDLE;
		} else if (gemini_shows(s) || (s->what == REWRITE && n > 0 &&
		    list[n - 1].step == i)) {
			open = gemini_open(g, &list[n - 1], &says);
			if (says)
				state = open ? HF_STATE_BUSY : HF_STATE_IDLE;
		} else if (s->what == BACK) {
			state = HF_STATE_IDLE;
		}
	}
	return state;
}

/* Is what a step showed still there when it was not taken back? */
static bool
gemini_gone(const struct made *g, int id, int from)
{
	struct shown before[LIST], after[LIST];
	int n, m, k;

	for (int i = from + 1; i < g->n; i++) {
		if (g->step[i].what != BACK)
			continue;
		n = gemini_list(g, i, before);
		m = gemini_list(g, i + 1, after);
		for (k = m; k < n; k++)
			if (before[k].id == id)
				return true;
	}
	return false;
}

static struct answer
gemini_answer(const struct made *g)
{
	struct answer a = { 0 };
	struct shown list[LIST];
	const struct step *s, *best;
	int id, i;

	for (i = 0; i < g->n; i++) {
		s = &g->step[i];
		if (s->what == ASK && !gemini_gone(g, s->id, i))
			a.turns++;
		if (s->what == COMPACT && gemini_talk(g, list,
		    gemini_list(g, i, list))) {
			a.compactions++;
			a.tokens = 0;
		}
		if ((s->what == ANSWER || s->what == REWRITE) && s->figures) {
			id = s->what == REWRITE ? s->n : s->id;
			if (!gemini_gone(g, id, i))
				a.tokens = s->in + s->out;
		}
	}
	for (id = 0; id < g->n; id++) {
		best = NULL;
		for (i = 0; i < g->n; i++) {
			s = &g->step[i];
			if (((s->what == ANSWER && s->id == id) ||
			    (s->what == REWRITE && s->n == id)) &&
			    s->figures && (best == NULL ||
			    s->out >= best->out))
				best = s;
		}
		if (best == NULL)
			continue;
		a.calls++;
		a.in += best->in - best->cached;
		a.cached += best->cached;
		a.out += best->out;
	}
	a.state = gemini_state(g);
	return a;
}

/* ---- opencode ---- */

static void
opencode_user(struct made *g, const struct step *s, const char *part)
{
	put(g, "{\"info\":{\"id\":\"msg_%d\",\"role\":\"user\",\"time\":{"
	    "\"created\":%d},\"agent\":\"build\",\"model\":{\"providerID\":"
	    "\"p\",\"modelID\":\"m\"}},\"parts\":[{%s}]}", s->id, s->id + 1,
	    part);
}

static void
opencode_assistant(struct made *g, const struct step *s, int id,
    const char *more)
{
	int64_t n = s->figures ? 1 : 0;

	put(g, "{\"info\":{\"id\":\"msg_%d\",\"role\":\"assistant\","
	    "\"modelID\":\"m\",\"providerID\":\"p\",%s,\"tokens\":{\"total\":"
	    "%lld,\"input\":%lld,\"output\":%lld,\"reasoning\":0,\"cache\":{"
	    "\"read\":%lld,\"write\":0}}},\"parts\":[{\"type\":\"text\","
	    "\"text\":\"done\"}]}", id, more, n * ((long long)s->in +
	    s->cached + s->out), n * (long long)s->in,
	    n * (long long)s->out, n * (long long)s->cached);
}

static void
opencode_step(struct made *g, const struct step *s)
{
	switch (s->what) {
	case ASK:
		opencode_user(g, s, "\"type\":\"text\",\"text\":\"ask\"");
		break;
	case HARNESS:
		opencode_user(g, s, "\"type\":\"text\",\"text\":\"go on\","
		    "\"synthetic\":true");
		break;
	case ANSWER:
		opencode_assistant(g, s, s->id, "\"finish\":\"stop\",\"time\":"
		    "{\"created\":1,\"completed\":2}");
		break;
	case CALL:
		opencode_assistant(g, s, s->id, "\"finish\":\"tool-calls\","
		    "\"time\":{\"created\":1,\"completed\":2}");
		break;
	case CUT:
		opencode_assistant(g, s, s->id, "\"time\":{\"created\":1}");
		break;
	case FAIL:
		opencode_assistant(g, s, s->id, "\"error\":{\"name\":"
		    "\"APIError\"},\"time\":{\"created\":1,\"completed\":2}");
		break;
	case STOPPED:
		opencode_assistant(g, s, s->id, "\"error\":{\"name\":"
		    "\"MessageAbortedError\"},\"time\":{\"created\":1,"
		    "\"completed\":2}");
		break;
	default:
		opencode_user(g, s, "\"type\":\"compaction\",\"auto\":true");
		put(g, ",");
		opencode_assistant(g, s, 1000 + s->id, "\"mode\":"
		    "\"compaction\",\"summary\":true,\"finish\":\"stop\","
		    "\"time\":{\"created\":1,\"completed\":2}");
		break;
	}
}

static void
write_opencode(struct made *g)
{
	put(g, "{\"info\":{\"id\":\"ses_1\",\"directory\":\"/p\",\"title\":"
	    "\"t\",\"version\":\"1\",\"tokens\":{\"input\":9999999},");
	if (g->reverted >= 0)
		put(g, "\"revert\":{\"messageID\":\"msg_%d\"},", g->reverted);
	put(g, "\"time\":{\"created\":1,\"updated\":2}},\"messages\":[");
	for (int i = 0; i < g->n; i++) {
		put(g, "%s", i > 0 ? "," : "");
		opencode_step(g, &g->step[i]);
	}
	put(g, "]}");
}

static struct answer
opencode_answer(const struct made *g)
{
	struct answer a = { 0 };
	const struct step *s;

	for (int i = 0; i < g->n; i++) {
		s = &g->step[i];
		if (s->what != ASK && s->what != HARNESS) {
			/* An answer that says of no usage is one all the
			 * same, unless it failed or was taken back. */
			a.calls += s->figures || ((s->what == ANSWER ||
			    s->what == CALL || s->what == CUT) &&
			    (g->reverted < 0 || i < g->reverted));
			a.in += s->figures ? s->in : 0;
			a.cached += s->figures ? s->cached : 0;
			a.out += s->figures ? s->out : 0;
		}
		if (g->reverted >= 0 && i >= g->reverted)
			continue;
		a.turns += s->what == ASK;
		a.compactions += s->what == COMPACT;
		if (s->what == COMPACT)
			a.tokens = 0;
		else if (s->figures && (s->what == ANSWER ||
		    s->what == CALL || s->what == CUT))
			a.tokens = s->in + s->cached + s->out;
		if (s->what == STOPPED)
			a.state = HF_STATE_INTERRUPTED;
		else if (s->what == ANSWER || s->what == FAIL ||
		    s->what == COMPACT)
			a.state = HF_STATE_IDLE;
		else
			a.state = HF_STATE_BUSY;
	}
	return a;
}

/* ---- the comparison ---- */

static const struct {
	void (*make)(struct made *g);
	void (*write)(struct made *g);
	struct answer (*answer)(const struct made *g);
} agents[] = {
	{ make_codex, write_codex, codex_answer },
	{ make_gemini, write_gemini, gemini_answer },
	{ make_opencode, write_opencode, opencode_answer },
};

static bool
same(const struct answer *a, const struct made *g,
    const struct hf_metrics *m)
{
	enum hf_state state = g->torn ? HF_STATE_BUSY : a->state;

	return m->tokens == a->tokens && m->turns == a->turns &&
	    m->compactions == a->compactions && m->calls == a->calls &&
	    m->total.input == a->in && m->total.cache_read == a->cached &&
	    m->total.output == a->out && m->state == state &&
	    m->bad == (uint64_t)g->bad;
}

static void
explain(const struct answer *a, const struct made *g,
    const struct hf_metrics *m, enum who who)
{
	printf("# %s: tokens %lld (%s) turns %lld compactions %lld calls %lld "
	    "in %lld cached %lld out %lld bad %llu state %s\n", names[who],
	    (long long)m->tokens, m->tokens_from, (long long)m->turns,
	    (long long)m->compactions, (long long)m->calls,
	    (long long)m->total.input, (long long)m->total.cache_read,
	    (long long)m->total.output, (unsigned long long)m->bad,
	    hf_state_name(m->state));
	printf("# want: tokens %lld turns %lld compactions %lld calls %lld "
	    "in %lld cached %lld out %lld bad %d state %s\n",
	    (long long)a->tokens, (long long)a->turns,
	    (long long)a->compactions, (long long)a->calls,
	    (long long)a->in, (long long)a->cached, (long long)a->out,
	    g->bad, hf_state_name(a->state));
	for (int i = 0; i < g->n; i++)
		printf("# %d: what %d n %d inherited %d figures %d tools %d "
		    "in %lld out %lld\n", i, (int)g->step[i].what,
		    g->step[i].n, g->step[i].inherited, g->step[i].figures,
		    g->step[i].tools, (long long)g->step[i].in,
		    (long long)g->step[i].out);
	check_show("rows", g->text.data, g->text.len);
}

static void
one(struct made *g, const char *folder, enum who who)
{
	struct hf_session s;
	struct hf_metrics m;
	struct hf_err err = { HF_OK, "not written" };
	struct answer want;
	bool good = false;

	g->n = g->bad = g->inherited = 0;
	g->forked = g->torn = false;
	g->reverted = -1;
	hf_buf_clear(&g->text);
	agents[who].make(g);
	agents[who].write(g);
	want = agents[who].answer(g);
	hf_session_init(&s);
	s.path = hf_path_join(folder, "rows.jsonl");
	s.agent = hf_agent_by_name(hf_str(names[who]));
	if (scratch_write(s.path, hf_buf_view(&g->text)) &&
	    hf_measure(&s, NULL, &(struct hf_measure){ 0 }, &m, NULL,
	    &err) == 0) {
		good = same(&want, g, &m);
		if (!good)
			explain(&want, g, &m, who);
		hf_metrics_release(&m);
	} else {
		printf("# %s: %s\n", names[who], err.msg);
	}
	CHECK(good);
	hf_session_release(&s);
}

int
main(void)
{
	struct made g = { .random = UINT64_C(0x2545f4914f6cdd1d) };
	char *folder = scratch_make();

	for (int i = 0; i < ROUNDS && check_failures < 3; i++) {
		one(&g, folder, CODEX);
		one(&g, folder, GEMINI);
		one(&g, folder, OPENCODE);
	}
	hf_buf_release(&g.text);
	scratch_remove(folder);
	return check_done();
}
