package retention

import (
	"database/sql"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

// holders says which runs hold a version, by row of the version. Mostly it is one.
type holders struct {
	first []int32           // -1 for none; below that the place in more, from -2 downwards
	more  [][]int32         // sorted
	named map[int64][]int32 // those that a version only names
}

func (h *holders) add(version int64, run int32, named bool) {
	if run < 0 || version >= int64(len(h.first)) {
		return
	}
	if named {
		if h.named == nil {
			h.named = map[int64][]int32{}
		}
		h.named[version] = append(h.named[version], run)
		return
	}
	switch at := h.first[version]; {
	case at == -1:
		h.first[version] = run
	case at == run:
	case at >= 0:
		h.first[version] = int32(-2 - len(h.more))
		h.more = append(h.more, []int32{min(at, run), max(at, run)})
	default:
		all := &h.more[-2-at]
		if i, there := slices.BinarySearch(*all, run); !there {
			*all = slices.Insert(*all, i, run)
		}
	}
}

// uncertain reports whether a version may be held by runs that it has not named yet.
func (h *holders) uncertain(version int64) bool {
	_, named := h.named[version]
	return named || h.first[version] == -1
}

// settle gives versions that only name runs to these.
func (h *holders) settle() {
	for version, runs := range h.named {
		if h.first[version] == -1 {
			for _, run := range runs {
				h.add(version, run, false)
			}
		}
	}
	h.named = nil
}

// of returns the numbers of the runs, sorted. They are valid until the next call.
func (h *holders) of(version int64) []int32 {
	switch at := h.first[version]; {
	case at == -1:
		return nil
	case at >= 0:
		return h.first[version : version+1]
	default:
		return h.more[-2-at]
	}
}

// Runs yields all runs that count, in the order of the table. A run that states no model has that of its conversations, if it is one.
func (e *inventory) Runs() iter.Seq2[*index.InventoryRun, error] {
	return func(yield func(*index.InventoryRun, error) bool) {
		var row, format int64
		var tags string
		var x index.InventoryRun
		err := e.walk(`SELECT id, run_id, native_id, format, "group", project, flow, agent, status, outcome, coalesce(model,
			(SELECT min(c.model) FROM conversations c WHERE c.run = runs.id HAVING min(c.model) = max(c.model))), title, coalesce(started, 0), coalesce(ended, 0),
			attributes ->> '$.tags' FROM runs
			WHERE counted = 1`, func(r *sqlx.Rows) (err error) {
			x = index.InventoryRun{}
			if err := r.Scan(&row, &x.ID, &x.Native, &format, engine.Text(&x.Group), engine.Text(&x.Project), engine.Text(&x.Flow), engine.Text(&x.Agent), engine.Text(&x.Status), engine.Text(&x.Outcome),
				engine.Text(&x.Model), engine.Text(&x.Title), &x.Started, &x.Ended, engine.Text(&tags)); err != nil {
				return err
			}
			e.fill(&x, row)
			x.Format = e.formats[format]
			x.Tags = index.SplitTags(tags)
			if !yield(&x, nil) {
				return engine.ErrStop
			}
			return nil
		})
		if err != nil {
			yield(nil, fmt.Errorf("read runs: %w", engine.Damage(err)))
		}
	}
}

// fill adds what the versions of a run say of it.
func (e *inventory) fill(x *index.InventoryRun, row int64) {
	x.Number = int(e.number[row])
	h := &e.runs[x.Number]
	x.Active, x.Bytes, x.Rows, x.Thinned, x.ParentNumber = max(x.Started, x.Ended, h.active), h.bytes, h.rows, tiers[h.thinned], int(h.parent)
	x.Family = int(e.family(int32(x.Number)))
	x.Cost.N, x.Cost.Known = h.cost, h.costKnown
	x.Earlier, x.EarlierBytes = h.earlier, h.earlierBytes
	if h.source > 0 {
		x.Source = e.sources[h.source-1]
	}
	if h.parent >= 0 {
		x.Parent = e.parents[h.parent]
	}
}

const inventoryVersions = `SELECT v.id, s.name, f.path, v.number, v.sha256, v.size, v.grave IS NOT NULL FROM `

// Versions yields all versions, in the order of the table.
func (e *inventory) Versions() iter.Seq2[*index.InventoryVersion, error] {
	return e.versions(inventoryVersions + "versions v CROSS JOIN files f ON f.id = v.file CROSS JOIN sources s ON s.id = f.source")
}

// VersionsByPath yields all versions along the index of paths.
func (e *inventory) VersionsByPath() iter.Seq2[*index.InventoryVersion, error] {
	return e.versions(inventoryVersions + `files f CROSS JOIN sources s ON s.id = f.source CROSS JOIN versions v ON v.file = f.id
		ORDER BY f.path, s.name, v.number`)
}

func (e *inventory) versions(query string) iter.Seq2[*index.InventoryVersion, error] {
	return func(yield func(*index.InventoryVersion, error) bool) {
		var sum sql.RawBytes
		var v index.InventoryVersion
		err := e.walk(query, func(r *sqlx.Rows) error {
			if err := r.Scan(&v.ID, &v.Source, &v.Path, &v.Number, &sum, &v.Size, &v.Tombstoned); err != nil {
				return err
			}
			copy(v.SHA256[:], sum)
			v.Holders, v.Kept = e.holders.of(v.ID), e.stays[v.ID]
			v.Rows, v.Superseded = e.superseded[v.ID]
			if !yield(&v, nil) {
				return engine.ErrStop
			}
			return nil
		})
		if err != nil {
			yield(nil, fmt.Errorf("read originals: %w", engine.Damage(err)))
		}
	}
}

// Packs yields the packs with content all of whose versions go.
func (e *inventory) Packs(goes func(version int64) bool) iter.Seq2[*index.InventoryPack, error] {
	return func(yield func(*index.InventoryPack, error) bool) {
		if err := e.packs(goes, yield); err != nil {
			yield(nil, fmt.Errorf("read places: %w", engine.Damage(err)))
		}
	}
}

func (e *inventory) packs(goes func(version int64) bool, yield func(*index.InventoryPack, error) bool) error {
	const stays, ends = 1, 2
	fate := make([]uint8, slices.Max(append([]int64{0}, e.chains...))+1)
	for version, chain := range e.chains {
		switch {
		case chain == 0:
		case goes(int64(version)):
			fate[chain] |= ends
		case !e.tombstoned[version]:
			fate[chain] |= stays
		}
	}
	of := func(chain int64) uint8 {
		if chain >= int64(len(fate)) {
			return 0 // of no version
		}
		return fate[chain]
	}
	touched := map[int64]bool{}
	if err := e.walk("SELECT chain, pack FROM extents", func(r *sqlx.Rows) error {
		var chain, pack int64
		err := r.Scan(&chain, &pack)
		if of(chain) == ends {
			touched[pack] = true
		}
		return err
	}); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(touched)) {
		p := index.InventoryPack{ID: id}
		if err := e.walk("SELECT chain, raw, size FROM extents WHERE pack = ?", func(r *sqlx.Rows) error {
			var chain int64
			var x index.InventoryExtent
			err := r.Scan(&chain, &x.Raw, &x.Size)
			x.Removed, x.Kept = of(chain) == ends, of(chain)&stays > 0
			p.Extents = append(p.Extents, x)
			return err
		}, id); err != nil {
			return err
		}
		if !yield(&p, nil) {
			return nil
		}
	}
	return nil
}
