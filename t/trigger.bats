#!/usr/bin/env bats
# hf-trigger as a stage of the pipe. The decision itself is tested by
# t/unit/test_trigger.c.

load helper/common

# doc [FILTER]: a document that is due, changed by jq.
doc() {
	jq -nc '{v:1, session:{agent:"claude", id:"x", path:null, cwd:"/p",
	    model:null, title:null, parent:null, subagent:false,
	    archived:false}, metrics:{tokens:150000, tokensFrom:"usage",
	    capacity:200000, capacityFrom:"table", turns:12, compactions:0,
	    messages:60, state:"idle", activity:[], live:null,
	    quietSeconds:5}} | '"${1:-.}"
}

config() {
	mkdir -p "$XDG_CONFIG_HOME/handoff"
	printf '%s\n' "$1" >"$XDG_CONFIG_HOME/handoff/config.json"
}

# trigger: of the first document that was printed.
trigger() {
	printf '%s\n' "$output" | head -n 1 | jq -c .trigger
}

# bats test_tags=valgrind
@test "due" {
	doc >in
	exits 0 hf-trigger <in
	is trigger "$(trigger)" '{"reason":"context-pressure",'\
'"threshold":120000,"headroom":-30000,"guard":null,"blockers":[],"due":true}'
}

@test "not due is 1, guarded by busy or blocked is 75" {
	doc '.metrics.tokens = 5' >in
	exits 1 hf-trigger <in
	doc '.metrics.state = "busy"' >in
	exits 75 hf-trigger <in
	doc '.metrics.activity = ["waiting:permission prompt"]' >in
	exits 75 hf-trigger <in
	exits 75 hf-trigger --manual <in
	is blockers "$(trigger | jq -c .blockers)" \
	    '["activity:waiting:permission prompt"]'
	doc '.session.archived = true | .metrics.activity = ["turn"]' >in
	exits 1 hf-trigger <in
}

@test "the old decision is replaced" {
	doc '.trigger = {due:false, guard:"busy", blockers:["x"]}' >in
	exits 0 hf-trigger <in
	is due "$(trigger | jq -c '[.due, .guard, .blockers]')" \
	    '[true,null,[]]'
}

@test "by hand: below the threshold, but not past a guard" {
	doc '.metrics.tokens = 5 | .metrics.turns = 1' >in
	exits 0 hf-trigger --manual <in
	is reason "$(trigger | jq -r .reason)" manual
	doc '.session.subagent = true' >in
	exits 1 hf-trigger --manual <in
	is guard "$(trigger | jq -r .guard)" subagent
}

@test "automatic needs both switches, or a request" {
	doc '.main = {enabled:true, requested:null, redirect:null}' >in
	exits 1 hf-trigger --auto <in
	is guard "$(trigger | jq -r .guard)" disabled
	config '{"autoHandoff":true}'
	exits 0 hf-trigger --auto <in
	doc '.main = {enabled:false, requested:null}' >in
	exits 1 hf-trigger --auto <in
	is guard "$(trigger | jq -r .guard)" disabled
	doc '.main = null' >in
	exits 1 hf-trigger --auto <in
	is guard "$(trigger | jq -r .guard)" not-registered
	config '{}'
	doc '.main = {enabled:false, requested:{until:1}}' >in
	exits 0 hf-trigger --auto <in
	is reason "$(trigger | jq -r .reason)" manual
	exits 64 hf-trigger --auto --manual <in
}

@test "what join put into main blocks" {
	doc '.main = {enabled:true, blockers:["attempt-in-progress",
	    "cooldown"]}' >in
	exits 75 hf-trigger <in
	is blockers "$(trigger | jq -c .blockers)" '["attempt-in-progress"]'
	config '{"autoHandoff":true}'
	exits 75 hf-trigger --auto <in
	is blockers "$(trigger | jq -c .blockers)" \
	    '["attempt-in-progress","cooldown"]'
	doc '.main = {redirect:{id:"y"}}' >in
	exits 1 hf-trigger --manual <in
	is guard "$(trigger | jq -r .guard)" redirected
}

@test "a document in error passes to the letter" {
	printf '{"v":1, "n":1.10 ,"error":{"code":"io"}}\n' >in
	hf-trigger <in >out && fail "status 0"
	cmp in out
}

@test "a document without metrics is an error of its own, the rest go on" {
	{
		echo '{"v":1,"session":{"id":"x"}}'
		doc 'del(.metrics.turns)'
		doc
	} >in
	exits 65 hf-trigger <in
	is codes "$(printf '%s\n' "$output" | jq -c .error.code)" \
	    "$(printf '"missing"\n"missing"\nnull')"
	[[ $output == *metrics.turns* ]]
	printf '%s\n' "$output" | tail -n 1 | jq -e .trigger.due
}

@test "settings are read anew, and refused by name" {
	doc '.metrics.tokens = 49999' >in
	config '{"handoffTokens":50000}'
	exits 1 hf-trigger <in
	is headroom "$(trigger | jq -c .headroom)" 1
	HANDOFF_TOKENS=40000 exits 0 hf-trigger <in
	config '{"handoffTokens":7999}'
	exits 78 hf-trigger <in
	is output "$output" ""
	[[ $stderr == *handoffTokens* ]]
}

@test "none, torn, and operands" {
	exits 1 hf-trigger </dev/null
	is silent "$output$stderr" ""
	doc | tr -d '\n' >in
	exits 65 hf-trigger <in
	exits 64 hf-trigger in </dev/null
	doc >in
	run --separate-stderr bash -c 'hf-trigger <in >/dev/full'
	is status "$status" 74
}
