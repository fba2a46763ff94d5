package commit

import (
	"database/sql"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// extents records where the pack has the bytes of a chain. known says that the chain existed before, and wasApart that extents of it overlapped.
// apart reports whether some overlap with extents of other packs.
func (c *commit) extents(pack, chain int64, v *blob.Version, known, wasApart bool) (apart bool, err error) {
	alone := !known && len(v.Extents) == 1
	for _, e := range v.Extents {
		in, raw, there := pack, e.Raw, true
		if e.CopyOf != nil {
			raw = e.CopyOf.Raw
			if e.CopyOf.Pack != "" {
				if in, raw, there, err = c.placeOf(e); err != nil {
					return apart, err
				}
			}
		}
		if !there {
			continue // verify names what is lost
		}
		if alone {
			return false, c.Buffer.Extents.Add(chain, e.Offset, e.Size, in, raw, e.SHA256[:])
		}
		overlaps, err := c.extent(chain, e, in, raw, wasApart)
		if err != nil {
			return apart, err
		}
		apart = apart || overlaps
	}
	return apart, nil
}

// extent records where bytes of a chain are. Only the extents that are within no other are kept, so the later one begins, the later it
// ends: gc has joined what is within another, or a copy of the archive has archived the file in other steps. apart reports whether the
// extent overlaps with others, whether it is kept or not.
func (c *commit) extent(chain int64, e blob.Extent, pack, raw int64, wasApart bool) (apart bool, err error) {
	overlapping, err := c.overlapping(chain, &e)
	if err != nil {
		return false, err
	}
	within := false
	for i := range overlapping {
		x := &overlapping[i]
		switch {
		case x.Offset == e.Offset && x.Size == e.Size && x.SHA256 == e.SHA256:
			return false, c.putExtent(chain, e, pack, raw)
		case c.replaced[x.CopyOf.Pack] && !(wasApart && c.isRestated(x)):
			err = c.Exec("DELETE FROM extents WHERE chain = ? AND offset = ?", chain, x.Offset)
		case e.Outranks(x):
			apart = true
			err = c.Exec("DELETE FROM extents WHERE chain = ? AND offset = ?", chain, x.Offset)
		default:
			apart, within = true, within || x.Outranks(&e)
		}
		if err != nil {
			return apart, err
		}
	}
	if within {
		return apart, nil
	}
	return apart, c.putExtent(chain, e, pack, raw)
}

// overlapping returns the extents of a chain that overlap with e, by offset. CopyOf names their packs. Of those that begin before e it is
// only the last: no other ends later.
func (c *commit) overlapping(chain int64, e *blob.Extent) (all []blob.Extent, err error) {
	err = c.EachBrief(`SELECT x.offset, x.size, x.sha256, (SELECT name FROM packs WHERE id = x.pack), x.raw FROM extents x
		WHERE x.chain = ?1 AND x.offset >= (SELECT coalesce(max(offset), 0) FROM extents WHERE chain = ?1 AND offset <= ?2)
		AND x.offset < ?3 AND x.offset + x.size > ?2 ORDER BY x.offset`, func(r *sql.Rows) error {
		x := blob.Extent{CopyOf: &blob.Copy{}}
		var sum []byte
		err := r.Scan(&x.Offset, &x.Size, &sum, &x.CopyOf.Pack, &x.CopyOf.Raw)
		copy(x.SHA256[:], sum)
		all = append(all, x)
		return err
	}, chain, e.Offset, e.Offset+e.Size)
	return all, err
}

func (c *commit) putExtent(chain int64, e blob.Extent, pack, raw int64) error {
	return c.Exec(`INSERT INTO extents (chain, offset, size, pack, raw, sha256) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (chain, offset) DO UPDATE SET size = excluded.size, pack = excluded.pack, raw = excluded.raw, sha256 = excluded.sha256
		WHERE excluded.size > size OR excluded.size = size
			AND (SELECT name FROM packs WHERE id = excluded.pack) > (SELECT name FROM packs WHERE id = extents.pack)`,
		chain, e.Offset, e.Size, pack, raw, e.SHA256[:])
}

// isRestated reports whether the packs of this commit hold the content of an extent. If its chain is not apart that means nothing: gc has joined
// the extent, and another chain needs the same content alone.
func (c *commit) isRestated(x *blob.Extent) bool {
	_, yes := c.stored[x.SHA256]
	return yes
}

// hasRows reports whether this commit adds rows of a version: a scan has compared it with how it begins.
func (c *commit) hasRows(v *blob.Version) bool {
	return slices.ContainsFunc(c.batch.Parsed, func(p *index.Parsed) bool { return p.VersionKey == index.KeyOf(v) })
}

// restart has the rows of a version made again from its packs: what they were made from may not be how it begins any more. What a ledger says
// of it holds for these, too.
func (c *commit) restart(version int64) error {
	if err := c.deleteStated(version, true); err != nil {
		return err
	}
	return c.Exec("UPDATE versions SET parser = 0, parsed = 0 WHERE id = ?", version)
}

// isWithin reports whether other extents of a chain cover bytes of it that begin at an extent.
func (c *commit) isWithin(chain, offset, size int64) (bool, error) {
	at := offset
	err := c.Each("SELECT x.offset, x.offset + x.size FROM extents x WHERE x.chain = ? AND x.offset < ? AND x.offset <> ? ORDER BY x.offset", func(r *sql.Rows) error {
		var from, to int64
		err := r.Scan(&from, &to)
		if from <= at {
			at = max(at, to)
		}
		return err
	}, chain, offset+size, offset)
	return at >= offset+size && size > 0, err
}

// placeOf returns where a copy is: in the pack that it names or, when gc has replaced that, where the same bytes are now. It is
// nowhere when the pack is lost, or when the version that needs it has a tombstone.
func (c *commit) placeOf(e blob.Extent) (pack, raw int64, ok bool, err error) {
	ok, err = c.Get("SELECT id FROM packs WHERE name = ?", []any{e.CopyOf.Pack}, &pack)
	if err != nil || ok {
		return pack, e.CopyOf.Raw, ok, err
	}
	ok, err = c.Get("SELECT pack, raw FROM extents WHERE sha256 = ? AND size = ? LIMIT 1", []any{e.SHA256[:], e.Size}, &pack, &raw)
	return pack, raw, ok, err
}
