package blob

import (
	"bytes"
	"cmp"
	"slices"
	"time"
)

// State describes an original at the time when it was archived. Every state of a chain is a prefix of the states after it.
type State struct {
	Archived time.Time `json:"archived"`
	Size     int64     `json:"size"`
	SHA256   Ref       `json:"sha256"`
	ModTime  time.Time `json:"mtime"`
	Mode     uint32    `json:"mode"`
}

// Compare orders the states of a chain: the last one is the present one. A chain only grows, but a clock may be wrong, so the size comes
// first. Two copies of an archive may have other bytes of the same size; which of them counts must not depend on when.
func (s State) Compare(other State) int {
	return cmp.Or(cmp.Compare(s.Size, other.Size), bytes.Compare(s.SHA256[:], other.SHA256[:]), s.Archived.Compare(other.Archived))
}

// State returns the state that v describes. created is when its pack was written.
func (v *Version) State(created time.Time) State {
	s := State{Archived: v.Archived, Size: v.Size, SHA256: v.SHA256, ModTime: v.ModTime, Mode: v.Mode}
	if s.Archived.IsZero() {
		s.Archived = created
	}
	return s
}

// States returns all states that the version line of a manifest lists, in order. created is when its pack was written.
func (v *Version) States(created time.Time) []State {
	return MergeStates(v.Earlier, []State{v.State(created)})
}

// SetStates makes v list all states of its chain, which other packs have archived.
func (v *Version) SetStates(states []State) {
	v.Earlier = slices.Clone(states)
	for i, s := range slices.Backward(states) {
		if now := v.State(s.Archived); now.same(s) {
			v.Archived, v.Earlier = s.Archived, slices.Delete(v.Earlier, i, i+1)
			return
		}
	}
}

// At turns v into the newest of its states that was archived by the time until, and reports whether there is one.
func (v *Version) At(until, created time.Time) bool {
	states := slices.DeleteFunc(v.States(created), func(s State) bool { return s.Archived.After(until) })
	if len(states) == 0 {
		return false
	}
	s := states[len(states)-1]
	v.Archived, v.Size, v.SHA256, v.ModTime, v.Mode, v.Earlier = s.Archived, s.Size, s.SHA256, s.ModTime, s.Mode, nil
	return true
}

func (s State) same(other State) bool {
	return s.Size == other.Size && s.SHA256 == other.SHA256 && s.ModTime.Equal(other.ModTime) && s.Mode == other.Mode
}

// MergeStates merges the states of one chain that two packs list, without duplicates and in order.
func MergeStates(a, b []State) []State {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, State.Compare)
	return slices.CompactFunc(all, func(a, b State) bool { return a.Archived.Equal(b.Archived) && a.same(b) })
}
