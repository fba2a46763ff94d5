package vibe

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Resolve sets the fields of a conversation from meta.json, and decides which statements of tokens count.
func (vibe) Resolve(f *transcript.Family) {
	format.InheritRun(f)
	for _, c := range f.Conversations {
		if c.Model == "" && c.Shared {
			c.Model = modelOfParent(f)
		}
	}
	resolveUsage(f)
}

// ResolvesUsage makes the format a format.UsageResolver.
func (vibe) ResolvesUsage() {}

// state identifies a state of meta.json by what it states.
type state struct{ time, prompt, output int64 }

func stateOf(u *transcript.Usage) state { return state{u.Time.UnixMicro, promptOf(u), u.Output.N} }

// resolveUsage decides which totals count. They only grow, until the session is resumed: then most versions count from 0 again. So the last total
// before each fall counts, and the last of all. Versions that made a new session for a compaction went on counting in
// it: of the sessions of such a lineage only the one with the highest total counts.
func resolveUsage(f *transcript.Family) {
	var totals, unified []*transcript.Usage
	requests := false
	for _, u := range f.Usage {
		switch u.Attributes["of"] {
		case ofSession:
			totals = append(totals, u)
		case ofLineage:
		case ofUnified, ofRequest:
			if u.Model = cmp.Or(u.Model, f.Run.Model); u.Model == "" {
				u.Model = modelOfParent(f)
			}
			nameModel(f, u)
			unified = append(unified, u)
		default:
			requests = true
			nameModel(f, u)
		}
	}
	slices.SortStableFunc(totals, func(a, b *transcript.Usage) int {
		x, y := stateOf(a), stateOf(b)
		return cmp.Or(cmp.Compare(x.time, y.time), cmp.Compare(x.prompt, y.prompt), cmp.Compare(x.output, y.output))
	})
	last := map[state]bool{} // before a fall, or of all
	final := map[state]bool{}
	for i, u := range totals {
		s := stateOf(u)
		if i+1 == len(totals) {
			last[s], final[s] = true, true
		} else if next := stateOf(totals[i+1]); next.prompt < s.prompt || next.output < s.output {
			last[s] = true
		}
	}
	lineage := isOfLineage(f, totals)
	for _, u := range f.Usage {
		counts := true
		switch s := stateOf(u); u.Attributes["of"] {
		case ofSession:
			counts = !requests && last[s] && !(lineage && final[s])
		case ofLineage:
			counts = !requests && lineage && final[s]
		}
		if u.Verdict = transcript.Counted; !counts {
			u.Verdict = transcript.DerivedTotal
		}
	}
	resolveUnified(unified)
}

// modelOfParent returns the model that the session uses which started a subagent.
func modelOfParent(f *transcript.Family) string {
	var last string
	for _, hints := range f.Related {
		for _, h := range hints {
			if h.Key == hintActive {
				last = max(last, h.Value)
			}
		}
	}
	_, model, _ := strings.Cut(last, "\t")
	return model
}

// nameModel replaces the alias of a model, by which an answer names it, or sets the session's model.
func nameModel(f *transcript.Family, u *transcript.Usage) {
	if u.Model == "" {
		u.Model = f.Run.Model
	}
	for _, h := range f.Hints {
		if h.Key != hintModel {
			continue
		}
		if alias, rest, _ := strings.Cut(h.Value, "\t"); alias == u.Model || strings.HasPrefix(rest, u.Model+"\t") {
			u.Model, u.Provider, _ = strings.Cut(rest, "\t")
			return
		}
	}
}

// isOfLineage reports whether the totals of a session are those of its lineage: it is the first, or it goes on counting from its parent. A fork
// begins at 0, and with the parent's first message.
func isOfLineage(f *transcript.Family, totals []*transcript.Usage) bool {
	parent, first := "", map[string]bool{}
	for _, h := range f.Hints {
		switch h.Key {
		case hintParent:
			parent = max(parent, h.Value)
		case hintFirst:
			first[h.Value] = true
		}
	}
	if parent == "" {
		return true
	}
	prompt, output := int64(-1), int64(-1)
	for _, h := range f.Related[parent] {
		switch h.Key {
		case hintFirst:
			if first[h.Value] {
				return false
			}
		case hintTotal:
			a, b, _ := strings.Cut(h.Value, "\t")
			n, _ := strconv.ParseInt(a, 10, 64)
			m, _ := strconv.ParseInt(b, 10, 64)
			prompt, output = max(prompt, n), max(output, m)
		}
	}
	return prompt >= 0 && len(totals) > 0 && stateOf(totals[0]).prompt >= prompt && stateOf(totals[0]).output >= output
}
