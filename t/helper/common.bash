# Loaded by every test file:
#
#	load helper/common
#
# It gives each test a folder of its own with a fresh HOME, state and
# TMPDIR, takes away every variable that could leak in, and puts the built
# commands first in PATH. A file with a setup of its own calls hf_setup
# first in it.
#
# What a test may use:
#	HF_ROOT		the source tree
#	HF_FIXTURES	t/fixtures in it
#	HF_BIN		the commands under test, first in PATH
#	HF_FAULT_BIN	the same with the named fault points compiled in
#	HF_HELPER	what t/helper/*.c is built into
#	HF_VARIANT	release, asan or valgrind
# They are set by t/run; without it, the usual build folder is taken.
#
# Tags: 'slow' is left out under ASan and valgrind, 'release' is run on the
# release build only, 'valgrind' marks what is run under valgrind too.

bats_require_minimum_version 1.5.0

HF_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd) || exit 1
HF_FIXTURES=$HF_ROOT/t/fixtures
: "${HF_VARIANT:=release}"
: "${HF_BIN:=$HF_ROOT/build/release/bin}"
: "${HF_FAULT_BIN:=$HF_ROOT/build/fault/bin}"
: "${HF_HELPER:=$HF_ROOT/build/fault/helper}"
export HF_ROOT HF_FIXTURES HF_VARIANT HF_BIN HF_FAULT_BIN HF_HELPER

# Unset every variable that is exported, but for the few that the test
# system and the sanitisers need.
hf_clean_environment() {
	local v
	for v in $(compgen -e); do
		case $v in
		BATS_* | HF_* | PATH | PWD | OLDPWD | SHLVL | _) ;;
		ASAN_OPTIONS | UBSAN_OPTIONS | LSAN_OPTIONS) ;;
		*) unset "$v" ;;
		esac
	done
}

hf_setup() {
	hf_clean_environment
	export HOME=$BATS_TEST_TMPDIR/home
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	export XDG_CONFIG_HOME=$HOME/.config
	export XDG_STATE_HOME=$HOME/.local/state
	export XDG_DATA_HOME=$HOME/.local/share
	export XDG_CACHE_HOME=$HOME/.cache
	export HANDOFF_HOME=$BATS_TEST_TMPDIR/state
	export LC_ALL=C TZ=UTC
	export PATH=$HF_BIN:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
	mkdir -p "$HOME" "$TMPDIR" "$BATS_TEST_TMPDIR/work"
	cd "$BATS_TEST_TMPDIR/work" || return 1
	umask 022
}

setup() {
	hf_setup
}

# with_faults COMMAND...: the command, found among the faulty ones.
with_faults() {
	PATH=$HF_FAULT_BIN:$PATH "$@"
}

# traced COMMAND...: under strace -f, the calls in $TMPDIR/trace. What is
# traced cannot look for leaks.
traced() {
	ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0" \
	    strace -f -o "$TMPDIR/trace" "$@"
}

# fail MESSAGE...: ends the test, saying why.
fail() {
	printf '%s\n' "$*" >&2
	return 1
}

# is WHAT GOT WANTED: both are shown when they differ.
is() {
	[ "$2" = "$3" ] && return 0
	printf '%s\n  got:    %s\n  wanted: %s\n' "$1" "$2" "$3" >&2
	return 1
}

# exits STATUS COMMAND...: runs the command as bats's run does, into
# $output and $stderr apart, and asserts its exit status.
exits() {
	local want=$1
	shift
	run --separate-stderr "$@"
	[ "$status" -eq "$want" ] && return 0
	printf '%s\n  status: %s, wanted %s\n  stdout: %s\n  stderr: %s\n' \
	    "$*" "$status" "$want" "$output" "$stderr" >&2
	return 1
}
