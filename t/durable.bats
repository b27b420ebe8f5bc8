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

# calls VERB: the calls that change files, from the opening of the folder
# on, with what varies taken out.
calls() {
	traced -e trace=openat,write,fsync,close,renameat,renameat2,linkat,unlinkat \
	    "$FILES" 'do' "$DIR" "$1" || return 1
	sed -n -e 's/^[0-9]* *//' -e "\|\"$DIR\"|,/^close(3)/p" \
	    "$TMPDIR/trace" |
	    sed -e 's/[0-9a-f]\{16\}/RANDOM/g' -e 's/ *= .*//' \
	    -e 's/O_WRONLY.*O_EXCL[^,]*/new/' -e 's/O_WRONLY[^,]*/append/' |
	    sed -e 1d -e '$d'
}

@test "replace: write, flush, close, rename, flush the folder" {
	calls replace >calls
	diff - calls <<-'EOF'
	openat(3, ".a.RANDOM.tmp", new, 0600)
	write(4, "new", 3)
	fsync(4)
	close(4)
	renameat(3, ".a.RANDOM.tmp", 3, "a")
	fsync(3)
	EOF
}

@test "create: flushed before it has its name" {
	calls create >calls
	diff - calls <<-'EOF'
	openat(3, ".b.RANDOM.tmp", new, 0600)
	write(4, "new", 3)
	fsync(4)
	close(4)
	linkat(3, ".b.RANDOM.tmp", 3, "b", 0)
	unlinkat(3, ".b.RANDOM.tmp", 0)
	fsync(3)
	EOF
}

@test "append: one write, both flushed" {
	calls append >calls
	diff - calls <<-'EOF'
	openat(3, "a", append, 0600)
	write(4, "new", 3)
	fsync(4)
	close(4)
	fsync(3)
	EOF
}

@test "publish: one rename that cannot overwrite, the folder flushed" {
	calls publish >calls
	diff - calls <<-'EOF'
	renameat2(3, "a", 3, "b", RENAME_NOREPLACE)
	fsync(3)
	EOF
}

@test "remove: the folder flushed" {
	calls remove >calls
	diff - calls <<-'EOF'
	unlinkat(3, "a", 0)
	fsync(3)
	EOF
}
