package blob

import (
	"encoding/json"
	"testing"
	"time"
)

func TestLoss(t *testing.T) {
	at := time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)
	for _, l := range []Loss{
		{Source: "runs", Path: "a/b", Number: 1, Root: RefOf([]byte("x")), Size: 10, Since: at},
		{Source: "r\xff", Path: "\xfe\n", Number: 3, Offset: 1 << 40, Size: 0, Pack: "2026/11/p", Since: at},
	} {
		f := l.Fact(at)
		again, err := ParseLoss(f)
		if err != nil || again != l || f.Key != again.Key() {
			t.Errorf("%+v became %+v: %v", l, again, err)
		}
		if _, err := ParseLoss(l.Retract(at)); err == nil || l.Retract(at).Key != f.Key {
			t.Errorf("%+v is taken back by something else", l)
		}
	}
	for _, bad := range []string{"null", "{}", `{"source":"s","version":0}`, `{"source":"s","version":1,"size":-1}`, "["} {
		if l, err := ParseLoss(Fact{Kind: FactLost, Value: json.RawMessage(bad)}); err == nil {
			t.Errorf("%s is %+v", bad, l)
		}
	}
}

func TestLosses(t *testing.T) {
	at := time.Date(2026, 11, 21, 1, 2, 3, 0, time.UTC)
	v := Version{Source: "runs", Path: "a", Number: 1, Root: RefOf([]byte("x"))}
	loss := func(offset, size int64) Loss {
		return Loss{Source: v.Source, Path: v.Path, Number: 1, Root: v.Root, Offset: offset, Size: size}
	}
	var y Losses
	if y.Of(&v) != nil {
		t.Error("the empty one knows a loss")
	}
	y.Add(loss(50, 10).Fact(at), "p1")
	y.Add(loss(10, 10).Fact(at), "p1")
	y.Add(loss(20, 5).Fact(at), "p1")
	y.Add(loss(90, 5).Fact(at), "p1")
	y.Add(loss(90, 5).Retract(at.Add(time.Second)), "p2")
	y.Add(loss(90, 9).Fact(at), "p3") // older than what took it back
	all := y.Of(&v)
	if len(all) != 3 || all[0].Offset != 10 || all[1].Offset != 20 || all[2].Offset != 50 {
		t.Fatalf("lost are %+v", all)
	}
	for _, c := range []struct {
		offset, size int64
		want         bool
	}{{10, 15, true}, {10, 16, false}, {9, 2, false}, {12, 3, true}, {50, 10, true}, {60, 1, false}, {50, 0, true}, {90, 1, false}} {
		if got := Covers(all, c.offset, c.size); got != c.want {
			t.Errorf("%d bytes at %d: %v", c.size, c.offset, got)
		}
	}
	other := v
	other.Root = Ref{}
	if y.Of(&other) != nil {
		t.Error("another chain has its losses")
	}
}
