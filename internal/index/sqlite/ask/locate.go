package ask

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
)

// Versions yields versions of originals by path, source and number.
func (db *Reader) Versions(ctx context.Context, of index.VersionFilter) iter.Seq2[index.FileVersion, error] {
	query, args := selectVersions(of)
	return engine.Stream(ctx, db.r, query, args, scanVersion)
}

// selectVersions builds the query of Versions. It reads along the index of paths, because SQLite would sort a million
// versions in memory. The versions of a run or conversation are few, and are sorted.
func selectVersions(of index.VersionFilter) (query string, args []any) {
	var conds []string
	add := func(sql string, a ...any) { conds, args = append(conds, sql), append(args, a...) }
	add("1")
	if of.Source != "" {
		add("s.name = ?", of.Source)
	}
	if of.Path != "" {
		add("f.path = ?", of.Path)
	}
	if of.Below != "" { // one range of the index; SQLite would sort the results of an OR that it looks up
		add("f.path >= ? AND f.path < ? AND (+f.path = ? OR +f.path >= ?)", of.Below, of.Below+"0", of.Below, of.Below+"/") // 0 follows the slash
	}
	if of.From != "" {
		add("f.path >= ?", of.From)
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
			UNION SELECT t.version FROM runs r CROSS JOIN run_names n ON n.run = r.id CROSS JOIN transcripts t ON t.run_name = n.id
				WHERE r.run_id = ?1 AND (r.counted = 0 OR NOT `+schema.IsSecondHand("t.version")+`))`, of.Run)
		conds[len(conds)-1] = strings.ReplaceAll(conds[len(conds)-1], "?1", fmt.Sprintf("?%d", len(args)))
	}
	if of.Conversation != "" {
		add("v.id IN (SELECT t.version FROM conversations n CROSS JOIN transcripts t ON t.conversation = n.id WHERE n.conversation_id = ?)", of.Conversation)
	}
	from := "FROM files f CROSS JOIN sources s ON s.id = f.source CROSS JOIN originals v ON v.file = f.id CROSS JOIN chains c ON c.id = v.chain"
	if of.Run != "" || of.Conversation != "" {
		from = "FROM originals v CROSS JOIN files f ON f.id = v.file CROSS JOIN sources s ON s.id = f.source CROSS JOIN chains c ON c.id = v.chain"
	}
	return `SELECT s.name, f.path, v.number, c.root, v.size, v.sha256, v.mtime, v.mode,
		(SELECT name FROM names WHERE id = v.format), (SELECT name FROM names WHERE id = v.role), v.root_dir, v.chain, v.parser,
		NOT EXISTS (SELECT 1 FROM originals w WHERE w.file = v.file AND w.number > v.number),
		CASE WHEN v.size = 0 THEN 1 ELSE (SELECT count(*) FROM originals w WHERE w.sha256 = v.sha256) END
		` + from + `
		WHERE ` + strings.Join(conds, " AND ") + " ORDER BY f.path, s.name, v.number", args
}

// RunsOf yields the ids of the runs that count and to which a version belongs, by the rule of Versions, the latest start
// first. With secondHand it yields all runs that the version mentions, including those of which it only has a prompt in a
// history of several runs.
func (db *Reader) RunsOf(ctx context.Context, of index.VersionKey, secondHand bool) iter.Seq2[string, error] {
	return engine.Stream(ctx, db.r, `WITH v AS (SELECT v.id FROM sources s CROSS JOIN files f ON f.source = s.id AND f.path = ?2 CROSS JOIN originals v ON v.file = f.id AND v.number = ?3
			WHERE s.name = ?1),
		said AS (SELECT k.run_name FROM v CROSS JOIN run_claims k ON k.version = v.id WHERE NOT coalesce(k.stated ->> '$.Named', 0)
			UNION SELECT t.run_name FROM v CROSS JOIN transcripts t ON t.version = v.id WHERE ?4 OR NOT `+schema.IsSecondHand("v.id")+`)
		SELECT DISTINCT r.run_id FROM said CROSS JOIN run_names n ON n.id = said.run_name CROSS JOIN runs r ON r.id = n.run WHERE ?4 OR r.counted = 1
		ORDER BY coalesce(r.started, -1 << 62) DESC, r.run_id DESC`, []any{of.Source, of.Path, of.Number, secondHand},
		func(rows *sqlx.Rows) (id string, err error) { return id, rows.Scan(&id) })
}

func scanVersion(rows *sqlx.Rows) (v index.FileVersion, err error) {
	var root, sum []byte
	var mtime int64
	err = rows.Scan(&v.Source, &v.Path, &v.Number, &root, &v.Size, &sum, &mtime, &v.Mode, engine.Text(&v.Format), engine.Text(&v.Role),
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

// placesOf selects the extents of a chain that contain the bytes from ?2 to ?3, each with the members of its pack that
// contain them.
const placesOf = `SELECT x.offset, x.size, x.raw, p.name, m.raw, m.raw_size, m.offset, m.size
	FROM extents x CROSS JOIN packs p ON p.id = x.pack CROSS JOIN members m ON m.pack = x.pack
		AND m.raw >= (SELECT coalesce(max(raw), 0) FROM members WHERE pack = x.pack AND raw <= x.raw + max(?2 - x.offset, 0))
		AND m.raw < x.raw + min(?3 - x.offset, x.size)
	WHERE x.chain = ?1 AND x.offset >= (SELECT coalesce(max(offset), 0) FROM extents WHERE chain = ?1 AND offset <= ?2) AND x.offset < ?3
	ORDER BY x.offset, m.raw`

// place is an extent with one of the members that contain it.
type place struct {
	offset, size, raw int64
	pack              string
	blob.Member
}

func scanPlace(rows *sqlx.Rows) (p place, err error) {
	return p, rows.Scan(&p.offset, &p.size, &p.raw, &p.pack, &p.Raw, &p.RawSize, &p.Offset, &p.Size)
}

// Locate returns where bytes of a chain are stored. For a length of 0 it returns nothing.
func (db *Reader) Locate(ctx context.Context, chain, offset, length int64) ([]index.Piece, error) {
	if length == 0 {
		return nil, nil
	}
	var pieces []index.Piece
	err := db.withLocator(ctx, func(l *locator) (err error) {
		pieces, err = l.locate(ctx, chain, offset, offset+length)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("locate bytes %d to %d: %w", offset, offset+length, engine.Damage(err))
	}
	return pieces, nil
}

// maxLocated bounds for how many chains the last located extents are cached, and with how many members each.
const maxLocated = 64

// LocateAll returns where the bytes of several places are stored.
func (db *Reader) LocateAll(ctx context.Context, places []index.Place) ([][]index.Piece, error) {
	all := make([][]index.Piece, len(places))
	err := db.withLocator(ctx, func(l *locator) error {
		for i, at := range places {
			if at.Inner != "" || at.Length <= 0 {
				continue
			}
			pieces, err := l.locate(ctx, at.Chain, at.Offset, at.Offset+at.Length)
			if err != nil && !errors.Is(err, index.ErrNotFound) {
				return err
			}
			all[i] = pieces
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("locate the bytes of %d events: %w", len(places), engine.Damage(err))
	}
	return all, nil
}

// locator locates bytes on one connection.
type locator struct {
	conn  *sqlx.Conn
	cache *cache
}

func (db *Reader) withLocator(ctx context.Context, do func(*locator) error) error {
	db.pageMu.Lock()
	defer db.pageMu.Unlock()
	conn, err := db.r.Connx(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	m, err := connCache(ctx, conn, conn)
	if err != nil {
		return err
	}
	return do(&locator{conn, m})
}

// locate tries the cached extents of the chain first: hits of a page are often neighbours.
func (l *locator) locate(ctx context.Context, chain, from, to int64) ([]index.Piece, error) {
	placed := l.cache.located
	if pieces, err := piecesOf(placed[chain], from, to); err == nil {
		return pieces, nil
	}
	var places []place
	if err := engine.Each(ctx, l.conn, placesOf, []any{chain, from, to}, scanPlace, func(p place) bool { places = append(places, p); return true }); err != nil {
		return nil, err
	}
	pieces, err := piecesOf(places, from, to)
	if err == nil && len(places) <= maxLocated {
		if len(placed) >= maxLocated {
			clear(placed)
		}
		placed[chain] = places
	}
	return pieces, err
}

// piecesOf returns the pieces with the bytes of a chain from from to to. places must be ascending; they may begin before
// the bytes and end after them.
func piecesOf(places []place, from, to int64) (pieces []index.Piece, err error) {
	for len(places) > 0 && from < to {
		x, n := places[0], 0
		for n < len(places) && places[n].offset == x.offset {
			n++
		}
		if len(pieces) == 0 && from >= x.offset+x.size {
			places = places[n:]
			continue
		}
		if from < x.offset || from >= x.offset+x.size {
			return nil, index.ErrNotFound
		}
		p := index.Piece{Pack: x.pack, Raw: x.raw + from - x.offset, Size: min(to, x.offset+x.size) - from}
		for _, m := range places[:n] {
			if m.Raw < p.Raw+p.Size && m.Raw+m.RawSize > p.Raw {
				p.Members = append(p.Members, m.Member)
			}
		}
		if last := len(p.Members) - 1; last < 0 || p.Members[0].Raw > p.Raw || p.Members[last].Raw+p.Members[last].RawSize < p.Raw+p.Size {
			return nil, fmt.Errorf("members of pack: %w", index.ErrDamaged)
		}
		pieces, from, places = append(pieces, p), from+p.Size, places[n:]
	}
	if from != to {
		return nil, index.ErrNotFound
	}
	return pieces, nil
}
