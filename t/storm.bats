#!/usr/bin/env bats
# Our commands in an order that nobody thought of: t/helper/storm.c says
# what is done and what must hold after each step. HF_SEED and HF_STEPS
# choose another run; a failure prints the seed that repeats it.

load helper/common

teardown() {
	[ -z "${OWN-}" ] || rm -rf "$OWN"
}

# Under ASan and valgrind, where a process takes twenty times as long, a
# tenth of the steps.
@test "two thousand steps in any order, a fault in a quarter of them" {
	local steps=2000
	[ "$HF_VARIANT" = release ] || steps=200
	OWN=$(mktemp -d /dev/shm/handoff-storm.XXXXXX 2>/dev/null) ||
	    OWN=$BATS_TEST_TMPDIR
	exits 0 "$HF_HELPER/storm" "$OWN/w" "${HF_SEED:-1}" \
	    "${HF_STEPS:-$steps}"
	echo "# seed ${HF_SEED:-1}: $output" >&3
}
