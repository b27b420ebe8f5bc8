# For tests over a real etcd, on loopback, beside common.bash.
#
#	etcd_needed		skips the test where there is no etcd; with
#				HF_NEED_ETCD that is a failure
#	etcd_start NAME [OPT...]	one node: its port is HF_ETCD, which
#				tests keep, its process ETCD_PID
#	etcd_end		kills what was started in this shell
#	request OP MEMBERS	an answer of hf-store-etcd to one request
#	gateway PORT PATH BODY [TOKEN]	an answer of etcd's own gateway
#	stopped PID		waits until it is (HANDOFF_STOP_AT)

ETCD_PIDS=

etcd_missing() {
	! type -P etcd >/dev/null
}

etcd_needed() {
	etcd_missing || return 0
	[ -z "${HF_NEED_ETCD-}" ] || fail 'etcd is not installed' || return 1
	skip 'etcd is not installed: sh scripts/setup check'
}

# In memory, where there is room for it.
etcd_folder() {
	mktemp -d /dev/shm/handoff-etcd.XXXXXX 2>/dev/null ||
	    mktemp -d "$BATS_FILE_TMPDIR/etcd.XXXXXX"
}

# etcd_run NAME CLIENT PEER SCHEME OPT...: in $ETCD_DIR/NAME.
etcd_run() {
	local name=$1 client=$2 peer=$3 scheme=$4
	shift 4
	ETCD_UNSUPPORTED_ARCH=$(uname -m) etcd --name "$name" \
	    --data-dir "$ETCD_DIR/$name" --log-level error \
	    --listen-client-urls "$scheme://${ETCD_LISTEN:-127.0.0.1}:$client" \
	    --advertise-client-urls "$scheme://127.0.0.1:$client" \
	    --listen-peer-urls "http://127.0.0.1:$peer" \
	    --initial-advertise-peer-urls "http://127.0.0.1:$peer" \
	    "$@" >>"$ETCD_DIR/$name.log" 2>&1 3>&- &
	ETCD_PID=$!
	ETCD_PIDS="$ETCD_PIDS $ETCD_PID"
}

# etcd_ready PORT [SCHEME]: waits until it answers.
etcd_ready() {
	local i=0
	until HANDOFF_STORE=${2:-etcd}://127.0.0.1:$1/ready request get \
	    '"key":"a/b"' | jq -e '.error == null' >/dev/null; do
		i=$((i + 1))
		[ "$i" -lt 100 ] || fail "etcd does not answer" || return 1
		kill -0 "$ETCD_PID" || return 1
		sleep 0.1
	done
}

etcd_start() {
	local name=$1 peer try
	shift
	ETCD_DIR=${ETCD_DIR:-$(etcd_folder)}
	for try in 1 2 3; do
		read -r ETCD_PORT peer <<<"$("$HF_HELPER/ports" 2)"
		etcd_run "$name$try" "$ETCD_PORT" "$peer" http \
		    --initial-cluster "$name$try=http://127.0.0.1:$peer" "$@"
		if etcd_ready "$ETCD_PORT"; then
			export HF_ETCD=$ETCD_PORT
			return 0
		fi
	done
	cat "$ETCD_DIR"/*.log >&2
	return 1
}

etcd_end() {
	local p
	for p in $ETCD_PIDS; do
		kill -9 "$p" 2>/dev/null || true
	done
	for p in $ETCD_PIDS; do
		while kill -0 "$p" 2>/dev/null; do sleep 0.05; done
	done
	[ -z "${ETCD_DIR-}" ] || rm -rf "$ETCD_DIR"
}

gateway() {
	exec 9<>"/dev/tcp/127.0.0.1/$1" || return 1
	printf 'POST %s HTTP/1.0\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n%s' \
	    "$2" "${4:+Authorization: $4$'\r\n'}" "${#3}" "$3" >&9
	sed '1,/^\r$/d' <&9
	exec 9>&-
}

stopped() {
	local i=0
	until grep -q '^State:.T' "/proc/$1/status"; do
		i=$((i + 1))
		[ "$i" -lt 300 ] || fail 'it does not stop' || return 1
		sleep 0.1
	done
}

# request OP MEMBERS: of the store at $HANDOFF_STORE.
request() {
	printf '%s\n' "{\"id\":1,\"op\":\"open\",\"v\":1,\"url\":\"$HANDOFF_STORE\"}" \
	    "{\"id\":2,\"op\":\"$1\",\"ms\":3000${2:+,$2}}" |
	    "$HF_BIN/hf-store-etcd" | tail -n 1
}
