#!/usr/bin/env bats
# hf-metrics: what it takes, what it says, how it fails. What counts in
# which way is tested by t/unit/test_fold.c.

load helper/common

ID=c0dec0de-0000-4a5e-8bad-000000000001

# prompt ID PARENT [TIME]: a prompt's row; answer ID PARENT TOKENS [TIME]:
# an answer's that ends the turn, with TOKENS tokens of context.
prompt() {
	local up=null
	[ -z "$2" ] || up="\"$2\""
	printf '{"parentUuid":%s,"isSidechain":false,"cwd":"%s",' "$up" \
	    /home/dev/project
	printf '"sessionId":"%s","version":"2.1.197","type":"user",' "$ID"
	printf '"message":{"role":"user","content":"Ask %s."},' "$1"
	printf '"uuid":"%s","timestamp":"%s"}\n' "$1" \
	    "${3:-2026-01-15T09:00:00.000Z}"
}

answer() {
	printf '{"parentUuid":"%s","isSidechain":false,"cwd":"%s",' "$2" \
	    /home/dev/project
	printf '"sessionId":"%s","version":"2.1.197",' "$ID"
	printf '"type":"assistant","requestId":"req_%s","message":' "$1"
	printf '{"id":"msg_%s","type":"message","role":"assistant",' "$1"
	printf '"model":"claude-sonnet-4-5-20250929","content":['
	printf '{"type":"text","text":"Done."}],"stop_reason":"end_turn",'
	printf '"usage":{"input_tokens":%s,"output_tokens":0,' "$3"
	printf '"cache_creation_input_tokens":0,'
	printf '"cache_read_input_tokens":0}},'
	printf '"uuid":"%s","timestamp":"%s"}\n' "$1" \
	    "${4:-2026-01-15T09:00:01.000Z}"
}

session() {
	prompt a ""
	answer b a 100
	prompt c b
	answer d c 250
}

# store ID: a session of that id in Claude Code's store, from stdin.
store() {
	local dir=$HOME/.claude/projects/-home-dev-project
	mkdir -p "$dir"
	cat >"$dir/$1.jsonl"
}

# member FILTER: of the first document that was printed.
member() {
	printf '%s\n' "$output" | head -n 1 | jq -c "$1"
}

check_samples() {
	local file want got
	while IFS= read -r file; do
		exits 0 hf-metrics "$HF_FIXTURES/samples/$file" || return 1
		want=$(jq -cS --arg f "$file" '.[$f]' \
		    "$HF_FIXTURES/samples/EXPECTED.json")
		got=$(member '{agent:.session.agent, id:.session.id,
		    cwd:.session.cwd, model:.session.model,
		    title:.session.title, parent:.session.parent,
		    subagent:.session.subagent, window:.metrics.capacity,
		    context_tokens:.metrics.tokens, turns:.metrics.turns,
		    compactions:.metrics.compactions,
		    total_tokens:(.metrics.total | add),
		    state:.metrics.state}' |
		    jq -cS --argjson want "$want" \
		    'with_entries(select(.key | in($want)))') || return 1
		is "$file" "$got" "$want" || return 1
	done < <(jq -r --arg a "$1" \
	    'to_entries[] | select(.value.agent == $a) | .key' \
	    "$HF_FIXTURES/samples/EXPECTED.json")
}

# bats test_tags=valgrind
@test "every figure of the Claude Code samples" {
	check_samples claude
}

# bats test_tags=valgrind
@test "every figure of the Codex samples" {
	check_samples codex
}

# bats test_tags=valgrind
@test "every figure of the pi samples" {
	check_samples pi
}

# bats test_tags=valgrind
@test "every figure of the oh-my-pi samples" {
	check_samples omp
}

# bats test_tags=valgrind
@test "every figure of the Gemini CLI samples" {
	check_samples gemini
}

# bats test_tags=valgrind
@test "every figure of the opencode samples" {
	check_samples opencode
}

@test "a document has every member of the design" {
	session >"$ID.jsonl"
	exits 0 hf-metrics "$ID.jsonl"
	is v "$(member .v)" 1
	for m in agent id path cwd model title parent subagent archived; do
		is "session.$m" "$(member ".session | has(\"$m\")")" true
	done
	for m in tokens tokensFrom capacity capacityFrom turns compactions \
	    messages state activity live quietSeconds calls total rows \
	    duplicates sidechain inherited errors bad mended revision file; do
		is "metrics.$m" "$(member ".metrics | has(\"$m\")")" true
	done
	is tokens "$(member '.metrics.tokens')" 250
	is path "$(member .session.path)" "\"$PWD/$ID.jsonl\""
	is size "$(member .metrics.file.size)" "$(wc -c <"$ID.jsonl")"
	is tail "$(member .metrics.file.tail)" "\"sha256:$(tail -c 4096 \
	    "$ID.jsonl" | sha256sum | cut -d ' ' -f 1)\""
	is inode "$(member .metrics.file.ino)" "$(stat -c %i "$ID.jsonl")"
}

@test "one bad operand is told of, the rest are measured" {
	session >good.jsonl
	: >empty.jsonl
	exits 65 hf-metrics good.jsonl empty.jsonl missing.jsonl good.jsonl
	is documents "$(printf '%s\n' "$output" | grep -c tokens)" 2
	is lines "$(printf '%s\n' "$stderr" | wc -l)" 2
	[[ $stderr == *"'empty.jsonl'"* ]]
	[[ $stderr == *"'missing.jsonl'"* ]]
}

@test "sessions are found by id, prefix and title" {
	session | store "$ID"
	exits 0 hf-metrics "$ID"
	is tokens "$(member .metrics.tokens)" 250
	exits 0 hf-metrics c0dec0de-0000
	is id "$(member .session.id)" "\"$ID\""
	printf '{"type":"custom-title","customTitle":"My work"}\n' \
	    >>"$HOME/.claude/projects/-home-dev-project/$ID.jsonl"
	exits 0 hf-metrics 'My work'
	is id "$(member .session.id)" "\"$ID\""
	exits 1 hf-metrics nothing-like-that
	is output "$output" ""
	session | store "${ID%1}2"
	exits 64 hf-metrics c0dec0de-0000
	is output "$output" ""
}

@test "a document is measured by its path, else by its id" {
	session | store "$ID"
	p=$HOME/.claude/projects/-home-dev-project/$ID.jsonl
	printf '{"v":1,"session":{"path":"%s"}}\n' "$p" >by-path
	printf '{"v":1,"session":{"id":"%s"}}\n' "$ID" >by-id
	printf '{"v":1,"session":{"path":"/gone","id":"%s"}}\n' "$ID" >moved
	for f in by-path by-id moved; do
		exits 0 hf-metrics <$f
		is "$f" "$(member .metrics.tokens)" 250
		is "$f" "$(member .session.path)" "\"$p\""
	done
}

@test "an id in a document is a name, never a path, prefix or title" {
	session >"$ID.jsonl"
	session | store "$ID"
	for id in "./$ID.jsonl" "../work/$ID.jsonl" c0dec0de "Ask a."; do
		printf '{"v":1,"session":{"id":"%s"}}\n' "$id" >doc
		exits 1 hf-metrics <doc
		is "$id" "$(member .error.code)" '"not-found"'
		is "$id" "$(member .metrics)" null
	done
}

@test "measured again, a document loses what was said of it" {
	session >"$ID.jsonl"
	printf '{"v":1,"mine":1.10,"session":{"path":"%s.jsonl"},' "$ID" >doc
	printf '"trigger":{"due":false},"commit":{},"error":{"code":"io"},' \
	    >>doc
	printf '"main":{"epoch":12345678901234567890}}\n' >>doc
	exits 0 hf-metrics <doc
	is gone "$(member '[.trigger, .commit, .error]')" '[null,null,null]'
	[[ $output == *'"mine":1.10,'* ]]
	[[ $output == *'"epoch":12345678901234567890'* ]]
}

@test "a document that cannot be measured passes on with its error" {
	session >"$ID.jsonl"
	{
		echo '{"v":1,"session":{"path":"/gone"},"metrics":{"tokens":5}}'
		echo '{"v":1}'
		printf '{"v":1,"session":{"path":"%s.jsonl"}}\n' "$ID"
	} >docs
	exits 65 hf-metrics <docs
	is errors "$(printf '%s\n' "$output" | jq -c '.error.code')" \
	    "$(printf '"not-found"\n"missing"\nnull')"
	is stale "$(member .metrics)" null
	is stage "$(member .error.stage)" '"hf-metrics"'
}

@test "a hook's JSON is kept whole under host, also over lines" {
	session >"$ID.jsonl"
	printf '{"session_id":"%s","transcript_path":"%s","cwd":"/x",' "$ID" \
	    "$PWD/$ID.jsonl" >hook
	printf '"hook_event_name":"Stop","error":"no","trigger":"auto"}' \
	    >>hook
	jq . hook >pretty
	{ cat hook; echo; } >line
	for f in hook pretty line; do
		exits 0 hf-metrics <$f
		is "$f" "$(member '[.v, .metrics.tokens, .session.cwd]')" \
		    '[1,250,"/home/dev/project"]'
		is "$f" "$(member .host)" "$(jq -c . hook)"
		is "$f" "$(member keys)" \
		    '["host","metrics","session","v"]'
	done
}

@test "the hook and statusline JSON of the real client" {
	session | store "$ID"
	for f in Stop statusline; do
		jq -c --arg id "$ID" '.session_id = $id |
		    .transcript_path = "/gone"' \
		    "$HF_FIXTURES/samples/claude/$f.json" >$f
		exits 0 hf-metrics <$f
		is $f "$(member .session.id)" "\"$ID\""
		is $f "$(member .host)" "$(jq -c . $f)"
	done
	is window "$(member '[.metrics.capacity, .metrics.capacityFrom]')" \
	    '[1000000,"host"]'
}

@test "who tells the window" {
	session >"$ID.jsonl"
	exits 0 hf-metrics "$ID.jsonl"
	is table "$(member '[.metrics.capacity, .metrics.capacityFrom]')" \
	    '[200000,"table"]'
	mkdir -p "$XDG_CONFIG_HOME/handoff"
	echo '{"models":{"claude-sonnet-4-5":64000}}' \
	    >"$XDG_CONFIG_HOME/handoff/config.json"
	exits 0 hf-metrics "$ID.jsonl"
	is config "$(member '[.metrics.capacity, .metrics.capacityFrom]')" \
	    '[64000,"config"]'
	exits 0 hf-metrics --capacity 90000 "$ID.jsonl"
	is option "$(member '[.metrics.capacity, .metrics.capacityFrom]')" \
	    '[90000,"option"]'
	answer e d 300000 >>"$ID.jsonl"
	exits 0 hf-metrics --capacity 90000 "$ID.jsonl"
	is usage "$(member '[.metrics.capacity, .metrics.capacityFrom]')" \
	    '[1000000,"usage"]'
	exits 64 hf-metrics --capacity 0 "$ID.jsonl"
	exits 64 hf-metrics --capacity many "$ID.jsonl"
}

@test "a transcript on stdin, from a file and from a pipe" {
	session >rows
	exits 0 hf-metrics --transcript - <rows
	is tokens "$(member .metrics.tokens)" 250
	is file "$(member '[.metrics.file, .session.path]')" '[null,null]'
	is id "$(member .session.id)" "\"$ID\""
	run bash -c 'cat rows | hf-metrics --transcript'
	is status "$status" 0
	is tokens "$(member .metrics.tokens)" 250
	exits 0 hf-metrics --transcript rows
	is tokens "$(member .metrics.tokens)" 250
	exits 65 hf-metrics --transcript - </dev/null
}

@test "the list: newest prompt first, of one agent, none at all" {
	exits 1 hf-metrics --list
	is silent "$output$stderr" ""
	prompt a "" 2026-01-15T10:00:00.000Z | store "$ID"
	prompt a "" 2026-01-15T12:00:00.000Z | store "${ID%1}2"
	prompt a "" 2026-01-15T11:00:00.000Z | store "${ID%1}3"
	exits 0 hf-metrics --list
	is order "$(printf '%s\n' "$output" | jq -r .session.id)" \
	    "$(printf '%s\n' "${ID%1}2" "${ID%1}3" "$ID")"
	exits 0 hf-metrics --list --agent claude
	exits 1 hf-metrics --list --agent pi
	exits 64 hf-metrics --list --agent nobody
	exits 64 hf-metrics --list "$ID"
}

@test "damage costs a row, is explained, and is an error when strict" {
	{
		prompt a ""
		echo '{"type":"user", broken'
		answer b a 100
	} >"$ID.jsonl"
	exits 0 hf-metrics "$ID.jsonl"
	is bad "$(member '[.metrics.bad, .metrics.tokens]')" '[1,100]'
	is silent "$stderr" ""
	exits 0 hf-metrics --explain "$ID.jsonl"
	[[ $stderr == *"line 2"* ]]
	exits 65 hf-metrics --strict "$ID.jsonl"
	[[ $stderr == *"line 2"* ]]
	is output "$output" ""
	session >"$ID.jsonl"
	exits 0 hf-metrics --strict --explain "$ID.jsonl"
	is silent "$stderr" ""
}

@test "an open turn of long ago is interrupted, but only in the store" {
	p=$HOME/.claude/projects/-home-dev-project/$ID.jsonl
	prompt a "" | store "$ID"
	exits 0 hf-metrics "$p"
	is fresh "$(member '[.metrics.state, .metrics.activity]')" \
	    '["busy",["turn"]]'
	touch -d '2 hours ago' "$p"
	exits 0 hf-metrics "$p"
	is old "$(member '[.metrics.state, .metrics.activity]')" \
	    '["interrupted",[]]'
	cp -p "$p" "$ID.jsonl"
	exits 0 hf-metrics "$ID.jsonl"
	is copy "$(member '[.metrics.state, .metrics.activity]')" \
	    '["busy",["turn"]]'
	[ "$(member .metrics.quietSeconds)" -ge 7200 ]
}

@test "housekeeping rows are no change, prompts are" {
	session >"$ID.jsonl"
	exits 0 hf-metrics "$ID.jsonl"
	before=$(member .metrics.revision)
	printf '{"type":"mode","mode":"x","sessionId":"%s"}\n' "$ID" \
	    >>"$ID.jsonl"
	printf '{"type":"custom-title","customTitle":"t"}\n' >>"$ID.jsonl"
	exits 0 hf-metrics "$ID.jsonl"
	is housekeeping "$(member .metrics.revision)" "$before"
	prompt e d >>"$ID.jsonl"
	exits 0 hf-metrics "$ID.jsonl"
	is seq "$(member .metrics.revision.seq)" 5
	[ "$(member .metrics.revision)" != "$before" ]
}

@test "no documents are the silent no; torn and broken ones are told of" {
	session >"$ID.jsonl"
	exits 1 hf-metrics </dev/null
	is silent "$output$stderr" ""
	printf '{"v":1,"session":{"path":"%s.jsonl"}}' "$ID" >torn
	exits 65 hf-metrics <torn
	is output "$output" ""
	[[ $stderr == *"no end of line"* ]]
	{ echo 'no JSON'; cat torn; echo; echo '[1]'; } >docs
	exits 65 hf-metrics <docs
	is documents "$(printf '%s\n' "$output" | jq -c .metrics.tokens)" 250
	is lines "$(printf '%s\n' "$stderr" | wc -l)" 2
	{ echo '{"v":1,'; cat torn; echo; } >docs
	exits 65 hf-metrics <docs
	is documents "$(printf '%s\n' "$output" | jq -c .metrics.tokens)" 250
}

@test "bad input: one line, the right status, nothing written" {
	mkdir folder
	head -c 4096 /dev/urandom >binary
	printf '[1,2,' >cut.json
	mkfifo fifo
	for f in folder binary cut.json fifo; do
		run --separate-stderr hf-metrics "$f"
		case $status in 65 | 74) ;; *) fail "$f: $status" ;; esac
		is "$f" "$output" ""
		is "$f" "$(printf '%s\n' "$stderr" | wc -l)" 1
		[[ $stderr == "hf-metrics: "*"'$f'"* ]]
	done
	exits 64 hf-metrics --no-such-option
	[[ $stderr == *no-such-option* ]]
	session >"$ID.jsonl"
	run --separate-stderr bash -c "hf-metrics $ID.jsonl >/dev/full"
	is status "$status" 74
	mkdir -p "$XDG_CONFIG_HOME/handoff"
	echo '{"handoffRation":0.5}' >"$XDG_CONFIG_HOME/handoff/config.json"
	exits 78 hf-metrics "$ID.jsonl"
	[[ $stderr == *handoffRatio* ]]
}
