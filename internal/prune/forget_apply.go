package prune

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/txarchive/txarchive/internal/blob"
)

// redactedLayer is how large the compressed form of a layer may become: it is made in memory.
const redactedLayer = 512 << 20

// Forgotten is what Apply did.
type Forgotten struct {
	Redacted int64 // versions that have marks now
	Dropped  int64 // versions that go as a whole
	Facts    int64
	Marks    int64
}

// Apply puts redacted versions in the place of those that hold a match, and has the next Run of GC drop all others,
// and the facts. The index does not know the new packs: whoever writes adopts them. It can be repeated.
func (f *Forget) Apply(ctx context.Context) (a Forgotten, err error) {
	r := &redactor{forget: f, applied: &a, replacer: replacer{gc: f.GC, ctx: ctx}}
	err = f.each(ctx, func(c *chain, found []Match) error {
		if c.dead {
			return nil
		}
		if r.clock.IsZero() {
			r.clock = f.holdings.clock
		}
		return r.version(c, found)
	})
	if err != nil {
		return a, errors.Join(fmt.Errorf("forget: %w", err), r.writer.Abort())
	}
	if err := r.seal(); err != nil {
		return a, fmt.Errorf("forget: %w", err)
	}
	for _, m := range f.searchFacts() {
		a.Facts += m.Count
	}
	f.holdings = nil // gc makes its own: not two at a time
	f.GC.Options.Forgotten, f.GC.Options.Purge = true, true
	f.GC.Drop = f.inName
	f.GC.DropFact = f.inFact
	return a, nil
}

// redactor writes redacted versions into packs, each with the tombstones of those that they take the place of.
type redactor struct {
	forget  *Forget
	applied *Forgotten
	replacer
}

// version deals with one original.
func (r *redactor) version(c *chain, found []Match) error {
	name, inner := false, ""
	var places [][2]int64
	for _, m := range found {
		name = name || m.Where == InName
		if m.Inner != "" {
			inner = m.Inner
		}
		if m.sound != nil {
			places = m.sound
		}
		r.applied.Marks += m.Count
	}
	if c.buried || name || !c.whole() {
		return r.drop(c)
	}
	if inner == "gzip" || inner == "zstd" {
		return r.layer(c, inner)
	}
	// Of a database the bytes are marked where they lie in one piece, and the rows must then be clean.
	if inner != "" && len(places) == 0 {
		return r.drop(c)
	}
	open := func() io.Reader { return &redacted{r: r.forget.content(r.ctx, c), places: places} }
	if clean, err := r.clean(inner, open); err != nil || !clean {
		return errors.Join(err, r.dropUnless(err, c))
	}
	return r.put(c, c.Size, places, open)
}

func (r *redactor) dropUnless(err error, c *chain) error {
	if err != nil {
		return nil
	}
	return r.drop(c)
}

// clean looks at a redacted original once more: marks may have brought together what makes a match.
func (r *redactor) clean(inner string, open func() io.Reader) (bool, error) {
	places, err := r.forget.Pattern.scan(open())
	if err != nil || len(places) > 0 || inner == "" {
		return len(places) == 0, err
	}
	n, err := r.forget.inside(inner, open())
	return n == 0, err
}

// layer inflates an original, marks what is inside, and compresses it again.
func (r *redactor) layer(c *chain, inner string) error {
	inside, err := r.forget.Open(inner, r.forget.content(r.ctx, c))
	if err != nil {
		return err
	}
	places, err := r.forget.Pattern.scan(inside)
	if err != nil {
		return err
	}
	if inside, err = r.forget.Open(inner, r.forget.content(r.ctx, c)); err != nil {
		return err
	}
	out := &bounded{}
	w, err := r.forget.Compress(inner, out)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, &redacted{r: inside, places: places})
	if err = errors.Join(err, w.Close()); errors.Is(err, errTooLong) {
		return r.drop(c)
	}
	if err != nil {
		return err
	}
	open := func() io.Reader { return bytes.NewReader(out.Bytes()) }
	if clean, err := r.clean(inner, open); err != nil || !clean {
		return errors.Join(err, r.dropUnless(err, c))
	}
	return r.put(c, int64(out.Len()), nil, open)
}

var errTooLong = errors.New("too long to be redacted")

type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > redactedLayer {
		return 0, errTooLong
	}
	return b.Buffer.Write(p)
}

// drop lays a tombstone on a version that goes as a whole. It does not name what must be forgotten.
func (r *redactor) drop(c *chain) error {
	r.applied.Dropped++
	if err := r.bury(c, nil); err != nil {
		return err
	}
	return r.sealFull()
}

func (r *redactor) bury(c *chain, redaction *blob.Redaction) error {
	if err := r.begin(); err != nil {
		return err
	}
	v := c.version()
	t := blob.NewTombstone(&v, blob.PlanForget)
	if grave, ok := r.forget.holdings.graves.Of(&v); ok && redaction == nil && grave.SameRoot {
		redaction = grave.Redacted // what took its place stays known for what it is
	}
	t.Redacted = redaction
	shown := t
	shown.Source, shown.Path = r.forget.Pattern.Masked(t.Source), r.forget.Pattern.Masked(t.Path)
	fact := shown.Fact(r.now())
	fact.Key = t.Key()
	r.manifest.Facts = append(r.manifest.Facts, fact)
	return nil
}

// put stores what takes the place of a version.
func (r *redactor) put(c *chain, size int64, places [][2]int64, open func() io.Reader) error {
	told := c.version()
	told.SetStates(c.states())
	if size != c.Size { // compressed: what its beginning was then, nobody can say
		told.Earlier = nil
	}
	v, err := r.store(told, size, open)
	if err != nil {
		return err
	}
	if err := r.bury(c, &blob.Redaction{SHA256: v.SHA256, Root: v.Root, Places: places}); err != nil {
		return err
	}
	r.applied.Redacted++
	return r.sealFull()
}
