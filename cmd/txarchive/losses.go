package main

import (
	"context"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// noteLosses notes which bytes of the originals of a run are lost: what was there is not shown.
func (a *app) noteLosses(ctx context.Context, store *archive.Archive, run string) error {
	lost := map[index.VersionKey][]blob.Loss{}
	for f, err := range store.Index().Facts(ctx, blob.FactLost) {
		if err != nil {
			return err
		}
		if l, err := blob.ParseLoss(f); err == nil {
			key := index.VersionKey{Source: l.Source, Path: l.Path, Number: l.Number}
			lost[key] = append(lost[key], l)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	for v, err := range store.Index().Versions(ctx, index.VersionFilter{Run: run}) {
		if err != nil {
			return err
		}
		for _, l := range lost[index.KeyOf(&v.Version)] {
			a.Note("lost to damage, and not shown: %s", lossText(&l))
		}
	}
	return nil
}
