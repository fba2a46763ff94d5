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

// Resolve decides what of a fork is its parent's: all before the first prompt that the parent does not have. Requests in
// frames get the time of the prompt before them.
func (reasonix) Resolve(f *transcript.Family) {
	format.InheritRun(f)
	parents := map[int64]bool{} // when the prompts of the parent were made
	for _, h := range f.Related[f.GreatestHints()[hintParent]] {
		if h.Key == hintPrompt {
			_, at, _ := promptOf(h.Value)
			parents[at] = true
		}
	}
	times := map[int64]int64{}
	for _, c := range f.Conversations {
		c.CopiedUntil = 0
		own := int64(math.MaxInt64)
		for _, h := range c.Hints {
			if h.Key != hintPrompt {
				continue
			}
			place, at, offset := promptOf(h.Value)
			times[place] = max(times[place], at)
			if parents[at] {
				c.CopiedUntil = math.MaxInt64
			} else {
				own = min(own, offset)
			}
		}
		c.CopiedUntil = min(c.CopiedUntil, own)
	}
	for _, u := range f.Usage {
		at, err := strconv.ParseInt(fmt.Sprint(u.Attributes["message"]), 10, 64)
		if err == nil && !u.Time.Valid && times[at] > 0 {
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
