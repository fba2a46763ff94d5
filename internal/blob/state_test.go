package blob

import (
	"slices"
	"testing"
	"time"
)

// TestStates merges the states of one chain from three packs, the second after its mtime changed, and a fourth that lists all of
// them.
func TestStates(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 3, n, 3, 0, 0, 0, time.UTC) }
	version := func(size, mtime int) Version {
		return Version{Size: int64(size), SHA256: RefOf(make([]byte, size)), ModTime: day(mtime), Mode: 0o600}
	}
	small, touched, large := version(10, 1), version(10, 3), version(30, 5)
	states := MergeStates(large.States(day(6)), MergeStates(touched.States(day(4)), small.States(day(2))))
	joined := large
	joined.SetStates(states)
	if !joined.Archived.Equal(day(6)) || len(joined.Earlier) != 2 {
		t.Fatalf("%+v", joined)
	}
	if again := joined.States(day(9)); !slices.Equal(again, states) || !slices.Equal(MergeStates(again, states), states) {
		t.Errorf("told are %v, want %v", again, states)
	}
	for n, want := range map[int]*Version{1: nil, 2: &small, 3: &small, 4: &touched, 5: &touched, 6: &large, 9: &large} {
		v := joined
		if ok := v.At(day(n), day(9)); ok != (want != nil) {
			t.Errorf("day %d: %v", n, ok)
		} else if ok && (v.Size != want.Size || v.SHA256 != want.SHA256 || !v.ModTime.Equal(want.ModTime) || v.Earlier != nil) {
			t.Errorf("day %d: %+v, want %+v", n, v, *want)
		}
	}
	if v := small; v.At(day(1), day(2)) || !v.At(day(2), day(2)) {
		t.Error("a version that no gc has met is archived by its pack")
	}
}
