package commit

import (
	"bytes"
	"cmp"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/catalog"
)

// Two originals may have the same source, path and number: a redacted one replaces what is under a tombstone, and two machines
// may give two files the same name. The index has room for one, and keeps the same one whatever the order in which packs come.
// The other stays in the packs, where verify names it. When the kept one gets a tombstone later, only a reindex brings in the other, whose
// rows were left out before: it commits the tombstones of all packs first.

// wins reports whether a version replaces another that has its name and number: one without a tombstone comes before one with, the one with
// the later tombstone, which is the one that was seen last, before the other, and then the one with the smaller root. If neither has a
// tombstone, the index remembers that the packs have more than it does (catalog.RivalsKey): restores of all versions read those.
func (c *commit) wins(v *blob.Version, was *knownVersion) (bool, error) {
	its, err := c.buried(v)
	if err != nil {
		return false, err
	}
	other, err := c.rivalBuried(v, was)
	if err != nil {
		return false, err
	}
	if its == alive && other == alive {
		err = c.Exec("INSERT OR REPLACE INTO local_state (key, value) VALUES (?, '')", catalog.RivalsKey)
	}
	return cmp.Or(cmp.Compare(other, its), bytes.Compare(v.Root[:], was.root[:])) < 0, err
}

// alive is the time of the tombstone of a version that has none: later than any.
const alive = math.MaxInt64

// buried returns the time of the tombstone of a version, or of what it has grown to.
func (c *commit) buried(v *blob.Version) (at int64, err error) {
	key, yes, err := c.tombstoneOf(v)
	if err != nil {
		return 0, err
	}
	if yes {
		return c.buriedBy(key)
	}
	if named, err := c.tombstonedRoots(); err != nil || !named[rootStart(v.Root)] {
		return alive, err
	}
	at = alive
	err = c.Each(`SELECT time, value FROM facts WHERE kind = 'tombstone' AND value IS NOT NULL AND value ->> '$.root' = ? AND value ->> '$.version' = ?
		AND value ->> '$.size' >= ?`, func(r *sql.Rows) error {
		var time int64
		var value string
		err := r.Scan(&time, &value)
		if t, bad := blob.ParseTombstone(blob.Fact{Kind: blob.FactTombstone, Value: json.RawMessage(value)}); bad == nil && t.Source == v.Source && t.Path == v.Path {
			at = min(at, time)
		}
		return err
	}, v.Root.String(), v.Number, v.Size)
	return at, err
}

// rivalBuried is buried for the version that the index has under the name and number of another.
func (c *commit) rivalBuried(v *blob.Version, was *knownVersion) (at int64, err error) {
	if was.tombstone.Valid {
		return c.buriedBy(was.tombstone.String)
	}
	rival := *v
	rival.Root, rival.SHA256, rival.Size = was.root, was.sum, was.size
	return c.buried(&rival)
}

// buriedBy returns the time of the tombstone of a key, also if it was retracted when no bytes were left.
func (c *commit) buriedBy(key string) (at int64, err error) {
	_, err = c.Get("SELECT time FROM facts WHERE kind = 'tombstone' AND key = ?", []any{key}, &at)
	return at, err
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
func (c *commit) replaceVersion(id, chain int64, v *blob.Version, archived int64) error {
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
		root_dir = ?, archived = ? WHERE id = ?`, v.Size, v.SHA256[:], blob.Nano(v.ModTime), v.Mode, format, role, v.Claim, archived, id)
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
