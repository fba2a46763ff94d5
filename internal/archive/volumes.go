package archive

import (
	"context"
	"errors"
	"sync"

	"github.com/txarchive/txarchive/internal/blob"
)

// openVolumes is how many packs stay open.
const openVolumes = 32

// volumes keeps the most recently used packs open, so that a page of hits does not open one file per hit. A pack
// that is removed meanwhile stays readable as long as it is open.
type volumes struct {
	store blob.Store

	mu     sync.Mutex
	open   []*volume // the last used first
	closed bool
}

type volume struct {
	blob.Pack
	name   string
	users  int
	cached bool // in volumes.open
}

func newVolumes(store blob.Store) *volumes { return &volumes{store: store} }

// get returns an open pack, opening it if needed. The caller must release it.
func (v *volumes) get(ctx context.Context, name string) (*volume, error) {
	if found := v.find(name); found != nil {
		return found, nil
	}
	p, err := v.store.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	opened := &volume{Pack: p, name: name, users: 1}
	if v.closed {
		return opened, nil
	}
	opened.cached = true
	v.open = append([]*volume{opened}, v.open...)
	return opened, v.drop(openVolumes)
}

func (v *volumes) find(name string) *volume {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, have := range v.open {
		if have.name == name {
			copy(v.open[1:i+1], v.open[:i])
			v.open[0] = have
			have.users++
			return have
		}
	}
	return nil
}

// drop keeps the n most recently used packs, and closes those of the others that are not in use.
func (v *volumes) drop(n int) error {
	var errs []error
	for _, old := range v.open[min(n, len(v.open)):] {
		old.cached = false
		if old.users == 0 {
			errs = append(errs, old.Close())
		}
	}
	v.open = v.open[:min(n, len(v.open))]
	return errors.Join(errs...)
}

// release ends the use of a pack.
func (v *volumes) release(used *volume) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	used.users--
	if used.users > 0 || used.cached {
		return nil
	}
	return used.Close()
}

// close closes all packs; those that are being read are closed when they are released.
func (v *volumes) close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	return v.drop(0)
}
