#!/usr/bin/env bats
# opencode: its database is read and never touched, a successor goes in by
# its own import, and nothing is lost where that cannot be had.

load helper/common
load helper/state
load helper/opencode

S=ses_dd1a0b2c5ffePtWM6P4heVSQti
SAMPLES=$HF_FIXTURES/samples/opencode

setup() {
	hf_setup
	OPENCODE_DB_FILE=$XDG_DATA_HOME/opencode/opencode.db
	D=$OPENCODE_DB_FILE
}

# What is said of a session but for where it lies and since when.
figures() {
	jq -cS '.session, .metrics | del(.path, .prompted, .file, .state,
	    .activity, .quietSeconds, .rows, .revision, .cursor)'
}

revision() {
	hf-metrics "$S" | jq -c .metrics.revision
}

sql() {
	sqlite3 "$D" "$@"
}

# held SQL: the database by a program that goes on, as its client does;
# its pid is HOLDER, and its input is descriptor 7.
held() {
	mkfifo "$TMPDIR/fifo"
	sqlite3 "$D" <"$TMPDIR/fifo" >"$TMPDIR/held" 2>&1 3>&- &
	HOLDER=$!
	exec 7>"$TMPDIR/fifo"
	echo "$1; SELECT 'done';" >&7
	until grep -q done "$TMPDIR/held"; do
		kill -0 "$HOLDER" || return 1
	done
}

# It is killed before it can tidy up.
let_go() {
	kill -9 "$HOLDER"
	exec 7>&-
	wait "$HOLDER" 2>/dev/null || true
}

listing() {
	(cd "${D%/*}" && ls -A && find . -type f -exec cksum {} +) | sort
}

@test "a session in the database is what its export says" {
	local f id
	for f in tool-compact subagent-parent subagent-child busy-model \
	    error-tail resumed-successor; do
		opencode_store "$SAMPLES/$f.json"
		id=$(jq -r .info.id "$SAMPLES/$f.json")
		is $f "$(hf-metrics "$id" | figures)" \
		    "$(hf-metrics "$SAMPLES/$f.json" | figures)"
	done
}

@test "found by id, prefix and title; sub-agents are not listed" {
	opencode_store "$SAMPLES/tool-compact.json" \
	    "$SAMPLES/subagent-parent.json" "$SAMPLES/subagent-child.json" \
	    "$SAMPLES/resumed-successor.json"
	exits 0 hf-metrics "${S:0:12}"
	is path "$(printf '%s' "$output" | jq -r .session.path)" "$D#$S"
	exits 0 hf-metrics 'parser work (handoff)'
	is id "$(printf '%s' "$output" | jq -r .session.id)" \
	    ses_dd1a64c4dffeIP05ZzMjEZEiD1
	exits 0 hf-metrics "$D#$S"
	exits 64 hf-metrics ses_dd1a
	exits 1 hf-metrics ses_dd1a0b2c5ffePtWM6P4heVSQtX
	exits 0 hf-metrics --list
	is listed "$(printf '%s\n' "$output" | jq -r .session.id | sort)" \
	    "$(printf '%s\n' ses_dd1a07ed9ffem3gmWGHMD8oGnW "$S" \
	    ses_dd1a64c4dffeIP05ZzMjEZEiD1 | sort)"
}

@test "a turn goes on, an answer ends it, an hour of quiet too" {
	local now=$(($(date +%s) * 1000))
	opencode_store "$SAMPLES/busy-model.json"
	id=$(jq -r .info.id "$SAMPLES/busy-model.json")
	is old "$(hf-metrics "$id" | jq -c .metrics.state)" '"interrupted"'
	sql "UPDATE session SET time_updated = $now;
	    UPDATE message SET time_updated = $now;"
	is new "$(hf-metrics "$id" |
	    jq -c '[.metrics.state, .metrics.activity]')" '["busy",["turn"]]'
}

@test "a title and a time are no change of the session, a message is" {
	opencode_store "$SAMPLES/tool-compact.json"
	before=$(revision)
	sql "UPDATE session SET title = 'x', time_updated = time_updated + 9"
	is title "$(revision)" "$before"
	opencode_store <(jq '.messages = [.messages[0] | .info.id =
	    "msg_ffffffffffffffffffffffffff" | .parts[].id |= . + "x" |
	    .info.time.created = 1896097026000]' "$SAMPLES/tool-compact.json")
	[ "$(revision)" != "$before" ]
}

@test "a document of it is measured anew, whatever changed" {
	opencode_store "$SAMPLES/tool-compact.json"
	hf-metrics "$S" >doc
	is again "$(hf-metrics <doc | figures)" "$(figures <doc)"
	sql "DELETE FROM message WHERE id = (SELECT max(id) FROM message)"
	is gone "$(hf-metrics <doc | figures)" "$(hf-metrics "$S" | figures)"
	[ "$(hf-metrics "$S" | figures)" != "$(figures <doc)" ]
	# An early message, rewritten in its place.
	hf-metrics "$S" >doc
	sql "UPDATE message SET data = replace(data, '\"output\":21',
	    '\"output\":99'), time_updated = time_updated + 9 WHERE id =
	    (SELECT min(id) FROM message WHERE data LIKE '%assistant%')"
	is edited "$(hf-metrics <doc | figures)" "$(hf-metrics "$S" | figures)"
	[ "$(hf-metrics "$S" | figures)" != "$(figures <doc)" ]
}

@test "what is in the log only is read, and no file is made or changed" {
	opencode_store "$SAMPLES/tool-compact.json"
	held "UPDATE session SET title = 'in the log'"
	[ -s "$D-wal" ]
	exits 0 hf-metrics 'in the log'
	# A reader of the log, but for us, marks that in the index.
	cp "$D-shm" "$TMPDIR/shm"
	exits 0 hf-metrics "$S"
	cmp "$D-shm" "$TMPDIR/shm"
	let_go
	rm "$D-shm"
	listing >"$TMPDIR/before"
	exits 0 hf-metrics 'in the log'
	hf-metrics --list >/dev/null
	listing | cmp - "$TMPDIR/before"
}

@test "a folder in which nothing can be made, by one who may not write" {
	[ "$(id -u)" -eq 0 ] || skip 'needs root to become somebody else'
	command -v setpriv >/dev/null || skip 'no setpriv'
	opencode_store "$SAMPLES/tool-compact.json"
	held "UPDATE session SET title = 'in the log'"
	let_go
	rm "$D-shm"
	mkdir "$TMPDIR/there"
	cp "${D%/*}"/* "$TMPDIR/there"
	chmod 555 "$TMPDIR/there"
	chmod 444 "$TMPDIR/there"/*
	# The way there is made open for him.
	p=$TMPDIR
	while [ "$p" != / ]; do
		case $(stat -c %A "$p") in
		*x | *t) ;;
		*) chmod o+x "$p" ;;
		esac
		p=$(dirname "$p")
	done
	exits 0 env TMPDIR=/tmp setpriv --reuid=65534 --regid=65534 --clear-groups \
	    "$(command -v hf-metrics)" "$TMPDIR/there/opencode.db#$S"
	is title "$(printf '%s' "$output" | jq -r .session.title)" 'in the log'
}

@test "a database that a writer does not let go of is for later" {
	opencode_store "$SAMPLES/tool-compact.json"
	sql 'PRAGMA journal_mode=DELETE' >/dev/null
	held 'BEGIN EXCLUSIVE'
	exits 75 hf-metrics "$D#$S"
	[[ $stderr == *"'$D'"*locked* ]]
	exits 75 hf-metrics --list
	let_go
	exits 0 hf-metrics "$S"
}

@test "what is no database, is damaged or of another form, is told" {
	claude_session
	mkdir -p "${D%/*}"
	head -c 30000 /dev/zero | tr '\0' 'x' >"$D"
	exits 65 hf-metrics "$D#$S"
	[[ $stderr == *"'$D'"*'not a database'* ]]
	: >"$D"
	exits 65 hf-metrics "$S"
	[[ $stderr == *"'$D'"*'no such table'* ]]
	rm "$D"
	opencode_store "$SAMPLES/tool-compact.json"
	sql 'ALTER TABLE part RENAME TO parts'
	exits 65 hf-metrics "$S"
	[[ $stderr == *"'$D'"*'no such table: part'* ]]
	# Nobody else's sessions are hidden, and it is said once.
	exits 0 hf-metrics --list
	is others "$(printf '%s' "$output" | jq -r .session.id)" "$ID"
	is lines "$(printf '%s\n' "$stderr" | wc -l)" 1
	exits 0 hf-metrics "$ID"
	rm "$D"
	opencode_store "$SAMPLES/tool-compact.json"
	sql 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null
	truncate -s 8192 "$D"
	exits 74 hf-metrics "$D#$S"
	[[ $stderr == *"'$D'"*malformed* ]]
}

# ---- successors -----------------------------------------------------------

configured() {
	mkdir -p "$XDG_CONFIG_HOME/opencode"
	echo '{"model":"acme/large" /* the one */}' \
	    >"$XDG_CONFIG_HOME/opencode/opencode.jsonc"
}

# to_opencode: a handoff with its brief, up to the commit; to the file brief.
to_opencode() {
	hf-metrics "$SRC" | hf-state join | hf-trigger --manual |
	    hf-commit begin --to opencode | with_brief >brief
}

# successor: the id of what the last handoff made.
successor() {
	jq -r .target.id "$HANDOFF_HOME"/records/*.json
}

@test "a session of another agent goes to opencode, and on from there" {
	claude_session
	opencode_client
	configured
	(cd "$WORK" && exits 0 handoff now --to opencode)
	new=$(successor)
	exits 0 hf-metrics "$new"
	is what "$(printf '%s' "$output" | jq -c '[.session.agent,
	    .session.parent, .session.cwd, .session.model,
	    .session.provider, .metrics.turns, .metrics.seeded]')" \
	    "[\"opencode\",\"$ID\",\"$WORK\",\"large\",\"acme\",0,true]"
	exits 0 handoff resume -n "$ID"
	[[ $output == *"opencode --session $new"* ]]
	# The way it is told of in --json is a file that can be imported too.
	is again "$(hf-metrics "$HANDOFF_HOME/imports/$new.json" |
	    jq -r .session.path)" "$D#$new"
	opencode_store <(jq '.messages[0] |= (.info.id =
	    "msg_ffffffffffffffffffffffffff" | .info.time.created += 5000 |
	    .parts[0].id = "prt_x" | .parts[0].text = "Go on.")' \
	    "$HANDOFF_HOME/imports/$new.json")
	exits 0 handoff now --to claude "$new"
	is source "$(cksum <"$SRC")" "$(cksum <"$TMPDIR/source")"
}

@test "a session of opencode's own: model, mode and folder go along" {
	work_folder
	opencode_store <(jq --arg w "$WORK" '.info.directory = $w' \
	    "$SAMPLES/tool-compact.json")
	opencode_client
	exits 0 handoff now "$S"
	f=$HANDOFF_HOME/imports/$(successor).json
	is info "$(jq -c '[.info.directory, .messages[0].info.model,
	    .messages[0].info.agent, .info.parentID]' "$f")" \
	    "[\"$WORK\",{\"providerID\":\"mock\",\"modelID\":\"mock-model\"},\"build\",null]"
	is imports "$(grep -c import "$HOME/imported")" 1
}

@test "where opencode is not installed that is said before anything is done" {
	claude_session
	exits 75 handoff now --to opencode "$ID"
	[[ $stderr == *"no program 'opencode' in PATH"* ]]
	is records "$(ls "$HANDOFF_HOME/records" 2>/dev/null)" ''
	opencode_client
	rm -rf "$WORK"
	exits 75 handoff now --to opencode "$ID"
	[[ $stderr == *"'$WORK' is not there"* ]]
}

@test "opencode gone in between: the brief stays, and recover ends it" {
	claude_session
	opencode_client
	configured
	to_opencode
	mv "$BATS_TEST_TMPDIR/bin/opencode" "$TMPDIR/opencode"
	exits 75 hf-commit <brief
	[[ $(jq -r .error.message <<<"$output") == \
	    *"no program 'opencode' in PATH"* ]]
	exits 0 handoff show "$ID"
	[[ $output == *'Document the parser'* ]]
	exits 75 handoff recover
	mv "$TMPDIR/opencode" "$BATS_TEST_TMPDIR/bin/opencode"
	exits 0 handoff recover
	exits 0 hf-metrics "$(successor)"
	exits 0 handoff recover
	is imports "$(grep -c import "$HOME/imported")" 1
	is open "$(ls "$HANDOFF_HOME/open")" ''
}

@test "an import that fails is told of in the client's own words" {
	claude_session
	opencode_client
	configured
	to_opencode
	printf '#!/bin/sh\necho "Migrating"; echo "Error: no room" >&2\nexit 0\n' \
	    >"$BATS_TEST_TMPDIR/bin/opencode"
	exits 74 hf-commit <brief
	[[ $(jq -r .error.message <<<"$output") == *'Error: no room'* ]]
	opencode_client
	exits 0 handoff recover
	exits 0 hf-metrics "$(successor)"
}

@test "an import that was cut short is done again" {
	claude_session
	opencode_client
	configured
	to_opencode
	cat >"$BATS_TEST_TMPDIR/bin/opencode" <<-EOF
	#!/bin/bash
	. "$HF_ROOT/t/helper/opencode.bash"
	jq '.messages = []' "\$2" >"$TMPDIR/part" &&
	    opencode_store "$TMPDIR/part"
	exit 1
	EOF
	exits 74 hf-commit <brief
	exits 0 hf-metrics "$(successor)"
	is seeded "$(printf '%s' "$output" | jq .metrics.seeded)" false
	opencode_client
	exits 0 handoff recover
	is seeded "$(hf-metrics "$(successor)" | jq .metrics.seeded)" true
}

@test "killed at each point of it: one successor, imported once" {
	local p
	claude_session
	opencode_client
	configured
	mkdir "$TMPDIR/clean"
	cp -a "$HOME" "$TMPDIR/clean/home"
	to_opencode
	cp -a "$HANDOFF_HOME" "$TMPDIR/clean/state"
	with_faults env HANDOFF_STEP_LOG="$TMPDIR/log" hf-commit <brief >out
	awk '{ print $1 }' "$TMPDIR/log" | awk '!seen[$0]++' |
	    grep -E '^(draft|commit|publish)' >points
	[ -s points ]
	while IFS= read -r p; do
		rm -rf "$HOME" "$HANDOFF_HOME"
		cp -a "$TMPDIR/clean/home" "$HOME"
		cp -a "$TMPDIR/clean/state" "$HANDOFF_HOME"
		with_faults env HANDOFF_CRASH_AT="$p" hf-commit <brief \
		    >out 2>err || true
		with_faults hf-commit recover 2>err
		with_faults hf-commit recover 2>err
		n=0
		[ ! -f "$HOME/imported" ] || n=$(wc -l <"$HOME/imported")
		[ "$n" -le 1 ] || fail "$p: imported $n times"
		rows=$(sql 'SELECT count(*) FROM session' 2>/dev/null || echo 0)
		[ "${rows:-0}" -le 1 ] || fail "$p: $rows sessions"
		if jq -e '.redirect' "$HANDOFF_HOME"/mains/claude.*.json \
		    >/dev/null; then
			is "$p" "$rows" 1
		fi
	done <points
}
