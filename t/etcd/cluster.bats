#!/usr/bin/env bats
# make etcd: three nodes of which some die, machines that are paused, a
# network that fails all the time, a hundred attempts from four machines
# with networks of their own, and the whole campaign of t/crash.bats.

load ../helper/common
load ../helper/state
load ../helper/crash
load ../helper/etcd

setup() {
	etcd_needed
	crash_setup
	export ETCD_DIR=$(etcd_folder) ETCD_PIDS=
	PIDS=
}

teardown() {
	crash_teardown
	[ -z "${NETWORKS-}" ] || networks_end
	etcd_end
}

triggered() {
	claude_session "$@"
	hf-metrics "$SRC" | hf-state join | hf-trigger --manual >trigger
}

whole() {
	hf-commit begin <trigger >begun && with_brief <begun >brief &&
	    hf-commit <brief >committed
}

# ---- three nodes ----

# node N: starts it, or starts it again.
node() {
	etcd_run "n$1" "${CLIENT[$1]}" "${PEER[$1]}" http \
	    --initial-cluster "$CLUSTER"
	# shellcheck disable=SC2153 # etcd_run sets it
	NODE[$1]=$ETCD_PID
}

cluster() {
	local p
	read -r -a p <<<"$("$HF_HELPER/ports" 6)"
	CLIENT=("${p[@]:0:3}") PEER=("${p[@]:3:3}") NODE=()
	CLUSTER=n0=http://127.0.0.1:${PEER[0]},n1=http://127.0.0.1:${PEER[1]}
	CLUSTER+=,n2=http://127.0.0.1:${PEER[2]}
	node 0
	node 1
	node 2
	export HANDOFF_STORE=etcd://127.0.0.1:${CLIENT[0]},127.0.0.1:${CLIENT[1]}
	HANDOFF_STORE+=,127.0.0.1:${CLIENT[2]}/team
	etcd_ready "${CLIENT[0]}"
	etcd_ready "${CLIENT[2]}"
}

# The number of the node that leads.
leader() {
	local i s
	for i in 0 1 2; do
		s=$(gateway "${CLIENT[$i]}" /v3/maintenance/status '{}' 2>/dev/null |
		    jq -r 'select(.leader != null) |
		    if .leader == .header.member_id then "yes" else "no" end')
		[ "$s" != yes ] || { echo "$i"; return; }
	done
	return 1
}

@test "three nodes: one dies, the leader dies in mid transaction, they come back" {
	cluster
	local l f pid status=0
	triggered
	l=$(leader)
	f=$(((l + 1) % 3))
	kill -9 "${NODE[$f]}"
	whole
	invariants
	is phase "$(phase)" started
	node "$f"
	etcd_ready "${CLIENT[$f]}"
	# Another session, whose commit stands right before its one write.
	rm -rf "$HOME"
	triggered c0dec0de-0000-4a5e-8bad-000000000002
	hf-commit begin <trigger >begun
	with_brief <begun >brief
	HANDOFF_STOP_AT=commit.redirect "$HF_FAULT_BIN/hf-commit" <brief \
	    >late 2>err 3>&- &
	pid=$!
	PIDS=$pid
	stopped "$pid"
	l=$(leader)
	kill -9 "${NODE[$l]}"
	kill -CONT "$pid"
	wait "$pid" || status=$?
	is status "$status $(cat err)" '0 '
	is phase "$(member late .commit.phase)" started
	[ "$(redirect)" = "$(member late .commit.target.id)" ]
	invariants
	# A majority is gone: nothing goes, nothing is changed.
	kill -9 "${NODE[$(((l + 1) % 3))]}"
	exits 75 hf-route resolve "$ID"
	[[ $stderr == *'does not answer'* ]]
	rm -rf "$HOME"
	claude_session c0dec0de-0000-4a5e-8bad-000000000003
	hf-metrics "$SRC" | hf-trigger --manual >trigger
	exits 75 hf-commit begin <trigger
	is code "$(printf '%s' "$output" | jq -r .error.code)" unavailable
	untouched
	is left "$(successors)" ''
	# It comes back, and all goes on.
	node "$l"
	etcd_ready "${CLIENT[$l]}"
	whole
	invariants
	is sessions "$(hf-state list | jq -s 'map(select(.main.redirect != null)) | length')" 3
}

@test "three nodes: the leader dies again and again under ten handoffs" {
	cluster
	local n l
	for n in {10..19}; do
		rm -rf "$HOME"
		triggered "c0dec0de-0000-4a5e-8bad-0000000000$n"
		whole 3>&- &
		local pid=$! status=0
		PIDS=$pid
		l=$(leader) || l=0
		kill -9 "${NODE[$l]}"
		wait "$pid" || status=$?
		case $status in
		0) ;;
		75) hf-commit recover ;;
		*) fail "status $status" || return 1 ;;
		esac
		node "$l"
		etcd_ready "${CLIENT[$l]}"
		hf-commit recover
		[ -n "$(redirect)" ] || { triggered "$ID" && whole; }
		invariants
		is open "$(open_attempts)" ''
	done
}

# ---- paused, dead ----

# The seconds until the main's lease has ended, at most 60.
until_lapsed() {
	local i=0 lease
	lease=$(request get "\"key\":\"mains/claude.$ID\"" |
	    jq -r '.value | fromjson | .lease.id')
	while [ "$(request alive "\"lease\":\"$lease\"" | jq .alive)" = true ]; do
		i=$((i + 1))
		[ "$i" -lt 120 ] || fail 'the lease lives on' || return 1
		sleep 0.5
	done
}

elsewhere() {
	local v value
	v=$(request get "\"key\":\"mains/claude.$ID\"")
	value=$(printf '%s' "$v" | jq '.value | fromjson |
	    .lease.boot = "other" | .lease.host = "gone" | tojson')
	v=$(printf '%s' "$v" | jq .revision)
	request put "\"key\":\"mains/claude.$ID\",\"value\":$value,\"revision\":$v" |
	    jq -e .revision
}

@test "a machine that is paused past its lease: another goes on, it cannot commit" {
	etcd_start paused
	export HANDOFF_STORE=etcd://127.0.0.1:$HF_ETCD/p
	triggered
	hf-commit begin <trigger >begun
	with_brief <begun >brief
	HANDOFF_STOP_AT=commit.redirect "$HF_FAULT_BIN/hf-commit" <brief \
	    >late 2>err 3>&- &
	local pid=$! helper status=0
	PIDS=$pid
	stopped "$pid"
	helper=$(pgrep -P "$pid" hf-store)
	kill -STOP "$helper"
	# It would be live for who knows its processes.
	elsewhere
	exits 75 hf-commit begin <trigger
	until_lapsed
	hf-commit begin <trigger >begun2
	with_brief <begun2 | hf-commit >committed
	kill -CONT "$helper"
	kill -CONT "$pid"
	wait "$pid" || status=$?
	is late "$status" 75
	is code "$(member late .error.code)" changed
	is end "$(redirect)" "$(member committed .commit.target.id)"
	hf-commit recover
	invariants
	is open "$(open_attempts)" ''
}

@test "a machine that dies frees its attempt within a minute" {
	etcd_start dead
	export HANDOFF_STORE=etcd://127.0.0.1:$HF_ETCD/p
	triggered
	hf-commit begin <trigger >begun
	with_brief <begun >brief
	HANDOFF_STOP_AT=commit.prepared "$HF_FAULT_BIN/hf-commit" <brief \
	    >late 2>err 3>&- &
	local pid=$! helper
	PIDS=$pid
	stopped "$pid"
	helper=$(pgrep -P "$pid" hf-store)
	elsewhere
	kill -9 "$helper" "$pid"
	wait "$pid" || true
	exits 75 hf-commit begin <trigger
	until_lapsed
	whole
	hf-commit recover
	invariants
	is open "$(open_attempts)" ''
}

# ---- the network ----

@test "every question and every answer in turn is lost" {
	etcd_start lossy
	echo pass >mode
	"$HF_HELPER/proxy" "$HF_ETCD" mode >port 3>&- &
	PIDS=$!
	local n how i=0
	until [ -s port ]; do
		i=$((i + 1))
		[ "$i" -lt 100 ]
		sleep 0.05
	done
	for how in lose cut; do
		for n in {1..45}; do
			rm -rf "$HOME"
			export HANDOFF_STORE
			HANDOFF_STORE=etcd://127.0.0.1:$(cat port)/$how$n
			echo pass >mode
			triggered
			echo "$how $n" >mode
			whole || { fail "$how $n"; return 1; }
			echo pass >mode
			is phase "$(phase)" started
			invariants || { fail "$how $n"; return 1; }
			is open "$(open_attempts)" ''
		done
	done
}

@test "a network that swallows everything for a while: it resumes" {
	etcd_start hole
	echo pass >mode
	"$HF_HELPER/proxy" "$HF_ETCD" mode >port 3>&- &
	# shellcheck disable=SC2034 # crash_teardown ends it
	PIDS=$!
	local i=0
	until [ -s port ]; do
		i=$((i + 1))
		[ "$i" -lt 100 ]
		sleep 0.05
	done
	export HANDOFF_STORE
	HANDOFF_STORE=etcd://127.0.0.1:$(cat port)/x
	triggered
	hf-commit begin <trigger >begun
	with_brief <begun >brief
	echo hole >mode
	exits 75 hf-commit <brief
	untouched
	is left "$(successors)" ''
	echo 'slow 50' >mode
	exits 0 hf-commit <brief
	invariants
}

# ---- four machines ----

# networks: four of their own, from which 10.234.N.1 is this machine.
networks() {
	local n
	[ "$(id -u)" = 0 ] && type -P ip >/dev/null || return 1
	NETWORKS=hf$$
	for n in 1 2 3 4; do
		ip netns add "$NETWORKS-$n" &&
		    ip link add "hf$n-$$" type veth peer name eth0 \
		    netns "$NETWORKS-$n" &&
		    ip addr add "10.234.$n.1/24" dev "hf$n-$$" &&
		    ip link set "hf$n-$$" up &&
		    ip -n "$NETWORKS-$n" addr add "10.234.$n.2/24" dev eth0 &&
		    ip -n "$NETWORKS-$n" link set eth0 up || return 1
	done
} 2>/dev/null

networks_end() {
	local n
	for n in 1 2 3 4; do
		ip netns del "$NETWORKS-$n" 2>/dev/null || true
		ip link del "hf$n-$$" 2>/dev/null || true
	done
}

# machine N I: attempt I from machine N.
machine() {
	local host=127.0.0.1 in=() at=$OWN/m$1 s=0
	[ -z "${NETWORKS-}" ] || {
		host=10.234.$1.1
		in=(ip netns exec "$NETWORKS-$1")
	}
	mkdir -p "$at"
	env HOME="$at" HANDOFF_HOME="$at/state" XDG_CONFIG_HOME="$at/.config" \
	    HANDOFF_HOST="machine$1" HANDOFF_STORE="etcd://$host:$HF_ETCD/m" \
	    "${in[@]}" sh -c 'hf-commit begin <trigger >"$1" 2>"$1.err" || exit
	    jq -c --argjson b "$2" ".brief = \$b" <"$1" >"$1.brief"
	    hf-commit <"$1.brief" >"$1.out" 2>>"$1.err"' \
	    sh "attempt$1.$2" "$BRIEF" || s=$?
	echo "$s" >"status$1.$2"
}

@test "a hundred attempts from four machines on one session: one successor" {
	if networks; then
		export ETCD_LISTEN=0.0.0.0
	else
		echo '# without networks of their own' >&3
		[ -z "${NETWORKS-}" ] || networks_end
		NETWORKS=
	fi
	etcd_start hundred
	export HANDOFF_STORE=etcd://127.0.0.1:$HF_ETCD/m
	triggered
	local n i pids=''
	for i in {1..25}; do
		for n in 1 2 3 4; do
			machine "$n" "$i" 3>&- &
			pids="$pids $!"
		done
	done
	for i in $pids; do
		wait "$i"
	done
	is statuses "$(cat status* | sort | uniq -c | awk '{ print $2, $1 }')" \
	    $'0 1\n75 99'
	untouched
	# On the machine whose attempt it was, under its own HOME.
	find "$OWN"/m? "$STORE" -name '*.jsonl' \
	    -not -path "$SRC" -not -path '*/state/*' >successors
	is successors "$(sed 's|.*/||' successors)" "$(redirect).jsonl"
	is records "$(records)" 1
	is open "$(open_attempts)" ''
}

# ---- the campaign ----

over() {
	etcd_start "$1"
}

@test "begin: no space at each of its points" {
	over begin
	points begin claude '^commit'
	campaign begin claude automatic HANDOFF_CRASH_AT=POINT
	campaign begin claude manual HANDOFF_FAIL_AT=POINT:ENOSPC
}

@test "commit killed at each of its points, automatic" {
	over commit
	points commit claude '^(commit|draft)'
	campaign commit claude automatic HANDOFF_CRASH_AT=POINT
}

@test "commit killed at each of its points, pi" {
	over pi
	points commit pi '^(commit|draft)'
	campaign commit pi manual HANDOFF_CRASH_AT=POINT
}

@test "commit: an error of the disk at each of its points" {
	over disk
	points commit claude '^(commit|draft)'
	campaign commit claude manual HANDOFF_FAIL_AT=POINT:EIO
}

@test "recover killed at each of its points" {
	over recover
	killed_twice commit.redirect
	killed_twice commit.publish
}
