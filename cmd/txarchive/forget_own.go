package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/prune/gc"
)

// specimen returns what stands in an archive because this program has made it. Where none can be made, nothing is spared.
func (w *forgetJob) specimen(ctx context.Context) ([]byte, error) {
	if w.own != nil {
		return w.own, nil
	}
	text, err := w.ownText(ctx)
	if err != nil && ctx.Err() == nil {
		w.app.Note("what the program itself writes is counted, too, for there is nothing to compare it with: %v", err)
		text, err = []byte{}, nil
	}
	w.own = text
	return text, err
}

// ownText returns what stands in an archive of files without a word, of which one has been forgotten.
func (w *forgetJob) ownText(ctx context.Context) (_ []byte, err error) {
	dir, remove, err := disk.Scratch("forget")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	files, to := filepath.Join(dir, "x"), filepath.Join(dir, "archive")
	if err := os.Mkdir(files, 0o700); err != nil {
		return nil, err
	}
	for i, content := range append(numbers[:], numbers[1]) { // the last is a copy
		if err := os.WriteFile(filepath.Join(files, strconv.Itoa(i)), []byte(content+"\n"), 0o600); err != nil {
			return nil, err
		}
	}
	if err := w.makeSpecimen(ctx, files, to); err != nil {
		return nil, err
	}
	text, err := gc.Bytes(ctx, to)
	return withoutPlace(text, dir), err
}

// numbers are the content of the specimen: the first is forgotten.
var numbers = [...]string{"2718281828", "3141592653"}

// withoutPlace returns the content of a specimen in dir without what is not the program's own in it: its numbers, and where it was made, which
// may be named as the secret is.
func withoutPlace(text []byte, dir string) []byte {
	host, _ := os.Hostname()
	inJSON, _ := json.Marshal(dir)
	hostInJSON, _ := json.Marshal(host)
	for _, s := range []string{dir, string(bytes.Trim(inJSON, `"`)), `"host":` + string(hostInJSON), numbers[0], numbers[1]} {
		text = bytes.ReplaceAll(text, []byte(s), []byte("\xff\xff\xff"))
	}
	return text
}

func (w *forgetJob) makeSpecimen(ctx context.Context, files, to string) (err error) {
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
	if _, err := ing.Run(ctx, []source.Root{{Source: filepath.Base(files), Dir: files, Below: "."}}); err != nil {
		return err
	}
	pattern, err := gc.ParsePattern(numbers[0])
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
