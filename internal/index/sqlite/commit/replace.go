package commit

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// ReplacedKey is the prefix under which local_state keeps the packs that others have replaced.
const ReplacedKey = "replaced pack "

// replace removes packs that others replace from the index. What still lies in them, mostly copies, is found elsewhere by its
// hash.
func (c *commit) replace(all []*index.PackRow) error {
	for _, p := range all {
		if err := c.deleteDeadExtents(p.Dead); err != nil {
			return fmt.Errorf("versions omitted from pack %s: %w", p.Name, err)
		}
		if err := c.moveFacts(p); err != nil {
			return fmt.Errorf("facts of pack %s: %w", p.Name, err)
		}
		for _, name := range p.Replaces {
			if err := c.replaceOne(name); err != nil {
				return fmt.Errorf("pack %s replaces %s: %w", p.Name, name, err)
			}
		}
	}
	return nil
}

// deleteDeadExtents deletes the places of tombstoned versions that no pack states any more. Their bytes may still exist for
// another version; if these places brought a version back, it would be in the index alone.
func (c *commit) deleteDeadExtents(dead []index.VersionKey) error {
	for _, k := range dead {
		if err := c.Exec(`DELETE FROM extents WHERE chain IN (SELECT v.chain FROM sources s CROSS JOIN files f ON f.source = s.id AND f.path = ?
			CROSS JOIN versions v ON v.file = f.id AND v.number = ? WHERE s.name = ? AND v.grave IS NOT NULL)`, k.Path, k.Number, k.Source); err != nil {
			return err
		}
	}
	return nil
}

// moveFacts assigns the facts of replaced packs to the pack that replaces them, for all at once, since it looks at every fact,
// and there may be a million. The names are not a subquery, for which SQLite would first collect the keys of all facts, and the
// statement does not undo itself, for which SQLite would keep a copy of every page: both in memory, 120 MB for 900,000
// tombstones. The transaction is undone instead.
func (c *commit) moveFacts(p *index.PackRow) error {
	for names := range slices.Chunk(p.Replaces, movedPacks) {
		args := make([]any, 0, 1+movedPacks)
		args = append(args, p.Name)
		for _, name := range names {
			args = append(args, name)
		}
		for len(args) <= movedPacks {
			args = append(args, nil)
		}
		if err := c.Exec("UPDATE OR FAIL facts SET pack = ? WHERE pack IN (?"+strings.Repeat(", ?", movedPacks-1)+")", args...); err != nil {
			return err
		}
	}
	return nil
}

// movedPacks is how many packs' facts one statement moves.
const movedPacks = 64

func (c *commit) replaceOne(name string) error {
	if err := c.Exec("INSERT OR REPLACE INTO local_state (key, value) VALUES (?, '')", ReplacedKey+name); err != nil {
		return err
	}
	var old int64
	known, err := c.Get("SELECT id FROM packs WHERE name = ?", []any{name}, &old)
	if err != nil || !known {
		return err
	}
	if err := c.repoint(old); err != nil {
		return err
	}
	for _, query := range []string{"DELETE FROM members WHERE pack = ?", "DELETE FROM packs WHERE id = ?"} {
		if err := c.Exec(query, old); err != nil {
			return err
		}
	}
	return nil
}

// chainExtent is bytes of a chain, and packPlace is where bytes are.
type (
	chainExtent struct {
		chain, offset, size int64
		sum                 blob.Ref
	}
	packPlace struct{ pack, raw, size int64 }
)

// repoint finds other places for what is in a pack.
func (c *commit) repoint(old int64) error {
	var rows []chainExtent
	if err := c.Each("SELECT chain, offset, size, sha256 FROM extents WHERE pack = ?", func(r *sql.Rows) error {
		var x chainExtent
		var sum []byte
		err := r.Scan(&x.chain, &x.offset, &x.size, &sum)
		copy(x.sum[:], sum)
		rows = append(rows, x)
		return err
	}, old); err != nil || len(rows) == 0 {
		return err
	}
	places := maps.Clone(c.stored)
	if err := c.findElsewhere(old, rows, places); err != nil {
		return err
	}
	for i := range rows {
		x := &rows[i]
		at, ok := places[x.sum]
		if !ok {
			unneeded, err := c.isUnneeded(x)
			if err != nil {
				return err
			}
			if unneeded {
				if err := c.Exec("DELETE FROM extents WHERE chain = ? AND offset = ?", x.chain, x.offset); err != nil {
					return err
				}
				continue
			}
		}
		if !ok || at.size != x.size {
			return fmt.Errorf("%d bytes at %d of chain %d are %w", x.size, x.offset, x.chain, index.ErrNowhere)
		}
		if err := c.Exec("UPDATE extents SET pack = ?, raw = ? WHERE chain = ? AND offset = ?", at.pack, at.raw, x.chain, x.offset); err != nil {
			return err
		}
	}
	return nil
}

// findElsewhere adds places in packs that this commit does not replace. Extents have no index by hash: it scans all of them,
// once.
func (c *commit) findElsewhere(old int64, rows []chainExtent, places map[blob.Ref]packPlace) error {
	missing := []string{}
	for i := range rows {
		if _, ok := places[rows[i].sum]; !ok {
			missing = append(missing, rows[i].sum.String())
		}
	}
	if len(missing) == 0 {
		return nil
	}
	sums, err := json.Marshal(missing)
	if err != nil {
		return err
	}
	return c.Each(`SELECT sha256, pack, raw, size FROM extents NOT INDEXED WHERE sha256 IN (SELECT unhex(value) FROM json_each(?)) AND pack <> ?
		AND pack IN (SELECT id FROM packs)`, func(r *sql.Rows) error {
		var sum []byte
		var key blob.Ref
		var at packPlace
		err := r.Scan(&sum, &at.pack, &at.raw, &at.size)
		copy(key[:], sum)
		places[key] = at
		return err
	}, string(sums), old)
}

// isUnneeded reports whether an extent whose bytes are in no pack any more is not needed.
func (c *commit) isUnneeded(x *chainExtent) (bool, error) {
	for _, is := range []func() (bool, error){
		func() (bool, error) { return c.allTombstoned(x.chain) },
		func() (bool, error) { return c.lost(x.chain, x.offset, x.size) },
		func() (bool, error) { return c.isWithin(x.chain, x.offset, x.size) },
	} {
		if yes, err := is(); yes || err != nil {
			return yes, err
		}
	}
	return false, nil
}

// allTombstoned reports whether all versions of a chain have tombstones.
func (c *commit) allTombstoned(chain int64) (bool, error) {
	var all []blob.Version
	if err := c.Each(`SELECT s.name, f.path, v.sha256, v.number FROM versions v JOIN files f ON f.id = v.file JOIN sources s ON s.id = f.source
		WHERE v.chain = ?`, func(r *sql.Rows) error {
		var v blob.Version
		var sum []byte
		err := r.Scan(&v.Source, &v.Path, &sum, &v.Number)
		copy(v.SHA256[:], sum)
		all = append(all, v)
		return err
	}, chain); err != nil {
		return false, err
	}
	for i := range all {
		if _, ok, err := c.tombstoneOf(&all[i]); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}
