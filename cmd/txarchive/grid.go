package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// column is one column of a table.
type column struct {
	head  string
	right bool                             // numbers
	flex  func(s string, width int) string // shortens a cell where the terminal is too narrow; nil: cells stay whole
	spare int                              // where it still is, the column with most of it goes; 0 stays
}

// grid is a table for people: no lines, one space of air, fitting the terminal.
type grid struct {
	columns []column
	rows    [][]string
	footer  bool // the last row is a total
	folds   bool // what has no room beside the first column goes below it
}

func (g *grid) add(cells ...string) {
	for i := range cells {
		cells[i] = line(cells[i])
	}
	g.rows = append(g.rows, cells)
}

// listing is a list of like things: a table for people, an object a line for scripts.
type listing struct {
	grid
	a *app
}

func (a *app) listing(columns ...column) *listing {
	return &listing{grid{columns: columns}, a}
}

// row adds a thing: what scripts get, and its cells.
func (l *listing) row(v any, cells ...string) error {
	if l.a.json {
		return l.a.printJSON(v)
	}
	l.add(cells...)
	return nil
}

// end prints the table; without rows it says none.
func (l *listing) end(none string) {
	switch {
	case len(l.rows) > 0:
		fmt.Fprintln(l.a.out, l.a.fitted(&l.grid))
	case !l.a.json && none != "":
		l.a.note("%s", none)
	}
}

// fitted prints a grid in the width of the terminal. What may be shortened is, then columns go that can be spared,
// before names are cut to pieces; what is still too wide stands one row below the other.
func (a *app) fitted(g *grid) string {
	width := a.width()
	if width == 0 || g.natural() <= width {
		return g.render(0, a.ink())
	}
	g = g.lean(width)
	switch {
	case g.fits(width):
		return g.render(width, a.ink())
	case g.folds:
		return g.folded(width, a.ink())
	}
	return g.upright(width, a.ink())
}

// lean is the grid without what must be spared for it to be legible in some width.
func (g *grid) lean(width int) *grid {
	for !g.legible(width) {
		most := 0
		for i, col := range g.columns {
			if col.spare > g.columns[most].spare {
				most = i
			}
		}
		if len(g.columns) == 0 || g.columns[most].spare == 0 {
			break
		}
		g = g.without(most)
	}
	return g
}

// without is the grid without a column.
func (g *grid) without(i int) *grid { return g.of(i, i+1, len(g.columns)) }

// of is the grid of so many columns at its beginning, and of those from one to before another.
func (g *grid) of(first, from, to int) *grid {
	some := *g
	some.columns = slices.Concat(g.columns[:first], g.columns[from:to])
	some.rows = make([][]string, len(g.rows))
	for n, cells := range g.rows {
		some.rows[n] = slices.Concat(cells[:first], cells[from:to])
	}
	return &some
}

// least is how much of a cell must be left for it to be recognised.
const least = 18

// legible says that a grid fits a width, and that nothing is cut to pieces for that.
func (g *grid) legible(width int) bool {
	natural := g.widths(0)
	for i, room := range g.widths(width) {
		if room < min(natural[i], least) {
			return false
		}
	}
	return g.fits(width)
}

// fits says whether the columns, cut as far as they can be, have room beside each other.
func (g *grid) fits(width int) bool { return g.across(g.widths(width)) <= width }

// natural is how wide a grid is when nothing is cut.
func (g *grid) natural() int { return g.across(g.widths(0)) }

// across is how wide columns are with the air between them.
func (g *grid) across(widths []int) int {
	sum := 2 * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	return sum
}

// widths shares the terminal out: columns that cannot be cut get what they need, the others the rest evenly. Of numbers
// only the head is ever cut.
func (g *grid) widths(total int) []int {
	need, floor := make([]int, len(g.columns)), make([]int, len(g.columns))
	for i, col := range g.columns {
		for _, row := range g.rows {
			need[i] = max(need[i], widthOf(row[i]))
		}
		floor[i] = 8
		if col.right {
			floor[i] = max(floor[i], need[i])
		}
		need[i] = max(need[i], widthOf(col.head))
	}
	for over := g.across(need) - total; total > 0 && over > 0; over-- {
		widest := -1
		for i, col := range g.columns {
			if col.flex != nil && need[i] > floor[i] && (widest < 0 || need[i] > need[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		need[widest]--
	}
	return need
}

// farthest is how far the rows of a column make room for its widest cell. What stands behind a wider one begins further right than in
// other rows: a column of texts would else be a thousand times its widest, in spaces.
const farthest = 1 << 10

// render prints the table, cut to a width where it can be (0 is any).
func (g *grid) render(width int, c ink) string {
	widths := g.widths(width)
	rows := make([]string, 0, len(g.rows)+1)
	head := make([]string, len(g.columns))
	for i, col := range g.columns {
		head[i] = c.bold(cut(col.head, widths[i]))
	}
	rows = append(rows, g.row(head, widths))
	shown := make([]string, len(g.columns))
	for n, cells := range g.rows {
		for i, cell := range cells {
			if flex := g.columns[i].flex; flex != nil {
				cell = flex(cell, widths[i])
			}
			if g.footer && n == len(g.rows)-1 {
				cell = c.bold(cell)
			}
			shown[i] = cell
		}
		rows = append(rows, g.row(shown, widths))
	}
	return strings.Join(rows, "\n")
}

// row puts cells side by side, without spaces behind the last.
func (g *grid) row(cells []string, widths []int) string {
	var b strings.Builder
	gap := 0
	for i, cell := range cells {
		room := max(min(widths[i], farthest)-widthOf(cell), 0)
		if g.columns[i].right || cell == "" {
			gap, room = gap+room, 0
		}
		if cell != "" {
			b.WriteString(strings.Repeat(" ", gap) + cell)
			gap = 0
		}
		gap += room + 2
	}
	return b.String()
}

// folded prints as many columns as there is room for beside the first, and the others below them, likewise.
func (g *grid) folded(width int, c ink) string {
	var parts []string
	for first := 1; first < len(g.columns); {
		last := first + 1
		for last < len(g.columns) && g.of(1, first, last+1).natural() <= width {
			last++
		}
		parts = append(parts, g.of(1, first, last).render(width, c))
		first = last
	}
	return strings.Join(parts, "\n\n")
}

// upright prints each row as a block with a line for each column that has a value.
func (g *grid) upright(width int, c ink) string {
	head := 0
	for _, col := range g.columns {
		head = max(head, widthOf(col.head))
	}
	var b strings.Builder
	for i, row := range g.rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		for j, cell := range row {
			if cell != "" {
				b.WriteString(c.dim(text.Pad(g.columns[j].head, head+2, ' ')) + cut(cell, max(width-head-2, 8)) + "\n")
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// cut shortens a line to a width; 0 leaves it whole.
func cut(s string, width int) string {
	if width <= 0 || widthOf(s) <= width {
		return s
	}
	return text.Snip(s, width, "…")
}

// cutMiddle shortens a line to a width and leaves both ends, at which names of models and paths differ; of a model's
// name the day goes first.
func cutMiddle(s string, width int) string {
	runes := []rune(s)
	switch n := widthOf(s); {
	case n <= width || width < 3:
		return cut(s, width)
	case n != len(runes): // some take two columns, or none
		end := tail(s, (width+1)/2)
		return text.Trim(s, width-widthOf(end)) + end
	}
	tail := (width - 1) / 2
	if name := len(runes) - len("-20250929"); name > 0 && runes[name] == '-' && strings.Trim(string(runes[name+1:]), "0123456789") == "" {
		switch tail = width - 1 - name; {
		case tail < 0:
			return cutMiddle(string(runes[:name]), width)
		case tail < 4:
			return string(runes[:name]) + "…"
		}
	}
	return string(runes[:width-1-tail]) + "…" + string(runes[len(runes)-tail:])
}

// tail shortens a path to a width at its beginning: its end says more.
func tail(path string, width int) string {
	if width <= 0 || widthOf(path) <= width {
		return path
	}
	runes := []rune(path)
	for len(runes) > 0 && widthOf(string(runes)) > width-1 {
		runes = runes[1:]
	}
	return "…" + string(runes)
}
