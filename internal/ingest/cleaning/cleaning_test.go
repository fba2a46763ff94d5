package cleaning

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// day0 is the first day of the tests' files.
var day0 = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

// testFile is a file GROUP/UNIT/NAME and the day of its last change, from 0.
type testFile struct {
	path string
	day  int
}

// dueOf returns which of some files Due names, as "path: day", sorted.
func dueOf(c format.Cleaning, dir string, files []testFile, until int) []string {
	all := Files{Count: len(files),
		Unit: func(i int) (group, name string) {
			part := strings.Split(files[i].path, "/")
			if len(part) < 3 {
				return "", ""
			}
			return part[0], part[1]
		},
		Changed: func(i int) int64 { return day0.AddDate(0, 0, files[i].day).UnixNano() },
	}
	due := []string{}
	Due(c, dir, all, day0.AddDate(0, 0, until), func(i int, at time.Time) {
		due = append(due, fmt.Sprintf("%s: %d", files[i].path, int(at.Sub(day0).Hours())/24))
	})
	slices.Sort(due)
	return due
}

func TestDue(t *testing.T) {
	files := []testFile{{"a/1/x", 0}, {"a/1/y", 5}, {"a/2/x", 1}, {"a/3/x", 9}, {"b/1/x", 2}, {"settings", 0}}
	for _, test := range []struct {
		name string
		rule format.Cleaning
		want string
	}{
		{"no rule", format.Cleaning{}, ""},
		{"age, by the latest change of a unit", format.Cleaning{Days: 7}, "a/2/x: 8, b/1/x: 9"},
		{"number, the newest first", format.Cleaning{Keep: 2}, "a/2/x: 1"},
		{"number, by name", format.Cleaning{Keep: 1, ByName: true}, "a/1/x: 5, a/1/y: 5, a/2/x: 1"},
		{"either", format.Cleaning{Days: 7, Keep: 1}, "a/1/x: 5, a/1/y: 5, a/2/x: 1, b/1/x: 9"},
		{"both", format.Cleaning{Days: 7, Keep: 1, Both: true}, "a/2/x: 8"},
	} {
		if got := strings.Join(dueOf(test.rule, "", files, 12), ", "); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestDueAtRandom compares with each file judged by itself, of units with times of their own.
func TestDueAtRandom(t *testing.T) {
	r := seedtest.Rand(t)
	for range 300 {
		var files []testFile
		for i, day := range r.Perm(1 + r.IntN(20)) {
			files = append(files, testFile{fmt.Sprintf("%d/u%02d/%d", r.IntN(3), r.IntN(6), i), day})
		}
		c := format.Cleaning{Days: r.IntN(10), Keep: r.IntN(4), Both: r.IntN(2) == 0}
		latest := map[string]int{}
		for _, f := range files {
			unit := filepath.Dir(f.path)
			latest[unit] = max(latest[unit], f.day)
		}
		want, until := []string{}, r.IntN(25)
		for _, f := range files {
			unit, newer := filepath.Dir(f.path), 0
			for other, day := range latest {
				if filepath.Dir(other) == filepath.Dir(unit) && day > latest[unit] {
					newer++
				}
			}
			old, beyond := c.Days > 0 && latest[unit]+c.Days < until, c.Keep > 0 && newer >= c.Keep
			switch {
			case beyond && !c.Both:
				want = append(want, fmt.Sprintf("%s: %d", f.path, latest[unit]))
			case old && (beyond || !c.Both):
				want = append(want, fmt.Sprintf("%s: %d", f.path, latest[unit]+c.Days))
			}
		}
		slices.Sort(want)
		if got := dueOf(c, "", files, until); !slices.Equal(got, want) {
			t.Fatalf("of %v by %+v until %d: %v, want %v", files, c, until, got, want)
		}
	}
}

// TestDays reads the user's setting, in the directory or above it.
func TestDays(t *testing.T) {
	top := t.TempDir()
	below := filepath.Join(top, "projects", "p")
	if err := os.MkdirAll(below, 0o700); err != nil {
		t.Fatal(err)
	}
	c := format.Cleaning{Days: 30, Setting: &format.Setting{Name: "settings.json", Key: "keep.days"}}
	for text, want := range map[string]int{
		`{"keep":{"days":7}}`: 7, `{"keep":{"days":0}}`: 0, `{"keep":{"days":"36h"}}`: 1, `{"keep":{"days":"2w"}}`: 14, `{"keep":{"days":"1m"}}`: 30,
		`{"keep":{"days":-1}}`: 30, `{"keep":{"days":"7"}}`: 30, `{"keep":{"days":"xd"}}`: 30, `{"keep":{"days":1e300}}`: 30, `{"keep":7}`: 30,
		`{"keep.days":7}`: 30, `{"keep":{"days":7}`: 30, ``: 30,
	} {
		if err := os.WriteFile(filepath.Join(top, "settings.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Days(c, below); got != want {
			t.Errorf("%s: %d days, want %d", text, got, want)
		}
	}
	if err := os.WriteFile(filepath.Join(below, "settings.json"), []byte(`{"keep":{"days":3}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Days(c, below); got != 3 {
		t.Errorf("%d days, want those of the nearest file", got)
	}
	if c.Setting = nil; Days(c, below) != 30 {
		t.Error("a rule without a setting has its own days")
	}
}
