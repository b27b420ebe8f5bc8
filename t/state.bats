#!/usr/bin/env bats
# hf-state: join, switches, lists, status, export and import, pruning, and
# the folder that it all stands in.

load helper/common
load helper/state

@test "join: a session that nobody registered, and one that is" {
	claude_session
	exits 0 hf-state join < <(hf-metrics "$SRC")
	is registered "$(printf '%s' "$output" | jq .main.registered)" false
	is epoch "$(printf '%s' "$output" | jq .main.epoch)" 0
	# Reading makes no state.
	[ ! -e "$HANDOFF_HOME" ]
	hf-state enable "$ID"
	exits 0 hf-state join < <(hf-metrics "$SRC")
	is registered "$(printf '%s' "$output" | jq .main.registered)" true
	is members "$(printf '%s' "$output" | jq -c '.main | keys')" \
	    '["agent","attempt","blockers","cursor","cwd","deferred","enabled","epoch","failures","host","id","inheritedFrom","lastAttemptSeq","lease","path","redirect","registered","requested","retryAt","user"]'
	exits 65 hf-state join <<<'{"v":1}'
	is code "$(printf '%s' "$output" | jq -r .error.code)" missing
}

@test "a session not registered is guarded in automatic runs" {
	claude_session
	configure '{"autoHandoff":true,"handoffMinTurns":2,"handoffTokens":8000}'
	exits 1 hf-trigger --auto < <(hf-metrics "$SRC" | hf-state join)
	is guard "$(printf '%s' "$output" | jq -r .trigger.guard)" \
	    not-registered
}

@test "enable, disable: by id, prefix, path; said in one line" {
	claude_session
	exits 0 hf-state enable "$ID"
	[[ ${lines[0]} == \
	    "Claude Code session $ID: automatic handoff is on" ]]
	[[ ${lines[1]} == *'autoHandoff true'* ]]
	local m=$HANDOFF_HOME/mains/claude.$ID.json
	is enabled "$(member "$m" .enabled)" true
	is path "$(member "$m" .path)" "$SRC"
	is cwd "$(member "$m" .cwd)" "$WORK"
	hf-state disable "${ID:0:13}"
	is enabled "$(member "$m" .enabled)" false
	hf-state enable "$SRC"
	is enabled "$(member "$m" .enabled)" true
	exits 1 hf-state enable nobody-at-all
	# Its transcript gone, the session can still be switched off.
	rm "$SRC"
	hf-state disable "${ID:0:13}"
	is enabled "$(member "$m" .enabled)" false
}

@test "disable says that routing stays" {
	claude_session
	hf-state enable "$ID"
	briefed
	hf-commit <brief >committed
	exits 0 hf-state disable "$ID"
	[[ $output == *"still forwarded to $(redirect)"* ]]
	is end "$(hf-route resolve "$ID")" "$(redirect)"
	exits 69 hf-state enable "$ID"
	exits 69 hf-state request "$ID"
}

@test "a request expires, is replaced, is cancelled" {
	claude_session
	hf-state request "$ID" --focus one --until 1
	hf-state request "$ID" --focus two --until 2099-01-01T00:00:00Z
	local m=$HANDOFF_HOME/mains/claude.$ID.json
	is focus "$(member "$m" .requested.focus)" two
	is until "$(member "$m" .requested.until)" 2099-01-01T00:00:00.000Z
	hf-state cancel "$ID"
	is request "$(member "$m" .requested)" null
	hf-state request "$ID" --until 1
	is joined "$(hf-metrics "$SRC" | hf-state join |
	    jq -c '.main.requested != null')" true
	sleep 1.1
	is joined "$(hf-metrics "$SRC" | hf-state join |
	    jq -c .main.requested)" null
	exits 1 hf-state due
	exits 64 hf-state request "$ID" --until yesterday
	exits 64 hf-state request "$ID" --until 2020-01-01T00:00:00Z
	exits 64 hf-state request "$ID" --to nobody
}

@test "due: what is asked for or switched on twice, and there" {
	claude_session
	exits 1 hf-state due
	hf-state enable "$ID"
	exits 1 hf-state due
	configure '{"autoHandoff":true}'
	exits 0 hf-state due
	is id "$(printf '%s' "$output" | jq -r .session.id)" "$ID"
	printf '%s\n' "$output" | hf-metrics >m
	is measured "$(member m .metrics.turns)" 2
	configure '{}'
	hf-state request "$ID"
	exits 0 hf-state due
	rm "$SRC"
	exits 1 hf-state due
}

@test "the bounds of automatic handoffs: cooldown, growth, the chain" {
	claude_session
	hf-state enable "$ID"
	hf-metrics "$SRC" >metrics
	blockers() {
		hf-state join <metrics | jq -r '.main.blockers | join(",")'
	}
	local m=$HANDOFF_HOME/mains/claude.$ID.json
	edit() {
		jq -c "$1" <"$m" >x && cp x "$m"
	}
	is blockers "$(blockers)" ''
	edit '.failures = 1 | .retryAt = "2099-01-01T00:00:00Z"'
	# A clock that was wrong does not lock it out for years.
	is blockers "$(blockers)" ''
	edit ".retryAt = \"$(date -u -d '+1 hour' +%Y-%m-%dT%H:%M:%SZ)\""
	is blockers "$(blockers)" cooldown
	edit '.retryAt = "2020-01-01T00:00:00Z"'
	is blockers "$(blockers)" ''
	# One attempt a revision.
	edit ".failures = 0 | .attempt = \"handoff-1\" |
	    .lastAttemptSeq = $(member metrics .metrics.revision.seq)"
	is blockers "$(blockers)" cooldown
	edit '.lastAttemptSeq = 1'
	is blockers "$(blockers)" ''
	configure '{"maxChain":1}'
	edit '.inheritedFrom = {agent:"any",id:"before"}'
	hf-route add before "$ID"
	is blockers "$(blockers)" chain-limit
	exits 0 hf-trigger --manual < <(hf-state join <metrics)
}

@test "list and records are documents" {
	claude_session
	exits 1 hf-state list
	exits 1 hf-state records
	briefed
	hf-commit <brief >committed
	exits 0 hf-state list
	is sessions "$(printf '%s\n' "$output" | jq -r .session.id | sort)" \
	    "$(printf '%s\n' "$ID" "$(redirect)" | sort)"
	exits 0 hf-state records "$ID"
	is phase "$(printf '%s' "$output" | jq -r .phase)" started
	exits 0 hf-state records "$(redirect)"
	exits 1 hf-state records nobody
}

@test "status: a row a session, at most 80 columns, no escape" {
	claude_session
	exits 1 hf-state status
	[[ $stderr == *'no session is registered'* ]]
	hf-state enable "$ID"
	briefed
	pi_session
	hf-state request "$ID"
	exits 0 hf-state status
	[[ $output == *'c0dec0de-0000  claude'*'7%  under way'* ]]
	[[ $output == *'01a22e0a-0000  pi        asked for'* ]]
	printf '%s\n' "$output" | awk 'length > 80 { exit 1 }'
	exits 0 hf-state status "$ID"
	[[ $output == "pi session $ID"* ]]
	[[ $output == *'asked for    until'* ]]
	exits 0 hf-state status --json
	is documents "$(printf '%s\n' "$output" | jq -r .session.agent |
	    tr '\n' ' ')" 'claude pi '
	is threshold "$(printf '%s\n' "$output" |
	    jq -s '.[0].trigger.threshold')" 120000
	exits 1 hf-state status nobody
}

@test "status: a title and a message do not drive the terminal" {
	claude_session
	begun
	printf '\033]0;x\007 \xc2\x9b' >esc
	hf-commit fail --message "$(cat esc)" <begun || true
	exits 0 hf-state status "$ID"
	run grep -c -P '[\x07\x1b]|\xc2\x9b' <<<"$output"
	is 'lines with control bytes' "$output" 0
	exits 0 hf-state status
	run grep -c -P '[\x07\x1b]|\xc2\x9b' <<<"$output"
	is 'lines with control bytes' "$output" 0
}

@test "one damaged main does not stop the rest" {
	claude_session
	hf-state enable "$ID"
	echo '{"agent":"pi"' >"$HANDOFF_HOME/mains/pi.x.json"
	exits 0 hf-state status
	[[ $output == *c0dec0de* ]]
	[[ $stderr == *"'mains/pi.x' is damaged"* ]]
	exits 0 hf-state list
	exits 0 hf-state export
}

@test "export and import: version 1, the seed's shape, the routes" {
	claude_session
	hf-state enable "$ID"
	briefed
	hf-commit <brief >committed
	local to
	to=$(redirect)
	hf-state export >e.json
	is version "$(member e.json .version)" 1
	is enabled "$(member e.json ".mains[\"$ID\"].enabled")" true
	is requested "$(member e.json ".mains[\"$ID\"].requested")" false
	is from "$(member e.json ".mains[\"$to\"].inheritedFrom")" "$ID"
	is route "$(member e.json ".redirects[\"$ID\"]")" "$to"
	is source "$(member e.json '.records[0].source')" "$ID"
	is target "$(member e.json '.records[0].target')" "$to"
	is revision "$(member e.json '.records[0].sourceRevision | type')" \
	    number
	export HANDOFF_HOME=$BATS_TEST_TMPDIR/other
	exits 0 hf-state import e.json
	is end "$(hf-route resolve "$ID")" "$to"
	exits 0 hf-commit show "$ID"
	[[ $output == *'Document the parser'* ]]
	is agent "$(member "$HANDOFF_HOME/mains/claude.$ID.json" .agent)" \
	    claude
	# Once more changes nothing.
	exits 0 hf-state import <e.json
	[[ $output == 0\ sessions* ]]
	hf-state export >e2.json
	is again "$(jq -S 'del(.mains[].lastAttemptSeq, .records[].changed,
	    .mains[].inheritedFrom)' e2.json)" \
	    "$(jq -S 'del(.mains[].lastAttemptSeq, .records[].changed,
	    .mains[].inheritedFrom)' e.json)"
}

@test "import: the seed's own file; what is none is refused" {
	exits 0 hf-state import <<'END'
{"version":1,"mains":{"session-1":{"enabled":true,"requested":false,
"lastAttemptSeq":412,"deferred":["pending-inbox"]}},
"records":[{"id":"handoff-1","source":"session-1","phase":"started",
"reason":"context-pressure","metrics":{"tokens":128340,"turns":37,
"compactions":1,"capacity":200000},"sourceRevision":412,
"target":"session-2","brief":{"goal":"g","decisions":[],"constraints":[],
"artifacts":[],"verified":[],"pending":[],"next_steps":[],
"uncertainties":[]}}],"redirects":{"session-1":"session-2"}}
END
	is end "$(hf-route resolve session-1)" session-2
	exits 0 hf-commit show session-1
	exits 65 hf-state import <<<'{"version":2}'
	exits 65 hf-state import <<<'{}'
	exits 65 hf-state import <<<'{'
	exits 65 hf-state import <<<'{"version":1,"redirects":{"a":"a"}}'
	[[ $stderr == *"'a' is not taken over"* ]]
}

@test "prune: what is old and over; never a route's, an open one's" {
	claude_session
	briefed
	hf-commit <brief >committed
	local a id
	a=$(member committed .commit.attempt)
	old() {
		id=handoff-0188$1-0000-7000-8000-000000000000
		jq -c ".id = \"$id\" | .phase = \"$2\"" \
		    <"$HANDOFF_HOME/records/$a.json" >x
		cp x "$HANDOFF_HOME/records/$id.json"
	}
	old 0001 failed
	old 0002 started
	old 0003 summarizing
	old 0004 failed
	printf '{"attempt":"x","agent":"claude","id":"x"}' \
	    >"$HANDOFF_HOME/open/$id"
	touch -d '2 days ago' "$HANDOFF_HOME/records/.x.12.tmp"
	touch "$HANDOFF_HOME/records/.y.12.tmp"
	exits 0 hf-state prune
	is said "$output" '2 records removed'
	is left "$(records)" 4
	exits 0 hf-state prune
	is silent "$output" ''
	is route "$(hf-route resolve "$ID")" "$(redirect)"
	exits 0 hf-commit show "$ID"
}

@test "the folder: private whatever the umask and however it was made" {
	claude_session
	mkdir -m 777 "$HANDOFF_HOME"
	umask 000
	briefed
	hf-commit <brief >committed
	is open "$(find "$HANDOFF_HOME" -perm /077)" ''
}

@test "the folder: one that is something else is left alone" {
	claude_session
	export HANDOFF_HOME=$BATS_TEST_TMPDIR/else
	mkdir -m 755 "$HANDOFF_HOME"
	: >"$HANDOFF_HOME/file"
	exits 78 hf-state enable "$ID"
	is mode "$(stat -c %a "$HANDOFF_HOME")" 755
	export HANDOFF_HOME=relative
	exits 78 hf-state enable "$ID"
	unset HANDOFF_HOME
	HANDOFF_PROFILE=../x exits 78 hf-state enable "$ID"
	HANDOFF_PROFILE=work hf-state enable "$ID"
	[ -d "$XDG_STATE_HOME/handoff/work/mains" ]
	hf-state enable "$ID"
	[ -d "$XDG_STATE_HOME/handoff/default/mains" ]
}

@test "the folder: another user's is refused" {
	[ "$(id -u)" -eq 0 ] || skip 'needs root'
	claude_session
	mkdir "$HANDOFF_HOME"
	chown 65534 "$HANDOFF_HOME"
	exits 69 hf-state enable "$ID"
}

@test "config: get, set, all of it" {
	exits 0 hf-state config get handoffRatio
	is value "$output" 0.75
	hf-state config set handoffRatio 0.5
	exits 0 hf-state config get handoffRatio
	is value "$output" 0.5
	exits 78 hf-state config set handoffRatio 3
	configure '{"handoffRation":1}'
	exits 78 hf-state status
	[[ $stderr == *handoffRatio* ]]
	configure '{}'
	exits 0 hf-state config
	[[ $output == *$'handoffTokens\t120000\tdefault'* ]]
}

@test "config: many at once, none of them is lost" {
	local key pids='' i
	for key in handoffTokens=9000 handoffMinTurns=3 maxChain=5 \
	    handoffCompactions=7 cooldownSeconds=11 keepDays=13; do
		hf-state config set "${key%=*}" "${key#*=}" 3>&- &
		pids="$pids $!"
	done
	for i in $pids; do
		wait "$i"
	done
	is keys "$(jq -c '[.[]] | sort' \
	    <"$XDG_CONFIG_HOME/handoff/config.json")" '[3,5,7,11,13,9000]'
}

@test "pick and field: what the driver asks" {
	claude_session
	cd "$WORK"
	exits 0 hf-state pick
	is id "$(printf '%s' "$output" | jq -r .session.id)" "$ID"
	printf '%s\n' "$output" >"$TMPDIR/doc"
	exits 0 hf-state field session.id <"$TMPDIR/doc"
	is field "$output" "$ID"
	exits 1 hf-state field session.nothing <"$TMPDIR/doc"
	exits 0 hf-state pick "$ID"
	exits 1 hf-state pick nobody
	exits 64 hf-state frobnicate
	[[ $stderr == *'is not a verb'* ]]
	exits 64 hf-state enabel
	[[ $stderr == *"'enable'"* ]]
	exits 64 hf-state
}

@test "status: colour on a terminal only, and not with NO_COLOR; what waits, and till when" {
	command -v script >/dev/null || skip 'no script(1)'
	id=5b1d6c1e-7a52-4c1f-9a35-2f6f0c9e8d10
	mkdir -p "$HOME/.claude/projects/-x"
	cp "$HF_FIXTURES/demo/$id.jsonl" "$HOME/.claude/projects/-x/"
	hf-state enable "$id"
	main=$HANDOFF_HOME/mains/claude.$id.json
	jq -c '.deferred = ["activity:turn", "pending-inbox"] | .failures = 2 |
	    .retryAt = "'"$(date -u -d '+1 hour' +%Y-%m-%dT%H:%M:%SZ)"'"' "$main" >new && cp new "$main"
	run -0 hf-state status
	[[ $output != *$'\033'* ]]
	[[ $output == *'waits for activity:turn, pending-inbox'*'tried again not before 20'* ]]
	on_terminal() { TERM=xterm script -qec 'hf-state status' /dev/null </dev/null; }
	on_terminal >./tty
	grep -q $'\033\[31m\[##' tty
	NO_COLOR=1 on_terminal >./tty
	run ! grep -q $'\033' tty
}
