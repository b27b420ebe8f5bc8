# The order of the system calls behind every durable change: a crash of the
# process alone cannot show that a flush is missing.

load helper/common

setup() {
	hf_setup
	FILES=${HF_TESTS:-$HF_ROOT/build/fault}/unit/test_base_file
	DIR=$BATS_TEST_TMPDIR/dir
	mkdir "$DIR"
	printf old >"$DIR/a"
}

# calls VERB: the calls that change files, from behind the opening of the
# folder to its closing, in $TMPDIR/calls; what varies is taken out.
calls() {
	traced -e trace=openat,write,fsync,close,renameat,renameat2,linkat,unlinkat \
	    "$FILES" 'do' "$DIR" "$1" || return 1
	awk -v dir="\"$DIR\"," '
	!d && index($0, dir) { d = $NF; next }
	!d { next }
	{
		sub(/^[0-9]+ +/, "")
		sub(/ += .*/, "")
		gsub(/[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]+/, "RANDOM")
		sub(/O_WRONLY[^,]*O_EXCL[^,]*/, "new")
		sub(/O_WRONLY[^,]*/, "append")
		sub("\\(" d ",", "(dir,")
		sub("\\(" d "\\)", "(dir)")
		sub(", " d ", ", ", dir, ")
		sub(/\([0-9]+/, "(file")
	}
	/^close\(dir/ { exit }
	{ print }' "$TMPDIR/trace" >"$TMPDIR/calls"
}

@test "replace: write, flush, close, rename, flush the folder" {
	calls replace
	diff - "$TMPDIR/calls" <<-'EOF'
	openat(dir, ".a.RANDOM.tmp", new, 0600)
	write(file, "new", 3)
	fsync(file)
	close(file)
	renameat(dir, ".a.RANDOM.tmp", dir, "a")
	fsync(dir)
	EOF
}

@test "create: flushed before it has its name" {
	calls create
	diff - "$TMPDIR/calls" <<-'EOF'
	openat(dir, ".b.RANDOM.tmp", new, 0600)
	write(file, "new", 3)
	fsync(file)
	close(file)
	linkat(dir, ".b.RANDOM.tmp", dir, "b", 0)
	unlinkat(dir, ".b.RANDOM.tmp", 0)
	fsync(dir)
	EOF
}

@test "append: one write, both flushed" {
	calls append
	diff - "$TMPDIR/calls" <<-'EOF'
	openat(dir, "a", append, 0600)
	write(file, "new", 3)
	fsync(file)
	close(file)
	fsync(dir)
	EOF
}

@test "publish: one rename that cannot overwrite, the folder flushed" {
	calls publish
	diff - "$TMPDIR/calls" <<-'EOF'
	renameat2(dir, "a", dir, "b", RENAME_NOREPLACE)
	fsync(dir)
	EOF
}

@test "remove: the folder flushed" {
	calls remove
	diff - "$TMPDIR/calls" <<-'EOF'
	unlinkat(dir, "a", 0)
	fsync(dir)
	EOF
}
