#!/usr/bin/env bats
# Nothing of an agent's is ever opened for writing by what only reads.

# strace and the leak sanitiser exclude each other.
# bats file_tags=release

load helper/common

setup() {
	hf_setup
	command -v strace >/dev/null || skip 'no strace'
}

# stores: each agent's sample sessions where the agent would keep them.
stores() {
	mkdir -p "$HOME/.claude/projects/-home-dev-project" \
		"$HOME/.pi/agent/sessions/--home-dev-project--" \
		"$HOME/.omp/agent/sessions/--home-dev-project--"
	cp "$HF_FIXTURES"/samples/claude/*.jsonl "$HOME/.claude/projects/-home-dev-project/"
	for f in "$HF_FIXTURES"/samples/claude/*.jsonl; do
		id=$(jq -r 'select(.sessionId) | .sessionId' "$f" | head -n 1)
		mv "$HOME/.claude/projects/-home-dev-project/${f##*/}" "$HOME/.claude/projects/-home-dev-project/$id.jsonl"
	done
	cp "$HF_FIXTURES"/samples/pi/*.jsonl "$HOME/.pi/agent/sessions/--home-dev-project--/"
	cp "$HF_FIXTURES"/samples/omp/*.jsonl "$HOME/.omp/agent/sessions/--home-dev-project--/"
	if [ -d "$HF_FIXTURES/samples/codex" ]; then
		mkdir -p "$HOME/.codex/sessions/2026/11/30"
		for f in "$HF_FIXTURES"/samples/codex/*.jsonl; do
			id=$(jq -r 'select(.type == "session_meta") | .payload.id' "$f" | head -n 1)
			[ -n "$id" ] || continue
			cp "$f" "$HOME/.codex/sessions/2026/11/30/rollout-2026-11-30T21-00-00-$id.jsonl"
		done
	fi
}

# opened COMMAND...: the calls of it that could change a file below HOME.
opened() {
	strace -f -o trace -e trace=open,openat,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,link,linkat,symlink,symlinkat,truncate,ftruncate,utimensat,chmod,fchmod,fchmodat \
		"$@" >out 2>err </dev/null || true
	grep -F "$HOME" trace | grep -E 'O_WRONLY|O_RDWR|O_CREAT|rename|unlink|mkdir|link|truncate|utimens|chmod' || true
}

@test "measuring and listing open the agents' files read-only" {
	stores
	find "$HOME" -type f -exec cksum {} + | sort >before
	find "$HOME" -name '*.jsonl' >list
	while IFS= read -r f; do
		run -0 opened hf-metrics --explain "$f"
		[ -z "$output" ]
	done <list
	run -0 opened hf-metrics --list
	[ -z "$output" ]
	find "$HOME" -type f -exec cksum {} + | sort | cmp - before
}

@test "the prompt, a dry run and status write nothing to an agent's folder" {
	stores
	find "$HOME" -type f -exec cksum {} + | sort >before
	f=$(find "$HOME/.claude" -name '*.jsonl' | head -n 1)
	hf-metrics "$f" >doc
	run -0 opened sh -c 'hf-summarize --prompt <doc'
	[ -z "$output" ]
	handoff now --dry-run "$f" >/dev/null 2>&1 || true
	handoff list >/dev/null
	handoff status >/dev/null 2>&1 || true
	find "$HOME" -type f -exec cksum {} + | sort | cmp - before
}
