package copilotcli

import (
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The marks in usage keys: after the session id, or, in a usage_record's key, before the request id.
const (
	shutdownMark   = ":shutdown:"
	checkpointMark = ":checkpoint:"
	storeMark      = ":store:"
	recordMark     = ":record:"
	stateMark      = ":state:" // in saved output
)

// Resolve decides which statement of a session's usage counts. Of the two layouts, the directory's does. Of the requests (from the
// session's own lines or from the database, whichever has more) and the totals in shutdowns and checkpoints, the requests count if they
// are no less than the totals. If some requests are missing (a newer version wrote the rest, or the database was lost), the totals count;
// without totals the requests do. Saved output is a copy if there is the session itself.
func (copilot) Resolve(f *transcript.Family) {
	session := format.CopyOutput(f)
	dir := slices.ContainsFunc(f.Conversations, func(c *transcript.FamilyConversation) bool {
		return !c.Shared && path.Base(c.Path) == eventsFile && c.Events > 0
	})
	var sums, stored, recorded []*transcript.Usage
	states := map[string]*transcript.Usage{} // the last by key
	for _, u := range f.Usage {
		switch {
		case strings.Contains(u.Key, stateMark):
			if session {
				u.Verdict = transcript.CopiedHistory
			} else if last := states[u.Key]; last == nil || u.Rank > last.Rank {
				states[u.Key] = u
			}
		case strings.Contains(u.Key, storeMark):
			stored = append(stored, u)
		case u.Key == "":
		case dir && u.Rank < rankDirectory:
			u.Verdict = transcript.CopiedHistory
		case strings.HasPrefix(u.Key, recordMark):
			recorded = append(recorded, u)
		default:
			sums = append(sums, u)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(states)) {
		sums = append(sums, states[key])
	}
	start := int64(math.MinInt64)
	for _, end := range shutdowns(sums) {
		within := func(u *transcript.Usage) bool { return u.Time.UnixMicro > start && u.Time.UnixMicro <= end }
		sum, requests, derived := sumUsage(sums, within), sumUsage(recorded, within), [][]*transcript.Usage{stored, sums}
		if all := sumUsage(stored, within); all.prompt+all.output > requests.prompt+requests.output {
			requests, derived[0] = all, recorded
		}
		if requests.prompt < sum.prompt || requests.output < sum.output || requests.requests == 0 {
			derived = [][]*transcript.Usage{stored, recorded}
		}
		for _, u := range slices.Concat(derived...) {
			if within(u) {
				u.Verdict = transcript.DerivedTotal
			}
		}
		start = end
	}
	for _, u := range f.Usage {
		if last := states[u.Key]; last != nil {
			u.Verdict = last.Verdict
		}
	}
}

// ResolvesUsage makes the format a format.UsageResolver.
func (copilot) ResolvesUsage() {}

// shutdowns returns the times of all shutdowns, then the end of time. If any total has no time there is only one span, because requests
// are assigned to spans by time alone. Checkpoints end no span: a request may be written within the same second.
func shutdowns(sums []*transcript.Usage) (times []int64) {
	for _, u := range sums {
		switch {
		case !u.Time.Valid:
			return []int64{math.MaxInt64}
		case strings.Contains(u.Key, shutdownMark):
			times = append(times, u.Time.UnixMicro)
		}
	}
	slices.Sort(times)
	return append(slices.Compact(times), math.MaxInt64)
}

// usageSum is the sum of several usage records.
type usageSum struct{ prompt, output, requests int64 }

// sumUsage adds up the usage that of accepts, each key once.
func sumUsage(all []*transcript.Usage, of func(*transcript.Usage) bool) (s usageSum) {
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
