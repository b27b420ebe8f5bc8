#!/usr/bin/env bats
# hf-summarize with a model's API: the request, every end, retries, limits,
# cancelling, keys, TLS, several documents at once. mockd is the server.

load helper/common

id=5b1d6c1e-7a52-4c1f-9a35-2f6f0c9e8d10
key=k-0123456789-0123456789
brief='{\"goal\":\"G\",\"decisions\":[],\"constraints\":[],\"artifacts\":[],\"verified\":[],\"pending\":[],\"next_steps\":[],\"uncertainties\":[]}'

setup() {
	hf_setup
	cp "$HF_FIXTURES/demo/$id.jsonl" .
	hf-metrics "$id.jsonl" >doc
	export ANTHROPIC_API_KEY=$key OPENAI_API_KEY=$key GEMINI_API_KEY=$key
	mkdir m
	streams
	mock='' front=''
}

teardown() {
	[ -z "$mock$front" ] || kill $mock $front 2>/dev/null || :
}

# The same brief in the words of each API.
streams() {
	cat >m/anthropic.sse <<END
event: message_start
data: {"type":"message_start","message":{"model":"m-1","usage":{"input_tokens":900,"output_tokens":1}}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"$brief"}}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":77}}

data: {"type":"message_stop"}

END
	cat >m/openai.sse <<END
data: {"model":"m-1","choices":[{"delta":{"content":"$brief"}}]}

data: {"choices":[{"delta":{},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":900,"completion_tokens":77}}

data: [DONE]

END
	cat >m/openai-responses.sse <<END
data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"$brief"}

data: {"type":"response.completed","response":{"model":"m-1","status":"completed","usage":{"input_tokens":900,"output_tokens":77}}}

END
	cat >m/gemini.sse <<END
data: {"candidates":[{"content":{"parts":[{"text":"$brief"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":900,"candidatesTokenCount":77},"modelVersion":"m-1"}

END
}

# serve LINE...: a server that answers so; $url is where.
serve() {
	printf '%s\n' "$@" >m/script
	"$HF_HELPER/mockd" m 3>&- &
	mock=$!
	for _ in $(seq 100); do
		[ ! -f m/port ] || break
		sleep 0.05
	done
	url=http://127.0.0.1:$(cat m/port)
}

# again LINE...: the same server, from its next request on.
again() {
	kill "$mock"
	wait "$mock" || :
	rm -f m/port m/log m/*.req m/*.body
	serve "$@"
}

# summarize PROVIDER [OPTION...]
summarize() {
	local p=$1
	shift
	hf-summarize --provider "$p" --model m-0 --base-url "$url" "$@" <doc
}

requests() {
	if [ -f m/log ]; then wc -l <m/log; else echo 0; fi
}

# says STATUS CODE TEXT [REQUESTS]: of the last "run".
says() {
	is status "$status" "$1"
	is code "$(jq -r .error.code <<<"$output")" "$2"
	[[ $(jq -r .error.message <<<"$output") == *"$3"* ]] ||
		fail "message: $output"
	is requests "$(requests)" "${4:-1}"
}

@test "each API: a plain body, a chunked one, one in single bytes" {
	for p in anthropic openai openai-responses gemini; do
		[ -z "$mock" ] || kill "$mock"
		rm -f m/port
		serve "200 $p.sse" "200 $p.sse chunked split=7" \
			"200 $p.sse split=1"
		for _ in 1 2 3; do
			summarize "$p" >out
			is "$p" "$(jq -r .summary.text out | jq -r .goal)" G
			is model "$(jq -r .summary.model out)" m-1
			is usage "$(jq -c .summary.usage out | jq -r '"\(.input) \(.output)"')" '900 77'
			is attempts "$(jq .summary.attempts out)" 1
		done
	done
}

@test "what is sent: model, limit, schema, one user message that ends with the instruction" {
	serve '200 anthropic.sse' '200 openai.sse' '200 openai-responses.sse' \
		'200 gemini.sse'
	summarize anthropic >/dev/null
	summarize openai >/dev/null
	summarize openai-responses >/dev/null
	summarize gemini >/dev/null
	jq -e '.model == "m-0" and .max_tokens == 6000 and .stream and (.messages | length == 1)' m/1.body
	jq -e '.output_config.format.schema.required | length == 8' m/1.body
	jq -e '.max_tokens == 6000 and .response_format.json_schema.strict and .stream_options.include_usage' m/2.body
	jq -e '.max_output_tokens == 6000 and .store == false and .text.format.schema.additionalProperties == false' m/3.body
	jq -e '.generationConfig | .maxOutputTokens == 6000 and .responseMimeType == "application/json"' m/4.body
	hf-summarize --prompt <doc >prompt
	for q in .messages[0].content .messages[0].content .input[0].content .contents[0].parts[0].text; do
		n=$((${n:-0} + 1))
		jq -j "$q" "m/$n.body" | cmp - prompt
	done
	grep -q '^POST /v1/messages ' m/1.req
	grep -qi "^x-api-key: $key" m/1.req
	grep -qi '^anthropic-version: ' m/1.req
	grep -qi "^authorization: Bearer $key" m/2.req
	grep -q '^POST /v1/responses ' m/3.req
	grep -q '^POST /v1beta/models/m-0:streamGenerateContent?alt=sse ' m/4.req
	grep -qi "^x-goog-api-key: $key" m/4.req
}

@test "a server that does not stream is understood" {
	cat >m/a.json <<END
{"model":"m-1","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}
END
	echo '{"model":"m-1","choices":[{"message":{"content":"one"},"finish_reason":"stop"}]}' >m/o.json
	echo '[{"candidates":[{"content":{"parts":[{"text":"on"}]}}]},{"candidates":[{"content":{"parts":[{"text":"e"}]},"finishReason":"STOP"}]}]' >m/g.json
	serve '200 a.json' '200 o.json' '200 g.json'
	is text "$(summarize anthropic | jq -r .summary.text)" "one
two"
	is text "$(summarize openai | jq -r .summary.text)" one
	is text "$(summarize gemini | jq -r .summary.text)" one
}

@test "no text, no brief: each end its own code, one request each" {
	stop() {
		printf 'data: {"choices":[{"delta":{"content":"%s"},"finish_reason":"%s"}]}\n\n' "$1" "$2"
	}
	stop '{' length >m/length.sse
	stop '' content_filter >m/filter.sse
	stop 'x' tool_calls >m/tool.sse
	stop '  \n' stop >m/blank.sse
	printf 'data: {"choices":[{"delta":{"reasoning_content":"x"},"finish_reason":"stop"}]}\n\n' >m/thought.sse
	echo '<html>' >m/page.html
	serve '200 length.sse'
	run summarize openai
	says 65 truncated maxTokens
	again '200 filter.sse'
	run summarize openai
	says 69 refused content_filter
	again '200 tool.sse'
	run summarize openai
	says 65 empty tool
	again '200 blank.sse'
	run summarize openai
	says 65 empty 'is empty'
	again '200 thought.sse'
	run summarize openai
	says 65 empty 'only thought'
	again '200 page.html type=text/html'
	run summarize openai
	says 69 refused baseUrl
	again '302 - header=Location:http://127.0.0.1:9/'
	run summarize openai
	says 69 refused redirects
}

@test "servers of one's own: thoughts in the text, their words for an end" {
	end() {
		printf 'data: {"choices":[{"delta":{"content":"%s"},"finish_reason":"%s"}]}\n\n' "$2" "$3" >"m/$1.sse"
	}
	end tags "\\n<think>{ \\n</think>\\n\\n$brief" stop
	end half "Well.</think>\\n$brief" stop
	end open '<think>{' stop
	end error '{' error
	end length '{' MAX_TOKENS
	end filter '{' sensitive
	serve '200 tags.sse' '200 half.sse'
	for _ in 1 2; do
		is text "$(summarize openai | jq -r '.summary.text | fromjson.goal')" G
	done
	again '200 open.sse'
	run summarize openai
	says 65 empty 'only thought'
	again '200 error.sse' '200 openai.sse'
	is attempts "$(summarize openai | jq .summary.attempts)" 2
	echo '{"choices":[{"message":{"content":"x' >m/half.json
	again '200 half.json' '200 openai.sse'
	is attempts "$(summarize openai | jq .summary.attempts)" 2
	again '200 length.sse'
	run summarize openai
	says 65 truncated MAX_TOKENS
	again '200 filter.sse'
	run summarize openai
	says 69 refused sensitive
}

@test "what is no API: its own words, the base URL asked for, no second try" {
	echo 'Ollama is running' >m/plain.txt
	echo '{"detail":[{"msg":"field required"}]}' >m/detail.json
	printf '%0110d %s\n' 0 "$key" >m/key.txt
	serve '200 plain.txt type=text/plain'
	run summarize openai
	says 69 refused baseUrl
	again '404 plain.txt type=text/plain'
	run summarize openai
	says 69 refused '404): Ollama is running; is summarize.baseUrl right?'
	again '422 detail.json'
	run summarize openai
	says 69 refused 'field required'
	again '400 key.txt type=text/plain'
	run summarize openai
	says 69 refused 000
	[[ $output != *k-01234* ]] || fail "half a key: $output"
	again '407 -'
	https_proxy=$url run hf-summarize -p openai -m m-0 \
		--base-url https://handoff.invalid/v1 <doc
	says 69 refused 'the proxy declines'
}

@test "errors: what is final is asked once, what may pass again" {
	echo '{"error":{"type":"authentication_error","message":"invalid key"}}' >m/401.json
	echo '{"error":{"type":"overloaded_error","message":"Overloaded"}}' >m/529.json
	serve '401 401.json'
	run summarize anthropic
	says 69 refused 'invalid key'
	for status in 408 409 429 500 503 529; do
		again "$status 529.json" '200 anthropic.sse'
		summarize anthropic >out
		is attempts "$(jq .summary.attempts out)" 2
	done
	again reset '200 anthropic.sse cut=300' '200 anthropic.sse chunked cut=300' '200 anthropic.sse'
	summarize anthropic >out
	is attempts "$(jq .summary.attempts out)" 4
	is requests "$(requests)" 4
}

@test "an error event and an event that is no JSON are no answer" {
	printf 'data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: {"error":{"message":"bad","code":400}}\n\n' >m/e.sse
	printf 'data: {"choices":[{"delta":{"content":"x"}}]}\n\ndata: {"choi\n\n' >m/j.sse
	serve '200 e.sse'
	run summarize openai
	says 69 refused bad
	again '200 j.sse' '200 openai.sse'
	is attempts "$(summarize openai | jq .summary.attempts)" 2
}

@test "Retry-After: seconds, milliseconds, a date; beyond the deadline at once" {
	serve '429 - header=Retry-After:1' '200 openai.sse'
	a=$(date +%s%N)
	summarize openai >/dev/null
	[ $((($(date +%s%N) - a) / 1000000)) -ge 1000 ]
	again '503 - header=retry-after-ms:1200' '200 openai.sse'
	a=$(date +%s%N)
	summarize openai >/dev/null
	[ $((($(date +%s%N) - a) / 1000000)) -ge 1200 ]
	again '429 - header=Retry-After:3600'
	run summarize openai
	says 75 rate-limited '3600 s'
	again '503 - header=Retry-After:3600'
	run summarize openai
	says 75 unavailable '3600 s'
}

@test "too long: shrunk once, the user's words stay; then it is an overflow" {
	echo '{"error":{"message":"This model'"'"'s maximum context length is 8000 tokens. However, you requested 16000 tokens"}}' >m/400.json
	serve '400 400.json' '200 openai.sse'
	summarize openai >out
	[ "$(stat -c %s m/2.body)" -lt "$(stat -c %s m/1.body)" ]
	grep -q 'Never push to main' m/2.body
	grep -q 'bytes left out' m/2.body
	jq -e '.summary.elided > 0 and .summary.attempts == 2' out
	again '400 400.json'
	run summarize openai
	says 69 overflow 'too long' 2
	again '429 400.json header=Retry-After:3600'
	run summarize openai
	says 75 rate-limited ''
}

@test "a server without a parameter is asked without it" {
	echo '{"error":{"message":"response_format json_schema is not supported"}}' >m/400.json
	echo '{"error":{"message":"Unrecognized request argument: stream_options"}}' >m/opt.json
	serve '400 400.json' '422 opt.json' '200 openai.sse'
	summarize openai >/dev/null
	jq -e 'has("response_format") and has("stream_options")' m/1.body
	jq -e '(has("response_format") | not) and has("stream_options")' m/2.body
	jq -e '(has("response_format") or has("stream_options")) | not' m/3.body
	again '400 400.json'
	run summarize openai
	says 69 refused response_format 2
}

@test "a context: all before the trailing message stays, tools may not be called" {
	for p in anthropic openai openai-responses gemini; do
		case $p in
		openai-responses) list=input ;;
		gemini) list=contents ;;
		*) list=messages ;;
		esac
		printf '{ "model":"own",\n "system" : 1.50, "tools":[{"name":"T"}],"%s":[ {"role":"user","x":"\\u00e9"}' "$list" >before
		{ cat before; echo ' ] }'; } >ctx
		[ -z "$mock" ] || kill "$mock"
		rm -f m/port
		serve "200 $p.sse"
		hf-summarize -p "$p" --base-url "$url" --context ctx \
			${list:+$([ $p != gemini ] || echo -m m-0)} <doc >out
		head -c "$(stat -c %s before)" m/1.body | cmp - before
		jq -e ".$list | length == 2" m/1.body
		jq -e "(.${list}[1] | tostring | contains(\"handoff brief\"))" m/1.body
		jq -e '.tool_choice == "none" or .tool_choice.type == "none" or .toolConfig.functionCallingConfig.mode == "NONE"' m/1.body
		jq -e '.model == "own"' m/1.body
		rm -f m/1.*
	done
}

@test "a context: tool choice auto once; a secret is masked and it is said" {
	echo '{"error":{"message":"tool_choice none is not supported"}}' >m/400.json
	echo '{"model":"m","tools":[{"name":"T"}],"messages":[{"role":"user","content":"a"}]}' >ctx
	serve '400 400.json' '200 anthropic.sse'
	summarize anthropic --context ctx >/dev/null
	jq -e '.tool_choice.type == "none"' m/1.body
	jq -e '.tool_choice.type == "auto"' m/2.body
	again '400 400.json'
	run summarize anthropic --context ctx
	says 69 refused 'tool_choice' 2
	again '200 anthropic.sse'
	sed -i 's/"a"/"a '"$key"' b"/' ctx
	summarize anthropic --context ctx 2>err >/dev/null
	grep -q 'masked' err
	run ! grep -q "$key" m/1.body
}

@test "a context that is too long: the transcript goes instead" {
	echo '{"error":{"message":"prompt is too long: 30000 tokens > 20000 maximum"}}' >m/400.json
	jq -cn '{model: "m", messages: [range(4000) | {role: "user", content: "0123456789"}]}' >ctx
	serve '400 400.json' '200 anthropic.sse'
	summarize anthropic --context ctx 2>err >out
	grep -q 'transcript is sent instead' err
	jq -e '.messages | length == 1' m/2.body
	grep -q 'END-OF-TRANSCRIPT' m/2.body
}

@test "what is no context is an error" {
	serve '200 anthropic.sse'
	echo '[]' >ctx
	run summarize anthropic --context ctx
	is code "$(jq -r .error.code <<<"$output")" invalid
	: >ctx
	exits 65 summarize anthropic --context ctx
	exits 1 summarize anthropic --context none
	is requests "$(requests)" 0
}

@test "keys: from a variable or a program, never where they do not belong" {
	serve '200 openai.sse' '401 echo.json'
	unset OPENAI_API_KEY
	mkdir -p "$XDG_CONFIG_HOME/handoff"
	echo '{"summarize":{"keyEnv":"OTHER_KEY"}}' >"$XDG_CONFIG_HOME/handoff/config.json"
	OTHER_KEY=$key summarize openai >/dev/null
	grep -q "Bearer $key" m/1.req
	echo '{"summarize":{"keyCommand":["echo","'"$key"'"]}}' >"$XDG_CONFIG_HOME/handoff/config.json"
	echo '{"error":{"message":"bad key '"$key"' given"}}' >m/echo.json
	run summarize openai
	is status "$status" 69
	[[ $output != *"$key"* ]]
	echo '{"summarize":{"keyCommand":["false"]}}' >"$XDG_CONFIG_HOME/handoff/config.json"
	run summarize openai
	says 78 config keyCommand 2
	rm "$XDG_CONFIG_HOME/handoff/config.json"
	url=https://api.example.com
	run summarize openai
	says 78 config OPENAI_API_KEY 2
}

@test "headers of one's own; one that holds the key takes its place" {
	serve '200 openai.sse'
	mkdir -p "$XDG_CONFIG_HOME/handoff"
	echo '{"summarize":{"headers":{"X-Team":"a b","api-key":"own"}}}' >"$XDG_CONFIG_HOME/handoff/config.json"
	summarize openai >/dev/null
	grep -q '^X-Team: a b' m/1.req
	grep -q '^api-key: own' m/1.req
	run ! grep -qi '^authorization' m/1.req
}

@test "addresses that nothing is sent to" {
	serve '200 openai.sse'
	port=${url##*:}
	for url in "http://u:p@127.0.0.1:$port" http://192.0.2.1/v1 \
		"ftp://127.0.0.1:$port" "127.0.0.1:$port" \
		http://127.0.0.1.example.com/; do
		run summarize openai
		says 78 config '' 0
	done
	run hf-summarize -p openai --base-url "http://127.0.0.1:$port" <doc
	says 78 config summarize.model 0
}

@test "a body without end is cut off at its limit" {
	serve 'big 100000000'
	[ "$HF_VARIANT" != release ] || ulimit -v 200000
	run summarize openai
	says 69 overflow 'more than 33554432 bytes'
}

@test "the deadline holds: silence, a slow stream, nobody there" {
	serve hang
	run summarize openai --timeout 1
	says 75 timeout ''
	again '200 openai.sse split=1 delay=100'
	run summarize openai --timeout 1
	says 75 timeout ''
	a=$(date +%s%N)
	url=http://127.0.0.1:9
	run summarize openai --timeout 2
	is status "$status" 75
	[ $((($(date +%s%N) - a) / 1000000)) -lt 4000 ]
}

# await CONDITION...: until the command succeeds.
await() {
	for _ in $(seq 200); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.05
	done
	fail "never came: $*"
}

asked() { [ "$(requests)" -ge "$1" ]; }
connected() { ss -tnH state "$1" dst "$2" | grep -q .; }

# cancelled CONDITION... -- OPTION...: hf-summarize, ended by TERM once the
# condition holds; prints the milliseconds that it then took.
cancelled() {
	local cond=() pid a st=0
	while [ "$1" != -- ]; do
		cond+=("$1")
		shift
	done
	shift
	hf-summarize -p openai -m m "$@" <doc >out 2>err 3>&- &
	pid=$!
	await "${cond[@]}"
	a=$(date +%s%N)
	kill -TERM "$pid"
	wait "$pid" || st=$?
	echo "# ${cond[*]}: ended in $((($(date +%s%N) - a) / 1000000)) ms"
	is status "$st" 143
	[ ! -s out ]
	is stderr "$(cat err)" 'hf-summarize: cancelled by SIGTERM'
}

@test "a signal ends it at once: waiting, streaming, between two tries, in TLS" {
	serve hang '200 openai.sse split=1 delay=100' '429 - header=Retry-After:60'
	cancelled asked 1 -- --base-url "$url"
	cancelled asked 2 -- --base-url "$url"
	cancelled asked 3 -- --base-url "$url"
	again hang
	cancelled connected established "${url#*//}" -- \
		--base-url "https://${url#*//}"
}

# In a network of our own: a name server that hears and says nothing, and an
# address that nobody has.
@test "a signal ends it at once: looking up a name, connecting" {
	unshare -mn true 2>/dev/null || skip 'needs namespaces of its own'
	cat >silent <<'END'
. "$1"
mount --bind "$PWD/resolv.conf" /etc/resolv.conf
ip link set lo up
ip link add v0 type veth peer name v1
ip addr add 198.51.100.1/24 dev v0
ip link set v0 up
ip link set v1 up
ip neigh add 198.51.100.7 lladdr 02:00:00:00:00:07 dev v0
socat -u UDP-RECV:53,bind=127.0.0.1 CREATE:queries 3>&- &
mock=$!
await eval '[ -e queries ]'
cancelled eval '[ -s queries ]' -- --base-url https://api.example.com
cancelled connected syn-sent 198.51.100.7 -- --base-url https://198.51.100.7
kill "$mock"
END
	echo 'nameserver 127.0.0.1' >resolv.conf
	declare -f fail is run await asked connected cancelled requests >functions
	unshare -mn bash -eu silent functions
}

@test "several at once: none lost, connections kept, in order when asked" {
	serve '200 openai.sse'
	jq -c 'range(1000) as $n | . + {n: $n}' doc >docs
	hf-summarize -p openai -m m --base-url "$url" --jobs 8 <docs >out
	is done "$(jq -r 'select(.summary.text) | .n' out | sort -nu | wc -l)" 1000
	[ "$(cut -d ' ' -f 2 m/log | sort -u | wc -l)" -le 8 ]
	head -n 100 docs >some
	hf-summarize -p openai -m m --base-url "$url" --jobs 8 --ordered <some |
		jq .n | sort -nc
	hf-summarize -p openai -m m --base-url "$url" <some >/dev/null
	is connections "$(cut -d ' ' -f 2 m/log | tail -n 100 | sort -u | wc -l)" 1
}

@test "several at once: what is not due or no document is treated as one by one" {
	serve '200 openai.sse'
	{
		cat doc
		echo '{"v":1,"n":2,"trigger":{"due":false}}'
		echo 'nonsense'
		cat doc
		printf '{"v":1}'
	} >docs
	hf-summarize -p openai -m m --base-url "$url" <docs >one 2>err1 || st1=$?
	hf-summarize -p openai -m m --base-url "$url" --jobs 3 --ordered <docs >many 2>err2 || st2=$?
	is status "$st2" "$st1"
	cmp err1 err2
	is documents "$(jq -c '[.n, .summary.text]' many)" "$(jq -c '[.n, .summary.text]' one)"
	exits 1 hf-summarize -p openai --jobs 2 </dev/null
}

@test "several at once, ended in the middle: whole lines, and nobody is left" {
	serve '200 openai.sse split=40 delay=20'
	jq -c 'range(1000) as $n | . + {n: $n}' doc >docs
	hf-summarize -p openai -m m --base-url "$url" --jobs 8 <docs >out 3>&- &
	pid=$!
	await grep -q . out
	workers=$(ps -o pid= --ppid "$pid")
	[ -n "$workers" ]
	kill -TERM "$pid"
	st=0
	wait "$pid" || st=$?
	is status "$st" 143
	jq -e .summary out >/dev/null
	[ -z "$(tail -c 1 out | tr -d '\n')" ]
	for pid in $workers; do
		run ! kill -0 "$pid"
	done
}

@test "a span is exported, without content; a collector that is away fails nothing" {
	echo '{}' >m/ok.json
	serve '200 openai.sse' '200 ok.json'
	OTEL_EXPORTER_OTLP_ENDPOINT=$url/ OTEL_EXPORTER_OTLP_HEADERS='a=b%20c' \
		summarize openai >/dev/null
	grep -q '^POST /v1/traces ' m/2.req
	grep -q '^a: b c' m/2.req
	jq -e '.resourceSpans[0].scopeSpans[0].spans[0] | .name == "chat m-0" and (.traceId | length == 32)' m/2.body
	run ! grep -qE 'trailing|goal' m/2.body
	again '200 openai.sse'
	OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9 summarize openai >out 2>err
	jq -e .summary.text out
	grep -q 'no span' err
}

@test "an agent as provider: a session of its own only, with our mark, without the agent's" {
	mkdir bin
	cat >bin/claude <<'END'
#!/bin/sh
printf '%s\n' "$@" >../args
env >../environment
printf '{"type":"result","subtype":"success","is_error":false,"result":"{}","stop_reason":"end_turn"}\n'
END
	chmod 755 bin/claude
	mkdir here
	sed -i "s|\"/home/dev/project\"|\"$PWD/here\"|g" "$id.jsonl"
	hf-metrics "$id.jsonl" >doc
	sum=$(sha256sum "$id.jsonl")
	PATH=$PWD/bin:$PATH CLAUDECODE=1 hf-summarize -p claude <doc >out
	is text "$(jq -r .summary.text out)" '{}'
	grep -q 'PreToolUse' args
	grep -qx -e --fork-session args
	grep -q '^HANDOFF_FORK=1$' environment
	run ! grep -q '^CLAUDECODE=' environment
	is source "$(sha256sum "$id.jsonl")" "$sum"
	PATH=$PWD/bin:$PATH run hf-summarize -p codex <doc
	is code "$(jq -r .error.code <<<"$output")" unsupported
	PATH=$HF_BIN:/usr/bin:/bin run hf-summarize -p claude <doc
	is code "$(jq -r .error.code <<<"$output")" config
}

# ---- TLS ----

# certificate NAME SUBJECT-ALT-NAME [OPTION...]: one of our own CA.
certificate() {
	local name=$1 alt=$2
	shift 2
	[ -f ca.pem ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
		-keyout ca.key -out ca.pem -days 30 -subj /CN=test-ca \
		-addext basicConstraints=critical,CA:TRUE 2>/dev/null
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$name.key" -out "$name.csr" \
		-subj "/CN=$name" 2>/dev/null
	printf 'subjectAltName=%s\n' "$alt" >ext
	openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca.key \
		-CAcreateserial -out "$name.pem" -extfile ext "$@" 2>/dev/null
}

# expired NAME SUBJECT-ALT-NAME: the same, good until yesterday.
expired() {
	: >index
	echo 01 >serial
	certificate "$@"
	printf '[ca]\ndefault_ca=own\n[own]\ndatabase=index\nserial=serial\n%s\n' \
		'new_certs_dir=.' >ca.conf
	printf 'default_md=sha256\npolicy=any\n[any]\ncommonName=supplied\n' >>ca.conf
	openssl ca -batch -config ca.conf -cert ca.pem -keyfile ca.key -notext \
		-in "$1.csr" -out "$1.pem" -extfile ext \
		-startdate 20200101000000Z -enddate 20210101000000Z 2>/dev/null
}

# tls NAME: the server behind TLS with that certificate, in $url.
tls() {
	[ -z "$front" ] || kill "$front"
	: >front
	socat -d -d "OPENSSL-LISTEN:0,bind=127.0.0.1,fork,verify=0,cert=$1.pem,key=$1.key" \
		"TCP:${url#*//}" 2>front 3>&- &
	front=$!
	for _ in $(seq 100); do
		! grep -q 'listening on' front || break
		sleep 0.05
	done
	secure=https://127.0.0.1:$(sed -n 's/.*listening on .*:\([0-9]*\)$/\1/p' front)
}

# trusting CA-FILE
trusting() {
	mkdir -p "$XDG_CONFIG_HOME/handoff"
	echo '{"summarize":{"caFile":"'"$1"'"}}' >"$XDG_CONFIG_HOME/handoff/config.json"
}

# ask_secure: over TLS, in a few seconds.
ask_secure() {
	hf-summarize -p openai -m m --base-url "$secure" --timeout 10 <doc
}

@test "TLS: a CA of one's own; another name, an old and a strange certificate are refused" {
	certificate good IP:127.0.0.1
	certificate other IP:127.0.0.2
	expired old IP:127.0.0.1
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
		-keyout self.key -out self.pem -days 30 -subj /CN=self \
		-addext subjectAltName=IP:127.0.0.1 2>/dev/null
	serve '200 openai.sse'
	trusting "$PWD/ca.pem"
	tls good
	run ask_secure
	is "status of '$output'" "$status" 0
	is requests "$(requests)" 1
	tls other
	run ask_secure
	says 69 refused 127.0.0.1
	tls old
	run ask_secure
	says 69 refused expired
	tls self
	run ask_secure
	says 69 refused certificate
	trusting /nowhere.pem
	run ask_secure
	says 78 config caFile
	rm "$XDG_CONFIG_HOME/handoff/config.json"
	tls good
	run ask_secure
	says 69 refused certificate
}
