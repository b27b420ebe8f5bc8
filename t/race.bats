#!/usr/bin/env bats
# Many processes at once: one session has one successor; a value that is
# read is whole.

load helper/common
load helper/state

# rush SESSIONS PROCESSES WANTED, in memory where there is room for it.
rush() {
	local own
	own=$(mktemp -d /dev/shm/handoff-rush.XXXXXX 2>/dev/null) ||
	    own=$TMPDIR/rush
	exits 0 "$HF_HELPER/rush" "$own" "$1" "$2"
	is 'what came of it' "$output" "$3"
}

@test "two hundred processes on one session: one successor, 199 told not now" {
	rush 1 200 '0: 1, 75: 199, 1 routes, 1 successors, whole'
}

@test "four processes on each of fifty sessions: fifty successors" {
	rush 50 4 '0: 50, 75: 150, 50 routes, 50 successors, whole'
}

in_one_go() {
	hf-commit <plain >"out$1" 2>"err$1"
}

@test "twenty in one go, without begin" {
	claude_session
	hf-metrics "$SRC" | with_brief >plain
	at_once 20 in_one_go
	is 'who succeeded' "$(grep '^0 ' statuses)" '0 1'
	# The others are told not now, or that it is done.
	run grep -v -E '^(0|69|75) ' statuses
	is others "$output" ''
	invariants
	[ -n "$(redirect)" ]
}

same_brief() {
	hf-commit <brief >"out$1" 2>"err$1"
}

@test "one attempt committed twenty times at once: one successor" {
	claude_session
	briefed
	at_once 20 same_brief
	run grep -v -E '^(0|75) ' statuses
	is others "$output" ''
	grep -q '^0 ' statuses
	invariants
	exits 0 hf-commit <brief
	is phase "$(printf '%s' "$output" | jq -r .commit.phase)" started
}

recover_it() {
	hf-commit recover 2>"err$1"
}

@test "twenty recover at once: completed once, started once" {
	claude_session
	hook start <<<'echo >>"$HOME/started"; sleep 0.2'
	briefed
	HANDOFF_CRASH_AT=commit.publish with_faults hf-commit <brief || true
	at_once 20 recover_it
	is statuses "$(cat statuses)" '0 20'
	is started "$(wc -l <"$HOME/started")" 1
	invariants
	[ -n "$(redirect)" ]
}

toggle() {
	for _ in {1..10}; do
		hf-state enable "$ID" && hf-state disable "$ID"
	done >/dev/null
}

@test "a reader never sees half a value" {
	claude_session
	hf-state enable "$ID" >enabled
	local m=$HANDOFF_HOME/mains/claude.$ID.json
	(
		while [ ! -e stop ]; do
			jq -e '.id' <"$m" >/dev/null || echo torn >>torn
		done
	) 3>&- &
	local reader=$!
	at_once 6 toggle
	: >stop
	wait "$reader"
	is statuses "$(cat statuses)" '0 6'
	[ ! -e torn ]
	is temporary "$(find "$HANDOFF_HOME" -name '*.tmp')" ''
}
