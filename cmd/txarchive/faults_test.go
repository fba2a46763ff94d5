package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/seedtest"
)

var faults = flag.Int("faults", 1, "how many operations of each command fail or are the last; 0 is every one, in every way")

// ways are how an operation of the file system fails. first says whether it is the one that was chosen; later ones come
// with it.
var ways = map[string]func(op string, first bool) error{
	"EIO": func(_ string, first bool) error {
		if first {
			return syscall.EIO
		}
		return nil
	},
	"short write": func(op string, first bool) error {
		if first && op == disk.OpWrite {
			return &disk.ShortWrite{N: 5, Err: syscall.EIO}
		}
		return nil
	},
	"ENOSPC from then on": func(op string, _ bool) error {
		switch op {
		case disk.OpCreate, disk.OpWrite, disk.OpMkdir, disk.OpLink:
			return syscall.ENOSPC
		}
		return nil
	},
	"EIO from then on": func(string, bool) error { return syscall.EIO },
}

// oneByOne has ask, if it is one, called by one operation at a time: some are side by side.
func oneByOne(ask func(op, path string) error) func(op, path string) error {
	if ask == nil {
		return nil
	}
	var mu sync.Mutex
	return func(op, path string) error {
		mu.Lock()
		defer mu.Unlock()
		return ask(op, path)
	}
}

// faulty runs a command inside, with a file system that asks before each operation.
func faulty(t *testing.T, b *bench, fault func(op, path string) error) (code int, stderr string) {
	var out, errs bytes.Buffer
	a := &app{Printer: printer.Printer{Out: &out, Err: &errs, Now: time.Now, Getenv: func(key string) string {
		return map[string]string{"TXARCHIVE_DIR": b.dir, "HOME": "/nonexistent"}[key]
	}}, in: strings.NewReader(""), log: slog.New(slog.DiscardHandler), fault: oneByOne(fault), planMemory: b.room}
	return execute(t.Context(), a, b.args()), errs.String()
}

// failFrom returns a fault that lets n operations pass, and none after these.
func failFrom(n int) func(op, path string) error {
	at := 0
	return func(string, string) error {
		if at++; at > n {
			return syscall.EIO
		}
		return nil
	}
}

// chosen are the operations, and the ways, that a campaign takes: all, or some at random.
func chosen(r *rand.Rand, total int) []int {
	all := r.Perm(total)
	if *faults > 0 {
		all = all[:min(*faults, total)]
	}
	return all
}

// TestFaults lets the operations of every command that writes fail, one after the other, in every way. What was there
// is still there, and the command, repeated, does all of its work.
func TestFaults(t *testing.T) {
	r, total := seedtest.Rand(t), 0
	for _, w := range some(t, r, *faults != 1) {
		t.Run(strings.ReplaceAll(w.name, " ", "-"), func(t *testing.T) {
			want, root, ops := w.calm(t), t.TempDir(), 0
			b := w.bench(t, root)
			if code, stderr := faulty(t, b, func(string, string) error { ops++; return nil }); code != 0 {
				t.Fatalf("exit %d\n%s", code, stderr)
			}
			names := slices.Sorted(maps.Keys(ways))
			for _, pick := range chosen(r, ops*len(ways)) {
				way, n := names[pick%len(ways)], pick/len(ways)
				fail := ways[way]
				b, at, did := w.bench(t, root), 0, ""
				b.straight = r.IntN(3) == 0
				code, stderr := faulty(t, b, func(op, path string) error {
					at++
					if at <= n {
						return nil
					}
					err := fail(op, at == n+1)
					if at == n+1 {
						did = op + " " + filepath.Base(path)
					}
					return err
				})
				what := fmt.Sprintf("%s at operation %d (%s), exit %d", way, n+1, did, code)
				if strings.Contains(stderr, "panic") {
					t.Fatalf("%s\n%s", what, stderr)
				}
				b.settled(t, what, want)
				total++
			}
			t.Logf("%d operations", ops)
		})
	}
	t.Logf("%d faults", total)
}

// dyingEnv names the operation at which the program kills itself, the room that it has for plans, and the directory of its journal.
const dyingEnv = "TXARCHIVE_TEST_DIES"

// dying is the program, which kills itself at an operation, and writes down before each what a power cut could undo.
func dying(at string) int {
	n, rest, _ := strings.Cut(at, " ")
	left, _ := strconv.Atoi(n)
	room, dir, _ := strings.Cut(rest, " ")
	file, err := os.OpenFile(filepath.Join(dir, "journal"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	a := newApp()
	a.planMemory, _ = strconv.Atoi(room)
	a.buildFrom = 0 // as faulty has it: every first load has an index of its own
	count := 0
	a.fault = oneByOne(func(op, path string) error {
		count++
		if count == left {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
			select {}
		}
		kept := ""
		if _, err := os.Lstat(path); err == nil && (op == disk.OpRemove || op == disk.OpRename) {
			kept = strconv.Itoa(count)
			if link, err := os.Readlink(path); err == nil {
				if err := os.Symlink(link, filepath.Join(dir, kept)); err != nil {
					return err
				}
			} else if os.Link(path, filepath.Join(dir, kept)) != nil {
				kept = "" // a directory
			}
		}
		fmt.Fprintf(file, "%s\t%s\t%d\t%s\n", op, path, inodeOf(path), kept)
		return nil
	})
	return execute(context.Background(), a, os.Args[1:])
}

// indexes are the generations of the index that lie in an archive.
func indexes(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "index-*.db"))
	must(t, err)
	return all
}

// powerCut takes back what a journal says that was not made durable, as a disk may: names, removals, and bytes. Of a generation of
// the index that is not the first of its archive, and not among those before, SQLite makes nothing durable by itself.
func powerCut(t *testing.T, r *rand.Rand, journal, root string, before []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(journal, "journal"))
	if err != nil {
		return
	}
	type entry struct{ op, path, kept string }
	pending := map[string][]entry{} // by directory
	var order []entry
	dirty := map[uint64]bool{}
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		inode, _ := strconv.ParseUint(f[2], 10, 64)
		switch op, path := f[0], f[1]; op {
		case disk.OpWrite:
			dirty[inode] = true
		case disk.OpSync:
			delete(dirty, inode)
			before = append(before, path)
		case disk.OpRename, disk.OpLink, disk.OpMkdir, disk.OpRemove:
			if op == disk.OpLink && filepath.Base(path) == "index.db" {
				continue // a link of another name, which is then renamed to this one
			}
			e := entry{op, path, f[3]}
			pending[filepath.Dir(path)] = append(pending[filepath.Dir(path)], e)
			order = append(order, e)
		case disk.OpSyncDir:
			for _, e := range pending[path] {
				for i := range order {
					if order[i] == e {
						order = append(order[:i], order[i+1:]...)
						break
					}
				}
			}
			delete(pending, path)
		}
	}
	for _, path := range indexes(t, filepath.Join(root, "archive")) {
		if filepath.Base(path) != "index-1.db" && !slices.Contains(before, path) {
			dirty[inodeOf(path)] = true
		}
	}
	for i := len(order) - 1; i >= 0; i-- {
		e := order[i]
		if r.IntN(2) == 0 {
			continue // it reached the disk all the same
		}
		if e.op != disk.OpRemove {
			must(t, os.RemoveAll(e.path))
		}
		if e.kept != "" {
			_ = os.Rename(filepath.Join(journal, e.kept), e.path)
		}
	}
	must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !d.Type().IsRegular() || !dirty[inodeOf(path)] {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Truncate(path, r.Int64N(info.Size()+1))
	}))
}

// TestKilledSteps kills every command that writes at its operations, one after the other, and lets the power go with it: what
// was not made durable is lost. The same after the command has ended: then nothing may be lost that it has promised.
func TestKilledSteps(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	total := 0
	for _, w := range some(t, seedtest.Rand(t), *faults != 1) {
		t.Run(strings.ReplaceAll(w.name, " ", "-"), func(t *testing.T) {
			want, root := w.calm(t), t.TempDir()
			b, ops := w.bench(t, root), 0
			faulty(t, b, func(string, string) error { ops++; return nil })
			r := seedtest.Rand(t)
			for _, n := range append(chosen(r, ops), ops+100) {
				b, journal := w.bench(t, root), t.TempDir()
				before := indexes(t, b.dir)
				b.straight = r.IntN(3) == 0
				c := exec.Command(self, append([]string{"--archive", b.dir}, b.args()...)...)
				c.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %s", dyingEnv, n+1, b.room, journal))
				out, err := c.CombinedOutput()
				if !b.loose {
					powerCut(t, r, journal, root, before)
				}
				what := fmt.Sprintf("killed at operation %d: %v", n+1, err)
				if err == nil {
					b.sound(t, what+", and no power then")
					if got := dumpViews(t, b.dir); len(got) != len(want.views) {
						t.Fatalf("%s: %d rows, want %d", what, len(got), len(want.views))
					}
				} else if !strings.Contains(err.Error(), "killed") {
					t.Fatalf("%s\n%s", what, out)
				}
				b.settled(t, what, want)
				total++
			}
			t.Logf("%d operations", ops)
		})
	}
	t.Logf("%d kills", total)
}

// TestKilledCommands kills the real program at random instants, in every command that writes and that no other test kills so.
func TestKilledCommands(t *testing.T) {
	bin, total := program(t), 0
	for _, w := range some(t, seedtest.Rand(t), *kills > 8) {
		t.Run(strings.ReplaceAll(w.name, " ", "-"), func(t *testing.T) {
			want, root := w.calm(t), t.TempDir()
			b := w.bench(t, root)
			took := run(t, bin, b.dir, b.args()...)
			for done := 0; done < max(1, *kills/8); {
				r := seedtest.Rand(t)
				b := w.bench(t, root)
				for range 1 + r.IntN(3) {
					if struck(t, bin, b.dir, r, took, b.args()) {
						done++
						total++
					}
				}
				b.settled(t, "killed", want)
			}
		})
	}
	t.Logf("%d kills", total)
}

// TestRestoreFullDisk holds that a restore ends when the disk is full, and does not name every file that is left.
func TestRestoreFullDisk(t *testing.T) {
	dir, to := filled(t), t.TempDir()
	var out, errs bytes.Buffer
	a := &app{Printer: printer.Printer{Out: &out, Err: &errs, Now: time.Now,
		Getenv: func(key string) string { return map[string]string{"TXARCHIVE_DIR": dir}[key] }}, in: strings.NewReader(""), log: slog.New(slog.DiscardHandler),
		fault: func(op, _ string) error {
			if op == disk.OpWrite {
				return syscall.ENOSPC
			}
			return nil
		}}
	code := execute(t.Context(), a, []string{"restore", "--all", "--to", to})
	if named := strings.Count(errs.String(), "failed: "); code != failure.ExitUnexpected || named == 0 || named > max(2, runtime.GOMAXPROCS(0)) ||
		!strings.HasSuffix(errs.String(), "hint: "+hintFull+"\n") {
		t.Errorf("exit %d, %d files are named\n%s", code, named, &errs)
	}
}
