package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/transcript"
)

// run prints a run and its conversations; of a run with one conversation also its events.
func (v *viewer) run(ctx context.Context, id string) error {
	r, err := v.store.Index().Run(ctx, id)
	if err != nil {
		return err
	}
	var all []index.Conversation
	for c, err := range v.store.Index().Conversations(ctx, r.ID) {
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	counted := slices.DeleteFunc(slices.Clone(all), func(c index.Conversation) bool { return c.Verdict != transcript.Counted })
	if v.o.all {
		counted = all
	}
	switch v.o.format {
	case "json":
		return v.json(ctx, &r, counted, v.views(ctx, counted))
	case "raw":
		return v.rawRun(ctx, counted)
	case "openai":
		return v.openai(ctx, v.views(ctx, counted))
	}
	if err := v.header(ctx, &r); err != nil {
		return err
	}
	if len(counted) == 1 && !v.o.all {
		view, err := v.a.searcher(v.store).Conversation(ctx, counted[0].ID, v.o.options())
		if err != nil {
			return err
		}
		return v.turns(view.Turns)
	}
	if v.o.first+v.o.last > 0 {
		return failure.Usage("the run has "+terminal.Plural(len(counted), "conversation", "conversations"), "name one of them, or add --timeline to show all in order of time: txarchive show "+r.ID)
	}
	v.list(counted)
	if others := int64(len(all) - len(counted)); others > 0 {
		v.a.Note("%s not shown: documents, copies and the like (--all lists them; search covers them)", terminal.Plural(others, "more is", "more are"))
	}
	return nil
}

func (v *viewer) header(ctx context.Context, r *index.Run) error {
	tags, err := tagsOf(ctx, v.store)
	if err != nil {
		return err
	}
	v.title(terminal.FirstNonEmpty(r.Title, r.Flow, r.NativeID, r.ID), r.ID)
	n := &r.Counts
	tokens := ""
	if n.Input.Known || n.Output.Known {
		tokens = terminal.CountOrDash(n.Input.OrNil()) + " in, " + terminal.CountOrDash(n.Output.OrNil()) + " out"
	}
	cost := ""
	if n.CostUsed.Known {
		cost = terminal.Dollars(n.CostUsed.OrNil())
	}
	counts := fmt.Sprintf("%s, %s", terminal.Plural(n.Events, "event", "events"), terminal.Plural(n.Calls, "tool call", "tool calls"))
	switch {
	case r.Pruned:
		counts = "nothing: it was pruned, its cost is kept"
	case r.Thinned == "ledger":
		counts = "nothing: only its ledger is left, its cost is kept"
	case !r.Counted:
		counts = "no transcript, only references in others"
	}
	pruned, thinned, err := v.lost(ctx, r)
	if err != nil {
		return err
	}
	v.fields([][2]string{
		{"run", r.ID}, {"format", r.Format}, {"native id", r.NativeID}, {"group", r.Group}, {"project", r.Project}, {"flow", r.Flow}, {"agent", r.Agent},
		{"model", r.Model}, {"time", v.span(r.Started, r.Ended)}, {"status", status(r.Status, r.Outcome)},
		{"error", r.Error}, {"contains", counts}, {"pruned", pruned}, {"thinned", thinned}, {"tokens", tokens}, {"cost", cost}, {"tags", strings.Join(allTags(r, tags), ", ")},
	})
	return nil
}

// lost says when and why a run was pruned, or what a thinned one has lost, when and why.
func (v *viewer) lost(ctx context.Context, r *index.Run) (pruned, thinned string, err error) {
	if !r.Pruned && r.Thinned == "" {
		return "", "", nil
	}
	why := ""
	for g, err := range v.store.Index().PrunedVersions(ctx, r.ID) {
		if err != nil {
			return "", "", err
		}
		if r.Pruned == (g.Action == "prune") && (r.Pruned || g.Tier == r.Thinned) {
			why = g.Reason
			if g.Rule != "" {
				why = "rule " + g.Rule
			}
			why = fmt.Sprintf("%s, %s, plan %s", v.a.FormatClock(time.UnixMicro(g.Time)), why, g.Plan)
			break
		}
	}
	text := thinnedTexts[r.Thinned]
	switch {
	case r.Pruned:
		return why, "", nil
	case text == "":
		return "", why, nil
	case why == "":
		return "", text, nil
	}
	return "", text + " (" + why + ")", nil
}

// thinnedTexts says what a tier has removed; of a ledger "contains" says it.
var thinnedTexts = map[string]string{"versions": "earlier versions of its originals are removed", "search": "its words can no longer be searched", "payloads": "marks replace large payloads"}

// status returns the status that the producer stated, with the outcome that all formats share if that is another word.
func status(stated string, outcome transcript.Outcome) string {
	if outcome == "" || stated == string(outcome) {
		return stated
	}
	if stated == "" {
		return string(outcome)
	}
	return stated + " (" + string(outcome) + ")"
}

// span formats a time with a start and an end.
func (v *viewer) span(from, to transcript.Time) string {
	begin, end := v.a.FormatTime(from), v.a.FormatTime(to)
	if end == "" || end == begin {
		return begin
	}
	if len(begin) > 11 && strings.HasPrefix(end, begin[:11]) {
		end = end[11:]
	}
	return begin + " to " + end
}

func (v *viewer) list(all []index.Conversation) {
	if len(all) == 0 {
		return
	}
	g := terminal.Table{Columns: []terminal.Column{{Head: "conversation"}, {Head: "started", DropRank: 1}, {Head: "events", Right: true, DropRank: 2}, {Head: "calls", Right: true, DropRank: 3}, {Head: "what", Shorten: terminal.Truncate}}}
	for _, c := range all {
		what := terminal.FirstNonEmpty(c.Title, strings.Trim(c.Step+" "+c.Agent, " "), c.NativeID) + notCounted(&c)
		g.Add(c.ID, v.a.FormatTime(c.Started), terminal.Count(c.Counts.Events), terminal.Count(c.Counts.Calls), what)
	}
	if v.o.format == "markdown" {
		fmt.Fprintf(v.a.Out, "\n%s\n", fence(g.Render(0, terminal.Style{})))
		return
	}
	fmt.Fprintf(v.a.Out, "\n%s\n", v.a.Fit(&g))
}

func (v *viewer) rawRun(ctx context.Context, all []index.Conversation) error {
	out := v.a.rawOutput()
	for view, err := range v.views(ctx, all) {
		if err == nil {
			err = v.raw(ctx, out, view.Turns)
		}
		if err != nil {
			return errors.Join(err, out.Close())
		}
	}
	return out.Close()
}

// versionRow is a row of show --versions.
type versionRow struct {
	Source   string `json:"source"`
	Path     string `json:"path"`
	Version  int    `json:"version"`
	Newest   bool   `json:"newest"`
	Size     int64  `json:"size"`
	Modified string `json:"mtime"`
	Mode     string `json:"mode"`
	SHA256   string `json:"sha256"`
	Copies   int64  `json:"copies"`
	Format   string `json:"format"`
	Role     string `json:"role"`
}

// versions prints the originals of a run, conversation or event with all of their versions.
func (v *viewer) versions(ctx context.Context, what target) error {
	filters, err := versionFilters(ctx, v.store, what)
	if err != nil {
		return err
	}
	if what.event == "" && what.conversation != "" { // the original that counts, and its copies
		filters = append(filters, index.VersionFilter{Conversation: what.conversation})
	}
	g := terminal.Table{Columns: []terminal.Column{{Head: "version", Right: true}, {Head: "size", Right: true, DropRank: 1}, {Head: "modified"}, {Head: "sha256", DropRank: 2}, {Head: "original", Shorten: terminal.TruncateMiddle}}}
	seen := map[[2]string]bool{}
	for _, f := range filters {
		for x, err := range v.store.Index().Versions(ctx, f) {
			if err != nil {
				return err
			}
			file := [2]string{x.Source, x.Path}
			if seen[file] {
				continue
			}
			seen[file] = true
			if err := v.file(ctx, file, &g); err != nil {
				return err
			}
		}
	}
	if v.o.format != "json" {
		fmt.Fprintln(v.a.Out, v.a.Fit(&g))
	}
	return nil
}

// file adds the versions of one original, also those that no longer contain what was asked for.
func (v *viewer) file(ctx context.Context, file [2]string, g *terminal.Table) error {
	for x, err := range v.store.Index().Versions(ctx, index.VersionFilter{Source: file[0], Path: file[1]}) {
		if err != nil {
			return err
		}
		if v.o.format == "json" {
			row := versionRow{x.Source, x.Path, x.Number, x.Newest, x.Size, x.ModTime.UTC().Format("2006-01-02T15:04:05.999999999Z"),
				fmt.Sprintf("%04o", x.Mode), x.SHA256.String(), x.Copies, x.Format, x.Role}
			if err := v.a.PrintJSON(row); err != nil {
				return err
			}
			continue
		}
		number := fmt.Sprint(x.Number)
		if x.Newest {
			number = "newest " + number
		}
		g.Add(number, terminal.Bytes(x.Size), v.a.FormatClock(x.ModTime), x.SHA256.Short(), x.Source+"/"+x.Path)
	}
	return nil
}
