package prune

import (
	"path"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/policy"
)

// ends says that everything of the run goes but its ledger.
func (r *PlannedRun) ends() bool {
	return r.Action == policy.Prune || r.Action == policy.Thin && r.Tier == policy.TierLedger
}

// holding finds what runs hold.
type holding struct {
	runs  []planned
	place []int32 // in runs, counted from 1, by number
	dirs  map[string]*directory
}

// versions finds the originals that runs hold, by path, source and number. Those go of which every holder goes, and what lies beside
// them in directories where nothing else stays. The runs are told what their originals say.
func (s *stand) versions(runs []planned, to *List[PlannedVersion]) ([]held, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	h := &holding{runs: runs, place: make([]int32, s.Len())}
	for i := range runs {
		h.place[runs[i].number] = int32(i + 1)
	}
	if err := s.beside(h); err != nil {
		return nil, err
	}
	var all []held
	for v, err := range s.VersionsByPath() {
		if err != nil {
			return nil, err
		}
		holders := v.Holders
		if len(holders) == 0 && !v.Tombstoned && !v.Kept {
			holders = h.around(v)
		}
		x, run := h.planned(v, holders)
		if x == nil {
			continue
		}
		if err := to.add(x); err != nil {
			return nil, err
		}
		all = append(all, held{v.ID, run, v.Tombstoned})
		for _, number := range v.Holders {
			if at := h.place[number] - 1; at >= 0 {
				runs[at].alsoSays(v)
			}
		}
	}
	return all, nil
}

// planned is a version with the runs of a plan that have to do with it, nil when none has, and the place of the first.
func (h *holding) planned(v *index.InventoryVersion, holders []int32) (x *PlannedVersion, run int32) {
	goes := !v.Kept
	for _, number := range holders {
		at := h.place[number] - 1
		goes = goes && at >= 0 && h.runs[at].ends
		if at < 0 || v.Tombstoned && !h.runs[at].ends { // what is but a ledger is as thin already
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

// ends says that a run, by number, is one that does.
func (h *holding) ends(number int32) bool {
	at := h.place[number] - 1
	return at >= 0 && h.runs[at].ends
}

// directory is one in which a run that ends holds originals.
type directory struct {
	runs  []int32 // numbers
	stays bool    // one that stays stands in it, too
}

// beside looks for directories where only runs that end hold originals, if there are originals of no run.
func (s *stand) beside(h *holding) error {
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
			above(v.Source, v.Path, func(dir string) bool {
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
			h.in(v, number, h.ends(number) && !v.Kept)
		}
		if v.Kept && len(v.Holders) == 0 {
			h.in(v, 0, false)
		}
	}
	for _, d := range h.dirs {
		slices.Sort(d.runs)
		d.runs = slices.Clip(slices.Compact(d.runs))
	}
	return nil
}

// in tells the directories above an original of a run that holds it, and whether it goes as far as that run is concerned.
func (h *holding) in(v *index.InventoryVersion, number int32, goes bool) {
	above(v.Source, v.Path, func(dir string) bool {
		if d := h.dirs[dir]; d != nil && !goes {
			d.stays, d.runs = true, nil
		} else if d != nil && !d.stays {
			d.runs = append(d.runs, number)
		}
		return true
	})
}

// around are the runs with which an original of no run goes: those of the nearest directory above it in which a run has any, if all
// of them end. The root of a source decides nothing.
func (h *holding) around(v *index.InventoryVersion) (runs []int32) {
	above(v.Source, v.Path, func(dir string) bool {
		d := h.dirs[dir]
		if d != nil && !d.stays {
			runs = d.runs
		}
		return d == nil
	})
	return runs
}

// above calls do for the directories above a path, from the nearest, as long as it wants more.
func above(source, p string, do func(dir string) bool) {
	for d := path.Dir(p); d != "." && d != "/" && do(source+"\x00"+d); d = path.Dir(d) {
	}
}
