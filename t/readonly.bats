#!/usr/bin/env bats
# Nothing of an agent's is ever opened for writing by what only reads.

# strace and the leak sanitiser exclude each other.
# bats file_tags=release

load helper/common
load helper/opencode

setup() {
	hf_setup
	OPENCODE_DB_FILE=$XDG_DATA_HOME/opencode/opencode.db
	command -v strace >/dev/null || skip 'no strace'
}

# stores: each agent's sample sessions where the agent would keep them; the
# file list gets what to name each of them by.
stores() {
	local f id dir
	dir=$HOME/.claude/projects/-home-dev-project
	mkdir -p "$dir"
	for f in "$HF_FIXTURES"/samples/claude/*.jsonl; do
		id=$(jq -r 'select(.sessionId) | .sessionId' "$f" | head -n 1)
		cp "$f" "$dir/$id.jsonl"
	done
	dir=$HOME/.codex/sessions/2026/11/30
	mkdir -p "$dir" "$HOME/.codex/thread-writer-locks"
	for f in "$HF_FIXTURES"/samples/codex/*.jsonl; do
		id=$(jq -r 'select(.type == "session_meta") | .payload.id' \
		    "$f" | head -n 1)
		[ -n "$id" ] || continue
		cp "$f" "$dir/rollout-2026-11-30T21-00-00-$id.jsonl"
		: >"$HOME/.codex/thread-writer-locks/$id.lock"
	done
	cp "$HF_FIXTURES/samples/codex/session_index.jsonl" "$HOME/.codex"
	dir=$HOME/.pi/agent/sessions/--home-dev-project--
	mkdir -p "$dir"
	cp "$HF_FIXTURES"/samples/pi/*.jsonl "$dir"
	dir=$HOME/.omp/agent/sessions/--home-dev-project--
	mkdir -p "$dir"
	cp "$HF_FIXTURES"/samples/omp/*.jsonl "$dir"
	dir=$HOME/.gemini/tmp/project/chats
	mkdir -p "$dir"
	cp "$HF_FIXTURES/samples/gemini/projects.json" "$HOME/.gemini"
	for f in "$HF_FIXTURES"/samples/gemini/*.jsonl; do
		id=$(jq -rn 'input | .sessionId' "$f")
		cp "$f" "$dir/session-2026-11-30T21-00-${id:0:8}.jsonl"
	done
	find "$HOME" -path '*/.codex/session_index.jsonl' -prune -o \
	    -name '*.jsonl' -print >list
	opencode_store "$HF_FIXTURES"/samples/opencode/*.json
	sqlite3 "$OPENCODE_DB_FILE" 'SELECT id FROM session' >>list
	# As a client leaves it that was killed: the last of it in the log.
	cp "$OPENCODE_DB_FILE" db
	{
		echo "UPDATE session SET version = '1.18.34';"
		echo ".shell cp '$OPENCODE_DB_FILE-wal' wal"
	} | sqlite3 "$OPENCODE_DB_FILE"
	mv db "$OPENCODE_DB_FILE"
	mv wal "$OPENCODE_DB_FILE-wal"
}

# state: every file and folder of an agent's, with its content.
state() {
	find "$HOME" ! -type d -exec cksum {} + | sort
	find "$HOME" -type d | sort
}

# opened COMMAND...: the calls of it that could change a file below HOME; a
# file that is opened by its folder's descriptor is shown with the folder.
CALLS=open,openat,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir
CALLS+=,mkdirat,link,linkat,symlink,symlinkat,truncate,ftruncate,utimensat
CALLS+=,chmod,fchmod,fchmodat,write,pwrite64
CHANGES='O_WRONLY|O_RDWR|O_CREAT|^[0-9]+ +(creat|rename|unlink|mkdir|link|'
CHANGES+='symlink|truncate|ftruncate|utimens|chmod|fchmod|write|pwrite)'
opened() {
	strace -f -y -o trace -e trace="$CALLS" "$@" >out 2>err </dev/null ||
	    true
	grep -F "$HOME" trace | grep -E "$CHANGES" || true
}

@test "measuring and listing open the agents' files read-only" {
	stores
	[ "$(wc -l <list)" -gt 40 ]
	state >before
	while IFS= read -r f; do
		run -0 opened hf-metrics --explain "$f"
		[ -z "$output" ]
		[ -s out ] || fail "$f: $(cat err)"
	done <list
	run -0 opened hf-metrics --list
	[ -z "$output" ]
	[ "$(jq -r .session.agent out | sort -u | wc -l)" -eq 6 ]
	state | cmp - before
	# It would be seen.
	echo x >"$HOME/there"
	run -0 opened sh -c 'cd && echo x >>there'
	[ -n "$output" ]
}

@test "the prompt, a dry run and status write nothing to an agent's folder" {
	stores
	state >before
	for a in claude codex pi omp gemini opencode; do
		hf-metrics --list --agent "$a" >all
		head -n 1 all >doc
		run -0 opened sh -c 'hf-metrics <doc | hf-summarize --prompt'
		[ -z "$output" ]
		[ -s out ] || fail "$a: $(cat err)"
		run handoff now --dry-run "$(jq -r .session.path doc)"
		case $status in 0 | 1 | 75) ;; *) fail "$a: $output" ;; esac
	done
	handoff list >/dev/null
	run handoff status
	state | cmp - before
}
