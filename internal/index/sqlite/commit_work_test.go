package sqlite

import (
	"fmt"
	"os"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/collect"
	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/index/lexicon"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The kinds of records of an original of workFamily, from the first to the last.
const workLines = 12

// workFamily is a run with everything that a commit has to bring together: a child, a fork with copied history, requests
// that stand in two originals, receipts and steps that are told twice, a local name. local says that its native ids
// mean something below its root alone.
func workFamily(n int, local bool) []indextest.Original {
	run := fmt.Sprintf("run-%06d", n)
	dir := fmt.Sprintf("%02d/%s", n%100, run)
	var all []indextest.Original
	for _, part := range []string{"main", "child", "fork"} {
		id := run
		if part != "main" {
			id += "-" + part
		}
		o := indextest.Original{Source: "work", Path: dir + "/" + part + ".jsonl", Format: "awf", Role: "transcript", Claim: dir, Content: id}
		o.Records = append(o.Records, &transcript.Run{ID: id, Local: local, Anchor: fmt.Sprint("a", n, part), Project: fmt.Sprintf("/srv/%d", n%10), Child: part == "child"},
			&transcript.Conversation{Run: id, ID: id})
		for line := range workLines {
			o.Records = append(o.Records, workLine(n, line, run, id, part)...)
		}
		o.Size = workLines * 100
		all = append(all, o)
	}
	return all
}

// workLine is what one line of an original says.
func workLine(n, line int, run, id, part string) (all []transcript.Record) {
	at, place := indextest.At(int64(n*600+line)), indextest.Place(line)
	eid := fmt.Sprint(id, "-", line)
	if part == "fork" && line < 4 { // copied from the main original
		eid = fmt.Sprint(run, "-", line)
	}
	e := &transcript.Event{Conversation: id, Run: id, ID: eid, Global: true, Kind: transcript.KindMessage, Role: "assistant", Time: at, Origin: place,
		Parts: []transcript.Part{{Text: fmt.Sprintf("the %d words of line w%dx are some", n, n*workLines+line)}}}
	switch line % 4 {
	case 1:
		e.Kind = transcript.KindToolCall
		e.Parts[0].Call = &transcript.Call{ID: fmt.Sprint("call-", line), Name: "Bash", Paths: []string{"src/a.go"}}
	case 2:
		e.Kind, e.Role = transcript.KindToolResult, "tool"
		e.Parts[0].Result = &transcript.Result{Call: fmt.Sprint("call-", line-1), Name: "Bash"}
	case 3:
		all = append(all, &transcript.Usage{Run: id, Conversation: id, Key: eid, Time: at, Model: "m", Input: transcript.Known(10), Origin: place},
			&transcript.Receipt{Run: run, Key: fmt.Sprint("step-", line), Step: "build", Status: "ok", Origin: place},
			&transcript.Step{Run: run, Key: fmt.Sprint("step-", line), Name: "build", Origin: place},
			&transcript.Hint{Run: run, Key: "line", Value: fmt.Sprint(line), Origin: place})
	}
	if line == 0 && part != "main" {
		kind := map[string]string{"child": "parent", "fork": "fork"}[part]
		end := func(id string) transcript.End { return transcript.End{Type: "run", ID: id} }
		all = append(all, &transcript.Link{Kind: kind, From: end(run), To: end(id), Time: at, Origin: place})
	}
	return append(all, e)
}

// workBatch is families from first on, in one batch.
func workBatch(first, n int, local bool) index.Batch {
	var all []indextest.Original
	for i := range n {
		all = append(all, workFamily(first+i, local)...)
	}
	b := indextest.Batch(fmt.Sprintf("work-%06d-%d", first, n), all...)
	b.Resolvers = func(string) index.Resolver {
		return index.Resolver{Usage: true, Resolve: func(f *transcript.Family) {
			for _, u := range f.Usage {
				u.Agent = "coder"
			}
			for _, r := range f.Receipts {
				r.Conversation = f.Run.ID
			}
		}}
	}
	return b
}

// TestCommitWork asks what a batch costs for each of its families: three times as many cost three times as much, and not
// nine times.
func TestCommitWork(t *testing.T) {
	for _, local := range []bool{false, true} {
		t.Run(fmt.Sprint("local=", local), func(t *testing.T) {
			const few, many = 15, 45
			of := func(n int) work {
				db := newDB(t)
				c := countWrites(t, db)
				return c.of(t, func() error { return db.Commit(t.Context(), workBatch(0, n, local)) })
			}
			small, large := of(few), of(many)
			if small.statements < few || small.rows < few || small.steps < 1000*few || small.touched < few || small.written < few {
				t.Fatalf("%v: nothing was counted", small)
			}
			t.Logf("%v\n%v", small, large)
			large.within(t, "a batch", many, small, few, 1.1, 1.5)
			if large.prepared > small.prepared+10 {
				t.Errorf("%d statements are prepared for %d families, and %d for %d: all of them are to be used again", large.prepared, many, small.prepared, few)
			}
		})
	}
}

// TestNextCommitWork asks what a connection has to prepare for a batch like those before.
func TestNextCommitWork(t *testing.T) {
	const families = 40
	db, c := archived(t, families)
	next := c.of(t, func() error { return db.Commit(t.Context(), workBatch(families, 20, false)) })
	if next.prepared > 5 {
		t.Errorf("%d statements are prepared once more, of %d", next.prepared, next.statements)
	}
}

// archived gives an index of n families, made by nights of some, and the counter of its writer.
func archived(t *testing.T, n int) (*DB, *counter) {
	t.Helper()
	db := newDB(t)
	c := countWrites(t, db)
	const perNight = 20
	for i := 0; i < n; i += perNight {
		if err := db.Commit(t.Context(), workBatch(i, perNight, false)); err != nil {
			t.Fatal(err)
		}
		if err := db.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	mustExec(t, db, "PRAGMA wal_checkpoint(TRUNCATE)")
	b, err := os.ReadFile(db.path)
	if err != nil {
		t.Fatal(err)
	}
	archivedFiles[n] = b
	return db, c
}

// archivedFiles are the files of indexes that archived has made, by their number of families.
var archivedFiles = map[int][]byte{}

// archivedCopy gives a copy of an index of n families. Most of a test that only asks it something would else be to make it.
func archivedCopy(t *testing.T, n int) *DB {
	t.Helper()
	if archivedFiles[n] == nil {
		archived(t, n)
	}
	return copyDB(t, archivedFiles[n])
}

// grown is one line more of the main original of a family, in a pack of its own.
func grown(n, line int) index.Batch {
	o := workFamily(n, false)[0]
	size := int64(line) * 100
	run := fmt.Sprintf("run-%06d", n)
	v := blob.Version{Source: o.Source, Path: o.Path, Number: 1, Root: blob.RefOf([]byte(o.Content)), Size: size + 100, SHA256: blob.RefOf([]byte(fmt.Sprint(run, line))),
		ModTime: indextest.Epoch, Mode: 0o644, Format: o.Format, Role: o.Role, Claim: o.Claim}
	v.Extents = []blob.Extent{{Offset: size, Size: 100, SHA256: blob.RefOf([]byte(fmt.Sprint(line))), Raw: 512}}
	b := workBatch(n, 0, false)
	b.Pack = &index.PackRow{Name: fmt.Sprintf("grown-%06d-%d", n, line), Created: indextest.Epoch, Writer: "test", Versions: []blob.Version{v},
		Members: []blob.Member{{Size: 200, RawSize: 1024}}, Size: 200}
	c := collect.New(&lexicon.Lexicon{})
	c.Reset(index.Subject{VersionKey: index.VersionKey{Source: o.Source, Path: o.Path, Number: 1}, Format: o.Format, Role: o.Role, Parser: 1,
		Claim: o.Claim, Size: v.Size, SHA256: v.SHA256, From: size, ModTime: indextest.Epoch.UnixMicro()})
	for _, r := range o.Records {
		c.Add(r)
	}
	for i := workLines; i <= line; i++ {
		for _, r := range workLine(n, i, run, run, "main") {
			c.Add(r)
		}
	}
	b.Parsed = []*index.Parsed{c.Take(true)}
	return b
}

// TestIncrementWork asks what an increment costs in a small and in a large archive: a line more of one original, and a
// night of new families. What is written for keys in no order lies in more pages as there are more, up to one for each.
func TestIncrementWork(t *testing.T) {
	type costs struct{ line, night work }
	of := func(n int) (k costs) {
		db, c := archived(t, n)
		for i := range 3 {
			// The least of several: now and then one has segments to merge, or a page to split.
			line := c.of(t, func() error { return db.Commit(t.Context(), grown(n/2, workLines+i)) })
			night := c.of(t, func() error { return db.Commit(t.Context(), workBatch(n+i*5, 5, false)) })
			if i == 0 {
				k = costs{line, night}
			}
			k = costs{least(k.line, line), least(k.night, night)}
		}
		return k
	}
	small, large := of(40), of(160)
	large.line.within(t, "a line", 1, small.line, 1, 1.1, 2)
	large.night.within(t, "a night", 1, small.night, 1, 1.1, 3)
}

// TestTidyWork asks what an archive of many nights costs, merges of segments and of words with it: what is written again
// and again is so only when there is several times as much.
func TestTidyWork(t *testing.T) {
	of := func(n int) work {
		db := newDB(t)
		c := countWrites(t, db)
		return c.of(t, func() error {
			for i := range n {
				if err := db.Commit(t.Context(), workBatch(i*2, 2, false)); err != nil {
					return err
				}
				if err := db.Tidy(t.Context()); err != nil {
					return err
				}
			}
			return nil
		})
	}
	const few, many = 16, 48
	large := of(many)
	large.within(t, "nights", many, of(few), few, 1.3, 2)
}

// TestSmallOriginalsWork asks what a batch costs for each original that is a run of a few events and nothing else, beside others
// that are in the index: what belongs to the original is looked up and written together with that of others.
func TestSmallOriginalsWork(t *testing.T) {
	const originals = 256
	batch := func(first int) index.Batch {
		var all []indextest.Original
		for i := range originals {
			id := fmt.Sprintf("small-%06d", first+i)
			o := indextest.Original{Source: "work", Path: id + ".txt", Format: "leslie", Role: "transcript", Content: id, Records: []transcript.Record{
				&transcript.Run{ID: id, Title: id}, &transcript.Conversation{Run: id}}}
			for line := range 4 {
				o.Records = append(o.Records, &transcript.Event{Run: id, Kind: transcript.KindMessage, Origin: indextest.Place(line), Parts: []transcript.Part{{Text: id}}})
			}
			all = append(all, o)
		}
		return indextest.Batch(fmt.Sprint("small-", first), all...)
	}
	db := newDB(t)
	c := countWrites(t, db)
	for first := range 2 {
		w := c.of(t, func() error { return db.Commit(t.Context(), batch(first*originals)) })
		t.Logf("%v", w)
		if w.statements == 0 || w.steps < 100*originals {
			t.Fatalf("%v: nothing was counted", w)
		}
		// What all statements of a commit are, once, and lots of 64 and of 512 rows of ten tables. Nothing is read that was just written.
		if w.statements > originals*2/5 || w.rows > originals/8 || w.steps > 910*originals {
			t.Errorf("%d statements, %d rows and %d steps for %d originals, at most 2 for five, 1 for eight and 910 for each are right",
				w.statements, w.rows, w.steps, originals)
		}
	}
	stored := batch(2 * originals) // by a reindex, which writes all packs first
	later := index.Batch{Parsed: stored.Parsed}
	stored.Parsed = nil
	if err := db.Commit(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	w := c.of(t, func() error { return db.Commit(t.Context(), later) })
	t.Logf("%v", w)
	if w.statements > originals*12/5 || w.rows > originals*9/8 || w.steps > 950*originals { // its version is looked up and updated as well
		t.Errorf("%d statements, %d rows and %d steps for %d originals that were stored before", w.statements, w.rows, w.steps, originals)
	}
}
