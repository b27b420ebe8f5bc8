# For tests with opencode, beside common.bash: its database, made from
# exports, and a stand-in for its program.
#
#	opencode_store FILE...	the exports' sessions, in its database
#	opencode_client		a program of its name, first in PATH, that
#				imports as the real one does and notes it in
#				$HOME/imported
#	OPENCODE_DB_FILE	where the database is

OPENCODE_DB_FILE=${XDG_DATA_HOME:-$HOME/.local/share}/opencode/opencode.db

# As of 1.18, without the tables and columns that nobody reads here.
opencode_schema() {
	cat <<-'EOF'
	PRAGMA journal_mode=WAL;
	CREATE TABLE session (id text PRIMARY KEY, project_id text,
	    parent_id text, slug text, directory text NOT NULL,
	    title text NOT NULL, version text NOT NULL, metadata text,
	    revert text, model text, time_created integer NOT NULL,
	    time_updated integer NOT NULL, time_archived integer);
	CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL,
	    time_created integer NOT NULL, time_updated integer NOT NULL,
	    data text NOT NULL);
	CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL,
	    session_id text NOT NULL, time_created integer NOT NULL,
	    time_updated integer NOT NULL, data text NOT NULL);
	CREATE INDEX message_session_time_created_id_idx
	    ON message (session_id, time_created, id);
	CREATE INDEX part_message_id_id_idx ON part (message_id, id);
	EOF
}

# Of what is there already nothing is made again.
opencode_rows() {
	jq -r '
	def q: if . == null then "NULL"
	    elif type == "string" then "\u0027" +
		gsub("\u0027"; "\u0027\u0027") + "\u0027"
	    elif type == "number" then tostring
	    else tojson | q end;
	def row(t; c): "INSERT OR IGNORE INTO \(t) VALUES (" +
	    (c | map(q) | join(",")) + ");";
	.info as $s |
	row("session"; [$s.id, "global", $s.parentID, $s.slug,
	    ($s.directory // ""), $s.title, $s.version, $s.metadata,
	    $s.revert, null, $s.time.created, $s.time.updated,
	    $s.time.archived]),
	(.messages[] | .info as $m |
	row("message"; [$m.id, $s.id, $m.time.created, $m.time.created,
	    ($m | del(.id, .sessionID))]),
	(.parts[] | row("part"; [.id, $m.id, $s.id, $m.time.created,
	    $m.time.created, del(.id, .sessionID, .messageID)])))' "$@"
}

opencode_store() {
	local db=$OPENCODE_DB_FILE
	mkdir -p "${db%/*}" || return 1
	[ -f "$db" ] || opencode_schema | sqlite3 "$db" >/dev/null || return 1
	{
		echo 'BEGIN;'
		opencode_rows "$@"
		echo 'COMMIT;'
	} | sqlite3 "$db"
}

# What the stand-in does. A file that it cannot read is no failure to it.
opencode_program() {
	echo "$*" >>"$HOME/imported"
	[ "$1" = import ] || return 1
	if [ ! -r "$2" ]; then
		echo "File not found: $2"
		return 0
	fi
	opencode_store "$2" && echo "Imported session: $(jq -r .info.id "$2")"
}

opencode_client() {
	local bin=$BATS_TEST_TMPDIR/bin
	mkdir -p "$bin"
	printf '#!/bin/bash\nset -o pipefail\n. "%s"\n%s "$@"\n' \
	    "$HF_ROOT/t/helper/opencode.bash" opencode_program \
	    >"$bin/opencode"
	chmod 755 "$bin/opencode"
	PATH=$bin:$PATH
}
