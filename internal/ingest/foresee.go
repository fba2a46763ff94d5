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
)

// rootFormats is which formats own directories of this source, by directory.
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

// unit is what a program deletes as one.
type unit struct {
	name    string
	changed int64 // when any of its files was last changed, in nanoseconds
	files   []ofUnit
}

// ofUnit is a file of a unit, and the group that the unit is in.
type ofUnit struct {
	group, name string
	*surveyed
}

// foresee adds what programs will delete before a time.
func (g *Ingester) foresee(o *Outlook, root Root, files []surveyed, path func(number uint32) string, formats map[string]string, until time.Time) {
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
			groups := grouped(files, of)
			if len(groups) > 0 {
				c.Days = days(c, root.Dir)
			}
			for len(groups) > 0 {
				n := 1
				for n < len(groups) && groups[n].hash == groups[0].hash {
					n++
				}
				judgeGroups(c, files, groups[:n], of, until)
				groups = groups[n:]
			}
		}
	}
	for i := range files {
		if f := &files[i]; f.doomed {
			o.doom(f)
		}
	}
}

// inGroup is a file, and the hash of its group: names take much more memory, so they are those of one group at a time.
type inGroup struct {
	hash uint64
	at   int32
}

// grouped are the files that are cleaned, group by group.
func grouped(files []surveyed, of func(*surveyed) (group, name string)) (all []inGroup) {
	seed := maphash.MakeSeed()
	for i := range files {
		group, name := of(&files[i])
		if name == "" {
			continue
		}
		if all == nil {
			all = make([]inGroup, 0, len(files)-i)
		}
		all = append(all, inGroup{maphash.String(seed, group), int32(i)})
	}
	slices.SortFunc(all, func(x, y inGroup) int { return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.at, y.at)) })
	return all
}

// judgeGroups judges the units of the groups of one hash.
func judgeGroups(c format.Cleaning, files []surveyed, in []inGroup, of func(*surveyed) (group, name string), until time.Time) {
	all := make([]ofUnit, len(in))
	for i, x := range in {
		one := &files[x.at]
		group, name := of(one)
		all[i] = ofUnit{group, name, one}
	}
	slices.SortFunc(all, func(x, y ofUnit) int {
		return cmp.Or(strings.Compare(x.group, y.group), strings.Compare(x.name, y.name))
	})
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].group == all[0].group {
			n++
		}
		judge(c, units(all[:n]), until)
		all = all[n:]
	}
}

// doom counts a file that will be deleted.
func (o *Outlook) doom(f *surveyed) {
	o.Doomed++
	o.DoomedBytes += f.size
	if f.state == isArchived {
		return
	}
	o.AtRisk++
	o.AtRiskBytes += f.missing
	if at := time.Unix(0, f.end); o.First.IsZero() || at.Before(o.First) {
		o.First = at
	}
}

// units are those of one group, of which the files are sorted by their names.
func units(files []ofUnit) (all []unit) {
	for len(files) > 0 {
		u, n := unit{name: files[0].name}, 0
		for n < len(files) && files[n].name == u.name {
			u.changed = max(u.changed, files[n].mtime)
			n++
		}
		u.files, files = files[:n], files[n:]
		all = append(all, u)
	}
	return all
}

// judge finds the units of a group that will go before a time, and when. What is beyond the newest goes with the next
// thing that its program does, so it may go at any time: from its last change on.
func judge(c format.Cleaning, units []unit, until time.Time) {
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
			f.doomed, f.end = true, end.UnixNano()
		}
	}
}

// days is after how many days a program deletes: its own setting, where the user has made one. A file that cannot be
// read, or says something else, changes nothing.
func days(c format.Cleaning, dir string) int {
	if c.Setting == nil {
		return c.Days
	}
	for range 3 {
		text, err := os.ReadFile(filepath.Join(dir, c.Setting.Name))
		if err == nil {
			settings, _ := format.ParseJSON(text) // what is no JSON has no members
			if n, ok := daysOf(settings.Get(strings.Split(c.Setting.Key, ".")...)); ok {
				return n
			}
		}
		dir = filepath.Dir(dir)
	}
	return c.Days
}

// daysOf reads a number of days, or text with a unit behind a number.
func daysOf(v format.Value) (int, bool) {
	n, ok := v.Int()
	if text := v.Str(); len(text) > 1 {
		hours := map[byte]int64{'h': 1, 'd': 24, 'w': 7 * 24, 'm': 30 * 24}[text[len(text)-1]]
		count, err := strconv.ParseInt(text[:len(text)-1], 10, 32)
		n, ok = count*hours/24, err == nil && hours > 0
	}
	return int(n), ok && n >= 0 && n < 1<<20
}
