package pack

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/lru"
)

// Library reads the packs of a store. It keeps open those that were used most recently, so that reading here and there does not
// open one file each time, and caches inflated members. It is safe for concurrent use.
type Library struct {
	// Members returns the members of a pack to a caller that knows them. If it is nil, they are read from the manifest.
	Members func(name string) []blob.Member

	store  Opener
	cache  *cache
	mu     sync.Mutex
	open   *lru.Map[string, *volume]
	closed bool
}

// volume is a pack that stays open while it is in Library.open or in use. A pack that is removed meanwhile stays readable.
type volume struct {
	blob.Pack
	library *Library
	users   int
	dropped bool // from Library.open

	mu      sync.Mutex
	members []blob.Member // nil before they are needed
}

// openVolumes is how many packs stay open without being in use.
const openVolumes = 32

// NewLibrary returns a Library with a cache of cacheSize bytes.
func NewLibrary(store Opener, cacheSize int64) *Library {
	return &Library{store: store, cache: newCache(cacheSize), open: lru.New[string, *volume](openVolumes)}
}

// volume returns a pack, which must be closed after use.
func (l *Library) volume(ctx context.Context, name string) (*volume, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if v, ok := l.open.Get(name); ok {
		v.users++
		return v, nil
	}
	p, err := l.store.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	v := &volume{Pack: p, library: l, users: 1, dropped: l.closed}
	if l.closed {
		return v, nil
	}
	return v, drop(l.open.Put(name, v, 1))
}

// maxCachedRange is the largest range whose members ReadRange caches. Small originals share members; those of large ones would
// only evict them.
const maxCachedRange = 1 << 20

// ReadRange returns a range of the tar stream of a pack like View.ReadRange, given the members that hold it.
func (l *Library) ReadRange(ctx context.Context, name string, members []blob.Member, raw, size int64) ([]byte, error) {
	v, err := l.volume(ctx, name)
	if err != nil {
		return nil, err
	}
	view := &View{Name: name, Pack: v, Members: members}
	if size <= maxCachedRange {
		view.cache = l.cache
	}
	data, err := view.ReadRange(ctx, raw, size)
	return data, errors.Join(err, v.Close())
}

// View returns the tar stream of a pack. Its Pack must be closed after use.
func (l *Library) View(ctx context.Context, name string) (*View, error) {
	v, err := l.volume(ctx, name)
	if err != nil {
		return nil, err
	}
	members, err := v.table(ctx, name)
	if err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return &View{Name: name, Pack: v, Members: members, cache: l.cache}, nil
}

// table returns the members of a pack, which are looked up once.
func (v *volume) table(ctx context.Context, name string) ([]blob.Member, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.members != nil:
	case v.library.Members != nil:
		v.members = v.library.Members(name)
	default:
		r, err := OpenOriginals(ctx, v.Pack, name, func(blob.Name) bool { return false })
		if err != nil {
			return nil, err
		}
		v.members = r.manifest.Members
	}
	return v.members, nil
}

// drop closes the packs that are not in use. The others are closed when their users close them.
func drop(volumes []*volume) error {
	var errs []error
	for _, v := range volumes {
		v.dropped = true
		errs = append(errs, v.closeUnused())
	}
	return errors.Join(errs...)
}

// Close ends one use of a pack.
func (v *volume) Close() error {
	v.library.mu.Lock()
	defer v.library.mu.Unlock()
	v.users--
	return v.closeUnused()
}

func (v *volume) closeUnused() error {
	if v.users > 0 || !v.dropped {
		return nil
	}
	return v.Pack.Close()
}

// Close closes all packs; those that are in use are closed after that.
func (l *Library) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return drop(l.open.Clear())
}

// Reader streams the bytes of extents, each of which names its pack in CopyOf, one after another, each from where the one before
// ends. If it is not read to the end of an extent, the garbage collector closes that pack.
func (l *Library) Reader(ctx context.Context, extents []blob.Extent) io.Reader {
	return &extentReader{ctx: ctx, library: l, left: extents}
}

type extentReader struct {
	ctx     context.Context // in a field because io.Reader has no context
	library *Library
	left    []blob.Extent
	end     int64        // in the chain, of the extents so far
	current *rangeReader // nil between extents
}

func (r *extentReader) Read(p []byte) (int, error) {
	for r.current == nil {
		if len(r.left) == 0 {
			return 0, io.EOF
		}
		e := r.left[0]
		r.left = r.left[1:]
		skip := max(0, r.end-e.Offset)
		if skip >= e.Size {
			continue
		}
		r.end = e.Offset + e.Size
		view, err := r.library.View(r.ctx, e.CopyOf.Pack)
		if err != nil {
			return 0, err
		}
		r.current = &rangeReader{ctx: r.ctx, view: view, raw: e.CopyOf.Raw + skip, left: e.Size - skip}
	}
	n, err := r.current.Read(p)
	if r.current.left == 0 { // not only at io.EOF, for which nobody asks who knows the size
		err = r.current.view.Pack.Close()
		r.current = nil
	}
	return n, err
}
