package show

import (
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Tree prints a run with its sub-runs. asked is the run that was asked for; tags are those that were put on each run.
func Tree(p *printer.Printer, n *search.Node, asked string, tags map[string][]string) error {
	if p.JSON {
		return p.PrintJSON(nodeJSON(n, tags))
	}
	t := treePrinter{Printer: p, style: p.Style(), width: p.Width(), asked: asked, tags: tags}
	t.node(n, "", "")
	return nil
}

type treePrinter struct {
	*printer.Printer
	style terminal.Style
	width int
	asked string // run
	tags  map[string][]string
}

// node prints a node after its branch, and its children below it.
func (p *treePrinter) node(n *search.Node, branch, margin string) {
	below := margin + "  "
	if len(n.Children) > 0 {
		below = margin + "│ "
	}
	head, used := p.lines(n)
	fmt.Fprintln(p.Out, p.style.Dim(branch)+p.color(n, head.in(p.remainingWidth(branch))))
	for _, parts := range used {
		for _, row := range layoutRows(parts, p.remainingWidth(below)) {
			fmt.Fprintln(p.Out, p.style.Dim(below+row))
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

// remainingWidth returns how many columns are left on a line after its lead; 0 is any number.
func (p *treePrinter) remainingWidth(lead string) int {
	if p.width == 0 {
		return 0
	}
	return max(p.width-terminal.Width(lead), 20)
}

// identity is the first line of a node. Only its name is shortened on a narrow terminal: ids are typed again, and how the node is
// linked is on no other line.
type identity struct{ id, name, after string }

func (h identity) in(room int) string {
	name := h.name
	if room > 0 {
		name = terminal.Truncate(name, max(room-terminal.Width(h.id)-terminal.Width(h.after), 8))
	}
	return terminal.Truncate(h.id+name+h.after, room)
}

// layoutRows lays parts out side by side in rows of a width. No part is shortened: the last one is a cost.
func layoutRows(parts []string, width int) []string {
	rows := parts[:1:1]
	for _, part := range parts[1:] {
		last := len(rows) - 1
		if row := rows[last] + "  " + part; width == 0 || terminal.Width(row) <= width {
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
		return p.style.Yellow(s)
	case n.Run.Outcome == transcript.Failed:
		return p.style.Red(s)
	case n.Run.ID == p.asked:
		return p.style.Bold(s)
	}
	return s
}

// lines returns the lines of a node: its identity, and its usage.
func (p *treePrinter) lines(n *search.Node) (identity, [][]string) {
	link := ""
	if n.Kind != "" && n.Kind != "parent" {
		link = " [" + terminal.OneLine(n.Kind) + "]"
	}
	other := identity{name: terminal.OneLine(terminal.FirstNonEmpty(n.Type, "run") + " " + n.NativeID), after: link}
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
	head := identity{r.ID + "  " + r.Format + "  ", terminal.OneLine(terminal.FirstNonEmpty(r.Title, r.Flow, r.Agent, n.NativeID, r.NativeID)), link}
	if n.Seen {
		head.after += "  (see above)"
		return head, nil
	}
	parts := []string{p.FormatTime(r.Started), terminal.FirstNonEmpty(r.Status, string(r.Outcome)), terminal.Plural(n.Own.Events, "event", "events")}
	if r.Pruned {
		parts[2] = "pruned"
	}
	if tokens := inOut(&n.Own); tokens != "" {
		parts = append(parts, tokens)
	}
	parts = append(parts, strings.Join(AllTags(r, p.tags), ", "))
	lines := [][]string{terminal.NonEmpty(parts...)}
	if len(n.Children) > 0 && n.All.Runs > 1 {
		all := fmt.Sprintf("all %s", terminal.Plural(n.All.Runs, "run", "runs"))
		lines = append(lines, terminal.NonEmpty(all, terminal.Plural(n.All.Events, "event", "events"), inOut(&n.All)))
	}
	return head, lines
}

func inOut(t *search.Totals) string {
	s := ""
	if t.Input.Known || t.Output.Known {
		s = terminal.CountOrDash(t.Input.OrNil()) + " in, " + terminal.CountOrDash(t.Output.OrNil()) + " out"
	}
	if t.Cost.Known {
		s = strings.TrimPrefix(s+", "+terminal.Dollars(t.Cost.OrNil()), ", ")
	}
	return s
}

// nodeJSON returns a node with its children for JSON; tags has those that were put on each run.
func nodeJSON(n *search.Node, tags map[string][]string) map[string]any {
	children := []any{}
	for _, c := range n.Children {
		children = append(children, nodeJSON(c, tags))
	}
	out := map[string]any{"run": nil, "native_id": printer.OrNull(n.NativeID), "native_conversation": printer.OrNull(n.Conversation), "type": printer.OrNull(n.Type),
		"link": printer.OrNull(n.Kind), "found": n.Found, "again": n.Seen, "own": totalsJSON(&n.Own), "all": totalsJSON(&n.All), "children": children}
	if n.Run.ID != "" {
		out["run"] = WithTags(runJSON(&n.Run), AllTags(&n.Run, tags))
	}
	return out
}

func totalsJSON(t *search.Totals) map[string]any {
	return map[string]any{"runs": t.Runs, "events": t.Events, "tool_calls": t.Calls, "input_tokens": t.Input.OrNil(), "output_tokens": t.Output.OrNil(),
		"cache_read_tokens": t.CacheRead.OrNil(), "cache_creation_tokens": t.CacheCreation.OrNil(), "cost_microusd": t.Cost.OrNil(), "reported_cost_microusd": t.Reported.OrNil()}
}
