package commit

import (
	"database/sql"
	"slices"
	"strings"
	"sync"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/resolve"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// namedRun returns the row of a name.
func (c *commit) namedRun(formatName, native, scope string) (id int64, fresh bool, err error) {
	format, err := c.NameID(formatName)
	if err != nil {
		return 0, false, err
	}
	key := resolve.RunName{Format: format, Native: native, Scope: scope}
	id, looked := c.knownNames[key]
	if !looked && write.AddKey(c.seen.Names, key) {
		if _, err := c.Get("SELECT id FROM run_names WHERE format = ? AND native_id = ? AND scope = ?", []any{format, native, scope}, &id); err != nil {
			return 0, false, err
		}
	}
	fresh = id == 0
	if fresh {
		if id, err = c.NextID("run_names"); err != nil {
			return 0, false, err
		}
		if err := c.Buffer.Names.Add(id, format, native, scope, nil); err != nil {
			return 0, false, err
		}
	}
	c.knownNames[key] = id
	c.changes.NameRun(id, key)
	return id, fresh, nil
}

// runName returns the row of the name by which this version calls a run, and marks the run as touched.
func (c *commit) runName(o *owner, native string) (id int64, err error) {
	if id, ok := o.names[native]; ok {
		return id, nil
	}
	scope := ""
	if o.localRuns()[native] {
		scope = c.sites.Scope(o.Source, o.Claim)
	}
	id, fresh, err := c.namedRun(o.Format, native, scope)
	if err != nil {
		return 0, err
	}
	if fresh {
		o.first[id] = true
	}
	c.changes.StateRun(id, fresh, o.isNew)
	o.names[native] = id
	return id, nil
}

// localRuns returns the native ids of the runs that the version says are its directory's own.
func (o *owner) localRuns() map[string]bool {
	if o.local == nil {
		o.local = map[string]bool{}
		for _, r := range o.Runs {
			if r.Local {
				o.local[r.ID] = true
			}
		}
	}
	return o.local
}

// lookUpNames looks up the names that originals call runs by, as far as the originals state all that identifies one.
func (c *commit) lookUpNames(originals []*index.Parsed) error {
	var missing []resolve.RunName
	for _, p := range originals {
		format, err := c.NameID(p.Format)
		if err != nil {
			return err
		}
		for _, r := range p.Runs {
			key := resolve.RunName{Format: format, Native: r.ID}
			if r.Local {
				key.Scope = c.sites.Scope(p.Source, p.Claim)
			}
			if _, known := c.knownNames[key]; !known {
				c.knownNames[key] = 0
				if write.AddKey(c.seen.Names, key) {
					missing = append(missing, key)
				}
			}
		}
	}
	args := make([]any, 3*write.Lot)
	for lot := range slices.Chunk(missing, write.Lot) {
		clear(args)
		for i, key := range lot {
			args[3*i], args[3*i+1], args[3*i+2] = key.Format, key.Native, key.Scope
		}
		if err := c.EachDirect(lookUpNames(), func(r *sql.Rows) error {
			var key resolve.RunName
			var id int64
			err := r.Scan(&id, &key.Format, &key.Native, &key.Scope)
			c.knownNames[key] = id
			return err
		}, args...); err != nil {
			return err
		}
	}
	return nil
}

var lookUpNames = sync.OnceValue(func() string {
	return "WITH k (format, native, scope) AS (VALUES (?, ?, ?)" + strings.Repeat(", (?, ?, ?)", write.Lot-1) + `)
	SELECT n.id, n.format, n.native_id, n.scope FROM k CROSS JOIN run_names n ON n.format = k.format AND n.native_id = k.native AND n.scope = k.scope`
})
