package main

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/blobtest"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/seedtest"
)

var damages = flag.Int("damages", 4, "how many damages the repair campaign does")

// TestRepair damages packs and index in every way, a few at a time, and repairs. Then verify is well, deep too; every
// original that the damage has not touched is byte for byte what it was, and so is every other that is given back; what is
// not given back was said to be lost; and no text is one that never was.
func TestRepair(t *testing.T) {
	b := newBroken(t)
	for rounds, done := 0, 0; done < *damages; {
		b.r = seedtest.Rand(t)
		done += b.round(t, rounds%4 == 0)
		rounds++
		if t.Failed() {
			t.Fatalf("after %d damages", done)
		}
	}
}

// broken is an archive that rounds damage, and what it holds.
type broken struct {
	r      *rand.Rand
	base   string
	work   string
	packs  []basePack
	was    map[string][]byte  // by restored name, versions too
	parts  map[string][]where // of each restored name
	pieces [][]byte           // every extent's content
	texts  map[string]bool
	tokens int64
}

type basePack struct {
	name    string
	data    []byte
	members []blob.Member
}

// where is a member that an original needs.
type where struct {
	pack   string
	offset int64
	size   int64
}

func newBroken(t *testing.T) *broken {
	b := &broken{base: filepath.Join(t.TempDir(), "base"), work: filepath.Join(t.TempDir(), "work"), was: map[string][]byte{}, parts: map[string][]where{}, texts: map[string]bool{}}
	source := filepath.Join(t.TempDir(), "runs")
	r := rand.New(rand.NewPCG(1, 2))
	examples, err := filepath.Abs("../../testdata/runs")
	must(t, err)
	for _, name := range []string{"awf", "leslie"} {
		must(t, os.CopyFS(filepath.Join(source, name), os.DirFS(filepath.Join(examples, name))))
	}
	long := filepath.Join(source, "awf/storage/transcripts/77777777-0000-4000-8000-000000000000.jsonl")
	for round := range 4 { // a log of several members, which grows; a copy; a file that is written anew
		var text bytes.Buffer
		if round > 0 {
			was, err := os.ReadFile(long)
			must(t, err)
			text.Write(was)
		}
		for i := range 40 { // long words, which search does not keep, make lines long and indexing them cheap
			word := make([]byte, 5000)
			for j := range word {
				word[j] = byte(r.Uint32())
			}
			fmt.Fprintf(&text, `{"seq":%d,"run_id":"7bbb1888-b9f8-4f6d-99fa-5db6adc0f63e","type":"message.user","path":"w","iteration":0,"timestamp":"2026-11-21T01:%02d:%02dZ","payload":{"role":"user","blocks":[{"type":"text","text":"line %d %d %s"}]}}`+"\n",
				round*1000+i, i/60, i%60, round, i, base64.StdEncoding.EncodeToString(word))
		}
		written(t, long, text.Bytes())
		if round%2 == 1 {
			written(t, filepath.Join(source, fmt.Sprintf("awf/storage/transcripts/8888888%d-0000-4000-8000-000000000000.jsonl", round)), text.Bytes())
		}
		written(t, filepath.Join(source, "awf/storage/states/again.json"), []byte(fmt.Sprintf(`{"id":"again","round":%d}`, round)))
		call(t, b.base, "ingest", source)
	}
	must(t, os.RemoveAll(source)) // else everything would come back from there
	b.learn(t)
	return b
}

// learn remembers what the archive holds, and where.
func (b *broken) learn(t *testing.T) {
	a, err := archive.Open(t.Context(), b.base, archive.Read, archive.Options{})
	must(t, err)
	defer a.Close()
	library := a.Library()
	for info, err := range a.Packs().List(t.Context()) {
		must(t, err)
		p, err := a.Packs().Open(t.Context(), info.Name)
		must(t, err)
		opened, err := pack.Open(t.Context(), p, info.Name)
		must(t, err)
		data := make([]byte, info.Size)
		_, err = p.ReadAt(data, 0)
		must(t, err)
		must(t, p.Close())
		b.packs = append(b.packs, basePack{info.Name, data, opened.Manifest().Members})
		for _, v := range opened.Manifest().Versions {
			for _, e := range v.Extents {
				if e.CopyOf == nil {
					e.CopyOf = &blob.Copy{Pack: info.Name, Raw: e.Raw}
					content := new(bytes.Buffer)
					_, err := content.ReadFrom(library.Reader(t.Context(), []blob.Extent{e}))
					must(t, err)
					b.pieces = append(b.pieces, content.Bytes())
				}
			}
		}
	}
	b.was = restoredAll(t, b.base)
	newest := map[string]int{}
	for s, err := range a.Index().States(t.Context()) {
		must(t, err)
		newest[s.Source+"/"+s.Path] = s.Number
	}
	for s, err := range a.Index().States(t.Context()) {
		must(t, err)
		name := s.Source + "/" + s.Path
		if newest[name] != s.Number {
			name += fmt.Sprintf("@v%d", s.Number)
		}
		if b.was[name] == nil {
			t.Fatalf("%s was not restored", name)
		}
		for _, e := range s.Extents {
			b.parts[name] = append(b.parts[name], b.membersOf(e)...)
		}
	}
	for _, text := range textsOf(t, b.base) {
		b.texts[text] = true
	}
	b.tokens = tokensOf(t, b.base)
}

func (b *broken) membersOf(e blob.Extent) (all []where) {
	for _, p := range b.packs {
		for _, m := range p.members {
			// The header stands before the content, in the same member or in the one before it.
			if p.name == e.CopyOf.Pack && m.Raw < e.CopyOf.Raw+max(e.Size, 1) && e.CopyOf.Raw-512 < m.Raw+m.RawSize {
				all = append(all, where{p.name, m.Offset, m.Size})
			}
		}
	}
	return all
}

// restoredAll is every version of every original, by the name that it is restored under.
func restoredAll(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	to := filepath.Join(t.TempDir(), "to")
	code, stdout, stderr := inside(t.Context(), dir, "", "restore", "--all", "--all-versions", "--to", to)
	if code != 0 && code != failure.ExitCorrupt {
		t.Fatalf("restore: exit %d\n%s%s", code, stdout, stderr)
	}
	all := map[string][]byte{}
	for name, data := range filesIn(t, to) {
		all[name] = []byte(data)
	}
	must(t, os.RemoveAll(to))
	return all
}

// textsOf are those of all events.
func textsOf(t *testing.T, dir string) (all []string) {
	t.Helper()
	for _, row := range decode[[]map[string]string](t, call(t, dir, "sql", "--json", "SELECT coalesce(event_text(event_id), '') AS text FROM v_events")) {
		all = append(all, row["text"])
	}
	return all
}

func tokensOf(t *testing.T, dir string) int64 {
	t.Helper()
	rows := decode[[]map[string]*int64](t, call(t, dir, "sql", "--json", "SELECT sum(output_tokens) AS n FROM v_usage WHERE verdict = 'counted'"))
	if n := rows[0]["n"]; n != nil {
		return *n
	}
	return 0
}

// round damages, repairs and looks. It returns how many damages there were.
func (b *broken) round(t *testing.T, deep bool) int {
	must(t, os.RemoveAll(b.work))
	must(t, os.CopyFS(b.work, os.DirFS(b.base)))
	link, err := os.Readlink(filepath.Join(b.base, "index.db"))
	must(t, err)
	_ = os.Remove(filepath.Join(b.work, "index.db"))
	must(t, os.Symlink(link, filepath.Join(b.work, "index.db")))

	now, did := map[string][]byte{}, "damaged" // of damaged packs
	for range 1 + b.r.IntN(3) {
		p := b.packs[b.r.IntN(len(b.packs))]
		if _, again := now[p.name]; again {
			continue
		}
		h := blobtest.Corruptions[b.r.IntN(len(blobtest.Corruptions))]
		is := h.Do(b.r, bytes.Clone(p.data), p.members, bytes.Clone(b.packs[b.r.IntN(len(b.packs))].data))
		if is != nil && bytes.Equal(is, p.data) {
			continue
		}
		now[p.name] = is
		file := filepath.Join(b.work, "packs", filepath.FromSlash(p.name)+".tar.gz")
		must(t, os.Chmod(file, 0o600))
		if is == nil {
			must(t, os.Remove(file))
		} else {
			written(t, file, is)
		}
		did += "; " + p.name + ": " + h.Name
	}
	if len(now) == 0 {
		return 0
	}
	index := "whole"
	switch b.r.IntN(6) {
	case 0:
		index = "gone"
		withoutIndex(t, b.work)
	case 1:
		index = "damaged"
		b.hurtIndex(t, filepath.Join(b.work, link))
	}
	did += "; index " + index
	line := []string{"verify", "--repair", "--yes", "--json"}
	if b.r.IntN(5) == 0 {
		line = append(line, "--from", b.base)
		did += "; with a backup"
	}
	code, stdout, stderr := inside(t.Context(), b.work, "", line...)
	if code != 0 {
		t.Fatalf("%s: repair: exit %d\n%s%s", did, code, stdout, stderr)
	}
	report := decode[repairJSON](t, stdout)
	b.wellAfter(t, did, &report, deep)
	b.givenBack(t, did, &report, now, index != "whole", len(line) > 4)
	return len(now)
}

// hurtIndex overwrites a stretch of the index: a part of a page, or several.
func (b *broken) hurtIndex(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	must(t, err)
	from := b.r.IntN(len(data))
	to := min(len(data), from+1+b.r.IntN(20000))
	for i := from; i < to; i++ {
		data[i] = byte(b.r.Uint32())
	}
	written(t, file, data)
}

func (b *broken) wellAfter(t *testing.T, did string, report *repairJSON, deep bool) {
	if !report.OK || !report.Applied {
		t.Errorf("%s: repair says %+v", did, report)
	}
	line := []string{"verify", "--json"}
	if deep {
		line = append(line, "--deep")
	}
	code, stdout, stderr := inside(t.Context(), b.work, "", line...)
	if code != 0 {
		t.Errorf("%s: verify: exit %d\n%s%s", did, code, stdout, stderr)
	}
	lost := int64(0)
	for _, l := range report.Lost {
		lost += l.Size
	}
	if v := decode[archive.VerifyReport](t, stdout); v.KnownBytes != lost {
		t.Errorf("%s: verify knows of %d lost bytes, the repair of %d", did, v.KnownBytes, lost)
	}
	if !deep {
		return
	}
	for _, text := range textsOf(t, b.work) {
		if !b.texts[text] {
			t.Errorf("%s: a text that never was: %.200q", did, text)
		}
	}
	if n := tokensOf(t, b.work); n > b.tokens {
		t.Errorf("%s: %d tokens, there were %d", did, n, b.tokens)
	}
	code, stdout, _ = inside(t.Context(), b.work, "", "verify", "--repair", "--json")
	if again := decode[repairJSON](t, stdout); code != 0 || again.Applied || len(again.Known) != len(report.Lost) {
		t.Errorf("%s: the second repair: exit %d %+v", did, code, again)
	}
}

// givenBack restores everything. blind says that only the packs were left to know by.
func (b *broken) givenBack(t *testing.T, did string, report *repairJSON, now map[string][]byte, blind, backed bool) {
	got := restoredAll(t, b.work)
	for _, is := range now { // without an index nobody knows that there was a pack
		backed = backed && !(blind && is == nil)
	}
	lost := map[string]bool{}
	for _, l := range report.Lost {
		lost[l.Source+"/"+l.Path] = true
	}
	for name, was := range b.was {
		data, back := got[name]
		if !back {
			data, back = got[strings.TrimSuffix(name, "@v1")]
			back = back && bytes.Equal(data, was) // the newer version was in a pack that is gone
		}
		base, _, _ := strings.Cut(name, "@v")
		switch {
		case back && bytes.Equal(data, was):
		case back && blind && b.known(data, was): // an earlier state, all that is left; or a part of it under a name of its own
		case back:
			t.Errorf("%s: %s is given back wrong, %d bytes for %d", did, name, len(data), len(was))
		case backed:
			t.Errorf("%s: %s is not given back, though the backup has it", did, name)
		case b.untouched(name, now) && !(blind && b.blinded(name, now)):
			t.Errorf("%s: %s is not given back, though no damage has touched it", did, name)
		case !blind && !lost[base]:
			t.Errorf("%s: %s is not given back, and was not said to be lost", did, name)
		}
	}
	for name, data := range got {
		if b.was[name] == nil && !(blind && b.piece(data)) {
			t.Errorf("%s: %s was never stored", did, name)
		}
	}
}

// known says whether data is an earlier state of an original, or some piece of one.
func (b *broken) known(data, was []byte) bool { return bytes.HasPrefix(was, data) || b.piece(data) }

func (b *broken) piece(data []byte) bool {
	return slices.ContainsFunc(b.pieces, func(p []byte) bool { return bytes.Equal(p, data) }) ||
		slices.ContainsFunc(b.pieces, func(p []byte) bool { return bytes.HasPrefix(data, p) })
}

// untouched says whether every member that an original needs is still somewhere in its pack.
func (b *broken) untouched(name string, now map[string][]byte) bool {
	for _, w := range b.parts[name] {
		is, damaged := now[w.pack]
		i := slices.IndexFunc(b.packs, func(p basePack) bool { return p.name == w.pack })
		if damaged && !bytes.Contains(is, b.packs[i].data[w.offset:w.offset+w.size]) {
			return false
		}
	}
	return true
}

// blinded says whether a pack that an original needs has lost what tells its name: its manifest.
func (b *broken) blinded(name string, now map[string][]byte) bool {
	for _, p := range b.packs {
		is, damaged := now[p.name]
		last := p.members[len(p.members)-1]
		if damaged && !bytes.Contains(is, p.data[last.Offset+last.Size:]) {
			return true
		}
	}
	return false
}

// TestRepairByNamesAlone has a pack go of which a damaged index knows the name and nothing else: the rest is repaired, and what it held
// is there again when it comes back.
func TestRepairByNamesAlone(t *testing.T) {
	dir := filled(t)
	was := dumpViews(t, dir)
	packs, err := filepath.Glob(filepath.Join(dir, "packs/*/*/*.gz"))
	must(t, err)
	away := filepath.Join(t.TempDir(), "away")
	must(t, os.Rename(packs[0], away))
	file := filepath.Join(dir, "index.db")
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	must(t, err)
	var page, size int
	must(t, db.QueryRow("SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = 'versions'").Scan(&page, &size))
	must(t, db.Close())
	data, err := os.ReadFile(file)
	must(t, err)
	copy(data[(page-1)*size:page*size], bytes.Repeat([]byte{0xff}, size))
	written(t, file, data)
	report := decode[repairJSON](t, call(t, dir, "verify", "--repair", "--yes", "--json"))
	if !report.OK || !report.Rebuilt || len(report.Wrecks) != 1 || !report.Wrecks[0].Missing || report.Wrecks[0].Told || !strings.Contains(packs[0], report.Wrecks[0].Pack) {
		t.Errorf("%+v", report)
	}
	call(t, dir, "verify", "--deep")
	call(t, dir, "reindex")
	must(t, os.Rename(away, packs[0]))
	call(t, dir, "gc")
	if is := dumpViews(t, dir); !slices.Equal(is, was) {
		t.Errorf("%s", firstDifference(is, was))
	}
}

// TestIngestAfterLoss has content that was lost in part come again, in another file and in its own: it is stored whole, and
// nothing takes the rest of it for a copy.
func TestIngestAfterLoss(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir, source := filepath.Join(root, "archive"), filepath.Join(root, "runs")
	must(t, os.CopyFS(filepath.Join(source, "awf"), os.DirFS(filepath.Join(runs, "awf"))))
	l := newLeaky(source, 1)
	l.write(t, rand.New(rand.NewPCG(3, 3)), 3000)
	call(t, dir, "ingest", source)
	packs, err := filepath.Glob(filepath.Join(dir, "packs/*/*/*"))
	must(t, err)
	data, err := os.ReadFile(packs[0])
	must(t, err)
	for i := range 3 {
		blobtest.Damage(data, len(data)/4*(i+1))
	}
	written(t, packs[0], data)
	away := filepath.Join(root, "away")
	must(t, os.Rename(source, away))
	report := decode[repairJSON](t, call(t, dir, "verify", "--repair", "--yes", "--json"))
	if len(report.Lost) == 0 || report.SavedBytes == 0 {
		t.Fatalf("%+v", report)
	}
	must(t, os.CopyFS(filepath.Join(root, "other", "awf"), os.DirFS(filepath.Join(away, "awf"))))
	call(t, dir, "ingest", filepath.Join(root, "other"))
	must(t, os.Rename(away, source))
	l.write(t, rand.New(rand.NewPCG(4, 4)), 2) // so that it is read
	call(t, dir, "ingest", source)
	call(t, dir, "verify", "--deep")
	to := filepath.Join(root, "to")
	_, _, _ = inside(t.Context(), dir, "", "restore", "--all", "--to", to)
	for _, name := range []string{"other/" + awfTranscripts + "/" + filepath.Base(l.file), "runs/" + awfTranscripts + "/" + filepath.Base(l.file)} {
		want, err := os.ReadFile(filepath.Join(root, name))
		must(t, err)
		if got, err := os.ReadFile(filepath.Join(to, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s came back as %d bytes for %d: %v", name, len(got), len(want), err)
		}
	}
}
