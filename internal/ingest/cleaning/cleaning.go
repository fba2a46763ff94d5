// Package cleaning predicts which files programs will delete, by their rules: see format.Cleaning.
package cleaning

import (
	"cmp"
	"hash/maphash"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Files are the files of a source, by number.
type Files struct {
	Count   int
	Unit    func(i int) (group, name string) // see format.Cleaning; the name is "" of a file that the rule does not concern
	Changed func(i int) int64                // modification time, in nanoseconds
}

// Due calls due with each file that a program will delete before until, and with the time when. dir is the source's root, in or above which the
// program's settings are.
func Due(c format.Cleaning, dir string, files Files, until time.Time, due func(i int, at time.Time)) {
	groups := files.group()
	if len(groups) > 0 {
		c.Days = Days(c, dir)
	}
	for len(groups) > 0 {
		n := 1
		for n < len(groups) && groups[n].hash == groups[0].hash {
			n++
		}
		files.dueInGroups(c, groups[:n], until, due)
		groups = groups[n:]
	}
}

// groupMember is the number of a file and the hash of its group's name. Names take much more memory, so they are computed for one group at
// a time.
type groupMember struct {
	hash uint64
	file int32
}

// group returns the files that are subject to a cleaning, sorted by group.
func (f Files) group() (all []groupMember) {
	seed := maphash.MakeSeed()
	for i := range f.Count {
		group, name := f.Unit(i)
		if name == "" {
			continue
		}
		if all == nil {
			all = make([]groupMember, 0, f.Count-i)
		}
		all = append(all, groupMember{maphash.String(seed, group), int32(i)})
	}
	slices.SortFunc(all, func(x, y groupMember) int { return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.file, y.file)) })
	return all
}

// unitFile is a file of a unit, with the names of the unit and of its group.
type unitFile struct {
	group, name string
	file        int
}

// dueInGroups applies dueUnits to the groups of one hash, of which there may be several.
func (f Files) dueInGroups(c format.Cleaning, in []groupMember, until time.Time, due func(i int, at time.Time)) {
	all := make([]unitFile, len(in))
	for i, x := range in {
		group, name := f.Unit(int(x.file))
		all[i] = unitFile{group, name, int(x.file)}
	}
	slices.SortFunc(all, func(x, y unitFile) int {
		return cmp.Or(strings.Compare(x.group, y.group), strings.Compare(x.name, y.name))
	})
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].group == all[0].group {
			n++
		}
		dueUnits(c, f.split(all[:n]), until, due)
		all = all[n:]
	}
}

// unit is the files that a program deletes together.
type unit struct {
	name    string
	changed int64 // latest modification time of its files, in nanoseconds
	files   []unitFile
}

// split splits the files of one group, sorted by unit, into units.
func (f Files) split(files []unitFile) (all []unit) {
	for len(files) > 0 {
		u, n := unit{name: files[0].name}, 0
		for n < len(files) && files[n].name == u.name {
			u.changed = max(u.changed, f.Changed(files[n].file))
			n++
		}
		u.files, files = files[:n], files[n:]
		all = append(all, u)
	}
	return all
}

// dueUnits calls due with the files of the units of a group that will be deleted before until. A unit beyond the Keep newest is deleted with
// the next action of its program, which may come at any time, so it counts as due from its last change on.
func dueUnits(c format.Cleaning, units []unit, until time.Time, due func(i int, at time.Time)) {
	slices.SortFunc(units, func(x, y unit) int { // the newest first
		if c.ByName {
			return strings.Compare(y.name, x.name)
		}
		return cmp.Or(cmp.Compare(y.changed, x.changed), strings.Compare(y.name, x.name))
	})
	for i := range units {
		u := &units[i]
		beyond := c.Keep > 0 && i >= c.Keep
		end := time.Unix(0, u.changed).AddDate(0, 0, c.Days)
		old := c.Days > 0 && end.Before(until)
		if c.Both && !(beyond && old) || !beyond && !old {
			continue
		}
		if beyond && !c.Both {
			end = time.Unix(0, u.changed)
		}
		for _, f := range u.files {
			due(f.file, end)
		}
	}
}

// Days returns after how many days a program deletes files: the user's setting if there is one, else the default. A settings file that cannot
// be read, or lacks the setting, is ignored.
func Days(c format.Cleaning, dir string) int {
	if c.Setting == nil {
		return c.Days
	}
	for range 3 {
		text, err := os.ReadFile(filepath.Join(dir, c.Setting.Name))
		if err == nil {
			settings, _ := jsontext.Parse(text) // absent for bad JSON
			if n, ok := parseDays(settings.Get(strings.Split(c.Setting.Key, ".")...)); ok {
				return n
			}
		}
		dir = filepath.Dir(dir)
	}
	return c.Days
}

// parseDays reads a number of days, or a string of a number with a unit: h, d, w or m.
func parseDays(v jsontext.Value) (int, bool) {
	n, ok := v.Int()
	if text := v.Str(); len(text) > 1 {
		hours := map[byte]int64{'h': 1, 'd': 24, 'w': 7 * 24, 'm': 30 * 24}[text[len(text)-1]]
		count, err := strconv.ParseInt(text[:len(text)-1], 10, 32)
		n, ok = count*hours/24, err == nil && hours > 0
	}
	return int(n), ok && n >= 0 && n < 1<<20
}
