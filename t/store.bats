#!/usr/bin/env bats
# What every store must do, over files and over etcd; and a program that
# keeps one: what it may say, and what happens when it misbehaves.

load helper/common
load helper/state
load helper/etcd

setup_file() {
	etcd_missing || etcd_start store
}

teardown_file() {
	etcd_end
}

# suite PART: over the store of the test.
suite() {
	run "$HF_HELPER/storesuite" "$1"
	is "$1" "$status $output" '0 '
}

over_etcd() {
	etcd_needed
	export HANDOFF_STORE=etcd://127.0.0.1:$HF_ETCD/$BATS_TEST_NUMBER.$RANDOM
}

all_parts() {
	suite values
	suite lists
	suite leases
	suite locks
}

@test "files: values, lists, leases, locks" {
	all_parts
}

@test "etcd: values, lists, leases, locks" {
	over_etcd
	all_parts
	# What was held is given up; what lasts is one lease.
	is leases "$(keys leases | wc -l)" 1
	is locks "$(keys locks)" ''
}

# Nobody's change is lost.
counted() {
	local i pids=''
	for i in 1 2 3 4; do
		"$HF_HELPER/storesuite" counts >"out$i" 2>&1 3>&- &
		pids="$pids $!"
	done
	for i in $pids; do
		wait "$i"
	done
	is said "$(cat out?)" ''
}

@test "files: four processes count together" {
	counted
	is n "$(cat "$HANDOFF_HOME/mains/n.json")" 80
}

@test "etcd: four processes count together" {
	over_etcd
	counted
	is n "$(request get '"key":"mains/n"' | jq -r .value)" 80
}

watched() {
	"$HF_HELPER/storesuite" watches >said 2>&1 3>&- &
	local pid=$! i=0
	until grep -q waiting said; do
		i=$((i + 1))
		[ "$i" -lt 300 ]
		sleep 0.1
	done
	suite go
	wait "$pid"
	is said "$(cat said)" waiting
}

@test "files: a change is seen by who waits for it" {
	watched
}

@test "etcd: a change is seen by who waits for it" {
	over_etcd
	watched
}

# ---- a program of one's own ----

# own BODY: hf-store-own, a shell script that answers line after line; $id
# is the request's number.
own() {
	mkdir -p own
	{
		echo '#!/bin/sh'
		echo 'while IFS= read -r line; do'
		echo 'id=$(printf %s "$line" | jq .id)'
		echo 'op=$(printf %s "$line" | jq -r .op)'
		printf '%s\n' "$1"
		echo done
	} >own/hf-store-own
	chmod 755 own/hf-store-own
	export PATH=$PATH:$PWD/own HANDOFF_STORE=own://somewhere
}

# A store in a dozen lines, from hf-store(7) alone.
@test "a store in shell: found in PATH, routes are kept in it" {
	mkdir keep
	KEEP=$PWD/keep
	export KEEP
	own 'key=$(printf %s "$line" | jq -r ".key // empty" | tr / +)
f=$KEEP/$key; rev=$(cat "$f.rev" 2>/dev/null)
was=$(printf %s "$line" | jq -r ".revision // empty")
no() { echo "{\"id\":$id,\"error\":{\"code\":\"$1\",\"message\":\"no\"}}"; }
case $op in
open) echo "{\"id\":$id,\"v\":1}" ;;
get) if [ -n "$rev" ]; then
	jq -c --arg r "$rev" "{id:$id,value:.,revision:\$r}" "$f"
	else echo "{\"id\":$id,\"value\":null}"; fi ;;
put | create) if [ "$rev" = "$was" ]; then
	rev=$((${rev:-0} + 1)); printf %s "$line" | jq .value >"$f"
	echo "$rev" >"$f.rev"; echo "{\"id\":$id,\"revision\":\"$rev\"}"
	elif [ $op = put ]; then no changed; else no exists; fi ;;
delete) rm -f "$f" "$f.rev"; echo "{\"id\":$id,\"removed\":true}" ;;
lease) echo "{\"id\":$id,\"lease\":\"l\"}" ;;
release) rm -f "$KEEP"/locks+*; echo "{\"id\":$id}" ;;
*) no unsupported ;;
esac'
	exits 0 hf-route add pi:old pi:new
	exits 0 hf-route resolve pi:old
	is end "$output" new
	exits 69 hf-route add pi:old pi:other
	[ -f keep/mains+pi.old ]
}

# wrong STATUS MESSAGE BODY
wrong() {
	own "$3"
	exits "$1" hf-route resolve x
	[[ $stderr == *"$2"* ]] || fail "said: $stderr"
}

@test "a program that dies, is silent or talks nonsense: 75" {
	wrong 75 'has ended' 'exit 0'
	wrong 75 'has ended' '[ $op = open ] || exit 1; echo "{\"id\":$id,\"v\":1}"'
	wrong 75 'what is no answer' 'echo hello'
	wrong 75 'what is no answer' 'echo "{\"v\":1}"'
	wrong 75 'no revision' 'echo "{\"id\":$id,\"v\":1,\"value\":\"{}\"}"'
	wrong 75 'no value' 'echo "{\"id\":$id,\"v\":1}"'
	wrong 75 'a line that is too long' 'tr "\0" x </dev/zero'
	wrong 75 'says no more' 'echo "{\"id\":$id,\"error\":{}}"'
	wrong 78 'another version' 'echo "{\"id\":$id,\"v\":2}"'
}

@test "a program's own errors keep their codes and statuses" {
	local e='echo "{\"id\":$id,\"error\":{\"code\":\"CODE\",\"message\":\"so it is\"}}"'
	wrong 69 'so it is' "${e//CODE/refused}"
	wrong 74 'so it is' "${e//CODE/io}"
	wrong 78 'so it is' "${e//CODE/config}"
	wrong 75 'so it is' "${e//CODE/unavailable}"
	# One that it must not use, or that there is none of.
	wrong 75 'so it is' "${e//CODE/internal}"
	wrong 75 'so it is' "${e//CODE/whatever}"
}

@test "an answer to what was given up before is passed over" {
	own 'echo "{\"id\":77,\"v\":3}"; echo "{\"id\":$id,\"v\":1,\"value\":null}"'
	exits 1 hf-route resolve x
}

@test "a signal ends a command whose store hangs" {
	own 'sleep 300'
	hf-route resolve x 3>&- 2>err &
	local pid=$! i=0 status=0
	until pgrep -P "$pid" hf-store >/dev/null; do
		i=$((i + 1))
		[ "$i" -lt 100 ]
		sleep 0.1
	done
	kill -TERM "$pid"
	wait "$pid" || status=$?
	is status "$status" 143
}

@test "no such program, no such URL: 78" {
	export HANDOFF_STORE=nowhere://x
	exits 78 hf-route resolve x
	[[ $stderr == *'hf-store-nowhere'*'not installed'* ]]
	for HANDOFF_STORE in nowhere ../x://y 'A://x' '://x' -x://y; do
		exits 78 hf-route resolve x
	done
	# What has no need of the state does not miss it.
	claude_session
	exits 0 hf-metrics "$SRC"
}

@test "the commands that are fast link nothing of the network" {
	local c
	for c in hf-metrics hf-trigger hf-validate hf-commit hf-route hf-state; do
		run ldd "$HF_ROOT/build/release/bin/$c"
		[[ $output != *libcurl* ]] || fail "$c"
	done
}

# ---- from one store to another ----

@test "export and import, there and back: the same state" {
	over_etcd
	local remote=$HANDOFF_STORE
	unset HANDOFF_STORE
	claude_session
	briefed
	hf-commit <brief >committed
	hf-state enable "$(redirect)"
	hf-route add 'ä/ö "x"' "$ID"
	hf-route add second third
	mkdir -p "$HANDOFF_HOME/inbox/any.third"
	echo '{"text":"still unread"}' >"$HANDOFF_HOME/inbox/any.third/m1.json"
	exits 0 hf-state export
	printf '%s\n' "$output" >first
	exits 0 env HANDOFF_STORE="$remote" hf-state import first
	[[ $output == *' 0 were there already'* ]]
	exits 0 env HANDOFF_STORE="$remote" hf-state export
	printf '%s\n' "$output" >second
	diff <(jq -S 'del(.records[].changed)' first) \
	    <(jq -S 'del(.records[].changed)' second)
	exits 0 env HANDOFF_HOME="$PWD/other" hf-state import second
	exits 0 env HANDOFF_HOME="$PWD/other" hf-state export
	printf '%s\n' "$output" >third
	diff <(jq -S 'del(.records[].changed)' first) \
	    <(jq -S 'del(.records[].changed)' third)
	is message "$(HANDOFF_STORE=$remote request get \
	    '"key":"inbox/any.third/m1"' | jq -r .value)" '{"text":"still unread"}'
	cmp "$HANDOFF_HOME/inbox/any.third/m1.json" other/inbox/any.third/m1.json
	# And it leads where it led.
	local end
	end=$(hf-route resolve 'ä/ö "x"')
	exits 0 env HANDOFF_STORE="$remote" hf-route resolve 'ä/ö "x"'
	is end "$output" "$end"
	exits 0 env HANDOFF_STORE="$remote" hf-commit show "$ID"
	[[ $output == *'Document the parser'* ]]
	exits 0 env HANDOFF_STORE="$remote" hf-state import second
	[[ $output == '0 sessions, '*' 0 records'* ]]
}
