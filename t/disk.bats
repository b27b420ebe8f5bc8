#!/usr/bin/env bats
# Disks that are full, out of inodes, read-only, gone or without locks:
# what is said, what is left, and that it goes on afterwards. Small file
# systems in memory are mounted, which needs root.

load helper/common
load helper/state

teardown() {
	if [ -n "${DISK-}" ]; then
		umount -l "$DISK" 2>/dev/null || true
	fi
}

# disk OPTIONS FOLDER: a small file system there.
disk() {
	[ "$(id -u)" -eq 0 ] || skip 'only root can mount a small disk'
	mkdir -p "$2" && chmod 700 "$2"
	mount -t tmpfs -o "mode=700,$1" none "$2" 2>/dev/null ||
	    skip 'a disk in memory cannot be mounted here'
	DISK=$2
}

# Nothing of the handoff is there, and the reason was said.
nothing_but() {
	[[ $output$stderr == *"$1"* ]] || fail "said: $output$stderr"
	is successors "$(successors)" ''
	is route "$(redirect)" ''
	untouched
}

# Whoever was at it has ended: what is left is undone, and it goes on.
goes_on() {
	exits 0 hf-commit recover
	briefed
	hf-commit <brief >committed
	invariants
	[ -n "$(redirect)" ]
	is open "$(ls "$HANDOFF_HOME/open")" ''
}

@test "the state's disk is full: said, nothing made; with room it goes on" {
	claude_session
	disk size=64k "$HANDOFF_HOME"
	hf-state enable "$ID"
	hf-metrics "$SRC" | hf-state join | hf-trigger --manual >trigger
	cat /dev/zero >"$HANDOFF_HOME/fill" 2>/dev/null || true
	exits 74 hf-commit begin <trigger
	nothing_but 'no space left on the disk'
	exits 0 hf-state status
	rm "$HANDOFF_HOME/fill"
	goes_on
}

@test "the state's disk fills while the brief is written" {
	claude_session
	disk size=64k "$HANDOFF_HOME"
	briefed
	cat /dev/zero >"$HANDOFF_HOME/fill" 2>/dev/null || true
	exits 74 hf-commit <brief
	nothing_but 'no space left on the disk'
	rm "$HANDOFF_HOME/fill"
	hf-state disable "$ID"
	goes_on
}

@test "no inode is left: said, nothing made; with some it goes on" {
	claude_session
	disk size=1m,nr_inodes=40 "$HANDOFF_HOME"
	hf-state enable "$ID"
	hf-metrics "$SRC" | hf-state join | hf-trigger --manual >trigger
	local i=0
	while : 2>/dev/null >"$HANDOFF_HOME/fill$i"; do
		i=$((i + 1))
	done
	exits 74 hf-commit begin <trigger
	nothing_but 'no space left on the disk'
	rm "$HANDOFF_HOME"/fill*
	goes_on
}

@test "the state becomes read-only: status works, a handoff says why not" {
	claude_session
	disk size=1m "$HANDOFF_HOME"
	briefed
	mount -o remount,ro "$HANDOFF_HOME"
	exits 74 hf-commit <brief
	nothing_but 'Read-only file system'
	exits 0 hf-state status "$ID"
	[[ $output == *'under way'* ]]
	mount -o remount,rw "$HANDOFF_HOME"
	hf-commit <brief >committed
	invariants
	[ -n "$(redirect)" ]
}

@test "the successor's disk is full behind the redirect: the brief is kept" {
	disk size=128k "$HOME/.claude"
	claude_session
	briefed
	HANDOFF_CRASH_AT=commit.publish with_faults hf-commit <brief || true
	rm "$STORE"/.handoff-*
	cat /dev/zero >"$HOME/.claude/fill" 2>/dev/null || true
	exits 75 hf-commit recover
	[[ $stderr == *'no space left on the disk'* ]]
	exits 0 hf-state status "$ID"
	[[ $output == *'no space left on the disk'* ]]
	[[ $output == *"'handoff recover' completes it"* ]]
	exits 0 hf-commit show "$ID"
	[[ $output == *'Document the parser'* ]]
	rm "$HOME/.claude/fill"
	exits 0 hf-commit recover
	invariants
	is phase "$(phase)" started
}

@test "the state vanishes while the brief is written: nothing is made" {
	claude_session
	briefed
	rm -r "$HANDOFF_HOME"
	exits 65 hf-commit <brief
	nothing_but 'there is no record of handoff'
	goes_on
}

@test "a quota: said in words" {
	claude_session
	briefed
	HANDOFF_FAIL_AT=file.write:EDQUOT PATH=$HF_FAULT_BIN:$PATH \
	    exits 74 hf-commit <brief
	nothing_but 'no space left in the quota'
}

@test "a file system without locks is refused with words" {
	claude_session
	hf-state enable "$ID"
	exits 74 traced -e trace=flock -e inject=flock:error=ENOLCK \
	    hf-state disable "$ID"
	[[ $stderr == *'this file system offers no locks (flock)'* ]]
}
