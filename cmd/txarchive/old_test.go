package main

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/failure"
)

// oldArchives are archives as releases wrote them: docs/upgrades.md.
const oldArchives = "../../testdata/archives"

var writeArchive = flag.String("write-archive", "", "have TestOldArchives write this one (v1, v2, ...) as the program does now")

// oldWant is what an old archive must give for ever.
type oldWant struct {
	Files map[string]string `json:"files"` // SHA-256 of what is restored
	At    string            `json:"at"`    // a time before the last of it was archived
	Then  map[string]string `json:"then"`  // what is restored of that time
	Hits  map[string]int    `json:"hits"`  // of queries
}

// TestOldArchives: what any release has written opens, searches, verifies, restores, is written to and is indexed again.
func TestOldArchives(t *testing.T) {
	if name := *writeArchive; name != "" {
		if released(t, name) {
			t.Fatalf("%s is released: it is never written again", name)
		}
		writeOldArchive(t, filepath.Join(oldArchives, name))
	}
	all, err := filepath.Glob(oldArchives + "/v*")
	must(t, err)
	if len(all) == 0 {
		t.Fatal("there is no old archive")
	}
	for _, from := range all {
		t.Run(filepath.Base(from), func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(from, "want.json"))
			must(t, err)
			want := decode[oldWant](t, string(text))
			dir := copyArchive(t, from)
			must(t, os.Remove(filepath.Join(dir, "want.json")))
			if !unchangedSchema(t, dir) {
				if released(t, filepath.Base(from)) {
					t.Fatal("the schema of a released version has changed: changes need a migration of their own")
				}
				t.Log("the schema has changed since this archive was written, which is not released: its index is made anew here, write it again with -write-archive before the release")
				call(t, dir, "reindex")
			}
			call(t, dir, "verify")
			call(t, dir, "ingest", runs+"/devflow") // whoever writes brings an older schema up to date
			holds(t, dir, &want)
			call(t, dir, "reindex")
			holds(t, dir, &want)
			call(t, dir, "gc")
			call(t, dir, "verify", "--deep")
			holds(t, dir, &want)
		})
	}
}

// holds wants an archive to give what it must.
func holds(t *testing.T, dir string, want *oldWant) {
	t.Helper()
	for query, n := range want.Hits {
		if got := strings.Count(call(t, dir, "search", "--json", "--limit=0", query), "\n"); got != n {
			t.Errorf("%q gives %d hits, want %d", query, got, n)
		}
	}
	for _, c := range []struct {
		files map[string]string
		line  []string
	}{{want.Files, []string{"--all"}}, {want.Then, []string{"--all", "--at", want.At}}} {
		got := restoredHashes(t, dir, c.line...)
		maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasPrefix(name, "devflow") })
		if !maps.Equal(got, c.files) {
			t.Errorf("restore %s gives %d files, want %d, not all as they were", strings.Join(c.line, " "), len(got), len(c.files))
		}
	}
}

func restoredHashes(t *testing.T, dir string, line ...string) map[string]string {
	t.Helper()
	to, all := filepath.Join(t.TempDir(), "back"), map[string]string{}
	call(t, dir, append([]string{"restore", "--to", to}, line...)...)
	for name, versions := range restored(t, to) {
		sum := sha256.Sum256([]byte(versions[0]))
		all[name] = hex.EncodeToString(sum[:])
	}
	return all
}

// released says whether a release wrote such an archive.
func released(t *testing.T, name string) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(oldArchives, "released.txt"))
	must(t, err)
	return slices.Contains(strings.Fields(string(text)), name)
}

// unchangedSchema says whether an index, brought up to date, has the columns and indexes of a new one: else a migration that
// had been applied to it has changed since.
func unchangedSchema(t *testing.T, dir string) bool {
	t.Helper()
	fresh := filepath.Join(t.TempDir(), "fresh")
	call(t, fresh, "init")
	call(t, dir, "init")
	return schemaOf(t, dir) == schemaOf(t, fresh)
}

func schemaOf(t *testing.T, dir string) (schema string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "index.db")+"?mode=ro")
	must(t, err)
	defer db.Close()
	must(t, db.QueryRow(`SELECT group_concat(name, ' ') FROM (SELECT m.name || '.' || coalesce(c.name, '') AS name FROM sqlite_master m
		LEFT JOIN pragma_table_xinfo(m.name) c ORDER BY 1)`).Scan(&schema))
	return schema
}

// TestNewerArchive: what a later program has written is refused with a clear text, and not touched.
func TestNewerArchive(t *testing.T) {
	for name, spoil := range map[string]func(dir string){
		"schema": func(dir string) {
			db, err := sql.Open("sqlite", filepath.Join(dir, "index.db"))
			must(t, err)
			_, err = db.Exec("INSERT INTO goose_db_version (version_id, is_applied) SELECT max(version_id) + 1, 1 FROM goose_db_version")
			must(t, err)
			must(t, db.Close())
		},
		"pack": func(dir string) {
			must(t, os.CopyFS(filepath.Join(dir, "packs"), os.DirFS(oldArchives+"/newer/packs")))
		},
	} {
		dir := filled(t)
		spoil(dir)
		before := restoredHashes(t, dir, "--all")
		for _, line := range []string{"ingest", "verify", "gc", "reindex", "tag add r4tga7f3ymvx3 x"} {
			code, _, stderr := inside(t.Context(), dir, "", strings.Fields(line)...)
			if code != failure.ExitTooNew || !strings.Contains(stderr, "newer than this program") || !strings.Contains(stderr, "hint: install a newer txarchive") {
				t.Errorf("newer %s: %s: exit %d\n%s", name, line, code, stderr)
			}
		}
		if !maps.Equal(restoredHashes(t, dir, "--all"), before) {
			t.Errorf("newer %s: what was refused has changed something", name)
		}
	}
}

// writeOldArchive writes an archive as this program does, with all that one may hold, and what it must give.
func writeOldArchive(t *testing.T, to string) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	source, dir := t.TempDir(), filepath.Join(t.TempDir(), "archive")
	for _, name := range []string{"awf", "chibi"} {
		must(t, os.CopyFS(filepath.Join(source, name), os.DirFS(filepath.Join(runs, name))))
	}
	sources := []string{filepath.Join(source, "awf"), filepath.Join(source, "chibi")}
	grown, gone := newLeaky(source, 1), newLeaky(source, 2)
	note := filepath.Join(sources[1], ".chibi/contexts/default/note.txt")
	want := oldWant{Hits: map[string]int{}}
	for n := range 9 { // so many that gc joins some
		grown.write(t, r, 20)
		gone.write(t, r, 5)
		must(t, os.MkdirAll(filepath.Dir(note), 0o700))
		written(t, note, fmt.Appendf(nil, "rewritten %d times", n))
		call(t, dir, append([]string{"ingest"}, sources...)...)
		if n == 3 {
			want.At = time.Now().UTC().Format(time.RFC3339Nano)
			want.Then = restoredHashes(t, dir, "--all")
		}
	}
	id := func(l *leaky) string {
		return runNamed(t, dir, l.id)
	}
	call(t, dir, "tag", "add", id(grown), "kept")
	call(t, dir, "pin", id(grown))
	call(t, dir, "prune", "--yes", "--run", id(gone))
	call(t, dir, "gc")
	delete(want.Then, "awf/storage/transcripts/"+filepath.Base(gone.file))
	want.Files = restoredHashes(t, dir, "--all")
	for _, query := range []string{"format:awf review", "format:awf tool:bash", grown.marks[0], gone.marks[0], "format:chibi the"} {
		want.Hits[query] = strings.Count(call(t, dir, "search", "--json", "--limit=0", query), "\n")
	}
	must(t, os.RemoveAll(to))
	copyArchiveTo(t, dir, to)
	for _, name := range []string{"lock", "index-1.db-wal", "index-1.db-shm"} { // the log is empty
		if err := os.Remove(filepath.Join(to, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	text, err := json.MarshalIndent(want, "", "\t")
	must(t, err)
	written(t, filepath.Join(to, "want.json"), append(text, '\n'))
}
