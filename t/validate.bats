#!/usr/bin/env bats
# hf-validate: what is taken for a brief, what is refused and why.

load helper/common

setup() {
	hf_setup
	rest='"decisions":[],"constraints":["Never push."],"artifacts":[],"verified":[],"pending":[],"next_steps":[],"uncertainties":[]'
	good="{\"goal\":\"Finish it\",$rest}"
}

# doc TEXT: a document whose summary is TEXT.
doc() {
	jq -cn --arg t "$1" '{v:1, session:{agent:"claude",id:"x"}, summary:{text:$t}}'
}

@test "a fenced brief in a model's answer is accepted, and the document passes on whole" {
	doc "Here it is:
\`\`\`json
$good
\`\`\`" >in
	hf-validate --no-ground <in >out
	[ "$(jq -r .brief.goal out)" = 'Finish it' ]
	[ "$(jq -c .session out)" = '{"agent":"claude","id":"x"}' ]
	[ "$(jq -c .brief.constraints out)" = '["Never push."]' ]
}

@test "what is wrong is named by its pointer, in the document, and the stream goes on" {
	{
		doc "{\"goal\":\"g\",\"pending\":[1]}"
		doc "$good"
	} >in
	run -65 --separate-stderr hf-validate --no-ground <in
	[ "${#lines[@]}" -eq 2 ]
	[ "$(jq -r .error.code <<<"${lines[0]}")" = invalid-brief ]
	jq -e '.error.message | startswith("/pending/0")' <<<"${lines[0]}"
	[ "$(jq -r .brief.goal <<<"${lines[1]}")" = 'Finish it' ]
}

@test "a document without a summary is an error, one in error passes untouched" {
	echo '{"v":1,"session":{"id":"x"}}' >in
	run -65 hf-validate <in
	[ "$(jq -r .error.code <<<"$output")" = missing ]
	echo '{"v":1, "error":{"code":"io","stage":"s","message":"m"}}' >in
	run -74 hf-validate <in
	[ "$output" = "$(cat in)" ]
}

@test "the schema is JSON and names the eight fields" {
	run -0 hf-validate --schema
	[ "$(jq -r '.required | length' <<<"$output")" = 8 ]
	[ "$(jq -r .additionalProperties <<<"$output")" = false ]
}

@test "nothing on stdin is status 1 without a word" {
	run -1 hf-validate </dev/null
	[ -z "$output" ]
}
