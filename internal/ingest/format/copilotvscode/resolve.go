package copilotvscode

import (
	"math"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/transcript"
)

// Resolve decides which statement of a turn's usage counts. The requests of a debug log count if their output is no less than the turn's,
// since they have the prompts and cache reads of all requests; otherwise some requests are missing and the turn's count.
// Requests of a subagent are included only in modelTotals of a turn; without modelTotals they count beside it.
//
// It also marks what exports repeat of a session in the archive.
func (vscode) Resolve(f *transcript.Family) {
	resolveExports(f)
	var turns, spans []*transcript.Usage
	var starts []int64
	early := map[string]bool{} // keys of turns from before their message id was known
	for _, u := range f.Usage {
		switch {
		case !u.Time.Valid:
		case strings.Contains(u.Key, spanMark):
			spans = append(spans, u)
		case u.Verdict != transcript.CopiedHistory:
			turns = append(turns, u)
			starts = append(starts, u.Time.UnixMicro)
			early[u.Alias] = true
		}
	}
	slices.Sort(starts)
	starts = append(slices.Compact(starts), math.MaxInt64)
	for i, at := range starts[:len(starts)-1] {
		inTurn := func(u *transcript.Usage) bool { return u.Time.UnixMicro >= at && u.Time.UnixMicro < starts[i+1] }
		own, total := outputOf(turns, func(u *transcript.Usage) bool { return inTurn(u) && !early[u.Key] }, func(u *transcript.Usage) bool { return u.Rank < rankSums })
		spanOwn, spanRest := outputOf(spans, inTurn, func(u *transcript.Usage) bool { return u.Agent == "" })
		if spanOwn+spanRest == 0 {
			continue
		}
		covered := spanOwn >= own && spanOwn+spanRest >= total && (spanOwn > 0 || total > 0)
		for _, u := range turns {
			if covered && inTurn(u) {
				u.Verdict = transcript.DerivedTotal
			}
		}
		for _, u := range spans {
			if !covered && inTurn(u) && (u.Agent == "" || total > 0) {
				u.Verdict = transcript.DerivedTotal
			}
		}
	}
}

// ResolvesUsage makes the format a format.UsageResolver.
func (vscode) ResolvesUsage() {}

// outputOf adds up the output of the usage in a span, each key once: separately for requests that isOwn accepts and for the rest.
func outputOf(all []*transcript.Usage, within, isOwn func(*transcript.Usage) bool) (own, rest int64) {
	best := map[string]*transcript.Usage{}
	for _, u := range all {
		if within(u) && (best[u.Key] == nil || best[u.Key].Rank < u.Rank) {
			best[u.Key] = u
		}
	}
	for _, u := range best {
		if isOwn(u) {
			own += u.Output.N
		} else {
			rest += u.Output.N
		}
	}
	return own, rest
}
