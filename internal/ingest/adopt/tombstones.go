package adopt

import (
	"context"
	"fmt"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// commitTombstones commits the tombstones of packs before any of their versions: of two originals of one name and number the index has the
// one without a tombstone, and could not bring it in once it had the other.
func (a *Adopter) commitTombstones(ctx context.Context, packs []scannedPack) error {
	for _, t := range packs {
		if !t.tombstones {
			continue
		}
		m, err := a.manifest(ctx, t.Name, func(*blob.Version) bool { return false })
		if err != nil {
			return err
		}
		var batch index.Batch
		for _, f := range m.Facts {
			if isTombstone(f) {
				batch.Facts = append(batch.Facts, index.FactRow{Fact: f, Pack: m.Pack})
			}
		}
		if err := a.Commit(ctx, batch); err != nil {
			return fmt.Errorf("adopt pack %s: %w", t.Name, err)
		}
	}
	return nil
}

func isTombstone(f blob.Fact) bool { return f.Kind == blob.FactTombstone }
