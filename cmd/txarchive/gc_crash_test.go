package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/seedtest"
)

// TestKilledGC kills prune, gc and forget at random instants, in a short campaign one of them. After every kill the archive verifies; the same command,
// repeated, ends in the views that it has without a kill, and nothing is left of what had to go.
func TestKilledGC(t *testing.T) {
	r := seedtest.Rand(t)
	bin, source, base := program(t), filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "base")
	must(t, os.CopyFS(filepath.Join(source, "awf"), os.DirFS(filepath.Join(runs, "awf"))))
	all := []*leaky{newLeaky(source, 1), newLeaky(source, 2), newLeaky(source, 3)}
	for range 9 { // so many that some are merged
		for _, l := range all {
			l.write(t, r, 1+r.IntN(150))
		}
		call(t, base, "ingest", source)
	}
	prune := []string{"prune", "--yes"}
	for _, l := range all[:2] {
		prune = append(prune, "--run", runNamed(t, base, l.id))
	}
	pruned := copyArchive(t, base)
	call(t, pruned, prune...)
	secret := all[2].marks[3]
	cases := []struct {
		name, from string
		line       []string
		gone       []string
	}{
		{"prune", base, prune, nil},
		{"gc", pruned, []string{"gc"}, append(slices.Clone(all[0].marks[:100]), all[1].marks[:100]...)},
		{"forget", base, []string{"forget", "--match", secret, "--apply", "--yes"}, []string{secret}},
	}
	if *kills < 8 {
		i := r.IntN(len(cases))
		cases = cases[i : i+1]
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { killedCommand(t, bin, c.from, c.line, c.gone) })
	}
}

func copyArchive(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "archive")
	copyArchiveTo(t, from, to)
	return to
}

// copyArchiveTo copies an archive with its links, modes and times, as a user would.
func copyArchiveTo(t *testing.T, from, to string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(to), 0o700))
	if out, err := exec.Command("cp", "-a", from+"/.", to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func killedCommand(t *testing.T, bin, from string, line, gone []string) {
	calm := copyArchive(t, from)
	took := run(t, bin, calm, line...)
	want := dumpViews(t, calm)
	for done := 0; done < max(1, *kills/8); {
		r := seedtest.Rand(t)
		dir := copyArchive(t, from)
		for range 1 + r.IntN(3) {
			c := exec.Command(bin, append([]string{"--archive", dir}, line...)...)
			must(t, c.Start())
			time.Sleep(time.Duration(r.Int64N(int64(took) + 1)))
			_ = c.Process.Kill() // it may have ended already
			if c.Wait() != nil { // how long it takes changes with what else the machine does
				done++
				took += took / 16
			} else {
				took -= took / 8
			}
			run(t, bin, dir, "verify")
		}
		// What had come to its end finds nothing to do any more.
		out, err := exec.Command(bin, append([]string{"--archive", dir}, line...)...).CombinedOutput()
		if err != nil && !strings.Contains(string(out), "nothing in the archive matches") && !strings.Contains(string(out), "is already pruned") {
			t.Fatalf("again: %v\n%s", err, out)
		}
		run(t, bin, dir, "verify")
		if got := dumpViews(t, dir); !slices.Equal(got, want) {
			t.Fatalf("the views differ from an undisturbed archive (%d rows against %d); first:\n%s", len(got), len(want), firstDifference(got, want))
		}
		if len(gone) > 0 {
			nowhere(t, dir, gone)
		}
	}
}
