package ingest

import (
	"cmp"
	"context"
	"encoding/json"
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

// rootFormats returns the formats that own directories of this source, by directory.
func (s *scan) rootFormats(ctx context.Context) (map[string]string, error) {
	formats := map[string]string{}
	for f, err := range s.g.Index.Facts(ctx, FactRoot) {
		if err != nil {
			return nil, err
		}
		var v struct {
			Format string `json:"format"`
		}
		below, ok := strings.CutPrefix(f.Key+"/", s.root.Source+"/")
		if !ok || json.Unmarshal(f.Value, &v) != nil {
			continue
		}
		formats[cmp.Or(strings.TrimSuffix(below, "/"), ".")] = v.Format
	}
	return formats, nil
}

// deletionUnit is the files that a program deletes together.
type deletionUnit struct {
	name    string
	changed int64 // latest modification time of its files, in nanoseconds
	files   []unitFile
}

// unitFile is a file of a unit, with the names of the unit and of its group: see format.Cleaning.
type unitFile struct {
	group, name string
	*surveyed
}

// predictDeletions adds to o the files that programs will delete before until. formats has the format of each root.
func (g *Ingester) predictDeletions(o *Outlook, root Root, files []surveyed, path func(number uint32) string, formats map[string]string, until time.Time) {
	for _, f := range g.Formats {
		cleaner, ok := f.(format.Cleaner)
		if !ok {
			continue
		}
		for _, c := range cleaner.Cleanings() {
			of := func(one *surveyed) (group, name string) {
				if cmp.Or(formats[one.root], one.format) != f.Name() || one.state == isUnknown {
					return "", ""
				}
				return c.Unit(path(one.number), one.root)
			}
			groups := groupFiles(files, of)
			if len(groups) > 0 {
				c.Days = retentionDays(c, root.Dir)
			}
			for len(groups) > 0 {
				n := 1
				for n < len(groups) && groups[n].hash == groups[0].hash {
					n++
				}
				markGroups(c, files, groups[:n], of, until)
				groups = groups[n:]
			}
		}
	}
	for i := range files {
		if f := &files[i]; f.dueForDeletion {
			o.addDeletion(f)
		}
	}
}

// groupMember is the position of a file and the hash of its group's name. Names take much more memory, so they are computed for one group at
// a time.
type groupMember struct {
	hash uint64
	at   int32
}

// groupFiles returns the files that are subject to a cleaning, sorted by group.
func groupFiles(files []surveyed, of func(*surveyed) (group, name string)) (all []groupMember) {
	seed := maphash.MakeSeed()
	for i := range files {
		group, name := of(&files[i])
		if name == "" {
			continue
		}
		if all == nil {
			all = make([]groupMember, 0, len(files)-i)
		}
		all = append(all, groupMember{maphash.String(seed, group), int32(i)})
	}
	slices.SortFunc(all, func(x, y groupMember) int { return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.at, y.at)) })
	return all
}

// markGroups applies markDue to the groups of one hash, of which there may be several.
func markGroups(c format.Cleaning, files []surveyed, in []groupMember, of func(*surveyed) (group, name string), until time.Time) {
	all := make([]unitFile, len(in))
	for i, x := range in {
		one := &files[x.at]
		group, name := of(one)
		all[i] = unitFile{group, name, one}
	}
	slices.SortFunc(all, func(x, y unitFile) int {
		return cmp.Or(strings.Compare(x.group, y.group), strings.Compare(x.name, y.name))
	})
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].group == all[0].group {
			n++
		}
		markDue(c, splitUnits(all[:n]), until)
		all = all[n:]
	}
}

// addDeletion counts a file that will be deleted.
func (o *Outlook) addDeletion(f *surveyed) {
	o.Doomed++
	o.DoomedBytes += f.size
	if f.state == isArchived {
		return
	}
	o.AtRisk++
	o.AtRiskBytes += f.missing
	if at := time.Unix(0, f.deletedAt); o.First.IsZero() || at.Before(o.First) {
		o.First = at
	}
}

// splitUnits splits the files of one group, sorted by unit, into units.
func splitUnits(files []unitFile) (all []deletionUnit) {
	for len(files) > 0 {
		u, n := deletionUnit{name: files[0].name}, 0
		for n < len(files) && files[n].name == u.name {
			u.changed = max(u.changed, files[n].mtime)
			n++
		}
		u.files, files = files[:n], files[n:]
		all = append(all, u)
	}
	return all
}

// markDue marks the files of the units of a group that will be deleted before until, with the time. A unit beyond the Keep newest is deleted with
// the next action of its program, which may come at any time, so it counts as due from its last change on.
func markDue(c format.Cleaning, units []deletionUnit, until time.Time) {
	slices.SortFunc(units, func(x, y deletionUnit) int { // the newest first
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
			f.dueForDeletion, f.deletedAt = true, end.UnixNano()
		}
	}
}

// retentionDays returns after how many days a program deletes files: the user's setting if there is one, else the default. A settings file that cannot
// be read, or lacks the setting, is ignored.
func retentionDays(c format.Cleaning, dir string) int {
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
