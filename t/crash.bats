#!/usr/bin/env bats
# A handoff that is killed, or whose disk fails, at every point where it
# changes something: then recover, and there is one successor with a route,
# or none; and the next handoff goes through.
#
# The points are those that a run reaches, so that a new one is tested as
# soon as it is there; one that no run reaches is a failure.

load helper/common
load helper/state
load helper/crash

setup() {
	crash_setup
}

teardown() {
	crash_teardown
}

# ---- t/helper/campaign.c says what each scenario is -----------------------

SCENARIOS='begin commit undo back forth rename switch'

# siege AGENT KIND FAULT [OPTION...]: each point of each scenario.
siege() {
	local agent=$1 kind=$2 fault=$3 s n sum=0
	shift 3
	for s in $SCENARIOS; do
		n=$("$HF_HELPER/campaign" -r "$BATS_FILE_TMPDIR/reached" \
		    "$@" "$OWN/c" "$agent" "$kind" "$fault" "$s") || return 1
		sum=$((sum + ${n% points}))
	done
	echo "# $agent, $kind, $fault: $sum points" >&3
}

# What a person, and then what cron starts, of one agent; under ASan, which
# is slow, with one fault each.
sieges() {
	if [ "$HF_VARIANT" != release ]; then
		siege "$1" manual "$2" -x file
		return
	fi
	local kind fault
	for kind in manual automatic; do
		for fault in KILL ENOSPC EIO; do
			siege "$1" "$kind" "$fault" -x file || return 1
		done
	done
}

@test "claude: killed, no space, a bad disk, at each point" {
	sieges claude KILL
}

@test "pi: killed, no space, a bad disk, at each point" {
	sieges pi ENOSPC
}

@test "codex: killed, no space, a bad disk, at each point" {
	sieges codex EIO
}

# bats test_tags=slow
@test "killed, no space, a bad disk, at each single call on a file" {
	local fault
	for fault in KILL ENOSPC EIO; do
		siege claude manual "$fault" -p file
	done
}

@test "there is no fault point that the campaign does not come by" {
	sort -u "$BATS_FILE_TMPDIR/reached" >"$OWN/reached"
	# Those of the inboxes are its own tests'.
	grep -rhoE 'hf_(attempt_)?step\("(commit|draft|file)[^"]+"' \
	    "$HF_ROOT/lib" |
	    sed 's/.*"\(.*\)"/\1/' | sort -u >"$OWN/points"
	if [ "$HF_VARIANT" != release ]; then
		sed -i '/^file/d' "$OWN/points"
	fi
	diff "$OWN/points" "$OWN/reached"
	echo "# $(wc -l <"$OWN/points") fault points, all reached" >&3
}

# ---- what happens meanwhile ----------------------------------------------

@test "publishing fails for now: the brief is kept, recover completes it" {
	world claude manual
	faulty_commit HANDOFF_FAIL_AT=commit.publish:ENOSPC || true
	is phase "$(phase)" committed
	[ -n "$(redirect)" ]
	exits 0 hf-commit show "$ID"
	[[ $output == *'Document the parser'* ]]
	exits 0 hf-state status
	[[ $output == *'handoff recover'* ]]
	# The folder has gone in the meantime, draft and all.
	rm -r "$STORE"
	exits 0 hf-commit recover
	claude_session
	settles
}

@test "the name is taken between the redirect and the publishing" {
	world claude manual
	faulty_commit HANDOFF_CRASH_AT=commit.publish || true
	local to
	to=$(redirect)
	echo foreign >"$STORE/$to.jsonl"
	exits 0 hf-commit recover
	is foreign "$(cat "$STORE/$to.jsonl")" foreign
	rm "$STORE/$to.jsonl"
	[ "$(redirect)" != "$to" ]
	settles
}

@test "the successor is in use by the time of the recovery" {
	world claude manual
	faulty_commit HANDOFF_CRASH_AT=commit.published || true
	local new
	new=$STORE/$(redirect).jsonl
	echo '{"type":"mode","mode":"normal"}' >>"$new"
	cp "$new" "$OWN/new"
	exits 0 hf-commit recover
	cmp "$new" "$OWN/new"
	settles
}

@test "an owner that was stopped loses to the next epoch" {
	world claude manual
	hf-commit begin <trigger >begun
	with_brief <begun >brief
	HANDOFF_STOP_AT=commit.redirect "$HF_FAULT_BIN/hf-commit" <brief \
	    >late 2>err 3>&- &
	local pid=$! i=0 m=$HANDOFF_HOME/mains/claude.$ID.json
	export STOPPED=$pid
	until grep -q '^State:.T' "/proc/$pid/status"; do
		i=$((i + 1))
		[ "$i" -lt 300 ] || fail 'it does not stop'
		sleep 0.1
	done
	# It is alive: left alone.
	exits 0 hf-commit recover
	exits 75 hf-commit begin <trigger
	# Its time is over.
	jq -c '.lease.deadline = 1' <"$m" >x && cp x "$m"
	hf-commit begin <trigger >begun
	with_brief <begun | hf-commit >committed
	kill -CONT "$pid"
	local status=0
	wait "$pid" || status=$?
	is 'the late one' "$status" 75
	is why "$(member late .error.code)" changed
	is end "$(redirect)" "$(member committed .commit.target.id)"
	settles
}

@test "one that was stopped in the critical section costs the others 75" {
	world claude manual
	hf-state enable "$ID" >/dev/null
	HANDOFF_STOP_AT=file.rename "$HF_FAULT_BIN/hf-state" disable "$ID" \
	    >late 2>err 3>&- &
	local pid=$! i=0
	STOPPED=$pid
	until grep -q '^State:.T' "/proc/$pid/status"; do
		i=$((i + 1))
		[ "$i" -lt 300 ] || fail 'it does not stop'
		sleep 0.1
	done
	# Reading needs no lock, and another session is not held up.
	exits 0 hf-state status
	hf-route add one two
	exits 75 hf-commit begin <trigger
	is why "$(printf '%s' "$output" | jq -r .error.code)" locked
	kill -CONT "$pid"
	wait "$pid"
	hf-commit begin <trigger >begun
	with_brief <begun | hf-commit >committed
	settles
	[ -n "$(redirect)" ]
}

@test "another boot of this machine: its attempts are dead" {
	world claude manual
	hf-commit begin <trigger >begun
	local m=$HANDOFF_HOME/mains/claude.$ID.json
	exits 0 hf-commit recover
	is phase "$(phase)" summarizing
	jq -c '.lease.boot = "before"' <"$m" >x && cp x "$m"
	exits 0 hf-commit recover
	is phase "$(phase)" failed
	settles
	# Another machine's are never touched.
	hf-commit begin <trigger >begun
	jq -c '.lease.boot = "b" | .lease.host = "elsewhere"' <"$m" >x &&
	    cp x "$m"
	exits 0 hf-commit recover
	is phase "$(phase)" summarizing
	exits 75 hf-commit begin <trigger
	[[ $(printf '%s' "$output" | jq -r .error.message) == *elsewhere* ]]
	# A person can.
	hf-state disable "$ID"
	hf-commit begin <trigger >begun
}

@test "the order on the disk: brief and draft before the redirect, the name after" {
	world claude manual
	hf-commit begin <trigger >begun
	with_brief <begun >brief
	traced -e trace=openat,fsync,rename,renameat,renameat2,linkat \
	    hf-commit <brief >committed
	# Each: its number in the trace.
	at() {
		grep -n -E "$1" "$TMPDIR/trace" | head -n "${2:-1}" |
		    tail -n 1 | cut -d: -f1
	}
	local draft prepared main name
	draft=$(at 'openat.*"\.handoff-.*O_CREAT')
	prepared=$(at 'rename.*"\.handoff-[^"]*\.json\.[^"]*tmp"')
	main=$(at "rename.*\"\\.claude\\.$ID" 2)
	name=$(at "(rename|linkat).*\\.handoff-handoff-")
	[ "$draft" -lt "$prepared" ]
	[ "$prepared" -lt "$main" ]
	[ "$main" -lt "$name" ]
	# The draft, its folder and the record are flushed before that one has
	# its name; its folder and the main before the redirect is there; the
	# mains' folder before the successor has its name.
	flushed() {
		[ "$(sed -n "$1,$2p" "$TMPDIR/trace" | grep -c fsync)" -ge "$3" ]
	}
	flushed "$draft" "$prepared" 3
	flushed "$prepared" "$main" 2
	flushed "$main" "$name" 1
}
