# For tests of the driver and what calls it, beside common.bash: the demo
# session in Claude Code's store, its folder ours.
#
#	driver_setup	work and store, the folders
#	demo_session	the session itself: id, source
#	config JSON	the configuration
#	successors	the other transcripts there

id=5b1d6c1e-7a52-4c1f-9a35-2f6f0c9e8d10

driver_setup() {
	hf_setup
	work=$BATS_TEST_TMPDIR/work
	store=$HOME/.claude/projects/$(printf %s "$work" | sed 's/[^A-Za-z0-9]/-/g')
	mkdir -p "$store" "$work"
}

demo_session() {
	source=$store/$id.jsonl
	sed "s|/home/dev/project|$work|g" "$HF_FIXTURES/demo/$id.jsonl" >"$source"
}

config() {
	mkdir -p "$XDG_CONFIG_HOME/handoff"
	printf '%s\n' "$1" >"$XDG_CONFIG_HOME/handoff/config.json"
}

successors() {
	find "$HOME/.claude/projects" -name '*.jsonl' ! -name "$id.jsonl"
}
