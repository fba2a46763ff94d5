package archive

import (
	"context"
	"errors"

	"github.com/txarchive/txarchive/internal/blob"
)

// Missing returns the names of packs that are in the index but not in the store; without an index none. A gc may run meanwhile.
func (a *Archive) Missing(ctx context.Context) ([]string, error) {
	db := a.Index()
	if db == nil {
		return nil, nil
	}
	there := map[string]bool{}
	for info, err := range a.packs.List(ctx) {
		if err != nil {
			return nil, err
		}
		there[info.Name] = true
	}
	gone := map[string]bool{}
	for name, err := range db.Packs(ctx) {
		if err != nil {
			return nil, err
		}
		if there[name] {
			continue
		}
		p, err := a.packs.Open(ctx, name) // it may have been written since
		switch {
		case errors.Is(err, blob.ErrNotFound):
			gone[name] = true
		case err != nil:
			return nil, err
		default:
			if err := p.Close(); err != nil {
				return nil, err
			}
		}
	}
	if len(gone) == 0 {
		return nil, nil
	}
	var missing []string
	for name, err := range db.Packs(ctx) { // gc updates the index before it removes a pack
		if err != nil {
			return nil, err
		}
		if gone[name] {
			missing = append(missing, name)
		}
	}
	return missing, nil
}
