#!/usr/bin/env bats
# Messages: delivered once to the end of the chain, handed over once,
# whatever is killed between.

load helper/common
load helper/state

# In memory, where there is room for it.
setup() {
	hf_setup
	OWN=$(mktemp -d /dev/shm/handoff-delivery.XXXXXX 2>/dev/null) ||
	    OWN=$BATS_TEST_TMPDIR
	world
}

teardown() {
	[ -z "${STOPPED-}" ] || kill -9 "$STOPPED" 2>/dev/null || true
	rm -rf "$OWN"
}

world() {
	rm -rf "$OWN/w"
	export HANDOFF_HOME=$OWN/w
	hf-route add old new
	message m1 old "late words" >late
}

# message ID TO TEXT
message() {
	jq -cn --arg id "$1" --arg to "$2" --arg text "$3" \
	    '{v: 1, message: {id: $id, to: $to, text: $text}}'
}

waiting() {
	hf-route inbox "$1" | jq -r '"\(.message.text)|\(.state)"'
}

# points COMMAND...: NAME#N of each point that it reaches.
points() {
	with_faults env HANDOFF_STEP_LOG="$OWN/log" "$@" >/dev/null
	awk '/^(relay|inbox)/ { print $1 "#" ++n[$1] }' "$OWN/log" \
	    >"$OWN/points"
	rm "$OWN/log"
	[ "$(grep -c . "$OWN/points")" -ge 3 ]
}

faulty() {
	with_faults env "$@" 2>err
}

# stopped_at POINT COMMAND...: in the background, until it stands there.
stopped_at() {
	HANDOFF_STOP_AT=$1 "$HF_FAULT_BIN/$2" <"$3" >out 2>err 3>&- &
	STOPPED=$!
	for _ in $(seq 200); do
		! grep -q '^State:.T' "/proc/$STOPPED/status" || return 0
		sleep 0.05
	done
	fail 'it does not stop'
}

goes_on_again() {
	kill -CONT "$STOPPED"
	wait "$STOPPED"
	STOPPED=
}

@test "a message arrives where the chain ends, once, and says where" {
	hf-route <late >out
	is to "$(jq -r .route.to out)" new
	is again "$(jq .route.again out)" false
	hf-route <late >out
	is again "$(jq .route.again out)" true
	is waiting "$(waiting new)" 'late words|waiting'
	is 'from the old id' "$(waiting old)" 'late words|waiting'
	is journal "$(find "$HANDOFF_HOME/journal" -name '*.json' | wc -l)" 1
	is journal "$(jq -r '.text + .state' "$HANDOFF_HOME"/journal/*/*.json)" \
	    'late wordsdone'
	is 'open to others' "$(find "$HANDOFF_HOME" -perm /077)" ''
}

@test "take: handed over and acknowledged, then nothing, also when it is sent again" {
	hf-route <late >/dev/null
	message m2 new 'more words' | hf-route >/dev/null
	exits 0 hf-route inbox --take old
	is order "$(jq -r .message.text <<<"$output")" $'late words\nmore words'
	exits 1 hf-route inbox --take old
	is output "$output" ''
	hf-route <late >/dev/null
	exits 1 hf-route inbox new
}

@test "take: what cannot be written waits on" {
	hf-route <late >/dev/null
	run -74 sh -c 'hf-route inbox --take new >/dev/full'
	is waiting "$(waiting new)" 'late words|waiting'
}

@test "ids: of two sessions, joined otherwise, many, a number; never a path" {
	hf-route add s new
	hf-route add s:forward new
	{
		message m1 s one
		message forward:1 s two
		message 1 s:forward three
		echo '{"v":1,"message":{"id":["a","b"],"to":"s","text":"four"}}'
		echo '{"v":1,"message":{"id":["ab"],"to":"s","text":"five"}}'
		echo '{"v":1,"message":{"id":7,"to":"s","text":"six"}}'
		message ../../evil s seven
	} >all
	hf-route <late >/dev/null
	hf-route <all >/dev/null
	is waiting "$(waiting new | wc -l)" 8
	[ -z "$(find "$OWN" -name '*evil*')" ]
}

@test "what is no message, is for nobody, or is too long, is refused and named" {
	refuse() {
		run -"$1" hf-route <<<"$3"
		[[ $(jq -r .error.message <<<"$output") == *"$2"* ]] ||
		    fail "$output"
	}
	refuse 65 id '{"v":1,"message":{"to":"old","text":"x"}}'
	refuse 65 text '{"v":1,"message":{"id":"a","to":"old"}}'
	refuse 65 '"to"' '{"v":1,"message":{"id":"a","text":"x"}}'
	refuse 65 object '{"v":1,"message":"x"}'
	refuse 65 id '{"v":1,"message":{"id":[1,{}],"to":"old","text":"x"}}'
	refuse 1 nobody '{"v":1,"message":{"id":"a","to":"nobody","text":"x"}}'
	refuse 1 /etc/passwd \
	    '{"v":1,"message":{"id":"a","to":"/etc/passwd","text":"x"}}'
	jq -cn '{v:1,message:{id:"a",to:"old",text:("x" * 1048577)}}' >long
	run -69 hf-route <long
	exits 1 hf-route inbox new
}

# After a fault: sent again it is there once, and handed over once.
arrives_once() {
	hf-commit recover 2>rec
	hf-route <late >/dev/null || fail 'cannot be sent again'
	is "waiting after $1" "$(waiting new)" 'late words|waiting'
	hf-route inbox --take new >took
	is "taken after $1" "$(jq -r .message.text took)" 'late words'
	exits 1 hf-route inbox --take new
	hf-route <late >/dev/null
	exits 1 hf-route inbox new
	is relays "$(ls "$HANDOFF_HOME/relays")" ''
}

@test "a delivery that is killed, or fails, at each point" {
	points hf-route <late
	while IFS= read -r p; do
		for how in CRASH_AT="$p" FAIL_AT="$p:ENOSPC"; do
			world
			faulty HANDOFF_"$how" hf-route <late >out || true
			arrives_once "$how" || return 1
		done
	done <"$OWN/points"
	echo "# $(wc -l <"$OWN/points") points, killed and failed" >&3
}

@test "a delivery that was killed and is not sent again: there, or told" {
	points hf-route <late
	while IFS= read -r p; do
		world
		faulty HANDOFF_CRASH_AT="$p" hf-route <late >out || true
		hf-commit recover 2>rec
		got=$(waiting new)
		said=$(grep -c 'was not delivered' rec) || true
		journalled=$(find "$HANDOFF_HOME/journal" -name '*.json' \
		    2>/dev/null | wc -l)
		case "$got,$said,$journalled" in
		'late words|waiting,0,1' | ,1,1 | ,0,0) ;;
		*) fail "at $p: $got, $said, $journalled" ;;
		esac
		exits 0 hf-commit recover
		is said "$stderr" ''
	done <"$OWN/points"
}

@test "a handing over that is killed at each point: once, or unknown" {
	hf-route <late >/dev/null
	points hf-route inbox --take new
	while IFS= read -r p; do
		world
		hf-route <late >/dev/null
		faulty HANDOFF_CRASH_AT="$p" hf-route inbox --take new \
		    >one || true
		hf-commit recover 2>rec
		hf-route inbox --take new >two || true
		n=$(cat one two | wc -l)
		case $n in
		1) ;;
		0) is "at $p" "$(waiting new)" 'late words|unknown' ;;
		*) fail "at $p: handed over $n times" ;;
		esac
		[ -z "$(waiting new)" ] || {
			hf-route inbox --take --unknown new >three
			is told "$(wc -l <three)" 1
		}
		exits 1 hf-route inbox new
	done <"$OWN/points"
}

@test "a handing over that fails at each point: once, or unknown" {
	hf-route <late >/dev/null
	points hf-route inbox --take new
	while IFS= read -r p; do
		world
		hf-route <late >/dev/null
		faulty HANDOFF_FAIL_AT="$p:EIO" hf-route inbox --take new \
		    >one || true
		hf-route inbox --take new >two || true
		n=$(cat one two | wc -l)
		[ "$n" -eq 1 ] ||
		    is "at $p, $n" "$(waiting new)" 'late words|unknown'
	done <"$OWN/points"
}

@test "a handoff between finding the end and putting it there: it is moved on" {
	stopped_at relay.inbox hf-route late
	hf-route add new newer
	goes_on_again
	is to "$(jq -r .route.to out)" newer
	is waiting "$(waiting newer)" 'late words|waiting'
	is left "$(find "$HANDOFF_HOME"/inbox/any.new/ -name '*.json')" ''
}

@test "many send the same, many take: it is handed over once" {
	hf-route <late >/dev/null
	pids=
	for i in 1 2 3 4 5 6 7 8; do
		message m2 old 'other words' | hf-route >/dev/null 3>&- &
		pids="$pids $!"
		hf-route inbox --take new >"took$i" 3>&- &
		pids="$pids $!"
	done
	for p in $pids; do wait "$p" || true; done
	hf-route inbox --take new >took0 || true
	is taken "$(cat took* | jq -r .message.text | sort)" \
	    $'late words\nother words'
}

@test "what waits for a session goes with it, also what comes late" {
	claude_session
	message m1 "$ID" 'before the handoff' | hf-route >/dev/null
	briefed
	hf-commit <brief >committed
	message m2 "$ID" 'after it' | hf-route >/dev/null
	to=$(redirect)
	is waiting "$(waiting "$to")" \
	    $'before the handoff|waiting\nafter it|waiting'
	is left "$(find "$HANDOFF_HOME/inbox/claude.$ID" -name '*.json')" ''
}

@test "what is typed between the last look and the redirect is not lost" {
	claude_session
	briefed
	stopped_at commit.redirect hf-commit brief
	more 'And the manual page.'
	echo '{"type":"mode","mode":"normal"}' >>"$SRC"
	goes_on_again
	is phase "$(member out .commit.phase)" started
	hf-route inbox "$ID" >waits
	is text "$(member waits .message.text)" 'And the manual page.'
	is late "$(member waits .message.late)" true
	hf-commit recover
	is once "$(hf-route inbox "$ID" | wc -l)" 1
}

@test "rows of the agent's own between the look and the redirect are no message" {
	claude_session
	briefed
	stopped_at commit.redirect hf-commit brief
	echo '{"type":"mode","mode":"normal"}' >>"$SRC"
	goes_on_again
	exits 1 hf-route inbox "$ID"
}

@test "resume hands over what waits, once the agent runs" {
	claude_session
	briefed
	hf-commit <brief >committed
	message m1 "$ID" 'tests are green' | hf-route >/dev/null
	exits 0 hf-route resume -n "$ID"
	[[ $output != *green* ]]
	[[ $stderr == *'1 message waits'* ]]
	# Without the agent's program it waits on.
	run ! hf-route resume "$ID"
	until [ "$(waiting "$ID")" = 'tests are green|waiting' ]; do
		sleep 0.05
	done
	mkdir "$OWN/bin"
	printf '#!/bin/sh\nprintf "%%s\\n" "$@"\n' >"$OWN/bin/claude"
	chmod 755 "$OWN/bin/claude"
	PATH=$OWN/bin:$PATH hf-route resume -p 'Go on.' "$ID" >said
	grep -qx 'Go on.' said
	grep -qx 'tests are green' said
	until ! hf-route inbox "$ID" >/dev/null; do sleep 0.05; done
	PATH=$OWN/bin:$PATH hf-route resume "$ID" >said
	run ! grep -q green said
}

@test "what was handed over is forgotten after a time, what waits is not" {
	hf-route <late >/dev/null
	message m2 old waits | hf-route >/dev/null
	hf-route inbox new | jq -c 'select(.message.id == "m1")' >/dev/null
	hf-route inbox --take new >/dev/null
	message m3 old waits | hf-route >/dev/null
	exits 0 hf-state prune
	is nothing "$output" ''
	for f in "$HANDOFF_HOME"/taken/*; do
		jq -c '.at = "2020-01-01T00:00:00Z"' <"$f" >x && cp x "$f"
	done
	exits 0 hf-state prune
	is said "$output" '2 messages forgotten'
	is waiting "$(waiting new)" 'waits|waiting'
	is journal "$(find "$HANDOFF_HOME/journal" -name '*.json' | wc -l)" 1
}

@test "a day: three generations, messages to all ids, one deleted, one unrouted" {
	claude_session
	first=$ID
	briefed && hf-commit <brief >committed
	second=$(redirect)
	message m1 "$first" one | hf-route >/dev/null
	hf-route inbox --take "$first" >/dev/null
	# The second goes on, and is handed off as well.
	SRC=$STORE/$second.jsonl
	ID=$second
	claude_prompt e '' 'Go on.' >>"$SRC"
	claude_answer f e >>"$SRC"
	briefed && hf-commit <brief >committed
	third=$(redirect)
	[ "$third" != "$second" ]
	rm "$STORE/$first.jsonl"
	for to in "$first" "$second" "$third"; do
		message m2 "$to" "to $to" | hf-route >/dev/null
	done
	is waiting "$(hf-route inbox "$first" | wc -l)" 3
	is waiting "$(hf-route inbox "$third" | jq -r .message.text | sort)" \
	    "$(printf 'to %s\n' "$first" "$second" "$third" | sort)"
	hf-route inbox --take "$second" >took
	is taken "$(wc -l <took)" 3
	# Unrouted, the second one is on its own again.
	hf-route remove "$second"
	message m3 "$first" stays | hf-route >out
	is to "$(jq -r .route.to out)" "$second"
	is waiting "$(waiting "$second")" 'stays|waiting'
	exits 1 hf-route inbox "$third"
}
