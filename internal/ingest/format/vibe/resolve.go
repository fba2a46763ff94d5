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
	parents := modelOfParent(f)
	for _, c := range f.Conversations {
		if c.Model == "" && c.Shared {
			c.Model = parents
		}
	}
	resolveUsage(f, parents)
}

// ResolvesUsage makes the format a format.UsageResolver.
func (vibe) ResolvesUsage() {}

// state identifies a state of meta.json by what it states.
type state struct{ time, prompt, output int64 }

func stateOf(u *transcript.Usage) state { return state{u.Time.UnixMicro, promptOf(u), u.Output.N} }

// resolveUsage decides which totals count. They only grow, until the session is resumed: then most versions count from 0 again. So the last total
// before each fall counts, and the last of all. Versions that made a new session for a compaction went on counting in
// it: of the sessions of such a lineage only the one with the highest total counts.
func resolveUsage(f *transcript.Family, modelOfParent string) {
	var totals, unified []*transcript.Usage
	requests, named := false, modelsOf(f)
	for _, u := range f.Usage {
		switch u.Attributes["of"] {
		case ofSession:
			totals = append(totals, u)
		case ofLineage:
		case ofUnified, ofRequest:
			u.Model = cmp.Or(u.Model, f.Run.Model, modelOfParent)
			named.set(u)
			unified = append(unified, u)
		default:
			requests = true
			u.Model = cmp.Or(u.Model, f.Run.Model)
			named.set(u)
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

// models are the models that a session states, "<model>\t<provider>", by their aliases and names: of several, the first.
type models map[string]string

func modelsOf(f *transcript.Family) models {
	all := models{}
	for _, h := range f.Hints {
		if h.Key != hintModel {
			continue
		}
		alias, rest, _ := strings.Cut(h.Value, "\t")
		model, _, _ := strings.Cut(rest, "\t")
		for _, name := range []string{alias, model} {
			if _, ok := all[name]; !ok {
				all[name] = rest
			}
		}
	}
	return all
}

// set replaces the alias of a model, by which an answer names it, and sets its provider.
func (m models) set(u *transcript.Usage) {
	if rest, ok := m[u.Model]; ok {
		u.Model, u.Provider, _ = strings.Cut(rest, "\t")
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
