package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
)

var _ index.Retention = (*DB)(nil)

// estate puts an Estate together. Every table is read once, in one transaction.
type estate struct {
	tx       *sqlx.Tx
	out      *index.Estate
	runs     map[int64]int // row of runs -> place in out
	names    map[int64]int // row of run_names -> place in out
	versions map[int64]int
	named    map[int][]int // versions -> runs that they only name
}

// Estate gives all runs that count and all versions.
func (db *DB) Estate(ctx context.Context, costs bool) (*index.Estate, error) {
	tx, err := db.r.BeginTxx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", engine.Damage(err))
	}
	defer tx.Rollback()
	e := &estate{tx: tx, out: &index.Estate{}, named: map[int][]int{}}
	if err := e.grow(ctx); err != nil {
		return nil, fmt.Errorf("read runs: %w", engine.Damage(err))
	}
	steps := []func(context.Context) error{e.readRuns, e.readNames, e.readVersions, e.readStored, e.readClaims, e.readTranscripts,
		e.readOthers, e.readParents, e.readThinned}
	if costs {
		steps = append(steps, e.readCosts)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("read runs: %w", engine.Damage(err))
		}
	}
	for v, runs := range e.named {
		if len(e.out.Versions[v].Holders) == 0 {
			e.out.Versions[v].Holders = runs
		}
	}
	for i := range e.out.Versions {
		slices.Sort(e.out.Versions[i].Holders)
	}
	return e.out, nil
}

// grow makes room for all that will be read.
func (e *estate) grow(ctx context.Context) error {
	var runs, names, versions, extents int
	if err := e.tx.QueryRowxContext(ctx, `SELECT coalesce((SELECT max(id) FROM runs), 0), coalesce((SELECT max(id) FROM run_names), 0),
		coalesce((SELECT max(id) FROM versions), 0), coalesce((SELECT max(id) FROM chains), 0)`).Scan(&runs, &names, &versions, &extents); err != nil {
		return err
	}
	const most = 1 << 20 // ids have gaps where rows went
	room := func(n int) int { return min(n, most) }
	e.out.Runs, e.runs = make([]index.EstateRun, 0, room(runs)), make(map[int64]int, room(runs))
	e.out.Versions, e.versions = make([]index.EstateVersion, 0, room(versions)), make(map[int64]int, room(versions))
	e.out.Extents, e.names = make([]index.EstateExtent, 0, room(extents)), make(map[int64]int, room(names))
	return nil
}

// walk calls row for every row of a query.
func (e *estate) walk(ctx context.Context, query string, row func(*sqlx.Rows) error, args ...any) error {
	rows, err := e.tx.QueryxContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// formats are few: their names are looked up here.
func (e *estate) nameTable(ctx context.Context) (map[int64]string, error) {
	all := map[int64]string{}
	return all, e.walk(ctx, "SELECT id, name FROM names WHERE id IN (SELECT DISTINCT format FROM runs)", func(r *sqlx.Rows) error {
		var id int64
		var name string
		err := r.Scan(&id, &name)
		all[id] = name
		return err
	})
}

func (e *estate) readRuns(ctx context.Context) error {
	formats, err := e.nameTable(ctx)
	if err != nil {
		return err
	}
	var id, format int64
	return e.walk(ctx, `SELECT id, run_id, native_id, format, "group", project, flow, agent, status, outcome, model, title, coalesce(started, 0), coalesce(ended, 0), stub FROM runs
		WHERE counted = 1 ORDER BY run_id`, func(r *sqlx.Rows) error {
		e.out.Runs = append(e.out.Runs, index.EstateRun{})
		x := &e.out.Runs[len(e.out.Runs)-1]
		if err := r.Scan(&id, &x.ID, &x.Native, &format, engine.Text(&x.Group), engine.Text(&x.Project), engine.Text(&x.Flow), engine.Text(&x.Agent), engine.Text(&x.Status), engine.Text(&x.Outcome),
			engine.Text(&x.Model), engine.Text(&x.Title), &x.Started, &x.Ended, &x.Stub); err != nil {
			return err
		}
		x.Format = formats[format]
		x.Active = max(x.Started, x.Ended)
		e.runs[id] = len(e.out.Runs) - 1
		return nil
	})
}

func valueOf(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

func (e *estate) readNames(ctx context.Context) error {
	return e.walk(ctx, "SELECT id, run FROM run_names WHERE run IS NOT NULL", func(r *sqlx.Rows) error {
		var id, run int64
		err := r.Scan(&id, &run)
		if at, ok := e.runs[run]; ok {
			e.names[id] = at
		}
		return err
	})
}

// readVersions reads tables in the order in which they lie, and sorts what it got.
func (e *estate) readVersions(ctx context.Context) error {
	sources := map[int64]string{}
	if err := e.walk(ctx, "SELECT id, name FROM sources", func(r *sqlx.Rows) error {
		var id int64
		var name string
		err := r.Scan(&id, &name)
		sources[id] = name
		return err
	}); err != nil {
		return err
	}
	var source int64
	var sum sql.RawBytes
	if err := e.walk(ctx, `SELECT v.id, f.source, f.path, v.chain, v.number, v.sha256, v.size, v.grave IS NOT NULL
		FROM versions v CROSS JOIN files f ON f.id = v.file`, func(r *sqlx.Rows) error {
		e.out.Versions = append(e.out.Versions, index.EstateVersion{})
		v := &e.out.Versions[len(e.out.Versions)-1]
		if err := r.Scan(&v.ID, &source, &v.Path, &v.Chain, &v.Number, &sum, &v.Size, &v.Buried); err != nil {
			return err
		}
		copy(v.SHA256[:], sum)
		v.Source = sources[source]
		return nil
	}); err != nil {
		return err
	}
	slices.SortFunc(e.out.Versions, func(a, b index.EstateVersion) int {
		return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.Path, b.Path), cmp.Compare(a.Number, b.Number))
	})
	for i := range e.out.Versions {
		e.versions[e.out.Versions[i].ID] = i
	}
	return nil
}

// readStored shares packs out by raw size: exact enough to compare runs; what a plan frees is counted by members.
func (e *estate) readStored(ctx context.Context) error {
	ratio := map[int64]float64{}
	if err := e.walk(ctx, "SELECT m.pack, sum(m.size), sum(m.raw_size) FROM members m GROUP BY m.pack", func(r *sqlx.Rows) error {
		var pack, size, raw int64
		err := r.Scan(&pack, &size, &raw)
		ratio[pack] = float64(size) / float64(max(raw, 1))
		return err
	}); err != nil {
		return err
	}
	stored := make(map[int64]float64, len(e.out.Versions))
	if err := e.walk(ctx, "SELECT chain, pack, raw, size FROM extents", func(r *sqlx.Rows) error {
		var x index.EstateExtent
		err := r.Scan(&x.Chain, &x.Pack, &x.Raw, &x.Size)
		e.out.Extents = append(e.out.Extents, x)
		stored[x.Chain] += float64(x.Size) * ratio[x.Pack]
		return err
	}); err != nil {
		return err
	}
	for i := range e.out.Versions {
		v := &e.out.Versions[i]
		v.Stored = int64(stored[v.Chain] + 0.5)
	}
	return nil
}

func (e *estate) hold(version, name int64) {
	run, ok := e.names[name]
	at, there := e.versions[version]
	if v := &e.out.Versions; ok && there && !slices.Contains((*v)[at].Holders, run) {
		(*v)[at].Holders = append((*v)[at].Holders, run)
	}
}

func (e *estate) readClaims(ctx context.Context) error {
	return e.walk(ctx, "SELECT version, run_name, named FROM run_claims", func(r *sqlx.Rows) error {
		var version, name int64
		var named bool
		if err := r.Scan(&version, &name, &named); err != nil {
			return err
		}
		if !named {
			e.hold(version, name)
			return nil
		}
		if run, ok := e.names[name]; ok {
			at := e.versions[version]
			e.named[at] = append(e.named[at], run)
		}
		return nil
	})
}

func (e *estate) readTranscripts(ctx context.Context) error {
	return e.walk(ctx, "SELECT version, run_name, last_time, CASE indexed WHEN 1 THEN rows ELSE 0 END, calls FROM transcripts", func(r *sqlx.Rows) error {
		var version, name, n, calls int64
		var last *int64
		if err := r.Scan(&version, &name, &last, &n, &calls); err != nil {
			return err
		}
		e.hold(version, name)
		if run, ok := e.names[name]; ok {
			x := &e.out.Runs[run]
			x.Active = max(x.Active, valueOf(last))
			x.Transcripts, x.Rows, x.Calls = x.Transcripts+1, x.Rows+n, x.Calls+calls
		}
		return nil
	})
}

// readOthers looks for usage, receipts and steps in versions whose other statements may not name the run that these
// are of.
func (e *estate) readOthers(ctx context.Context) error {
	var open []int64
	for i := range e.out.Versions {
		if _, named := e.named[i]; named || len(e.out.Versions[i].Holders) == 0 {
			open = append(open, e.out.Versions[i].ID)
		}
	}
	if len(open) == 0 {
		return nil
	}
	ids, err := json.Marshal(open)
	if err != nil {
		return err
	}
	return e.walk(ctx, `SELECT u.version, u.run_name FROM json_each(?1) j CROSS JOIN usage u ON u.version = j.value
		UNION SELECT u.version, u.run_name FROM json_each(?1) j CROSS JOIN receipts u ON u.version = j.value
		UNION SELECT u.version, u.run_name FROM json_each(?1) j CROSS JOIN steps u ON u.version = j.value
		UNION SELECT u.version, u.run_name FROM json_each(?1) j CROSS JOIN graves u ON u.version = j.value`, func(r *sqlx.Rows) error {
		var version, name int64
		err := r.Scan(&version, &name)
		e.hold(version, name)
		return err
	}, string(ids))
}

// readParents takes the parent that is first by id where several are stated.
func (e *estate) readParents(ctx context.Context) error {
	return e.walk(ctx, `SELECT p.run, n.run FROM links l CROSS JOIN run_names p ON p.format = l.format AND p.native_id = l.from_id AND p.scope = l.from_scope
		CROSS JOIN run_names n ON n.format = l.format AND n.native_id = l.to_id AND n.scope = l.to_scope
		WHERE l.kind = 'parent' AND l.from_type IN ('run', 'conversation') AND l.to_type IN ('run', 'conversation') AND p.run <> n.run`, func(r *sqlx.Rows) error {
		var parent, child int64
		if err := r.Scan(&parent, &child); err != nil {
			return err
		}
		p, ok := e.runs[parent]
		c, there := e.runs[child]
		if !ok || !there {
			return nil
		}
		if x, id := &e.out.Runs[c], e.out.Runs[p].ID; x.Parent == "" || id < x.Parent {
			x.Parent = id
		}
		return nil
	})
}

// tiers in the order in which they lose more.
var tiers = []string{"", "search", "payloads", "ledger"}

// readThinned finds the tier that every version of a run has reached; versions that are buried matter where there is
// no other.
func (e *estate) readThinned(ctx context.Context) error {
	type key struct{ version, run int }
	reached := map[key]string{}
	if err := e.walk(ctx, "SELECT version, run_name, tier FROM graves WHERE action = 'thin'", func(r *sqlx.Rows) error {
		var version, name int64
		var tier string
		err := r.Scan(&version, &name, &tier)
		if run, ok := e.names[name]; ok {
			reached[key{e.versions[version], run}] = tier
		}
		return err
	}); err != nil || len(reached) == 0 {
		return err
	}
	least, buried := map[int]int{}, map[int]bool{}
	for i := range e.out.Versions {
		v := &e.out.Versions[i]
		for _, run := range v.Holders {
			tier := slices.Index(tiers, reached[key{i, run}])
			if v.Buried {
				buried[run] = buried[run] || tier > 0
				continue
			}
			if have, ok := least[run]; !ok || tier < have {
				least[run] = tier
			}
		}
	}
	for run := range e.out.Runs {
		if tier, alive := least[run]; alive {
			e.out.Runs[run].Thinned = tiers[tier]
		} else if buried[run] {
			e.out.Runs[run].Thinned = tiers[len(tiers)-1]
		}
	}
	return nil
}

// readCosts sums costs as v_runs does, in nano-USD.
func (e *estate) readCosts(ctx context.Context) error {
	return e.walk(ctx, `SELECT n.run, sum(coalesce(u.reported, CASE WHEN NOT EXISTS (SELECT 1 FROM run_names a CROSS JOIN usage k INDEXED BY usage_cost_only ON k.run_name = a.id WHERE a.run = n.run
		AND coalesce(k.native_conversation, a.native_id) = coalesce(u.native_conversation, n.native_id) AND k.verdict = 0 AND k.reported IS NOT NULL AND k.input IS NULL AND k.output IS NULL
		AND k.cache_read IS NULL AND k.cache_write IS NULL AND k.cache_write_1h IS NULL) THEN u.calculated END))
		FROM usage u JOIN run_names n ON n.id = u.run_name WHERE u.verdict = 0 GROUP BY 1`, func(r *sqlx.Rows) error {
		var run int64
		var cost *int64
		err := r.Scan(&run, &cost)
		if at, ok := e.runs[run]; ok && cost != nil {
			e.out.Runs[at].Cost.N, e.out.Runs[at].Cost.Known = *cost, true
		}
		return err
	})
}
