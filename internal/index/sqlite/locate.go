package sqlite

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// Versions yields versions of originals by source, path and number.
func (db *DB) Versions(ctx context.Context, of index.VersionFilter) iter.Seq2[index.FileVersion, error] {
	var where []string
	var args []any
	add := func(sql string, a ...any) { where, args = append(where, sql), append(args, a...) }
	add("1")
	if of.Source != "" {
		add("s.name = ?", of.Source)
	}
	if of.Path != "" {
		add("f.path = ?", of.Path)
	}
	if of.Number != 0 {
		add("v.number = ?", of.Number)
	}
	if of.Newest {
		add("NOT EXISTS (SELECT 1 FROM originals w WHERE w.file = v.file AND w.number > v.number)")
	}
	if of.Run != "" {
		add(`v.id IN (SELECT k.version FROM runs r CROSS JOIN run_names n ON n.run = r.id CROSS JOIN run_claims k ON k.run_name = n.id
			WHERE r.run_id = ?1 AND NOT coalesce(k.stated ->> '$.Named', 0)
			UNION SELECT t.version FROM runs r CROSS JOIN run_names n ON n.run = r.id CROSS JOIN transcripts t ON t.run_name = n.id WHERE r.run_id = ?1)`, of.Run)
		where[len(where)-1] = strings.ReplaceAll(where[len(where)-1], "?1", fmt.Sprintf("?%d", len(args)))
	}
	query := `SELECT s.name, f.path, v.number, c.root, v.size, v.sha256, v.mtime, v.mode,
		(SELECT name FROM names WHERE id = v.format), (SELECT name FROM names WHERE id = v.role), v.root_dir, v.chain, v.parser,
		NOT EXISTS (SELECT 1 FROM originals w WHERE w.file = v.file AND w.number > v.number),
		CASE WHEN v.size = 0 THEN 1 ELSE (SELECT count(*) FROM originals w WHERE w.sha256 = v.sha256) END
		FROM sources s JOIN files f ON f.source = s.id JOIN originals v ON v.file = f.id JOIN chains c ON c.id = v.chain
		WHERE ` + strings.Join(where, " AND ") + " ORDER BY s.name, f.path, v.number"
	return stream(ctx, db.r, query, args, scanVersion)
}

func scanVersion(rows *sqlx.Rows) (v index.FileVersion, err error) {
	var root, sum []byte
	var mtime int64
	err = rows.Scan(&v.Source, &v.Path, &v.Number, &root, &v.Size, &sum, &mtime, &v.Mode, str(&v.Format), str(&v.Role),
		&v.Claim, &v.Chain, &v.Parser, &v.Newest, &v.Copies)
	if err != nil {
		return v, err
	}
	if len(root) != len(blob.Ref{}) || len(sum) != len(blob.Ref{}) {
		return v, fmt.Errorf("version %d of %s/%s has no hash: %w", v.Number, v.Source, v.Path, index.ErrDamaged)
	}
	v.Root, v.SHA256, v.ModTime = blob.Ref(root), blob.Ref(sum), time.Unix(0, mtime).UTC()
	return v, nil
}

const (
	// extentsOf begins with the extent that holds the first byte.
	extentsOf = `SELECT x.offset, x.size, x.pack, p.name, x.raw FROM extents x CROSS JOIN packs p ON p.id = x.pack
		WHERE x.chain = ?1 AND x.offset >= (SELECT coalesce(max(offset), 0) FROM extents WHERE chain = ?1 AND offset <= ?2) AND x.offset < ?3
		ORDER BY x.offset`
	membersOf = `SELECT raw, raw_size, offset, size FROM members
		WHERE pack = ?1 AND raw >= (SELECT coalesce(max(raw), 0) FROM members WHERE pack = ?1 AND raw <= ?2) AND raw < ?3 ORDER BY raw`
)

type extent struct {
	offset, size, pack int64
	name               string
	raw                int64
}

// Locate returns where bytes of a chain lie. No bytes lie nowhere.
func (db *DB) Locate(ctx context.Context, chain, offset, length int64) ([]index.Piece, error) {
	if length == 0 {
		return nil, nil
	}
	pieces, err := db.locate(ctx, chain, offset, offset+length)
	if err != nil {
		return nil, fmt.Errorf("locate bytes %d to %d: %w", offset, offset+length, damage(err))
	}
	return pieces, nil
}

func (db *DB) locate(ctx context.Context, chain, from, to int64) ([]index.Piece, error) {
	tx, err := db.r.BeginTxx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	var extents []extent
	err = each(ctx, tx, extentsOf, []any{chain, from, to}, func(rows *sqlx.Rows) (x extent, err error) {
		return x, rows.Scan(&x.offset, &x.size, &x.pack, &x.name, &x.raw)
	}, func(x extent) bool { extents = append(extents, x); return true })
	if err != nil {
		return nil, err
	}
	var pieces []index.Piece
	for _, x := range extents {
		if x.size == 0 {
			continue
		}
		if from < x.offset || from >= x.offset+x.size {
			return nil, index.ErrNotFound
		}
		p := index.Piece{Pack: x.name, Raw: x.raw + from - x.offset, Size: min(to, x.offset+x.size) - from}
		if p.Members, err = members(ctx, tx, x.pack, p.Raw, p.Raw+p.Size); err != nil {
			return nil, err
		}
		pieces = append(pieces, p)
		if from += p.Size; from >= to {
			return pieces, nil
		}
	}
	return nil, index.ErrNotFound
}

// members returns the gzip members that hold a stretch of a pack's tar stream.
func members(ctx context.Context, tx *sqlx.Tx, pack, from, to int64) ([]blob.Member, error) {
	var found []blob.Member
	err := each(ctx, tx, membersOf, []any{pack, from, to}, func(rows *sqlx.Rows) (m blob.Member, err error) {
		return m, rows.Scan(&m.Raw, &m.RawSize, &m.Offset, &m.Size)
	}, func(m blob.Member) bool { found = append(found, m); return true })
	if err != nil {
		return nil, err
	}
	if n := len(found); n == 0 || found[0].Raw > from || found[n-1].Raw+found[n-1].RawSize < to {
		return nil, fmt.Errorf("members of pack: %w", index.ErrDamaged)
	}
	return found, nil
}
