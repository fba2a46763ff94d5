package main

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	_ "modernc.org/sqlite"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/failure"
)

// probes are commands with arguments that fit an archive that holds the AWF example, those that change it last. A * is
// a space inside of an argument, TMP a directory.
var probes = []string{
	"cat awf/storage/audit.jsonl", "cost", "doctor", "list", "list runs", "list conversations", "restore --all --to TMP/r", "search review", "show r4tga7f3ymvx3",
	"show r4tga7f3ymvx3 --timeline", "source list", "sql SELECT*count(*)*FROM*v_events", "stats", "status", "tag list", "tree r4tga7f3ymvx3", "verify",
	"ingest", "init", "reindex", "source add TMP", "source remove awf", "tag add r4tga7f3ymvx3 x",
}

// archiveStates are what may be the matter with an archive: the exit code of commands that need it well, and what is
// said; and the exit codes of those that mind less, or find out.
var archiveStates = []struct {
	name  string
	spoil func(t *testing.T, dir string)
	code  int
	says  string
	but   map[string]int // by the beginning of the command line
}{
	{"none", removed, failure.ExitNoArchive, "ingest DIR", map[string]int{"ingest": failure.ExitUsage, "init": 0, "source add": 0}},
	{"file", func(t *testing.T, dir string) { removed(t, dir); written(t, dir, []byte("x")) }, failure.ExitNoArchive, "not a directory",
		map[string]int{"ingest": failure.ExitRefused, "init": failure.ExitRefused, "source add": failure.ExitRefused}},
	{"empty", func(t *testing.T, dir string) { removed(t, dir); inside(t.Context(), dir, "", "init") }, 0, "",
		map[string]int{"ingest": failure.ExitUsage, "cat": failure.ExitNotFound, "show": failure.ExitNotFound, "tree": failure.ExitNotFound, "tag add": failure.ExitNotFound,
			"source remove": failure.ExitNotFound, "restore": failure.ExitNotFound}},
	{"newer", newerIndex, failure.ExitTooNew, "install a newer txarchive", map[string]int{"doctor": failure.ExitProblems, "restore": 0}},
	{"garbage", func(t *testing.T, dir string) {
		written(t, dir+"/index.db", bytes.Repeat([]byte("no database "), 1000))
	}, failure.ExitCorrupt, "txarchive reindex",
		map[string]int{"reindex": 0, "restore": 0}},
	{"noindex", withoutIndex, failure.ExitCorrupt, "txarchive reindex",
		map[string]int{"reindex": 0, "restore": 0, "ingest": 0, "init": 0, "source add": 0, "source remove": 0, "tag add": 0}},
	{"nopacks", func(t *testing.T, dir string) { removed(t, dir+"/packs") }, failure.ExitCorrupt, "backup", nil},
	{"flipped", flipped, 0, "", map[string]int{"doctor": failure.ExitProblems, "cat": failure.ExitCorrupt, "show": failure.ExitCorrupt, "restore": failure.ExitCorrupt, "verify": failure.ExitCorrupt, "reindex": failure.ExitCorrupt}},
	{"locked", locked, 0, "", map[string]int{"doctor": failure.ExitProblems, "ingest": failure.ExitLocked, "init": failure.ExitLocked, "reindex": failure.ExitLocked,
		"source add": failure.ExitLocked, "source remove": failure.ExitLocked, "tag add": failure.ExitLocked}},
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func removed(t *testing.T, dir string) { t.Helper(); must(t, os.RemoveAll(dir)) }

func written(t *testing.T, file string, b []byte) { t.Helper(); must(t, os.WriteFile(file, b, 0o600)) }

func newerIndex(t *testing.T, dir string) {
	db, err := sql.Open("sqlite", filepath.Join(dir, "index.db"))
	must(t, err)
	_, err = db.Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)")
	must(t, err)
	must(t, db.Close())
}

func withoutIndex(t *testing.T, dir string) {
	files, err := filepath.Glob(dir + "/index*")
	must(t, err)
	for _, f := range files {
		must(t, os.Remove(f))
	}
}

func flipped(t *testing.T, dir string) {
	packs, err := filepath.Glob(dir + "/packs/*/*/*.gz")
	must(t, err)
	for _, p := range packs {
		b, err := os.ReadFile(p)
		must(t, err)
		_, field, ok := bytes.Cut(b[len(b)-200:], []byte("TM\x38\x00")) // docs/pack-format.md: where the manifest is
		if !ok {
			t.Fatalf("%s has no trailer", p)
		}
		for i := uint64(64); i < binary.LittleEndian.Uint64(field); i++ { // all contents, wherever a member lies
			b[i] ^= 0x55
		}
		must(t, os.Chmod(p, 0o600))
		written(t, p, b)
	}
}

func locked(t *testing.T, dir string) {
	store, err := archive.Open(t.Context(), dir, archive.Write, archive.Options{Command: "txarchive ingest"})
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
}

// TestArchiveStates holds that every command says what is wrong with an archive, and what to do about it.
func TestArchiveStates(t *testing.T) {
	t.Parallel()
	full := filled(t)
	for _, state := range archiveStates {
		var tmp, dir string
		for i, probe := range probes {
			if i == 0 || i >= slices.Index(probes, "ingest") { // who only reads leaves it to the next
				tmp = t.TempDir()
				dir = filepath.Join(tmp, "archive")
				must(t, os.CopyFS(dir, os.DirFS(full)))
				state.spoil(t, dir)
			}
			want := state.code
			for begins, code := range state.but {
				if strings.HasPrefix(probe, begins) {
					want = code
				}
			}
			line := strings.Fields(strings.ReplaceAll(probe, "TMP", tmp))
			for i := range line {
				line[i] = strings.ReplaceAll(line[i], "*", " ")
			}
			code, stdout, stderr := inside(t.Context(), dir, "", line...)
			if code != want || code == state.code && !strings.Contains(stdout+stderr, state.says) {
				t.Errorf("%s archive: %s: exit %d, want %d, and %q in\n%s%s", state.name, probe, code, want, state.says, stdout, stderr)
			}
			if code != 0 && (!strings.Contains(stderr, "txarchive: ") || !strings.Contains(stderr, "\nhint: ")) {
				t.Errorf("%s archive: %s: exit %d without a remedy:\n%s", state.name, probe, code, stderr)
			}
		}
	}
}

// TestWrongUsage holds for every command that there is: a wrong flag, too many arguments, and help.
func TestWrongUsage(t *testing.T) {
	dir := filled(t)
	every(newRootCommand(newApp(), ""), func(cmd *cobra.Command) {
		name := strings.Fields(cmd.CommandPath())[1:]
		if slices.Contains(name, "help") || slices.Contains(name, "completion") {
			return
		}
		code, _, stderr := inside(t.Context(), dir, "", append(slices.Clone(name), "--frobnicate")...)
		if code != failure.ExitUsage || !strings.Contains(stderr, "unknown flag: --frobnicate") || !strings.Contains(stderr, "hint: "+cmd.CommandPath()+" --help") {
			t.Errorf("%s with a wrong flag: exit %d\n%s", cmd.CommandPath(), code, stderr)
		}
		if code, stdout, _ := inside(t.Context(), dir, "", append(slices.Clone(name), "--help")...); code != 0 || !strings.Contains(stdout, "Usage:") {
			t.Errorf("%s --help: exit %d\n%s", cmd.CommandPath(), code, stdout)
		}
		if cmd.Args == nil || len(name) == 0 {
			return // takes any number
		}
		many := slices.Repeat([]string{"x"}, 9)
		if cmd.Args(cmd, many) == nil {
			return
		}
		code, _, stderr = inside(t.Context(), dir, "", append(slices.Clone(name), many...)...)
		if code != failure.ExitUsage || !strings.Contains(stderr, "hint: ") {
			t.Errorf("%s with nine arguments: exit %d\n%s", cmd.CommandPath(), code, stderr)
		}
	})
}

// every visits a command and all below it.
func every(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, sub := range cmd.Commands() {
		every(sub, visit)
	}
}
