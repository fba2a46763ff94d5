package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"time"
)

// cost is the resources that a process, or part of this process, used.
type cost struct {
	cpu, wall time.Duration
	peak      int64 // peak memory in bytes
	written   int64 // bytes written to disk
}

func cpu(c cost) float64  { return c.cpu.Seconds() }
func wall(c cost) float64 { return c.wall.Seconds() }

func (c cost) plus(d cost) cost {
	return cost{c.cpu + d.cpu, c.wall + d.wall, max(c.peak, d.peak), c.written + d.written}
}

// timed runs a command and discards its output.
func timed(ctx context.Context, name string, args ...string) (cost, error) {
	c := exec.CommandContext(ctx, name, args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	began := time.Now()
	if err := c.Run(); err != nil {
		return cost{}, fmt.Errorf("%s %v: %w\n%s", name, args, err, stderr.Bytes())
	}
	k := cost{cpu: c.ProcessState.UserTime() + c.ProcessState.SystemTime(), wall: time.Since(began)}
	k.peak, k.written = accounts(c.ProcessState)
	return k, nil
}

// measured returns what do used in this process.
func measured(do func() error) (cost, error) {
	before, began := ownCPU(), time.Now()
	err := do()
	return cost{cpu: ownCPU() - before, wall: time.Since(began)}, err
}

// tx runs the program on the archive.
func (b *bench) tx(ctx context.Context, args ...string) (cost, error) {
	return timed(ctx, b.binary, append([]string{"--archive", b.archive}, args...)...)
}

// has reports whether another tool is installed, and adds a note to the report if it is not.
func (b *bench) has(tool, what string) bool {
	if _, err := exec.LookPath(tool); err != nil {
		b.lack(tool, what)
		return false
	}
	return true
}

// interleaved runs several measurements in turn, for a number of rounds, so that drifting machine speed affects all
// of them alike. The costs are by measurement, then by round.
func (b *bench) interleaved(rounds int, measurements ...func() (cost, error)) ([][]cost, error) {
	all := make([][]cost, len(measurements))
	for range rounds {
		for i, run := range measurements {
			c, err := run()
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], c)
		}
	}
	return all, nil
}

// each extracts one number of each cost.
func each(costs []cost, get func(cost) float64) (all []float64) {
	for _, c := range costs {
		all = append(all, get(c))
	}
	return all
}

// means returns the mean of two runs, round by round.
func means(a, b []cost) []cost {
	all := make([]cost, len(a))
	for i := range all {
		all[i] = cost{cpu: (a[i].cpu + b[i].cpu) / 2, wall: (a[i].wall + b[i].wall) / 2}
	}
	return all
}

func scaled(of []float64, by float64) (all []float64) {
	for _, f := range of {
		all = append(all, f*by)
	}
	return all
}

// ratios divides round by round.
func ratios(a, b []cost, get func(cost) float64) (all []float64) {
	for i := range min(len(a), len(b)) {
		all = append(all, get(a[i])/get(b[i]))
	}
	return all
}
