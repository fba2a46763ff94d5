package copilotcli

import (
	"math"
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/transcript"
)

// The marks in the keys of usage: behind the session's id, those of records before the id of the request.
const (
	shutdownMark   = ":shutdown:"
	checkpointMark = ":checkpoint:"
	storeMark      = ":store:"
	recordMark     = ":record:"
)

// Resolve says which of the statements of what a session took counts: of the two layouts the directory's, and of the requests (in the
// session's own lines or in the database, whichever has more) and the sums in shutdowns and checkpoints the requests, where they are no
// less than the sums. Where some of them are missing (they came with a newer version, or the database was lost) the sum counts; where
// there is no sum the requests do.
func (copilot) Resolve(f *transcript.Family) {
	dir := slices.ContainsFunc(f.Conversations, func(c *transcript.FamilyConversation) bool { return path.Base(c.Path) == eventsFile && c.Events > 0 })
	var sums, stored, recorded []*transcript.Usage
	for _, u := range f.Usage {
		switch {
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
	began := int64(math.MinInt64)
	for _, until := range shutdowns(sums) {
		within := func(u *transcript.Usage) bool { return u.Time.UnixMicro > began && u.Time.UnixMicro <= until }
		sum, requests, derived := spentBy(sums, within), spentBy(recorded, within), [][]*transcript.Usage{stored, sums}
		if all := spentBy(stored, within); all.prompt+all.output > requests.prompt+requests.output {
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
		began = until
	}
}

// ResolvesUsage makes the format a format.UsageResolver.
func (copilot) ResolvesUsage() {}

// shutdowns are the times of shutdowns, and the end of time. Where one has none, all is one span: requests are told by their times
// alone. Checkpoints end no span: a request may be written within the second of one.
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
