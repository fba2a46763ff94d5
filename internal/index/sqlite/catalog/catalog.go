// Package catalog looks up which originals an index has (index.Catalog), what must be parsed again (index.StateReader), and what the
// manifests of packs state (index.FactReader, and index.PackLister but for Replaced).
package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

var (
	_ index.Catalog     = (*Reader)(nil)
	_ index.StateReader = (*Reader)(nil)
	_ index.FactReader  = (*Reader)(nil)
)

// Reader answers over connections that read. It is safe for use by several goroutines.
type Reader struct{ pool *sqlx.DB }

// New returns a reader over a pool of connections, which stays the caller's.
func New(pool *sqlx.DB) *Reader { return &Reader{pool} }

// AtFile is the condition that a version v has rows at the time of its file, because no event before them states a time. Those
// rows change when the file's time does, or when it grows by a line that states one: then all of it is parsed again.
const AtFile = `EXISTS (SELECT 1 FROM transcripts t WHERE t.version = v.id
	AND (SELECT e.near FROM events e WHERE e.transcript = t.id ORDER BY e.seq, e.part LIMIT 1) = v.mtime / 1000)`

const (
	selectColumns = `SELECT v.id, s.name, f.path, v.number, c.root, v.size, v.sha256, v.mtime, v.mode, coalesce(n.name, ''), coalesce(o.name, ''),
	v.root_dir, v.parser, CASE WHEN ` + AtFile + ` THEN 0 ELSE v.parsed END, EXISTS (SELECT 1 FROM transcripts t WHERE t.version = v.id AND t.indexed = 2), v.grave IS NOT NULL, c.apart, v.chain
	`
	selectNames = `
	LEFT JOIN names n ON n.id = v.format LEFT JOIN names o ON o.id = v.role `
	selectState = selectColumns + `FROM versions v JOIN files f ON f.id = v.file JOIN sources s ON s.id = f.source JOIN chains c ON c.id = v.chain` + selectNames
)

// scanner is a row or a cursor.
type scanner interface{ Scan(...any) error }

func scanState(r scanner) (s index.State, chain int64, err error) {
	var id, mtime int64
	var root, sha []byte
	err = r.Scan(&id, &s.Source, &s.Path, &s.Number, &root, &s.Size, &sha, &mtime, &s.Mode, &s.Format, &s.Role, &s.Claim, &s.Parser, &s.Parsed, &s.Reparse, &s.Tombstoned, &s.Apart, &chain)
	copy(s.Root[:], root)
	copy(s.SHA256[:], sha)
	s.ModTime = time.Unix(0, mtime).UTC()
	return s, chain, err
}

// Sources returns the names of all sources that the index has heard of.
func (c *Reader) Sources(ctx context.Context) (names []string, err error) {
	err = c.pool.SelectContext(ctx, &names, "SELECT name FROM sources ORDER BY name")
	return names, engine.Damage(err)
}

// Newest returns the newest version of a file.
func (c *Reader) Newest(ctx context.Context, source, path string) (index.State, error) {
	row := c.pool.DB.QueryRowContext(ctx, selectState+`WHERE s.name = ? AND f.path = ? ORDER BY v.number DESC LIMIT 1`, source, path)
	s, chain, err := scanState(row)
	if errors.Is(err, sql.ErrNoRows) {
		return s, index.ErrNotFound
	}
	if err != nil {
		return s, fmt.Errorf("look up %s/%s: %w", source, path, err)
	}
	s.Extents, err = extents(ctx, c.pool.DB, chain, s.Size)
	return s, err
}

// extents returns where the first size bytes of a chain are, with copies resolved.
func extents(ctx context.Context, q querier, chain, size int64) ([]blob.Extent, error) {
	rows, err := q.QueryContext(ctx, `SELECT e.offset, e.size, e.sha256, p.name, e.raw FROM extents e JOIN packs p ON p.id = e.pack
		WHERE e.chain = ? AND e.offset < max(?, 1) ORDER BY e.offset`, chain, size)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []blob.Extent
	for rows.Next() {
		var e blob.Extent
		var sha []byte
		e.CopyOf = &blob.Copy{}
		if err := rows.Scan(&e.Offset, &e.Size, &sha, &e.CopyOf.Pack, &e.CopyOf.Raw); err != nil {
			return nil, err
		}
		copy(e.SHA256[:], sha)
		all = append(all, e)
	}
	return all, rows.Err()
}

// HasSize reports whether any version has this size.
func (c *Reader) HasSize(ctx context.Context, size int64) (bool, error) {
	var n int
	err := c.pool.DB.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM originals WHERE size = ?)", size).Scan(&n)
	return n == 1, err
}

// A chain has the hash of its longest version, so the index of versions by hash leads to it: the first that will do, for very
// many versions may have the content.
const selectByRef = `SELECT c.id, c.root, c.size FROM versions v CROSS JOIN chains c ON c.id = v.chain WHERE v.sha256 = ?1 AND c.sha256 = ?1 AND NOT c.apart
	AND EXISTS (SELECT 1 FROM originals o WHERE o.chain = c.id) AND c.size <= (SELECT coalesce(sum(x.size), 0) FROM extents x WHERE x.chain = c.id)
	ORDER BY v.id LIMIT 1`

// ByRef returns where content is that some version has as a whole, and of which no bytes are lost.
func (c *Reader) ByRef(ctx context.Context, ref blob.Ref) (index.Stored, error) {
	var chain int64
	var root []byte
	s := index.Stored{}
	err := c.pool.DB.QueryRowContext(ctx, selectByRef, ref[:]).Scan(&chain, &root, &s.Size)
	if errors.Is(err, sql.ErrNoRows) {
		return s, index.ErrNotFound
	}
	if err != nil {
		return s, err
	}
	copy(s.Root[:], root)
	s.Extents, err = extents(ctx, c.pool.DB, chain, s.Size)
	return s, err
}

// RivalsKey is the key under which local_state keeps that two originals of one name and number were met, of which the index has one. It stays
// until a reindex.
const RivalsKey = "rivals"

// Apart reports whether copies of the archive have archived the growth of any file apart, or other contents under one name and number: then
// only the packs have all states and versions.
func (c *Reader) Apart(ctx context.Context) (yes bool, err error) {
	err = c.pool.DB.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM local_state WHERE key = ?) OR EXISTS (SELECT 1 FROM chains WHERE apart)", RivalsKey).Scan(&yes)
	return yes, engine.Damage(err)
}

// States yields every version of every file with its extents, by source, path and number.
func (c *Reader) States(ctx context.Context) iter.Seq2[index.State, error] {
	return c.StatesIn(ctx, blob.Span{})
}

// stateOrder is selectState in the order of one source's files, which the index of names has: only the versions of a file are
// sorted.
const stateOrder = selectColumns + `FROM sources s CROSS JOIN files f ON f.source = s.id CROSS JOIN versions v ON v.file = f.id CROSS JOIN chains c ON c.id = v.chain` +
	selectNames + "WHERE s.name = ? AND v.grave IS NULL"

// StatesIn is States for the files of a span.
func (c *Reader) StatesIn(ctx context.Context, in blob.Span) iter.Seq2[index.State, error] {
	return func(yield func(index.State, error) bool) {
		sources, err := c.Sources(ctx)
		if err != nil {
			yield(index.State{}, err)
			return
		}
		for _, source := range sources {
			query, args := stateOrder, []any{source}
			switch {
			case in.After != nil && source < in.After.Source || in.Until != nil && source > in.Until.Source:
				continue
			case in.After != nil && source == in.After.Source:
				query, args = query+" AND f.path > ?", append(args, in.After.Path)
			}
			if in.Until != nil && source == in.Until.Source {
				query, args = query+" AND f.path <= ?", append(args, in.Until.Path)
			}
			for s, err := range c.states(ctx, query+" ORDER BY f.path, v.number", args...) {
				if !yield(s, err) || err != nil {
					return
				}
			}
		}
	}
}

// ToReparse yields the versions whose rows must be made again from their packs: they count now and their rows had been left to
// a copy, or they were stored and not parsed, or parsed by another version of the parser than parsers says.
func (c *Reader) ToReparse(ctx context.Context, parsers map[string]int) iter.Seq2[index.State, error] {
	current, err := json.Marshal(parsers)
	if err != nil {
		return func(yield func(index.State, error) bool) { yield(index.State{}, err) }
	}
	return c.states(ctx, selectState+"WHERE v.id IN ("+selectWanted+") ORDER BY s.name, f.path, v.number", string(current))
}

const (
	selectWanted = "SELECT version FROM transcripts WHERE indexed = 2" + wantedOther + "< p.value" + wantedOther + "> p.value"
	wantedOther  = ` UNION SELECT w.id FROM json_each(?1) p CROSS JOIN names x ON x.name = p.key
		CROSS JOIN versions w ON w.format = x.id AND w.format IS NOT NULL AND w.grave IS NULL AND w.parser `
)

// Unparsed yields those of ToReparse for which there is a parser.
func (c *Reader) Unparsed(ctx context.Context, parsers map[string]int) iter.Seq2[index.Placed, error] {
	current, err := json.Marshal(parsers)
	if err != nil {
		return func(yield func(index.Placed, error) bool) { yield(index.Placed{}, err) }
	}
	return c.placed(ctx, "WHERE v.id IN ("+selectWanted+") AND v.format IN (SELECT x.id FROM json_each(?1) p CROSS JOIN names x ON x.name = p.key)", string(current))
}

// AllVersions yields every version, unless it was pruned.
func (c *Reader) AllVersions(ctx context.Context) iter.Seq2[index.Placed, error] {
	return c.placed(ctx, "WHERE v.grave IS NULL")
}

func (c *Reader) placed(ctx context.Context, where string, args ...any) iter.Seq2[index.Placed, error] {
	return engine.Stream(ctx, c.pool, `SELECT v.id, coalesce(e.pack, 0), coalesce(e.raw, 0) FROM versions v
		LEFT JOIN extents e ON e.chain = v.chain AND e.offset = 0 `+where, args,
		func(rows *sqlx.Rows) (p index.Placed, err error) { return p, rows.Scan(&p.Version, &p.Pack, &p.Raw) })
}

// StatesOf yields the states of some versions, in their order.
func (c *Reader) StatesOf(ctx context.Context, versions []index.Placed) iter.Seq2[index.State, error] {
	ids := make([]int64, len(versions))
	for i, p := range versions {
		ids[i] = p.Version
	}
	list, _ := json.Marshal(ids) // numbers always can be
	return c.states(ctx, selectState+"JOIN json_each(?) j ON v.id = j.value ORDER BY j.key", string(list))
}

func (c *Reader) states(ctx context.Context, query string, args ...any) iter.Seq2[index.State, error] {
	return func(yield func(index.State, error) bool) {
		// One connection for both: a commit to an index without a log waits for readers, and keeps others from beginning to
		// read.
		conn, err := c.pool.DB.Conn(ctx)
		if err != nil {
			yield(index.State{}, engine.Damage(err))
			return
		}
		defer conn.Close()
		rows, err := conn.QueryContext(ctx, query, args...)
		if err != nil {
			yield(index.State{}, engine.Damage(err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			s, chain, err := scanState(rows)
			if err == nil {
				s.Extents, err = extents(ctx, conn, chain, s.Size)
			}
			if !yield(s, engine.Damage(err)) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(index.State{}, engine.Damage(err))
		}
	}
}

// Packs yields the names of the packs that are indexed.
func (c *Reader) Packs(ctx context.Context) iter.Seq2[string, error] {
	return engine.Stream(ctx, c.pool, "SELECT name FROM packs ORDER BY name", nil, func(rows *sqlx.Rows) (name string, err error) {
		if err = rows.Scan(&name); err == nil && !blob.ValidName(name) {
			err = fmt.Errorf("%w: it names a pack that cannot be", index.ErrDamaged)
		}
		return name, err
	})
}

// Facts yields the newest fact of every key of a kind, without those that were retracted.
func (c *Reader) Facts(ctx context.Context, kind string) iter.Seq2[blob.Fact, error] {
	return engine.Stream(ctx, c.pool, `SELECT kind, key, time, value FROM facts WHERE (?1 = '' OR kind = ?1) AND value IS NOT NULL
		ORDER BY kind, key`, []any{kind}, func(rows *sqlx.Rows) (f blob.Fact, err error) {
		var micro int64
		var value string
		err = rows.Scan(&f.Kind, &f.Key, &micro, &value)
		f.Time, f.Value = time.UnixMicro(micro).UTC(), json.RawMessage(value)
		return f, err
	})
}

// factLot is how many facts one statement looks up.
const factLot = 64

var lookUpFactTimes = sync.OnceValue(func() string {
	return "WITH k (kind, key) AS (VALUES (?, ?)" + strings.Repeat(", (?, ?)", factLot-1) + `)
	SELECT f.kind, f.key, f.time FROM k CROSS JOIN facts f ON f.kind = k.kind AND f.key = k.key WHERE f.time >= ?`
})

// EnsureNewer makes new facts newer than those that they replace.
func (c *Reader) EnsureNewer(ctx context.Context, facts []blob.Fact) error {
	type told struct{ kind, key string }
	for lot := range slices.Chunk(facts, factLot) {
		args, oldest := make([]any, 2*factLot, 2*factLot+1), lot[0].Time
		for i, f := range lot {
			args[2*i], args[2*i+1] = f.Kind, f.Key
			if f.Time.Before(oldest) {
				oldest = f.Time
			}
		}
		last := map[told]int64{}
		for t, err := range engine.Stream(ctx, c.pool, lookUpFactTimes(), append(args, oldest.UnixMicro()), func(rows *sqlx.Rows) (t told, err error) {
			var micro int64
			err = rows.Scan(&t.kind, &t.key, &micro)
			last[t] = micro
			return t, err
		}) {
			if err != nil {
				return fmt.Errorf("time of fact %s: %w", t.kind, err)
			}
		}
		for i := range lot {
			if micro, ok := last[told{lot[i].Kind, lot[i].Key}]; ok && lot[i].Time.UnixMicro() <= micro {
				lot[i].Time = time.UnixMicro(micro + 1).UTC()
			}
		}
	}
	return nil
}

// Stats returns the scan cache of a source.
func (c *Reader) Stats(ctx context.Context, source string) (*index.StatCache, error) {
	n := 0
	if err := c.pool.DB.QueryRowContext(ctx, "SELECT count(*) FROM local_scan WHERE source = ?", source).Scan(&n); err != nil {
		return nil, err
	}
	rows, err := c.pool.DB.QueryContext(ctx, "SELECT path, size, mtime, inode, ignored FROM local_scan WHERE source = ?", source)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := index.NewStatCache(n)
	for rows.Next() {
		var path, inode int64
		var s index.Stat
		if err := rows.Scan(&path, &s.Size, &s.ModTime, &inode, &s.Ignored); err != nil {
			return nil, err
		}
		s.Inode = uint64(inode)
		all.Add(uint64(path), s)
	}
	all.Sort()
	return all, rows.Err()
}

// querier is a pool, or one connection.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// FactsIn yields the facts of which a pack has the newest statement, retractions included.
func (c *Reader) FactsIn(ctx context.Context, pack string) iter.Seq2[blob.Fact, error] {
	return engine.Stream(ctx, c.pool, "SELECT kind, key, time, value FROM facts WHERE pack = ? ORDER BY kind, key", []any{pack},
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
