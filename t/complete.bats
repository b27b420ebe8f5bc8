#!/usr/bin/env bats
# The completions know what the driver knows: no more, no less.

load helper/common

# The verbs that the driver's last case takes, and the options of each verb
# that its own page names.
driver_verbs() {
	sed -n '/^case \$verb in$/,/^esac$/p' "$HF_ROOT/scripts/handoff" | tail -n +2 |
		sed -n 's/^\([a-z][a-z |-]*\)).*/\1/p' | tr -d ' ' | tr '|' '\n' |
		grep -v '^-' | cat - <(echo hook) | grep -v '^\*$' | sort -u
}

bash_words() {
	bash -c '. "$1/completions/handoff.bash"; _handoff_words "$2"' - "$HF_ROOT" "$1" | tr ' ' '\n' | sort
}

zsh_words() {
	sed -n "s/^\t\t'\([a-z]*\):.*'\$/\1/p" "$HF_ROOT/completions/_handoff" | sort
}

fish_words() {
	sed -n 's/^complete -c handoff -n \$first -a \([a-z]*\) .*/\1/p' "$HF_ROOT/completions/handoff.fish" | sort
}

setup() {
	hf_setup
}

@test "bash, zsh and fish have the driver's verbs" {
	driver_verbs >want
	grep -qx now want && grep -qx doctor want
	bash_words '' | diff want -
	zsh_words | diff want -
	fish_words | diff want -
}

@test "each option that is completed is one that the page has and the driver takes" {
	for verb in now auto status list show import resume setup; do
		for option in $(bash_words $verb | grep '^--'); do
			grep -qF -- "${option}[" "$HF_ROOT/completions/_handoff"
			grep -q -- "-l ${option#--} " "$HF_ROOT/completions/handoff.fish"
			[ "$verb" = resume ] || grep -q "Fl -${option#--}" "$HF_ROOT/man/handoff.1"
			# Of what is not known it would say 'unknown', status 64.
			[ "$option" != --follow ] || continue
			run timeout 20 handoff $verb "$option" </dev/null
			[[ $output != *nknown* ]]
		done
	done
}

@test "bash: words of a verb, agents, sessions" {
	complete_bash() {
		bash -c '. "$1/completions/handoff.bash"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _handoff; printf "%s\n" "${COMPREPLY[@]}"' - "$HF_ROOT" "$@"
	}
	[ "$(complete_bash handoff sta)" = status ]
	[ "$(complete_bash handoff setup sy)" = systemd ]
	[ "$(complete_bash handoff now --to cl)" = claude ]
	id=5b1d6c1e-7a52-4c1f-9a35-2f6f0c9e8d10
	mkdir -p "$HOME/.claude/projects/-x"
	cp "$HF_FIXTURES/demo/$id.jsonl" "$HOME/.claude/projects/-x/"
	[ "$(complete_bash handoff show 5b1)" = "$id" ]
}

@test "the shells take the files" {
	bash -n "$HF_ROOT/completions/handoff.bash"
	! command -v zsh >/dev/null || zsh -n "$HF_ROOT/completions/_handoff"
	! command -v fish >/dev/null || fish -n "$HF_ROOT/completions/handoff.fish"
}
