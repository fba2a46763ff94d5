package openhands

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/transcript"
)

// The keys of hints.
const (
	hintTime     = "time"     // "<response>\t<microseconds>": when an event of the response was written
	hintDelegate = "delegate" // an action of version 0 gave work to another agent
)

// Resolve sets the fields of a conversation from its state, and times and models of requests, and decides which statements of tokens count.
func (openhands) Resolve(f *transcript.Family) {
	for _, c := range f.Conversations {
		c.Title = cmp.Or(f.Run.Title, c.Title)
		c.Model = cmp.Or(f.Run.Model, c.Model)
		c.Project = cmp.Or(f.Run.Project, c.Project)
		c.Branch = cmp.Or(f.Run.Branch, c.Branch)
		c.Status = cmp.Or(f.Run.Status, c.Status)
	}
	times, delegates := map[string]transcript.Time{}, false
	for _, h := range f.Hints {
		switch h.Key {
		case hintTime:
			response, text, _ := strings.Cut(h.Value, "\t")
			if at, err := strconv.ParseInt(text, 10, 64); err == nil && (!times[response].Valid || at < times[response].UnixMicro) {
				times[response] = transcript.Time{UnixMicro: at, Valid: true}
			}
		case hintDelegate:
			delegates = true
		}
	}
	for _, u := range f.Usage {
		if !u.Time.Valid {
			u.Time = cmp.Or(times[u.RequestID], f.Run.Ended)
		}
		u.Model = cmp.Or(u.Model, f.Run.Model)
	}
	judge(f.Usage, delegates)
}

// ResolvesUsage makes the format a format.UsageResolver.
func (openhands) ResolvesUsage() {}

// judge decides which statements of usage count: the requests if they are no less than the totals, else the totals. Requests are missing where an answer
// called no tool, or the program summarised the conversation. Without both, what the metadata states counts.
func judge(all []*transcript.Usage, delegates bool) {
	var requests, totals, meta []*transcript.Usage
	for _, u := range all {
		switch u.Attributes["of"] {
		case ofTotal:
			totals = append(totals, u)
		case ofMeta:
			meta = append(meta, u)
		case ofModel:
			if u.Verdict == transcript.Counted || u.Verdict == "" {
				requests = append(requests, u)
			}
		default:
			requests = append(requests, u)
		}
	}
	last := lastTotals(totals, delegates)
	known, whole := sumOf(requests, nil), sumOf(totals, last)
	if len(totals)+len(requests) > 0 {
		derive(meta, nil)
	}
	switch {
	case len(totals) == 0:
	case len(requests) > 0 && known.prompt >= whole.prompt && known.output >= whole.output:
		derive(totals, nil)
	default:
		derive(requests, nil)
		derive(totals, last)
	}
}

// derive sets the verdict of usage, except of the keys that count.
func derive(all []*transcript.Usage, counted map[string]bool) {
	for _, u := range all {
		if !counted[u.Key] {
			u.Verdict = transcript.DerivedTotal
		}
	}
}

// sum is the sum of several usage records.
type sum struct{ prompt, output int64 }

func (s sum) of(u *transcript.Usage) sum {
	return sum{s.prompt + u.Input.N + u.CacheRead.N + u.CacheWrite.N, s.output + u.Output.N}
}

func (s sum) compare(other sum) int {
	return cmp.Or(cmp.Compare(s.prompt, other.prompt), cmp.Compare(s.output, other.output))
}

// sumOf adds up usage, each key once; of keys only, unless that is nil.
func sumOf(all []*transcript.Usage, keys map[string]bool) (s sum) {
	seen := map[string]bool{}
	for _, u := range all {
		if !seen[u.Key] && (keys == nil || keys[u.Key]) {
			seen[u.Key] = true
			s = s.of(u)
		}
	}
	return s
}

// lastTotals returns the keys of the totals that together are those of a conversation. Totals only grow, until the program starts again and counts from
// 0: then the last before the fall counts, too. With delegates there are several series of totals, each of which grows: a total belongs to the series with the
// highest last total that is no higher.
func lastTotals(totals []*transcript.Usage, delegates bool) map[string]bool {
	number := func(u *transcript.Usage) int64 {
		text, _ := u.Attributes["event"].(string)
		n, _ := strconv.ParseInt(text, 10, 64)
		return n
	}
	totals = slices.Clone(totals)
	slices.SortStableFunc(totals, func(a, b *transcript.Usage) int {
		return cmp.Or(cmp.Compare(number(a), number(b)), cmp.Compare(a.Time.UnixMicro, b.Time.UnixMicro), cmp.Compare(a.Key, b.Key))
	})
	var series []total // the last total of each, in the order of these
	for _, u := range totals {
		t := total{u, sum{}.of(u)}
		at := len(series)
		if delegates {
			at = sort.Search(len(series), func(i int) bool { return series[i].sum.compare(t.sum) > 0 })
		}
		i := at - 1
		for delegates && i > max(0, at-maxSeries) && !grows(series[i], t) {
			i--
		}
		if i >= 0 && grows(series[i], t) {
			series = slices.Delete(series, i, i+1)
			at--
		}
		series = slices.Insert(series, at, t)
	}
	last := map[string]bool{}
	for _, t := range series {
		last[t.Key] = true
	}
	return last
}

// maxSeries is how many series a total is compared with: a hostile file may begin one with each total.
const maxSeries = 1000

// total is a total with what is compared of it.
type total struct {
	*transcript.Usage
	sum sum
}

// grows reports whether a total may be a later one of the same series.
func grows(from, to total) bool {
	return to.sum.prompt >= from.sum.prompt && to.sum.output >= from.sum.output && to.Cost.N >= from.Cost.N
}
