package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/parallax-hpc/parallax/internal/demo"
	views "github.com/parallax-hpc/parallax/internal/view/all"
	"github.com/parallax-hpc/parallax/internal/words"
	"github.com/spf13/pflag"
)

func completionCommand() *command {
	return &command{
		name: "completion", args: "bash | zsh | fish | powershell",
		summary: "write a completion script for a shell",
		help: "  parallax completion bash > ~/.local/share/bash-completion/completions/parallax\n  parallax " +
			"completion fish > ~/.config/fish/completions/parallax.fish",
		run: runCompletion,
	}
}

func runCompletion(_ context.Context, e *env, args []string) error {
	if len(args) != 1 {
		return usage("completion: want one of bash, zsh, fish, powershell")
	}
	write,
		ok := map[string]func(io.Writer, []verbWords){"bash": completeBash, "zsh": completeZsh, "fish": completeFish,
		"powershell": completePowerShell}[args[0]]
	if !ok {
		return words.NotOneOf("completion", args[0], "bash", "zsh", "fish", "powershell")
	}
	write(e.stdout, verbs())
	return nil
}

// verbWords are the words that may follow a verb.
type verbWords struct {
	name, summary string
	flags         []flagWord
	words         []string // besides files
}

type flagWord struct{ name, usage string }

// verbs returns all commands with the words that may follow them.
func verbs() []verbWords {
	var out []verbWords
	var demos, names []string
	for _, d := range demo.Demos {
		demos = append(demos, "demo:"+d.Name)
	}
	for _, v := range views.Views {
		names = append(names, v.Name)
	}
	for _, c := range commands() {
		v := verbWords{name: c.name, summary: c.summary}
		fs := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
		if c.flags != nil {
			c.flags(fs)
		}
		fs.VisitAll(func(f *pflag.Flag) { v.flags = append(v.flags, flagWord{"--" + f.Name, f.Usage}) })
		switch c.name {
		case "view", "views":
			v.words = append(v.words, names...)
		case "completion":
			v.words = []string{"bash", "zsh", "fish", "powershell"}
		case "cache":
			v.words = []string{"list", "clear"}
		}
		if fs.Lookup("format") != nil {
			v.words = append(v.words, demos...)
		}
		out = append(out, v)
	}
	help := verbWords{name: "help", summary: "explain a command"}
	for _, v := range out {
		help.words = append(help.words, v.name)
	}
	return append(out, help,
		verbWords{name: "version", summary: "print the version", flags: []flagWord{{"--json", "as JSON"}}})
}

func (v verbWords) flagNames() (out []string) {
	for _, f := range v.flags {
		out = append(out, f.name)
	}
	return out
}

func namesOf(list []verbWords) string {
	var out []string
	for _, v := range list {
		out = append(out, v.name)
	}
	return strings.Join(out, " ")
}

func completeBash(w io.Writer, list []verbWords) {
	fmt.Fprintf(w, `# Completion of parallax for bash.
_parallax() {
  local cur="${COMP_WORDS[COMP_CWORD]}" words="" files=1
  COMPREPLY=()
  # A colon cuts words: demo:stencil comes as three.
  if [[ $COMP_CWORD -ge 2 && ${COMP_WORDS[COMP_CWORD-1]} == ":" ]]; then cur="${COMP_WORDS[COMP_CWORD-2]}:$cur"; fi
  [[ $cur == ":" ]] && cur="${COMP_WORDS[COMP_CWORD-1]}:"
  if [[ $COMP_CWORD -eq 1 ]]; then words="%s"; else
    case "${COMP_WORDS[1]}" in
`, namesOf(list))
	for _, v := range list {
		fmt.Fprintf(w, "    %s) if [[ $cur == -* ]]; then words=\"%s\"; files=0; else words=\"%s\"; fi ;;\n", v.name,
			strings.Join(v.flagNames(), " "), strings.Join(v.words, " "))
	}
	fmt.Fprint(w, `    esac
  fi
  COMPREPLY=( $(compgen -W "$words" -- "$cur") )
  [[ $files -eq 1 ]] && COMPREPLY+=( $(compgen -f -- "$cur") )
  if [[ $cur == *:* ]]; then COMPREPLY=( "${COMPREPLY[@]#"${cur%%"${cur##*:}"}"}" ); fi
}
complete -o filenames -o nosort -F _parallax parallax
`)
}

func completeZsh(w io.Writer, list []verbWords) {
	quote := strings.NewReplacer("'", "'\\''", ":", "\\:", "[", "\\[", "]", "\\]")
	fmt.Fprint(w, "#compdef parallax\n# Completion of parallax for zsh.\n_parallax() {\n  local -a verbs\n  verbs=(\n")
	for _, v := range list {
		fmt.Fprintf(w, "    '%s:%s'\n", v.name, quote.Replace(v.summary))
	}
	fmt.Fprint(w,
		"  )\n  if (( CURRENT == 2 )); then _describe command verbs; _files; return; fi\n  case $words[2] in\n")
	for _, v := range list {
		fmt.Fprintf(w, "    %s)\n      if [[ $PREFIX == -* ]]; then compadd -- %s; else compadd -- %s; _files; fi ;;\n",
			v.name, strings.Join(v.flagNames(), " "), strings.Join(v.words, " "))
	}
	fmt.Fprint(w, "  esac\n}\n_parallax \"$@\"\n")
}

func completeFish(w io.Writer, list []verbWords) {
	quote := strings.NewReplacer(`\`, `\\`, "'", `\'`)
	fmt.Fprint(w, "# Completion of parallax for fish.\n")
	for _, v := range list {
		fmt.Fprintf(w, "complete -c parallax -n __fish_use_subcommand -a %s -d '%s'\n", v.name,
			quote.Replace(v.summary))
	}
	for _, v := range list {
		when := "'__fish_seen_subcommand_from " + v.name + "'"
		for _, f := range v.flags {
			fmt.Fprintf(w, "complete -c parallax -n %s -l %s -d '%s'\n", when, strings.TrimPrefix(f.name, "--"),
				quote.Replace(firstLine(f.usage)))
		}
		if len(v.words) > 0 {
			fmt.Fprintf(w, "complete -c parallax -n %s -a '%s'\n", when, strings.Join(v.words, " "))
		}
	}
}

func completePowerShell(w io.Writer, list []verbWords) {
	fmt.Fprint(w,
		"# Completion of parallax for PowerShell.\nRegister-ArgumentCompleter -Native -CommandName parallax "+
			"-ScriptBlock {\n  param($word, $ast, $at)\n  $parts = $ast.CommandElements | ForEach-Object { "+
			"$_.ToString() }\n  $words = switch ($(if ($parts.Count -gt 2 -or ($parts.Count -eq 2 -and $word -eq "+
			"'')) { $parts[1] } else { '' })) {\n")
	list = append([]verbWords{{words: strings.Fields(namesOf(list))}}, list...)
	for _, v := range list {
		fmt.Fprintf(w, "    '%s' { '%s' }\n", v.name, strings.Join(append(v.words, v.flagNames()...), "','"))
	}
	fmt.Fprint(w,
		"  }\n  $words | Where-Object { $_ -like \"$word*\" } | ForEach-Object { "+
			"[System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_) }\n}\n")
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
