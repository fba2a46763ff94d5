package repair

import (
	"context"
	"errors"
	"fmt"

	"github.com/txarchive/txarchive/internal/blob"
)

// Apply does what the plan says: the damaged packs are kept aside; then new ones are durable, of which the last says what
// they replace; then the damaged ones leave the store. It returns the new packs. The index does not know them: whoever
// writes adopts them. It can be repeated after a crash, with a plan made anew.
func (r *Repair) Apply(ctx context.Context, p *Plan) (packs []string, err error) {
	wrecks := p.inventory.damaged()
	for _, h := range wrecks {
		if h.missing {
			continue
		}
		if err := r.Quarantine(ctx, h.Name); err != nil {
			return nil, fmt.Errorf("put pack %s aside: %w", h.Name, err)
		}
	}
	w := &writer{repair: r, ctx: ctx, clock: p.inventory.clock, stored: map[extent]blob.Copy{}}
	if err := w.write(p, wrecks); err != nil {
		return w.packs, errors.Join(fmt.Errorf("repair: %w", err), w.pack.Abort())
	}
	for _, h := range wrecks {
		if h.missing {
			continue
		}
		if err := r.Packs.Remove(ctx, h.Name); err != nil && !errors.Is(err, blob.ErrNotFound) {
			return w.packs, fmt.Errorf("repair: %w", err)
		}
	}
	return w.packs, nil
}
