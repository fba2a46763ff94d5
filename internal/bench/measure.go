package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// cost is what one process took.
type cost struct {
	cpu, wall time.Duration
	peak      int64 // bytes
}

// timed runs a command and throws its output away.
func timed(name string, args ...string) (cost, error) {
	c := exec.Command(name, args...)
	began := time.Now()
	if err := c.Run(); err != nil {
		return cost{}, fmt.Errorf("%s %v: %w", name, args, err)
	}
	s := c.ProcessState
	peak := int64(0)
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		peak = u.Maxrss * 1024
	}
	return cost{s.UserTime() + s.SystemTime(), time.Since(began), peak}, nil
}

// tx runs the program on the archive.
func (b *bench) tx(args ...string) (cost, error) {
	return timed(b.binary, append([]string{"--archive", b.archive}, args...)...)
}

// times measures several commands in turn, so that a machine whose speed drifts treats them alike.
func (b *bench) times(commands ...func() (cost, error)) ([]cost, error) {
	all := make([][]cost, len(commands))
	for range b.runs {
		for i, run := range commands {
			c, err := run()
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], c)
		}
	}
	medians := make([]cost, len(commands))
	for i, costs := range all {
		medians[i] = median(costs)
	}
	return medians, nil
}

func median(costs []cost) (m cost) {
	of := func(get func(cost) int64) int64 {
		var all []int64
		for _, c := range costs {
			all = append(all, get(c))
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	m.cpu = time.Duration(of(func(c cost) int64 { return int64(c.cpu) }))
	m.wall = time.Duration(of(func(c cost) int64 { return int64(c.wall) }))
	m.peak = of(func(c cost) int64 { return c.peak })
	return m
}

func (b *bench) measure() error {
	for _, step := range []func() error{b.ingest, b.sizes, b.again, b.questions, b.upkeep} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// ingest is the first load, against tar and gzip of the same tree.
func (b *bench) ingest() error {
	got, err := b.times(
		func() (cost, error) { return timed("sh", "-c", "tar c "+b.corpus+" | gzip -6 > /dev/null") },
		func() (cost, error) {
			if err := os.RemoveAll(b.archive); err != nil {
				return cost{}, err
			}
			return b.tx("ingest", "--quiet", b.corpus)
		})
	if err != nil {
		return err
	}
	gzip, ours := got[0], got[1]
	raw := float64(treeSize(b.corpus))
	b.set("raw MB", raw/1e6)
	b.set("tar|gzip -6, CPU s", gzip.cpu.Seconds())
	b.set("ingest, CPU s", ours.cpu.Seconds())
	b.set("ingest, wall s", ours.wall.Seconds())
	b.set("ingest, CPU ms per raw MB", ours.cpu.Seconds()*1e9/raw)
	b.set("ingest, MB/s wall", raw/1e6/ours.wall.Seconds())
	b.set("ingest / gzip, CPU", ours.cpu.Seconds()/gzip.cpu.Seconds())
	b.set("ingest / gzip, wall", ours.wall.Seconds()/gzip.wall.Seconds())
	b.set("ingest, peak MiB", float64(ours.peak)/(1<<20))
	return nil
}

func treeSize(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil // what vanished has no size
	})
	return size
}

func (b *bench) sizes() error {
	raw := float64(treeSize(b.corpus))
	packs, all := float64(treeSize(filepath.Join(b.archive, "packs"))), float64(treeSize(b.archive))
	b.set("packs / raw", packs/raw)
	b.set("packs + index / raw", all/raw)
	out, err := exec.Command(b.binary, "--archive", b.archive, "stats", "--json").Output()
	if err != nil {
		return err
	}
	var stats struct{ Totals struct{ Events float64 } }
	if err := json.Unmarshal(out, &stats); err != nil {
		return err
	}
	b.set("events", stats.Totals.Events)
	return nil
}

// again is an ingest that finds nothing new, against a plain listing.
func (b *bench) again() error {
	got, err := b.times(
		func() (cost, error) { return timed("find", b.corpus, "-printf", "%s %T@ %p\n") },
		func() (cost, error) { return b.tx("ingest", "--quiet", b.corpus) })
	if err != nil {
		return err
	}
	b.set("find -printf, wall ms", ms(got[0]))
	b.set("second ingest, wall ms", ms(got[1]))
	b.set("second ingest / find, wall", got[1].wall.Seconds()/got[0].wall.Seconds())
	return nil
}

func ms(c cost) float64 { return float64(c.wall.Microseconds()) / 1000 }

// questions are whole processes, the first page of each.
func (b *bench) questions() error {
	for _, q := range []struct {
		name string
		args []string
	}{
		{"version", []string{"version"}},
		{"search, common word", []string{"search", "return"}},
		{"search, two words and a tool", []string{"search", "error tool:bash"}},
		{"search, phrase", []string{"search", `"if err != nil"`}},
		{"stats", []string{"stats"}},
	} {
		got, err := b.times(func() (cost, error) { return b.tx(q.args...) })
		if err != nil {
			return err
		}
		b.set(q.name+", wall ms", ms(got[0]))
		b.set(q.name+", CPU ms", float64(got[0].cpu.Microseconds())/1000)
	}
	return nil
}

func (b *bench) upkeep() error {
	for _, name := range []string{"verify", "reindex"} {
		c, err := b.tx(name)
		if err != nil {
			return err
		}
		b.set(name+", CPU s", c.cpu.Seconds())
		b.set(name+", wall s", c.wall.Seconds())
		b.set(name+", peak MiB", float64(c.peak)/(1<<20))
	}
	return nil
}
