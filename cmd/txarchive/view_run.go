package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/index"

	"github.com/txarchive/txarchive/internal/transcript"
)

// run shows a run: what is known of it and its conversations; of a run with one conversation also what was said.
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
		return usage("the run has "+plural(len(counted), "conversation", "conversations"), "name one of them, or add --timeline for all in one order: txarchive show "+r.ID)
	}
	v.list(counted)
	if beside := int64(len(all) - len(counted)); beside > 0 {
		v.a.note("%s beside: documents, copies and the like (--all lists them; search finds what is in them)", plural(beside, "more stands", "more stand"))
	}
	return nil
}

func (v *viewer) header(ctx context.Context, r *index.Run) error {
	tags, err := tagsOf(ctx, v.store)
	if err != nil {
		return err
	}
	v.title(firstOf(r.Title, r.Flow, r.NativeID, r.ID), r.ID)
	n := &r.Counts
	tokens := ""
	if n.Input.Known || n.Output.Known {
		tokens = known(count(n.Input)) + " in, " + known(count(n.Output)) + " out"
	}
	cost := ""
	if n.CostUsed.Known {
		cost = dollars(count(n.CostUsed))
	}
	counts := fmt.Sprintf("%s, %s", plural(n.Events, "event", "events"), plural(n.Calls, "tool call", "tool calls"))
	switch {
	case r.Pruned:
		counts = "nothing of it any more: pruned, what it cost stays"
	case !r.Counted:
		counts = "no transcript of it, only what others say"
	}
	thinned, err := v.thinned(ctx, r)
	if err != nil {
		return err
	}
	v.fields([][2]string{
		{"run", r.ID}, {"format", r.Format}, {"native id", r.NativeID}, {"group", r.Group}, {"project", r.Project}, {"flow", r.Flow}, {"agent", r.Agent},
		{"model", r.Model}, {"time", v.span(r.Started, r.Ended)}, {"status", status(r.Status, r.Outcome)},
		{"error", r.Error}, {"holds", counts}, {"thinned", thinned}, {"tokens", tokens}, {"cost", cost}, {"tags", strings.Join(tags[r.ID], ", ")},
	})
	return nil
}

// thinned says what a run has less, since when and why.
func (v *viewer) thinned(ctx context.Context, r *index.Run) (string, error) {
	if r.Thinned == "" {
		return "", nil
	}
	text := map[string]string{"search": "its words are not found any more", "payloads": "marks stand where large payloads were"}[r.Thinned]
	for g, err := range v.store.Index().PrunedVersions(ctx, r.ID) {
		if err != nil {
			return "", err
		}
		if g.Tier == r.Thinned {
			why := g.Reason
			if g.Rule != "" {
				why = "rule " + g.Rule
			}
			return fmt.Sprintf("%s (%s, %s, plan %s)", text, v.a.clock(time.UnixMicro(g.Time)), why, g.Plan), nil
		}
	}
	return text, nil
}

// status is what the producer says, and the word for it that all formats share where that is another.
func status(said string, outcome transcript.Outcome) string {
	if outcome == "" || said == string(outcome) {
		return said
	}
	if said == "" {
		return string(outcome)
	}
	return said + " (" + string(outcome) + ")"
}

// span is from when to when.
func (v *viewer) span(from, to transcript.Time) string {
	begin, end := v.a.when(from), v.a.when(to)
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
	g := grid{columns: []column{{head: "conversation"}, {head: "started", spare: 1}, {head: "events", right: true, spare: 2}, {head: "calls", right: true, spare: 3}, {head: "what", flex: cut}}}
	for _, c := range all {
		what := firstOf(c.Title, strings.Trim(c.Step+" "+c.Agent, " "), c.NativeID) + notCounted(&c)
		g.add(c.ID, v.a.when(c.Started), number(c.Counts.Events), number(c.Counts.Calls), what)
	}
	if v.o.format == "markdown" {
		fmt.Fprintf(v.a.out, "\n%s\n", fence(g.render(0, ink{})))
		return
	}
	fmt.Fprintf(v.a.out, "\n%s\n", v.a.fitted(&g))
}

func (v *viewer) rawRun(ctx context.Context, all []index.Conversation) error {
	out := v.a.original()
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

// versionRow is a version of an original as show --versions tells it.
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

// versions lists the originals that hold a thing, with all their versions.
func (v *viewer) versions(ctx context.Context, what thing) error {
	filters, err := originals(ctx, v.store, what)
	if err != nil {
		return err
	}
	if what.event == "" && what.conversation != "" { // the one that counts, and its copies
		filters = append(filters, index.VersionFilter{Conversation: what.conversation})
	}
	g := grid{columns: []column{{head: "version", right: true}, {head: "size", right: true, spare: 1}, {head: "modified"}, {head: "sha256", spare: 2}, {head: "original", flex: cutMiddle}}}
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
		fmt.Fprintln(v.a.out, v.a.fitted(&g))
	}
	return nil
}

// file lists the versions of one original, also those that no longer speak of what was asked for.
func (v *viewer) file(ctx context.Context, file [2]string, g *grid) error {
	for x, err := range v.store.Index().Versions(ctx, index.VersionFilter{Source: file[0], Path: file[1]}) {
		if err != nil {
			return err
		}
		if v.o.format == "json" {
			row := versionRow{x.Source, x.Path, x.Number, x.Newest, x.Size, x.ModTime.UTC().Format("2006-01-02T15:04:05.999999999Z"),
				fmt.Sprintf("%04o", x.Mode), x.SHA256.String(), x.Copies, x.Format, x.Role}
			if err := v.a.printJSON(row); err != nil {
				return err
			}
			continue
		}
		number := fmt.Sprint(x.Number)
		if x.Newest {
			number = "newest " + number
		}
		g.add(number, size(x.Size), v.a.clock(x.ModTime), x.SHA256.Short(), x.Source+"/"+x.Path)
	}
	return nil
}
