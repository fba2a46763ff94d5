// Package doctor examines an archive as a whole and says what to do about each finding: who may read it, whether index and packs belong
// together, whether sources are there, what could not be read and why. It changes nothing, and reads originals only to look for secrets.
package doctor

import (
	"context"
	"errors"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/index"
)

// The states of a check, from good to bad.
const (
	Fine    = "fine"
	Note    = "note"    // worth knowing; nothing to do, or it goes away by itself
	Problem = "problem" // something is to be done
	Damage  = "damage"  // something is lost, or the index is
)

// Check is the result of one check.
type Check struct {
	Name  string   `json:"check"`
	State string   `json:"state"`
	Says  string   `json:"says"`
	Hint  *string  `json:"hint"`  // what to do
	Count int64    `json:"count"` // of what was found
	Items []string `json:"items"` // the first of them
}

// maxItems is how many items a check names.
const maxItems = 100

// add records one thing that was found.
func (c *Check) add(item string) {
	if c.Count++; len(c.Items) < maxItems {
		c.Items = append(c.Items, item)
	}
}

// conclude sets the result if anything was found.
func (c *Check) conclude(state, says, hint string) {
	if c.Count == 0 {
		return
	}
	c.State, c.Says, c.Hint = state, says, nil
	if hint != "" {
		c.Hint = &hint
	}
}

// Doctor examines an archive. All fields must be set, except Progress.
type Doctor struct {
	Archive  *archive.Archive // opened to read its packs; its index may be missing
	Now      time.Time
	Parsers  map[string]int                                   // the version of each format's parser
	Shown    func(path string) string                         // how people write a path
	Explain  func(error) (damage bool, hint string)           // why the index cannot be used
	Sources  func(context.Context) ([]Source, error)          // that are followed
	Places   func(context.Context) ([]string, error)          // where programs keep their history, which no source has
	Orphans  func(context.Context) ([]string, error)          // runs with a pin or a hold that are not in the archive
	Unknown  func(context.Context) ([]string, error)          // packs that the index does not know
	Damaged  func(context.Context) (map[string]string, error) // packs that the last verify found damaged, and what is wrong
	Progress func(done, total int64)                          // of the search for secrets, in bytes; called by several goroutines, one at a time

	HintMissing, HintDamaged string // what to do about packs that are missing or damaged
}

// Source is a source that is followed.
type Source struct {
	Name, Root  string
	LastScanned time.Time // zero: never
}

// checks lists the checks in their order.
var checks = []struct {
	name, fine   string // fine is said when nothing is wrong
	withoutIndex bool   // the check has something to say without the index
	run          func(*Doctor, context.Context, *Check) error
}{
	{"disk", "on a local file system", true, (*Doctor).disk},
	{"modes", "only you can read the archive", true, (*Doctor).modes},
	{"index", "present and current", true, (*Doctor).index},
	{"leftovers", "no unfinished files", true, (*Doctor).leftovers},
	{"packs", "", true, (*Doctor).packs},
	{"sources", "", false, (*Doctor).sources},
	{"places", "nothing that programs keep here was overlooked", false, (*Doctor).places},
	{"pins", "all pins and holds are on runs in this archive", false, (*Doctor).pins},
	{"problems", "everything that was stored could be read", false, (*Doctor).problems},
	{"event types", "all known", false, (*Doctor).eventTypes},
	{"sequences", "no numbered event is missing", false, (*Doctor).gaps},
	{"secrets", "no known kinds of credentials in any original", true, (*Doctor).secrets},
}

// Examine runs all checks; the one for secrets, which reads every original, only if asked to.
func (d *Doctor) Examine(ctx context.Context, secrets bool) ([]*Check, error) {
	var results []*Check
	for _, check := range checks {
		if check.name == "secrets" && !secrets {
			continue
		}
		c := &Check{Name: check.name, State: Fine, Says: check.fine, Items: []string{}}
		results = append(results, c)
		if !check.withoutIndex && d.Archive.Index() == nil {
			c.State, c.Says = Note, "unknown without the index"
			continue
		}
		err := check.run(d, ctx, c)
		if errors.Is(err, index.ErrDamaged) { // other checks need other parts of it
			_, hint := d.Explain(err)
			c.add(err.Error())
			c.conclude(Damage, "unknown: the index is damaged", hint)
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	return results, nil
}

// Worst returns the worst state of some checks.
func Worst(results []*Check) string {
	rank := map[string]int{Fine: 0, Note: 1, Problem: 2, Damage: 3}
	worst := Fine
	for _, c := range results {
		if rank[c.State] > rank[worst] {
			worst = c.State
		}
	}
	return worst
}
