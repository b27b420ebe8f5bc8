/*
 * The trigger, a pure function: criteria, guards, blockers.
 */
#include "check.h"
#include "session/trigger.h"

static struct hf_session session;
static struct hf_metrics metrics;
static struct hf_trigger_main main_state;
static struct hf_config config;
static struct hf_trigger_in in;
static struct hf_trigger out;

/* A session that is due by its context, and nothing in its way. */
static void
reset(void)
{
	hf_trigger_release(&out);
	memset(&session, 0, sizeof(session));
	memset(&metrics, 0, sizeof(metrics));
	memset(&main_state, 0, sizeof(main_state));
	memset(&config, 0, sizeof(config));
	config.ratio_ppm = 750000;
	config.tokens = 120000;
	config.min_turns = 4;
	config.compactions = 3;
	metrics.tokens = 150000;
	metrics.tokens_from = "usage";
	metrics.capacity = 200000;
	metrics.turns = 12;
	metrics.messages = 60;
	metrics.state = HF_STATE_IDLE;
	in = (struct hf_trigger_in){ &session, &metrics, &main_state, &config,
	    NULL, false, false };
}

static void
decide(void)
{
	hf_trigger_release(&out);
	hf_trigger_decide(&in, &out);
}

static bool
blocked(const char *by)
{
	for (size_t i = 0; i < out.nblockers; i++)
		if (strcmp(out.blockers[i], by) == 0)
			return true;
	return false;
}

static void
test_threshold(void)
{
	static const struct {
		int64_t capacity, ppm, tokens, threshold;
		bool due;
	} table[] = {
		{ 200000, 750000, 119999, 120000, false },
		{ 200000, 750000, 120000, 120000, true },
		{ 128000, 750000, 95999, 96000, false },
		{ 128000, 750000, 96000, 96000, true },
		/* 6143.25: the next whole number is the first above it. */
		{ 8191, 750000, 6143, 6144, false },
		{ 8191, 750000, 6144, 6144, true },
		{ 8192, 750000, 6144, 6144, true },
		{ 200000, 550000, 110000, 110000, true },
		{ 0, 750000, 119999, 120000, false },
		{ 0, 750000, 130000, 120000, true },
		{ 1000000, 750000, 120000, 120000, true },
		{ 1, 200000, 0, 1, false },
		{ INT64_MAX, 950000, 120000, 120000, true },
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		reset();
		metrics.capacity = table[i].capacity;
		metrics.tokens = table[i].tokens;
		config.ratio_ppm = table[i].ppm;
		decide();
		CHECK_INT(out.threshold, table[i].threshold);
		CHECK_INT(out.headroom, table[i].threshold - table[i].tokens);
		CHECK_INT(out.due, table[i].due);
		CHECK_STR(out.reason, table[i].due ? "context-pressure" :
		    NULL);
	}
}

static void
test_criteria(void)
{
	reset();
	metrics.turns = 3;
	metrics.compactions = 9;
	decide();
	CHECK_STR(out.reason, NULL);
	metrics.turns = 4;
	decide();
	CHECK_STR(out.reason, "repeated-compaction");
	CHECK(out.due);
	config.compactions = 0;
	decide();
	CHECK_STR(out.reason, "context-pressure");
	metrics.tokens = 5;
	decide();
	CHECK_STR(out.reason, NULL);
	CHECK(!out.due);
	in.manual = true;
	metrics.turns = 0;
	decide();
	CHECK_STR(out.reason, "manual");
	CHECK(out.due);
}

/* No decision on a figure that is no newer real usage. */
static void
test_stale_figures(void)
{
	reset();
	metrics.tokens_from = "compaction";
	decide();
	CHECK_STR(out.reason, NULL);
	metrics.tokens_from = "estimate";
	decide();
	CHECK_STR(out.reason, "context-pressure");
	metrics.compactions = 1;
	decide();
	CHECK_STR(out.reason, NULL);
	metrics.compactions = 0;
	metrics.seeded = true;
	decide();
	CHECK_STR(out.reason, NULL);
	metrics.tokens_from = "usage";
	decide();
	CHECK_STR(out.reason, "context-pressure");
}

/* Each of these is worse than all that stand behind it. */
static void
test_guards(void)
{
	reset();
	in.automatic = true;
	metrics.messages = 1;
	main_state.registered = main_state.enabled = true;
	config.auto_handoff = true;
	decide();
	CHECK_STR(out.guard, "too-short");
	CHECK(!out.due);
	metrics.state = HF_STATE_BUSY;
	decide();
	CHECK_STR(out.guard, "busy");
	config.auto_handoff = false;
	decide();
	CHECK_STR(out.guard, "disabled");
	config.auto_handoff = true;
	main_state.enabled = false;
	decide();
	CHECK_STR(out.guard, "disabled");
	main_state.registered = false;
	decide();
	CHECK_STR(out.guard, "not-registered");
	session.subagent = true;
	decide();
	CHECK_STR(out.guard, "subagent");
	session.archived = true;
	decide();
	CHECK_STR(out.guard, "archived");
	main_state.redirected = true;
	decide();
	CHECK_STR(out.guard, "redirected");
	CHECK_STR(out.reason, "context-pressure");
	CHECK(!out.due);
}

/* By hand, or by a request, the switches do not count; guards do. */
static void
test_asked_for(void)
{
	reset();
	in.automatic = true;
	main_state.requested = true;
	metrics.tokens = 5;
	decide();
	CHECK_STR(out.guard, NULL);
	CHECK_STR(out.reason, "manual");
	CHECK(out.due);
	reset();
	in.manual = true;
	session.archived = true;
	decide();
	CHECK_STR(out.guard, "archived");
	CHECK_STR(out.reason, "manual");
	CHECK(!out.due);
}

/* A successor needs something beyond its own seed. */
static void
test_successor(void)
{
	reset();
	metrics.messages = 1;
	decide();
	CHECK_STR(out.guard, "too-short");
	metrics.seeded = true;
	decide();
	CHECK_STR(out.guard, NULL);
	metrics.messages = 0;
	decide();
	CHECK_STR(out.guard, "too-short");
}

static void
test_activity(void)
{
	char queued[] = "queued-input", tool[] = "tool:Bash", id[] = "a1";

	reset();
	metrics.activity[0] = queued;
	metrics.activity[1] = tool;
	metrics.nactivity = 2;
	metrics.owned[0] = id;
	metrics.nowned = 1;
	decide();
	CHECK_INT(out.nblockers, 3);
	CHECK(blocked("pending-inbox"));
	CHECK(blocked("activity:tool:Bash"));
	CHECK(blocked("owned-agent:a1"));
	CHECK_STR(out.reason, "context-pressure");
	CHECK_STR(out.guard, NULL);
	CHECK(!out.due);
	in.manual = true;
	decide();
	CHECK(!out.due);
}

/* Bounds hold for what nobody asked for. */
static void
test_bounds(void)
{
	reset();
	main_state.registered = main_state.enabled = true;
	config.auto_handoff = true;
	main_state.blockers[0] = HF_STR("cooldown");
	main_state.blockers[1] = HF_STR("chain-limit");
	main_state.nblockers = 2;
	decide();
	CHECK_INT(out.nblockers, 0);
	in.automatic = true;
	decide();
	CHECK(blocked("cooldown") && blocked("chain-limit"));
	CHECK(!out.due);
	main_state.requested = true;
	decide();
	CHECK(out.due);
	main_state.blockers[0] = HF_STR("attempt-in-progress");
	decide();
	CHECK_INT(out.nblockers, 1);
	CHECK(blocked("attempt-in-progress"));
}

static void
test_host(void)
{
	struct hf_json *j = hf_json_parse(HF_STR("{\"background_tasks\":["
	    "{\"id\":\"b1\",\"status\":\"running\"},"
	    "{\"id\":\"b2\",\"status\":\"completed\"},\"b3\"],"
	    "\"permission_mode\":\"mine\"}"), HF_JSON_RAW, NULL, NULL, NULL);
	char mode[] = "acceptEdits";

	reset();
	in.host = hf_json_root(j);
	decide();
	CHECK_INT(out.nblockers, 2);
	CHECK(blocked("background-task:b1") && blocked("background-task:b3"));
	main_state.registered = main_state.enabled = true;
	config.auto_handoff = true;
	in.automatic = true;
	decide();
	CHECK(blocked("custom-permissions-require-manual-transfer"));
	in.host = NULL;
	session.permission = mode;
	decide();
	CHECK_INT(out.nblockers, 0);
	CHECK(out.due);
	hf_json_free(j);
}

/* What of a main matters, as its JSON has it. */
static void
test_main(void)
{
	struct hf_json *j = hf_json_parse(HF_STR("[null,{},"
	    "{\"enabled\":true,\"requested\":{\"until\":1},"
	    "\"redirect\":{\"id\":\"x\"},\"blockers\":[\"cooldown\",5]},"
	    "{\"enabled\":false,\"requested\":null,\"redirect\":null},"
	    "{\"registered\":false,\"enabled\":false}]"),
	    HF_JSON_RAW, NULL, NULL, NULL);
	const struct hf_jval *root = hf_json_root(j);
	struct hf_trigger_main m;

	hf_trigger_main_from(NULL, &m);
	CHECK(!m.known && !m.registered);
	hf_trigger_main_from(hf_json_elem(root, 0), &m);
	CHECK(m.known && !m.registered && !m.enabled);
	hf_trigger_main_from(hf_json_elem(root, 1), &m);
	CHECK(m.registered && !m.enabled && !m.requested && !m.redirected);
	hf_trigger_main_from(hf_json_elem(root, 2), &m);
	CHECK(m.registered && m.enabled && m.requested && m.redirected);
	CHECK_INT(m.nblockers, 1);
	hf_trigger_main_from(hf_json_elem(root, 3), &m);
	CHECK(m.registered && !m.enabled && !m.requested && !m.redirected);
	hf_trigger_main_from(hf_json_elem(root, 4), &m);
	CHECK(m.known && !m.registered);
	hf_json_free(j);
}

int
main(void)
{
	test_threshold();
	test_criteria();
	test_stale_figures();
	test_guards();
	test_asked_for();
	test_successor();
	test_activity();
	test_bounds();
	test_host();
	test_main();
	hf_trigger_release(&out);
	return check_done();
}
