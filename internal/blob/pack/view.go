package pack

import (
	"context"
	"io"
	"sort"
	"sync"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/poison"
)

// View is the inflated tar stream of a pack, or the part of it that Members cover. It inflates only the members that
// are needed, and checks their lengths and CRCs. It is stateless and safe for concurrent use.
type View struct {
	Name    string // of the pack, for errors and as the cache's key
	Pack    blob.Pack
	Members []blob.Member // sorted by Raw; all, or those that cover what is read
	cache   *cache        // may be nil; not used without Name
}

// ReadRange returns size bytes of the tar stream from raw on, as a copy. It returns blob.ErrCorrupt if bytes are damaged or
// the members do not cover the range.
func (v *View) ReadRange(ctx context.Context, raw, size int64) ([]byte, error) {
	if !v.covers(raw, size) {
		return nil, corrupt(v.Name, 0, "no members hold %d bytes from %d of the tar stream on", size, raw)
	}
	out := make([]byte, size)
	r := v.Reader(ctx, raw, size)
	if _, err := io.ReadFull(r, out); err != nil {
		return nil, err
	}
	return out, nil
}

// covers reports whether the members hold a range without a gap. It is called before memory is allocated for the range.
func (v *View) covers(raw, size int64) bool {
	if raw < 0 || size < 0 || raw > raw+size {
		return false
	}
	end := raw + size
	for i := v.find(raw); raw < end; i++ {
		if i < 0 || i >= len(v.Members) || v.Members[i].Raw > raw {
			return false
		}
		m := v.Members[i]
		if !plausible(m.Size, m.RawSize) {
			return false
		}
		raw = m.Raw + m.RawSize
	}
	return true
}

// find returns the index of the member that holds raw, or -1.
func (v *View) find(raw int64) int {
	i := sort.Search(len(v.Members), func(i int) bool { return v.Members[i].Raw > raw }) - 1
	if i < 0 || raw >= v.Members[i].Raw+v.Members[i].RawSize {
		return -1
	}
	return i
}

// Reader returns a reader of size bytes of the tar stream from raw on. It inflates one member at a time.
func (v *View) Reader(ctx context.Context, raw, size int64) io.Reader {
	return &rangeReader{ctx: ctx, view: v, raw: raw, left: size}
}

type rangeReader struct {
	ctx  context.Context // in a field because io.Reader has no context
	view *View
	raw  int64
	left int64
	rest []byte // unread bytes of the current member
}

func (r *rangeReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	if len(r.rest) == 0 {
		i := r.view.find(r.raw)
		if i < 0 {
			return 0, corrupt(r.view.Name, 0, "no member holds %d of the tar stream", r.raw)
		}
		m := r.view.Members[i]
		data, err := r.view.member(r.ctx, m)
		if err != nil {
			return 0, err
		}
		r.rest = data[r.raw-m.Raw:]
	}
	n := copy(p, r.rest[:min(int64(len(r.rest)), r.left)])
	r.rest = r.rest[n:]
	r.raw += int64(n)
	r.left -= int64(n)
	return n, nil
}

var bufferPool = sync.Pool{New: func() any { return new([]byte) }}

// member returns the raw bytes of a member. They may be shared through the cache, and must not be changed.
func (v *View) member(ctx context.Context, m blob.Member) ([]byte, error) {
	return v.cache.member(ctx, v.Name, m, func() ([]byte, error) { return v.inflate(ctx, m) })
}

func (v *View) inflate(ctx context.Context, m blob.Member) ([]byte, error) {
	// The table may be wrong, so do not allocate more than the pack can hold.
	if !plausible(m.Size, m.RawSize) || m.Size > v.Pack.Size() {
		return nil, corrupt(v.Name, m.Offset, "no member has %d bytes for %d", m.Size, m.RawSize)
	}
	buf := bufferPool.Get().(*[]byte)
	defer func() {
		poison.Bytes((*buf)[:cap(*buf)])
		bufferPool.Put(buf)
	}()
	if int64(cap(*buf)) < m.Size {
		*buf = make([]byte, m.Size)
	}
	data := (*buf)[:m.Size]
	if err := readAt(ctx, v.Name, v.Pack, data, m.Offset); err != nil {
		return nil, err
	}
	raw, wrong := inflate(data)
	if wrong != "" {
		return nil, corrupt(v.Name, m.Offset, "%s", wrong)
	}
	if int64(len(raw)) != m.RawSize {
		return nil, corrupt(v.Name, m.Offset, "a member has %d raw bytes, not %d", len(raw), m.RawSize)
	}
	return raw, nil
}
