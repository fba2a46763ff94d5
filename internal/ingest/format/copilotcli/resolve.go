package copilotcli

import (
	"math"
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/transcript"
)

// The marks in the keys of usage, behind the session's id.
const (
	shutdownMark = ":shutdown:"
	storeMark    = ":store:"
)

// Resolve says which of the statements of what a session took counts: of the two layouts the directory's, and of the requests
// in the database and the sums in shutdowns the requests, where they are no less than the sums. Where some of them are missing
// (the database came with a newer version, or was lost) the sum counts; behind the last one the requests do.
func (copilot) Resolve(f *transcript.Family) {
	dir := slices.ContainsFunc(f.Conversations, func(c *transcript.FamilyConversation) bool { return path.Base(c.Path) == eventsFile && c.Events > 0 })
	var sums, requests []*transcript.Usage
	for _, u := range f.Usage {
		switch {
		case strings.Contains(u.Key, storeMark):
			requests = append(requests, u)
		case !strings.Contains(u.Key, shutdownMark):
		case dir && u.Rank < rankDirectory:
			u.Verdict = transcript.CopiedHistory
		default:
			sums = append(sums, u)
		}
	}
	if len(sums) == 0 || len(requests) == 0 {
		return
	}
	began := int64(math.MinInt64)
	for _, until := range shutdowns(sums) {
		within := func(u *transcript.Usage) bool { return u.Time.UnixMicro > began && u.Time.UnixMicro <= until }
		sum, of := spentBy(sums, within), spentBy(requests, within)
		derived := requests
		if of.prompt >= sum.prompt && of.output >= sum.output && of.requests > 0 {
			derived = sums
		}
		for _, u := range derived {
			if within(u) {
				u.Verdict = transcript.DerivedTotal
			}
		}
		began = until
	}
}

// ResolvesUsage makes the format a format.UsageResolver.
func (copilot) ResolvesUsage() {}

// shutdowns are the times of shutdowns. Where one has none, all is one span: requests are told by their times alone.
func shutdowns(sums []*transcript.Usage) (times []int64) {
	for _, u := range sums {
		if !u.Time.Valid {
			return []int64{math.MaxInt64}
		}
		times = append(times, u.Time.UnixMicro)
	}
	slices.Sort(times)
	return slices.Compact(times)
}

type spent struct{ prompt, output, requests int64 }

// spentBy adds up usage, that of one key once.
func spentBy(all []*transcript.Usage, of func(*transcript.Usage) bool) (s spent) {
	keys := map[string]bool{}
	for _, u := range all {
		if of(u) && !keys[u.Key] {
			keys[u.Key] = true
			s.prompt += u.Input.N + u.CacheRead.N + u.CacheWrite.N
			s.output += u.Output.N
			s.requests++
		}
	}
	return s
}
