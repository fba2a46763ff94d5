package blob

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/seedtest"
)

func TestTombstone(t *testing.T) {
	v := Version{Source: "runs", Path: "a/\xff.jsonl", Number: 2, Root: RefOf([]byte("a")), Size: 2, SHA256: RefOf([]byte("ab"))}
	dead := NewTombstone(&v, "plan")
	at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	f := dead.Fact(at)
	if back, err := ParseTombstone(f); err != nil || back != dead {
		t.Errorf("%+v, %v", back, err)
	}
	if !json.Valid(f.Value) || !strings.Contains(string(f.Value), `"path_b64"`) {
		t.Errorf("%s", f.Value)
	}
	for _, value := range []string{"null", "{}", `{"source":"runs","path":"alive","sha256":"short"}`, `{"source":"","sha256":"` + v.SHA256.String() + `"}`} {
		if _, err := ParseTombstone(Fact{Kind: FactTombstone, Value: json.RawMessage(value)}); err == nil {
			t.Errorf("%s buries something", value)
		}
	}
	if _, err := ParseTombstone(Fact{Kind: "tag", Value: f.Value}); err == nil {
		t.Error("a tag buries something")
	}
	other := dead
	other.Path, other.Source = "unsa/\xff.jsonl", "r"
	if other.Key() == dead.Key() {
		t.Error("source and path run into one another")
	}
}

// TestSupersededTombstone: a file that returns to the content of an earlier version that went has it, and a later tombstone of the same
// content decides for all of its versions.
func TestSupersededTombstone(t *testing.T) {
	at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	v := Version{Source: "runs", Path: "a.json", Number: 1, Root: RefOf([]byte("a")), Size: 1, SHA256: RefOf([]byte("a"))}
	again, back := v, v
	again.Number, back.Number = 3, 5
	dead := NewTombstone(&v, "plan")
	dead.Superseded = 4
	if got, err := ParseTombstone(dead.Fact(at)); err != nil || got != dead {
		t.Errorf("%+v, %v", got, err)
	}
	whole := NewTombstone(&back, "plan")
	for name, c := range map[string]struct {
		facts []Fact
		lies  [3]bool
	}{
		"superseded": {[]Fact{dead.Fact(at)}, [3]bool{true, true, false}},
		"pruned":     {[]Fact{dead.Fact(at), whole.Fact(at.Add(1))}, [3]bool{true, true, true}},
		"older":      {[]Fact{dead.Fact(at.Add(1)), whole.Fact(at)}, [3]bool{true, true, false}},
		"taken back": {[]Fact{dead.Fact(at), whole.Fact(at.Add(1)), whole.Retract(at.Add(2))}, [3]bool{}},
	} {
		var ts Tombstones
		for _, f := range c.facts {
			ts.Add(f, "pack")
		}
		for i, v := range []Version{v, again, back} {
			if _, ok := ts.Of(&v); ok != c.lies[i] {
				t.Errorf("%s: version %d lies there: %v", name, v.Number, ok)
			}
		}
	}
}

func TestTombstones(t *testing.T) {
	at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	v := Version{Source: "runs", Path: "a", Number: 1, Root: RefOf([]byte("a")), Size: 2, SHA256: RefOf([]byte("ab"))}
	start, grown, elsewhere := v, v, v
	start.Size, start.SHA256 = 1, RefOf([]byte("a"))
	grown.Size, grown.SHA256 = 3, RefOf([]byte("abc"))
	elsewhere.Path = "b"
	dead := NewTombstone(&v, "")
	type add struct {
		f    Fact
		pack string
	}
	for name, c := range map[string]struct {
		facts []add
		lies  bool
	}{
		"buried":            {[]add{{dead.Fact(at), "1"}}, true},
		"taken back":        {[]add{{dead.Fact(at), "1"}, {dead.Retract(at.Add(1)), "2"}}, false},
		"out of order":      {[]add{{dead.Retract(at.Add(1)), "2"}, {dead.Fact(at), "1"}}, false},
		"again":             {[]add{{dead.Retract(at.Add(1)), "2"}, {dead.Fact(at), "1"}, {dead.Fact(at.Add(2)), "3"}}, true},
		"by name of pack":   {[]add{{dead.Fact(at), "2"}, {dead.Retract(at), "1"}}, true},
		"by name, backward": {[]add{{dead.Retract(at), "2"}, {dead.Fact(at), "1"}}, false},
	} {
		var y Tombstones
		for _, a := range c.facts {
			y.Add(a.f, a.pack)
		}
		if _, ok := y.Of(&v); ok != c.lies {
			t.Errorf("%s: %v", name, ok)
		}
		if _, ok := y.Of(&start); ok != c.lies {
			t.Errorf("%s: an earlier state lies there: %v", name, ok)
		}
		for _, alive := range []Version{grown, elsewhere} {
			if _, ok := y.Of(&alive); ok {
				t.Errorf("%s: %s of %d bytes lies there", name, alive.Path, alive.Size)
			}
		}
	}
	if _, ok := (*Tombstones)(nil).Of(&v); ok {
		t.Error("deleted by an empty set")
	}
}

// TestTombstonesModel adds tombstones and retractions in any order, and compares each answer with that of a plain list.
func TestTombstonesModel(t *testing.T) {
	r := rand.New(rand.NewPCG(seedtest.Seed(t), 3))
	some := func(chain bool) Version { // of a content it is known what it begins with; somebody may have another original of that content
		k := r.IntN(4)
		v := Version{Source: "s", Path: string(rune('a' + r.IntN(2))), Number: k % 2, Root: RefOf([]byte{byte(k % 2)}), Size: int64(r.IntN(3)), SHA256: RefOf([]byte{byte(k), 1})}
		if !chain {
			v.Number, v.Root = r.IntN(3), RefOf([]byte{byte(r.IntN(3))})
		}
		return v
	}
	for range 2000 {
		type told struct {
			Fact
			pack string
		}
		var y Tombstones
		newest := map[string]told{}
		for range r.IntN(8) {
			v := some(true)
			tomb := NewTombstone(&v, fmt.Sprint("p", r.IntN(3)))
			at := time.Unix(0, int64(r.IntN(4)))
			f := told{tomb.Fact(at), fmt.Sprint(r.IntN(9))}
			if r.IntN(3) == 0 {
				f.Fact = tomb.Retract(at)
			}
			if r.IntN(9) == 0 {
				f.Key, f.Kind = "no hash "+f.Key[:3], "tag" // and no tombstone
			}
			y.Add(f.Fact, f.pack)
			if have, ok := newest[f.Key]; !ok || f.Time.After(have.Time) || f.Time.Equal(have.Time) && f.pack > have.pack {
				newest[f.Key] = f
			}
		}
		for range 20 {
			v := some(r.IntN(2) == 0)
			plans := map[string]bool{}
			for key, f := range newest {
				g, err := ParseTombstone(f.Fact)
				switch chain := g.Source == v.Source && g.Path == v.Path && g.Number == v.Number && g.Root == v.Root; {
				case err != nil || len(key) != 32:
				case key == (Tombstone{Source: v.Source, Path: v.Path, SHA256: v.SHA256}).Key():
					plans = map[string]bool{g.Plan: true, "": true}
				case !plans[""] && g.Number > 0 && chain && v.Size <= g.Size:
					plans[g.Plan] = true
				}
			}
			if g, ok := y.Of(&v); ok != (len(plans) > 0) || ok && !plans[g.Plan] {
				t.Fatalf("%+v lies in %+v, %v; %v would do", v, g, ok, plans)
			}
		}
	}
}

// TestTombstonesHoldsLittle bounds the memory of a tombstone, because those of a million originals are in memory at once.
func TestTombstonesHoldsLittle(t *testing.T) {
	const n = 100_000
	var y Tombstones
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range n {
		path := fmt.Sprintf("threads/thread-%08x/.meta/transcripts/20260315-0746-segment-%07d.txt", i/1000, i)
		v := Version{Source: "runs", Path: path, Number: 1, Root: RefOf([]byte(path)), SHA256: RefOf([]byte(path)), Size: 270}
		y.Add(NewTombstone(&v, "p123456789").Fact(time.Unix(0, 0)), "2026/11/20261122T051719.903647Z-9v30kk1p-d73ac6b54bc66a91")
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := int64(after.HeapAlloc-before.HeapAlloc) / n; each > 120 || len(y.all) != n {
		t.Errorf("%d tombstones take %d bytes each", len(y.all), each)
	} else {
		t.Logf("%d bytes each", each)
	}
	runtime.KeepAlive(&y)
	if room := y.VersionBudget(n); room > n-n/5 || room < n/2 || y.VersionBudget(1) != 1 {
		t.Errorf("beside them there is room for %d of %d versions", room, n)
	}
}
