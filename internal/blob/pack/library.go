package pack

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/txarchive/txarchive/internal/blob"
)

// Library reads blobs whose extents are spread over the packs of a store. It keeps a few packs open and caches inflated
// members. It is safe for concurrent use.
type Library struct {
	store blob.Store
	cache *Cache

	mu   sync.Mutex
	open []*volume // most recently used first
}

type volume struct {
	name string
	pack blob.Pack
	view *View
}

const openVolumes = 16

// NewLibrary returns a Library with a cache of cacheSize bytes.
func NewLibrary(store blob.Store, cacheSize int64) *Library {
	return &Library{store: store, cache: NewCache(cacheSize)}
}

// View returns the tar stream of a pack. A pack that is evicted because others are used more is not closed, since
// someone may still be reading it: the garbage collector closes its file.
func (l *Library) View(ctx context.Context, name string) (*View, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, v := range l.open {
		if v.name == name {
			copy(l.open[1:i+1], l.open[:i])
			l.open[0] = v
			return v.view, nil
		}
	}
	p, err := l.store.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	r, err := OpenOriginals(ctx, p, name, func(blob.Name) bool { return false }) // only members are needed
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	if len(l.open) >= openVolumes {
		l.open = l.open[:openVolumes-1]
	}
	v := &volume{name: name, pack: p, view: r.View(l.cache)}
	l.open = append([]*volume{v}, l.open...)
	return v.view, nil
}

// Close closes the packs that are open.
func (l *Library) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, v := range l.open {
		errs = append(errs, v.pack.Close())
	}
	l.open = nil
	return errors.Join(errs...)
}

// Reader streams the bytes of extents, each of which names its pack in CopyOf, one after another.
func (l *Library) Reader(ctx context.Context, extents []blob.Extent) io.Reader {
	return NewExtentReader(ctx, l.View, extents)
}

// NewExtentReader returns a reader of the bytes of extents, one after another. view returns the tar stream of the pack that an extent names
// in CopyOf; it must stay valid while that extent is read.
func NewExtentReader(ctx context.Context, view func(ctx context.Context, name string) (*View, error), extents []blob.Extent) io.Reader {
	return &extentReader{ctx: ctx, view: view, left: extents}
}

type extentReader struct {
	ctx     context.Context // in a field because io.Reader has no context
	view    func(context.Context, string) (*View, error)
	left    []blob.Extent
	current io.Reader
}

func (r *extentReader) Read(p []byte) (int, error) {
	for {
		if r.current == nil {
			if len(r.left) == 0 {
				return 0, io.EOF
			}
			e := r.left[0]
			r.left = r.left[1:]
			if e.Size == 0 {
				continue
			}
			view, err := r.view(r.ctx, e.CopyOf.Pack)
			if err != nil {
				return 0, err
			}
			r.current = view.Reader(r.ctx, e.CopyOf.Raw, e.Size)
		}
		n, err := r.current.Read(p)
		if errors.Is(err, io.EOF) {
			r.current, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}
