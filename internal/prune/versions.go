package prune

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/policy"
)

// ends says that everything of the run goes but its ledger.
func (r *PlannedRun) ends() bool {
	return r.Action == policy.Prune || r.Action == policy.Thin && r.Tier == policy.TierLedger
}

// versions finds the originals that runs hold, by source, path and number. Those go of which every holder goes, and what lies beside
// them in directories where nothing else stays. The runs are told what their originals say.
func (s *stand) versions(runs []PlannedRun) ([]PlannedVersion, error) {
	if len(runs) == 0 {
		return []PlannedVersion{}, nil
	}
	place := make([]int32, s.Len()) // in runs, counted from 1, by number
	for i := range runs {
		place[runs[i].number] = int32(i + 1)
	}
	all := make([]PlannedVersion, 0, min(len(runs), 1<<20))
	orphans := false
	for v, err := range s.Versions() {
		if err != nil {
			return nil, err
		}
		orphans = orphans || len(v.Holders) == 0 && !v.Buried
		if x := plannedVersion(v, runs, place, v.Holders); x != nil {
			all = append(all, *x)
		}
		for _, number := range v.Holders {
			if at := place[number] - 1; at >= 0 {
				runs[at].alsoSays(v)
			}
		}
	}
	if orphans {
		beside, err := s.beside(runs, place, all)
		if err != nil {
			return nil, err
		}
		all = append(all, beside...)
	}
	slices.SortFunc(all, func(a, b PlannedVersion) int {
		return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.name(), b.name()), cmp.Compare(a.Number, b.Number))
	})
	return all, nil
}

// plannedVersion is a version with the runs of a plan that have to do with it, nil when none has.
func plannedVersion(v *index.EstateVersion, runs []PlannedRun, place, holders []int32) *PlannedVersion {
	var x *PlannedVersion
	goes := true
	for _, number := range holders {
		at := place[number] - 1
		goes = goes && at >= 0 && runs[at].ends()
		if at < 0 {
			continue
		}
		if x == nil {
			x = &PlannedVersion{Source: v.Source, Number: v.Number, SHA256: v.SHA256, Size: v.Size, id: v.ID, buried: v.Buried}
			x.Path, x.PathRaw = blob.Readable(v.Path)
		}
		x.Runs, x.ended = append(x.Runs, runs[at].RunID), x.ended || runs[at].ends()
	}
	if x != nil {
		x.Goes = goes
	}
	return x
}

// directory is one in which a run that ends holds originals.
type directory struct {
	runs  []int32 // numbers
	stays bool    // another run holds some, too
}

// beside finds the originals of no run in directories where only runs that end have others: the nearest directory
// above an original in which a run has any decides. The root of a source decides nothing.
func (s *stand) beside(runs []PlannedRun, place []int32, held []PlannedVersion) (all []PlannedVersion, err error) {
	dirs := map[string]*directory{}
	for i := range held {
		v := &held[i]
		above(v.Source, v.name(), func(dir string) bool {
			if v.ended && dirs[dir] == nil {
				dirs[dir] = &directory{}
			}
			return v.ended
		})
	}
	if len(dirs) == 0 {
		return nil, nil
	}
	for v, err := range s.Versions() {
		if err != nil {
			return nil, err
		}
		for _, number := range v.Holders {
			ends := place[number] > 0 && runs[place[number]-1].ends()
			above(v.Source, v.Path, func(dir string) bool {
				if d := dirs[dir]; d != nil && !ends {
					d.stays, d.runs = true, nil
				} else if d != nil && !d.stays {
					d.runs = append(d.runs, number)
				}
				return true
			})
		}
	}
	for _, d := range dirs {
		slices.Sort(d.runs)
		d.runs = slices.Clip(slices.Compact(d.runs))
	}
	for v, err := range s.Versions() {
		if err != nil {
			return nil, err
		}
		if len(v.Holders) > 0 || v.Buried {
			continue
		}
		above(v.Source, v.Path, func(dir string) bool {
			d := dirs[dir]
			if d != nil && !d.stays {
				all = append(all, *plannedVersion(v, runs, place, d.runs))
			}
			return d == nil
		})
	}
	return all, nil
}

// above calls do for the directories above a path, from the nearest, as long as it wants more.
func above(source, p string, do func(dir string) bool) {
	for d := path.Dir(p); d != "." && d != "/" && do(source+"\x00"+d); d = path.Dir(d) {
	}
}
