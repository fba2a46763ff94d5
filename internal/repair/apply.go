package repair

import (
	"context"
	"errors"
	"fmt"

	"github.com/txarchive/txarchive/internal/blob"
)

// Apply executes the plan: it quarantines the damaged packs, then writes new ones, of which the last states what they
// replace, and then removes the damaged ones from the store. It returns the new packs, which the index does not know yet: the
// caller must adopt them. After a crash it can be repeated with a new plan.
func (r *Repair) Apply(ctx context.Context, p *Plan) (packs []string, err error) {
	damaged := p.inventory.damaged()
	for _, pi := range damaged {
		if pi.missing {
			continue
		}
		if err := r.Quarantine(ctx, pi.Name); err != nil {
			return nil, fmt.Errorf("quarantine pack %s: %w", pi.Name, err)
		}
	}
	w := &writer{repair: r, ctx: ctx, clock: p.inventory.clock, stored: map[extent]blob.Copy{}}
	if err := w.write(p, damaged); err != nil {
		return w.packs, errors.Join(fmt.Errorf("repair: %w", err), w.pack.Abort())
	}
	for _, pi := range damaged {
		if pi.missing {
			continue
		}
		if err := r.Packs.Remove(ctx, pi.Name); err != nil && !errors.Is(err, blob.ErrNotFound) {
			return w.packs, fmt.Errorf("repair: %w", err)
		}
	}
	return w.packs, nil
}
