# fish completion for handoff(1)

function __handoff_sessions
	handoff list --json 2>/dev/null |
		sed -n 's/.*"session":{"agent":"[a-z]*","id":"\([^"]*\)".*/\1/p'
end

complete -c handoff -f
set -l seen __fish_seen_subcommand_from
set -l first '__fish_use_subcommand'
complete -c handoff -n $first -a now -d 'hand a session off'
complete -c handoff -n $first -a auto -d 'hand off every session that is due'
complete -c handoff -n $first -a status -d 'what is registered, what happened last'
complete -c handoff -n $first -a list -d 'the sessions that are found'
complete -c handoff -n $first -a show -d 'the brief of a session'
complete -c handoff -n $first -a brief -d 'a brief as one file'
complete -c handoff -n $first -a import -d 'go on here with such a file'
complete -c handoff -n $first -a resume -d 'continue where a session leads to'
complete -c handoff -n $first -a enable -d 'allow automatic handoff'
complete -c handoff -n $first -a disable -d 'no automatic handoff'
complete -c handoff -n $first -a unroute -d 'no forwarding any more'
complete -c handoff -n $first -a recover -d 'finish or undo what was left'
complete -c handoff -n $first -a hook -d 'what agents call'
complete -c handoff -n $first -a setup -d 'have an agent, cron or systemd call us'
complete -c handoff -n $first -a doctor -d 'what is installed and what works'
complete -c handoff -n $first -a config -d 'the configuration'
complete -c handoff -n $first -a help -d 'the verbs'

complete -c handoff -n "$seen now" -l focus -x -d 'what the brief puts first'
complete -c handoff -n "$seen now import" -l to -x -a 'claude codex gemini pi omp'
complete -c handoff -n "$seen now" -l edit -d 'edit the text first'
complete -c handoff -n "$seen now resume" -l dry-run -d 'show, do nothing'
complete -c handoff -n "$seen now status list show import" -l json -d 'for programs'
complete -c handoff -n "$seen auto" -l quiet -d 'for cron'
complete -c handoff -n "$seen auto" -l check -d 'would it work?'
complete -c handoff -n "$seen status" -l follow -d 'again at each change'
complete -c handoff -n "$seen import" -l cwd -r -d 'its folder'
complete -c handoff -n "$seen resume" -l prompt -x -d 'what to say first'
complete -c handoff -n "$seen brief" -a 'export import' -F
complete -c handoff -n "$seen import" -F
complete -c handoff -n "$seen setup" -a 'claude codex gemini pi omp cron systemd'
complete -c handoff -n "$seen setup" -l write -d 'do it'
complete -c handoff -n "$seen setup" -l remove -d 'undo it'
complete -c handoff -n "$seen config" -a 'get set'
set -l named "$seen now show status resume enable disable unroute"
complete -c handoff -n $named -a '(__handoff_sessions)'
