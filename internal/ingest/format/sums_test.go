package format

import (
	"math"
	"testing"

	"github.com/txarchive/txarchive/internal/transcript"
)

func TestExcludeCache(t *testing.T) {
	for _, c := range []struct {
		input, read, written, want int64
		ok                         bool
	}{
		{100, 60, 30, 10, true}, {100, 100, 0, 0, true}, {100, 0, 0, 100, true}, {100, 60, 41, 100, false},
		{100, -60, 30, 70, true}, {100, math.MaxInt64, 1, 100, false}, {100, 1, math.MaxInt64, 100, false}, {math.MinInt64, 1, 1, math.MinInt64, false},
	} {
		u := transcript.Usage{Input: transcript.Known(c.input), CacheRead: transcript.Known(c.read), CacheWrite: transcript.Known(c.written)}
		if ok := ExcludeCache(&u); u.Input != transcript.Known(c.want) || ok != c.ok {
			t.Errorf("%+v: %+v, %v", c, u.Input, ok)
		}
	}
	if u := (transcript.Usage{CacheRead: transcript.Known(1)}); ExcludeCache(&u) || u.Input.Known {
		t.Error("an unknown input has become known")
	}
}

func TestExtend(t *testing.T) {
	var started, ended transcript.Time
	for _, n := range []int64{0, 5, 3, 9, 7, 0} {
		Extend(&started, &ended, transcript.Time{UnixMicro: n, Valid: n > 0})
	}
	if started.UnixMicro != 5 || ended.UnixMicro != 9 {
		t.Errorf("from %d to %d, want 5 to 9", started.UnixMicro, ended.UnixMicro)
	}
}
