/*
 * The fold against a slow and obvious reference, on made-up transcripts of
 * the agents whose history is a tree, Claude Code, pi and oh-my-pi:
 * branches, parents that come late or never, messages over several rows,
 * side chains, errors, compactions, resets, damaged lines. The reference
 * works on what was made up, not on the text of it.
 */
#include "base/io.h"
#include "check.h"
#include "scratch.h"
#include "session/metrics.h"

enum { ROUNDS = 400, ROWS = 80 };

enum kind {
	PROMPT, RESULT, META, ASSISTANT, FAILED, COMPACTION, OTHER,
	RESET, EXIT		/* oh-my-pi */
};

enum who { CLAUDE, PI, OMP };

static const char *const names[] = { "claude", "pi", "omp" };

struct row {
	enum kind kind;
	int parent;		/* index, -1: none, ROWS: not there */
	bool side, tool;	/* tool: the answer calls one */
	int call, request;
	int64_t in, cached, out;
	int chars;		/* of its text */
};

struct made {
	uint64_t random;
	struct row row[ROWS];
	int n;
	int hint;		/* last last-prompt's row, -1 */
	int bad;
	struct hf_buf text;
};

static unsigned
below(struct made *g, unsigned n)
{
	g->random ^= g->random << 13;
	g->random ^= g->random >> 7;
	g->random ^= g->random << 17;
	return (unsigned)(g->random >> 20) % n;
}

/* ---- making one up ---- */

static int
some_parent(struct made *g)
{
	switch (below(g, 12)) {
	case 0:
		return g->n > 0 ? (int)below(g, (unsigned)g->n) : -1;
	case 1:
		return below(g, 4) == 0 ? ROWS : g->n - 1;
	case 2:
		/* One that comes later, if it comes at all. */
		return below(g, 4) == 0 ? g->n + 1 : g->n - 1;
	default:
		return g->n - 1;
	}
}

static struct row *
add(struct made *g, enum kind kind)
{
	struct row *r = &g->row[g->n];

	memset(r, 0, sizeof(*r));
	r->kind = kind;
	r->parent = some_parent(g);
	r->chars = 1 + (int)below(g, 40);
	g->n++;
	return r;
}

static void
figures(struct made *g, struct row *r)
{
	r->in = below(g, 1000);
	r->cached = below(g, 100000);
	r->out = 1 + below(g, 300);
}

/* The rows of one message: one id, growing or shrinking output. */
static void
message(struct made *g, bool split, bool sides)
{
	int rows = split ? 1 + (int)below(g, 3) : 1, call = g->n;
	bool tool = below(g, 3) == 0;
	struct row first = { 0 }, *r;

	figures(g, &first);
	for (int i = 0; i < rows && g->n < ROWS; i++) {
		r = add(g, ASSISTANT);
		if (i > 0)
			r->parent = g->n - 2;
		r->call = call;
		r->request = call;
		r->in = first.in;
		r->cached = first.cached;
		r->out = 1 + below(g, 300);
		r->tool = tool;
	}
	if (!sides || below(g, 5) != 0 || g->n == ROWS)
		return;
	/* A side question replays it under a request of its own. */
	r = add(g, ASSISTANT);
	r->parent = -1;
	r->side = true;
	r->call = call;
	r->request = g->n;
	figures(g, r);
}

static void
make(struct made *g, enum who who)
{
	bool claude = who == CLAUDE;
	int want = 1 + (int)below(g, ROWS);

	g->n = 0;
	g->hint = -1;
	g->bad = 0;
	while (g->n < want) {
		switch (below(g, 12)) {
		case 0: case 1: case 2:
			add(g, PROMPT);
			break;
		case 3:
			add(g, RESULT);
			break;
		case 4:
			add(g, META);
			break;
		case 5:
			add(g, FAILED);
			break;
		case 6:
			if (below(g, 2) == 0)
				figures(g, add(g, COMPACTION));
			break;
		case 7:
			add(g, who != OMP || below(g, 2) == 0 ? OTHER :
			    below(g, 2) == 0 ? RESET : EXIT);
			break;
		default:
			message(g, claude, claude);
			break;
		}
	}
}

/* ---- writing it ---- */

static void
name(struct hf_buf *b, const char *key, int i)
{
	if (i < 0)
		hf_buf_printf(b, "\"%s\":null,", key);
	else
		hf_buf_printf(b, "\"%s\":\"%08x-0000-4000-8000-000000000000"
		    "\",", key, (unsigned)i + 1);
}

static void
letters(struct hf_buf *b, int n)
{
	hf_buf_putc(b, '"');
	for (int i = 0; i < n; i++)
		hf_buf_putc(b, 'x');
	hf_buf_putc(b, '"');
}

static void
damage(struct made *g)
{
	if (below(g, 15) != 0)
		return;
	hf_buf_puts(&g->text, "{\"parentUuid\":broken\n");
	g->bad++;
}

static void
claude_message(struct hf_buf *b, const struct row *r)
{
	hf_buf_printf(b, "\"type\":\"assistant\",\"requestId\":\"req_%d\","
	    "\"message\":{\"id\":\"msg_%d\",\"role\":\"assistant\","
	    "\"model\":\"claude-sonnet-4-5\",\"content\":[{", r->request,
	    r->call);
	hf_buf_puts(b, "\"type\":\"text\",\"text\":");
	letters(b, r->chars);
	hf_buf_printf(b, "}],\"stop_reason\":\"%s\",\"usage\":{"
	    "\"input_tokens\":%lld,\"cache_read_input_tokens\":%lld,"
	    "\"cache_creation_input_tokens\":0,\"output_tokens\":%lld}}",
	    r->tool ? "tool_use" : "end_turn", (long long)r->in,
	    (long long)r->cached, (long long)r->out);
}

static void
claude_row(struct made *g, int i)
{
	const struct row *r = &g->row[i];
	struct hf_buf *b = &g->text;

	hf_buf_putc(b, '{');
	name(b, "parentUuid", r->kind == COMPACTION ? -1 : r->parent);
	name(b, "uuid", i);
	hf_buf_printf(b, "\"isSidechain\":%s,\"cwd\":\"/p\",\"sessionId\":"
	    "\"aaaaaaaa-0000-4000-8000-000000000000\",\"timestamp\":"
	    "\"2026-01-15T09:00:00.000Z\",", r->side ? "true" : "false");
	switch (r->kind) {
	case PROMPT:
		hf_buf_puts(b, "\"type\":\"user\",\"message\":{\"role\":"
		    "\"user\",\"content\":");
		letters(b, r->chars);
		hf_buf_putc(b, '}');
		break;
	case RESULT:
		hf_buf_puts(b, "\"type\":\"user\",\"message\":{\"role\":"
		    "\"user\",\"content\":[{\"type\":\"tool_result\","
		    "\"tool_use_id\":\"t\",\"content\":\"ok\"}]}");
		break;
	case META:
		hf_buf_puts(b, "\"type\":\"user\",\"isMeta\":true,"
		    "\"message\":{\"role\":\"user\",\"content\":\"m\"}");
		break;
	case ASSISTANT:
		claude_message(b, r);
		break;
	case FAILED:
		hf_buf_puts(b, "\"type\":\"assistant\",\"isApiErrorMessage\":"
		    "true,\"message\":{\"id\":\"e\",\"role\":\"assistant\","
		    "\"model\":\"<synthetic>\",\"content\":[{\"type\":"
		    "\"text\",\"text\":\"API Error\"}],\"stop_reason\":"
		    "\"stop_sequence\",\"usage\":{\"input_tokens\":0,"
		    "\"output_tokens\":0}}");
		break;
	case COMPACTION:
		name(b, "logicalParentUuid", r->parent);
		hf_buf_printf(b, "\"type\":\"system\",\"subtype\":"
		    "\"compact_boundary\",\"compactMetadata\":{"
		    "\"trigger\":\"auto\",\"postTokens\":%lld}",
		    (long long)r->in + 1);
		break;
	case OTHER:
	case RESET:
	case EXIT:
		hf_buf_puts(b, "\"type\":\"system\",\"subtype\":"
		    "\"turn_duration\"");
		break;
	}
	hf_buf_puts(b, "}\n");
}

static void
write_claude(struct made *g)
{
	hf_buf_clear(&g->text);
	for (int i = 0; i < g->n; i++) {
		claude_row(g, i);
		damage(g);
		if (below(g, 10) != 0)
			continue;
		g->hint = (int)below(g, (unsigned)i + 1);
		hf_buf_puts(&g->text, "{\"type\":\"last-prompt\",");
		name(&g->text, "leafUuid", g->hint);
		hf_buf_puts(&g->text, "\"sessionId\":\"a\"}\n");
	}
}

static void
pi_row(struct made *g, int i)
{
	const struct row *r = &g->row[i];
	struct hf_buf *b = &g->text;

	hf_buf_putc(b, '{');
	name(b, "parentId", r->parent);
	name(b, "id", i);
	hf_buf_puts(b, "\"timestamp\":\"2026-01-15T09:00:00.000Z\",");
	switch (r->kind) {
	case PROMPT:
		hf_buf_puts(b, "\"type\":\"message\",\"message\":{\"role\":"
		    "\"user\",\"content\":");
		letters(b, r->chars);
		hf_buf_putc(b, '}');
		break;
	case RESULT:
		hf_buf_puts(b, "\"type\":\"message\",\"message\":{\"role\":"
		    "\"toolResult\",\"toolCallId\":\"t\",\"toolName\":"
		    "\"bash\",\"content\":[{\"type\":\"text\",\"text\":");
		letters(b, r->chars);
		hf_buf_puts(b, "}]}");
		break;
	case ASSISTANT:
	case FAILED:
		hf_buf_puts(b, "\"type\":\"message\",\"message\":{\"role\":"
		    "\"assistant\",\"model\":\"m\",\"content\":[{\"type\":"
		    "\"text\",\"text\":");
		letters(b, r->chars);
		hf_buf_printf(b, "}],\"stopReason\":\"%s\",\"usage\":{"
		    "\"input\":%lld,\"cacheRead\":%lld,\"cacheWrite\":0,"
		    "\"output\":%lld,\"totalTokens\":%lld}}",
		    r->kind == FAILED ? "error" : r->tool ? "toolUse" :
		    "stop", (long long)r->in, (long long)r->cached,
		    (long long)r->out, (long long)r->in + r->cached +
		    r->out);
		break;
	case COMPACTION:
		hf_buf_puts(b, "\"type\":\"compaction\",\"summary\":\"s\","
		    "\"firstKeptEntryId\":\"none\",\"tokensBefore\":5");
		break;
	case META:
	case OTHER:
		hf_buf_puts(b, "\"type\":\"label\",\"label\":\"x\"");
		break;
	case RESET:
		hf_buf_puts(b, "\"type\":\"reset_boundary\"");
		break;
	case EXIT:
		hf_buf_puts(b, "\"type\":\"custom\",\"customType\":"
		    "\"session_exit\",\"data\":{\"kind\":\"normal\"}");
		break;
	}
	hf_buf_puts(b, "}\n");
}

static void
write_pi(struct made *g, enum who who)
{
	hf_buf_clear(&g->text);
	if (who == OMP)
		hf_buf_puts(&g->text, "{\"type\":\"title\",\"v\":1,"
		    "\"title\":\"t\",\"source\":\"user\",\"pad\":\"  \"}\n");
	hf_buf_puts(&g->text, "{\"type\":\"session\",\"version\":3,\"id\":"
	    "\"s\",\"timestamp\":\"2026-01-15T09:00:00.000Z\","
	    "\"cwd\":\"/p\"}\n");
	for (int i = 0; i < g->n; i++) {
		pi_row(g, i);
		damage(g);
	}
}

/* ---- the reference ---- */

struct answer {
	int64_t tokens, turns, compactions, messages, calls, in, out;
	const char *from;
	enum hf_state state;
};

static int
parent_of(const struct made *g, int i)
{
	int p = g->row[i].parent;

	return p >= 0 && p < g->n && p != i ? p : -1;
}

static bool
descends(const struct made *g, int i, int from)
{
	for (int steps = 0; i >= 0 && steps <= g->n; steps++) {
		if (i == from)
			return true;
		i = parent_of(g, i);
	}
	return false;
}

static int
leaf_of(const struct made *g)
{
	int i;

	for (i = g->n - 1; g->hint >= 0 && !g->row[g->hint].side && i >= 0;
	    i--)
		if (!g->row[i].side && descends(g, i, g->hint))
			return i;
	for (i = g->n - 1; i >= 0 && g->row[i].side; i--)
		;
	return i;
}

/* The branch, root first; how many rows. */
static int
branch_of(const struct made *g, int *to)
{
	int back[ROWS], n = 0, i, k;

	for (i = leaf_of(g); i >= 0; i = parent_of(g, i)) {
		for (k = 0; k < n && back[k] != i; k++)
			;
		if (k < n)
			break;
		back[n++] = i;
	}
	/* A side chain that the branch leads over is not the main chain's. */
	for (k = n, n = 0; k-- > 0; )
		if (!g->row[back[k]].side)
			to[n++] = back[k];
	return n;
}

static int64_t
context_of(const struct row *r)
{
	return r->in + r->cached + r->out;
}

/* Of all rows of the main chain that show the call, the one with the most
 * output, in doubt the later. */
static int64_t
fullest(const struct made *g, int call)
{
	const struct row *best = NULL, *r;

	for (int i = 0; i < g->n; i++) {
		r = &g->row[i];
		if (r->kind == ASSISTANT && !r->side && r->call == call &&
		    (best == NULL || r->out >= best->out))
			best = r;
	}
	return best != NULL ? context_of(best) : 0;
}

/* One message id is one call here: what is replayed is a side chain's. */
static void
spent(const struct made *g, struct answer *a)
{
	const struct row *best, *r;
	int call, i;

	for (call = 0; call < g->n; call++) {
		best = NULL;
		for (i = 0; i < g->n; i++) {
			r = &g->row[i];
			if (r->kind == ASSISTANT && r->call == call &&
			    (best == NULL || r->out >= best->out))
				best = r;
		}
		if (best == NULL)
			continue;
		a->calls++;
		a->in += best->in;
		a->out += best->out;
	}
}

/* Over what says nothing of the turn: in pi also a compaction, which comes
 * between a prompt and its answer, too. */
static enum hf_state
state_of(const struct made *g, const int *path, int n, enum who who)
{
	enum hf_state state = HF_STATE_UNKNOWN;
	const struct row *r;

	for (int i = 0; i < n; i++) {
		r = &g->row[path[i]];
		switch (r->kind) {
		case PROMPT:
		case RESULT:
			state = HF_STATE_BUSY;
			break;
		case ASSISTANT:
			state = r->tool ? HF_STATE_BUSY : HF_STATE_IDLE;
			break;
		case FAILED:
		case RESET:
			state = HF_STATE_IDLE;
			break;
		case COMPACTION:
			if (who == CLAUDE)
				state = HF_STATE_IDLE;
			break;
		case EXIT:
			if (state == HF_STATE_BUSY)
				state = HF_STATE_INTERRUPTED;
			break;
		case META:
		case OTHER:
			break;
		}
	}
	return state;
}

static int64_t
quarter(const struct row *r)
{
	return (r->chars + 3) / 4;
}

/* From the end: what was estimated, until a figure that holds. */
static void
context(const struct made *g, const int *path, int n, enum who who,
    struct answer *a)
{
	bool claude = who == CLAUDE;
	const struct row *r;
	int64_t sum = 0;

	a->from = "none";
	while (n-- > 0) {
		r = &g->row[path[n]];
		if (r->kind == RESET)
			break;
		if (r->kind == COMPACTION) {
			a->tokens = claude ? r->in + 1 : 0;
			a->from = claude ? "compaction" : "none";
			return;
		}
		if (r->kind == ASSISTANT) {
			a->tokens = fullest(g, r->call) + sum;
			a->from = "usage";
			return;
		}
		if (!claude && (r->kind == PROMPT || r->kind == RESULT ||
		    r->kind == FAILED))
			sum += quarter(r);
	}
	a->tokens = sum;
	if (sum > 0)
		a->from = "estimate";
}

static struct answer
reference(const struct made *g, enum who who)
{
	struct answer a = { 0 };
	bool seen[ROWS] = { false };
	int path[ROWS], n = branch_of(g, path);
	const struct row *r;

	for (int i = 0; i < n; i++) {
		r = &g->row[path[i]];
		if (r->kind == RESET)
			a.turns = a.compactions = a.messages = 0;
		a.turns += r->kind == PROMPT;
		a.compactions += r->kind == COMPACTION;
		a.messages += r->kind == PROMPT;
		if (r->kind == ASSISTANT && !seen[r->call]) {
			seen[r->call] = true;
			a.messages++;
		}
	}
	context(g, path, n, who, &a);
	spent(g, &a);
	a.state = state_of(g, path, n, who);
	return a;
}

/* ---- the comparison ---- */

static bool
compare(const struct made *g, const struct hf_metrics *m, enum who who)
{
	struct answer a = reference(g, who);

	return m->tokens == a.tokens && strcmp(m->tokens_from, a.from) == 0 &&
	    m->turns == a.turns && m->compactions == a.compactions &&
	    m->messages == a.messages && m->calls == a.calls &&
	    m->total.input == a.in && m->total.output == a.out &&
	    m->bad == (uint64_t)g->bad && m->state == a.state;
}

static void
explain(const struct made *g, const struct hf_metrics *m, enum who who)
{
	struct answer a = reference(g, who);

	printf("# fold: tokens %lld (%s) turns %lld compactions %lld messages"
	    " %lld calls %lld in %lld out %lld bad %llu state %s\n",
	    (long long)m->tokens, m->tokens_from, (long long)m->turns,
	    (long long)m->compactions, (long long)m->messages,
	    (long long)m->calls, (long long)m->total.input,
	    (long long)m->total.output, (unsigned long long)m->bad,
	    hf_state_name(m->state));
	printf("# want: tokens %lld (%s) turns %lld compactions %lld messages"
	    " %lld calls %lld in %lld out %lld bad %d state %s\n",
	    (long long)a.tokens, a.from, (long long)a.turns,
	    (long long)a.compactions, (long long)a.messages,
	    (long long)a.calls, (long long)a.in, (long long)a.out, g->bad,
	    hf_state_name(a.state));
	printf("# hint %d\n", g->hint);
	for (int i = 0; i < g->n; i++)
		printf("# %d: kind %d parent %d side %d call %d out %lld\n",
		    i, g->row[i].kind, g->row[i].parent, g->row[i].side,
		    g->row[i].call, (long long)g->row[i].out);
}

static void
one(struct made *g, const char *folder, enum who who)
{
	struct hf_session s;
	struct hf_metrics m;
	struct hf_err err = { HF_OK, "not written" };
	bool same = false;

	make(g, who);
	if (who == CLAUDE)
		write_claude(g);
	else
		write_pi(g, who);
	hf_session_init(&s);
	s.path = hf_path_join(folder, "rows.jsonl");
	s.agent = hf_agent_by_name(hf_str(names[who]));
	if (scratch_write(s.path, hf_buf_view(&g->text)) &&
	    hf_measure(&s, NULL, &(struct hf_measure){ 0 }, &m, NULL,
	    &err) == 0) {
		same = compare(g, &m, who);
		if (!same)
			explain(g, &m, who);
		hf_metrics_release(&m);
	} else {
		printf("# %s\n", err.msg);
	}
	CHECK(same);
	hf_session_release(&s);
}

int
main(void)
{
	struct made g = { .random = UINT64_C(0x9e3779b97f4a7c15) };
	char *folder = scratch_make();

	for (int i = 0; i < ROUNDS && check_failures < 3; i++) {
		one(&g, folder, CLAUDE);
		one(&g, folder, PI);
		one(&g, folder, OMP);
	}
	hf_buf_release(&g.text);
	scratch_remove(folder);
	return check_done();
}
