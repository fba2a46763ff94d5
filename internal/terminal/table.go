package terminal

import (
	"slices"
	"strings"
)

// Column is one column of a table.
type Column struct {
	Head     string
	Right    bool                             // aligned right, as numbers are
	Shorten  func(s string, width int) string // shortens a cell where the terminal is too narrow; nil: cells stay whole
	DropRank int                              // if the table is still too wide, columns with the highest rank are dropped first; 0 is never dropped
}

// Table is a table for people, without lines, its columns two spaces apart, which adapts to the width of the terminal.
type Table struct {
	Columns []Column
	Rows    [][]string
	Footer  bool // the last row is a total
	Fold    bool // columns that do not fit beside the first continue below it
}

// Add appends a row; each cell is put through OneLine.
func (t *Table) Add(cells ...string) {
	for i := range cells {
		cells[i] = OneLine(cells[i])
	}
	t.Rows = append(t.Rows, cells)
}

// Fit returns the table for a terminal of width columns; 0 is any number. If it is too wide, cells are shortened as far as they stay
// recognizable, then columns are dropped by rank, then cells are shortened further. A table that is still too wide is folded if it may
// be, else printed as one block for each row.
func (t *Table) Fit(width int, c Style) string {
	if width == 0 || t.FullWidth() <= width {
		return t.Render(0, c)
	}
	t = t.dropColumns(width)
	switch {
	case t.fits(width):
		return t.Render(width, c)
	case t.Fold:
		return t.renderFolded(width, c)
	}
	return t.renderBlocks(width, c)
}

// dropColumns returns the table without the columns that must be dropped for the others to be legible in a width.
func (t *Table) dropColumns(width int) *Table {
	for !t.legible(width) {
		most := 0
		for i, col := range t.Columns {
			if col.DropRank > t.Columns[most].DropRank {
				most = i
			}
		}
		if len(t.Columns) == 0 || t.Columns[most].DropRank == 0 {
			break
		}
		t = t.Without(most)
	}
	return t
}

// Without returns the table without column i.
func (t *Table) Without(i int) *Table { return t.slice(i, i+1, len(t.Columns)) }

// slice returns a table of the first columns, and of those from one index to before another.
func (t *Table) slice(first, from, to int) *Table {
	some := *t
	some.Columns = slices.Concat(t.Columns[:first], t.Columns[from:to])
	some.Rows = make([][]string, len(t.Rows))
	for n, cells := range t.Rows {
		some.Rows[n] = slices.Concat(cells[:first], cells[from:to])
	}
	return &some
}

// minLegible is how many columns of the terminal a shortened cell needs to be recognized.
const minLegible = 18

// legible reports whether the table fits a width with no cell shortened beyond recognition.
func (t *Table) legible(width int) bool {
	whole := t.columnWidths(0)
	for i, w := range t.columnWidths(width) {
		if w < min(whole[i], minLegible) {
			return false
		}
	}
	return t.fits(width)
}

// fits reports whether the columns fit a width when their cells are shortened as far as possible.
func (t *Table) fits(width int) bool { return t.totalWidth(t.columnWidths(width)) <= width }

// FullWidth returns the width of the table with all cells whole.
func (t *Table) FullWidth() int { return t.totalWidth(t.columnWidths(0)) }

// totalWidth returns the width of columns with the gaps between them.
func (t *Table) totalWidth(widths []int) int {
	sum := 2 * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	return sum
}

// columnWidths returns the widths of the columns in a total width; 0 is any. Columns that cannot be shortened get what they need, the others
// share the rest evenly as long as cells stay recognizable; then headings of numbers give way, then all. Of numbers only the heading is ever
// shortened.
func (t *Table) columnWidths(total int) []int {
	need, floor := make([]int, len(t.Columns)), make([]int, len(t.Columns))
	for i, col := range t.Columns {
		for _, row := range t.Rows {
			need[i] = max(need[i], Width(row[i]))
		}
		floor[i] = 8
		if col.Right {
			floor[i] = max(floor[i], need[i])
		}
		need[i] = max(need[i], Width(col.Head))
	}
	if total > 0 {
		t.shrink(need, total, func(i int) int { return max(floor[i], minLegible) })
		t.shrink(need, total, func(i int) int {
			if t.Columns[i].Right {
				return floor[i]
			}
			return need[i]
		})
		t.shrink(need, total, func(i int) int { return floor[i] })
	}
	return need
}

// shrink makes columns that can be shortened narrower, the widest first and none below its floor, until they fit a width.
func (t *Table) shrink(widths []int, total int, floor func(i int) int) {
	for over := t.totalWidth(widths) - total; over > 0; over-- {
		widest := -1
		for i, col := range t.Columns {
			if col.Shorten != nil && widths[i] > floor(i) && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// maxPadding is the width up to which cells are padded to the widest of their column. What follows a wider cell begins further right
// than in other rows: else a thousand short rows would each be padded to the length of one long text.
const maxPadding = 1 << 10

// Render returns the table with cells shortened to a width where they can be; 0 is any.
func (t *Table) Render(width int, c Style) string {
	widths := t.columnWidths(width)
	rows := make([]string, 0, len(t.Rows)+1)
	head := make([]string, len(t.Columns))
	for i, col := range t.Columns {
		head[i] = c.Bold(Truncate(col.Head, widths[i]))
	}
	rows = append(rows, t.renderRow(head, widths))
	shown := make([]string, len(t.Columns))
	for n, cells := range t.Rows {
		for i, cell := range cells {
			if flex := t.Columns[i].Shorten; flex != nil {
				cell = flex(cell, widths[i])
			}
			if t.Footer && n == len(t.Rows)-1 {
				cell = c.Bold(cell)
			}
			shown[i] = cell
		}
		rows = append(rows, t.renderRow(shown, widths))
	}
	return strings.Join(rows, "\n")
}

// renderRow puts cells side by side, without trailing spaces.
func (t *Table) renderRow(cells []string, widths []int) string {
	var b strings.Builder
	gap := 0
	for i, cell := range cells {
		padding := max(min(widths[i], maxPadding)-Width(cell), 0)
		if t.Columns[i].Right || cell == "" {
			gap, padding = gap+padding, 0
		}
		if cell != "" {
			b.WriteString(strings.Repeat(" ", gap) + cell)
			gap = 0
		}
		gap += padding + 2
	}
	return b.String()
}

// renderFolded returns as many columns as fit beside the first, and the others below them, each part with the first column again.
func (t *Table) renderFolded(width int, c Style) string {
	var parts []string
	for first := 1; first < len(t.Columns); {
		last := first + 1
		for last < len(t.Columns) && t.slice(1, first, last+1).FullWidth() <= width {
			last++
		}
		parts = append(parts, t.slice(1, first, last).Render(width, c))
		first = last
	}
	return strings.Join(parts, "\n\n")
}

// renderBlocks returns each row as a block with a line for each column that has a value.
func (t *Table) renderBlocks(width int, c Style) string {
	head := 0
	for _, col := range t.Columns {
		head = max(head, Width(col.Head))
	}
	var b strings.Builder
	for i, row := range t.Rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		for j, cell := range row {
			if cell != "" {
				b.WriteString(c.Dim(Pad(t.Columns[j].Head, head+2)) + Truncate(cell, max(width-head-2, 8)) + "\n")
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
