package show

import (
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Column is a column that a list may have.
type Column struct {
	name  string
	right bool
	flex  func(string, int) string
	from  int // the narrowest terminal that shows the column by default; -1: none does
	spare int // its DropRank when it is shown by default
	cell  func(*printer.Printer, *Row) string
	raw   func(*Row) any // the value for programs; nil: the default columns for programs do not include it
}

// value returns the value of a row in JSON and CSV.
func (c *Column) value(r *Row) any {
	if c.raw == nil {
		return c.cell(&printer.Printer{UTC: true}, r)
	}
	return c.raw(r)
}

// whole returns the column with cells that are never shortened.
func (c Column) whole() Column {
	c.flex = nil
	return c
}

// spared returns the column as one that a narrow terminal drops, with rank n.
func (c Column) spared(n int) Column {
	c.spare = n
	return c
}

// texts returns a column of texts.
func texts(name string, from int, of func(*Row) string) Column {
	return Column{name: name, flex: terminal.Truncate, from: from,
		cell: func(_ *printer.Printer, r *Row) string { return of(r) }, raw: func(r *Row) any { return printer.Value(printer.OrNull(of(r))) }}
}

// counted returns a column of numbers, compact for people.
func counted(name string, from int, of func(*Row) transcript.Count) Column {
	return Column{name: name, right: true, from: from, raw: func(r *Row) any { return printer.Value(of(r).OrNil()) },
		cell: func(_ *printer.Printer, r *Row) string {
			if n := of(r); n.Known {
				return terminal.CompactCount(n.N)
			}
			return "-"
		}}
}

// endedColumn is as short as the terminal is narrow.
var endedColumn = Column{name: "ended", from: -1, raw: func(r *Row) any { return printer.Value(r.ended().OrNil()) },
	cell: func(p *printer.Printer, r *Row) string { return formatShort(p, r.ended()) }}

// startedColumn has a tilde before times that are only about right.
var startedColumn = Column{name: "started", spare: 1, raw: func(r *Row) any { return printer.Value(r.started().OrNil()) },
	cell: func(p *printer.Printer, r *Row) string {
		at := formatShort(p, r.about())
		if r.about().Valid && !r.started().Valid {
			at = "~" + at
		}
		return at
	}}

// always makes a count that is always known.
func always(of func(*Row) int64) func(*Row) transcript.Count {
	return func(r *Row) transcript.Count { return transcript.Known(of(r)) }
}

// durationColumn is no column for programs, which have both times.
var durationColumn = Column{name: "duration", right: true, from: -1,
	cell: func(_ *printer.Printer, r *Row) string {
		if d := r.duration(); d.Known {
			return (time.Duration(d.N) * time.Microsecond).Round(time.Second).String() // as queries write it
		}
		return "-"
	}}

func tokensColumn(from int) Column {
	return counted("tokens", from, func(r *Row) transcript.Count { return tokens(r.used()) })
}

func costColumn(from int) Column {
	return Column{name: "cost", right: true, from: from, raw: func(r *Row) any { return printer.Value(r.used().CostUsed.OrNil()) },
		cell: func(_ *printer.Printer, r *Row) string { return terminal.Dollars(r.used().CostUsed.OrNil()) }}
}

const (
	medium = 100 // columns of a terminal
	wide   = 140
)

// RunColumns are the columns of a list of runs.
var RunColumns = []Column{
	texts("run", 0, func(r *Row) string { return r.Run.ID }).whole(),
	startedColumn, endedColumn, durationColumn,
	texts("format", 0, func(r *Row) string { return r.Run.Format }).whole().spared(3),
	{name: "status", from: 0, spare: 2, raw: func(r *Row) any { return printer.Value(printer.OrNull(r.Run.Status)) },
		cell: func(_ *printer.Printer, r *Row) string {
			return terminal.Truncate(terminal.OneLine(terminal.FirstNonEmpty(r.Run.Status, string(r.Run.Outcome))), 10)
		}},
	texts("outcome", -1, func(r *Row) string { return string(r.Run.Outcome) }),
	counted("conversations", -1, always(func(r *Row) int64 { return r.Run.Counts.Conversations })),
	counted("events", 0, always(func(r *Row) int64 { return r.Run.Counts.Events })).spared(4),
	counted("tool_calls", -1, always(func(r *Row) int64 { return r.Run.Counts.Calls })),
	tokensColumn(medium), costColumn(medium),
	texts("project", wide, func(r *Row) string { return r.Run.Project }),
	texts("agent", -1, func(r *Row) string { return r.Run.Agent }),
	texts("model", wide, func(r *Row) string { return r.Run.Model }),
	texts("group", -1, func(r *Row) string { return r.Run.Group }),
	texts("flow", -1, func(r *Row) string { return r.Run.Flow }),
	texts("branch", -1, func(r *Row) string { return r.Run.Branch }),
	texts("host", -1, func(r *Row) string { return r.Run.Host }),
	texts("version", -1, func(r *Row) string { return r.Run.Version }),
	texts("error", -1, func(r *Row) string { return r.Run.Error }),
	texts("tags", wide, func(r *Row) string { return strings.Join(r.Tags, ",") }),
	texts("native_id", -1, func(r *Row) string { return r.Run.NativeID }),
	texts("title", -1, func(r *Row) string { return r.Run.Title }),
	{name: "what", flex: terminal.Truncate, from: 0, cell: func(_ *printer.Printer, r *Row) string {
		return terminal.FirstNonEmpty(r.Run.Title, r.Run.Flow, r.Run.NativeID, r.Run.Agent)
	}},
}

// ConversationColumns are those of a list of conversations.
var ConversationColumns = []Column{
	texts("conversation", 0, func(r *Row) string { return r.Conversation.ID }).whole(),
	texts("run", medium, func(r *Row) string { return r.Run.ID }).whole(),
	startedColumn, endedColumn, durationColumn,
	texts("format", 0, func(r *Row) string { return r.Run.Format }).whole().spared(2),
	counted("events", 0, always(func(r *Row) int64 { return r.Conversation.Counts.Events })).spared(3),
	counted("messages", -1, always(func(r *Row) int64 { return r.Conversation.Counts.Messages })),
	counted("tool_calls", 0, always(func(r *Row) int64 { return r.Conversation.Counts.Calls })).spared(4),
	texts("step", -1, func(r *Row) string { return r.Conversation.Step }),
	texts("agent", wide, func(r *Row) string { return r.Conversation.Agent }),
	texts("engine", -1, func(r *Row) string { return r.Conversation.Engine }),
	texts("model", wide, func(r *Row) string { return r.Conversation.Model }),
	texts("flow", -1, func(r *Row) string { return r.Conversation.Flow }),
	texts("status", -1, func(r *Row) string { return r.Conversation.Status }),
	texts("project", -1, func(r *Row) string { return terminal.FirstNonEmpty(r.Conversation.Project, r.Run.Project) }),
	texts("verdict", -1, func(r *Row) string { return string(r.Conversation.Verdict) }),
	texts("source", -1, func(r *Row) string { return r.Conversation.Key.Source }),
	texts("path", -1, func(r *Row) string { return r.Conversation.Key.Path }),
	texts("native_id", -1, func(r *Row) string { return r.Conversation.NativeID }),
	texts("title", -1, func(r *Row) string { return r.Conversation.Title }),
	tokensColumn(wide), costColumn(wide),
	{name: "what", flex: terminal.Truncate, from: 0, cell: func(_ *printer.Printer, r *Row) string {
		c := r.Conversation
		return terminal.FirstNonEmpty(c.Title, strings.Trim(c.Step+" "+c.Agent, " "), r.Run.Title, c.NativeID, r.Run.NativeID) + notCounted(c)
	}},
}

// ColumnNames returns the names of columns.
func ColumnNames(all []Column) []string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].name
	}
	return names
}

// Known reports whether there is a column of a name.
func Known(all []Column, name string) bool { return columnOf(all, name) != nil }

func columnOf(all []Column, name string) *Column {
	i := slices.IndexFunc(all, func(c Column) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// fitting returns the columns for a terminal of some width (0 is any), and the one that the list is sorted by.
func fitting(all []Column, width int, sort string) []Column {
	var some []Column
	for _, c := range all {
		if c.from >= 0 && (width == 0 || width >= c.from) || c.name == sort {
			some = append(some, c)
		}
	}
	return some
}

// formatShort formats an instant for a narrow terminal: without the year if that is the current one.
func formatShort(p *printer.Printer, t transcript.Time) string {
	if width := p.Width(); !t.Valid || width == 0 || width >= wide {
		return p.FormatTime(t)
	}
	at, now := time.UnixMicro(t.UnixMicro).In(p.Location()), p.Now().In(p.Location())
	zone := ""
	if p.UTC {
		zone = "Z"
	}
	if at.Year() != now.Year() {
		return at.Format("2006-01-02")
	}
	return at.Format("01-02 15:04") + zone
}
