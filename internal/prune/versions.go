package prune

import (
	"math"
	"path"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/policy"
)

// ends reports whether everything of the run is removed except its ledger.
func (r *PlannedRun) ends() bool {
	return r.Action == policy.Prune || r.Action == policy.Thin && r.Tier == policy.TierLedger
}

// holders determines which runs hold an original.
type holders struct {
	runs  []runState
	place []int32 // by number: position in runs plus 1, or 0
	dirs  map[string]*directory
}

// versions determines the originals that runs hold, ordered by path, source and number. An original is removed if
// every run that holds it is, or if no run holds it and nothing else stays in its directory. The originals are added
// to the hashes of the runs.
func (s *snapshot) versions(runs []runState, to *List[PlannedVersion]) ([]heldVersion, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	h := &holders{runs: runs, place: make([]int32, s.Len())}
	for i := range runs {
		h.place[runs[i].number] = int32(i + 1)
	}
	if err := s.findDirectories(h); err != nil {
		return nil, err
	}
	var all []heldVersion
	for v, err := range s.VersionsByPath() {
		if err != nil {
			return nil, err
		}
		holders := v.Holders
		if len(holders) == 0 && !v.Tombstoned && !v.Kept {
			holders = h.neighbours(v)
		}
		x, run := h.planned(v, holders)
		if x == nil {
			continue
		}
		if err := to.add(x); err != nil {
			return nil, err
		}
		all = append(all, heldVersion{v.ID, run, int32(min(v.Rows, math.MaxInt32)), v.Tombstoned})
		for _, number := range v.Holders {
			if at := h.place[number] - 1; at >= 0 && (x.Goes || !runs[at].versions) {
				runs[at].addOriginal(v)
				runs[at].loses = true
			}
		}
	}
	return all, nil
}

// planned returns a version with the runs of a plan that concern it, and the position of the first; nil if there are
// none.
func (h *holders) planned(v *index.InventoryVersion, holders []int32) (x *PlannedVersion, run int32) {
	goes := !v.Kept
	for _, number := range holders {
		at := h.place[number] - 1
		goes = goes && at >= 0 && (h.runs[at].ends || h.runs[at].versions && v.Superseded)
	}
	for _, number := range holders {
		at := h.place[number] - 1
		if at < 0 || v.Tombstoned && !h.runs[at].ends || h.runs[at].versions && !goes { // a run that is only a ledger is already as thin
			continue
		}
		if x == nil {
			x = &PlannedVersion{Source: v.Source, Number: v.Number, SHA256: v.SHA256, Size: v.Size}
			x.Path, x.PathRaw = blob.Readable(v.Path)
			run = at
		}
		x.Runs = append(x.Runs, h.runs[at].id)
	}
	if x != nil {
		x.Goes = goes
	}
	return x, run
}

// ends reports whether a run, by number, ends; see PlannedRun.ends.
func (h *holders) ends(number int32) bool {
	at := h.place[number] - 1
	return at >= 0 && h.runs[at].ends
}

// directory is one in which a run that ends holds originals.
type directory struct {
	runs  []int32 // numbers
	stays bool    // it also contains originals that stay
}

// findDirectories determines the directories in which only runs that end hold originals. It does nothing if every
// original belongs to a run.
func (s *snapshot) findDirectories(h *holders) error {
	h.dirs = map[string]*directory{}
	orphans := false
	for v, err := range s.Versions() {
		if err != nil {
			return err
		}
		if len(v.Holders) == 0 && !v.Tombstoned {
			orphans = true
			break
		}
	}
	if !orphans {
		return nil
	}
	for v, err := range s.Versions() {
		if err != nil {
			return err
		}
		if slices.ContainsFunc(v.Holders, h.ends) {
			eachParent(v.Source, v.Path, func(dir string) bool {
				if h.dirs[dir] != nil {
					return false
				}
				h.dirs[dir] = &directory{}
				return true
			})
		}
	}
	if len(h.dirs) == 0 {
		return nil
	}
	for v, err := range s.Versions() {
		if err != nil {
			return err
		}
		for _, number := range v.Holders {
			h.addToDirectories(v, number, h.ends(number) && !v.Kept)
		}
		if v.Kept && len(v.Holders) == 0 {
			h.addToDirectories(v, 0, false)
		}
	}
	for _, d := range h.dirs {
		slices.Sort(d.runs)
		d.runs = slices.Clip(slices.Compact(d.runs))
	}
	return nil
}

// addToDirectories records in the directories above an original that a run holds it, and whether that run lets it go.
func (h *holders) addToDirectories(v *index.InventoryVersion, number int32, goes bool) {
	eachParent(v.Source, v.Path, func(dir string) bool {
		if d := h.dirs[dir]; d != nil && !goes {
			d.stays, d.runs = true, nil
		} else if d != nil && !d.stays {
			d.runs = append(d.runs, number)
		}
		return true
	})
}

// neighbours returns the runs with which an original of no run is removed: those of the nearest directory above it in
// which any run has originals, if all of them end. The root of a source decides nothing.
func (h *holders) neighbours(v *index.InventoryVersion) (runs []int32) {
	eachParent(v.Source, v.Path, func(dir string) bool {
		d := h.dirs[dir]
		if d != nil && !d.stays {
			runs = d.runs
		}
		return d == nil
	})
	return runs
}

// eachParent calls do for the directories above a path, from the nearest, until do returns false.
func eachParent(source, p string, do func(dir string) bool) {
	for d := path.Dir(p); d != "." && d != "/" && do(source+"\x00"+d); d = path.Dir(d) {
	}
}
