package blob

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestTombstone(t *testing.T) {
	v := Version{Source: "runs", Path: "a/\xff.jsonl", Number: 2, Root: RefOf([]byte("a")), Size: 2, SHA256: RefOf([]byte("ab"))}
	dead := Bury(&v, "plan")
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

func TestGraveyard(t *testing.T) {
	at := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	v := Version{Source: "runs", Path: "a", Number: 1, Root: RefOf([]byte("a")), Size: 2, SHA256: RefOf([]byte("ab"))}
	start, grown, elsewhere := v, v, v
	start.Size, start.SHA256 = 1, RefOf([]byte("a"))
	grown.Size, grown.SHA256 = 3, RefOf([]byte("abc"))
	elsewhere.Path = "b"
	dead := Bury(&v, "")
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
		var y Graveyard
		for _, a := range c.facts {
			y.Add(a.f, a.pack)
		}
		n := 0
		if c.lies {
			n = 1
		}
		if _, ok := y.Of(&v); ok != c.lies || y.Len() != n {
			t.Errorf("%s: %v, %d", name, ok, y.Len())
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
	if _, ok := (*Graveyard)(nil).Of(&v); ok {
		t.Error("in no graveyard")
	}
}
