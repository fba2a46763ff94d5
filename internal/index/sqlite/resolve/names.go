package resolve

import (
	"cmp"
	"database/sql"
	"slices"
	"strings"
	"sync"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// touchedName is the name of a touched run, with the run that it meant before, and the key and anchor of the one that it means
// now. A run that its anchor alone identifies has no native id in its key; finishRuns gives it the name that it is shown by.
type touchedName struct {
	id int64
	RunName
	run         sql.NullInt64
	key, anchor string
}

// IdentifyNew finds the runs of names that are still buffered, where those mean the same run everywhere.
func (c *Changes) IdentifyNew() error {
	var fresh []touchedName
	for _, id := range write.Sorted(c.touched) {
		if n := c.runNames[id]; n.Scope == "" && c.Buffer.Names.Row(id) != nil {
			fresh = append(fresh, touchedName{id: id, RunName: n, key: n.Native})
		}
	}
	return c.eachRun(fresh, func(n *touchedName, run int64) error {
		c.identified[n.id], c.Buffer.Names.Row(n.id)[write.NameRun] = run, run
		return nil
	})
}

// identify finds the run of every touched name, adds runs that are new, and returns all runs concerned: those that names mean
// now, and those that they meant before.
func (c *Changes) identify() ([]int64, error) {
	runs := map[int64]bool{}
	var rest []int64
	for _, id := range write.Sorted(c.touched) {
		if run, known := c.identified[id]; known {
			runs[run] = true
			c.namesOf[run] = append(c.namesOf[run], id)
		} else {
			rest = append(rest, id)
		}
	}
	all, err := c.touchedNames(rest)
	if err != nil {
		return nil, err
	}
	err = c.eachRun(all, func(n *touchedName, run int64) error {
		runs[run] = true
		c.namesOf[run] = append(c.namesOf[run], n.id)
		if n.run.Int64 == run {
			return nil
		}
		if n.run.Valid {
			runs[n.run.Int64] = true
		}
		return c.ExecDirect("UPDATE run_names SET run = ? WHERE id = ?", run, n.id)
	})
	return write.Sorted(runs), err
}

// touchedNames reads names that are written, with the anchors that their originals state.
func (c *Changes) touchedNames(ids []int64) (all []touchedName, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	if err := c.FillTemp("touched", ids); err != nil {
		return nil, err
	}
	anchors, anchored, err := c.anchors()
	if err != nil {
		return nil, err
	}
	err = c.Each(`SELECT n.id, n.format, n.native_id, n.scope, n.run FROM temp.touched t CROSS JOIN run_names n ON n.id = t.id`,
		func(r *sql.Rows) error {
			var n touchedName
			err := r.Scan(&n.id, &n.Format, &n.Native, &n.Scope, &n.run)
			if n.Scope != "" {
				n.anchor = cmp.Or(anchors[n.id], "in "+n.Scope) // until an original tells when the run began
			}
			if !anchored[n.id] {
				n.key = n.Native
			}
			all = append(all, n)
			return err
		})
	return all, err
}

// anchors returns the smallest anchor that any original states for the touched names of local ids, and which of these names may
// change while the run remains the same. Where an original says that the run has the name now, those that only mention an
// anchor do not count: it may have been another run's before.
func (c *Changes) anchors() (smallest map[int64]string, anchored map[int64]bool, err error) {
	smallest, anchored = map[int64]string{}, map[int64]bool{}
	only := map[int64]bool{} // anchors so far are only mentioned
	err = c.Each(`SELECT n.id, k.stated ->> 'Anchor', coalesce(k.stated ->> 'Anchored', 0), coalesce(k.stated ->> 'Named', 0) FROM temp.touched t CROSS JOIN run_names n ON n.id = t.id
		CROSS JOIN run_claims k ON k.run_name = n.id WHERE n.scope <> '' AND k.stated ->> 'Anchor' <> ''`, func(r *sql.Rows) error {
		var id int64
		var anchor string
		var alone, named bool
		if err := r.Scan(&id, &anchor, &alone, &named); err != nil {
			return err
		}
		have, ok := smallest[id]
		if named && ok && !only[id] {
			return nil
		}
		if !ok || only[id] && !named || anchor < have {
			smallest[id] = anchor
		}
		only[id] = named
		anchored[id] = anchored[id] || alone
		return nil
	})
	return smallest, anchored, err
}

// eachRun finds the runs of names, and adds those that are missing to Buffer.Runs, where they wait until what is stated of them is
// known (mergeRuns).
func (c *Changes) eachRun(names []touchedName, found func(n *touchedName, run int64) error) error {
	for lot := range slices.Chunk(names, write.Lot) {
		var public [write.Lot]string
		args, asked := make([]any, write.Lot), 0
		for i := range lot {
			format, err := c.formatName(lot[i].Format)
			if err != nil {
				return err
			}
			number := index.IDNumber("run", format, lot[i].key, lot[i].anchor)
			public[i] = index.FormatID("r", number)
			if c.knownRuns.Add(number) {
				args[asked] = public[i]
				asked++
			}
		}
		if err := c.lookUpRuns(args, asked); err != nil {
			return err
		}
		for i := range lot {
			n := &lot[i]
			if _, known := c.runs[public[i]]; !known {
				id, err := c.NextID("runs")
				if err != nil {
					return err
				}
				c.runs[public[i]], c.addedRuns[id] = id, n
				if err := c.Buffer.Runs.Add(id, public[i], n.Format, write.Flag(n.key == ""), n.anchor, n.Native, int64(0)); err != nil {
					return err
				}
			}
			if err := found(n, c.runs[public[i]]); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookUpRuns looks up runs by their public ids.
func (c *Changes) lookUpRuns(public []any, asked int) error {
	if asked == 0 {
		return nil
	}
	return c.EachDirect(runsByID(), func(r *sql.Rows) error {
		var id int64
		var public string
		err := r.Scan(&id, &public)
		c.runs[public] = id
		return err
	}, public...)
}

var runsByID = sync.OnceValue(func() string {
	return "SELECT id, run_id FROM runs WHERE run_id IN (?" + strings.Repeat(", ?", write.Lot-1) + ")"
})

func (c *Changes) formatName(id int64) (name string, err error) {
	name, ok := c.formats[id]
	if !ok {
		_, err = c.GetDirect("SELECT name FROM names WHERE id = ?", []any{id}, &name)
		c.formats[id] = name
	}
	return name, err
}
