package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/prune/gc"
)

// specimen returns what stands in an archive because this program has made it: one of a file without a word, which has been forgotten.
func (w *forgetJob) specimen(ctx context.Context) (_ []byte, err error) {
	if w.own != nil {
		return w.own, nil
	}
	dir, remove, err := disk.Scratch("forget")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	source, to := filepath.Join(dir, "x"), filepath.Join(dir, "archive")
	if err := os.Mkdir(source, 0o700); err != nil {
		return nil, err
	}
	for name, content := range map[string]string{"0": "2718281828\n", "1": "3141592653\n"} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(content), 0o600); err != nil {
			return nil, err
		}
	}
	if err := w.makeSpecimen(ctx, source, to); err != nil {
		return nil, err
	}
	w.own, err = gc.Bytes(ctx, to)
	return w.own, err
}

func (w *forgetJob) makeSpecimen(ctx context.Context, source, to string) (err error) {
	o := archive.Options{Now: w.app.Now, Log: w.app.log}
	if err := archive.Create(ctx, to, o); err != nil {
		return err
	}
	store, err := archive.Open(ctx, to, archive.Write, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	ing := w.app.ingester(store)
	ing.All = true
	if _, err := ing.Run(ctx, []ingest.Root{{Source: filepath.Base(source), Dir: source, Below: "."}}); err != nil {
		return err
	}
	pattern, err := gc.ParsePattern("2718281828")
	if err != nil {
		return err
	}
	specimen := &forgetJob{app: w.app, store: store, pattern: pattern}
	f := specimen.forgetter()
	if _, err = f.Apply(ctx); err != nil {
		return err
	}
	_, err = ing.Adopt(ctx)
	return err
}
