package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

const (
	maxLayer  = 12 << 20 // up to which size an inflated layer is remembered as a whole
	maxLayers = 12 << 20 // of all together
)

// layers remembers the inner layers that were read last: the records of a compressed original lie in one stream, and
// reading each of them from the start of it would cost the square of its length.
type layers struct {
	maxWhole int64 // 0 is maxLayer

	mu    sync.Mutex
	size  int
	whole []layer
	// parked is the stream of a layer that is too long to keep, at the place where the last record ended: who reads
	// in order goes on from there.
	parked *stream
}

type layerKey struct {
	chain int64
	sum   blob.Ref
	inner string
}

// layer is what a layer holds. torn says why there is no more of it: a producer was killed, say, while it wrote. What stands
// before was parsed, and is read like any other.
type layer struct {
	key  layerKey
	data []byte
	torn error
}

type stream struct {
	key  layerKey
	r    io.Reader
	at   int64
	from *content // what r reads from; each reader puts its own context there
}

// inner returns the bytes of a record inside a compressed original or an archive.
func (a *Archive) inner(ctx context.Context, at index.Place) ([]byte, error) {
	if a.opts.Layer == nil {
		return nil, errors.New("the archive was opened without formats")
	}
	v, err := a.version(ctx, at.VersionKey)
	if err != nil {
		return nil, err
	}
	key := layerKey{chain: v.Chain, sum: v.SHA256, inner: at.Inner}
	if whole, ok := a.layers.find(key); ok {
		return cut(whole, at)
	}
	if s := a.layers.take(key, at.Offset); s != nil {
		s.from.ctx = ctx
		return a.layers.read(s, at)
	}
	from := &content{ctx: ctx, archive: a, version: v, end: v.Size}
	stored := verifying(from, v.Version)
	r, err := a.opts.Layer(at.Inner, stored)
	if err != nil {
		return nil, err
	}
	start, torn := io.ReadAll(io.LimitReader(r, a.layers.limit()+1))
	if torn != nil && stored.failed() {
		return nil, torn
	}
	if int64(len(start)) <= a.layers.limit() {
		a.layers.put(layer{key, start, torn})
		return cut(layer{key, start, torn}, at)
	}
	return a.layers.read(&stream{key: key, r: io.MultiReader(&head{start}, r), from: from}, at)
}

// limit is up to which size a layer is kept whole.
func (l *layers) limit() int64 {
	if l.maxWhole > 0 {
		return l.maxWhole
	}
	return maxLayer
}

// head gives what was already taken from a stream, and lets go of it when it is at its end.
type head struct{ data []byte }

func (h *head) Read(p []byte) (int, error) {
	if len(h.data) == 0 {
		h.data = nil
		return 0, io.EOF
	}
	n := copy(p, h.data)
	h.data = h.data[n:]
	return n, nil
}

func cut(l layer, at index.Place) ([]byte, error) {
	size := int64(len(l.data))
	switch beyond := at.Offset > size || at.Length > size-at.Offset; {
	case beyond && l.torn != nil:
		return nil, l.torn
	case beyond:
		return nil, fmt.Errorf("the layer %q has %d bytes: %w", at.Inner, size, index.ErrNotFound)
	}
	return append([]byte(nil), l.data[at.Offset:at.Offset+at.Length]...), nil
}

// read skips to a record, reads it, and parks the stream behind it.
func (l *layers) read(s *stream, at index.Place) ([]byte, error) {
	if _, err := io.CopyN(io.Discard, s.r, at.Offset-s.at); err != nil {
		return nil, missing(at, err)
	}
	raw, err := io.ReadAll(io.LimitReader(s.r, at.Length))
	if int64(len(raw)) < at.Length {
		return nil, missing(at, cmp.Or(err, io.EOF))
	}
	s.at = at.Offset + at.Length
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parked = s
	return raw, nil
}

func missing(at index.Place, err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the layer %q ends before: %w", at.Inner, index.ErrNotFound)
	}
	return err
}

// take gives the parked stream to one reader, when it is the right one and not yet too far.
func (l *layers) take(key layerKey, offset int64) *stream {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.parked
	if s == nil || s.key != key || s.at > offset {
		return nil
	}
	l.parked = nil
	return s
}

func (l *layers) find(key layerKey) (layer, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, have := range l.whole {
		if have.key == key {
			copy(l.whole[1:i+1], l.whole[:i])
			l.whole[0] = have
			return have, true
		}
	}
	return layer{}, false
}

func (l *layers) put(add layer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.whole = append([]layer{add}, l.whole...)
	l.size += len(add.data)
	for l.size > maxLayers {
		last := len(l.whole) - 1
		l.size -= len(l.whole[last].data)
		l.whole = l.whole[:last]
	}
}

// version finds one version of an original.
func (a *Archive) version(ctx context.Context, key index.VersionKey) (index.FileVersion, error) {
	db := a.Index()
	if db == nil {
		return index.FileVersion{}, a.noIndex()
	}
	for v, err := range db.Versions(ctx, index.VersionFilter{Source: key.Source, Path: key.Path, Number: key.Number}) {
		return v, err
	}
	return index.FileVersion{}, index.ErrNotFound
}
