package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// The library's scripts have the shell evaluate what was typed so far: fish ran what stood in quotes, bash and zsh what double quotes
// substitute, all of them with a tab only, and none completed within quotes that are still open, where queries are typed. Ours pass the
// words on as they were typed, and the program reads the quotes.

// rawWordsVariable is the environment variable by which a script says that it passes raw words.
const rawWordsVariable = "TXARCHIVE_WORDS_AS_TYPED"

// scriptPatch replaces a text in a completion script of cobra.
type scriptPatch struct{ from, to string }

var scriptPatches = map[string][]scriptPatch{
	"bash": {
		{`requestComp="${words[0]} %s ${args[*]}"`, `requestComp=("${words[0]/#\~\//$HOME/}" %s "${args[@]}")`},
		{`requestComp="${requestComp} ''"`, `[[ -n ${lastParam} ]] && requestComp+=("")`},
		{`"Calling ${requestComp}"`, `"Calling ${requestComp[*]}"`},
		{"    # Use eval to handle any environment variables and such\n", ""},
		{`out=$(eval "${requestComp}" 2>/dev/null)`, `out=$(` + rawWordsVariable + `=1 "${requestComp[@]}" 2>/dev/null)`},
		{`__txarchive_handle_standard_completion_case() {
    local tab=$'\t'

    # If there are no completions, we don't need to do anything
    (( ${#completions[@]} == 0 )) && return 0
`, `__txarchive_handle_standard_completion_case() {
    local tab=$'\t'

    # If there are no completions, we don't need to do anything
    (( ${#completions[@]} == 0 )) && return 0

    # In an open quote readline replaces what stands behind it, and closes it behind the only completion
    if [[ ${cur} == [\"\']* ]]; then
        local each
        for each in "${completions[@]%%$tab*}"; do
            [[ ${each} == "${cur:1}"* ]] && COMPREPLY+=("${each}")
        done
        return 0
    fi
`},
	},
	"zsh": {
		{`words=("${=words[1,CURRENT]}")`, `words=("${(@)words[1,CURRENT]}")`},
		{`[[ "${lastParam}" =~ '-.*=' ]]`, `[[ "${lastParam}" =~ '^-[a-z-]*=' ]]`},
		{`requestComp="${words[1]} %s ${words[2,-1]}"`, `requestComp=("${words[1]/#\~\//$HOME/}" %s "${(@)words[2,-1]}")`},
		{`    if [ "${lastChar}" = "" ]; then
        # If the last parameter is complete (there is a space following it)
        # We add an extra empty parameter so we can indicate this to the go completion code.
        __txarchive_debug "Adding extra empty parameter"
        requestComp="${requestComp} \"\""
    fi
`, ""},
		{`flagPrefix requestComp out`, `flagPrefix out`},
		{"    local -a completions\n", "    local -a completions requestComp\n"},
		{"    # Use eval to handle any environment variables and such\n", ""},
		{`"About to call: eval ${requestComp}"`, `"About to call: ${requestComp}"`},
		{`out=$(eval ${requestComp} 2>/dev/null)`, `out=$(` + rawWordsVariable + `=1 "${requestComp[@]}" 2>/dev/null)`},
	},
	"fish": {
		{`set -l lastArg (string escape -- (commandline -ct))`, `set -l lastArg (commandline -ct)`},
		{`set -l requestComp "TXARCHIVE_ACTIVE_HELP=0 $args[1] %s $args[2..-1] $lastArg"`, `set -l requestComp $args[1] %s (string escape -- $args[2..-1]) "$lastArg"`},
		{`(eval $requestComp 2> /dev/null)`, `(env ` + rawWordsVariable + `=1 $requestComp 2> /dev/null)`},
		{`set -l prefix (commandline -t | string escape --style=regex)`, `set -l prefix (commandline -t | string trim --left --chars "\"'" | string unescape | string escape --style=regex)`},
	},
}

// configureCompletion makes the completion command reject unknown shells, whose shell would otherwise run the help text as a script,
// and patches the scripts.
func configureCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		runHelp(c)
		for _, shell := range c.Commands() {
			if changes := scriptPatches[shell.Name()]; changes != nil {
				shell.RunE = func(*cobra.Command, []string) error { return printScript(root, shell, changes) }
			}
		}
	}
}

// printScript prints the completion script of a shell, patched.
func printScript(root, shell *cobra.Command, changes []scriptPatch) error {
	bare, err := shell.Flags().GetBool("no-descriptions")
	if err != nil {
		return err
	}
	var b bytes.Buffer
	ask := cobra.ShellCompRequestCmd
	if bare {
		ask = cobra.ShellCompNoDescRequestCmd
	}
	switch shell.Name() {
	case "bash":
		err = root.GenBashCompletionV2(&b, !bare)
	case "fish":
		err = root.GenFishCompletion(&b, !bare)
	default:
		print := root.GenZshCompletion
		if bare {
			print = root.GenZshCompletionNoDesc
		}
		err = print(&b)
	}
	script := b.String()
	for _, change := range changes {
		from := strings.ReplaceAll(change.from, "%s", ask)
		if err == nil && strings.Count(script, from) != 1 {
			err = fmt.Errorf("the script for %s is another than expected: %q", shell.Name(), from)
		}
		script = strings.Replace(script, from, strings.ReplaceAll(change.to, "%s", ask), 1)
	}
	if err == nil {
		_, err = io.WriteString(root.OutOrStdout(), script)
	}
	return err
}

// unquote returns a word of a command line as the shell would read it, without running anything. A quote may still be open.
func (a *app) unquote(word string) string {
	var b strings.Builder
	quote := byte(0)
	for i := 0; i < len(word); i++ {
		c := word[i]
		switch {
		case quote == '\'' && c != quote:
			b.WriteByte(c)
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == '\\' && i+1 < len(word) && (quote == 0 || strings.IndexByte("\"\\$`", word[i+1]) >= 0):
			i++
			b.WriteByte(word[i])
		case c == '$':
			if name := variable.FindString(word[i:]); name != "" {
				b.WriteString(a.Getenv(strings.Trim(name, "${}")))
				i += len(name) - 1
				continue
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

var variable = lazyregexp.New(`^\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\})`)
