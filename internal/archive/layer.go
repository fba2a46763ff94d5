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
	"github.com/txarchive/txarchive/internal/lru"
)

const layerCache = 12 << 20 // bytes of inflated layers that are cached

// layers caches the inner layers that were read last. The records of a compressed original lie in one stream, and
// reading each of them from its start would take quadratic time.
type layers struct {
	maxWhole int64 // size of the largest layer that is cached

	mu    sync.Mutex
	whole *lru.Map[layerKey, layer]
	// parked is the stream of a layer that is too large to cache, positioned at the end of the last record, so that reading
	// in order continues from there.
	parked *stream
}

func newLayers() *layers {
	return &layers{maxWhole: layerCache, whole: lru.New[layerKey, layer](layerCache)}
}

type layerKey struct {
	chain int64
	sum   blob.Ref
	inner string
}

// layer is the content of an inner layer. torn is the error at which it ends early, for example because the producer was killed
// while writing. The content before that was parsed, and is read like any other.
type layer struct {
	data []byte
	torn error
}

type stream struct {
	key  layerKey
	r    io.Reader
	at   int64
	from *content // what r reads from; each reader sets its own context in it
}

// inner returns the bytes of a record in an inner layer: in a compressed original or in an archive.
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
		return recordAt(whole, at)
	}
	if s := a.layers.take(key, at.Offset); s != nil {
		s.from.ctx = ctx
		return a.layers.read(s, at)
	}
	from := &content{ctx: ctx, archive: a, version: v, end: v.Size}
	stored := &seeker{newVerifyingReader(from, v.Version), from}
	r, err := a.opts.Layer(at.Inner, stored)
	if err != nil {
		return nil, err
	}
	start, torn := io.ReadAll(io.LimitReader(r, a.layers.maxWhole+1))
	if torn != nil && stored.failed() {
		return nil, torn
	}
	if int64(len(start)) <= a.layers.maxWhole {
		whole := layer{start, torn}
		a.layers.put(key, whole)
		return recordAt(whole, at)
	}
	return a.layers.read(&stream{key: key, r: io.MultiReader(&prefixReader{start}, r), from: from}, at)
}

// seeker is an original that a layer may read from anywhere, if it is asked to before the first Read.
type seeker struct {
	*verifyingReader
	from *content
}

// seekAhead is how many bytes are located and inflated at first behind an offset.
const seekAhead = 64 << 10

// Seek implements io.Seeker for offsets from the start. A part of an original cannot be verified by its hash: what checks it are those of the pack.
func (s *seeker) Seek(offset int64, _ int) (int64, error) {
	s.hash, s.from.offset, s.from.ahead = nil, offset, seekAhead
	return offset, nil
}

// prefixReader returns what was already read from a stream, and releases the memory at its end.
type prefixReader struct{ data []byte }

func (h *prefixReader) Read(p []byte) (int, error) {
	if len(h.data) == 0 {
		h.data = nil
		return 0, io.EOF
	}
	n := copy(p, h.data)
	h.data = h.data[n:]
	return n, nil
}

func recordAt(l layer, at index.Place) ([]byte, error) {
	size := int64(len(l.data))
	switch beyond := at.Offset > size || at.Length > size-at.Offset; {
	case beyond && l.torn != nil:
		return nil, l.torn
	case beyond:
		return nil, fmt.Errorf("the layer %q has %d bytes: %w", at.Inner, size, index.ErrNotFound)
	}
	return append([]byte(nil), l.data[at.Offset:at.Offset+at.Length]...), nil
}

// read skips to a record, reads it, and parks the stream after it.
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
		return fmt.Errorf("the layer %q ends early: %w", at.Inner, index.ErrNotFound)
	}
	return err
}

// take removes and returns the parked stream if it is that of key and not yet past offset.
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
	return l.whole.Get(key)
}

func (l *layers) put(key layerKey, add layer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.whole.Put(key, add, int64(len(add.data)))
}

// version returns one version of an original from the index.
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
