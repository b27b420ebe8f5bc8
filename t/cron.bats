#!/usr/bin/env bats
# handoff auto, unattended: from cron and from a systemd timer, for months.

load helper/common
load helper/driver

# Ours have ids of their own.
demo=$id

setup() {
	driver_setup
	mkdir bin
	# A crontab(1) of our own: the table is a file.
	cat >bin/crontab <<'END'
#!/bin/sh
table=${0%/*}/table
case $1 in
-l) [ -f "$table" ] || { echo "no crontab for somebody" >&2; exit 1; }; cat "$table" ;;
-r) rm "$table" ;;
*) cp "$1" "$table" ;;
esac
END
	chmod 755 bin/crontab
	PATH=$PWD/bin:$PATH
}

# session N [SED-SCRIPT]: the demo session under another id.
session() {
	local id
	id=$(printf '5b1d6c1e-7a52-4c1f-9a35-0000000000%02d' "$1")
	sed "s|/home/dev/project|$work|g; s/$demo/$id/g; ${2-}" \
		"$HF_FIXTURES/demo/$demo.jsonl" >"$store/$id.jsonl"
	printf '%s\n' "$id"
}

# An open turn at the end of a session.
open_turn() {
	local file=$store/$1.jsonl row
	row=$(tail -n 2 "$file" | head -n 1 | jq -c '
		{parentUuid: .uuid, isSidechain: false, cwd, sessionId,
		 type: "user", message: {role: "user", content: "One more thing."},
		 uuid: "000000ff-0000-4000-8000-00000000d3a0", timestamp: (now | todate)}')
	sed -i '/"type":"last-prompt"/d' "$file"
	printf '%s\n' "$row" >>"$file"
}

# What cron does with an entry of the table.
as_cron() {
	local command
	command=$(grep '# handoff auto$' bin/table | cut -d ' ' -f 6- | sed 's/\\%/%/g')
	(cd / && env -i HOME="$HOME" LOGNAME=somebody SHELL=/bin/sh PATH=/usr/bin:/bin \
		sh -c "umask 022; $command" </dev/null)
}

@test "cron over twenty sessions: the due ones go, each other one has its reason, then nothing" {
	config '{"autoHandoff": true}'
	handoff setup cron --write
	for n in 1 2 3 4 5 6; do handoff enable "$(session $n)"; done >/dev/null
	for n in 7 8 9; do		# hardly filled
		handoff enable "$(session $n 's/"\(cache_[a-z]*_\)\{0,1\}input_tokens":[0-9]*/"\1input_tokens":100/g')"
	done >/dev/null
	for n in 10 11 12; do		# in the middle of a turn
		id=$(session $n) && open_turn "$id" && handoff enable "$id"
	done >/dev/null
	for n in 13 14; do		# broken after it was enabled
		id=$(session $n) && handoff enable "$id" && echo 'no transcript' >"$store/$id.jsonl"
	done >/dev/null
	for n in 15 16; do hf-state request "$(session $n)"; done >/dev/null
	for n in 17 18; do session $n; done >/dev/null	# nobody asked
	id=$(session 19) && handoff enable "$id" >/dev/null && handoff disable "$id" >/dev/null
	id=$(session 20) && handoff enable "$id" >/dev/null && rm "$store/$id.jsonl"

	run -0 as_cron
	[ -z "$output" ]
	moved=$(hf-route list | sed 's/\t.*//; s/.*-0000000000//' | sort | tr '\n' ' ')
	[ "$moved" = '01 02 03 04 05 06 15 16 ' ]
	[ "$(find "$HANDOFF_HOME" -perm /077 | wc -l)" -eq 0 ]
	log=$HANDOFF_HOME/auto.log
	for n in 01 02 03 04 05 06 15 16; do grep -q "0000000000$n: handed off to" "$log"; done
	for n in 07 08 09; do grep -q "0000000000$n: not due" "$log"; done
	for n in 10 11 12; do grep -q "0000000000$n: deferred: .*turn" "$log"; done
	for n in 13 14; do grep -q "0000000000$n.*failed: " "$log"; done
	run ! grep -q '0000000000\(17\|18\|19\|20\)' "$log"
	handoff status | grep -q '0000000000*1*0*.*waits' ||
		handoff status 5b1d6c1e-7a52-4c1f-9a35-000000000010 | grep -q 'waits for'

	cp "$log" log-before
	find "$HOME/.claude" -type f | sort >before
	run -0 as_cron
	[ -z "$output" ]
	find "$HOME/.claude" -type f | sort | cmp before -
	# Of the successors alone there is something new to say.
	grep -v 'Nothing to hand off (no messages yet)$' "$log" | diff log-before -
}

@test "the crontab: other entries stay, twice is once, --remove undoes exactly" {
	run -0 --separate-stderr handoff setup cron
	[[ $output == '*/5 * * * * '*' auto --quiet # handoff auto' ]]
	[ ! -e bin/table ]
	printf '# mine\n0 4 * * * /usr/bin/backup --all %% x\n' >bin/table
	cp bin/table before
	handoff setup cron --write
	[ "$(grep -c 'handoff auto$' bin/table)" -eq 1 ]
	head -n 2 bin/table | cmp before -
	cp bin/table once
	run -0 handoff setup cron --write
	cmp once bin/table
	handoff setup cron --remove
	cmp before bin/table
	rm bin/table
	handoff setup cron --write
	handoff setup cron --remove
	[ ! -e bin/table ]
}

@test "a crontab that cannot be read is not replaced" {
	printf '#!/bin/sh\n[ "$1" = -l ] || touch "${0%%/*}/written"\necho "you may not" >&2\nexit 1\n' >bin/crontab
	run -69 handoff setup cron --write
	[[ $output == *'you may not'* ]]
	[ ! -e bin/written ]
}

@test "folders and PATH of today are in the entry, whatever is in their names" {
	export CODEX_HOME="$HOME/it's 100% mine"
	config '{"autoHandoff": true}'
	handoff setup cron --write
	grep -q '100\\%' bin/table
	grep -q "HANDOFF_HOME=$HANDOFF_HOME " bin/table
	handoff enable "$(session 1)" >/dev/null
	run -0 as_cron
	[ "$(hf-route list | wc -l)" -eq 1 ]
}

@test "the self-test at set-up fails loudly and nothing is written" {
	config '{"summarize": {"provider": "command", "command": ["no-such-program-here"]}}'
	run -78 handoff setup cron --write
	[[ $output == *no-such-program-here*'self-test'* ]]
	[ ! -e bin/table ]
	run -78 handoff setup systemd --write
	[ ! -e "$XDG_CONFIG_HOME/systemd" ]
	config '{"nonsense": true}'
	run -78 handoff setup cron --write
	[[ $output == *nonsense* ]]
	[ ! -e bin/table ]
}

@test "cron mails what needs a person, once, and not what passes by itself" {
	config '{"autoHandoff": true}'
	handoff setup cron --write
	handoff enable "$(session 1)" >/dev/null
	config '{"autoHandoff": true, "nonsense": 1}'
	run -78 as_cron
	[[ $output == *nonsense* ]]
	run -78 as_cron
	[ -z "$output" ]
	config '{"autoHandoff": true, "summarize": {"provider": "command", "command": ["sh", "-c", "echo quota >&2; exit 1"]}}'
	run -0 as_cron
	echo "$output"
	[ -z "$output" ]
	grep -q 'failed: .*quota' "$HANDOFF_HOME/auto.log"
	config '{"autoHandoff": true, "nonsense": 1}'
	run -78 as_cron
	[[ $output == *nonsense* ]]
}

@test "one run at a time: a second one leaves at once, silently" {
	mkfifo begun go
	config '{"autoHandoff": true, "summarize": {"provider": "command", "command": ["sh", "-c", "echo >'"$PWD"'/begun; read x <'"$PWD"'/go; exit 1"]}}'
	handoff enable "$(session 1)" >/dev/null
	handoff enable "$(session 2)" >/dev/null
	handoff auto >first 2>&1 3>&- &
	read -r _ <begun
	run -0 handoff auto
	[ -z "$output" ]
	run -0 timeout 5 handoff auto --quiet
	[ -z "$output" ]
	echo >go
	read -r _ <begun
	echo >go
	wait $!
	[ "$(grep -c failed first)" -eq 2 ]
}

@test "systemd: units that it takes, twice is once, others are left alone, --remove undoes" {
	printf '#!/bin/sh\necho "$*" >>"%s/calls"\n' "$PWD" >bin/systemctl
	chmod 755 bin/systemctl
	export CODEX_HOME="$HOME/a \"b\" 100% \$x"
	units=$XDG_CONFIG_HOME/systemd/user
	handoff setup systemd --write
	grep -q 'enable --now handoff.timer' calls
	[ -f "$units/handoff.timer" ]
	grep -qF 'CODEX_HOME='"$HOME"'/a \"b\" 100%% $x"' "$units/handoff.service"
	if command -v systemd-analyze >/dev/null; then
		mkdir -m 700 run
		export XDG_RUNTIME_DIR=$PWD/run
		run -0 systemd-analyze verify --user --man=no "$units/handoff.service" "$units/handoff.timer"
		[[ $output != *handoff.service:* && $output != *handoff.timer:* ]]
	fi
	run -0 handoff setup systemd --write
	[[ $output == *'service: nothing to do'* ]]
	handoff setup systemd --remove
	[ -z "$(ls "$units")" ]
	echo '[Unit]' >"$units/handoff.timer"
	run -78 handoff setup systemd --write
	[ "$(cat "$units/handoff.timer")" = '[Unit]' ]
	handoff setup systemd --remove
	[ "$(cat "$units/handoff.timer")" = '[Unit]' ]
}

@test "records are pruned once a day" {
	config '{"autoHandoff": true, "keepDays": 1}'
	handoff enable "$(session 1)" >/dev/null
	handoff auto
	[ -f "$HANDOFF_HOME/pruned" ]
}

@test "doctor says what works, what is not there, and what to do" {
	session 1 >/dev/null
	run -0 handoff doctor
	[[ $output == *"ok  all of them"*'the defaults'*'nothing is sent'*"hooks do not call us: 'handoff setup claude --write'"*'cron --write'* ]]
	handoff setup claude --write
	handoff setup cron --write
	config '{"autoHandoff": true, "summarize": {"provider": "anthropic", "model": "m"}}'
	run -78 handoff doctor
	[[ $output == *'!!  ANTHROPIC_API_KEY is not set'*"hooks call us"*'cron runs it'* ]]
	sed -i "s|$HF_BIN/handoff|/gone/handoff|" "$HOME/.claude/settings.json"
	config '{}'
	run -78 handoff doctor
	[[ $output == *'!!  its hooks call what is not there: /gone/handoff'* ]]
	echo '{"hooks": [' >"$HOME/.claude/settings.json"
	run -78 handoff doctor
	[[ $output == *'!!  '*settings.json* ]]
	while IFS= read -r line; do [ "${#line}" -le 130 ]; done <<<"$output"
}
