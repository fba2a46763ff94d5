package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"iter"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

// loss makes the version of which a fact says that bytes are lost, or there again, to be parsed as a whole: parser -1.
func (c *commit) loss(f blob.Fact) error {
	if f.Kind != blob.FactLost {
		return nil
	}
	l, err := blob.ParseLoss(f)
	if err != nil { // it takes back what is known
		var value sql.NullString
		if _, err := c.get("SELECT value FROM facts WHERE kind = ? AND key = ?", []any{f.Kind, f.Key}, &value); err != nil || !value.Valid {
			return err
		}
		if l, err = blob.ParseLoss(blob.Fact{Kind: f.Kind, Value: json.RawMessage(value.String)}); err != nil {
			return nil // says nothing: verify tells of packs that are wrong
		}
	}
	return c.exec(`UPDATE versions SET parser = -1 WHERE parser > 0 AND grave IS NULL AND number = ?3
		AND file = (SELECT f.id FROM files f JOIN sources s ON s.id = f.source WHERE s.name = ?1 AND f.path = ?2)
		AND chain IN (SELECT id FROM chains WHERE root = ?4)`, l.Source, l.Path, l.Number, l.Root[:])
}

// lossyVersions are those of which bytes are lost. Nobody has the same rows as they, whatever their hash says.
func (c *commit) lossyVersions() (map[index.VersionKey]bool, error) {
	if c.lossy != nil {
		return c.lossy, nil
	}
	all := map[index.VersionKey]bool{}
	err := c.eachBeside("SELECT value FROM facts WHERE kind = ? AND value IS NOT NULL", func(r *sql.Rows) error {
		var value string
		err := r.Scan(&value)
		if l, bad := blob.ParseLoss(blob.Fact{Kind: blob.FactLost, Value: json.RawMessage(value)}); bad == nil {
			all[index.VersionKey{Source: l.Source, Path: l.Path, Number: l.Number}] = true
		}
		return err
	}, blob.FactLost)
	if err == nil {
		c.lossy = all
	}
	return all, err
}

// lost says whether some bytes of an extent are known to be lost.
func (c *commit) lost(chain, offset, size int64) (yes bool, err error) {
	var v blob.Version
	var root []byte
	known, err := c.get(`SELECT s.name, f.path, v.number, c.root FROM versions v JOIN files f ON f.id = v.file JOIN sources s ON s.id = f.source
		JOIN chains c ON c.id = v.chain WHERE v.chain = ?`, []any{chain}, &v.Source, &v.Path, &v.Number, &root)
	if err != nil || !known {
		return false, err
	}
	copy(v.Root[:], root)
	var losses blob.Losses
	if err := c.each("SELECT key, value FROM facts WHERE kind = ? AND value IS NOT NULL", func(r *sql.Rows) error {
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

// FactsIn yields the facts that a pack tells best, those that it takes back too.
func (db *DB) FactsIn(ctx context.Context, pack string) iter.Seq2[blob.Fact, error] {
	return engine.Stream(ctx, db.r, "SELECT kind, key, time, value FROM facts WHERE pack = ? ORDER BY kind, key", []any{pack},
		func(rows *sqlx.Rows) (f blob.Fact, err error) {
			var micro int64
			var value sql.NullString
			err = rows.Scan(&f.Kind, &f.Key, &micro, &value)
			f.Time, f.Value = time.UnixMicro(micro).UTC(), json.RawMessage("null")
			if value.Valid {
				f.Value = json.RawMessage(value.String)
			}
			return f, err
		})
}
