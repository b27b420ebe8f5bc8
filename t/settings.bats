#!/usr/bin/env bats
# handoff setup AGENT: the agents' own settings are merged, never replaced.

load helper/common

setup() {
	hf_setup
	claude=$HOME/.claude/settings.json
	mkdir -p "$HOME/.claude"
}

# ours FILE: the events that run us, sorted.
ours() {
	jq -r '.hooks | to_entries[] | select(any(.value[].hooks[];
	    .command | test("handoff hook"))) | .key' "$1" | sort | tr '\n' ' '
}

@test "what is there stays byte for byte; twice is once; --remove undoes exactly" {
	printf '%s' '{ // mine
	"cleanupPeriodDays": 3.50e1, "big": 12345678901234567890,
	"hooks": {
		"Stop": [ /* first */ {"hooks": [{"type": "command", "command": "/opt/other/stop"}]} ],
		"Notification": []
	},
	"zz": "last" // no comma
}' >"$claude"
	chmod 640 "$claude"
	cp "$claude" before
	run -0 handoff setup claude --write
	for kept in '{ // mine' '3.50e1, "big": 12345678901234567890,' '/* first */' \
	    '"Notification": []' '"zz": "last" // no comma'; do
		grep -qF -- "$kept" "$claude"
	done
	[ "$(stat -c %a "$claude")" = 640 ]
	grep -c 'handoff hook claude' "$claude" | grep -qx 5
	cp "$claude" once
	run -0 handoff setup claude --write
	cmp once "$claude"
	run -0 handoff setup claude --remove
	cmp before "$claude"
	[ ! -e "$HOME/.claude/commands/handoff.md" ]
	run -0 handoff setup claude --remove
	cmp before "$claude"
}

@test "one line, another indent, no file at all: the layout is the file's own, and comes back" {
	for text in '{"a":1}' '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]},"b":2}' \
	    "$(printf '{\n    "a": [1,2],\n    "hooks": {\n        "SessionEnd": []\n    }\n}\n')"; do
		printf '%s\n' "$text" >"$claude"
		cp "$claude" before
		handoff setup claude --write
		[ "$(ours "$claude")" = 'PreCompact SessionStart Stop UserPromptExpansion UserPromptSubmit ' ]
		handoff setup claude --remove
		cmp before "$claude"
	done
	rm "$claude"
	handoff setup claude --write
	[ "$(stat -c %a "$claude")" = 600 ]
	handoff setup claude --remove
	[ ! -e "$claude" ]
}

@test "settings that cannot be merged are left alone, with the reason, and nothing else is written" {
	while IFS='|' read -r text why; do
		printf '%s\n' "$text" >"$claude"
		cp "$claude" before
		run -78 handoff setup claude --write
		[[ $output == *settings.json*"$why"* ]]
		cmp before "$claude"
		[ ! -e "$HOME/.claude/commands" ]
	done <<'END'
{"model": "opus", "hooks": {|line 2
[1]|not an object
{"hooks": []}|'hooks' is not an object
{"hooks": {}, "hooks": {}}|twice
{"hooks": {"Stop": {}}}|'hooks.Stop' is not an array
END
}

@test "a link into somebody's dot files stays one; a link to nowhere is refused" {
	mkdir dot
	echo '{"model":"opus"}' >dot/settings.json
	ln -s "$PWD/dot/settings.json" "$claude"
	handoff setup claude --write
	[ -L "$claude" ]
	grep -q 'handoff hook' dot/settings.json
	handoff setup claude --remove
	[ "$(cat dot/settings.json)" = '{"model":"opus"}' ]
	rm dot/settings.json
	run -78 handoff setup claude --write
	[[ $output == *'leads nowhere'* ]]
}

@test "an older version's command is renewed, not doubled" {
	echo '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/old/handoff hook claude"}]}]}}' >"$claude"
	handoff setup claude --write
	run ! grep -q /old/handoff "$claude"
	[ "$(jq '.hooks.Stop | length' "$claude")" -eq 1 ]
}

@test "a /handoff command of the user's own is left alone" {
	mkdir -p "$HOME/.claude/commands"
	echo 'my own' >"$HOME/.claude/commands/handoff.md"
	run -78 handoff setup claude --write
	[[ $output == *'not ours'* ]]
	[ ! -e "$claude" ]
	run -0 handoff setup claude --remove
	[ "$(cat "$HOME/.claude/commands/handoff.md")" = 'my own' ]
}

@test "Codex: hooks.json, and notify unless somebody has it" {
	mkdir "$HOME/.codex"
	printf 'model = "gpt-5.5"\n[tui]\nnotify = true\n' >"$HOME/.codex/config.toml"
	cp "$HOME/.codex/config.toml" before
	handoff setup codex --write
	[ "$(ours "$HOME/.codex/hooks.json")" = 'SessionStart Stop UserPromptSubmit ' ]
	head -n 1 "$HOME/.codex/config.toml" | grep -q '^notify = \["/.*/handoff", "hook", "codex", "notify"\]'
	cp "$HOME/.codex/config.toml" once
	handoff setup codex --write
	cmp once "$HOME/.codex/config.toml"
	handoff setup codex --remove
	cmp before "$HOME/.codex/config.toml"
	[ ! -e "$HOME/.codex/hooks.json" ]
	sed -i '1i notify = ["beep"]' "$HOME/.codex/config.toml"
	cp "$HOME/.codex/config.toml" before
	run -0 handoff setup codex --write
	[[ $output == *"somebody else's"* ]]
	cmp before "$HOME/.codex/config.toml"
}

@test "Gemini CLI, pi and oh-my-pi have theirs; nothing is written unless asked" {
	for agent in gemini pi omp; do
		run -0 handoff setup "$agent"
		[[ $output == *'Nothing is written'* ]]
	done
	[ -z "$(find "$HOME" -name '*handoff*' -o -name settings.json)" ]
	handoff setup gemini --write
	[ "$(ours "$HOME/.gemini/settings.json")" = 'AfterAgent BeforeAgent SessionStart ' ]
	for agent in pi omp; do
		handoff setup "$agent" --write
		file=$HOME/.$agent/agent/extensions/handoff.ts
		grep -qF "const handoff = \"$HF_BIN/handoff\";" "$file"
		grep -qF "[\"hook\", \"$agent\"]" "$file"
		handoff setup "$agent" --remove
		[ ! -e "$file" ]
	done
}

@test "words that make no sense" {
	run -64 handoff setup
	run -64 handoff setup nobody
	[[ $output == *claude*gemini* ]]
	run -64 handoff setup claude --write --remove
	run -64 handoff setup claude --force
}
