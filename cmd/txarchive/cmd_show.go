package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/lookup"
	"github.com/txarchive/txarchive/internal/show"
)

type showOptions struct {
	show.Options
	around string
	near   bool // the context of an event, of the default size
}

func newShowCommand(a *app) *cobra.Command {
	var o showOptions
	cmd := &cobra.Command{
		Use:   "show ID | SOURCE/PATH",
		Short: "Show a run, conversation or event",
		Long: "Show a run, conversation or event, by its id or a unique prefix of it. Native ids work as well, in full, and so does\n" +
			"the file of a conversation, named as for `cat`. Tool inputs and outputs are shortened, unless --tools full is given;\n" +
			"a page of HTML has all of them, folded. Inputs have the names of their fields; --json has them as the producer wrote\n" +
			"them." +
			exitCodes("4 no such id", "5 the original is damaged", "10 no archive"),
		Example: "  txarchive show c4f09                      # a conversation\n" +
			"  txarchive show c4f09:17 -C 3              # an event with three around it\n" +
			"  txarchive show c4f09 --last 10 --tools full\n" +
			"  txarchive show r7sk2 --timeline           # all of a run, in order of time\n" +
			"  txarchive show c4f09:17 --timeline -C 9   # what happened around an event\n" +
			"  txarchive show c4f09 --format markdown > talk.md\n" +
			"  txarchive show r7sk2 --format html > run.html\n" +
			"  txarchive show r7sk2 --format openai > chat.jsonl\n" +
			"  txarchive show c4f09 --versions           # the originals that contain it",
		Args:              argCount(0, 1),
		ValidArgsFunction: a.completeThings,
		RunE: func(cmd *cobra.Command, v []string) error {
			o.near = !cmd.Flags().Changed("context") && (o.around != "" || o.Timeline)
			return runShow(cmd.Context(), a, o, strings.Join(v, ""))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Format, "format", "text", "output `FORMAT`: text, markdown, html (a page), json, raw (the original bytes), or openai (messages, one conversation per line)")
	f.IntVar(&o.First, "first", 0, "show only the first `N` events")
	f.IntVar(&o.Last, "last", 0, "show only the last `N` events")
	f.StringVar(&o.around, "around", "", "show the event `ID`, or one by its number in the conversation, with the events around it")
	f.IntVarP(&o.Context, "context", "C", 0, "show `N` events around that one (default 3 with --around and --timeline)")
	f.StringVar(&o.Tools, "tools", "short", "`HOW` to show tool inputs and outputs: short, full or none")
	f.BoolVar(&o.Versions, "versions", false, "list the originals and their versions instead")
	f.BoolVar(&o.Timeline, "timeline", false, "show all events of a run in order of time, one per line (in full with --tools full)")
	f.BoolVar(&o.All, "all", false, "include documents beside conversations, copies, and what earlier versions said")
	completeFlags(cmd, map[string]cobra.CompletionFunc{"format": fixed(showFormats...), "tools": fixed("short", "full", "none")})
	return cmd
}

var showFormats = []string{"text", "markdown", "html", "json", "raw", "openai"}

func (o *showOptions) check(a *app, id string) error {
	if a.JSON && o.Format != "openai" {
		o.Format = "json"
	}
	switch {
	case id == "" && (o.around == "" || !strings.Contains(o.around, ":")):
		return failure.Usage("an id is required", "`txarchive search WORDS` shows ids")
	case !slices.Contains(showFormats, o.Format):
		return failure.Usage(fmt.Sprintf("unknown format %q", o.Format), "--format text, markdown, html, json, raw or openai")
	case o.Timeline && (o.Format == "html" || o.Format == "raw" || o.Format == "openai"):
		return failure.Usage("--timeline cannot be combined with --format "+o.Format, "--format text, markdown or json")
	case o.Tools != "short" && o.Tools != "full" && o.Tools != "none":
		return failure.Usage(fmt.Sprintf("--tools cannot be %q", o.Tools), "--tools short, full or none")
	case o.First < 0 || o.Last < 0 || o.Context < 0:
		return failure.Usage("--first, --last and --context cannot be negative", "")
	case o.First > 0 && o.Last > 0:
		return failure.Usage("--first and --last cannot be combined", "run show twice to see both ends")
	case o.Versions && (o.First > 0 || o.Last > 0 || o.Timeline || o.around != "" || o.Format != "text" && o.Format != "json"):
		return failure.Usage("--versions lists originals: it cannot be combined with flags that select events", "txarchive show ID --versions")
	case o.around != "" && (o.First > 0 || o.Last > 0):
		return failure.Usage("--around cannot be combined with --first and --last", "-C N sets how many events are shown around it")
	}
	return nil
}

func runShow(ctx context.Context, a *app, o showOptions, id string) error {
	if err := o.check(a, id); err != nil {
		return err
	}
	store, err := a.openRead(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	what, err := lookup.Resolve(ctx, store.Index(), o.target(id))
	switch {
	case !failure.IsNotFound(err):
	case o.around == "":
		what, err = lookup.File(ctx, store.Index(), id, err)
	default:
		if named, e := lookup.Resolve(ctx, store.Index(), id); e == nil && named.Event != "" {
			err = failure.Usage(id+" is an event: --around cannot name another one", "-C N sets how many events are shown around it")
		}
	}
	if err != nil {
		return err
	}
	if what.Event != "" && o.near {
		o.Context = 3
	}
	if what.Event == "" && o.Context > 0 {
		return failure.Usage("-C needs an event", "--around NUMBER, or ID:NUMBER, names one")
	}
	if err := a.noteLosses(ctx, store, what.Run); err != nil {
		return err
	}
	return show.One(ctx, &a.Printer, store, a.searcher(store), what, o.Options)
}

// target returns the id to show: --around may name an event by its number alone.
func (o *showOptions) target(id string) string {
	if o.around == "" {
		return id
	}
	if strings.Contains(o.around, ":") {
		return o.around
	}
	return id + ":" + o.around
}
