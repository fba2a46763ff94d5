package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/transcript"
)

func newTreeCommand(a *app) *cobra.Command {
	var o search.TreeOptions
	var down bool
	cmd := &cobra.Command{
		Use:   "tree ID|GROUP",
		Short: "Show a run with its sub-runs",
		Long: "Show the tree that a run, or each run of a group, belongs to: which run started which, with status, tokens and cost.\n" +
			"Sub-runs that were announced and never found are shown as such. What is in the tree twice is shown once." +
			exits("4 no such run", "10 no archive"),
		Example:           "  txarchive tree r7sk2\n  txarchive tree r7sk2 --down              without what is above it\n  txarchive tree r7sk2 --kinds parent,fork,reference,message",
		Args:              takes(1, 1),
		ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, v []string) error {
			o.Up = !down
			return runTree(cmd.Context(), a, o, v[0])
		},
	}
	f := cmd.Flags()
	f.BoolVar(&down, "down", false, "begin at this run, not at its topmost ancestor")
	f.StringSliceVar(&o.Kinds, "kinds", nil, "`KINDS` of links to follow: "+strings.Join(linkKinds, ", ")+" (default parent, fork, call)")
	completing(cmd, map[string]cobra.CompletionFunc{"kinds": fixedList(linkKinds...)})
	return cmd
}

// linkKinds are the kinds of links that formats tell of, as docs/sql.md lists them.
var linkKinds = []string{"parent", "fork", "call", "resume", "message", "reference", "depends"}

func runTree(ctx context.Context, a *app, o search.TreeOptions, id string) error {
	for _, kind := range o.Kinds {
		if !slices.Contains(linkKinds, kind) {
			return usage(fmt.Sprintf("there are no links of the kind %q", kind), "--kinds "+strings.Join(linkKinds, ","))
		}
	}
	store, err := a.read(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	roots, err := rootsOf(ctx, store, id)
	if err != nil {
		return err
	}
	tags, err := tagsOf(ctx, store)
	if err != nil {
		return err
	}
	shown := map[string]bool{}
	for _, run := range roots {
		tree, err := a.searcher(store).Tree(ctx, run, o)
		if err != nil {
			return err
		}
		if shown[tree.Run.ID] {
			continue // another run of the group has led to it
		}
		shown[tree.Run.ID] = true
		if a.json {
			if err := a.printJSON(nodeJSON(tree, tags)); err != nil {
				return err
			}
			continue
		}
		p := treePrinter{a: a, ink: a.ink(), width: a.width(), asked: run, tags: tags}
		p.node(tree, "", "")
	}
	return nil
}

// rootsOf are the runs that an id means: one, or those of a group.
func rootsOf(ctx context.Context, store *archive.Archive, id string) ([]string, error) {
	run, err := findRun(ctx, store, id)
	if err != nil {
		var runs []string
		for r, bad := range store.Index().Runs(ctx, index.Selection{Group: id}, index.Page{}) {
			if bad != nil {
				return nil, bad
			}
			runs = append(runs, r.ID)
		}
		if len(runs) > 0 {
			slices.Reverse(runs) // the oldest first
			return runs, nil
		}
		return nil, err
	}
	return []string{run}, nil
}

type treePrinter struct {
	a     *app
	ink   ink
	width int
	asked string // run
	tags  map[string][]string
}

// node prints a node behind its branch and its children below it.
func (p *treePrinter) node(n *search.Node, branch, margin string) {
	below := margin + "  "
	if len(n.Children) > 0 {
		below = margin + "│ "
	}
	head, used := p.lines(n)
	fmt.Fprintln(p.a.out, p.ink.dim(branch)+p.color(n, head.in(p.room(branch))))
	for _, parts := range used {
		for _, row := range rows(parts, p.room(below)) {
			fmt.Fprintln(p.a.out, p.ink.dim(below+row))
		}
	}
	for i, child := range n.Children {
		if i < len(n.Children)-1 {
			p.node(child, margin+"├─ ", margin+"│  ")
		} else {
			p.node(child, margin+"└─ ", margin+"   ")
		}
	}
}

// room is how many columns of a line are left behind its lead; 0 is any number.
func (p *treePrinter) room(lead string) int {
	if p.width == 0 {
		return 0
	}
	return max(p.width-widthOf(lead), 20)
}

// identity is the first line of a node. Its name is what a narrow terminal shortens: ids are typed again, and how it is linked
// stands in no other line.
type identity struct{ id, name, after string }

func (h identity) in(room int) string {
	name := h.name
	if room > 0 {
		name = cut(name, max(room-widthOf(h.id)-widthOf(h.after), 8))
	}
	return cut(h.id+name+h.after, room)
}

// rows puts parts side by side in rows that fit, and none is cut: the last is a cost.
func rows(parts []string, room int) []string {
	rows := parts[:1:1]
	for _, part := range parts[1:] {
		last := len(rows) - 1
		if row := rows[last] + "  " + part; room == 0 || widthOf(row) <= room {
			rows[last] = row
		} else {
			rows = append(rows, part)
		}
	}
	return rows
}

func (p *treePrinter) color(n *search.Node, s string) string {
	switch {
	case !n.Found && n.Kind != "" && n.Type != "actor":
		return p.ink.yellow(s)
	case n.Run.Outcome == transcript.Failed:
		return p.ink.red(s)
	case n.Run.ID == p.asked:
		return p.ink.bold(s)
	}
	return s
}

// lines are what is said of a node: who it is, and what it used.
func (p *treePrinter) lines(n *search.Node) (identity, [][]string) {
	link := ""
	if n.Kind != "" && n.Kind != "parent" {
		link = " [" + line(n.Kind) + "]"
	}
	other := identity{name: line(firstOf(n.Type, "run") + " " + n.NativeID), after: link}
	r := &n.Run
	switch {
	case n.Type == "actor":
		return other, nil
	case !n.Found && n.Kind != "" && !r.Pruned:
		other.after += ": announced, never found"
		return other, nil
	case r.ID == "" && n.Seen:
		other.after += "  (see above)"
		return other, nil
	case r.ID == "":
		return other, nil
	}
	head := identity{r.ID + "  " + r.Format + "  ", line(firstOf(r.Title, r.Flow, r.Agent, n.NativeID, r.NativeID)), link}
	if n.Seen {
		head.after += "  (see above)"
		return head, nil
	}
	parts := []string{p.a.when(r.Started), firstOf(r.Status, string(r.Outcome)), plural(n.Own.Events, "event", "events")}
	if r.Pruned {
		parts[2] = "pruned"
	}
	if tokens := inOut(&n.Own); tokens != "" {
		parts = append(parts, tokens)
	}
	parts = append(parts, strings.Join(p.tags[r.ID], ", "))
	lines := [][]string{said(parts...)}
	if len(n.Children) > 0 && n.All.Runs > 1 {
		all := fmt.Sprintf("all %s", plural(n.All.Runs, "run", "runs"))
		lines = append(lines, said(all, plural(n.All.Events, "event", "events"), inOut(&n.All)))
	}
	return head, lines
}

func inOut(t *search.Totals) string {
	s := ""
	if t.Input.Known || t.Output.Known {
		s = known(count(t.Input)) + " in, " + known(count(t.Output)) + " out"
	}
	if t.Cost.Known {
		s = strings.TrimPrefix(s+", "+dollars(count(t.Cost)), ", ")
	}
	return s
}

// nodeJSON is a node with its children; tags are those of each run.
func nodeJSON(n *search.Node, tags map[string][]string) map[string]any {
	children := []any{}
	for _, c := range n.Children {
		children = append(children, nodeJSON(c, tags))
	}
	out := map[string]any{"run": nil, "native_id": orNull(n.NativeID), "native_conversation": orNull(n.Conversation), "type": orNull(n.Type),
		"link": orNull(n.Kind), "found": n.Found, "again": n.Seen, "own": totalsJSON(&n.Own), "all": totalsJSON(&n.All), "children": children}
	if n.Run.ID != "" {
		out["run"] = withTags(runJSON(&n.Run), tags[n.Run.ID])
	}
	return out
}

func totalsJSON(t *search.Totals) map[string]any {
	return map[string]any{"runs": t.Runs, "events": t.Events, "tool_calls": t.Calls, "input_tokens": count(t.Input), "output_tokens": count(t.Output),
		"cache_read_tokens": count(t.CacheRead), "cache_creation_tokens": count(t.CacheCreation), "cost_microusd": count(t.Cost), "reported_cost_microusd": count(t.Reported)}
}
