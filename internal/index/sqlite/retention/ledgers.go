package retention

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/ask"
	"github.com/txarchive/txarchive/internal/index/sqlite/engine"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Ledgers returns what is to stay when runs are pruned or thinned in versions, with what an earlier ledger kept of other runs.
func (r *Reader) Ledgers(ctx context.Context, orders []index.LedgerOrder) ([]index.Ledger, error) {
	tx, err := r.pool.BeginTxx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("write ledgers: %w", engine.Damage(err))
	}
	defer tx.Rollback()
	sites, err := ask.Sites(ctx, tx)
	if err != nil {
		return nil, fmt.Errorf("write ledgers: %w", engine.Damage(err))
	}
	all := make([]index.Ledger, 0, len(orders))
	for _, o := range orders {
		l, err := (&ledgers{snapshot: snapshot{ctx, tx}, sites: sites, order: o}).one()
		if err != nil {
			return nil, fmt.Errorf("write ledger of version %d: %w", o.Version, engine.Damage(err))
		}
		all = append(all, *l)
	}
	return all, nil
}

// ledgers writes one ledger.
type ledgers struct {
	snapshot
	sites  index.Sites
	order  index.LedgerOrder
	scope  string // of the version
	parsed int64
}

func (d *ledgers) one() (*index.Ledger, error) {
	l := &index.Ledger{Tombstoned: d.order.Tombstone}
	v := &l.Version
	var root, sum []byte
	var mtime int64
	err := d.tx.QueryRowxContext(d.ctx, `SELECT s.name, f.path, v.number, c.root, v.size, v.sha256, v.mtime, v.mode, coalesce(n.name, ''), coalesce(o.name, ''),
		v.root_dir, v.parsed, (SELECT max(w.number) FROM versions w WHERE w.file = v.file) FROM versions v JOIN files f ON f.id = v.file JOIN sources s ON s.id = f.source JOIN chains c ON c.id = v.chain
		LEFT JOIN names n ON n.id = v.format LEFT JOIN names o ON o.id = v.role WHERE v.id = ?`, d.order.Version).
		Scan(&v.Source, &v.Path, &v.Number, &root, &v.Size, &sum, &mtime, &v.Mode, &v.Format, &v.Role, &v.Claim, &d.parsed, &l.Newest)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, index.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	v.Root, v.SHA256, v.ModTime = blob.Ref(root), blob.Ref(sum), time.Unix(0, mtime).UTC()
	d.scope = d.sites.Scope(v.Source, v.Claim)
	names, err := d.names()
	if err != nil {
		return nil, err
	}
	for i := range names {
		if err := d.fill(&names[i]); err != nil {
			return nil, err
		}
		l.Runs = append(l.Runs, names[i].LedgerRun)
	}
	if l.Tombstoned && !d.order.Superseded() {
		l.Links, err = d.links()
	}
	return l, err
}

// ledgerName is a name of a run in the version.
type ledgerName struct {
	index.LedgerRun
	name int64
	run  int64 // row of the run
}

// namesOf selects the runs of which a version states anything that a prune ends.
const namesOf = `SELECT DISTINCT n.id, n.native_id, n.scope, CASE WHEN n.format IS (SELECT format FROM versions WHERE id = ?1) THEN '' ELSE (SELECT name FROM names WHERE id = n.format) END,
	r.run_id, r.id, coalesce(g.until, 0), coalesce(g.action, ''), coalesce(g.tier, ''),
	coalesce(g.over, 0), coalesce(g.plan, ''), coalesce(g.rule, ''), coalesce(g.reason, '')
	FROM (SELECT run_name FROM run_claims WHERE version = ?1 UNION SELECT run_name FROM transcripts WHERE version = ?1
		UNION SELECT run_name FROM usage WHERE version = ?1 UNION SELECT run_name FROM receipts WHERE version = ?1 UNION SELECT run_name FROM steps WHERE version = ?1
		UNION SELECT run_name FROM hints WHERE version = ?1 UNION SELECT run_name FROM graves WHERE version = ?1) x
	CROSS JOIN run_names n ON n.id = x.run_name CROSS JOIN runs r ON r.id = n.run LEFT JOIN graves g ON g.version = ?1 AND g.run_name = n.id
	ORDER BY n.native_id`

// names returns the runs that the order is about, those that a ledger has already, and, for a version that goes, all.
func (d *ledgers) names() ([]ledgerName, error) {
	ordered := map[string]*index.LedgerRun{}
	for i := range d.order.Runs {
		ordered[d.order.Runs[i].Run] = &d.order.Runs[i]
	}
	var all []ledgerName
	err := d.walk(namesOf, func(r *sqlx.Rows) error {
		var x ledgerName
		if err := r.Scan(&x.name, &x.NativeID, &x.Scope, &x.Format, &x.Run, &x.run, &x.Until, &x.Action, &x.Tier, &x.Over, &x.Plan, &x.Rule, &x.Reason); err != nil {
			return err
		}
		d.place(&x)
		o := ordered[x.Run]
		delete(ordered, x.Run)
		switch {
		case d.order.Undo[x.Run] || x.Tier == "named" && !d.order.Tombstone:
			return nil
		case o != nil && dropRank(x.Action, x.Tier) > dropRank(o.Action, o.Tier): // as thin already
		case o != nil:
			x.Action, x.Tier, x.Over, x.Plan, x.Rule, x.Reason = o.Action, o.Tier, o.Over, o.Plan, o.Rule, o.Reason
			if x.Until = 0; !d.order.Tombstone {
				x.Until = d.parsed
			}
		case x.Action == "" && (!d.order.Tombstone || d.order.Superseded()):
			return nil
		case x.Action == "": // only named: it goes on being named
			x.Action, x.Tier = index.LedgerThin, "named"
		}
		all = append(all, x)
		return nil
	}, d.order.Version)
	for _, id := range slices.Sorted(maps.Keys(ordered)) {
		x := ledgerName{LedgerRun: *ordered[id]}
		if err == nil {
			err = d.bystander(&x, &all)
		}
	}
	return all, err
}

// dropRank ranks ledgers by how much of a run they drop.
func dropRank(action, tier string) int {
	if action == index.LedgerPrune {
		return 5
	}
	return slices.Index([]string{"named", "search", "payloads", "versions", "ledger"}, tier) // of one version, "versions" is all
}

// place makes a name local to the version, as ledgers write it, where its scope is that of the version.
func (d *ledgers) place(x *ledgerName) {
	if x.Local = x.Scope != "" && x.Scope == d.scope; x.Local {
		x.Scope = ""
	}
}

// bystander adds a run of which the version states nothing. It goes because everything around it goes with the run.
func (d *ledgers) bystander(x *ledgerName, to *[]ledgerName) error {
	return d.walk(`SELECT n.id, n.native_id, n.scope, f.name FROM runs r CROSS JOIN run_names n ON n.run = r.id JOIN names f ON f.id = n.format
		WHERE r.run_id = ? ORDER BY n.scope NOT IN ('', ?), n.native_id, n.scope LIMIT 1`, func(r *sqlx.Rows) error {
		err := r.Scan(&x.name, &x.NativeID, &x.Scope, &x.Format)
		d.place(x)
		*to = append(*to, *x)
		return err
	}, x.Run, d.scope)
}

// fill reads what stays of a run.
func (d *ledgers) fill(x *ledgerName) error {
	if !x.Drops() && x.Tier != "named" {
		return nil
	}
	if err := d.claim(x); err != nil {
		return err
	}
	if !d.order.Drop[x.Run] {
		if err := d.usage(x); err != nil {
			return err
		}
	}
	if !d.order.Tombstone {
		return nil
	}
	// Titles are words of the transcript, which no ledger keeps.
	return d.walk(`SELECT key, value FROM hints WHERE version = ? AND run_name = ? AND key <> 'title' AND key NOT LIKE 'title %'
		ORDER BY key, value`, func(r *sqlx.Rows) error {
		var h index.LedgerHint
		err := r.Scan(&h.Key, &h.Value)
		x.Hints = append(x.Hints, h)
		return err
	}, d.order.Version, x.name)
}

// claim keeps what identifies and groups runs, and no words.
func (d *ledgers) claim(x *ledgerName) error {
	return d.walk(`SELECT `+schema.StatedRun+`, n.native_id, k.rank FROM run_claims k JOIN run_names n ON n.id = k.run_name LEFT JOIN runs r ON r.id = n.run
		WHERE k.version = ? AND k.run_name = ?`, func(r *sqlx.Rows) error {
		var stated []byte
		var native string
		var rank int
		if err := r.Scan(&stated, &native, &rank); err != nil {
			return err
		}
		run, err := schema.UnmarshalRun(stated, native, rank)
		if err != nil {
			return err
		}
		run.Title, run.Error, run.Attributes = "", "", nil
		if x.Action == index.LedgerPrune {
			run.Named = true
		}
		if x.Claim = run; x.Tier == "named" {
			return nil // else it would state more than it did, and hold the run from then on
		}
		return d.complete(x)
	}, d.order.Version, x.name)
}

// complete merges into a claim what is known of the run from elsewhere: its conversations, its events, other originals.
func (d *ledgers) complete(x *ledgerName) error {
	all := &transcript.Run{}
	var outcome string
	var started, ended *int64
	err := d.tx.QueryRowxContext(d.ctx, `SELECT "group", coalesce(project,
		(SELECT c.project FROM conversations c WHERE c.run = runs.id AND c.project IS NOT NULL ORDER BY c.conversation_id LIMIT 1)), branch, flow, agent, model, host, version, status, outcome, started, ended FROM runs WHERE id = ?`, x.run).
		Scan(engine.Text(&all.Group), engine.Text(&all.Project), engine.Text(&all.Branch), engine.Text(&all.Flow), engine.Text(&all.Agent), engine.Text(&all.Model), engine.Text(&all.Host), engine.Text(&all.Version),
			engine.Text(&all.Status), engine.Text(&outcome), &started, &ended)
	if err != nil {
		return err
	}
	all.Outcome = transcript.Outcome(outcome)
	for _, t := range []struct {
		from *int64
		to   *transcript.Time
	}{{started, &all.Started}, {ended, &all.Ended}} {
		if t.from != nil {
			*t.to = transcript.Time{UnixMicro: *t.from, Valid: true}
		}
	}
	index.Overlay(all, x.Claim)
	x.Claim = all
	return nil
}

// usage keeps the usage that counts, but for that of a run that has come back behind what was taken away. What a record takes from its
// conversation becomes its own.
func (d *ledgers) usage(x *ledgerName) error {
	return d.walk(`SELECT u.usage_id, u.alias, `+schema.UsageConversation+`, u.rank, u.time, u.tz, x.model, x.provider, x.tier, x.speed, x.geo, u.request_id,
		u.input, u.output, u.cache_read, u.cache_write, u.cache_write_1h, u.reasoning, u.requests, u.reported, x.reported_by, u.estimated,
		coalesce(x.agent, c.agent), coalesce(x.engine, c.engine), coalesce(x.flow, c.flow), coalesce(x.step, c.step), coalesce(x.status, c.status), x.outcome, u.receipt,
		u.line, u.offset, u.length, i.name
		FROM usage u CROSS JOIN run_names n ON n.id = u.run_name `+schema.JoinUsageTexts+`LEFT JOIN names i ON i.id = u.inner
		LEFT JOIN conversations c ON c.id = (SELECT o.id FROM conversations o WHERE o.run = ?3 AND o.native_id = `+schema.UsageConversation+` AND o.verdict <> 6 ORDER BY o.verdict, o.conversation_id LIMIT 1)
		WHERE u.version = ?1 AND u.run_name = ?2 AND (u.ledger = 1 OR u.verdict = 0 AND (?4 = 0 OR u.inner IS NOT NULL OR u.offset < ?4)) ORDER BY u.offset, u.usage_id`,
		func(r *sqlx.Rows) error {
			u := index.LedgerUsage{}
			var alias, time, tz *int64
			if err := r.Scan(&u.ID, &alias, &u.Conversation, &u.Rank, &time, &tz, engine.Text(&u.Model), engine.Text(&u.Provider), engine.Text(&u.Tier), engine.Text(&u.Speed),
				engine.Text(&u.Geo), engine.Text(&u.RequestID), engine.Count(&u.Input), engine.Count(&u.Output), engine.Count(&u.CacheRead), engine.Count(&u.CacheWrite), engine.Count(&u.CacheWrite1h),
				engine.Count(&u.Reasoning), engine.Count(&u.Requests), engine.Count(&u.Cost), engine.Text(&u.CostSource), &u.Estimated, engine.Text(&u.Agent), engine.Text(&u.Engine), engine.Text(&u.Flow),
				engine.Text(&u.Step), engine.Text(&u.Status), engine.Text(&u.Outcome), engine.Text(&u.Receipt), &u.Origin.Line, &u.Origin.Offset, &u.Origin.Length, engine.Text(&u.Origin.Inner)); err != nil {
				return err
			}
			if time != nil {
				u.Time = transcript.Time{UnixMicro: *time, Offset: int16(valueOf(tz)), Valid: true}
			}
			if alias != nil {
				u.Alias = index.FormatID("u", *alias)
			}
			u.Run = x.NativeID
			x.Usage = append(x.Usage, u)
			return nil
		}, d.order.Version, x.name, x.run, x.Until)
}

// links returns the links that the version states, and those to runs that have copied events of it: once these events are gone,
// no copy shows where it came from.
func (d *ledgers) links() ([]index.LedgerLink, error) {
	var all []index.LedgerLink
	return all, d.walk(`SELECT l.edge, l.statement, l.event_native, l.derived, l.kind, l.from_type, l.from_scope = ?2, l.from_id, l.from_conversation,
		l.to_type, l.to_scope = ?2, l.to_id, l.to_conversation, l.uncounted <> 0, l.time, l.tz, l.line, l.offset, l.length, i.name
		FROM links l LEFT JOIN names i ON i.id = l.inner WHERE l.version = ?1
		UNION SELECT l.edge, l.statement, NULL, 1, l.kind, l.from_type, l.from_scope = ?2, l.from_id, '', l.to_type, l.to_scope = ?2, l.to_id, '', 0, NULL, NULL, 0, 0, 0, NULL
		FROM transcripts t CROSS JOIN run_names n ON n.id = t.run_name CROSS JOIN links l ON l.from_id = n.native_id AND l.from_scope = n.scope AND l.format = n.format
		WHERE t.version = ?1 AND l.derived = 1 AND l.version <> ?1 ORDER BY 18, 1, 2`, func(r *sqlx.Rows) error {
		l := index.LedgerLink{}
		var time, tz *int64
		var event any
		if err := r.Scan(&l.Edge, &l.Statement, &event, &l.Derived, &l.Kind, &l.From.Type, &l.FromLocal, &l.From.ID, &l.From.Conversation,
			&l.To.Type, &l.ToLocal, &l.To.ID, &l.To.Conversation, &l.Uncounted, &time, &tz, &l.Origin.Line, &l.Origin.Offset, &l.Origin.Length,
			engine.Text(&l.Origin.Inner)); err != nil {
			return err
		}
		l.Event = schema.NativeText(event)
		if time != nil {
			l.Time = transcript.Time{UnixMicro: *time, Offset: int16(valueOf(tz)), Valid: true}
		}
		all = append(all, l)
		return nil
	}, d.order.Version, d.scope)
}

// PrunedVersions yields what was pruned or thinned, by run and version: of one run, or of all ("").
func (r *Reader) PrunedVersions(ctx context.Context, run string) iter.Seq2[index.PrunedVersion, error] {
	return func(yield func(index.PrunedVersion, error) bool) {
		err := engine.Each(ctx, r.pool, `SELECT r.run_id, n.native_id, n.scope <> '', f.name, g.action, g.tier, g.over, g.until, g.plan, g.rule, g.reason, g.time, g.fact,
		v.id, s.name, x.path, v.number, c.root, v.sha256, v.size, coalesce(v.grave, ''),
		v.grave IS NOT NULL AND NOT EXISTS (SELECT 1 FROM facts d WHERE d.kind = 'tombstone' AND d.key = v.grave AND d.value IS NOT NULL), (SELECT coalesce(sum(e.size), -1) FROM extents e WHERE e.chain = v.chain), r.pruned, r.counted
		FROM runs r CROSS JOIN run_names n ON n.run = r.id CROSS JOIN graves g ON g.run_name = n.id CROSS JOIN names f ON f.id = r.format
		CROSS JOIN versions v ON v.id = g.version CROSS JOIN chains c ON c.id = v.chain CROSS JOIN files x ON x.id = v.file CROSS JOIN sources s ON s.id = x.source
		WHERE g.tier <> 'named' AND r.id IN (SELECT k.run FROM graves b JOIN run_names k ON k.id = b.run_name WHERE ?1 = '' UNION ALL SELECT id FROM runs WHERE run_id = ?1)
		ORDER BY r.id, s.name, x.path, v.number`, []any{run}, func(rows *sqlx.Rows) (g index.PrunedVersion, err error) {
			var root, sum []byte
			err = rows.Scan(&g.Run, &g.NativeID, &g.Local, &g.Format, &g.Action, &g.Tier, &g.Over, &g.Until, &g.Plan, &g.Rule, &g.Reason, &g.Time, &g.Fact,
				&g.Version, &g.Key.Source, &g.Key.Path, &g.Key.Number, &root, &sum, &g.Size, &g.Tombstone, &g.Ended, &g.Bytes, &g.RunPruned, &g.Alive)
			copy(g.Root[:], root)
			copy(g.SHA256[:], sum)
			return g, err
		}, func(g index.PrunedVersion) bool { return yield(g, nil) })
		if err != nil {
			yield(index.PrunedVersion{}, fmt.Errorf("read what was pruned: %w", engine.Damage(err)))
		}
	}
}

// valueOf is 0 for what is not stated.
func valueOf(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
