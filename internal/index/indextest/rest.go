package indextest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// drawTree formats a tree: what is not archived in brackets, what is expanded elsewhere with a star.
func drawTree(b index.Branch) string {
	s := b.NativeID
	if !b.Found {
		s = "[" + s + "]"
	}
	if b.Seen {
		return s + "*"
	}
	if len(b.Children) == 0 {
		return s
	}
	var children []string
	for _, c := range b.Children {
		children = append(children, c.Kind+" "+drawTree(c))
	}
	return s + "(" + strings.Join(children, ", ") + ")"
}

func testLinks(t *testing.T, open func(*testing.T) Index) {
	x := smallIndex(t, open)
	var list []string
	for _, l := range all(t, x.Links(t.Context(), index.Node{})) {
		list = append(list, fmt.Sprintf("%s %s>%s %t %d", l.Kind, l.From.NativeID, l.To.NativeID, l.Counted, l.Statements))
	}
	equal(t, "links", strings.Join(list[:3], ", "), "parent parent>child true 2, parent parent>lost true 1, fork ghost>parent true 1")
	equal(t, "number of links", len(list), 6)
	child, err := x.Run(t.Context(), "child")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "links of child", len(all(t, x.Links(t.Context(), index.Node{Run: child.ID}))), 3) // with one of its group
	equal(t, "links of group", len(all(t, x.Links(t.Context(), index.Node{Format: "awf", Group: "nightly"}))), 1)
	for _, c := range []struct {
		root  index.Node
		kinds []string
		want  string
	}{
		{index.Node{Run: "parent"}, []string{"parent"}, "parent(parent child, parent [lost])"},
		{index.Node{Run: "parent"}, []string{"parent", "message"}, "parent(parent child(message parent*), parent [lost], message [operator])"},
		{index.Node{Format: "awf", Group: "nightly"}, []string{"parent"}, "nightly(member child, member parent(parent child*, parent [lost]))"},
		{index.Node{Run: "lost"}, nil, "[lost]"},
	} {
		b, err := index.Tree(t.Context(), x, c.root, c.kinds...)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, fmt.Sprint("tree of ", c.root, c.kinds), drawTree(b), c.want)
	}
	if _, err := index.Tree(t.Context(), x, index.Node{Run: "nothing"}); !errors.Is(err, index.ErrNotFound) {
		t.Errorf("tree of nothing: %v", err)
	}
}

func testTotals(t *testing.T, open func(*testing.T) Index) {
	x := smallIndex(t, open)
	b := index.Batch{Facts: []index.FactRow{{Pack: "p1", Fact: blob.Fact{Kind: "problem", Key: "runs/secret.jsonl", Time: Epoch,
		Value: json.RawMessage(`{"kind":"permission denied","reason":"cannot be read"}`)}}}}
	commit(t, x, b)
	s, err := x.Totals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	awf := s.Formats["awf"]
	equal(t, "formats", len(s.Formats), 1)
	equal(t, "totals", []int64{s.Totals.Files, s.Totals.Bytes, s.Totals.Runs, s.Totals.Problems}, []int64{5, 5910, 2, 3})
	equal(t, "awf", []int64{awf.Files, awf.Bytes, awf.Runs, awf.Conversations, awf.Events, awf.ToolCalls, awf.ToolResults, *awf.Input, *awf.Output,
		*awf.CacheRead, *awf.CacheCreation, *awf.ReportedCost, awf.Links, awf.Problems}, []int64{3, 5900, 2, 2, 7, 1, 1, 150, 30, 5, 8, 1235, 5, 2})
	if awf.StoredBytes <= 0 || awf.StoredBytes > s.Totals.StoredBytes {
		t.Errorf("stored: %d of %d bytes", awf.StoredBytes, s.Totals.StoredBytes)
	}
	var list []string
	for _, p := range all(t, x.Problems(t.Context())) {
		list = append(list, p.Key.Path+" "+p.Kind+" "+p.Format)
	}
	equal(t, "problems", strings.Join(list, ", "), "child.jsonl bad json awf, mirror/parent.jsonl bad json awf, secret.jsonl permission denied ")
}

func testLocate(t *testing.T, open func(*testing.T) Index) {
	x := smallIndex(t, open)
	versions := func(of index.VersionFilter) (list []index.FileVersion) { return all(t, x.Versions(t.Context(), of)) }
	var list []string
	for _, v := range versions(index.VersionFilter{}) {
		list = append(list, fmt.Sprintf("%s %d %t %d", v.Path, v.Number, v.Newest, v.Copies))
	}
	equal(t, "versions", strings.Join(list, ", "), "child.jsonl 1 true 1, empty.txt 1 true 1, mirror/parent.jsonl 2 true 2, notes.txt 1 true 1, parent.jsonl 1 false 1, parent.jsonl 2 true 2")
	equal(t, "newest", len(versions(index.VersionFilter{Newest: true})), 5)
	p, err := x.Run(t.Context(), "parent")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "of a run", len(versions(index.VersionFilter{Run: p.ID})), 3)
	equal(t, "of a run, newest, by source", len(versions(index.VersionFilter{Source: "runs", Newest: true, Run: p.ID})), 2)
	v := versions(index.VersionFilter{Path: "parent.jsonl", Number: 2})[0]
	equal(t, "version", []any{v.Source, v.Size, v.Mode, v.ModTime, v.Format, v.Role, v.Claim}, []any{"runs", 2600, 0o644, Epoch, "awf", "transcript", "."})
	const raw = 512 + 300 + 512 // of its first byte
	for _, c := range []struct{ offset, length, members int64 }{{0, 2600, 3}, {0, 1, 1}, {2599, 1, 1}, {600, 200, 2}, {1000 - raw%1000, 1000, 1}, {1000 - raw%1000, 1001, 2}, {5, 0, 0}} {
		pieces, err := x.Locate(t.Context(), v.Chain, c.offset, c.length)
		if err != nil {
			t.Fatal(err)
		}
		at, size, members := raw+c.offset, int64(0), int64(0)
		for _, p := range pieces {
			if p.Pack != "p1" || p.Raw != at+size || p.Members[0].Raw > p.Raw {
				t.Errorf("%+v: %+v", c, p)
			}
			size, members = size+p.Size, members+int64(len(p.Members))
		}
		equal(t, fmt.Sprintf("%+v", c), []int64{size, members}, []int64{c.length, c.members})
		at1 := index.Place{Chain: v.Chain, Origin: transcript.Origin{Offset: c.offset, Length: c.length}}
		inside, beyond := at1, at1
		inside.Inner, beyond.Offset = "member", 2600
		all, err := x.LocateAll(t.Context(), []index.Place{inside, at1, beyond})
		if err != nil || len(all) != 3 {
			t.Fatalf("all of %+v: %v, %v", c, all, err)
		}
		equal(t, "a layer of an original, and what is nowhere", []int{len(all[0]), len(all[2])}, []int{0, 0})
		equal(t, "one of several", fmt.Sprint(all[1]), fmt.Sprint(pieces))
	}
	for _, c := range [][2]int64{{2600, 1}, {0, 2601}, {-1, 1}} {
		if _, err := x.Locate(t.Context(), v.Chain, c[0], c[1]); !errors.Is(err, index.ErrNotFound) {
			t.Errorf("bytes %v: %v", c, err)
		}
	}
}

// dump formats everything that readers can see, without private ids.
func dump(t *testing.T, x Index) string {
	var b strings.Builder
	for _, r := range all(t, x.Runs(t.Context(), index.Selection{Named: true}, index.Page{})) {
		b.WriteString(dumpRun(t, x, &r))
	}
	for _, h := range all(t, x.Find(t.Context(), nil, index.Page{AllVersions: true})) {
		fmt.Fprintln(&b, h.ID)
	}
	for _, l := range all(t, x.Links(t.Context(), index.Node{})) {
		fmt.Fprintf(&b, "%+v\n", l)
	}
	for _, p := range all(t, x.Problems(t.Context())) {
		fmt.Fprintf(&b, "%+v\n", p)
	}
	b.WriteString(dumpTotals(t, x))
	return b.String()
}

// dumpRun formats everything that readers can see of a run.
func dumpRun(t *testing.T, x Index, r *index.Run) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\n", *r)
	for _, c := range all(t, x.Conversations(t.Context(), r.ID)) {
		fmt.Fprintf(&b, "%+v\n", c)
		for _, e := range all(t, x.Events(t.Context(), c.ID, index.Span{Duplicates: true})) {
			e.Place.Chain = 0
			fmt.Fprintf(&b, "%+v\n", e)
		}
	}
	return b.String()
}

func dumpTotals(t *testing.T, x Index) string {
	t.Helper()
	s, err := x.Totals(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// testOrder commits Small in random orders and batches; the result is always the same.
func testOrder(t *testing.T, open func(*testing.T) Index) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	want := ""
	for round := range 6 {
		x := open(t)
		world := Small()
		if round > 0 {
			r.Shuffle(len(world), func(i, j int) { world[i], world[j] = world[j], world[i] })
		}
		for _, o := range world {
			commit(t, x, Batch("pack of "+o.Path+fmt.Sprint(o.number()), o))
		}
		checkUnparsed(t, x, map[string]int{"awf": 1})
		checkUnparsed(t, x, map[string]int{"awf": 99})
		for s := range x.ToReparse(t.Context(), map[string]int{"awf": 1}) {
			for _, o := range world {
				if o.Path == s.Path && o.number() == s.Number {
					b := Batch("", o)
					b.Pack = nil
					commit(t, x, b)
				}
			}
		}
		got := dump(t, x)
		if round == 0 {
			want = got
		}
		if got != want {
			t.Fatalf("round %d: %s", round, difference(got, want))
		}
	}
}

// checkUnparsed compares Unparsed and StatesOf, for all versions at once and one by one, with what ToReparse yields of formats
// that have a parser.
func checkUnparsed(t *testing.T, x Index, parsers map[string]int) {
	t.Helper()
	name := func(s index.State) string {
		return fmt.Sprint(s.Source, s.Path, s.Number, s.Root, s.Size, s.Parsed, s.Reparse, len(s.Extents))
	}
	want := map[string]bool{}
	for _, s := range all(t, x.ToReparse(t.Context(), parsers)) {
		if parsers[s.Format] > 0 {
			want[name(s)] = true
		}
	}
	places := all(t, x.Unparsed(t.Context(), parsers))
	slices.Reverse(places)
	got := all(t, x.StatesOf(t.Context(), places))
	if len(got) != len(places) || len(got) != len(want) {
		t.Fatalf("%d places give %d states, %d wait", len(places), len(got), len(want))
	}
	for i := range places {
		if one := all(t, x.StatesOf(t.Context(), places[i:i+1])); len(one) != 1 || name(one[0]) != name(got[i]) || !want[name(got[i])] {
			t.Fatalf("%s: it does not wait, or is not in the place of %v", name(got[i]), places[i])
		}
	}
}

// difference returns the first lines that differ.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got\n" + g[i] + "\nwant\n" + w[i]
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
