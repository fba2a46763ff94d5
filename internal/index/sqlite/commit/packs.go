package commit

import (
	"bytes"
	"database/sql"
	"fmt"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/catalog"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// packs adds packs that are new: first the rows of all, because their versions may lie in each other, then what their manifests
// state, then what follows for the packs that they replace.
func (c *commit) packs(all []*index.PackRow) error {
	ids := make([]int64, len(all))
	for i, p := range all {
		var err error
		if ids[i], err = c.pack(p); err != nil {
			return fmt.Errorf("pack %s: %w", p.Name, err)
		}
	}
	c.replaced = map[string]bool{}
	for _, p := range all {
		for _, name := range p.Replaces {
			c.replaced[name] = true
		}
	}
	if len(c.replaced) > 0 {
		c.stored = storedIn(all, ids)
	}
	for i, p := range all {
		for j := range p.Versions {
			if j%write.Lot == 0 {
				if err := c.lookUpFiles(p.Versions[j:min(j+write.Lot, len(p.Versions))]); err != nil {
					return fmt.Errorf("pack %s: %w", p.Name, err)
				}
			}
			if err := c.version(ids[i], p, &p.Versions[j]); err != nil {
				return fmt.Errorf("pack %s: %w", p.Name, err)
			}
		}
	}
	return c.replace(all)
}

// storedIn returns where packs hold which content.
func storedIn(all []*index.PackRow, ids []int64) map[blob.Ref]packPlace {
	places := map[blob.Ref]packPlace{}
	for i, p := range all {
		for _, v := range p.Versions {
			for _, e := range v.Extents {
				if e.CopyOf == nil {
					places[e.SHA256] = packPlace{ids[i], e.Raw, e.Size}
				}
			}
		}
	}
	return places
}

// pack adds the row of a pack and its members.
func (c *commit) pack(p *index.PackRow) (int64, error) {
	id, err := c.NextID("packs")
	if err != nil {
		return 0, err
	}
	if err := c.Exec("INSERT INTO packs (id, name, size, created, writer) VALUES (?, ?, ?, ?, ?)",
		id, p.Name, p.Size, p.Created.UnixMicro(), p.Writer); err != nil {
		return 0, err
	}
	members := c.Inserter("OR FAIL INTO members", "pack, raw, raw_size, offset, size")
	for _, m := range p.Members {
		if err := members.Add(id, m.Raw, m.RawSize, m.Offset, m.Size); err != nil {
			return 0, err
		}
	}
	return id, members.Flush()
}

// version adds a version, or extends one, with the extents that the pack holds.
func (c *commit) version(pack int64, p *index.PackRow, v *blob.Version) error {
	file, fresh, err := c.file(v.Source, v.Path)
	if err != nil {
		return err
	}
	var was knownVersion
	known := !fresh
	if known {
		if was, known, err = c.knownVersion(file, v.Number); err != nil {
			return err
		}
	}
	id, chain := was.id, was.chain
	switch {
	case known && was.root != v.Root:
		wins, err := c.wins(v, &was)
		if err != nil || !wins || len(v.Extents) == 0 || v.Extents[0].Offset > 0 {
			return err
		}
		if err := c.replaceVersion(id, chain, v, archivedAt(p, v)); err != nil {
			return err
		}
	case known:
		if was.tombstone.Valid && v.Size > was.size { // the tombstone does not cover what it has grown to
			if err := c.clearBuried(id, was.tombstone.String, v); err != nil {
				return err
			}
		}
		err = c.grow(id, chain, v, archivedAt(p, v))
	default:
		id, chain, err = c.addVersion(file, v, archivedAt(p, v))
		c.addedVersions[index.KeyOf(v)] = id
	}
	if err != nil {
		return err
	}
	if err := c.coverVersion(id, chain, known, v); err != nil {
		return err
	}
	overlaps, err := c.extents(pack, chain, v, known, was.apart)
	if err != nil {
		return err
	}
	if overlaps {
		if err := c.Exec("UPDATE chains SET apart = 1 WHERE id = ?", chain); err != nil {
			return err
		}
	}
	if was.tombstone.Valid { // it has no rows but those that say what became of it
		return c.liftRetractedTombstone(was.tombstone.String, v)
	}
	moved := was.apart && len(c.replaced) > 0 // gc keeps all of them
	if overlaps && !moved || was.apart && was.isBehind(v) && !c.hasRows(v) {
		return c.restart(id)
	}
	return nil
}

// knownVersion is a version that is in the index, as it was before a pack states it.
type knownVersion struct {
	id, chain, size int64
	tombstone       sql.NullString // key
	root, sum       blob.Ref
	apart           bool // see index.State
}

// knownVersion returns the version of a file with a number, if there is one.
func (c *commit) knownVersion(file int64, number int) (v knownVersion, ok bool, err error) {
	var root, sum []byte
	ok, err = c.Get("SELECT v.id, v.chain, v.size, v.grave, c.root, v.sha256, c.apart FROM versions v JOIN chains c ON c.id = v.chain WHERE v.file = ? AND v.number = ?",
		[]any{file, number}, &v.id, &v.chain, &v.size, &v.tombstone, &root, &sum, &v.apart)
	copy(v.root[:], root)
	copy(v.sum[:], sum)
	return v, ok, err
}

// isBehind reports whether a pack states another content than the present one, which counts instead.
func (k *knownVersion) isBehind(v *blob.Version) bool {
	return v.Size > k.size || v.Size == k.size && bytes.Compare(v.SHA256[:], k.sum[:]) > 0
}

func (c *commit) grow(id, chain int64, v *blob.Version, archived int64) error {
	format, err := c.Name(v.Format)
	if err != nil {
		return err
	}
	role, err := c.Name(v.Role)
	if err != nil {
		return err
	}
	// A version that has grown, or that another format claims now, must be parsed: parser 0 until its rows follow.
	const moved = "(mtime <> ?2 AND " + catalog.AtFile + " OR format IS NOT ?5 OR role IS NOT ?6 OR root_dir <> ?7)"
	if err := c.Exec(`UPDATE versions AS v SET parser = CASE WHEN size < ?1 OR `+moved+` THEN 0 ELSE parser END, parsed = CASE WHEN `+moved+` THEN 0 ELSE parsed END,
		grave = CASE WHEN size < ?1 THEN NULL ELSE grave END, size = ?1, mtime = ?2, sha256 = ?3, mode = ?4,
		format = ?5, role = ?6, root_dir = ?7, archived = ?9 WHERE id = ?8 AND (size < ?1 OR size = ?1 AND (sha256, archived) <= (?3, ?9))`,
		v.Size, blob.Nano(v.ModTime), v.SHA256[:], v.Mode, format, role, v.Claim, id, archived); err != nil {
		return err
	}
	return c.Exec("UPDATE chains SET size = ?1, sha256 = ?2 WHERE id = ?3 AND (size < ?1 OR size = ?1 AND sha256 <= ?2)", v.Size, v.SHA256[:], chain)
}

// archivedAt is when the state of a version that a pack states was archived.
func archivedAt(p *index.PackRow, v *blob.Version) int64 {
	return v.State(p.Created).Archived.UnixMicro()
}

func (c *commit) addVersion(file int64, v *blob.Version, archived int64) (id, chain int64, err error) {
	if chain, err = c.NextID("chains"); err != nil {
		return 0, 0, err
	}
	if err := c.Buffer.Chains.Add(chain, v.Root[:], v.Size, v.SHA256[:]); err != nil {
		return 0, 0, err
	}
	if id, err = c.NextID("versions"); err != nil {
		return 0, 0, err
	}
	format, err := c.Name(v.Format)
	if err != nil {
		return 0, 0, err
	}
	role, err := c.Name(v.Role)
	if err != nil {
		return 0, 0, err
	}
	err = c.Buffer.Versions.Add(id, file, v.Number, chain, v.Size, v.SHA256[:], blob.Nano(v.ModTime), int64(v.Mode), format, role, v.Claim, int64(0), int64(0), archived)
	if err == nil && v.Number > 1 {
		err = c.supersede(file, v.Number)
	}
	return id, chain, err
}

// supersede has the statements of the version that was the newest of a file judged again, and drops those of empty versions
// (filled). Versions before it are what they were.
func (c *commit) supersede(file int64, number int) error {
	empty, err := c.IDs(`SELECT v.id FROM versions v WHERE v.file = ? AND v.number < ? AND v.sha256 = ? AND v.parser <> 0 AND v.grave IS NULL
		AND NOT EXISTS (SELECT 1 FROM graves g WHERE g.version = v.id)`, file, number, nothing[:])
	if err != nil {
		return err
	}
	for _, version := range empty {
		if err := c.deleteStatements(version); err != nil {
			return err
		}
	}
	var before int64
	if ok, err := c.Get("SELECT id FROM versions WHERE file = ? AND number < ? ORDER BY number DESC LIMIT 1", []any{file, number}, &before); err != nil || !ok {
		return err
	}
	return c.changes.Supersede(before)
}

// fact stores the newest fact of a kind and key, by time and then by pack name, and reports whether it is news: gc repeats the
// facts of older packs. Of a ledger it stores only that there is one: the rest becomes rows.
func (c *commit) fact(f index.FactRow) (news bool, err error) {
	if f.Kind == "source" {
		if _, err := c.source(f.Key); err != nil {
			return false, err
		}
	}
	var value any
	switch {
	case f.IsRetraction():
	case f.Kind == index.FactLedger:
		value = "{}"
	default:
		value = string(f.Value)
	}
	var last int64
	known, err := c.GetDirect("SELECT time FROM facts WHERE kind = ? AND key = ?", []any{f.Kind, f.Key}, &last)
	if err != nil {
		return false, err
	}
	err = c.ExecDirect(`INSERT INTO facts (kind, key, time, pack, value) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (kind, key) DO UPDATE SET time = excluded.time, pack = excluded.pack, value = excluded.value
		WHERE (excluded.time, excluded.pack) > (time, pack)`, f.Kind, f.Key, f.Time.UnixMicro(), f.Pack, value)
	// A tombstone that is known already is applied to what has come since.
	return !known || f.Time.UnixMicro() > last || f.Kind == blob.FactTombstone && f.Time.UnixMicro() == last, err
}
