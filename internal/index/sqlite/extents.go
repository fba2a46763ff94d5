package sqlite

import (
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// extents records where the pack has the bytes of a chain. known says that the chain existed before.
func (c *commit) extents(pack int64, p *index.PackRow, chain int64, v *blob.Version, known bool) (err error) {
	alone := !known && len(v.Extents) == 1
	for _, e := range v.Extents {
		in, raw, there := pack, e.Raw, true
		if e.CopyOf != nil {
			raw = e.CopyOf.Raw
			if e.CopyOf.Pack != "" {
				if in, raw, there, err = c.placeOf(e); err != nil {
					return err
				}
			}
		}
		if !there {
			continue // verify names what is lost
		}
		if err := c.extent(chain, e, in, raw, alone, len(p.Replaces) > 0); err != nil {
			return err
		}
	}
	return nil
}

// extent records where bytes of a chain are. Of two statements about one place the one with more bytes wins, then that of the
// newer pack. Extents within a longer one go, because gc has joined them; one that comes later, in a pack of another machine,
// is not added at all. What a gc has moved wins over everything: it replaces whatever it overlaps.
func (c *commit) extent(chain int64, e blob.Extent, pack, raw int64, alone, moved bool) error {
	if alone {
		return c.buffer.extents.add(chain, e.Offset, e.Size, pack, raw, e.SHA256[:])
	}
	if within, err := c.within(chain, e.Offset, e.Size); err != nil || within && !moved {
		return err
	}
	overlap := "DELETE FROM extents WHERE chain = ?1 AND offset > ?2 AND offset + size <= ?3"
	if moved {
		overlap = "DELETE FROM extents WHERE chain = ?1 AND offset >= ?2 AND offset < max(?3, ?2 + 1)"
	}
	if err := c.exec(overlap, chain, e.Offset, e.Offset+e.Size); err != nil {
		return err
	}
	return c.putExtent(chain, e, pack, raw)
}

func (c *commit) putExtent(chain int64, e blob.Extent, pack, raw int64) error {
	return c.exec(`INSERT INTO extents (chain, offset, size, pack, raw, sha256) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (chain, offset) DO UPDATE SET size = excluded.size, pack = excluded.pack, raw = excluded.raw, sha256 = excluded.sha256
		WHERE excluded.size > size OR excluded.size = size
			AND (SELECT name FROM packs WHERE id = excluded.pack) > (SELECT name FROM packs WHERE id = extents.pack)`,
		chain, e.Offset, e.Size, pack, raw, e.SHA256[:])
}

// within reports whether bytes of a chain are in an extent that begins before them.
func (c *commit) within(chain, offset, size int64) (bool, error) {
	if offset == 0 {
		return false, nil
	}
	return c.exists("SELECT 1 FROM extents WHERE chain = ? AND offset < ? AND offset + size >= ? LIMIT 1", chain, offset, offset+size)
}

// placeOf returns where a copy is: in the pack that it names or, when gc has replaced that, where the same bytes are now. It is
// nowhere when the pack is lost, or when the version that needs it has a tombstone.
func (c *commit) placeOf(e blob.Extent) (pack, raw int64, ok bool, err error) {
	ok, err = c.get("SELECT id FROM packs WHERE name = ?", []any{e.CopyOf.Pack}, &pack)
	if err != nil || ok {
		return pack, e.CopyOf.Raw, ok, err
	}
	ok, err = c.get("SELECT pack, raw FROM extents WHERE sha256 = ? AND size = ? LIMIT 1", []any{e.SHA256[:], e.Size}, &pack, &raw)
	return pack, raw, ok, err
}
