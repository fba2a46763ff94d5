package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/terminal"
)

// execute runs one command line and returns the exit code.
func execute(ctx context.Context, a *app, args []string) int {
	if a.Getenv(rawWordsVariable) != "" && len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		args = slices.Clone(args)
		for i := range args {
			args[i] = a.unquote(args[i])
		}
	}
	results := &terminal.Output{W: a.Out}
	a.Out, a.results = results, results
	root := newRootCommand(a, calledCommand(args))
	if i := slices.Index(args, "--json"); i >= 0 && !slices.Contains(args[:i], "--") {
		a.JSON = true // also for errors in the flags before it
	}
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	configureCompletion(root)
	err := a.endPage(a.endRedaction(root.ExecuteContext(ctx)))
	switch {
	case err == nil:
		err = results.Err
	case results.Err != nil && !errors.Is(err, results.Err): // what the command found could not be said
		err = fmt.Errorf("%w; %w", err, results.Err)
	}
	return a.exit(ctx, err)
}

const rootLong = `txarchive archives the transcripts of AI agents: every byte that they wrote, searchable, for as long as you want.

It reads the files of agent systems and coding agents, stores them in packs that any tar and gzip can read, and indexes
their contents. It knows AWF, Flow Studio, Chibi, Leslie and devflow; Claude Code, Codex, Gemini CLI, OpenCode, Copilot,
Cursor, Cline and some fifty more coding agents; sessions of OpenAI's Agents SDK, Google's ADK and Strands; trajectories
of evaluations (Harbor, SWE-agent, Inspect AI); data exports of ChatGPT, Claude.ai and other chat services; Open WebUI,
AnythingLLM, LM Studio, Ollama and Jan; and chats in JSON Lines. "txarchive docs" has a page on each.

Where help and messages refer to docs/cost.md, "txarchive docs cost" prints that page.`

const rootExample = `  txarchive ingest ~/.local/share/awf      # archive new and changed files
  txarchive search 'permission denied'     # in any prompt, answer or tool call
  txarchive show r7sk2                     # read a run by a prefix of its id
  txarchive restore --all --to /tmp/back   # restore all files, byte for byte`

// commandGroup is a group of commands in the help.
type commandGroup struct {
	id, title string
	commands  []commandMaker
}

// commandMaker makes the command of a name. Names are listed here, too, so that a command line constructs only the command that it
// calls: constructing all of them takes as long as starting a program.
type commandMaker struct {
	name string
	make func(*app) *cobra.Command
}

func commandGroups() []commandGroup {
	return []commandGroup{
		{"in", "Archiving:", []commandMaker{{"init", newInitCommand}, {"source", newSourceCommand}, {"ingest", newIngestCommand},
			{"nightly", newNightlyCommand}, {"schedule", newScheduleCommand}}},
		{"out", "Searching and reading:", []commandMaker{{"search", newSearchCommand}, {"show", newShowCommand}, {"list", newListCommand},
			{"tree", newTreeCommand}, {"cat", newCatCommand}, {"restore", newRestoreCommand}}},
		{"sum", "Analysis:", []commandMaker{{"stats", newStatsCommand}, {"cost", newCostCommand}, {"report", newReportCommand},
			{"prices", newPricesCommand}, {"sql", newSQLCommand}}},
		{"keep", "Retention:", []commandMaker{{"tag", newTagCommand}, {"pin", newPinCommand}, {"unpin", newUnpinCommand},
			{"hold", newHoldCommand}, {"policy", newPolicyCommand}, {"prune", newPruneCommand}, {"gc", newGCCommand}, {"forget", newForgetCommand}}},
		{"care", "Maintenance:", []commandMaker{{"status", newStatusCommand}, {"doctor", newDoctorCommand}, {"verify", newVerifyCommand},
			{"reindex", newReindexCommand}, {"backup", newBackupCommand}}},
		{"", "", []commandMaker{{"docs", newDocsCommand}, {"version", newVersionCommand}, {"man", newManCommand}}},
	}
}

// calledCommand returns the name of the command that a line calls, after global flags. It is "" where that is not certain: no command,
// an unknown one, help or completion, or a wrong flag.
func calledCommand(args []string) string {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	globalFlags(f, &app{Printer: printer.Printer{Getenv: func(string) string { return "" }}})
	f.SetInterspersed(false)
	f.Usage = func() {}
	if f.Parse(args) != nil {
		return ""
	}
	for _, h := range commandGroups() {
		for _, m := range h.commands {
			if m.name == f.Arg(0) {
				return m.name
			}
		}
	}
	return ""
}

// newRootCommand returns the root command with the command of a name; with all commands for "".
func newRootCommand(a *app, name string) *cobra.Command {
	showVersion := false
	cmd := &cobra.Command{
		Use:           "txarchive",
		Short:         "Archive and search the transcripts of AI agents",
		Long:          rootLong,
		Example:       rootExample,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          unknownCommand,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			a.command = cmd.CommandPath()
			if a.ownsProcess {
				a.beforeCommand(cmd.Name())
			}
			a.pageCommand(cmd)
			a.redactOutput()
			return a.setUpLog()
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if showVersion {
				return runVersion(a)
			}
			return runWelcome(cmd.Context(), a)
		},
	}
	cmd.Flags().BoolVar(&showVersion, "version", false, "print the version, like the version command")
	globalFlags(cmd.PersistentFlags(), a)
	completeFlags(cmd, map[string]cobra.CompletionFunc{"color": fixed("auto", "always", "never"), "log-format": fixed("text", "json")})
	cmd.SetFlagErrorFunc(flagError)
	addCommands(cmd, a, name)
	cmd.SetHelpFunc(a.help)
	settle(cmd)
	if name != "" {
		cmd.CompletionOptions.DisableDefaultCmd = true
		return cmd
	}
	cmd.CompletionOptions.HiddenDefaultCmd = false
	cmd.InitDefaultHelpCmd()
	for _, c := range cmd.Commands() {
		if c.Name() == "help" {
			c.Args = checkHelpTopic
		}
	}
	return cmd
}

// addCommands adds the command of a name, or all commands for "", and their groups.
func addCommands(cmd *cobra.Command, a *app, name string) {
	a.archiveCommands, a.Complete = nil, a.completeNote
	for _, h := range commandGroups() {
		if h.id != "" {
			cmd.AddGroup(&cobra.Group{ID: h.id, Title: h.title})
		}
		for _, m := range h.commands {
			if h.id != "" {
				a.archiveCommands = append(a.archiveCommands, m.name)
			}
			if name == "" || m.name == name {
				c := m.make(a)
				noFileCompletion(c)
				c.GroupID = h.id
				cmd.AddCommand(c)
			}
		}
	}
}

// globalFlags adds the flags that all commands have.
func globalFlags(f *pflag.FlagSet, a *app) {
	a.pathVar(f, &a.archive, "archive", "use the archive in `DIR` (default $TXARCHIVE_DIR, else $XDG_DATA_HOME/txarchive)")
	f.BoolVar(&a.JSON, "json", false, "print JSON: one object, or one per line for lists")
	f.BoolVarP(&a.Quiet, "quiet", "q", false, "print only results and errors")
	f.BoolVarP(&a.verbose, "verbose", "v", false, "log what is done, file by file, to standard error")
	f.BoolVar(&a.UTC, "utc", false, "use UTC instead of the local time zone")
	f.StringVar(&a.logFormat, "log-format", "text", "log `FORMAT`: text or json")
	f.StringVar(&a.Color, "color", "auto", "use color `WHEN`: auto, always or never (NO_COLOR is respected)")
	f.BoolVar(&a.noPager, "no-pager", false, "do not use a pager ($TXARCHIVE_PAGER, $PAGER, else less)")
	f.BoolVar(&a.redact, "redact", false, "print [redacted: KIND] instead of credentials, by the rules of gitleaks")
}

// foreignNames are what other programs call a command: whoever types one is told ours.
var foreignNames = map[string][]string{
	"search": {"find", "grep", "rg", "query"}, "list": {"ls", "log", "runs", "sessions", "history"}, "show": {"view", "less", "open", "read", "print"},
	"restore": {"export", "extract", "checkout", "get"}, "prune": {"rm", "delete"}, "remove": {"rm", "delete", "del", "unset"}, "ingest": {"import", "scan", "sync", "update"},
	"stats": {"info", "count", "summary"}, "cost": {"usage", "spend", "daily", "monthly"}, "source": {"remote", "sources"}, "sql": {"db", "sqlite"},
	"verify": {"check", "fsck"}, "reindex": {"rebuild", "index"}, "backup": {"snapshot", "snapshots"}, "schedule": {"cron", "timer"}, "add": {"create", "new"},
}

// settle sets foreignNames on a command tree, and what commands do that only have subcommands.
func settle(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		c.SuggestFor = foreignNames[c.Name()]
		if c.HasSubCommands() && !c.Runnable() {
			runHelp(c)
		}
		settle(c)
	}
}

// runHelp makes a command print its help, and reject what is not a subcommand.
func runHelp(c *cobra.Command) {
	c.Args, c.RunE = unknownCommand, func(c *cobra.Command, _ []string) error { return c.Help() }
}

// valueFormats describes the values of flags by their type.
var valueFormats = map[string]string{
	"age": "a length of time: 90m, 12h, 30d or 2w", "size": "a size: 512MiB or 50GB", "int": "a whole number", "bool": "true or false",
}

// flagError returns the error for a wrong flag, with what to write instead.
func flagError(c *cobra.Command, err error) error {
	hint := c.CommandPath() + " --help lists the flags"
	var wrong *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &wrong):
		name, kind := wrong.GetFlag().Name, wrong.GetFlag().Value.Type()
		if takes, ok := valueFormats[kind]; ok {
			return failure.Usage(fmt.Sprintf("--%s cannot be %q", name, wrong.GetValue()), "it takes "+takes)
		}
	case !errors.As(err, &unknown):
	case unknown.GetSpecifiedShortnames() == "":
		names := &cobra.Command{SuggestionsMinimumDistance: 2} // cobra compares names of commands only
		c.Flags().VisitAll(func(f *pflag.Flag) {
			names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		})
		name := unknown.GetSpecifiedName()
		near, field := names.SuggestionsFor(name), ""
		if strings.Contains(c.Use, "QUERY...") {
			field = query.Named(name)
		}
		switch {
		case field != "" && (len(near) == 0 || strings.HasPrefix(field, name)):
			hint = fmt.Sprintf("it is part of the query: write %s before the value, without a space (docs/query-language.md)", field)
		case len(near) > 0:
			hint = "did you mean --" + strings.Join(near, ", --") + "?"
		case strings.HasPrefix(name, " ") && strings.Contains(c.Use, "QUERY"): // an SQL comment
			hint = fmt.Sprintf("after --, nothing is a flag: %s -- 'QUERY'", c.CommandPath())
		}
	case strings.Contains(c.Use, "QUERY"):
		hint = fmt.Sprintf("after --, nothing is a flag: %s -- %s", c.CommandPath(), terminal.ShellQuote("-"+unknown.GetSpecifiedShortnames()))
	}
	return failure.Usage(err.Error(), hint)
}

// unknownCommand returns the error for a word that is not a subcommand, with those that it may have been meant to be; nil if there are
// no arguments.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := cmd.CommandPath() + " --help lists the commands"
	cmd.SuggestionsMinimumDistance = 2
	near := cmd.SuggestionsFor(args[0])
	for _, c := range cmd.Commands() {
		if slices.Contains(c.SuggestFor, args[0]) {
			near = []string{c.Name()}
		}
	}
	if slices.ContainsFunc(near, hasPrefix(args[0])) {
		near = slices.DeleteFunc(near, func(name string) bool { return !hasPrefix(args[0])(name) })
	}
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "?"
	}
	_, path, _ := strings.Cut(cmd.CommandPath()+" "+args[0], " ")
	return failure.Usage(fmt.Sprintf("unknown command %q", path), hint)
}

func hasPrefix(word string) func(name string) bool {
	return func(name string) bool { return strings.HasPrefix(name, word) }
}

// checkHelpTopic rejects help about a command that does not exist.
func checkHelpTopic(cmd *cobra.Command, args []string) error {
	topic, rest, err := cmd.Root().Find(args)
	if err != nil || !topic.HasSubCommands() {
		return nil // cobra's own error, or help about a command with arguments
	}
	return unknownCommand(topic, rest)
}

// unlimited is any number of arguments.
const unlimited = -1

// argCount returns a check of the number of arguments, whose error says what the command takes.
func argCount(atLeast, atMost int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		_, name, _ := strings.Cut(cmd.CommandPath(), " ")
		_, what, _ := strings.Cut(cmd.Use, " ")
		hint := fmt.Sprintf("usage: %s; %s --help has examples", cmd.UseLine(), cmd.CommandPath())
		switch {
		case len(args) < atLeast:
			return failure.Usage(fmt.Sprintf("%s needs %s", name, what), hint)
		case atMost == unlimited || len(args) <= atMost:
			return nil
		case atMost == 0:
			return failure.Usage(fmt.Sprintf("%s takes no arguments, but got %q", name, args[0]), hint)
		}
		return failure.Usage(fmt.Sprintf("%s takes %s: unexpected argument %q", name, what, args[atMost]), hint+"; quote arguments that contain spaces")
	}
}

// exitCodes returns the part of a help text that lists the exit codes: 0, 1 and 2, which all commands have, and the given ones.
func exitCodes(lines ...string) string {
	return "\n\n" + breakLines("Exit codes: 0 success; 1 unexpected error; 2 wrong usage"+strings.Join(append([]string{""}, lines...), "; ")+".")
}
