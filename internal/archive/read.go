package archive

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"sync"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
)

// cachedPiece is up to which size the members of a piece are remembered: small originals share members, large ones
// would only push them out.
const cachedPiece = 1 << 20

// Raw returns the bytes of a record. Errors: blob.ErrCorrupt, blob.ErrNotFound when a pack is gone,
// index.ErrNotFound when the chain has no such bytes, ErrNoIndex.
func (a *Archive) Raw(ctx context.Context, at index.Place) ([]byte, error) {
	return a.rawOf(ctx, at, nil)
}

func (a *Archive) rawOf(ctx context.Context, at index.Place, known []index.Piece) ([]byte, error) {
	raw, err := a.raw(ctx, at, known)
	if err != nil {
		return nil, fmt.Errorf("read %d bytes at %d of %s/%s version %d: %w", at.Length, at.Offset, at.Source, at.Path, at.Number, err)
	}
	return raw, nil
}

func (a *Archive) raw(ctx context.Context, at index.Place, known []index.Piece) ([]byte, error) {
	if at.Length < 0 || at.Offset < 0 {
		return nil, index.ErrNotFound
	}
	if at.Length == 0 {
		return []byte{}, nil
	}
	if at.Inner != "" {
		return a.inner(ctx, at)
	}
	raw, err := a.storedAt(ctx, known, at.Chain, at.Offset, at.Length)
	return raw, a.orLost(ctx, err, &blob.Version{Source: at.Source, Path: at.Path, Number: at.Number}, at.Offset, at.Length)
}

// orLost says of bytes that are nowhere whether it is known that they are lost.
func (a *Archive) orLost(ctx context.Context, err error, v *blob.Version, offset, size int64) error {
	db := a.Index()
	if !errors.Is(err, index.ErrNotFound) || db == nil {
		return err
	}
	for f, ferr := range db.Facts(ctx, blob.FactLost) {
		if ferr != nil {
			break
		}
		l, perr := blob.ParseLoss(f)
		if perr == nil && l.Source == v.Source && l.Path == v.Path && l.Number == v.Number && l.Offset < offset+size && offset < l.Offset+l.Size {
			return lostError(&l)
		}
	}
	return err
}

// Text returns the text of one part of the event at a place, decoded by its format. part counts from 0.
func (a *Archive) Text(ctx context.Context, at index.Place, part int) (string, error) {
	if a.opts.Decode == nil {
		return "", errors.New("the archive was opened without formats")
	}
	return a.text(ctx, at, part, nil)
}

// Placed returns what Text returns, for texts at some places, which it looks up at once.
func (a *Archive) Placed(ctx context.Context, places []index.Place) func(ctx context.Context, at index.Place, part int) (string, error) {
	db := a.Index()
	if db == nil || a.opts.Decode == nil {
		return a.Text
	}
	found, err := db.LocateAll(ctx, places)
	if err != nil {
		return a.Text // which says what is wrong
	}
	known := make(map[index.Place][]index.Piece, len(places))
	for i, at := range places {
		known[at] = found[i]
	}
	return func(ctx context.Context, at index.Place, part int) (string, error) {
		return a.text(ctx, at, part, known[at])
	}
}

func (a *Archive) text(ctx context.Context, at index.Place, part int, known []index.Piece) (string, error) {
	raw, err := a.rawOf(ctx, at, known)
	if err != nil {
		return "", err
	}
	text, err := a.opts.Decode(at.Format, at.Role, raw, part)
	if err != nil {
		return "", fmt.Errorf("decode %s/%s version %d, line %d: %w", at.Source, at.Path, at.Number, at.Line, err)
	}
	return text, nil
}

// stored returns bytes of a chain.
func (a *Archive) stored(ctx context.Context, chain, offset, length int64) ([]byte, error) {
	return a.storedAt(ctx, nil, chain, offset, length)
}

// storedAt is stored where it is known already where the bytes lie. It is asked again when they are there no more.
func (a *Archive) storedAt(ctx context.Context, known []index.Piece, chain, offset, length int64) ([]byte, error) {
	var out []byte
	read := func(pieces []index.Piece) error {
		out = out[:0]
		for _, p := range pieces {
			data, err := a.piece(ctx, p)
			if err != nil {
				return err
			}
			if len(pieces) == 1 {
				out = data
				return nil
			}
			out = append(out, data...)
		}
		return nil
	}
	if len(known) > 0 {
		if err := read(known); err == nil || !errors.Is(err, blob.ErrNotFound) {
			return out, err
		}
	}
	err := a.relocating(ctx, chain, offset, length, read)
	return out, err
}

// relocating calls read with the places of bytes, and again when a pack has vanished meanwhile: gc has put them into
// another. It gives up when they are where they were.
func (a *Archive) relocating(ctx context.Context, chain, offset, length int64, read func([]index.Piece) error) error {
	var before []index.Piece
	for {
		db := a.Index()
		if db == nil {
			return a.noIndex()
		}
		pieces, err := db.Locate(ctx, chain, offset, length)
		if err != nil {
			return err
		}
		moved := !slices.EqualFunc(before, pieces, func(a, b index.Piece) bool { return a.Pack == b.Pack && a.Raw == b.Raw })
		if err = read(pieces); err == nil || !moved || !errors.Is(err, blob.ErrNotFound) {
			return err
		}
		before = pieces
	}
}

// piece inflates the members that hold a piece.
func (a *Archive) piece(ctx context.Context, p index.Piece) ([]byte, error) {
	v, err := a.volumes.get(ctx, p.Pack)
	if err != nil {
		return nil, err
	}
	data, err := a.view(v, p).ReadRange(ctx, p.Raw, p.Size)
	return data, errors.Join(err, a.volumes.release(v))
}

func (a *Archive) view(v *volume, p index.Piece) *pack.View {
	view := &pack.View{Name: p.Pack, Pack: v, Members: p.Members}
	if p.Size <= cachedPiece {
		view.Cache = a.cache
	}
	return view
}

// contentWindow is how much of an original is located and inflated at once.
const contentWindow = 4 << 20

// Content streams a whole version. The reader gives blob.ErrCorrupt in place of io.EOF when the bytes were not those
// of the version's SHA-256.
func (a *Archive) Content(ctx context.Context, v index.FileVersion) io.Reader {
	return verifying(&content{ctx: ctx, archive: a, version: v, end: v.Size}, v.Version)
}

// content reads a version window by window, so that a pack that vanishes in the midst costs nothing.
type content struct {
	ctx     context.Context // a Reader lives as long as the call that made it
	archive *Archive
	version index.FileVersion
	offset  int64 // of the next window
	end     int64
	window  []byte
}

func (c *content) Read(p []byte) (int, error) {
	v := &c.version
	if len(c.window) == 0 {
		if c.offset >= c.end {
			return 0, io.EOF
		}
		window, err := c.archive.stored(c.ctx, v.Chain, c.offset, min(contentWindow, c.end-c.offset))
		if err != nil {
			err = c.archive.orLost(c.ctx, err, &v.Version, c.offset, min(contentWindow, c.end-c.offset))
			return 0, fmt.Errorf("read %s/%s version %d at %d: %w", v.Source, v.Path, v.Number, c.offset, err)
		}
		c.window = window
		c.offset += int64(len(window))
	}
	n := copy(p, c.window)
	c.window = c.window[n:]
	return n, nil
}

// verified checks at the end of a stream that it was the version that it should be.
type verified struct {
	r       io.Reader
	hash    hash.Hash
	version blob.Version
	err     error
}

func verifying(r io.Reader, v blob.Version) *verified {
	return &verified{r: r, hash: sha256.New(), version: v}
}

func (c *verified) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.r.Read(p)
	c.hash.Write(p[:n])
	if errors.Is(err, io.EOF) && blob.Ref(c.hash.Sum(nil)) != c.version.SHA256 {
		err = fmt.Errorf("%s/%s version %d is not what was archived: %w", c.version.Source, c.version.Path, c.version.Number, blob.ErrCorrupt)
	}
	c.err = err
	return n, err
}

// failed says that the bytes below could not be had, or are not what they should be.
func (c *verified) failed() bool { return c.err != nil && !errors.Is(c.err, io.EOF) }

// openVolumes is how many packs stay open.
const openVolumes = 32

// volumes keeps the packs open that were read last, so that a page of hits does not open one file per hit. A pack
// that is removed meanwhile stays readable as long as it is open.
type volumes struct {
	store blob.Store

	mu    sync.Mutex
	open  []*volume // the last used first
	ended bool
}

type volume struct {
	blob.Pack
	name  string
	users int
	kept  bool // in volumes.open
}

func newVolumes(store blob.Store) *volumes { return &volumes{store: store} }

// get opens a pack, or finds it open. The caller must release it.
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
	if v.ended {
		return opened, nil
	}
	opened.kept = true
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

// drop keeps the n packs that were used last, and closes the others that nobody reads.
func (v *volumes) drop(n int) error {
	var errs []error
	for _, old := range v.open[min(n, len(v.open)):] {
		old.kept = false
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
	if used.users > 0 || used.kept {
		return nil
	}
	return used.Close()
}

// close closes all packs; those that are being read are closed when they are released.
func (v *volumes) close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended = true
	return v.drop(0)
}
