# For tests of the transaction, beside common.bash: sessions in an agent's
# store, the steps with a file between two, what must always hold.
#
#	claude_session [ID]	a session of Claude Code: ID SRC STORE WORK
#	pi_session [ID]		one of pi
#	begun [OPTION]		metrics, join, trigger, begin; to the file begun
#	briefed			the same with a brief in it; to the file brief
#	invariants		one successor with a route, or neither

BRIEF='{"goal":"Document the parser in README.md","decisions":[],
"constraints":["Never push to main."],"artifacts":[],"verified":[],
"pending":[],"next_steps":["Write the section"],"uncertainties":[]}'

work_folder() {
	WORK=$HOME/project
	mkdir -p "$WORK"
	WORK=$(cd "$WORK" && pwd -P)
}

claude_prompt() {
	local up=null
	[ -z "$2" ] || up="\"$2\""
	printf '{"parentUuid":%s,"isSidechain":false,"cwd":"%s",' "$up" \
	    "$WORK"
	printf '"sessionId":"%s","version":"2.1.197","type":"user",' "$ID"
	printf '"message":{"role":"user","content":"%s"},' \
	    "${3:-Describe step $1.}"
	printf '"uuid":"%s","timestamp":"2026-01-15T09:00:00.000Z"}\n' "$1"
}

claude_answer() {
	printf '{"parentUuid":"%s","isSidechain":false,"cwd":"%s",' "$2" \
	    "$WORK"
	printf '"sessionId":"%s","version":"2.1.197",' "$ID"
	printf '"type":"assistant","requestId":"req_%s","message":' "$1"
	printf '{"id":"msg_%s","type":"message","role":"assistant",' "$1"
	printf '"model":"claude-sonnet-4-5-20250929","content":['
	printf '{"type":"text","text":"Done."}],"stop_reason":"end_turn",'
	printf '"usage":{"input_tokens":9000,"output_tokens":10,'
	printf '"cache_creation_input_tokens":0,'
	printf '"cache_read_input_tokens":0}},'
	printf '"uuid":"%s","timestamp":"2026-01-15T09:00:01.000Z"}\n' "$1"
}

remember() {
	touch -t 202601151200 "$SRC"
	cp -p "$SRC" "$TMPDIR/source"
}

claude_session() {
	ID=${1:-c0dec0de-0000-4a5e-8bad-000000000001}
	work_folder
	STORE=$HOME/.claude/projects/$(printf %s "$WORK" |
	    sed 's/[^A-Za-z0-9]/-/g')
	SRC=$STORE/$ID.jsonl
	mkdir -p "$STORE"
	{
		claude_prompt a ''
		claude_answer b a
		claude_prompt c b
		claude_answer d c
	} >"$SRC"
	remember
}

# more: the user goes on.
more() {
	claude_prompt e d "${1:-One more thing.}" >>"$SRC"
	claude_answer f e >>"$SRC"
}

pi_entry() {
	local up=null
	[ -z "$2" ] || up="\"$2\""
	printf '{"type":"message","id":"%s","parentId":%s,' "$1" "$up"
	printf '"timestamp":"2026-01-15T09:00:30.000Z","message":%s}\n' "$3"
}

pi_session() {
	ID=${1:-01a22e0a-0000-7000-8000-000000000001}
	work_folder
	STORE=$HOME/.pi/agent/sessions/--$(printf %s "$WORK" |
	    sed 's|^/||; s|/|-|g')--
	SRC=$STORE/2026-01-15T09-00-00-000Z_$ID.jsonl
	mkdir -p "$STORE"
	local u='{"role":"user","content":[{"type":"text","text":"Do it."}]}'
	local a='{"role":"assistant","content":[{"type":"text",'
	a+='"text":"Done."}],"api":"x","provider":"acme","model":"acme-1",'
	a+='"usage":{"input":9000,"output":9,"cacheRead":0,"cacheWrite":0,'
	a+='"totalTokens":9009,"cost":{"total":0}},"stopReason":"stop"}'
	{
		printf '{"type":"session","version":3,"id":"%s",' "$ID"
		printf '"timestamp":"2026-01-15T09:00:00.000Z","cwd":"%s"}\n' \
		    "$WORK"
		pi_entry aa000001 '' "$u"
		pi_entry aa000002 aa000001 "$a"
		pi_entry aa000003 aa000002 "$u"
		pi_entry aa000004 aa000003 "$a"
	} >"$SRC"
	remember
}

begun() {
	hf-metrics "$SRC" >metrics && hf-state join <metrics >main &&
	    hf-trigger "${1:---manual}" <main >trigger &&
	    hf-commit begin <trigger >begun
}

with_brief() {
	jq -c --argjson brief "$BRIEF" '.brief = $brief'
}

briefed() {
	begun "$@" && with_brief <begun >brief
}

# member FILE FILTER
member() {
	jq -r "$2" <"$1"
}

# The transcripts beside the source, one a line; what is no transcript
# (drafts) is one too.
successors() {
	find "$STORE" -type f ! -path "$SRC" | sort
}

# keys PREFIX: what a shared store has below it, a line each.
keys() {
	printf '%s\n' "{\"id\":1,\"op\":\"open\",\"v\":1,\"url\":\"$HANDOFF_STORE\"}" \
	    "{\"id\":2,\"op\":\"list\",\"prefix\":\"$1\"}" |
	    hf-store-etcd | jq -r 'select(.id == 2) | .keys[]'
}

open_attempts() {
	if [ -n "${HANDOFF_STORE-}" ]; then
		keys open
	else
		ls "$HANDOFF_HOME/open" 2>/dev/null
	fi
}

# records: how many there are.
records() {
	if [ -n "${HANDOFF_STORE-}" ]; then
		keys records | wc -l
		return
	fi
	find "$HANDOFF_HOME/records" -type f | wc -l
}

redirect() {
	if [ -n "${HANDOFF_STORE-}" ]; then
		hf-state list | jq -r --arg id "$ID" \
		    '.main | select(.id == $id) | .redirect.id // empty'
		return
	fi
	cat "$HANDOFF_HOME"/mains/*."$ID".json 2>/dev/null |
	    jq -r '.redirect.id // empty'
}

phase() {
	if [ -n "${HANDOFF_STORE-}" ]; then
		hf-state records | jq -rs 'last | .phase // "none"'
		return
	fi
	cat "$HANDOFF_HOME"/records/*.json 2>/dev/null |
	    jq -rs 'last | .phase // "none"'
}

untouched() {
	cmp "$SRC" "$TMPDIR/source" || fail 'the source was changed'
}

# One successor that the source leads to, or no trace; nothing half done;
# every value whole; nothing open to others.
invariants() {
	local new to f
	new=$(successors)
	to=$(redirect)
	if [ -n "$to" ]; then
		[ "$(printf '%s\n' "$new" | wc -l)" -eq 1 ] ||
		    fail "routed to $to, but there is: $new" || return 1
		case $new in
		*"$to".jsonl) ;;
		*) fail "routed to $to, but there is: $new" || return 1 ;;
		esac
		grep -q 'Document the parser' "$new" ||
		    fail 'the successor has no brief' || return 1
	else
		is 'without a route' "$new" '' || return 1
	fi
	untouched || return 1
	for f in "$HANDOFF_HOME"/mains/* "$HANDOFF_HOME"/records/* \
	    "$HANDOFF_HOME"/open/*; do
		[ ! -f "$f" ] || jq empty "$f" || return 1
	done
	f=
	[ ! -e "$HANDOFF_HOME" ] || f=$(find "$HANDOFF_HOME" -perm /077)
	is 'open to others' "$f" '' || return 1
}

# hook NAME: stdin becomes a hook.
hook() {
	mkdir -p "$XDG_CONFIG_HOME/handoff/hooks"
	{
		echo '#!/bin/sh'
		cat
	} >"$XDG_CONFIG_HOME/handoff/hooks/$1"
	chmod 755 "$XDG_CONFIG_HOME/handoff/hooks/$1"
}

configure() {
	mkdir -p "$XDG_CONFIG_HOME/handoff"
	printf '%s\n' "$1" >"$XDG_CONFIG_HOME/handoff/config.json"
}

# at_once COUNT COMMAND: its statuses, sorted and counted, to the file
# statuses.
at_once() {
	local i pids=''
	for i in $(seq "$1"); do
		(
			s=0
			"$2" "$i" || s=$?
			echo "$s" >"status$i"
		) 3>&- &
		pids="$pids $!"
	done
	# Not all that this shell has started: bats has its own.
	for i in $pids; do
		wait "$i"
	done
	cat status* | sort | uniq -c | awk '{ print $2 " " $1 }' >statuses
	rm status[0-9]*
}
