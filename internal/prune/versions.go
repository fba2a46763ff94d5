package prune

import (
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/policy"
)

// ends says that everything of the run goes but its ledger.
func (r *PlannedRun) ends() bool {
	return r.Action == policy.Prune || r.Action == policy.Thin && r.Tier == policy.TierLedger
}

// versions finds the originals that runs hold. Those go of which every holder goes, and what lies beside them in
// directories where nothing else stays.
func (s *stand) versions(runs []PlannedRun) []PlannedVersion {
	ends, touched := map[int]bool{}, map[int]bool{}
	room := 0
	for i := range runs {
		at := s.byID[runs[i].RunID]
		touched[at] = true
		room += len(s.of[at])
		if runs[i].ends() {
			ends[at] = true
		}
	}
	beside := s.beside(ends)
	all := make([]PlannedVersion, 0, min(room, len(s.Versions))) // some more lie beside
	for i := range s.Versions {
		v := &s.Versions[i]
		holders := v.Holders
		if len(holders) == 0 {
			holders = beside[i]
		}
		var of []string
		goes := len(holders) > 0
		for _, h := range holders {
			goes = goes && ends[h]
			if touched[h] {
				of = append(of, s.runs[h].ID)
			}
		}
		if len(of) == 0 {
			continue
		}
		x := PlannedVersion{Source: v.Source, Number: v.Number, SHA256: v.SHA256, Size: v.Size, Goes: goes, Runs: of, at: i}
		x.Path, x.PathRaw = blob.Readable(v.Path)
		all = append(all, x)
	}
	return all
}

// beside finds the originals of no run in directories where only runs that end have others: the nearest directory
// above an original in which a run has any decides. The root of a source decides nothing. It gives the runs.
func (s *stand) beside(ends map[int]bool) map[int][]int {
	type dir struct {
		runs  map[int]bool
		stays bool
	}
	dirs := map[string]*dir{}
	orphans := map[int]string{}
	if len(ends) == 0 {
		return nil
	}
	for i := range s.Versions {
		if v := &s.Versions[i]; len(v.Holders) == 0 && !v.Buried {
			orphans[i] = v.Source + "\x00" + v.Path
			for d := path.Dir(v.Path); d != "." && d != "/"; d = path.Dir(d) {
				dirs[v.Source+"\x00"+d] = &dir{runs: map[int]bool{}}
			}
		}
	}
	if len(orphans) == 0 {
		return nil
	}
	for i := range s.Versions {
		v := &s.Versions[i]
		for d := path.Dir(v.Path); len(v.Holders) > 0 && d != "." && d != "/"; d = path.Dir(d) {
			x := dirs[v.Source+"\x00"+d]
			if x == nil {
				continue
			}
			for _, h := range v.Holders {
				x.runs[h] = true
				x.stays = x.stays || !ends[h]
			}
		}
	}
	found := map[int][]int{}
	for i, name := range orphans {
		source, rel, _ := strings.Cut(name, "\x00")
		for d := path.Dir(rel); d != "." && d != "/"; d = path.Dir(d) {
			x := dirs[source+"\x00"+d]
			if len(x.runs) == 0 {
				continue
			}
			if !x.stays {
				for run := range x.runs {
					found[i] = append(found[i], run)
				}
				slices.Sort(found[i])
			}
			break
		}
	}
	return found
}
