package archive

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// Raw returns the bytes of a record. Errors: blob.ErrCorrupt, blob.ErrNotFound if a pack is missing,
// index.ErrNotFound if the chain has no such bytes, ErrNoIndex.
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
	return raw, a.asLost(ctx, err, &blob.Version{Source: at.Source, Path: at.Path, Number: at.Number}, at.Offset, at.Length)
}

// asLost turns the error for bytes that are not found into blob.ErrLost if they are recorded as lost, and returns any other
// error unchanged.
func (a *Archive) asLost(ctx context.Context, err error, v *blob.Version, offset, size int64) error {
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

// Placed returns a function like Text for the given places, which it looks up in the index all at once.
func (a *Archive) Placed(ctx context.Context, places []index.Place) func(ctx context.Context, at index.Place, part int) (string, error) {
	db := a.Index()
	if db == nil || a.opts.Decode == nil {
		return a.Text
	}
	found, err := db.LocateAll(ctx, places)
	if err != nil {
		return a.Text // which will return the error
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

// storedAt is like stored, but known, if not nil, are the places of the bytes. If a pack is no longer there, it looks them up.
func (a *Archive) storedAt(ctx context.Context, known []index.Piece, chain, offset, length int64) ([]byte, error) {
	var out []byte
	read := func(pieces []index.Piece) error {
		out = out[:0]
		for _, p := range pieces {
			data, err := a.library.ReadRange(ctx, p.Pack, p.Members, p.Raw, p.Size)
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
	err := a.withRelocation(ctx, chain, offset, length, read)
	return out, err
}

// withRelocation calls read with the places of bytes, and again if a pack is missing because gc has moved its bytes to another
// pack meanwhile. It gives up when the places have not changed.
func (a *Archive) withRelocation(ctx context.Context, chain, offset, length int64, read func([]index.Piece) error) error {
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

// contentWindow is how many bytes of an original are located and inflated at a time.
const contentWindow = 4 << 20

// Content returns a reader of a whole version. At the end it returns blob.ErrCorrupt instead of io.EOF if the bytes do not
// match the version's SHA-256.
func (a *Archive) Content(ctx context.Context, v index.FileVersion) io.Reader {
	return newVerifyingReader(&content{ctx: ctx, archive: a, version: v, end: v.Size}, v.Version)
}

// content reads a version window by window, so that gc may move packs in the middle of it.
type content struct {
	ctx     context.Context // in a field because io.Reader has no context
	archive *Archive
	version index.FileVersion
	offset  int64 // of the next window
	end     int64
	ahead   int64 // size of the next window, which doubles; 0 is the largest
	window  []byte
}

func (c *content) Read(p []byte) (int, error) {
	v := &c.version
	if len(c.window) == 0 {
		if c.offset >= c.end {
			return 0, io.EOF
		}
		most := cmp.Or(c.archive.window, contentWindow)
		length := min(cmp.Or(c.ahead, most), most, c.end-c.offset)
		c.ahead = min(2*c.ahead, most)
		window, err := c.archive.stored(c.ctx, v.Chain, c.offset, length)
		if err != nil {
			err = c.archive.asLost(c.ctx, err, &v.Version, c.offset, length)
			return 0, fmt.Errorf("read %s/%s version %d at %d: %w", v.Source, v.Path, v.Number, c.offset, err)
		}
		c.window = window
		c.offset += int64(len(window))
	}
	n := copy(p, c.window)
	c.window = c.window[n:]
	return n, nil
}

// verifyingReader checks at the end of a stream that its SHA-256 is that of a version.
type verifyingReader struct {
	r       io.Reader
	hash    hash.Hash // nil after a Seek
	version blob.Version
	err     error
}

func newVerifyingReader(r io.Reader, v blob.Version) *verifyingReader {
	return &verifyingReader{r: r, hash: sha256.New(), version: v}
}

func (c *verifyingReader) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.r.Read(p)
	if c.hash != nil {
		c.hash.Write(p[:n])
	}
	if errors.Is(err, io.EOF) && c.hash != nil && blob.Ref(c.hash.Sum(nil)) != c.version.SHA256 {
		err = fmt.Errorf("%s/%s version %d does not match what was archived: %w", c.version.Source, c.version.Path, c.version.Number, blob.ErrCorrupt)
	}
	c.err = err
	return n, err
}

// failed reports whether the bytes could not be read or did not match the version.
func (c *verifyingReader) failed() bool { return c.err != nil && !errors.Is(c.err, io.EOF) }
