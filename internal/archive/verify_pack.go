package archive

import (
	"context"
	"errors"
	"fmt"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// VerifyPack reads every byte of one pack and compares it with its own manifest, and nothing else, so that the
// cost does not depend on the size of the archive. It calls report for each finding.
//
// Errors: blob.ErrCorrupt if the pack is damaged or cannot be read, blob.ErrNotFound if it does not exist.
func (a *Archive) VerifyPack(ctx context.Context, name string, report func(Finding)) error {
	v := &verifier{
		archive: a, report: report, catalog: newCatalog(blob.Span{}, 1, noLimit), unread: map[string]bool{}, damaged: map[string]bool{}, corrupt: map[string]bool{},
		lost: map[index.VersionKey]bool{},
	}
	_, err := v.readPack(ctx, blob.Info{Name: name}, func(blob.Name) bool { return false })
	if errors.Is(err, blob.ErrNotFound) || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	if serr := v.reportHeld(ctx); serr != nil {
		return serr
	}
	if err == nil && v.out.Findings > 0 {
		err = blob.ErrCorrupt
	}
	if err != nil {
		return fmt.Errorf("verify pack %s: %w", name, err)
	}
	return nil
}
