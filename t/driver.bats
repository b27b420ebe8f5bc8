#!/usr/bin/env bats
# handoff, the driver: what people and cron use.

load helper/common
load helper/driver

setup() {
	driver_setup
	demo_session
}

# open_turn: a prompt without an answer.
open_turn() {
	local row
	row=$(tail -n 2 "$source" | head -n 1 | jq -c '
		{parentUuid: .uuid, isSidechain: false, cwd, sessionId,
		 type: "user", message: {role: "user", content: "One more thing."},
		 uuid: "000000ff-0000-4000-8000-00000000d3a0", timestamp: (now | todate)}')
	printf '%s\n' "$row" >>"$source"
	sed -i '/"type":"last-prompt"/d' "$source"
}

@test "now hands the newest session of this folder over and says how to go on" {
	cp "$source" before
	run -0 handoff now
	[[ $output == *'New session started with handoff context'* ]]
	[[ $output == *"claude --resume "* ]]
	[[ $output == *'No model was used'* ]]
	cmp before "$source"
	[ "$(successors | wc -l)" -eq 1 ]
	new=$(basename "$(successors)" .jsonl)
	run -0 handoff resume -n "$id"
	[[ $output == "cd $work && claude --resume $new" ]]
	run -0 handoff show "$id"
	[[ $output == *'Never push to main.'* ]]
}

@test "now again says where it went, status 1, and makes nothing" {
	handoff now
	run -1 handoff now "$id"
	[[ $output == *'handed off already'*'claude --resume'* ]]
	[ "$(successors | wc -l)" -eq 1 ]
}

@test "now --json prints one line with the successor's id, path and command" {
	run -0 handoff now --json "$id"
	[ "${#lines[@]}" -eq 1 ]
	[ -f "$(jq -r .path <<<"$output")" ]
	[ "$(jq -r '.resume | join(" ")' <<<"$output")" = "claude --resume $(jq -r .id <<<"$output")" ]
	grep -q "$(jq -r .expect <<<"$output")" "$(jq -r .path <<<"$output")"
}

@test "--dry-run shows figures, decision and brief, and writes nothing" {
	find "$HOME" "$HANDOFF_HOME" -newer "$source" 2>/dev/null | sort >before
	run -0 handoff now --dry-run
	[[ $output == *'148,712 of 200,000 tokens'*'hand off'*'## Constraints'* ]]
	[ ! -e "$HANDOFF_HOME" ]
	[ -z "$(successors)" ]
}

@test "--focus reaches the brief, --to an agent that is not known is refused" {
	run -64 handoff now --to nobody
	[[ $output == *"'nobody'"* ]]
	[ -z "$(successors)" ]
	handoff now --focus 'FOCUS-WORDS'
	handoff show "$id" | grep -q 'FOCUS-WORDS'
}

@test "in the middle of a turn the request is stored, and performed when it is over" {
	open_turn
	run -0 handoff now
	[[ $output == *'when this turn ends'* ]]
	[ -z "$(successors)" ]
	row=$(jq -c 'select(.type == "assistant")' "$source" | tail -n 1 | jq -c '
		.parentUuid = "000000ff-0000-4000-8000-00000000d3a0" |
		.uuid = "00000100-0000-4000-8000-00000000d3a0" | .message.id = "msg_end"')
	printf '%s\n' "$row" >>"$source"
	handoff auto
	# The one that waited for the turn's end may have been faster.
	for _ in $(seq 200); do
		! hf-route list | grep -q . || break
		sleep 0.05
	done
	hf-route list | grep -q "$id"
	[ "$(successors | wc -l)" -eq 1 ]
}

@test "auto does nothing and says nothing unless both switches are on" {
	run -0 handoff auto
	[ -z "$output" ]
	handoff enable "$id"
	run -0 handoff auto
	[ -z "$output" ]
	config '{"autoHandoff": true}'
	run -0 handoff auto
	[[ $output == *"${id:0:8}"*'handed off to'* ]]
	run -0 handoff auto
	[ -z "$output" ]
}

@test "auto works in a bare environment without a terminal" {
	config '{"autoHandoff": true}'
	handoff enable "$id"
	cd /
	run -0 env -i HOME="$HOME" HANDOFF_HOME="$HANDOFF_HOME" PATH=/usr/bin:/bin "$HF_BIN/handoff" auto
	[ "$(successors | wc -l)" -eq 1 ]
}

@test "a failing provider leaves nothing but a record, and says so" {
	config '{"summarize":{"provider":"command","command":["sh","-c","echo no quota >&2; exit 1"]}}'
	run -75 handoff now
	[[ $output == *'Handoff failed: '*'no quota'* ]]
	[ -z "$(successors)" ]
	[ "$(jq -r .phase "$HANDOFF_HOME"/records/*.json)" = failed ]
	[ -z "$(ls "$HANDOFF_HOME/open" 2>/dev/null)" ]
}

@test "a signal while the brief is written cancels: nothing made, the record says so" {
	mkfifo begun
	config '{"summarize":{"provider":"command","command":["sh","-c","echo > begun; sleep 60"]}}'
	( trap - INT TERM; exec handoff now ) >out 2>&1 3>&- &
	pid=$!
	read -r _ <begun
	kill -TERM "$pid"
	rc=0
	wait "$pid" || rc=$?
	[ "$rc" -eq 143 ]
	grep -q 'Handoff cancelled' out
	[ -z "$(successors)" ]
	[ "$(jq -r .error.code "$HANDOFF_HOME"/records/*.json)" = cancelled ]
	[ -z "$(ls "$TMPDIR")" ]
	config '{}'
	handoff now
	[ "$(successors | wc -l)" -eq 1 ]
}

@test "a name that cannot be: unknown session, unknown verb, too many words" {
	run -1 handoff now 00000000-0000-4000-8000-000000000000
	[[ $output == *'00000000-0000-4000-8000-000000000000'* ]]
	run -64 handoff frobnicate
	[[ $output == *"'frobnicate'"* ]]
	run -64 handoff now a b
	run -64 handoff auto x
}

@test "an unwritable state folder: nothing is made" {
	[ "$(id -u)" -ne 0 ] || HANDOFF_HOME=/proc/handoff-state
	[ "$(id -u)" -eq 0 ] || { mkdir "$HANDOFF_HOME" && chmod 500 "$HANDOFF_HOME"; }
	run ! handoff now
	[ "$status" -eq 73 ] || [ "$status" -eq 74 ]
	[ -z "$(successors)" ]
}

@test "a secret in anybody's brief is masked before the record and the successor are written" {
	token=ghp_$(printf 'a1B2%.0s' 1 2 3 4 5 6 7 8 9)
	hf-metrics "$source" | hf-summarize | hf-validate |
		jq -c --arg t "$token" '.brief.pending += ["Use " + $t + " for the upload"]' |
		hf-commit >out
	jq -e '.commit.phase == "committed" or .commit.phase == "started"' out
	run ! grep -rqF "$token" "$HANDOFF_HOME" "$(successors)"
	handoff show "$id" | grep -q 'Use \[secret:[0-9a-f]*\] for the upload'
}

@test "a session that does not say its folder is refused: it is never guessed" {
	jq -c 'del(.cwd)' "$source" >nocwd
	cat nocwd >"$source"
	run -65 handoff now "$source"
	[[ $output == *'which folder it belongs to'* ]]
	[ -z "$(successors)" ]
}

@test "--version says the same as the commands" {
	run -0 handoff --version
	[ "$output" = "handoff $(hf-metrics --version | cut -d ' ' -f 2)" ]
}

# transcript_bytes: how much of the transcript the next auto reads.
transcript_bytes() {
	traced -y -e trace=read,pread64 handoff auto || return 1
	awk -v p="<$source>" 'index($0, p) && $NF > 0 { n += $NF }
	    END { print n + 0 }' "$TMPDIR/trace"
}

@test "auto reads no more of a session than was appended since the last time" {
	config '{"autoHandoff": true, "handoffTokens": 1000000}'
	for i in $(seq 200); do
		jq -cn --arg i "$i" --arg w "$work" '{type: "progress", n: $i, cwd: $w, sessionId: "x", text: ("x" * 1000)}'
	done >>"$source"
	handoff enable "$id"
	run -0 handoff auto
	n=$(transcript_bytes)
	[ "$n" -le 8192 ]
	jq -cn '{type: "progress", text: "y"}' >>"$source"
	n=$(transcript_bytes)
	[ "$n" -gt 0 ]
	[ "$n" -le 40960 ]
}

# editor COMMANDS: what $EDITOR does to the file $1.
editor() {
	printf '#!/bin/sh\n%s\n' "$1" >./ed
	chmod 755 ed
	export EDITOR="$PWD/ed --wait"
}

@test "now --edit: the text is opened before it is checked, and what is written counts" {
	editor 'sed -i "s/Never push to main/EDITED-BY-HAND/" "$2"'
	run -0 handoff now --edit
	[[ $output == *'New session started'* ]]
	[ "$(successors | wc -l)" -eq 1 ]
	grep -q EDITED-BY-HAND "$(successors)"
}

@test "now --edit: an editor that fails, or leaves nothing, cancels; nothing is made" {
	for what in 'exit 1' ': >"$2"'; do
		editor "$what"
		run -1 handoff now --edit
		[[ $output == *'Handoff cancelled'* ]]
		[ -z "$(successors)" ]
	done
	editor 'echo no brief at all >"$2"'
	run -65 handoff now --edit
	[[ $output == *'Handoff failed'* ]]
	[ -z "$(successors)" ]
	[ -z "$(ls "$HANDOFF_HOME/open" 2>/dev/null)" ]
}

@test "a brief goes to another machine as one file, and its successor is made there" {
	handoff now
	handoff brief export "$id" >file
	[ "$(wc -l <file)" -eq 1 ]
	there() { HOME=$PWD/there HANDOFF_HOME=$PWD/there/state XDG_CONFIG_HOME=$PWD/there/.config "$@"; }
	mkdir -p there/project
	run -0 there handoff import --cwd "$PWD/there/project" <file
	[[ $output == *'New session started'*"cd $PWD/there/project && claude --resume "* ]]
	new=$(find there/.claude -name '*.jsonl')
	grep -q 'Never push to main' "$new"
	[ "$(there hf-route resolve "$id")" = "$(basename "$new" .jsonl)" ]
	# The same file again is the same success.
	run -0 there handoff import --cwd "$PWD/there/project" file
	[ "$(find there/.claude -name '*.jsonl' | wc -l)" -eq 1 ]
	run -0 there handoff show "$id"
	[[ $output == *'Never push to main'* ]]
	# Here it leads elsewhere already, with that very brief.
	run -0 handoff brief import file
	[ "$(successors | wc -l)" -eq 1 ]
}

@test "an import for another agent; files that are no brief, or were changed, are refused" {
	handoff now
	handoff brief export "$id" >file
	there() { HOME=$PWD/there HANDOFF_HOME=$PWD/there/state XDG_CONFIG_HOME=$PWD/there/.config "$@"; }
	mkdir there
	run -65 there handoff import <<<'{"v":1}'
	[[ $output == *'no brief'* ]]
	jq -c '.brief.goal = "something else"' file >changed
	run -65 there handoff import changed
	[[ $output == *'another hash'* ]]
	run -64 there handoff import --to nobody file
	run -64 there handoff import --cwd /no/such/folder file
	[ -z "$(find there -name '*.jsonl' ! -name events.jsonl)" ]
	run -0 there handoff import --to codex --cwd "$PWD" file
	[ "$(find there/.codex -name 'rollout-*.jsonl' | wc -l)" -eq 1 ]
	jq -c '.brief.goal = "something else" | del(.hash)' file >other
	run -69 there handoff import other
	[[ $output == *'leads to'* ]]
	run -1 handoff brief export 00000000-0000-4000-8000-000000000000
}
