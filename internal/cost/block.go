package cost

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/index"
)

// blockLength is the length of a block: the window by which some subscriptions count usage.
const blockLength = 5 * time.Hour

// Block is a window of usage, or a gap without usage.
type Block struct {
	Start  time.Time `json:"start"` // the hour (UTC) of the first request; for a gap, one blockLength after the last request
	End    time.Time `json:"end"`
	First  time.Time `json:"first"` // first request; for a gap, its Start
	Last   time.Time `json:"last"`
	Gap    bool      `json:"gap"`
	Active bool      `json:"active"` // now is before its end, and the last request less than a blockLength ago
	Figures
}

// Blocks divides usage into windows. A request more than five hours after the start of its block, or after the
// previous request, begins a new block; between requests that are further apart there is a gap. Usage without a time
// is in no block. By, Limit and the other options about rows are ignored.
func Blocks(ctx context.Context, accounts index.Accounts, o Options, now time.Time) ([]Block, error) {
	o.By = nil
	if err := o.check(); err != nil {
		return nil, err
	}
	q := o.sum()
	q.Unit = index.Instant
	var sums []index.Sum
	for s, err := range accounts.Sum(ctx, q) {
		if err != nil {
			return nil, err
		}
		if s.Time.Known {
			sums = append(sums, s)
		}
	}
	slices.SortStableFunc(sums, func(a, b index.Sum) int { return cmp.Compare(a.Time.N, b.Time.N) })
	return cutBlocks(sums, o.Mode, now), nil
}

func cutBlocks(sums []index.Sum, mode Mode, now time.Time) []Block {
	blocks := []Block{}
	var open Block
	t := tally{mode: mode}
	flush := func() {
		open.Figures = t.figures()
		open.Active = now.Sub(open.Last) < blockLength && now.Before(open.End)
		blocks = append(blocks, open)
	}
	for i, s := range sums {
		at := time.UnixMicro(s.Time.N).UTC()
		if i == 0 || at.Sub(open.Start) > blockLength || at.Sub(open.Last) > blockLength {
			if i > 0 {
				flush()
				if at.Sub(open.Last) > blockLength {
					from := open.Last.Add(blockLength)
					blocks = append(blocks, Block{Start: from, End: at, First: from, Last: from, Gap: true})
				}
			}
			start := at.Truncate(time.Hour)
			open, t = Block{Start: start, End: start.Add(blockLength), First: at}, tally{mode: mode}
		}
		open.Last = at
		t.add(s)
	}
	if len(sums) > 0 {
		flush()
	}
	return blocks
}
