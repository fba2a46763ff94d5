package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// upkeep measures commands that work on the whole archive. Those that remove something run on a copy, and before
// reindex, which leaves the old index next to the new one until something is written.
func (b *bench) upkeep(ctx context.Context) error {
	if err := b.command(ctx, "verify"); err != nil {
		return err
	}
	if err := b.onCopy(func() error { return b.mergeAll(ctx) }); err != nil {
		return err
	}
	if err := b.onCopy(func() error { return b.prune(ctx) }); err != nil {
		return err
	}
	return b.command(ctx, "reindex")
}

// onCopy calls do with a copy of the archive.
func (b *bench) onCopy(do func() error) error {
	whole := b.archive
	defer func() { b.archive = whole }()
	b.archive = filepath.Join(b.dir, "copy")
	if err := os.RemoveAll(b.archive); err != nil {
		return err
	}
	defer os.RemoveAll(b.archive)
	if err := os.CopyFS(b.archive, os.DirFS(whole)); err != nil {
		return err
	}
	return do()
}

// mergeAll measures gc when nothing can be removed: it merges what the ingest has written.
func (b *bench) mergeAll(ctx context.Context) error {
	c, err := b.tx(ctx, "gc")
	if err != nil {
		return err
	}
	b.set("gc of all, CPU", "s", cpu(c))
	b.set("gc of all, wall", "s", wall(c))
	b.set("gc of all, archive / raw", "", float64(treeSize(b.archive))/b.raw)
	return nil
}

// command measures a command without arguments.
func (b *bench) command(ctx context.Context, name string) error {
	c, err := b.tx(ctx, name)
	if err != nil {
		return err
	}
	b.set(name+", CPU", "s", cpu(c))
	b.set(name+", wall", "s", wall(c))
	b.set(name+", peak memory", "MiB", float64(c.peak)/(1<<20))
	return nil
}

// prune measures removing the oldest fifth and freeing its space.
func (b *bench) prune(ctx context.Context) error {
	before, err := oldest(b.corpus, 0.2)
	if err != nil {
		return err
	}
	size := treeSize(b.archive)
	var plan struct {
		Frees struct {
			RawBytes float64 `json:"raw_bytes"`
		}
	}
	query := "before:" + before.UTC().Format(time.DateOnly)
	pruning, err := measured(func() error { return b.ask(ctx, &plan, "prune", "--query", query, "--yes", "--json") })
	if err != nil {
		return err
	}
	gc, err := b.tx(ctx, "gc")
	if err != nil {
		return err
	}
	b.set("pruned / raw", "", plan.Frees.RawBytes/b.raw)
	b.set("prune, wall", "s", wall(pruning))
	b.set("gc, CPU", "s", cpu(gc))
	b.set("gc, wall", "s", wall(gc))
	b.set("prune and gc, wall", "s", wall(pruning)+wall(gc))
	b.set("prune and gc, peak memory", "MiB", float64(gc.peak)/(1<<20))
	after := float64(treeSize(b.archive))
	b.set("archive after / before", "", after/float64(size))
	b.set("prune and gc, archive / raw", "", after/(b.raw-plan.Frees.RawBytes))
	return nil
}

// oldest returns the time up to which the given part of a tree's bytes was last modified.
func oldest(dir string, part float64) (time.Time, error) {
	type file struct {
		at   time.Time
		size int64
	}
	var all []file
	total := int64(0)
	if err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		all, total = append(all, file{info.ModTime(), info.Size()}), total+info.Size()
		return nil
	}); err != nil {
		return time.Time{}, err
	}
	slices.SortFunc(all, func(a, b file) int { return a.at.Compare(b.at) })
	sum := int64(0)
	for _, f := range all {
		if sum += f.size; float64(sum) >= part*float64(total) {
			return f.at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%s has no files", dir)
}
