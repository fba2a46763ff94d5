package commit

import (
	"database/sql"
	"encoding/json"

	"github.com/txarchive/txarchive/internal/blob"
)

// loss marks a version to be parsed as a whole (parser -1) when a fact says that bytes of it are lost, or are there again.
func (c *commit) loss(f blob.Fact) error {
	if f.Kind != blob.FactLost {
		return nil
	}
	l, err := blob.ParseLoss(f)
	if err != nil { // it retracts an earlier fact
		var value sql.NullString
		if _, err := c.Get("SELECT value FROM facts WHERE kind = ? AND key = ?", []any{f.Kind, f.Key}, &value); err != nil || !value.Valid {
			return err
		}
		if l, err = blob.ParseLoss(blob.Fact{Kind: f.Kind, Value: json.RawMessage(value.String)}); err != nil {
			return nil // ignored: verify reports packs that are wrong
		}
	}
	return c.Exec(`UPDATE versions SET parser = -1 WHERE parser > 0 AND grave IS NULL AND number = ?3
		AND file = (SELECT f.id FROM files f JOIN sources s ON s.id = f.source WHERE s.name = ?1 AND f.path = ?2)
		AND chain IN (SELECT id FROM chains WHERE root = ?4)`, l.Source, l.Path, l.Number, l.Root[:])
}

// lost reports whether some bytes of an extent are known to be lost.
func (c *commit) lost(chain, offset, size int64) (yes bool, err error) {
	var v blob.Version
	var root []byte
	known, err := c.Get(`SELECT s.name, f.path, v.number, c.root FROM versions v JOIN files f ON f.id = v.file JOIN sources s ON s.id = f.source
		JOIN chains c ON c.id = v.chain WHERE v.chain = ?`, []any{chain}, &v.Source, &v.Path, &v.Number, &root)
	if err != nil || !known {
		return false, err
	}
	copy(v.Root[:], root)
	var losses blob.Losses
	if err := c.Each("SELECT key, value FROM facts WHERE kind = ? AND value IS NOT NULL", func(r *sql.Rows) error {
		var value string
		f := blob.Fact{Kind: blob.FactLost}
		err := r.Scan(&f.Key, &value)
		f.Value = json.RawMessage(value)
		losses.Add(f, "")
		return err
	}, blob.FactLost); err != nil {
		return false, err
	}
	for _, l := range losses.Of(&v) {
		yes = yes || l.Offset < offset+max(size, 1) && offset < l.Offset+l.Size
	}
	return yes, nil
}
