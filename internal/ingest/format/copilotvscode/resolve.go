package copilotvscode

import (
	"math"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Resolve says which of two statements of what a turn took counts: the requests of a debug log, where their output is no less than the turn's,
// since these have the prompts of all requests and what was read from a cache; else, where some of them are missing, the turn's.
// Requests of a subagent are in a turn's sums by model alone, and count beside everything else.
//
// Of exports it says what a session of the archive has as well.
func (vscode) Resolve(f *transcript.Family) {
	copies(f)
	var turns, spans []*transcript.Usage
	var began []int64
	early := map[string]bool{} // keys of turns before their message was known
	for _, u := range f.Usage {
		switch {
		case !u.Time.Valid:
		case strings.Contains(u.Key, spanMark):
			spans = append(spans, u)
		case u.Verdict != transcript.CopiedHistory:
			turns = append(turns, u)
			began = append(began, u.Time.UnixMicro)
			early[u.Alias] = true
		}
	}
	slices.Sort(began)
	began = append(slices.Compact(began), math.MaxInt64)
	for i, at := range began[:len(began)-1] {
		within := func(u *transcript.Usage) bool { return u.Time.UnixMicro >= at && u.Time.UnixMicro < began[i+1] }
		turn, sums := outputOf(turns, func(u *transcript.Usage) bool { return within(u) && !early[u.Key] }, func(u *transcript.Usage) bool { return u.Rank < rankSums })
		own, other := outputOf(spans, within, func(u *transcript.Usage) bool { return u.Agent == "" })
		if own+other == 0 {
			continue
		}
		told := own >= turn && own+other >= sums && (own > 0 || sums > 0)
		for _, u := range turns {
			if told && within(u) {
				u.Verdict = transcript.DerivedTotal
			}
		}
		for _, u := range spans {
			if !told && within(u) && (u.Agent == "" || sums > 0) {
				u.Verdict = transcript.DerivedTotal
			}
		}
	}
}

// ResolvesUsage makes the format a format.UsageResolver.
func (vscode) ResolvesUsage() {}

// outputOf adds up the output of some usage, of one key once: that of which some is true, and of turns' sums or of all.
func outputOf(all []*transcript.Usage, within, some func(*transcript.Usage) bool) (of, rest int64) {
	most := map[string]*transcript.Usage{}
	for _, u := range all {
		if within(u) && (most[u.Key] == nil || most[u.Key].Rank < u.Rank) {
			most[u.Key] = u
		}
	}
	for _, u := range most {
		if some(u) {
			of += u.Output.N
		} else {
			rest += u.Output.N
		}
	}
	return of, rest
}
