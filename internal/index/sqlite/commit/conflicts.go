package commit

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"encoding/hex"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/catalog"
)

// Two originals may have the same source, path and number: a redacted one replaces what is under a tombstone, and two machines
// may give two files the same name. The index has room for one, and keeps the same one whatever the order in which packs come.
// The other stays in the packs, where verify names it. When the kept one gets a tombstone later, only a reindex brings in the other, whose
// rows were left out before: it commits the tombstones of all packs first.

// wins reports whether a version replaces another that has its name and number. If neither has a tombstone, the index remembers that the
// packs have more than it does (catalog.RivalsKey): restores of all versions read those.
func (c *commit) wins(v *blob.Version, rival blob.Ref, rivalBuried bool) (bool, error) {
	tombstoned, err := c.hasTombstone(v)
	if err != nil || tombstoned {
		return false, err
	}
	if !rivalBuried {
		if err := c.Exec("INSERT OR REPLACE INTO local_state (key, value) VALUES (?, '')", catalog.RivalsKey); err != nil {
			return false, err
		}
	}
	if len(v.Extents) == 0 || v.Extents[0].Offset > 0 {
		return false, nil
	}
	return rivalBuried || bytes.Compare(v.Root[:], rival[:]) < 0, nil
}

// hasTombstone reports whether a version, or what it has grown to, has a tombstone.
func (c *commit) hasTombstone(v *blob.Version) (bool, error) {
	if _, yes, err := c.tombstoneOf(v); err != nil || yes {
		return yes, err
	}
	if named, err := c.tombstonedRoots(); err != nil || !named[rootStart(v.Root)] {
		return false, err
	}
	return c.Exists(`SELECT 1 FROM facts WHERE kind = 'tombstone' AND value IS NOT NULL AND value ->> '$.root' = ? AND value ->> '$.version' = ?
		AND value ->> '$.size' >= ?`, v.Root.String(), v.Number, v.Size)
}

// tombstonedRoots are the first bytes of the roots that tombstones name. A replacement mostly has a root of its own, and
// scanning all tombstones for each would take quadratic time when much is redacted at once. The tombstones of a batch are
// written before its packs.
func (c *commit) tombstonedRoots() (map[uint64]bool, error) {
	if c.rootsNamed != nil {
		return c.rootsNamed, nil
	}
	c.rootsNamed = map[uint64]bool{}
	return c.rootsNamed, c.Each(`SELECT value ->> '$.root' FROM facts WHERE kind = 'tombstone' AND value IS NOT NULL AND value ->> '$.root' IS NOT NULL`,
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

// replaceVersion replaces one version by another of the same name. Its extents and rows follow.
func (c *commit) replaceVersion(id, chain int64, p *index.PackRow, v *blob.Version) error {
	if err := c.deleteStatements(id); err != nil {
		return err
	}
	if err := c.Exec("DELETE FROM extents WHERE chain = ?", chain); err != nil {
		return err
	}
	if err := c.Exec("UPDATE chains SET root = ?, size = ?, sha256 = ?, apart = 0 WHERE id = ?", v.Root[:], v.Size, v.SHA256[:], chain); err != nil {
		return err
	}
	format, err := c.Name(v.Format)
	if err != nil {
		return err
	}
	role, err := c.Name(v.Role)
	if err != nil {
		return err
	}
	return c.Exec(`UPDATE versions SET parser = 0, parsed = 0, grave = NULL, size = ?, sha256 = ?, mtime = ?, mode = ?, format = ?, role = ?,
		root_dir = ?, archived = ? WHERE id = ?`, v.Size, v.SHA256[:], blob.Nano(v.ModTime), v.Mode, format, role, v.Claim, archivedAt(p, v), id)
}

// coverVersion hides a version whose present content has a tombstone.
func (c *commit) coverVersion(id, chain int64, known bool, v *blob.Version) error {
	key, yes, err := c.tombstoneOf(v)
	if err != nil || !yes {
		return err
	}
	delete(c.addedVersions, index.KeyOf(v))
	if known {
		open, err := c.Exists("SELECT 1 FROM versions WHERE id = ? AND grave IS NULL AND sha256 = ?", id, v.SHA256[:])
		if err != nil || !open {
			return err // it is hidden already, or has grown beyond the tombstone
		}
		return c.hideVersion(id, key)
	}
	return c.Exec("UPDATE versions SET grave = ? WHERE chain = ?", key, chain)
}
