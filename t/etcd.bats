#!/usr/bin/env bats
# Handoffs whose state is in a real etcd, on loopback: killed at each point,
# many at once, from several machines, over a network that fails. A machine
# is a HOME and a HANDOFF_HOST of its own. More and longer: make etcd.

load helper/common
load helper/state
load helper/crash
load helper/etcd

setup_file() {
	etcd_missing || etcd_start state
}

teardown_file() {
	etcd_end
}

setup() {
	etcd_needed
	crash_setup
	export HANDOFF_STORE=etcd://127.0.0.1:$HF_ETCD/t$BATS_TEST_NUMBER
	PIDS=
}

teardown() {
	crash_teardown
}

# ---- the transaction ----

@test "begin killed at each of its points" {
	points begin claude '^commit'
	campaign begin claude manual HANDOFF_CRASH_AT=POINT
}

@test "commit killed at each of its points" {
	points commit claude '^(commit|draft)'
	campaign commit claude manual HANDOFF_CRASH_AT=POINT
}

attempt() {
	hf-commit begin <trigger >"begun$1" 2>"err$1" || return
	with_brief <"begun$1" >"brief$1"
	hf-commit <"brief$1" >"out$1" 2>>"err$1"
}

@test "twenty attempts on one session: one successor" {
	claude_session
	hf-metrics "$SRC" | hf-state join | hf-trigger --manual >trigger
	at_once 20 attempt
	is statuses "$(cat statuses)" $'0 1\n75 19'
	invariants
	[ -n "$(redirect)" ]
	is records "$(records)" 1
	is open "$(open_attempts)" ''
}

# ---- several machines ----

# on NAME COMMAND...: on that machine. b cannot see a's files.
on() {
	local m=$1 rc=0
	shift
	[ "$m" != b ] || mv "$OWN/a" "$OWN/away"
	env HOME="$OWN/$m" XDG_CONFIG_HOME="$OWN/$m/.config" HANDOFF_HOST="$m" \
	    HANDOFF_HOME="$OWN/$m/state" "$@" || rc=$?
	[ "$m" != b ] || mv "$OWN/away" "$OWN/a"
	return "$rc"
}

# A session on machine a: SRC, ID, in its HOME.
on_a() {
	mkdir -p "$OWN/a" "$OWN/b"
	HOME=$OWN/a claude_session
}

begun_on_a() {
	on a hf-metrics "$SRC" | on a hf-state join |
	    on a hf-trigger --manual >trigger
	on a hf-commit begin <trigger >begun
	with_brief <begun >brief
}

# The lease as another machine sees it; another boot, so that no process and
# no clock of this one can be looked at.
of_another_boot() {
	local v value
	v=$(request get "\"key\":\"$1\"")
	value=$(printf '%s' "$v" |
	    jq '.value | fromjson | .lease.boot = "other" | tojson')
	v=$(printf '%s' "$v" | jq .revision)
	request put "\"key\":\"$1\",\"value\":$value,\"revision\":$v" |
	    jq -e .revision
}

lease_of() {
	request get "\"key\":\"mains/claude.$ID\"" |
	    jq -r '.value | fromjson | .lease.id'
}

@test "another machine sees the session, its route, and where it lives" {
	on_a
	begun_on_a
	on a hf-commit <brief >committed
	local to
	to=$(member committed .commit.target.id)
	exits 0 on b hf-route resolve "$ID"
	is end "$output" "$to"
	exits 0 on b hf-state status
	[[ $output == *'on a '* ]]
	exits 0 on b hf-state status "$to"
	[[ $output == *'machine      a'* ]]
	is host "$(on b hf-state list | jq -r '.main.host' | sort -u)" a
	is user "$(on b hf-state list | jq -r '.main.user' | sort -u)" \
	    "$(id -un)"
	is record "$(on b hf-state records | jq -r .host)" a
	# It is told where to go, and goes there if it knows how.
	exits 1 on b hf-route resume "$ID"
	[[ $stderr == *"$to' is on 'a': ssh -t $(id -un)@a handoff resume $to"* ]]
	exits 0 on b hf-route resume -n "$ID"
	is command "$output" "ssh -t $(id -un)@a handoff resume $to"
	mkdir -p "$OWN/b/.config/handoff"
	echo '{"resumeThere":["printf","%s ","{host}","{user}","{id}"]}' \
	    >"$OWN/b/.config/handoff/config.json"
	exits 0 on b hf-route resume "$ID"
	is there "$output" "a $(id -un) $to "
	# On a itself nothing is different.
	exits 0 on a hf-route resume -n "$ID"
	is here "$output" "cd $WORK && claude --resume $to"
	# It is not b's to hand off.
	exits 1 on b hf-state pick "$to"
	[[ $stderr == *"is on 'a'"* ]]
	on a hf-state enable "$to"
	on b env HANDOFF_AUTO_HANDOFF=true hf-state due >list || true
	is due "$(cat list)" ''
	exits 0 on a env HANDOFF_AUTO_HANDOFF=true hf-state due
	is due "$(printf '%s' "$output" | jq -r .session.id)" "$to"
}

@test "a live attempt of another machine is left alone; one whose lease ended is taken over" {
	on_a
	begun_on_a
	of_another_boot "mains/claude.$ID"
	exits 0 on b hf-commit recover
	is phase "$(phase)" summarizing
	exits 75 on b hf-commit begin <trigger
	[[ $(printf '%s' "$output" | jq -r .error.message) == *', on a)'* ]]
	# The machine died: etcd counts the seconds, here cut short.
	request release "\"lease\":\"$(lease_of)\"" | jq -e '.error == null'
	exits 0 on b hf-commit recover
	is phase "$(phase)" failed
	# a comes back, and is too late.
	exits 75 on a hf-commit <brief
	is code "$(printf '%s' "$output" | jq -r .error.code)" changed
	is route "$(redirect)" ''
	exits 0 on a hf-commit recover
	is open "$(open_attempts)" ''
	invariants
}

@test "a draft of a dead machine is removed when that comes back" {
	on_a
	begun_on_a
	on a "$HF_FAULT_BIN/hf-commit" --version >/dev/null
	HANDOFF_CRASH_AT=commit.prepared on a "$HF_FAULT_BIN/hf-commit" <brief || true
	[ -n "$(find "$STORE" -name '.handoff-*')" ]
	of_another_boot "mains/claude.$ID"
	exits 0 on b hf-commit recover
	is phase "$(phase)" failed
	[ -n "$(find "$STORE" -name '.handoff-*')" ]
	exits 0 on a hf-commit recover
	is draft "$(find "$STORE" -name '.handoff-*')" ''
	is open "$(open_attempts)" ''
	invariants
}

@test "what was committed is completed on its own machine, by no other" {
	on_a
	begun_on_a
	HANDOFF_CRASH_AT=commit.publish on a "$HF_FAULT_BIN/hf-commit" <brief || true
	of_another_boot "mains/claude.$ID"
	exits 0 on b hf-commit recover
	is phase "$(phase)" prepared
	# Its message store and its route are there for everyone.
	exits 0 on b hf-route resolve "$ID"
	is end "$output" "$(redirect)"
	exits 0 on a hf-commit recover
	is phase "$(phase)" started
	invariants
}

@test "an attempt that lost its lease cannot commit" {
	on_a
	begun_on_a
	HANDOFF_STOP_AT=commit.redirect on a "$HF_FAULT_BIN/hf-commit" <brief \
	    >late 2>err 3>&- &
	local job=$! pid i=0 status=0
	until pid=$(pgrep -P "$job" hf-commit); do
		i=$((i + 1))
		[ "$i" -lt 300 ]
		sleep 0.1
	done
	PIDS=$pid
	stopped "$pid"
	request release "\"lease\":\"$(lease_of)\"" | jq -e '.error == null'
	kill -CONT "$pid"
	wait "$job" || status=$?
	is late "$status" 75
	is code "$(member late .error.code)" changed
	[[ $(member late .error.message) == *'lease is lost'* ]]
	is route "$(redirect)" ''
	is phase "$(phase)" failed
	invariants
	# Nobody stands in the way of the next one.
	begun_on_a
	exits 0 on a hf-commit <brief
}

@test "four machines, one session that all can see: one successor" {
	claude_session
	hf-metrics "$SRC" | hf-state join | hf-trigger --manual >trigger
	local m i pids=''
	for m in a b c d; do
		for i in 1 2 3; do
			(
				s=0
				HANDOFF_HOST=$m HANDOFF_HOME=$OWN/$m attempt "$m$i" ||
				    s=$?
				echo "$s" >"status$m$i"
			) 3>&- &
			pids="$pids $!"
		done
	done
	for i in $pids; do
		wait "$i"
	done
	is statuses "$(cat status* | sort | uniq -c | awk '{ print $2, $1 }')" \
	    $'0 1\n75 11'
	[ -n "$(redirect)" ]
	is successors "$(successors | wc -l)" 1
	is records "$(records)" 1
}

# told NAME EVENT: what the model of the session $to is given on that machine.
told() {
	jq -nc --arg id "$to" --arg path "$STORE/$to.jsonl" --arg cwd "$WORK" \
	    --arg e "$2" '{session_id: $id, transcript_path: $path, cwd: $cwd,
	    hook_event_name: $e, prompt: "go on"}' >event
	on "$1" handoff hook claude <event |
	    jq -r '.hookSpecificOutput.additionalContext // empty'
}

@test "a message sent on one machine is handed over on the other, once" {
	on_a
	begun_on_a
	on a hf-commit <brief >committed
	local to i
	to=$(member committed .commit.target.id)
	jq -nc --arg to "$ID" '{message: {id: "m1", to: $to,
	    text: "words from afar"}}' >message
	exits 0 on b hf-route <message
	is state "$(printf '%s' "$output" | jq -r .route.to)" "$to"
	# Sent again, from both.
	exits 0 on b hf-route <message
	exits 0 on a hf-route <message
	told a SessionStart >first
	is told "$(grep -c 'words from afar' first)" 1
	for i in SessionStart UserPromptSubmit; do
		is again "$(told a "$i")" ''
	done
	exits 0 on b hf-route <message
	is later "$(told a UserPromptSubmit)" ''
}

# ---- the network ----

# through MODE: from now on all goes through a proxy that does this.
through() {
	if [ -z "${PROXY-}" ]; then
		echo pass >mode
		"$HF_HELPER/proxy" "$HF_ETCD" mode >port 3>&- &
		PIDS="$PIDS $!"
		PROXY=$!
		local i=0
		until [ -s port ]; do
			i=$((i + 1))
			[ "$i" -lt 100 ]
			sleep 0.05
		done
	fi
	echo "$1" >mode.new
	mv mode.new mode
	HANDOFF_STORE=etcd://127.0.0.1:$(cat port)/t$BATS_TEST_NUMBER.$2
}

# A whole handoff; the connection that it loses is its network's only fault.
whole() {
	hf-metrics "$SRC" | hf-state join | hf-trigger --manual >trigger &&
	    hf-commit begin <trigger >begun && with_brief <begun >brief &&
	    hf-commit <brief >committed
}

# Each answer in turn is lost: what was asked for has been done already.
@test "an answer that is lost: asked for again, and done once" {
	local n
	for n in 1 3 5 7 9 11 13 15 17 19; do
		rm -rf "$HOME"
		claude_session
		through pass "$n"
		hf-metrics "$SRC" | hf-state join | hf-trigger --manual >trigger
		hf-commit begin <trigger >begun && with_brief <begun >brief
		through "lose $n" "$n"
		hf-commit <brief >committed || { fail "at answer $n"; return 1; }
		through pass "$n"
		is phase "$(phase)" started
		invariants || { fail "at answer $n"; return 1; }
	done
}

@test "a begin whose answers or questions are lost" {
	local n how
	for how in lose cut; do
		for n in 1 2 4 6 8; do
			rm -rf "$HOME"
			claude_session
			through pass "$how$n"
			hf-metrics "$SRC" | hf-state join |
			    hf-trigger --manual >trigger
			through "$how $n" "$how$n"
			hf-commit begin <trigger >begun ||
			    { fail "$how $n"; return 1; }
			through pass "$how$n"
			is records "$(records)" 1
			is phase "$(phase)" summarizing
		done
	done
}

@test "a slow network: slower, no different" {
	claude_session
	through 'slow 20' x
	whole
	invariants
	is phase "$(phase)" started
}

@test "without etcd: 75, nothing is changed; it resumes by itself" {
	claude_session
	whole
	local was
	was=$(redirect)
	export HANDOFF_STORE=etcd://127.0.0.1:$("$HF_HELPER/ports" 1)/x
	exits 75 hf-route resolve "$ID"
	[[ $stderr == *'the store does not answer'* ]]
	untouched
	export HANDOFF_STORE=etcd://127.0.0.1:$HF_ETCD/t$BATS_TEST_NUMBER
	exits 0 hf-route resolve "$ID"
	is end "$output" "$was"
}

@test "several endpoints: those that are down are passed over" {
	local a b
	read -r a b <<<"$("$HF_HELPER/ports" 2)"
	export HANDOFF_STORE=etcd://127.0.0.1:$a,127.0.0.1:$b,127.0.0.1:$HF_ETCD/x
	exits 0 hf-route add old new
	exits 0 hf-route resolve old
	is end "$output" new
}

@test "the helper is killed in the middle: 75, recover clears it up" {
	claude_session
	hf-metrics "$SRC" | hf-state join | hf-trigger --manual >trigger
	hf-commit begin <trigger >begun && with_brief <begun >brief
	HANDOFF_STOP_AT=commit.redirect "$HF_FAULT_BIN/hf-commit" <brief \
	    >late 2>err 3>&- &
	local pid=$! status=0
	PIDS=$pid
	stopped "$pid"
	kill -9 "$(pgrep -P "$pid" hf-store)"
	kill -CONT "$pid"
	wait "$pid" || status=$?
	is status "$status" 75
	[[ $(cat late err) == *'has ended'* ]]
	exits 0 hf-commit recover
	is phase "$(phase)" failed
	is open "$(open_attempts)" ''
	invariants
	whole
	invariants
}

# ---- access ----

# certificates: a CA, one for the server, one for a machine; all in ./tls.
certificates() {
	local n
	mkdir tls
	openssl req -x509 -newkey rsa:2048 -nodes -keyout tls/ca.key \
	    -out tls/ca.pem -subj /CN=ca -days 2
	for n in server machine; do
		openssl req -newkey rsa:2048 -nodes -keyout "tls/$n.key" \
		    -out "tls/$n.csr" -subj "/CN=$n"
		openssl x509 -req -in "tls/$n.csr" -CA tls/ca.pem -days 2 \
		    -CAkey tls/ca.key -CAcreateserial -out "tls/$n.pem" \
		    -extfile <(echo 'subjectAltName=IP:127.0.0.1')
	done
} >/dev/null 2>&1

@test "TLS with certificates of both sides; without one it is refused" {
	certificates
	local peer
	read -r ETCD_PORT peer <<<"$("$HF_HELPER/ports" 2)"
	export ETCD_DIR=$PWD ETCD_PIDS=
	etcd_run tls "$ETCD_PORT" "$peer" https \
	    --initial-cluster "tls=http://127.0.0.1:$peer" \
	    --cert-file tls/server.pem --key-file tls/server.key \
	    --client-cert-auth --trusted-ca-file tls/ca.pem
	# shellcheck disable=SC2153 # etcd_run sets it
	PIDS=$ETCD_PID
	configure "{\"store\":\"etcds://127.0.0.1:$ETCD_PORT/x\",
	    \"etcd\":{\"caFile\":\"$PWD/tls/ca.pem\",
	    \"certFile\":\"$PWD/tls/machine.pem\",
	    \"keyFile\":\"$PWD/tls/machine.key\"}}"
	unset HANDOFF_STORE
	etcd_ready "$ETCD_PORT" etcds
	claude_session
	exits 0 hf-route add old new
	exits 0 hf-route resolve old
	is end "$output" new
	configure "{\"store\":\"etcds://127.0.0.1:$ETCD_PORT/x\",
	    \"etcd\":{\"certFile\":\"$PWD/tls/machine.pem\",
	    \"keyFile\":\"$PWD/tls/machine.key\"}}"
	exits 69 hf-route resolve old
	configure "{\"store\":\"etcds://127.0.0.1:$ETCD_PORT/x\",
	    \"etcd\":{\"caFile\":\"$PWD/tls/ca.pem\",
	    \"certFile\":\"/nowhere\"}}"
	exits 78 hf-route resolve old
}

@test "a user and a password: from a variable or a command, asked for again" {
	local peer p
	read -r ETCD_PORT peer <<<"$("$HF_HELPER/ports" 2)"
	export ETCD_DIR=$PWD ETCD_PIDS=
	etcd_run auth "$ETCD_PORT" "$peer" http \
	    --initial-cluster "auth=http://127.0.0.1:$peer"
	# shellcheck disable=SC2153 # etcd_run sets it
	PIDS=$ETCD_PID
	etcd_ready "$ETCD_PORT"
	p=$ETCD_PORT
	gateway "$p" /v3/auth/user/add '{"name":"root","password":"pass \"wort\""}'
	gateway "$p" /v3/auth/role/add '{"name":"root"}'
	gateway "$p" /v3/auth/user/grant '{"user":"root","role":"root"}'
	gateway "$p" /v3/auth/enable '{}'
	export HANDOFF_STORE=etcd://127.0.0.1:$p/x
	exits 78 hf-route add old new
	[[ $stderr == *'asks for a user'* ]]
	export HANDOFF_ETCD_USER=root HANDOFF_ETCD_PASSWORD_ENV=ETCD_WORD
	exits 78 hf-route add old new
	[[ $stderr == *'no password'* ]]
	export ETCD_WORD=wrong
	exits 69 hf-route add old new
	[[ $stderr == *'declines the user or the password'* ]]
	[[ $stderr != *wrong* ]]
	export ETCD_WORD='pass "wort"'
	exits 0 hf-route add old new
	unset ETCD_WORD
	configure '{"etcd":{"passwordCommand":["printf","pass \"wort\"\\n"]}}'
	exits 0 hf-route resolve old
	is end "$output" new
	# The token is no longer one in the middle of the program's life.
	# shellcheck disable=SC2094 # the loop waits for an answer
	{
		echo "{\"id\":1,\"op\":\"open\",\"v\":1,\"url\":\"$HANDOFF_STORE\"}"
		echo '{"id":2,"op":"get","key":"mains/any.old"}'
		i=0
		until grep -q '"id":2' answers; do
			i=$((i + 1))
			[ "$i" -lt 200 ] || break
			sleep 0.05
		done
		token=$(gateway "$p" /v3/auth/authenticate \
		    '{"name":"root","password":"pass \"wort\""}' | jq -r .token)
		gateway "$p" /v3/auth/user/changepw \
		    '{"name":"root","password":"pass \"wort\""}' "$token" >&2
		echo '{"id":3,"op":"get","key":"mains/any.old"}'
	} 3>&- | hf-store-etcd >answers
	is third "$(jq -c 'select(.id == 3) | .error' answers)" null
	# Never without TLS to another machine.
	HANDOFF_STORE=etcd://192.0.2.1/x exits 78 hf-route resolve old
	[[ $stderr == *'no password without TLS'* ]]
}

# ---- limits ----

@test "a value beyond what etcd takes: 69, and why" {
	local v
	v=$(head -c 1600000 /dev/zero | tr '\0' x)
	is code "$(request create "\"key\":\"records/x\",\"value\":\"$v\"" |
	    jq -r '.error.code + " " + .error.message')" \
	    "overflow 'records/x' has 1600000 bytes: this is more than etcd takes in one request (its --max-request-bytes)"
}
