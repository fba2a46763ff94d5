package reasonix

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Resolve decides what of a fork is its parent's: all before the first prompt since it was made. Requests in frames get the time of the prompt before
// them.
func (reasonix) Resolve(f *transcript.Family) {
	format.InheritRun(f)
	values := f.GreatestHints()
	forked, _ := strconv.ParseInt(values[hintForked], 10, 64)
	_, held := f.Related[values[hintParent]]
	times := map[int64]int64{}
	for _, c := range f.Conversations {
		until, asked := int64(math.MaxInt64), false
		for _, h := range c.Hints {
			if h.Key != hintPrompt {
				continue
			}
			asked = true
			place, at, offset := promptOf(h.Value)
			times[place] = max(times[place], at)
			if at > forked {
				until = min(until, offset)
			}
		}
		if c.CopiedUntil = 0; held && asked && forked > 0 {
			c.CopiedUntil = until
		}
	}
	for _, u := range f.Usage {
		if at, err := strconv.ParseInt(fmt.Sprint(u.Attributes["message"]), 10, 64); err == nil && !u.Time.Valid && times[at] > 0 {
			u.Time = timestamp.UnixMilli(times[at])
		}
	}
}

// ResolvesUsage makes the format a format.UsageResolver.
func (reasonix) ResolvesUsage() {}

// promptOf returns the place of a prompt in the list, when it was made, in milliseconds, and where it is in the file.
func promptOf(hint string) (place, at, offset int64) {
	first, rest, _ := strings.Cut(hint, "@")
	second, third, _ := strings.Cut(rest, "@")
	place, _ = strconv.ParseInt(first, 10, 64)
	at, _ = strconv.ParseInt(second, 10, 64)
	offset, _ = strconv.ParseInt(third, 10, 64)
	return place, at, offset
}
