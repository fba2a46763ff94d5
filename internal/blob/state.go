package blob

import (
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

// MergeStates merges the states of one chain that two packs list, without duplicates and in order. They are ordered by size
// first: a chain only grows, but a clock may be wrong.
func MergeStates(a, b []State) []State {
	all := slices.Concat(a, b)
	slices.SortStableFunc(all, func(a, b State) int { return cmp.Or(cmp.Compare(a.Size, b.Size), a.Archived.Compare(b.Archived)) })
	return slices.CompactFunc(all, func(a, b State) bool { return a.Archived.Equal(b.Archived) && a.same(b) })
}
