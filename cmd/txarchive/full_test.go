package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/seedtest"
)

var fulls = flag.Int("fulls", 1, "with how much room TestFullDisk tries each command; 1 is some of them, on a full disk and with a little room")

// fullDisk is a file system of which a test chooses how much is free. Where none may be mounted, the limit on the size
// of each file takes its place: it stops packs, index and log in the same way, but not what is small.
type fullDisk struct {
	t       *testing.T
	dir     string
	mounted bool
}

const fullDiskSize = 96 << 20

// smallDisk names the directory of a small file system in the environment of a test that onSmallDisk has begun.
const smallDisk = "TEST_SMALL_DISK"

// leave fills the disk but for some room.
func (d *fullDisk) leave(room int64) {
	d.t.Helper()
	if !d.mounted {
		return
	}
	f, err := os.Create(filepath.Join(d.dir, "filler"))
	must(d.t, err)
	chunk, size := make([]byte, 64<<10), int64(0)
	for {
		n, err := f.Write(chunk)
		size += int64(n)
		if err != nil {
			break
		}
	}
	must(d.t, f.Truncate(max(0, size-room)))
	must(d.t, f.Close())
}

// run runs the program with the room that was left.
func (d *fullDisk) run(room int64, args ...string) (code int, output string) {
	d.t.Helper()
	cmd := exec.Command(program(d.t), args...)
	if !d.mounted {
		limited := append([]string{"-c", fmt.Sprintf(`ulimit -f %d; exec "$0" "$@"`, room/512), program(d.t)}, args...)
		cmd = exec.Command("sh", limited...)
	}
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		d.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// fullCase is a command for which there is not room enough.
type fullCase struct {
	name string
	from string // the archive that it begins with; "" is none
	line []string
	code int // that it ends in for want of room
}

// TestFullDisk: a command that meets a full disk says so and what to do, and loses nothing; when there is room again the
// same command ends where an undisturbed one does.
func TestFullDisk(t *testing.T) {
	d := &fullDisk{t: t, dir: os.Getenv(smallDisk), mounted: true}
	if d.dir == "" {
		why := onSmallDisk(t, t.Name(), fullDiskSize, fmt.Sprintf("-fulls=%d", *fulls))
		if why == "" {
			return
		}
		if runtime.GOOS == "windows" {
			t.Skip("no file system can be filled here")
		}
		fmt.Fprintf(os.Stderr, "TestFullDisk: no file system may be mounted here (%s): files are limited in size instead\n", strings.TrimSpace(why))
		d.dir, d.mounted = t.TempDir(), false
	}
	r := seedtest.Rand(t)
	source, base := filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "base")
	must(t, os.CopyFS(filepath.Join(source, "awf"), os.DirFS(filepath.Join(runs, "awf"))))
	all := []*leaky{newLeaky(source, 1), newLeaky(source, 2)}
	for range 9 { // so many that gc merges some
		for _, l := range all {
			l.write(t, r, 1+r.IntN(60))
		}
		call(t, base, "ingest", source)
	}
	id := runNamed(t, base, all[0].id)
	pruned := copyArchive(t, base)
	call(t, pruned, "prune", "--yes", "--run", id)
	all[1].write(t, r, 400)
	cases := []fullCase{
		{"first ingest", "", []string{"ingest", source}, failure.ExitUnexpected},
		{"ingest", base, []string{"ingest", source}, failure.ExitUnexpected},
		{"prune", base, []string{"prune", "--yes", "--run", id}, failure.ExitUnexpected},
		{"gc", pruned, []string{"gc"}, failure.ExitUnexpected},
		{"reindex", base, []string{"reindex"}, failure.ExitUnexpected},
		{"forget", base, []string{"forget", "--match", all[0].marks[2], "--apply", "--yes"}, failure.ExitUnexpected},
		{"nightly", pruned, []string{"nightly", "--grace=0s", "--wait=0s"}, failure.ExitProblems},
	}
	r.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
	if *fulls == 1 {
		cases = cases[:1]
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { d.t = t; d.try(r, &c) })
	}
	t.Run("backup", func(t *testing.T) { d.t = t; d.backup(r, base) })
}

// rooms are how much is free each time: nothing first, then too little for the schema of an index, then whatever comes, small or large.
func rooms(r *rand.Rand) []int64 {
	all := []int64{0, 14 << 10}
	for len(all) < max(3, *fulls) {
		all = append(all, int64(4096*math.Exp(r.Float64()*math.Log(1<<10))))
	}
	return all
}

// try runs one command with little room, and again with enough.
func (d *fullDisk) try(r *rand.Rand, c *fullCase) {
	t, calm, dir := d.t, filepath.Join(d.t.TempDir(), "calm"), filepath.Join(d.dir, "archive")
	if c.from != "" {
		calm = copyArchive(t, c.from)
	}
	call(t, calm, c.line...)
	want := dumpViews(t, calm)
	for _, room := range rooms(r) {
		must(t, os.RemoveAll(dir))
		if c.from != "" {
			copyArchiveTo(t, c.from, dir)
		}
		d.meets(room, c.code, append([]string{"--archive", dir}, c.line...))
		if _, err := os.Stat(filepath.Join(dir, "packs")); err == nil {
			call(t, dir, "verify")
		}
		// What had come to its end finds nothing to do any more.
		code, stdout, stderr := inside(t.Context(), dir, "", c.line...)
		if code != 0 && !strings.Contains(stderr, "nothing in the archive matches") && !strings.Contains(stderr, "is already pruned") {
			t.Fatalf("again, after %d bytes of room: exit %d\n%s%s", room, code, stdout, stderr)
		}
		call(t, dir, "verify")
		if got := dumpViews(t, dir); !slices.Equal(got, want) {
			t.Fatalf("after %d bytes of room the views differ from an undisturbed archive (%d rows against %d); first:\n%s",
				room, len(got), len(want), firstDifference(got, want))
		}
	}
}

// meets runs a command with some room, and makes room again. Without any it must fail, with the hint that helps.
func (d *fullDisk) meets(room int64, code int, line []string) {
	d.t.Helper()
	d.leave(room)
	got, output := d.run(room, line...)
	switch {
	case got == 0 && room == 0:
		d.t.Errorf("%q did its work on a full disk\n%s", line, output)
	case got != 0 && got != code, got != 0 && d.mounted && !strings.Contains(output, "hint: "+hintFull), got != 0 && !strings.Contains(output, "hint: "):
		d.t.Errorf("%q with %d bytes of room: exit %d, want %d and a hint that helps\n%s", line, room, got, code, output)
	}
	_ = os.Remove(filepath.Join(d.dir, "filler"))
}

// backup fills the disk of the backup.
func (d *fullDisk) backup(r *rand.Rand, from string) {
	t, to := d.t, filepath.Join(d.dir, "backup")
	for _, room := range rooms(r) {
		must(t, os.RemoveAll(to))
		d.meets(room, failure.ExitUnexpected, []string{"--archive", from, "backup", to})
		call(t, from, "backup", to)
		call(t, from, "backup", "verify", to, "--full")
	}
}
