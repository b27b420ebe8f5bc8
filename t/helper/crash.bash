# For tests that kill and fail a handoff at its points, beside common.bash and
# state.bash: a world of its own for each point, what must hold afterwards.
# With HF_ETCD, etcd's port, the state of each world is there, under a prefix
# of its own.

# In memory, where there is room for it: what is flushed a thousand times
# over is the order of things, not a disk.
crash_setup() {
	hf_setup
	OWN=$(mktemp -d /dev/shm/handoff-crash.XXXXXX 2>/dev/null) ||
	    OWN=$BATS_TEST_TMPDIR
}

crash_teardown() {
	local p
	# What a test started, or stopped.
	for p in ${PIDS-} ${STOPPED-}; do
		kill -9 "$p" 2>/dev/null || true
	done
	rm -rf "$OWN"
}

# A world of its own for each point.
world() {
	rm -rf "$OWN/w"
	export HOME=$OWN/w/home HANDOFF_HOME=$OWN/w/state TMPDIR=$OWN/w/tmp
	export XDG_CONFIG_HOME=$HOME/.config
	if [ -n "${HF_ETCD-}" ]; then
		export HANDOFF_STORE=etcd://127.0.0.1:$HF_ETCD/w$BASHPID.$SECONDS.$RANDOM
	fi
	mkdir -p "$HOME" "$TMPDIR" "$OWN/w/project"
	cd "$OWN/w/project" || return 1
	"$1_session"
	case $2 in
	automatic)
		configure '{"autoHandoff":true,"handoffMinTurns":2,
		    "handoffTokens":8000}'
		hf-state enable "$ID"
		;;
	esac >/dev/null
	hook start <<<'echo >>"$HOME/started"'
	hf-metrics "$SRC" | hf-state join |
	    hf-trigger "--$([ "$2" = automatic ] && echo auto || echo manual)" \
	    >trigger
}

# The steps as the driver takes them: all of them, or up to the one that
# fails. Whoever owned it is gone afterwards.
faulty_begin() {
	(
		export HANDOFF_OWNER=$BASHPID
		with_faults env "$@" hf-commit begin <trigger >begun 2>err &&
		    with_brief <begun | hf-commit >committed 2>>err
	)
}

faulty_commit() {
	(
		export HANDOFF_OWNER=$BASHPID
		hf-commit begin <trigger >begun 2>err &&
		    with_brief <begun |
		    with_faults env "$@" hf-commit >committed 2>>err
	)
}

# points STEP AGENT: NAME#N of each point that it reaches, to $OWN/points.
points() {
	world "$2" manual
	"faulty_$1" HANDOFF_STEP_LOG="$OWN/log"
	awk '{ print $1 "#" ++n[$1] }' "$OWN/log" |
	    grep -E "${3:-.}" >"$OWN/points"
	rm "$OWN/log"
	[ -s "$OWN/points" ]
}

# What the state comes to, times apart.
picture() {
	(
		cd "$OWN/w" &&
		    find . -type f -not -path './project/*' \
		    -not -name events.jsonl | sort | xargs sha256sum
	)
	[ -z "${HANDOFF_STORE-}" ] || { hf-state list; hf-state records; }
}

# After the fault: recover, twice, and the invariants each time.
settles() {
	hf-commit recover >/dev/null 2>rec || {
		cat rec >&2
		fail 'recover failed'
		return 1
	}
	invariants || return 1
	is open "$(open_attempts)" '' || return 1
	case $(phase) in
	none | failed | started) ;;
	*) fail "phase: $(phase)" || return 1 ;;
	esac
	picture >"$OWN/one"
	exits 0 hf-commit recover || return 1
	is said "$output$stderr" '' || return 1
	picture >"$OWN/two"
	cmp "$OWN/one" "$OWN/two" || fail 'a second recover changed something'
}

# The session is held up by nobody: handed off, or it can be now.
goes_on() {
	[ -z "$(redirect)" ] || return 0
	hf-commit begin <trigger >begun && with_brief <begun | hf-commit >committed
	invariants && [ -n "$(redirect)" ]
}

# campaign STEP AGENT KIND HOW...: each point of $OWN/points with the
# variable HOW, in which POINT is put in.
campaign() {
	local step=$1 agent=$2 kind=$3 how=$4 p n=0
	while IFS= read -r p; do
		world "$agent" "$kind"
		"faulty_$step" "${how//POINT/$p}" || true
		{ settles && goes_on; } || {
			fail "at $p ($how, $agent, $kind): $(cat err)"
			return 1
		}
		n=$((n + 1))
	done <"$OWN/points"
	echo "# $step, $agent, $kind, $how: $n points" >&3
}

# A recover that is killed, wherever: the next one completes it.
killed_twice() {
	local first=$1 p n=0
	world claude manual
	faulty_commit HANDOFF_CRASH_AT="$first" || true
	with_faults env HANDOFF_STEP_LOG="$OWN/log" hf-commit recover 2>rec
	awk '{ print $1 "#" ++n[$1] }' "$OWN/log" |
	    grep -E '^(commit|draft)' >"$OWN/points"
	rm "$OWN/log"
	while IFS= read -r p; do
		world claude manual
		faulty_commit HANDOFF_CRASH_AT="$first" || true
		with_faults env HANDOFF_CRASH_AT="$p" hf-commit recover \
		    2>rec || true
		{ settles && goes_on; } || {
			fail "at $first, then $p"
			return 1
		}
		n=$((n + 1))
	done <"$OWN/points"
	echo "# recover after $first: $n points" >&3
}
