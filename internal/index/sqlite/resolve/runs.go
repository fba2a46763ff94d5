package resolve

import (
	"cmp"
	"database/sql"
	"maps"
	"reflect"
	"slices"

	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/transcript"
)

// claim is what one version says of a run.
type claim struct {
	name, file, number int64
	*transcript.Run
	stated string
}

// loadClaims returns the valid claims on the touched runs. A version has none if a newer version of the file has claims on the
// same run.
func (c *Changes) loadClaims() (map[int64][]claim, error) {
	all := map[int64][]claim{}
	for run := range c.cachedRuns {
		for _, name := range c.namesOf[run] {
			all[run] = append(all[run], c.claimCache[name].claims...)
		}
	}
	if c.unread > 0 {
		if err := c.readClaims(all); err != nil {
			return nil, err
		}
	}
	if c.deleted {
		if err := c.addUnclaimed(all); err != nil {
			return nil, err
		}
	}
	newest := map[[2]int64]int64{} // run name and file -> highest version number
	for _, claims := range all {
		for _, k := range claims {
			key := [2]int64{k.name, k.file}
			newest[key] = max(newest[key], k.number)
		}
	}
	for run, claims := range all {
		all[run] = slices.DeleteFunc(claims, func(k claim) bool { return k.number < newest[[2]int64{k.name, k.file}] })
	}
	return all, nil
}

// addUnclaimed adds the touched runs on which nothing has claims any more: what was said of them does not hold.
func (c *Changes) addUnclaimed(all map[int64][]claim) error {
	return c.Each("SELECT id FROM temp.touched_runs", func(r *sql.Rows) error {
		var run int64
		err := r.Scan(&run)
		if _, claimed := all[run]; !claimed {
			all[run] = nil
		}
		return err
	})
}

func (c *Changes) readClaims(all map[int64][]claim) error {
	return c.Each(`SELECT n.run, n.id, n.native_id, v.file, v.number, k.rank, k.stated FROM temp.unread_runs t CROSS JOIN run_names n ON n.run = t.id
		CROSS JOIN run_claims k ON k.run_name = n.id CROSS JOIN versions v ON v.id = k.version`, func(r *sql.Rows) error {
		var k claim
		var run int64
		var native string
		var rank int
		err := r.Scan(&run, &k.name, &native, &k.file, &k.number, &rank, &k.stated)
		if err == nil {
			k.Run, err = schema.UnmarshalRun([]byte(k.stated), native, rank)
		}
		if err != nil {
			return err
		}
		all[run] = append(all[run], k)
		return nil
	})
}

// mergeRuns merges and writes what the originals state of each touched run.
func (c *Changes) mergeRuns() (map[int64]*transcript.Run, error) {
	claims, err := c.loadClaims()
	if err != nil {
		return nil, err
	}
	all := map[int64]*transcript.Run{}
	for id, k := range claims {
		run := mergeClaims(k)
		all[id] = run
		attributes, err := write.Attributes(run.Attributes)
		if err != nil {
			return nil, err
		}
		counted := slices.ContainsFunc(k, func(k claim) bool { return !k.Named })
		said := []any{write.Flag(counted), write.Null(run.Group), write.Null(run.Project), write.Null(run.Branch), write.Null(run.Flow), write.Null(run.Title), write.Null(run.Agent), write.Null(run.Model),
			write.Null(run.Host), write.Null(run.Version), write.Null(run.Status), write.Null(string(run.Outcome)), write.Null(run.Error), write.NullTime(run.Started), write.NullTime(run.Ended),
			write.Flag(run.Stub), write.Flag(run.Child), attributes}
		if row := c.Buffer.Runs.Row(id); row != nil {
			brief, err := c.abridge(id, k, run)
			if err != nil {
				return nil, err
			}
			copy(row[write.RunStatedFrom:], said)
			row[write.RunBrief] = write.Flag(brief)
			continue
		}
		if err := c.Exec(`UPDATE runs SET counted = ?, "group" = ?, project = ?, branch = ?, flow = ?, title = ?, agent = ?, model = ?,
			host = ?, version = ?, status = ?, outcome = ?, error = ?, started = ?, ended = ?, stub = ?, child = ?, attributes = ? WHERE id = ?`, append(said, id)...); err != nil {
			return nil, err
		}
	}
	return all, c.Buffer.Runs.Flush()
}

// mergeClaims merges claims field by field: the highest rank that states a field wins; among equal ranks the earliest start,
// the latest end, and of other values the larger, so that the order of files does not matter.
func mergeClaims(claims []claim) *transcript.Run {
	slices.SortFunc(claims, func(a, b claim) int { return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(b.stated, a.stated)) })
	merged := &transcript.Run{}
	if len(claims) == 1 { // most runs are one original
		*merged = *claims[0].Run
		return merged
	}
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
	merged.Stub = merged.Stub && !merged.Asked
	merged.Error = errorOf(claims, merged.Outcome)
	return merged
}

// errorOf returns the error of a run that ended in a given way. An error that was stated with another end is past, as in a copy
// from before the run was resumed.
func errorOf(claims []claim, outcome transcript.Outcome) (text string) {
	rank := 0
	for _, k := range claims { // by rank
		if text != "" && k.Rank < rank {
			break
		}
		if k.Error > text && (k.Outcome == "" || k.Outcome == outcome) {
			text, rank = k.Error, k.Rank
		}
	}
	return text
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

// forgetNames deletes the names of runs that no original uses any more.
const forgetNames = `DELETE FROM run_names WHERE run IN temp.touched_runs
	AND NOT EXISTS (SELECT 1 FROM run_claims x WHERE x.run_name = run_names.id)
	AND NOT EXISTS (SELECT 1 FROM transcripts x WHERE x.run_name = run_names.id)
	AND NOT EXISTS (SELECT 1 FROM usage x WHERE x.run_name = run_names.id)
	AND NOT EXISTS (SELECT 1 FROM receipts x WHERE x.run_name = run_names.id)
	AND NOT EXISTS (SELECT 1 FROM steps x WHERE x.run_name = run_names.id)
	AND NOT EXISTS (SELECT 1 FROM hints x WHERE x.run_name = run_names.id)
	AND NOT EXISTS (SELECT 1 FROM graves x WHERE x.run_name = run_names.id)
	AND id NOT IN (SELECT run_name FROM problems WHERE run_name IS NOT NULL)`

// hasGrave is the condition that at least a part of a run r was pruned.
const hasGrave = `EXISTS (SELECT 1 FROM run_names n CROSS JOIN graves g ON g.run_name = n.id WHERE n.run = r.id AND g.action = 'prune')`

// finishRuns fills in what only events tell, and deletes runs that nothing means any more. Its statements do not undo
// themselves when they fail, since the transaction is undone: else SQLite would keep each page that it changes in memory as it
// was.
func (c *Changes) finishRuns() error {
	if c.deleted {
		if err := c.Exec(forgetNames); err != nil {
			return err
		}
	}
	queries := []string{
		giveProject,
		// Of several names of one run, the one whose originals hold most.
		`UPDATE OR FAIL runs SET native_id = coalesce((SELECT n.native_id FROM run_names n LEFT JOIN transcripts t ON t.run_name = n.id
			WHERE n.run = runs.id GROUP BY n.id ORDER BY
			EXISTS (SELECT 1 FROM run_claims k WHERE k.run_name = n.id AND k.stated ->> 'Named' IS NULL) DESC, sum(t.last_seq) DESC, n.native_id DESC LIMIT 1), native_id)
			WHERE id IN temp.touched_runs AND keyless = 1`,
		`UPDATE OR FAIL runs SET started = coalesce(started, (SELECT min(t.first_time) FROM transcripts t JOIN run_names n ON n.id = t.run_name WHERE n.run = runs.id)),
			ended = coalesce(ended, (SELECT max(t.last_time) FROM transcripts t JOIN run_names n ON n.id = t.run_name WHERE n.run = runs.id))
			WHERE id IN temp.touched_runs AND (started IS NULL OR ended IS NULL)`,
	}
	if c.unread > 0 { // of those in the claim cache each has its name, and each of its conversations a transcript
		queries = append(queries,
			`DELETE FROM conversations WHERE run IN temp.unread_runs AND NOT EXISTS (SELECT 1 FROM transcripts t WHERE t.conversation = conversations.id)`,
			`DELETE FROM runs WHERE id IN temp.unread_runs AND NOT EXISTS (SELECT 1 FROM run_names n WHERE n.run = runs.id)`,
			// Only the ledger speaks of what was pruned, and it only names the run.
			`UPDATE OR FAIL runs AS r SET pruned = counted = 0 AND `+hasGrave+` WHERE id IN temp.unread_runs`)
	}
	for _, query := range queries {
		if err := c.Exec(query); err != nil {
			return err
		}
	}
	return nil
}

// A run that is only named, and has the name of a group, carries the project of the group: runs of the group of which no
// original states a project have its.

func describesGroup(r *transcript.Run) bool { return r.Named && r.Group != "" && r.Group == r.ID }

// members adds the runs of groups of which something else is known now.
func (c *Changes) members(all map[int64]bool) error {
	if err := c.EachBeside(`SELECT n.id FROM temp.touched_runs t CROSS JOIN runs g ON g.id = t.id AND g."group" = g.native_id AND g.counted = 0
		CROSS JOIN run_names n ON n.run = g.id`, write.IntoSet(c.groups)); err != nil {
		return err
	}
	for _, name := range write.Sorted(c.groups) {
		if err := c.Each(`SELECT r.id FROM run_names n CROSS JOIN runs r ON r."group" = n.native_id AND r.format = n.format WHERE n.id = ?`, write.IntoSet(all), name); err != nil {
			return err
		}
	}
	return nil
}

// giveProject sets the projects of touched runs, once everything stated of groups is written.
const giveProject = `UPDATE OR FAIL runs SET project = (SELECT g.project FROM run_names n CROSS JOIN runs g ON g.id = n.run AND g."group" = g.native_id AND g.counted = 0
	WHERE n.format = runs.format AND n.native_id = runs."group" AND n.scope = '') WHERE id IN temp.touched_runs AND project IS NULL AND "group" <> native_id`
