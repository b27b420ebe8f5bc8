# bash completion for handoff(1)

# The options and words of each verb; t/complete.bats compares them with
# what the driver takes.
_handoff_words() {
	case $1 in
	'')
		echo now auto status list show brief import resume enable disable
		echo unroute recover hook setup doctor config help
		;;
	now) echo --focus --to --edit --dry-run --json ;;
	auto) echo --quiet --check ;;
	status) echo --json --follow ;;
	list | show) echo --json ;;
	brief) echo export import ;;
	import) echo --to --cwd --json ;;
	resume) echo --dry-run --prompt ;;
	setup) echo claude codex gemini pi omp cron systemd --write --remove ;;
	config) echo get set ;;
	esac
}

_handoff_sessions() {
	handoff list --json 2>/dev/null |
		sed -n 's/.*"session":{"agent":"[a-z]*","id":"\([^"]*\)".*/\1/p'
}

_handoff() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb=
	[ "$COMP_CWORD" -le 1 ] || verb=${COMP_WORDS[1]}
	COMPREPLY=()
	case $prev in
	--to)
		mapfile -t COMPREPLY < <(compgen -W 'claude codex gemini pi omp opencode' -- "$cur")
		return
		;;
	--focus | --prompt) return ;;
	--cwd)
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return
		;;
	esac
	case $verb:$cur in
	show:[!-]* | resume:[!-]* | status:[!-]* | enable:[!-]* | \
		disable:[!-]* | unroute:[!-]*)
		mapfile -t COMPREPLY < <(compgen -W "$(_handoff_sessions)" -- "$cur")
		;;
	brief:* | import:*)
		mapfile -t COMPREPLY < <(compgen -W "$(_handoff_words "$verb")" -- "$cur"
			compgen -f -- "$cur")
		;;
	*) mapfile -t COMPREPLY < <(compgen -W "$(_handoff_words "$verb")" -- "$cur") ;;
	esac
}
complete -F _handoff handoff
