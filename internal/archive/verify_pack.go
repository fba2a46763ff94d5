package archive

import (
	"context"
	"errors"
	"fmt"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// VerifyPack reads every byte of one pack and compares it with what it says of itself, and nothing else: what that
// costs does not depend on the size of the archive. report gets each finding.
//
// Errors: blob.ErrCorrupt when it is damaged or cannot be read, blob.ErrNotFound when it is gone.
func (a *Archive) VerifyPack(ctx context.Context, name string, report func(Finding)) error {
	v := &verifier{
		archive: a, report: report, catalog: newCatalog(blob.Span{}, 1, noLimit), unread: map[string]bool{}, damaged: map[string]bool{}, hurt: map[string]bool{},
		lost: map[index.VersionKey]bool{},
	}
	_, err := v.pack(ctx, blob.Info{Name: name}, func(blob.Name) bool { return false })
	if errors.Is(err, blob.ErrNotFound) || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	if serr := v.settle(ctx); serr != nil {
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
