package sqlite

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"encoding/hex"

	"github.com/txarchive/txarchive/internal/blob"
)

// Two originals may have one source, path and number: what was redacted takes the place of what lies under a tombstone,
// and two machines may have called two files alike. The index has room for one, and keeps the same one whatever the
// order in which packs come; the other stays in the packs, where verify names it. When a tombstone is laid on the one, it
// takes a reindex to have the other, because what came of it before was left out.

// wins says whether a version takes the place of another that has its name and number.
func (c *commit) wins(v *blob.Version, rival blob.Ref, rivalBuried bool) (bool, error) {
	buried, err := c.buried(v)
	if err != nil || buried || len(v.Extents) == 0 || v.Extents[0].Offset > 0 {
		return false, err
	}
	return rivalBuried || bytes.Compare(v.Root[:], rival[:]) < 0, nil
}

// buried says whether a tombstone lies on a version, or on what it has grown to.
func (c *commit) buried(v *blob.Version) (bool, error) {
	if _, yes, err := c.lies(v.Source, v.Path, v.SHA256); err != nil || yes {
		return yes, err
	}
	if named, err := c.graveRoots(); err != nil || !named[rootStart(v.Root)] {
		return false, err
	}
	var n int
	return c.get(`SELECT 1 FROM facts WHERE kind = 'tombstone' AND value IS NOT NULL AND value ->> '$.root' = ? AND value ->> '$.version' = ?
		AND value ->> '$.size' >= ?`, []any{v.Root.String(), v.Number, v.Size}, &n)
}

// graveRoots are the beginnings of the roots that tombstones name: what takes the place of others mostly has a root of its own, and
// to look through all tombstones for each takes a time that grows with the square of what is redacted at once. Those of a batch
// are written before its packs.
func (c *commit) graveRoots() (map[uint64]bool, error) {
	if c.rootsNamed != nil {
		return c.rootsNamed, nil
	}
	c.rootsNamed = map[uint64]bool{}
	return c.rootsNamed, c.each(`SELECT value ->> '$.root' FROM facts WHERE kind = 'tombstone' AND value IS NOT NULL AND value ->> '$.root' IS NOT NULL`,
		func(r *sql.Rows) error {
			var text string
			if err := r.Scan(&text); err != nil {
				return err
			}
			var root blob.Ref
			if _, err := hex.Decode(root[:], []byte(text[:min(len(text), 2*len(root))])); err == nil {
				c.rootsNamed[rootStart(root)] = true
			}
			return nil
		})
}

func rootStart(root blob.Ref) uint64 { return binary.BigEndian.Uint64(root[:]) }

// supplant puts a version in the place of another. Its extents and its rows follow.
func (c *commit) supplant(id, chain int64, v *blob.Version) error {
	if err := c.silence(id); err != nil {
		return err
	}
	if err := c.exec("DELETE FROM extents WHERE chain = ?", chain); err != nil {
		return err
	}
	if err := c.exec("UPDATE chains SET root = ?, size = ?, sha256 = ? WHERE id = ?", v.Root[:], v.Size, v.SHA256[:], chain); err != nil {
		return err
	}
	format, err := c.name(v.Format)
	if err != nil {
		return err
	}
	role, err := c.name(v.Role)
	if err != nil {
		return err
	}
	return c.exec(`UPDATE versions SET parser = 0, parsed = 0, grave = NULL, size = ?, sha256 = ?, mtime = ?, mode = ?, format = ?, role = ?,
		root_dir = ? WHERE id = ?`, v.Size, v.SHA256[:], blob.Nano(v.ModTime), v.Mode, format, role, v.Claim, id)
}

// layTombstone buries a version when a tombstone that is known lies on what it has become.
func (c *commit) layTombstone(id, chain int64, known bool, v *blob.Version) error {
	key, yes, err := c.lies(v.Source, v.Path, v.SHA256)
	if err != nil || !yes {
		return err
	}
	delete(c.born, versionKey(v))
	if known {
		var n int
		open, err := c.get("SELECT 1 FROM versions WHERE id = ? AND grave IS NULL AND sha256 = ?", []any{id, v.SHA256[:]}, &n)
		if err != nil || !open {
			return err // it lies there already, or has grown beyond
		}
		return c.bury(id, key)
	}
	return c.exec("UPDATE versions SET grave = ? WHERE chain = ?", key, chain)
}
