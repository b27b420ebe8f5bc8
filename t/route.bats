#!/usr/bin/env bats
# hf-route: the stage, and routes by hand. What resolving does is also
# tested by t/unit/test_state.c.

load helper/common
load helper/state

@test "resolve: to the end, one line; nobody knows it: 1" {
	hf-route add a b
	hf-route add b c
	exits 0 hf-route resolve a
	is end "$output" c
	exits 0 hf-route resolve c
	is end "$output" c
	exits 1 hf-route resolve nobody
	is output "$output" ''
	[[ $stderr == "hf-route: 'nobody' is not known here" ]]
}

@test "add: self and circles are 65, a fork is 69, the same again is 0" {
	exits 65 hf-route add a a
	hf-route add a b
	exits 0 hf-route add a b
	exits 65 hf-route add b a
	exits 69 hf-route add a c
	hf-route add b c
	exits 65 hf-route add c a
	is end "$(hf-route resolve a)" c
}

@test "remove: exact, 1 when there is none" {
	hf-route add a b
	hf-route add b c
	hf-route remove b
	is end "$(hf-route resolve a)" b
	exits 1 hf-route remove b
	exits 1 hf-route remove nobody
}

@test "list and check" {
	hf-route add a b
	exits 0 hf-route list
	is list "$output" $'any:a\tany:b'
	exits 0 hf-route check
	# A circle that somebody wrote by hand, an end that is gone, damage.
	jq -c '.redirect = {agent:"any",id:"a"}' \
	    <"$HANDOFF_HOME/mains/any.b.json" >x
	cp x "$HANDOFF_HOME/mains/any.b.json"
	exits 65 hf-route resolve a
	[[ $stderr == *'any.a -> any.b -> any.a'* ]]
	exits 65 hf-route check
	rm "$HANDOFF_HOME/mains/any.b.json"
	exits 65 hf-route check
	[[ $stderr == *"leads to 'b', which nobody knows"* ]]
	echo '{' >"$HANDOFF_HOME/mains/any.x.json"
	exits 65 hf-route check
	exits 0 hf-route resolve a
}

@test "ids are names: none leaves the state folder, none is cut" {
	hf-route add 'x/../../evil' '../b c'
	is end "$(hf-route resolve 'x/../../evil')" '../b c'
	local long
	long=$(printf 'a%.0s' {1..300})
	hf-route add "$long" "${long}b"
	is end "$(hf-route resolve "$long")" "${long}b"
	exits 1 hf-route resolve "${long%a}"
	is outside "$(find "$BATS_TEST_TMPDIR" -name '*evil*' |
	    grep -v "^$HANDOFF_HOME/" || true)" ''
	exits 64 hf-route add '' b
}

@test "one id of two agents: named with its agent" {
	claude_session same-id-of-two
	hf-state enable "$SRC"
	pi_session same-id-of-two
	hf-state enable "$SRC"
	exits 64 hf-route resolve same-id-of-two
	[[ $stderr == *'claude:same-id-of-two, pi:same-id-of-two'* ]]
	hf-route add pi:same-id-of-two elsewhere
	is end "$(hf-route resolve pi:same-id-of-two)" elsewhere
	is end "$(hf-route resolve claude:same-id-of-two)" same-id-of-two
}

@test "the stage adds where it went, and how to go on there" {
	claude_session
	briefed
	hf-commit <brief >committed
	exits 0 hf-route <committed
	printf '%s\n' "$output" >routed
	is from "$(member routed .route.from)" "$ID"
	is to "$(member routed .route.to)" "$(redirect)"
	is path "$(member routed .route.path)" "$(successors)"
	is resume "$(member routed '.route.resume | join(" ")')" \
	    "claude --resume $(redirect)"
	# What was not handed off passes as it is.
	exits 0 hf-route <metrics
	is same "$output" "$(cat metrics)"
}

@test "a transcript that is gone still resolves, and resume says what is wrong" {
	claude_session
	briefed
	hf-commit <brief >committed
	rm "$SRC"
	is end "$(hf-route resolve "$ID")" "$(redirect)"
	exits 0 hf-route resume -n "$ID"
	[[ $output == "cd "*"/project && claude --resume $(redirect)" ]]
	rm "$(successors)"
	exits 1 hf-route resume -n "$ID"
}

@test "a route by hand binds the session that it is about" {
	claude_session
	hf-route add "$ID" elsewhere
	exits 1 hf-trigger --manual < <(hf-metrics "$SRC" | hf-state join)
	is guard "$(printf '%s' "$output" | jq -r .trigger.guard)" redirected
	# And one under way cannot commit on top of it.
	pi_session
	briefed
	hf-route add "$ID" elsewhere
	exits 75 hf-commit <brief
	is successors "$(successors)" ''
	is end "$(hf-route resolve "$ID")" elsewhere
}

@test "unroute, then hand off again" {
	claude_session
	briefed
	hf-commit <brief >one
	hf-state unroute "$ID"
	is end "$(hf-route resolve "$ID")" "$ID"
	exits 0 hf-commit recover
	briefed
	hf-commit <brief >two
	is end "$(hf-route resolve "$ID")" "$(member two .commit.target.id)"
	is records "$(records)" 2
}

@test "twenty at once add routes from one end to the other: no circle" {
	local i pids=''
	for i in {1..20}; do
		hf-route add "n$i" "n$((i % 20 + 1))" 2>"err$i" 3>&- &
		pids="$pids $!"
	done
	local failed=0
	for i in $pids; do
		wait "$i" || failed=$((failed + 1))
	done
	is refused "$failed" 1
	exits 0 hf-route check
	is routes "$(hf-route list | wc -l)" 19
}

@test "wrong usage is 64" {
	exits 64 hf-route frobnicate
	exits 64 hf-route add a
	exits 64 hf-route resolve
	exits 64 hf-route list x
}
