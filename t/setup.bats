# scripts/setup over a make-believe machine: a PATH that holds nothing but
# the tools a minimal system has, and package managers that write down what
# they are asked and "install" it. And the promises of the Makefile.

load helper/common

setup() {
	hf_setup
	BIN=$BATS_TEST_TMPDIR/bin
	ETC=$BATS_TEST_TMPDIR/etc
	# What the stubs read and write.
	export SIM=$BATS_TEST_TMPDIR/sim
	export OS_RELEASE_FILE=$ETC/os-release
	mkdir -p "$BIN" "$ETC/sources.list.d" "$SIM/modules" "$SIM/plan"
	local t
	for t in sh awk sed dirname mktemp chmod mkdir rm tr paste id env cat \
	    cp ls touch true; do
		ln -s "$(type -P "$t")" "$BIN/$t"
	done
	: >"$SIM/log"
	os bookworm
	# A compiler that works.
	stub cc 'while [ $# -gt 0 ]; do case $1 in -o) : >"$2" ;; esac; shift
done'
	stub make 'echo "make $*" >>"$SIM/log"; [ "$2" != bad ]'
	# SIM/modules/NAME: the library is there.
	stub pkg-config 'for m; do :; done; [ -e "$SIM/modules/$m" ]'
	for t in bats pkill jq strace mandoc shellcheck zstd sqlite3 openssl \
	    socat ss; do
		stub "$t" ''
	done
	for t in libcurl libmd libzstd yyjson sqlite3 libxxhash; do
		: >"$SIM/modules/$t"
	done
	stub id 'echo 0'
}

# stub NAME BODY
stub() {
	printf '#!/bin/sh\n%s\n' "$2" >"$BIN/$1.new"
	chmod 755 "$BIN/$1.new"
	mv "$BIN/$1.new" "$BIN/$1"
}

os() {
	printf 'ID=debian\nVERSION_CODENAME=%s\n' "$1" >"$OS_RELEASE_FILE"
}

# The packages that the stubs know; the one-release rule is the candidate.
with_apt() {
	stub apt-config "case \$2 in V) ;; esac
case \$3 in
*sourcelist/f) echo \"V='$ETC/sources.list'\" ;;
*sourceparts/d) echo \"V='$ETC/sources.list.d/'\" ;;
esac"
	stub apt-cache '[ -e "$SIM/has-$2" ] && c=1.0 || c="(none)"
printf "%s:\n  Installed: (none)\n  Candidate: %s\n" "$2" "$c"'
	stub apt-get 'echo "apt-get $*" >>"$SIM/log"
for a; do case $a in
Dir::Etc::sourcelist=*) cp "${a#*=}" "$SIM/source" ;;
Dir::State::lists=*) ls -d "${a#*=}" >"$SIM/lists" ;;
esac; done
case " $* " in
*" -s "*) cat "$SIM/plan"/* 2>/dev/null; exit 0 ;;
*" install "*) ;;
*) exit 0 ;;
esac
[ ! -e "$SIM/broken" ] || exit 100
for p; do case $p in
libcurl4-openssl-dev) touch "$SIM/modules/libcurl" ;;
libyyjson-dev) touch "$SIM/modules/yyjson" ;;
mandoc | jq) printf "#!/bin/sh\n" >"$BIN/$p"; chmod 755 "$BIN/$p" ;;
esac; done'
	export BIN
	printf 'Inst libyyjson0 (0.10 x)\nInst libyyjson-dev (0.10 x)\n' \
	    >"$SIM/plan/it"
}

# The last line that setup wrote, and the set-up itself.
setup_says() {
	local want=$1
	shift
	exits "$want" env PATH="$BIN" sh "$HF_ROOT/scripts/setup" "$@"
	[ -z "$(ls -A "$TMPDIR")" ] || fail "left behind: $(ls "$TMPDIR")"
}

@test "setup: nothing is missing, nothing is said or done" {
	with_apt
	setup_says 0
	is stdout "$output" ""
	is stderr "$stderr" ""
	is log "$(cat "$SIM/log")" ""
}

@test "setup: what is missing is named and installed" {
	with_apt
	rm "$BIN/mandoc" "$SIM/modules/libcurl"
	setup_says 0
	is said "$output" "setup: missing: libcurl (library), mandoc
setup: installing with apt-get: libcurl4-openssl-dev mandoc
setup: all there"
	run ! grep -v -- ' -y ' "$SIM/log"
	grep -q ' update$' "$SIM/log"
	grep -q ' install libcurl4-openssl-dev mandoc$' "$SIM/log"
}

@test "setup: no library is looked for where pkg-config is missing" {
	with_apt
	: >"$SIM/has-libyyjson-dev"
	rm "$BIN/pkg-config"
	setup_says 1
	[[ $output == *"missing: pkg-config, libcurl (library), "* ]]
	[[ $output == *": pkg-config libcurl4-openssl-dev libmd-dev "* ]]
	[[ $stderr == "setup: still missing: pkg-config, "* ]]
}

@test "setup: a compiler without headers is a missing compiler" {
	with_apt
	stub cc 'exit 1'
	setup_says 1
	[[ $output == *"installing with apt-get: gcc libc6-dev"* ]]
}

@test "setup: yyjson is taken plainly where the release has it" {
	with_apt
	rm "$SIM/modules/yyjson"
	: >"$SIM/has-libyyjson-dev"
	setup_says 0
	[ ! -e "$SIM/source" ]
	grep -q ' install libyyjson-dev$' "$SIM/log"
}

@test "setup: yyjson from the next release, deb822 source with a key" {
	with_apt
	rm "$SIM/modules/yyjson"
	: >"$ETC/key.gpg"
	cat >"$ETC/sources.list.d/debian.sources" <<-END
	# Types: deb of a comment
	Types: deb-src
	URIs: http://src.example/debian
	Suites: bookworm
	Components: main

	Types: deb
	Enabled: no
	URIs: http://off.example/debian
	Suites: bookworm
	Components: main

	Types: deb
	URIs: http://security.example/debian
	Suites: bookworm-security
	Components: main

	Types: deb deb-src
	# in between
	URIs: http://mirror.example/debian/
	 http://second.example/debian
	Suites: bookworm bookworm-updates
	Components: contrib
	 main
	Signed-By: $ETC/key.gpg
	END
	setup_says 0
	is source "$(cat "$SIM/source")" \
	    "deb [signed-by=$ETC/key.gpg] http://mirror.example/debian/ trixie main"
	[[ $output == *"'bookworm' has no libyyjson-dev: taking it alone from \
'trixie' on the same mirror"* ]]
	# No source stays, and no list of it.
	is lists "$(ls "$ETC/sources.list.d")" debian.sources
	[ ! -e "$(cat "$SIM/lists")" ]
	# Its own configuration for each step: update, plan, install.
	is steps "$(grep -c 'Dir::Etc::sourceparts=-' "$SIM/log")" 3
}

@test "setup: yyjson from the next release, one-line source" {
	with_apt
	rm "$SIM/modules/yyjson"
	: >"$ETC/k.asc"
	printf '%s\n' '#deb http://old.example/debian bookworm main' \
	    'deb-src http://src.example/debian bookworm main' \
	    'deb cdrom:[Debian 12]/ bookworm main' \
	    'deb http://other.example/x bookworm other' \
	    "deb [ arch=amd64 signed-by=$ETC/k.asc trusted=yes ] \
http://mirror.example/debian bookworm main contrib # here" \
	    >"$ETC/sources.list"
	setup_says 0
	is source "$(cat "$SIM/source")" "deb [signed-by=$ETC/k.asc \
trusted=yes] http://mirror.example/debian trixie main"
}

@test "setup: yyjson from a source that is named by an alias" {
	with_apt
	rm "$SIM/modules/yyjson"
	echo 'deb http://mirror.example/debian oldstable main' \
	    >"$ETC/sources.list.d/a.list"
	setup_says 0
	[[ $(cat "$SIM/source") == \
	    "deb "*"http://mirror.example/debian trixie main" ]]
}

@test "setup: a key inside the source's own text is no path" {
	with_apt
	rm "$SIM/modules/yyjson"
	cat >"$ETC/sources.list.d/debian.sources" <<-END
	Types: deb
	URIs: http://mirror.example/debian
	Suites: bookworm
	Components: main
	Signed-By:
	 -----BEGIN PGP PUBLIC KEY BLOCK-----
	 .
	 mDMEY865
	END
	setup_says 0
	[[ $(cat "$SIM/source") != *BEGIN* ]]
	[[ $(cat "$SIM/source") == \
	    "deb "*"http://mirror.example/debian trixie main" ]]
}

@test "setup: refuses a plan that touches other packages" {
	with_apt
	rm "$SIM/modules/yyjson"
	echo 'deb http://mirror.example/debian bookworm main' \
	    >"$ETC/sources.list"
	echo 'Inst libc6 [2.36] (2.41 x)' >"$SIM/plan/more"
	setup_says 1
	is stderr "$stderr" "setup: refused: libyyjson-dev from 'trixie' would \
change other packages too"
	[ ! -e "$SIM/modules/yyjson" ]
}

@test "setup: a release without yyjson and without a known next one" {
	with_apt
	os bullseye
	rm "$SIM/modules/yyjson"
	setup_says 1
	is stderr "$stderr" "setup: this release ('bullseye') has no \
libyyjson-dev, and no later one is known to fit"
}

@test "setup: no mirror in the sources" {
	with_apt
	rm "$SIM/modules/yyjson"
	setup_says 1
	is stderr "$stderr" \
	    "setup: cannot find the mirror of 'bookworm' main in the apt sources"
}

@test "setup: without the rights, one line and nothing run" {
	with_apt
	stub id 'echo 1000'
	rm "$BIN/mandoc"
	setup_says 1
	is stderr "$stderr" "setup: cannot install with apt-get: not root, and no \
sudo without a password"
	is log "$(cat "$SIM/log")" ""
	# A sudo that would ask is none.
	stub sudo 'echo "sudo $*" >>"$SIM/log"; exit 1'
	setup_says 1
	is log "$(cat "$SIM/log")" "sudo -n true"
}

@test "setup: by sudo where it asks nothing" {
	with_apt
	stub id 'echo 1000'
	stub sudo 'echo sudo "$1" >>"$SIM/log"; shift
[ "$1" != -- ] || shift; exec "$@"'
	rm "$BIN/mandoc"
	setup_says 0
	is sudo "$(grep -c '^sudo -n$' "$SIM/log")" 3
}

@test "setup: no package manager" {
	rm "$BIN/mandoc"
	setup_says 1
	is stdout "$output" "setup: missing: mandoc"
	is stderr "$stderr" "setup: no package manager that is known here \
(apt-get, apk, dnf, pacman, brew); install these yourself"
}

@test "setup: the other package managers, marked as untested" {
	local m want
	rm "$BIN/mandoc" "$BIN/shellcheck" "$SIM/modules/libzstd"
	for m in apk:'apk add zstd-dev mandoc shellcheck' \
	    dnf:'dnf -y install libzstd-devel mandoc ShellCheck' \
	    pacman:'pacman -S --needed --noconfirm zstd mandoc shellcheck' \
	    brew:'brew install zstd mandoc shellcheck'; do
		want=${m#*:}
		m=${m%%:*}
		: >"$SIM/log"
		stub "$m" "echo \"$m \$*\" >>\"\$SIM/log\""
		setup_says 1
		[[ $output == *"with $m the names are untested"* ]]
		is "$m" "$(cat "$SIM/log")" "$want"
		[[ $stderr == "setup: still missing: "* ]]
		rm "$BIN/$m"
	done
}

@test "setup: a failed installation is said" {
	with_apt
	: >"$SIM/broken"
	rm "$BIN/mandoc"
	setup_says 1 check
	is stderr "$stderr" "setup: apt-get failed"
	run ! grep -q ^make "$SIM/log"
}

@test "setup: targets are made one after another, to the first failure" {
	setup_says 0 check lint
	is made "$(cat "$SIM/log")" "make -j2 check
make -j2 lint"
	: >"$SIM/log"
	setup_says 1 check bad lint
	is made "$(cat "$SIM/log")" "make -j2 check
make -j2 bad"
}

@test "setup: a target that needs more" {
	setup_says 1 valgrind
	is stdout "$output" "setup: missing: valgrind"
}

@test "setup: an unknown option" {
	setup_says 64 --force
	is stderr "$stderr" "usage: sh scripts/setup [make-target ...]"
}

# ---- the Makefile -------------------------------------------------------

# bats test_tags=release
@test "make: libcurl is linked where a network is spoken to, only there" {
	local c
	for c in "$HF_BIN"/hf-*; do
		case ${c##*/} in hf-summarize | hf-store-*) continue ;; esac
		run readelf -d "$c"
		[[ $output != *libcurl* ]] || fail "$c links libcurl"
	done
}

# A tree of our Makefile and three small files.
small_tree() {
	mkdir -p tree/cmd tree/man tree/scripts tree/completions
	cp "$HF_ROOT/Makefile" tree
	printf '#include <stdio.h>\nint main(void)\n{\n\t%s\n}\n' \
	    'return puts(HF_VERSION) < 0;' >tree/cmd/hf-x.c
	printf '#!/bin/sh\nhf-x\n' >tree/scripts/handoff
	: >tree/man/hf-x.1
	: >tree/man/handoff.7
	: >tree/completions/handoff.bash
	: >tree/completions/_handoff
}

# bats test_tags=release
@test "make: install and uninstall leave what they should" {
	small_tree
	mkdir d
	exits 0 make -C tree DESTDIR="$PWD/d" PREFIX=/usr install
	is files "$(cd d && find . ! -type d | sort)" "./usr/bin/handoff
./usr/bin/hf-x
./usr/share/bash-completion/completions/handoff
./usr/share/man/man1/hf-x.1
./usr/share/man/man7/handoff.7
./usr/share/zsh/site-functions/_handoff"
	is mode "$(stat -c %a d/usr/bin/handoff d/usr/share/man/man1/hf-x.1)" \
	    "755
644"
	PATH=$PWD/d/usr/bin:$PATH exits 0 handoff
	[ -n "$output" ]
	exits 0 make -C tree DESTDIR="$PWD/d" PREFIX=/usr uninstall
	is left "$(find d ! -type d)" ""
}

# bats test_tags=release
@test "make: nothing is made twice, and other flags make all anew" {
	small_tree
	exits 0 make -C tree
	exits 0 make --no-print-directory -C tree
	is again "$output" ""
	# The user's flags are the last word.
	exits 0 make -C tree V=1 CFLAGS=-O1
	[[ $output == *" -fPIE "*" -O1 "*"cmd/hf-x.c"* ]]
}

# ---- the test runner ----------------------------------------------------

# Runs a file of these tests; "TEST" stands for the word that bats would take
# for one of this file's own.
run_of() {
	sed 's/^TEST/@test/' >case.bats
	run env -i PATH="$PATH" HOME="$HOME" TMPDIR="$TMPDIR" \
	    HF_BUILD="$PWD/b" HF_TEST_TIMEOUT=10 \
	    sh "$HF_ROOT/t/run" release "$PWD/case.bats"
}

@test "t/run: passed, failed and skipped are told apart" {
	run_of <<-'END'
	TEST "good" { true; }
	TEST "bad" { false; }
	TEST "left out" { skip; }
	END
	is status "$status" 1
	is last "${lines[-1]}" "1 passed, 1 failed, 1 skipped"
	run_of <<-'END'
	TEST "good" { true; }
	END
	is status "$status" 0
	is last "${lines[-1]}" "1 passed, 0 failed"
}

@test "t/run: a file that cannot be read is a failure" {
	run_of <<-'END'
	TEST "torn" { if
	END
	is status "$status" 1
	[[ ${lines[-1]} == "0 passed, "[1-9]*" failed" ]]
}

@test "t/run: a run of no test is a failure" {
	run_of </dev/null
	is status "$status" 1
}
