#!/usr/bin/env bats
# What is secret stays here: in the prompt, in the computed brief, whatever
# it came from. Tokens are joined from two parts in these tests.

load helper/common
load helper/state

A=q7Zk3LpXb9Rt2WvCm4Hdn6Jf8SgYe1Ku5TxQ
GITHUB=gh'p_'$A

# says TEXT: a session whose last prompt is TEXT (as JSON spells it).
says() {
	ID=c0dec0de-0000-4a5e-8bad-0000000000aa
	work_folder
	{
		claude_prompt a ''
		claude_answer b a
		claude_prompt c b "$1"
		claude_answer d c
	} >"$TMPDIR/$ID.jsonl"
	hf-metrics "$TMPDIR/$ID.jsonl" >doc
}

config() {
	mkdir -p "$XDG_CONFIG_HOME/handoff"
	printf '%s\n' "$1" >"$XDG_CONFIG_HOME/handoff/config.json"
}

# prompt_has TEXT, prompt_lacks TEXT: after hf-summarize --prompt >prompt.
prompt_has() {
	grep -qF -e "$1" prompt || fail "not in the prompt: $1"
}

prompt_lacks() {
	! grep -qF -e "$1" prompt || fail "in the prompt: $1"
}

@test "a token is a placeholder, the same in each run; its key is private" {
	says "Use $GITHUB for the upload."
	hf-summarize --prompt <doc >prompt
	prompt_lacks "$GITHUB"
	grep -q 'Use \[secret:[0-9a-f]\{12\}\] for the upload' prompt
	is mode "$(stat -c '%a %s' "$HANDOFF_HOME/placeholder.key")" '600 32'
	hf-summarize --prompt <doc | cmp - prompt
	hf-summarize <doc >prompt
	prompt_lacks "$GITHUB"
}

@test "nothing is written when there is nothing to hide" {
	says 'Use the usual token for the upload.'
	hf-summarize --prompt <doc >prompt
	hf-summarize <doc >out
	[ ! -e "$HANDOFF_HOME" ]
}

@test "many at once agree on one key" {
	local i pids=
	says "Use $GITHUB for the upload."
	for i in 1 2 3 4 5 6 7 8; do
		hf-summarize --prompt <doc >"prompt.$i" 3>&- &
		pids="$pids $!"
	done
	# Not a bare wait: the test system has a child of its own.
	# shellcheck disable=SC2086
	wait $pids
	hf-summarize --prompt <doc >prompt
	for i in 1 2 3 4 5 6 7 8; do
		cmp prompt "prompt.$i"
	done
	is files "$(ls -A "$HANDOFF_HOME")" placeholder.key
}

@test "without a place for the key a token is masked all the same" {
	says "Use $GITHUB for the upload."
	HANDOFF_HOME=/dev/null/none hf-summarize --prompt <doc >prompt
	prompt_lacks "$GITHUB"
	prompt_has '[secret:'
}

@test "a key that others can read, or that is none, is an error of the configuration" {
	local key=$HANDOFF_HOME/placeholder.key
	says "Use $GITHUB for the upload."
	hf-summarize --prompt <doc >prompt
	chmod 644 "$key"
	exits 78 hf-summarize --prompt <doc
	[[ $stderr == *"placeholder.key' can be used by others; chmod 600"* ]]
	chmod 600 "$key"
	: >"$key"
	exits 78 hf-summarize --prompt <doc
	[[ $stderr == *'is no key; remove it'* ]]
	rm "$key"
	ln -s /etc/hostname "$key"
	exits 78 hf-summarize --prompt <doc
	[[ $stderr == *'is a symbolic link'* ]]
}

@test "the value of a variable becomes its name, in any spelling" {
	says 'It is deploy-pass/77&x, or \"deploy-pass\\/77\\u0026x\", or deploy-pass%2f77%26x, or deploy-pas\ns/77&x_y.'
	SOME_TOKEN='deploy-pass/77&x' hf-summarize --prompt <doc >prompt
	prompt_has 'It is $SOME_TOKEN, or "$SOME_TOKEN", or $SOME_TOKEN, or ${SOME_TOKEN}_y.'
	prompt_lacks '[secret:'
}

@test "paths, words, short values, templates and other variables stay" {
	says 'Keep /etc/passwd, development, abc1234, ${OTHER}, https://login.example.com/o/2 and eu-central-region-1.'
	E_AUTH=https://login.example.com/o/2 A_KEY=/etc/passwd B_KEY=development C_KEY=abc1234 D_KEY='${OTHER}' \
		REGION=eu-central-region-1 hf-summarize --prompt <doc >prompt
	prompt_has 'Keep /etc/passwd, development, abc1234, ${OTHER}, https://login.example.com/o/2 and eu-central-region-1.'
}

@test "the session folder's .env: quotes, export, comments, several lines" {
	says 'Values: opaquevalue19, it is $this1, two \"words\" 42, line-one-1\nline-two-2, eu-central-1-and-more.'
	cat >"$WORK/.env" <<'END'
# live
SERVICE_TOKEN=opaquevalue19 # live
SINGLE_SECRET='it is $this1'
export QUOTED_KEY="two \"words\" 42"
MULTI_KEY="line-one-1
line-two-2"
REGION=eu-central-1-and-more
END
	hf-summarize --prompt <doc >prompt
	prompt_has 'Values: $SERVICE_TOKEN, $SINGLE_SECRET, $QUOTED_KEY, $MULTI_KEY, eu-central-1-and-more.'
	# What is no regular file is none.
	rm "$WORK/.env"
	mkfifo "$WORK/.env"
	hf-summarize --prompt <doc >prompt
	prompt_has opaquevalue19
}

@test "the secrets file: a literal a line; it must be there and readable" {
	says 'The words open-sesame-now and #hash1 end it.'
	printf '# mine\n\nopen-sesame-now\r\n#hash1\n' >"$HOME/list"
	config "{\"secrets\":{\"file\":\"$HOME/list\"}}"
	hf-summarize --prompt <doc >prompt
	grep -q 'The words \[secret:[0-9a-f]*\] and \[secret:[0-9a-f]*\] end' \
		prompt
	printf 'fine\nab\n' >"$HOME/list"
	exits 78 hf-summarize --prompt <doc
	[[ $stderr == *"list', line 2: shorter than 4 bytes"* ]]
	rm "$HOME/list"
	exits 78 hf-summarize --prompt <doc
	[[ $stderr == *'secrets.file: cannot read'* ]]
}

@test "the focus is masked too, and how many were is reported" {
	says "Use $GITHUB for the upload."
	hf-summarize --prompt --focus "not $GITHUB" <doc >prompt
	prompt_lacks "$GITHUB"
	hf-summarize <doc >out
	[ "$(jq .summary.masked out)" -gt 0 ]
}
