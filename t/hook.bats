#!/usr/bin/env bats
# handoff hook: what the agents call; and what goes on when a turn is over.

load helper/common
load helper/driver

setup() {
	driver_setup
	demo_session
}

# Whoever still waits for a session gives up when nothing is wanted.
teardown() {
	handoff disable "$id" >/dev/null 2>&1 || :
}

# event NAME [JSON]: what Claude Code hands to a hook.
event() {
	jq -nc --arg id "$id" --arg path "$source" --arg cwd "$work" --arg e "$1" \
		'{session_id: $id, transcript_path: $path, cwd: $cwd, hook_event_name: $e}' |
		jq -c ". + ${2:-{\}}" >event.json
}

# await COMMAND...: until it succeeds.
await() {
	local i
	for ((i = 0; i < 600; i++)); do
		! "$@" || return 0
		sleep 0.05
	done
	echo "in vain: $*"
	return 1
}

redirected() {
	jq -e '.redirect != null' "$HANDOFF_HOME"/mains/claude."$id".json >/dev/null 2>&1
}

open_turn() {
	local row
	row=$(tail -n 2 "$source" | head -n 1 | jq -c '
		{parentUuid: .uuid, isSidechain: false, cwd, sessionId,
		 type: "user", message: {role: "user", content: "One more thing."},
		 uuid: "000000ff-0000-4000-8000-00000000d3a0", timestamp: (now | todate)}')
	printf '%s\n' "$row" >>"$source"
	sed -i '/"type":"last-prompt"/d' "$source"
}

end_turn() {
	local row
	row=$(jq -c 'select(.type == "assistant")' "$source" | tail -n 1 | jq -c '
		.parentUuid = "000000ff-0000-4000-8000-00000000d3a0" |
		.uuid = "00000100-0000-4000-8000-00000000d3a0" | .message.id = "msg_end"')
	printf '%s\n' "$row" >>"$source"
}

@test "a prompt into a session that was handed off is blocked with the command that goes on" {
	handoff now "$id"
	new=$(basename "$(successors)" .jsonl)
	event UserPromptSubmit '{"prompt": "late words", "prompt_id": "p1"}'
	run -0 --separate-stderr handoff hook claude <event.json
	[ "$(jq -r .decision <<<"$output")" = block ]
	[[ $(jq -r .reason <<<"$output") == *"cd $work && claude --resume $new"* ]]
	run -0 --separate-stderr handoff hook <event.json
	[ "$(jq -r .decision <<<"$output")" = block ]
}

# given EVENT: what the successor's model gets at it.
given() {
	jq -nc --arg id "$new" --arg path "$store/$new.jsonl" --arg cwd "$work" --arg e "$1" \
		'{session_id: $id, transcript_path: $path, cwd: $cwd, hook_event_name: $e, prompt: "go on"}' |
		handoff hook claude | jq -r '.hookSpecificOutput | select(.hookEventName == "'"$1"'") | .additionalContext'
}

@test "a prompt typed in the old session reaches the new one's model, once" {
	handoff now "$id"
	new=$(basename "$(successors)" .jsonl)
	event UserPromptSubmit '{"prompt": "late words", "prompt_id": "p1"}'
	handoff hook claude <event.json
	handoff hook claude <event.json		# the same prompt again
	event UserPromptSubmit '{"prompt": "more words", "prompt_id": "p2"}'
	handoff hook claude <event.json
	given SessionStart >first
	[ "$(grep -c 'late words' first)" -eq 1 ]
	[ "$(grep -c 'more words' first)" -eq 1 ]
	run -0 given UserPromptSubmit
	[ -z "$output" ]
}

@test "more than Claude Code takes at once comes in pieces; nothing is lost" {
	handoff now "$id"
	new=$(basename "$(successors)" .jsonl)
	for n in 1 2 3; do
		jq -nc --arg id "$id" --arg n "$n" '{message: {id: $n, to: $id, text: ("M" + $n + ("x" * 5000))}}'
	done | hf-route >/dev/null
	for n in $(seq 10 240); do
		jq -nc --arg id "$id" --arg n "$n" '{message: {id: $n, to: $id, text: ("s" + $n)}}'
	done | hf-route >/dev/null
	: >all
	for n in $(seq 12); do
		given UserPromptSubmit >part
		[ "$(wc -m <part)" -lt 10000 ]
		[ -s part ] || break
		cat part >>all
	done
	[ ! -s part ]
	[ "$(grep -c 'M[123]xxx' all)" -eq 3 ]
	[ "$(grep -c '^s[0-9]*$' all)" -eq 231 ]
}

@test "what could not be written to the agent waits on" {
	[ -e /dev/full ] || skip 'no /dev/full'
	handoff now "$id"
	new=$(basename "$(successors)" .jsonl)
	jq -nc --arg id "$id" '{message: {id: "1", to: $id, text: "WAITS-ON"}}' | hf-route >/dev/null
	jq -nc --arg id "$new" '{session_id: $id, hook_event_name: "UserPromptSubmit"}' >next.json
	handoff hook claude <next.json >/dev/full 2>/dev/null || :
	given UserPromptSubmit | grep -q WAITS-ON
}

@test "a prompt that cannot be kept for the new session goes its way" {
	handoff now "$id"
	event UserPromptSubmit '{"prompt": "", "prompt_id": "p1"}'
	run -0 --separate-stderr handoff hook claude <event.json
	[ -z "$output" ]
	[ -n "$stderr" ]
}

@test "a session that was handed off says where to when it is opened" {
	handoff now "$id"
	event SessionStart '{"source": "resume"}'
	run -0 --separate-stderr handoff hook claude <event.json
	[[ $(jq -r .systemMessage <<<"$output") == *"claude --resume $(basename "$(successors)" .jsonl)"* ]]
}

@test "where nothing is to do, nothing is said, and nothing is written" {
	for name in UserPromptSubmit SessionStart Stop PreCompact PostToolUse SubagentStop; do
		event "$name" '{"prompt": "words"}'
		run -0 handoff hook claude <event.json
		[ -z "$output" ]
	done
	[ ! -e "$HANDOFF_HOME" ]
}

@test "inside a fork that only writes a brief the hook ends at once" {
	handoff now "$id"
	event UserPromptSubmit '{"prompt": "words"}'
	HANDOFF_FORK=1 run -0 handoff hook claude <event.json
	[ -z "$output" ]
	run -0 env HANDOFF_FORK=1 hf-state hook --driver /x claude <event.json
	[ -z "$output" ]
}

@test "whatever is wrong with us, the agent goes on: status 0, a warning, an empty stdout" {
	echo '{"session_id": ' >bad.json
	event UserPromptSubmit '{"prompt": "words"}'
	handoff now "$id"
	run -0 --separate-stderr handoff hook claude <bad.json
	[ -z "$output" ] && [[ $stderr == hf-state:* ]]
	run -0 --separate-stderr handoff hook nobody <event.json
	[ -z "$output" ] && [[ $stderr == *nobody* ]]
	echo damaged >"$HANDOFF_HOME/mains/claude.$id.json"
	run -0 --separate-stderr handoff hook claude <event.json
	[ -z "$output" ] && [[ $stderr == *damaged* || $stderr == *JSON* ]]
	config '{"nonsense": 1}'
	run -0 --separate-stderr handoff hook claude <event.json
	[ -z "$output" ] && [[ $stderr == *nonsense* ]]
}

@test "a successor that is gone: the prompt is not lost, it goes its way" {
	handoff now "$id"
	rm "$(successors)"
	event UserPromptSubmit '{"prompt": "words"}'
	run -0 --separate-stderr handoff hook claude <event.json
	[ -z "$output" ]
	[ -n "$stderr" ]
}

@test "Stop hands a due session over in the background, though rows still follow" {
	config '{"autoHandoff": true}'
	handoff enable "$id"
	event Stop '{"stop_hook_active": false, "background_tasks": []}'
	run -0 handoff hook claude <event.json
	[ -z "$output" ]
	echo '{"type":"system","subtype":"stop_hook_summary","sessionId":"'"$id"'","uuid":"000000fe-0000-4000-8000-00000000d3a0"}' >>"$source"
	await redirected
	await grep -q 'handed off to' "$HANDOFF_HOME/auto.log"
	[ "$(successors | wc -l)" -eq 1 ]
}

@test "Stop before the turn is written down: it is waited for" {
	config '{"autoHandoff": true}'
	handoff enable "$id"
	open_turn
	event Stop
	handoff hook claude <event.json
	run ! redirected
	end_turn
	await redirected
	grep -q '"uuid":"00000100-' "$source"
}

@test "Stop with a task in the background: deferred, and the log says why" {
	config '{"autoHandoff": true}'
	handoff enable "$id"
	event Stop '{"background_tasks": [{"id": "b7", "status": "running", "type": "shell"}]}'
	handoff hook claude <event.json
	await grep -q 'deferred.*b7' "$HANDOFF_HOME/auto.log"
	run ! redirected
}

@test "now in the middle of a turn: said so, and done when the turn is over, without any hook" {
	open_turn
	run -0 handoff now --focus 'FOCUS-WORDS' "$id"
	[[ $output == *'will hand off when this turn ends'* ]]
	run ! redirected
	end_turn
	await redirected
	handoff show "$id" | grep -q FOCUS-WORDS
}

@test "now from inside the session: even when its transcript is at rest, not at once" {
	export CLAUDE_CODE_SESSION_ID=$id
	run -0 handoff now
	[[ $output == *'will hand off when this turn ends'* ]]
	await redirected
}

@test "a request that is taken back is not performed" {
	open_turn
	handoff now "$id"
	handoff disable "$id"
	end_turn
	event Stop
	handoff hook claude <event.json
	run -0 handoff auto
	run ! redirected
}

@test "/handoff: done on the spot, the focus in the brief, no turn comes of it" {
	event UserPromptExpansion '{"prompt": "/handoff FOCUS-WORDS", "command_name": "handoff"}'
	run -0 --separate-stderr handoff hook claude <event.json
	[ "$(jq -r .decision <<<"$output")" = block ]
	[[ $(jq -r .reason <<<"$output") == *"claude --resume $(basename "$(successors)" .jsonl)"* ]]
	handoff show "$id" | grep -q FOCUS-WORDS
	run -0 --separate-stderr handoff hook claude <event.json
	[[ $(jq -r .reason <<<"$output") == *'handed off already'* ]]
	event UserPromptExpansion '{"prompt": "/handoffs of mine", "command_name": "handoffs"}'
	run -0 handoff hook claude <event.json
	[ -z "$output" ]
}

@test "/handoff with a model: answered at once, written in the background" {
	brief='{"goal":"BY-THE-MODEL","decisions":[],"constraints":[],"artifacts":[],"verified":[],"pending":["x"],"next_steps":["y"],"uncertainties":[]}'
	printf '%s\n' "$brief" >brief.json
	config '{"summarize":{"provider":"command","command":["cat","'"$PWD"'/brief.json"]}}'
	event UserPromptExpansion '{"prompt": "/handoff"}'
	run -0 --separate-stderr handoff hook claude <event.json
	[[ $(jq -r .reason <<<"$output") == *'being written'* ]]
	await redirected
	handoff show "$id" | grep -q BY-THE-MODEL
}

@test "/handoff in a session without messages says so" {
	head -n 1 "$source" >one && cat one >"$source"
	event UserPromptExpansion '{"prompt": "/handoff"}'
	run -0 --separate-stderr handoff hook claude <event.json
	[ "$(jq -r .decision <<<"$output")" = block ]
	[[ $(jq -r .reason <<<"$output") == *[Nn]othing* || $(jq -r .reason <<<"$output") == *failed* ]]
}

@test "PreCompact hands off instead, only when asked to and never in the middle of a turn" {
	event PreCompact '{"trigger": "manual", "custom_instructions": ""}'
	run -0 handoff hook claude <event.json
	[ -z "$output" ]
	config '{"handoffInsteadOfCompact": true}'
	cp "$source" whole
	open_turn
	run -0 handoff hook claude <event.json
	[ -z "$(successors)" ]
	cat whole >"$source"
	run -2 --separate-stderr handoff hook claude <event.json
	[ -z "$output" ]
	[[ $stderr == *'instead of'*'claude --resume'* ]]
	[ "$(successors | wc -l)" -eq 1 ]
}

@test "Codex's notify gives its words as an argument" {
	config '{"autoHandoff": true}'
	run -0 handoff hook codex notify '{"type":"agent-turn-complete","thread-id":"01a22e00-0850-7000-8000-000000000850","turn-id":"1","cwd":"/","input-messages":[]}' </dev/null
	[ -z "$output" ]
	run -0 --separate-stderr handoff hook codex notify 'no json' </dev/null
	[ -z "$output" ] && [ -n "$stderr" ]
}
