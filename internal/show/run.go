package show

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/search"
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
	if v.o.All {
		counted = all
	}
	switch v.o.Format {
	case "json":
		return v.json(ctx, &r, counted, v.views(ctx, &r, counted))
	case "raw":
		return v.rawRun(ctx, &r, counted)
	case "openai":
		return v.openai(ctx, v.views(ctx, &r, counted))
	}
	if err := v.header(ctx, &r); err != nil {
		return err
	}
	if len(counted) == 1 && !v.o.All {
		return v.turns(ctx, v.search.View(ctx, r, counted[0], v.o.search()).Turns)
	}
	if v.o.First+v.o.Last > 0 {
		return failure.Usage("the run has "+terminal.Plural(len(counted), "conversation", "conversations"), "name one of them, or add --timeline to show all in order of time: txarchive show "+r.ID)
	}
	v.list(counted)
	if page, ok := v.sheet.(*htmlSheet); ok {
		for view, err := range v.views(ctx, &r, counted) {
			if err != nil {
				return err
			}
			page.section(conversationTitle(&view.Conversation), view.Conversation.ID)
			if err := v.turns(ctx, view.Turns); err != nil {
				return err
			}
		}
	}
	if others := int64(len(all) - len(counted)); others > 0 {
		v.Note("%s not shown: documents, copies and the like (--all lists them; search covers them)", terminal.Plural(others, "more is", "more are"))
	}
	return nil
}

func (v *viewer) header(ctx context.Context, r *index.Run) error {
	tags, err := TagsByRun(ctx, v.store.Index())
	if err != nil {
		return err
	}
	v.sheet.title(terminal.FirstNonEmpty(r.Title, r.Flow, r.NativeID, r.ID), r.ID)
	n := &r.Counts
	tokens, cost := used(&n.Used)
	counts := fmt.Sprintf("%s, %s", terminal.Plural(n.Events, "event", "events"), terminal.Plural(n.Calls, "tool call", "tool calls"))
	switch {
	case r.Pruned:
		if counts = "nothing: it was pruned"; n.Input.Known || n.Output.Known || n.CostUsed.Known {
			counts += ", its cost is kept"
		}
	case r.Thinned == "ledger":
		counts = "nothing: only its ledger is left, its cost is kept"
	case !r.Counted:
		counts = "no transcript, only references in others"
	}
	pruned, thinned, err := v.lost(ctx, r)
	if err != nil {
		return err
	}
	parent, children, err := v.family(ctx, r)
	if err != nil {
		return err
	}
	v.fields([][2]string{
		{"run", r.ID}, {"parent", parent}, {"sub-runs", children}, {"format", r.Format}, {"native id", r.NativeID}, {"group", r.Group}, {"project", r.Project}, {"flow", r.Flow}, {"agent", r.Agent},
		{"model", r.Model}, {"time", v.span(r.Started, r.Ended)}, {"status", status(r.Status, r.Outcome)},
		{"error", r.Error}, {"contains", counts}, {"pruned", pruned}, {"thinned", thinned}, {"tokens", tokens}, {"cost", cost}, {"tags", strings.Join(AllTags(r, tags), ", ")},
	})
	return nil
}

// used says what requests used; "" where nothing states it.
func used(n *index.Used) (tokens, cost string) {
	if n.Input.Known || n.Output.Known {
		tokens = terminal.CountOrDash(n.Input.OrNil()) + " in, " + terminal.CountOrDash(n.Output.OrNil()) + " out"
	}
	var cache []string
	if n.CacheRead.N > 0 {
		cache = append(cache, terminal.Count(n.CacheRead.N)+" read")
	}
	if n.CacheCreation.N > 0 {
		cache = append(cache, terminal.Count(n.CacheCreation.N)+" written")
	}
	if len(cache) > 0 {
		tokens = strings.TrimPrefix(tokens+"; cache: "+strings.Join(cache, ", "), "; ")
	}
	if n.CostUsed.Known {
		cost = terminal.Dollars(n.CostUsed.OrNil())
	}
	return tokens, cost
}

// family names the run that has started another, and says how many that one has started; "" for none.
func (v *viewer) family(ctx context.Context, r *index.Run) (parent, children string, err error) {
	var above []string
	below := map[index.End]bool{}
	for l, err := range v.store.Index().Links(ctx, index.Node{Run: r.ID}) {
		if err != nil {
			return "", "", err
		}
		switch {
		case !slices.Contains(search.TreeKinds, l.Kind) || l.From.Run == l.To.Run:
		case l.From.Run == r.ID:
			below[l.To] = true
		case l.From.Run != "" && !slices.Contains(above, l.From.Run):
			above = append(above, l.From.Run)
		}
	}
	if len(above) > 0 {
		parent = above[0]
	}
	if n := len(above) - 1; n > 0 {
		parent += fmt.Sprintf(" and %s more", terminal.Count(n))
	}
	if n := len(below); n > 0 {
		children = terminal.Count(n)
	}
	return parent, children, nil
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
			why = fmt.Sprintf("%s, %s, plan %s", v.FormatClock(time.UnixMicro(g.Time)), why, g.Plan)
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
	begin, end := v.FormatTime(from), v.FormatTime(to)
	if end == "" || end == begin {
		return begin
	}
	if len(begin) > 11 && strings.HasPrefix(end, begin[:11]) {
		end = end[11:]
	}
	return begin + " to " + end
}

// conversationTitle says what a conversation of a run is about, or else who has it, and why it does not count.
func conversationTitle(c *index.Conversation) string {
	return terminal.FirstNonEmpty(c.Title, strings.Trim(c.Step+" "+c.Agent, " "), c.NativeID) + notCounted(c)
}

func (v *viewer) list(all []index.Conversation) {
	if len(all) == 0 {
		return
	}
	const cost = 4
	g := terminal.Table{Columns: []terminal.Column{{Head: "conversation"}, {Head: "started", DropRank: 1}, {Head: "events", Right: true, DropRank: 3}, {Head: "calls", Right: true, DropRank: 4},
		cost: {Head: "cost", Right: true, DropRank: 2}, {Head: "what", Shorten: terminal.Truncate}}}
	for _, c := range all {
		g.Add(c.ID, v.FormatTime(c.Started), terminal.Count(c.Counts.Events), terminal.Count(c.Counts.Calls), terminal.Dollars(c.Counts.CostUsed.OrNil()), conversationTitle(&c))
	}
	if !slices.ContainsFunc(all, func(c index.Conversation) bool { return c.Counts.CostUsed.Known }) {
		g = *g.Without(cost)
	}
	v.sheet.conversations(&g)
}

func (v *viewer) rawRun(ctx context.Context, r *index.Run, all []index.Conversation) error {
	out := v.RawOutput()
	for view, err := range v.views(ctx, r, all) {
		if err == nil {
			err = v.raw(ctx, out, view.Turns)
		}
		if err != nil {
			return errors.Join(err, out.Close())
		}
	}
	return out.Close()
}
