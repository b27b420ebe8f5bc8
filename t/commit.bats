#!/usr/bin/env bats
# hf-commit: begin, the transaction, fail, show. What happens when it is
# killed is tested by crash.bats.

load helper/common
load helper/state

@test "a brief that would fill half of what its successor may hold is refused" {
	claude_session
	configure '{"handoffTokens":8000}'
	begun
	jq -c --argjson brief "$BRIEF" '.brief = $brief |
	    .brief.pending = ["word " * 4000]' <begun >huge
	exits 69 hf-commit <huge
	is code "$(jq -r .error.code <<<"$output")" overflow
	is phase "$(phase)" failed
	invariants
	configure '{}'
	begun
	jq -c --argjson brief "$BRIEF" '.brief = $brief |
	    .brief.pending = ["word " * 4000]' <begun | hf-commit >/dev/null
	is phase "$(phase)" started
}

@test "show: what the check moved says so; --score has its figures" {
	claude_session
	begun
	with_brief <begun | jq -c '.validation = {grounded: 0.5,
	    ungrounded: ["ghost.c"], moved: ["not in the transcript: ghost.c"],
	    constraints: {found: 2, kept: 1, lost: ["x"]},
	    artifacts: {written: 3, listed: 3, invented: ["ghost.c"]},
	    characters: 900, tokens: 200} |
	    .brief.uncertainties = ["not in the transcript: ghost.c", "y"]' |
	    hf-commit >committed
	exits 0 hf-commit show "$ID"
	[[ $output == *'- (moved here by the check) not in the transcript: ghost.c'* ]]
	[[ $output == *$'\n- y'* ]]
	exits 0 hf-commit show --score "$ID"
	is score "$output" "grounded     0.5; not found: ghost.c
constraints  2 found, 1 kept, 1 lost
artifacts    3 written, 3 listed, 1 invented
moved        1
size         900 characters, 200 tokens"
	is json "$(hf-commit show --score --json "$ID" | jq .grounded)" 0.5
	run ! grep -q 'moved here' "$(successors)"
}

@test "begin marks the attempt, in the main, the record and the document" {
	claude_session
	begun
	local a
	a=$(member begun .commit.attempt)
	is phase "$(member begun .commit.phase)" summarizing
	is record "$(member "$HANDOFF_HOME/records/$a.json" .phase)" \
	    summarizing
	[ -f "$HANDOFF_HOME/open/$a" ]
	is attempt "$(member "$HANDOFF_HOME/mains/claude.$ID.json" .attempt)" \
	    "$a"
	is epoch "$(member begun .commit.epoch)" 1
	is seq "$(member "$HANDOFF_HOME/records/$a.json" \
	    .sourceRevision.seq)" "$(member metrics .metrics.revision.seq)"
	is agent "$(member begun .commit.target.agent)" claude
	# Nothing is there yet.
	is successors "$(successors)" ''
}

@test "a handoff: one successor, its brief, its route, its main" {
	claude_session
	hf-state enable "$ID"
	briefed
	hf-commit <brief >committed
	is phase "$(member committed .commit.phase)" started
	is record "$(phase)" started
	invariants
	is resolve "$(hf-route resolve "$ID")" "$(redirect)"
	local m
	m=$HANDOFF_HOME/mains/claude.$(redirect).json
	is enabled "$(member "$m" .enabled)" true
	is from "$(member "$m" .inheritedFrom.id)" "$ID"
	is open "$(ls "$HANDOFF_HOME/open")" ''
	[ "$(stat -c %a "$(successors)")" = 600 ]
	exits 0 hf-commit show "$ID"
	[[ $output == *'Document the parser in README.md'* ]]
	exits 0 hf-commit show "$(redirect)"
	exits 0 hf-commit show "$(member committed .commit.attempt)"
	exits 0 hf-commit show "${ID:0:13}"
	exits 0 hf-commit show --json "$ID"
	is goal "$(printf '%s' "$output" | jq -r .goal)" \
	    'Document the parser in README.md'
}

@test "pi: the same" {
	pi_session
	briefed
	hf-commit <brief >committed
	invariants
	[ -n "$(redirect)" ]
}

@test "without begin: one go, guarded by the document's revision" {
	claude_session
	hf-metrics "$SRC" | with_brief >plain
	more
	exits 75 hf-commit <plain
	is code "$(printf '%s' "$output" | jq -r .error.code)" changed
	is successors "$(successors)" ''
	claude_session
	hf-metrics "$SRC" | with_brief | hf-commit >committed
	is phase "$(member committed .commit.phase)" started
	invariants
}

@test "in one go: a session in the middle of a turn is not handed off" {
	claude_session
	claude_prompt e d >>"$SRC"
	touch "$SRC"
	exits 75 hf-commit < <(hf-metrics "$SRC" | with_brief)
	is code "$(printf '%s' "$output" | jq -r .error.code)" busy
	[ ! -d "$HANDOFF_HOME/records" ]
}

@test "the same brief again is the same success, another one a conflict" {
	claude_session
	briefed
	hf-commit <brief >one
	local new
	new=$(successors)
	cp "$new" "$TMPDIR/new"
	hf-commit <brief >two
	is commit "$(member two .commit.target.id)" \
	    "$(member one .commit.target.id)"
	jq -c '.brief.goal = "Another"' <brief >other
	exits 69 hf-commit <other
	is code "$(printf '%s' "$output" | jq -r .error.code)" conflict
	is successors "$(successors)" "$new"
	cmp "$new" "$TMPDIR/new"
}

@test "the source went on: failed, nothing is left" {
	claude_session
	briefed
	more
	exits 75 hf-commit <brief
	is code "$(printf '%s' "$output" | jq -r .error.code)" changed
	is phase "$(phase)" failed
	is route "$(redirect)" ''
	is successors "$(successors)" ''
	is open "$(ls "$HANDOFF_HOME/open")" ''
	# The same document again fails for good.
	exits 75 hf-commit <brief
	# A new attempt is free to begin.
	begun
}

@test "housekeeping rows are no change; a source that has gone is" {
	claude_session
	briefed
	printf '{"type":"summary","summary":"x","leafUuid":"d"}\n' >>"$SRC"
	printf '{"type":"mode","mode":"normal","sessionId":"%s"}\n' "$ID" \
	    >>"$SRC"
	remember
	hf-commit <brief >committed
	invariants
	claude_session c0dec0de-0000-4a5e-8bad-000000000002
	briefed
	rm "$SRC"
	exits 75 hf-commit <brief
	[ ! -e "$SRC" ]
}

@test "disable gives up what is under way, by hand or not" {
	claude_session
	briefed
	hf-state disable "$ID"
	exits 75 hf-commit <brief
	is code "$(printf '%s' "$output" | jq -r .error.code)" changed
	is phase "$(phase)" failed
	is successors "$(successors)" ''
	configure '{"autoHandoff":true,"handoffMinTurns":2,"handoffTokens":8000}'
	hf-state enable "$ID"
	briefed --auto
	configure '{"handoffMinTurns":2,"handoffTokens":8000}'
	exits 75 hf-commit <brief
	is code "$(printf '%s' "$output" | jq -r .error.code)" changed
}

@test "a handoff that nobody asked for needs both switches at begin" {
	claude_session
	configure '{"handoffMinTurns":2,"handoffTokens":8000}'
	hf-metrics "$SRC" | hf-state join | hf-trigger >due
	is reason "$(member due .trigger.reason)" context-pressure
	exits 69 hf-commit begin <due
	[ ! -d "$HANDOFF_HOME/records" ]
}

@test "a second attempt is busy while one is under way" {
	claude_session
	begun
	exits 75 hf-commit begin <trigger
	is code "$(printf '%s' "$output" | jq -r .error.code)" busy
	is records "$(records)" 1
	exits 75 hf-trigger --manual < <(hf-state join <metrics)
	is blockers "$(printf '%s' "$output" | jq -c .trigger.blockers)" \
	    '["attempt-in-progress"]'
}

@test "whose owner has died is taken over, and comes too late" {
	claude_session
	sleep 60 3>&- &
	local owner=$!
	HANDOFF_OWNER=$owner begun
	cp begun first
	exits 75 hf-commit begin <trigger
	kill -9 "$owner"
	wait "$owner" || true
	hf-commit begin <trigger >second
	is epoch "$(member second .commit.epoch)" 2
	with_brief <first >brief
	exits 75 hf-commit <brief
	is code "$(printf '%s' "$output" | jq -r .error.code)" changed
	with_brief <second >brief
	hf-commit <brief >committed
	is resolve "$(hf-route resolve "$ID")" \
	    "$(member second .commit.target.id)"
	invariants
}

@test "an error on the way is recorded, its attempt is over" {
	claude_session
	begun
	jq -c '.error = {stage:"hf-summarize",code:"timeout",
	    message:"no answer",retry:true}' <begun >failed
	exits 75 hf-commit <failed
	is same "$output" "$(cat failed)"
	is phase "$(phase)" failed
	is why "$(cat "$HANDOFF_HOME"/records/* | jq -r .error.message)" \
	    'no answer'
	is failures "$(cat "$HANDOFF_HOME"/mains/* | jq .failures)" 1
	is open "$(ls "$HANDOFF_HOME/open")" ''
	# By itself it waits now, by hand it does not.
	hf-state join <metrics >main
	is blockers "$(member main '.main.blockers | join(" ")')" cooldown
	exits 0 hf-trigger --manual <main
}

@test "fail: by the document, by the id, cancelled" {
	claude_session
	begun
	exits 75 hf-commit fail --cancelled <begun
	is code "$(printf '%s' "$output" | jq -r .error.code)" cancelled
	is phase "$(phase)" failed
	is failures "$(cat "$HANDOFF_HOME"/mains/* | jq .failures)" 0
	begun
	hf-commit fail --message 'no power' "$(member begun .commit.attempt)"
	is phase "$(phase)" failed
	exits 0 hf-commit fail "$(member begun .commit.attempt)"
	exits 1 hf-commit fail handoff-0
	briefed
	hf-commit <brief >committed
	exits 69 hf-commit fail "$(member committed .commit.attempt)"
	invariants
}

@test "what is not due passes, and is kept as deferred" {
	claude_session
	hf-state enable "$ID"
	claude_prompt e d >>"$SRC"
	touch "$SRC"
	hf-metrics "$SRC" | hf-state join >main
	exits 75 hf-trigger --manual <main
	printf '%s\n' "$output" >trigger
	exits 75 hf-commit begin <trigger
	is same "$output" "$(cat trigger)"
	is deferred "$(cat "$HANDOFF_HOME"/mains/* | jq -c .deferred)" \
	    '["busy","activity:turn"]'
	# Not for one that nobody registered.
	rm -r "$HANDOFF_HOME"
	exits 75 hf-commit begin <trigger
	[ ! -e "$HANDOFF_HOME" ]
}

@test "no brief, no session, no such agent: one line, nothing written" {
	claude_session
	exits 65 hf-commit <<<'{"v":1,"trigger":{"due":true}}'
	is code "$(printf '%s' "$output" | jq -r .error.code)" missing
	exits 65 hf-commit < <(with_brief <<<'{"v":1}')
	is code "$(printf '%s' "$output" | jq -r .error.code)" missing
	exits 65 hf-commit begin <<<'{"v":1}'
	hf-metrics "$SRC" | hf-trigger --manual >trigger
	exits 64 hf-commit begin --to nobody <trigger
	[ ! -e "$HANDOFF_HOME/records" ] ||
	    is records "$(ls "$HANDOFF_HOME/records")" ''
	exits 1 hf-commit </dev/null
	exits 64 hf-commit frobnicate
	exits 64 hf-commit show
	exits 1 hf-commit show nobody
	exits 64 hf-commit begin operand
}

@test "a name that is taken is left alone, whoever took it and when" {
	claude_session
	briefed
	local path
	path=$(member begun .commit.target.path)
	echo foreign >"$path"
	hf-commit <brief >committed
	is foreign "$(cat "$path")" foreign
	rm "$path"
	[ "$(member committed .commit.target.path)" != "$path" ]
	invariants
	# A symbolic link is not followed either.
	pi_session
	briefed
	path=$(member begun .commit.target.path)
	ln -s "$TMPDIR/elsewhere" "$path"
	hf-commit <brief >committed
	[ ! -e "$TMPDIR/elsewhere" ]
	rm "$path"
	invariants
}

@test "before-switch: no is 77, and leaves nothing" {
	claude_session
	hook before-switch <<<'cat >"$HOME/seen"; echo "not today" >&2; exit 3'
	briefed
	exits 77 hf-commit <brief
	[[ $(printf '%s' "$output" | jq -r .error.message) == \
	    *'status 3): not today' ]]
	is session "$(member "$HOME/seen" .session.id)" "$ID"
	is phase "$(phase)" failed
	invariants
	is route "$(redirect)" ''
	# Where the summary is paid for, it is asked before.
	configure '{"summarize":{"provider":"command","command":["true"]}}'
	exits 77 hf-commit begin <trigger
	invariants
	is open "$(ls "$HANDOFF_HOME/open")" ''
}

@test "a hook that others may write is not run, and nothing is handed off" {
	claude_session
	hook before-switch <<<'exit 0'
	chmod 775 "$XDG_CONFIG_HOME/handoff/hooks/before-switch"
	briefed
	exits 78 hf-commit <brief
	invariants
	is route "$(redirect)" ''
}

@test "blockers: what the hook prints blocks; one that fails does too" {
	claude_session
	hook blockers <<<'echo deploy-running; echo; echo "b  "'
	hf-metrics "$SRC" | hf-state join >main
	is blockers "$(member main '.main.blockers | join(",")')" \
	    'deploy-running,b'
	exits 75 hf-trigger --manual <main
	hook blockers <<<'exit 1'
	hf-metrics "$SRC" | hf-state join >main
	is blockers "$(member main '.main.blockers | join(",")')" \
	    blockers-hook-failed
	# It may come to be while the summary is written.
	rm "$XDG_CONFIG_HOME/handoff/hooks/blockers"
	briefed
	hook blockers <<<'echo deploy-running'
	exits 75 hf-commit <brief
	invariants
	is route "$(redirect)" ''
}

@test "hooks see a clean environment" {
	claude_session
	hook before-switch <<<'cat >/dev/null; env >"$HOME/env"'
	briefed
	CLAUDECODE=1 SECRET=x HANDOFF_X=y hf-commit <brief >committed
	run grep -c -e SECRET -e CLAUDECODE "$HOME/env"
	is 'what must not be there' "$output" 0
	grep -q '^HANDOFF_X=y$' "$HOME/env"
}

@test "start: pending when it fails, and recover starts it once more" {
	claude_session
	hook start <<<'exit 1'
	briefed
	exits 0 hf-commit <brief
	[[ $stderr == *'was not started'* ]]
	is phase "$(printf '%s' "$output" | jq -r .commit.phase)" \
	    committed-start-pending
	is record "$(phase)" committed-start-pending
	invariants
	exits 75 hf-commit recover
	is record "$(phase)" committed-start-pending
	hook start <<<'cat >"$HOME/started"'
	exits 0 hf-commit recover
	is record "$(phase)" started
	is who "$(member "$HOME/started" .commit.target.id)" "$(redirect)"
	rm "$HOME/started"
	exits 0 hf-commit recover
	is silent "$output$stderr" ''
	[ ! -e "$HOME/started" ]
	invariants
}

@test "start: an argv with the successor put in, in its folder" {
	claude_session
	configure '{"start":["sh","-c","pwd; echo \"$@\" >\"$HOME/args\"; pwd >\"$HOME/pwd\"","x","{agent}","{id}","{path}"]}'
	briefed
	hf-commit <brief >committed
	is arguments "$(cat "$HOME/args")" \
	    "claude $(redirect) $(member committed .commit.target.path)"
	is folder "$(cat "$HOME/pwd")" "$WORK"
	# Its output does not mix with the documents.
	is documents "$(wc -l <committed)" 1
}

@test "recover leaves alone what is under way" {
	claude_session
	briefed
	exits 0 hf-commit recover
	is silent "$output$stderr" ''
	is phase "$(phase)" summarizing
	hf-commit <brief >committed
	invariants
}

@test "the title's suffix: one row, the file's times as they were" {
	claude_session
	configure '{"titleSuffix":" · next {id6}"}'
	briefed
	local before
	before=$(stat -c %y "$SRC")
	hf-commit <brief >committed
	is times "$(stat -c %y "$SRC")" "$before"
	head -c "$(stat -c %s "$TMPDIR/source")" "$SRC" |
	    cmp - "$TMPDIR/source"
	[ "$(tail -c +"$(($(stat -c %s "$TMPDIR/source") + 1))" "$SRC" |
	    wc -l)" -le 1 ]
}

@test "handoffSaveToDisk: for automatic ones, and it fails nothing" {
	claude_session
	configure '{"autoHandoff":true,"handoffMinTurns":2,
	    "handoffTokens":8000,"handoffSaveToDisk":true}'
	hf-state enable "$ID"
	briefed --auto
	hf-commit <brief >committed
	grep -q 'Document the parser' "$(member committed .commit.saved)"
	invariants
	pi_session
	hf-state enable "$ID"
	rm -r "$HANDOFF_HOME/briefs"
	: >"$HANDOFF_HOME/briefs"
	briefed --auto
	exits 0 hf-commit <brief
	[[ $stderr == *'the brief is not saved'* ]]
	rm "$HANDOFF_HOME/briefs"
	invariants
}

@test "a request is consumed by begin, with its focus and its agent" {
	claude_session
	hf-state request "$ID" --focus 'the parser' --to pi
	hf-metrics "$SRC" | hf-state join | hf-trigger --auto >trigger
	is reason "$(member trigger .trigger.reason)" manual
	hf-commit begin <trigger >begun
	is focus "$(member begun .commit.focus)" 'the parser'
	is agent "$(member begun .commit.target.agent)" pi
	is request "$(cat "$HANDOFF_HOME"/mains/* | jq -c .requested)" null
}

@test "to another agent: its transcript, its folder, no model of ours" {
	claude_session
	mkdir -p "$HOME/.pi/agent/sessions"
	hf-metrics "$SRC" | hf-state join | hf-trigger --manual |
	    hf-commit begin --to pi | with_brief | hf-commit >committed
	case $(member committed .commit.target.path) in
	"$HOME"/.pi/agent/sessions/*) ;;
	*) fail "$(member committed .commit.target.path)" ;;
	esac
	is model "$(cat "$HANDOFF_HOME"/records/* |
	    jq -c .target.model)" null
	untouched
}

@test "a stream: each document for itself" {
	claude_session
	briefed
	cp brief stream
	echo '{"v":1,"error":{"stage":"x","code":"timeout","message":"m","retry":true}}' >>stream
	echo '{"v":1,"trigger":{"due":false,"guard":null,"blockers":[]}}' \
	    >>stream
	pi_session
	briefed
	cat brief >>stream
	exits 75 hf-commit <stream
	is phases "$(printf '%s\n' "$output" |
	    jq -r '.commit.phase // "-"' | tr '\n' ' ')" \
	    'started - - started '
}

@test "a state folder that cannot be written: 74, nothing is created" {
	claude_session
	: >"$TMPDIR/file"
	export HANDOFF_HOME=$TMPDIR/file/state
	hf-metrics "$SRC" | with_brief >plain
	exits 74 hf-commit <plain
	is successors "$(successors)" ''
	untouched
}

@test "a full disk: the old state is whole, the reason is said" {
	claude_session
	briefed
	exits 74 sh -c 'trap "" XFSZ; ulimit -f 1; hf-commit' <brief
	[[ $stderr == *'File too large'* ]]
	is route "$(redirect)" ''
	invariants
	# Once there is room, it goes on.
	hf-commit <brief >committed
	invariants
}

@test "another user's session is refused" {
	[ "$(id -u)" -eq 0 ] || skip 'needs root'
	claude_session
	hf-metrics "$SRC" | hf-trigger --manual >trigger
	chown 65534 "$SRC"
	exits 69 hf-commit begin <trigger
	exits 69 hf-state enable "$ID"
	[ ! -e "$HANDOFF_HOME" ]
}

@test "events: one line a change" {
	claude_session
	briefed
	hf-commit <brief >committed
	is events "$(jq -r .event "$HANDOFF_HOME/events.jsonl" |
	    tr '\n' ' ')" 'begun committed started '
}
