package main

import (
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/transcript"
)

// listColumn is a column that a list may have.
type listColumn struct {
	name  string
	right bool
	flex  func(string, int) string
	from  int // the narrowest terminal that shows the column by default; -1: none does
	spare int // its DropRank when it is shown by default
	cell  func(*app, *listRow) string
	raw   func(*listRow) any // the value for programs; nil: the default columns for programs do not include it
}

// value returns the value of a row in JSON and CSV.
func (c *listColumn) value(r *listRow) any {
	if c.raw == nil {
		return c.cell(&app{Printer: printer.Printer{UTC: true}}, r)
	}
	return c.raw(r)
}

// whole returns the column with cells that are never shortened.
func (c listColumn) whole() listColumn {
	c.flex = nil
	return c
}

// spared returns the column as one that a narrow terminal drops, with rank n.
func (c listColumn) spared(n int) listColumn {
	c.spare = n
	return c
}

// texts returns a column of texts.
func texts(name string, from int, of func(*listRow) string) listColumn {
	return listColumn{name: name, flex: terminal.Truncate, from: from,
		cell: func(_ *app, r *listRow) string { return of(r) }, raw: func(r *listRow) any { return value(printer.OrNull(of(r))) }}
}

// counted returns a column of numbers, compact for people.
func counted(name string, from int, of func(*listRow) transcript.Count) listColumn {
	return listColumn{name: name, right: true, from: from, raw: func(r *listRow) any { return value(of(r).OrNil()) },
		cell: func(_ *app, r *listRow) string {
			if n := of(r); n.Known {
				return terminal.CompactCount(n.N)
			}
			return "-"
		}}
}

// endedColumn is as short as the terminal is narrow.
var endedColumn = listColumn{name: "ended", from: -1, raw: func(r *listRow) any { return value(r.ended().OrNil()) },
	cell: func(a *app, r *listRow) string { return a.formatShort(r.ended()) }}

// startedColumn has a tilde before times that are only about right.
var startedColumn = listColumn{name: "started", spare: 1, raw: func(r *listRow) any { return value(r.started().OrNil()) },
	cell: func(a *app, r *listRow) string {
		at := a.formatShort(r.about())
		if r.about().Valid && !r.started().Valid {
			at = "~" + at
		}
		return at
	}}

// always makes a count that is always known.
func always(of func(*listRow) int64) func(*listRow) transcript.Count {
	return func(r *listRow) transcript.Count { return transcript.Known(of(r)) }
}

// durationColumn is no column for programs, which have both times.
var durationColumn = listColumn{name: "duration", right: true, from: -1,
	cell: func(_ *app, r *listRow) string {
		if d := r.duration(); d.Known {
			return (time.Duration(d.N) * time.Microsecond).Round(time.Second).String() // as queries write it
		}
		return "-"
	}}

const (
	medium = 100 // columns of a terminal
	wide   = 140
)

var runColumns = []listColumn{
	texts("run", 0, func(r *listRow) string { return r.run.ID }).whole(),
	startedColumn, endedColumn, durationColumn,
	texts("format", 0, func(r *listRow) string { return r.run.Format }).whole().spared(3),
	{name: "status", from: 0, spare: 2, raw: func(r *listRow) any { return value(printer.OrNull(r.run.Status)) },
		cell: func(_ *app, r *listRow) string {
			return terminal.Truncate(terminal.OneLine(terminal.FirstNonEmpty(r.run.Status, string(r.run.Outcome))), 10)
		}},
	texts("outcome", -1, func(r *listRow) string { return string(r.run.Outcome) }),
	counted("conversations", -1, always(func(r *listRow) int64 { return r.run.Counts.Conversations })),
	counted("events", 0, always(func(r *listRow) int64 { return r.run.Counts.Events })).spared(4),
	counted("tool_calls", -1, always(func(r *listRow) int64 { return r.run.Counts.Calls })),
	counted("tokens", medium, func(r *listRow) transcript.Count { return tokens(&r.run.Counts) }),
	{name: "cost", right: true, from: medium, raw: func(r *listRow) any { return value(r.run.Counts.CostUsed.OrNil()) },
		cell: func(_ *app, r *listRow) string { return terminal.Dollars(r.run.Counts.CostUsed.OrNil()) }},
	texts("project", wide, func(r *listRow) string { return r.run.Project }),
	texts("agent", -1, func(r *listRow) string { return r.run.Agent }),
	texts("model", wide, func(r *listRow) string { return r.run.Model }),
	texts("group", -1, func(r *listRow) string { return r.run.Group }),
	texts("flow", -1, func(r *listRow) string { return r.run.Flow }),
	texts("branch", -1, func(r *listRow) string { return r.run.Branch }),
	texts("host", -1, func(r *listRow) string { return r.run.Host }),
	texts("version", -1, func(r *listRow) string { return r.run.Version }),
	texts("error", -1, func(r *listRow) string { return r.run.Error }),
	texts("tags", wide, func(r *listRow) string { return strings.Join(r.tags, ",") }),
	texts("native_id", -1, func(r *listRow) string { return r.run.NativeID }),
	texts("title", -1, func(r *listRow) string { return r.run.Title }),
	{name: "what", flex: terminal.Truncate, from: 0, cell: func(_ *app, r *listRow) string {
		return terminal.FirstNonEmpty(r.run.Title, r.run.Flow, r.run.NativeID, r.run.Agent)
	}},
}

var conversationColumns = []listColumn{
	texts("conversation", 0, func(r *listRow) string { return r.conversation.ID }).whole(),
	texts("run", medium, func(r *listRow) string { return r.run.ID }).whole(),
	startedColumn, endedColumn, durationColumn,
	texts("format", 0, func(r *listRow) string { return r.run.Format }).whole().spared(2),
	counted("events", 0, always(func(r *listRow) int64 { return r.conversation.Counts.Events })).spared(3),
	counted("messages", -1, always(func(r *listRow) int64 { return r.conversation.Counts.Messages })),
	counted("tool_calls", 0, always(func(r *listRow) int64 { return r.conversation.Counts.Calls })).spared(4),
	texts("step", -1, func(r *listRow) string { return r.conversation.Step }),
	texts("agent", wide, func(r *listRow) string { return r.conversation.Agent }),
	texts("engine", -1, func(r *listRow) string { return r.conversation.Engine }),
	texts("model", wide, func(r *listRow) string { return r.conversation.Model }),
	texts("flow", -1, func(r *listRow) string { return r.conversation.Flow }),
	texts("status", -1, func(r *listRow) string { return r.conversation.Status }),
	texts("project", -1, func(r *listRow) string { return terminal.FirstNonEmpty(r.conversation.Project, r.run.Project) }),
	texts("verdict", -1, func(r *listRow) string { return string(r.conversation.Verdict) }),
	texts("source", -1, func(r *listRow) string { return r.conversation.Key.Source }),
	texts("path", -1, func(r *listRow) string { return r.conversation.Key.Path }),
	texts("native_id", -1, func(r *listRow) string { return r.conversation.NativeID }),
	texts("title", -1, func(r *listRow) string { return r.conversation.Title }),
	{name: "what", flex: terminal.Truncate, from: 0, cell: func(_ *app, r *listRow) string {
		c := r.conversation
		return terminal.FirstNonEmpty(c.Title, strings.Trim(c.Step+" "+c.Agent, " "), r.run.Title, c.NativeID, r.run.NativeID) + notCounted(c)
	}},
}

func columnNames(all []listColumn) []string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].name
	}
	return names
}

func columnOf(all []listColumn, name string) *listColumn {
	i := slices.IndexFunc(all, func(c listColumn) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// fitting returns the columns for a terminal of some width (0 is any), and the one that the list is sorted by.
func fitting(all []listColumn, width int, sort string) []listColumn {
	var some []listColumn
	for _, c := range all {
		if c.from >= 0 && (width == 0 || width >= c.from) || c.name == sort {
			some = append(some, c)
		}
	}
	return some
}

// formatShort formats an instant for a narrow terminal: without the year if that is the current one.
func (a *app) formatShort(t transcript.Time) string {
	if width := a.Width(); !t.Valid || width == 0 || width >= wide {
		return a.FormatTime(t)
	}
	at, now := time.UnixMicro(t.UnixMicro).In(a.Location()), a.Now().In(a.Location())
	zone := ""
	if a.UTC {
		zone = "Z"
	}
	if at.Year() != now.Year() {
		return at.Format("2006-01-02")
	}
	return at.Format("01-02 15:04") + zone
}
