package sqlite

import (
	"cmp"
	"database/sql"
	"maps"
	"reflect"
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// identify finds the run that every touched name means, makes runs that are new, and returns all that are
// concerned: those that names mean now, and those that they meant before.
func (c *commit) identify() ([]int64, error) {
	if err := c.fill("touched", sorted(c.touched)); err != nil {
		return nil, err
	}
	anchors, anchored, err := c.anchors()
	if err != nil {
		return nil, err
	}
	type name struct {
		id, format    int64
		native, scope string
		run           sql.NullInt64
	}
	var all []name
	if err := c.each(`SELECT n.id, n.format, n.native_id, n.scope, n.run FROM temp.touched t CROSS JOIN run_names n ON n.id = t.id`,
		func(r *sql.Rows) error {
			var n name
			err := r.Scan(&n.id, &n.format, &n.native, &n.scope, &n.run)
			all = append(all, n)
			return err
		}); err != nil {
		return nil, err
	}
	runs := map[int64]bool{}
	for _, n := range all {
		anchor := ""
		if n.scope != "" {
			if anchor = anchors[n.id]; anchor == "" {
				anchor = "in " + n.scope // until an original tells when the run began
			}
		}
		run, err := c.runRow(n.format, n.native, anchor, anchored[n.id])
		if err != nil {
			return nil, err
		}
		runs[run] = true
		if n.run.Valid && n.run.Int64 != run {
			runs[n.run.Int64] = true
		}
		if n.run.Int64 != run {
			if _, err := c.exec("UPDATE run_names SET run = ? WHERE id = ?", run, n.id); err != nil {
				return nil, err
			}
		}
	}
	return sorted(runs), nil
}

// anchors returns the smallest anchor that any original states for the touched names of local ids, and which of
// these names may change while the run stays the same.
func (c *commit) anchors() (smallest map[int64]string, anchored map[int64]bool, err error) {
	smallest, anchored = map[int64]string{}, map[int64]bool{}
	err = c.each(`SELECT n.id, k.stated ->> 'Anchor', coalesce(k.stated ->> 'Anchored', 0) FROM temp.touched t CROSS JOIN run_names n ON n.id = t.id
		CROSS JOIN run_claims k ON k.run_name = n.id WHERE n.scope <> '' AND k.stated ->> 'Anchor' <> ''`, func(r *sql.Rows) error {
		var id int64
		var anchor string
		var alone bool
		if err := r.Scan(&id, &anchor, &alone); err != nil {
			return err
		}
		if have, ok := smallest[id]; !ok || anchor < have {
			smallest[id] = anchor
		}
		anchored[id] = anchored[id] || alone
		return nil
	})
	return smallest, anchored, err
}

// runRow returns the row of a run. One that is known by its anchor alone has no native id in its key; finishRuns
// gives it the name that it goes by.
func (c *commit) runRow(format int64, native, anchor string, anchored bool) (id int64, err error) {
	key := native
	if anchored {
		key = ""
	}
	formatName, ok := c.formats[format]
	if !ok {
		if _, err := c.get("SELECT name FROM names WHERE id = ?", []any{format}, &formatName); err != nil {
			return 0, err
		}
		c.formats[format] = formatName
	}
	public := index.PublicID("r", "run", formatName, key, anchor)
	ok, err = c.get("SELECT id FROM runs WHERE run_id = ?", []any{public}, &id)
	if err != nil || ok {
		return id, err
	}
	if id, err = c.id("runs"); err != nil {
		return 0, err
	}
	_, err = c.exec("INSERT INTO runs (id, run_id, format, key, anchor, native_id, counted) VALUES (?, ?, ?, ?, ?, ?, 0)",
		id, public, format, key, anchor, native)
	return id, err
}

// claim is what one version says of a run.
type claim struct {
	run, name, file, number int64
	*transcript.Run
	stated string
}

// loadClaims returns the valid claims on the touched runs: a version that was replaced by one that speaks of
// the same run is silent.
func (c *commit) loadClaims() (map[int64][]claim, error) {
	all := map[int64][]claim{}
	newest := map[[2]int64]int64{} // run name and file -> highest version number
	err := c.each(`SELECT n.run, n.id, n.native_id, v.file, v.number, k.rank, k.stated FROM temp.touched_runs t CROSS JOIN run_names n ON n.run = t.id
		CROSS JOIN run_claims k ON k.run_name = n.id CROSS JOIN versions v ON v.id = k.version`, func(r *sql.Rows) error {
		var k claim
		var native string
		var rank int
		err := r.Scan(&k.run, &k.name, &native, &k.file, &k.number, &rank, &k.stated)
		if err == nil {
			k.Run, err = readRun([]byte(k.stated), native, rank)
		}
		if err != nil {
			return err
		}
		all[k.run] = append(all[k.run], k)
		key := [2]int64{k.name, k.file}
		newest[key] = max(newest[key], k.number)
		return nil
	})
	for run, claims := range all {
		all[run] = slices.DeleteFunc(claims, func(k claim) bool { return k.number < newest[[2]int64{k.name, k.file}] })
	}
	return all, err
}

// mergeRuns writes what the originals together say of each touched run.
func (c *commit) mergeRuns() (map[int64]*transcript.Run, error) {
	claims, err := c.loadClaims()
	if err != nil {
		return nil, err
	}
	all := map[int64]*transcript.Run{}
	for id, k := range claims {
		run := mergeClaims(k)
		all[id] = run
		attributes, err := jsonOrNil(run.Attributes)
		if err != nil {
			return nil, err
		}
		counted := slices.ContainsFunc(k, func(k claim) bool { return !k.Named })
		if _, err := c.exec(`UPDATE runs SET counted = ?, "group" = ?, project = ?, branch = ?, flow = ?, title = ?, agent = ?, model = ?,
			host = ?, version = ?, status = ?, outcome = ?, error = ?, started = ?, ended = ?, stub = ?, child = ?, attributes = ? WHERE id = ?`,
			flag(counted), null(run.Group), null(run.Project), null(run.Branch), null(run.Flow), null(run.Title), null(run.Agent), null(run.Model),
			null(run.Host), null(run.Version), null(run.Status), null(string(run.Outcome)), null(run.Error), nullTime(run.Started), nullTime(run.Ended),
			flag(run.Stub), flag(run.Child), attributes, id); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// mergeClaims joins statements field by field: the highest rank that states a field wins; among equals the
// earliest start, the latest end, and of other values the larger, so that no order of files matters.
func mergeClaims(claims []claim) *transcript.Run {
	slices.SortFunc(claims, func(a, b claim) int { return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(b.stated, a.stated)) })
	merged := &transcript.Run{}
	to := reflect.ValueOf(merged).Elem()
	rank := make([]int, to.NumField())
	for i := range claims {
		from := reflect.ValueOf(claims[i].Run).Elem()
		for f := range to.NumField() {
			v := from.Field(f)
			switch {
			case v.IsZero():
			case to.Field(f).IsZero():
				to.Field(f).Set(v)
				rank[f] = claims[i].Rank
			case v.Type() == reflect.TypeFor[transcript.Attributes]():
				joined := maps.Clone(v.Interface().(transcript.Attributes))
				maps.Copy(joined, to.Field(f).Interface().(transcript.Attributes))
				to.Field(f).Set(reflect.ValueOf(joined))
			case rank[f] == claims[i].Rank:
				preferEqual(merged, claims[i].Run, to.Type().Field(f).Name)
			}
		}
	}
	return merged
}

func preferEqual(to, from *transcript.Run, field string) {
	switch field {
	case "Started":
		if from.Started.UnixMicro < to.Started.UnixMicro {
			to.Started = from.Started
		}
	case "Ended":
		if from.Ended.UnixMicro > to.Ended.UnixMicro {
			to.Ended = from.Ended
		}
	default:
		t, f := reflect.ValueOf(to).Elem().FieldByName(field), reflect.ValueOf(from).Elem().FieldByName(field)
		if t.Kind() == reflect.String && f.String() > t.String() {
			t.Set(f)
		}
	}
}

// forgetNames removes the names of runs that no original says any more.
const forgetNames = `DELETE FROM run_names WHERE run IN temp.touched_runs
	AND NOT EXISTS (SELECT 1 FROM run_claims x WHERE x.run_name = run_names.id)
	AND NOT EXISTS (SELECT 1 FROM transcripts x WHERE x.run_name = run_names.id)
	AND NOT EXISTS (SELECT 1 FROM usage x WHERE x.run_name = run_names.id)
	AND NOT EXISTS (SELECT 1 FROM receipts x WHERE x.run_name = run_names.id)
	AND NOT EXISTS (SELECT 1 FROM steps x WHERE x.run_name = run_names.id)
	AND NOT EXISTS (SELECT 1 FROM hints x WHERE x.run_name = run_names.id)
	AND NOT EXISTS (SELECT 1 FROM graves x WHERE x.run_name = run_names.id)
	AND id NOT IN (SELECT run_name FROM problems WHERE run_name IS NOT NULL)`

// finishRuns fills in what only the events tell, and removes runs that nothing means any more.
func (c *commit) finishRuns() error {
	if c.unsaid {
		if _, err := c.exec(forgetNames); err != nil {
			return err
		}
	}
	for _, query := range []string{
		// Of several names of one run, the one whose originals hold most.
		`UPDATE runs SET native_id = coalesce((SELECT n.native_id FROM run_names n LEFT JOIN transcripts t ON t.run_name = n.id
			WHERE n.run = runs.id GROUP BY n.id ORDER BY
			EXISTS (SELECT 1 FROM run_claims k WHERE k.run_name = n.id AND k.stated ->> 'Named' IS NULL) DESC, sum(t.last_seq) DESC, n.native_id DESC LIMIT 1), native_id)
			WHERE id IN temp.touched_runs AND key = ''`,
		`UPDATE runs SET started = coalesce(started, (SELECT min(t.first_time) FROM transcripts t JOIN run_names n ON n.id = t.run_name WHERE n.run = runs.id)),
			ended = coalesce(ended, (SELECT max(t.last_time) FROM transcripts t JOIN run_names n ON n.id = t.run_name WHERE n.run = runs.id))
			WHERE id IN temp.touched_runs AND (started IS NULL OR ended IS NULL)`,
		`DELETE FROM conversations WHERE run IN temp.touched_runs AND NOT EXISTS (SELECT 1 FROM transcripts t WHERE t.conversation = conversations.id)`,
		`DELETE FROM runs WHERE id IN temp.touched_runs AND NOT EXISTS (SELECT 1 FROM run_names n WHERE n.run = runs.id)`,
		// Of what was pruned only the ledger speaks, and it only names the run.
		`UPDATE runs SET pruned = counted = 0 AND EXISTS (SELECT 1 FROM run_names n JOIN graves g ON g.run_name = n.id WHERE n.run = runs.id AND g.action = 'prune')
			WHERE id IN temp.touched_runs`,
	} {
		if _, err := c.exec(query); err != nil {
			return err
		}
	}
	return nil
}
