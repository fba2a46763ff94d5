package gc

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// Forget finds and removes what should never have been archived, from originals, names and facts. Apply needs the
// archive's lock. Forget reports where the pattern matches, but never what matched.
type Forget struct {
	GC      *GC // its next Run removes what Apply has marked for removal
	Pattern *Pattern
	// Open opens a layer of an original: gzip, zstd, zip, rows:<format>:<role>. Compress writes one.
	Open     func(inner string, r io.Reader) (io.Reader, error)
	Compress func(inner string, w io.Writer) (io.WriteCloser, error)
	// Progress is called with the number of bytes of originals searched so far. It may be nil.
	Progress func(done, total int64)
	// Hold takes each file of the index that Files has opened, to close it after SQLite has closed the index: when a process closes any
	// descriptor of a file, it loses all of its locks on that file, those of SQLite included. nil closes it at once.
	Hold func(io.Closer)
	// Specimen returns the Bytes of an archive that the same program has made of nothing. nil: none.
	Specimen func(context.Context) ([]byte, error)
	// Own is how many matches Files has found that are the program's own, as in a Specimen.
	Own int64
	// Unread is how many packs Files could not read to the end because they are damaged.
	Unread int64

	own      *ownText        // nil unless the pattern matches in it
	words    map[string]bool // see learn
	holdings *holdings
	library  *pack.Library
	raw      *bufio.Reader // reused for one original after the other
}

// Where a match is.
const (
	InOriginal = "original"
	InName     = "name" // name of an original: its path, or the root by which it was recognised
	InFact     = "fact"
	InFile     = "file" // file of the archive
)

// What Apply does about a match.
const (
	Redact = "redact" // replace the matches with marks
	Drop   = "drop"   // remove the original, fact or file as a whole
)

// Match is a place that must be forgotten. It does not contain the matched text.
type Match struct {
	Where   string
	Source  string
	Path    string
	Version int
	Inner   string // layer of the original, "" for the original itself
	Fact    string // kind of the fact
	File    string // path below the archive's directory
	Count   int64
	Action  string
	// Waiting means that a tombstone covers it already, and that the next gc removes it.
	Waiting bool

	ranges [][2]int64 // the matches in the original itself (offset, length); only set during each
}

// Search searches every original, every name and every fact.
func (f *Forget) Search(ctx context.Context) (found []Match, err error) {
	err = f.each(ctx, func(_ *Chain, more []Match) error {
		for i := range more {
			more[i].ranges = nil
		}
		found = append(found, more...)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	found = append(f.searchFacts(), found...)
	f.holdings = nil
	slices.SortStableFunc(found, func(a, b Match) int {
		return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.Path, b.Path), cmp.Compare(a.Version, b.Version))
	})
	return found, nil
}

// each calls do for every original with matches: one span of names after another, and within a span in the order of
// the packs.
func (f *Forget) each(ctx context.Context, do func(*Chain, []Match) error) (err error) {
	f.words = map[string]bool{}
	f.GC.began, f.GC.matches = f.GC.Now(), func(fact blob.Fact) bool {
		f.learn(fact)
		return f.inFact(fact)
	}
	f.library = pack.NewLibrary(f.GC.Packs, 16<<20)
	defer func() { err = errors.Join(err, f.library.Close()) }()
	done := int64(0)
	f.holdings, err = f.GC.walk(ctx, nil, func(h *holdings, _ blob.Span) error {
		f.holdings = h
		for _, c := range h.byPackOrder() {
			found, err := f.searchChain(ctx, c)
			if err != nil {
				return fmt.Errorf("%s version %d: %w", f.Pattern.masked(c.Source+"/"+c.Path), c.Number, err)
			}
			if len(found) > 0 {
				if err := do(c, found); err != nil {
					return err
				}
			}
			if done += c.Size; f.Progress != nil {
				f.Progress(done, max(done, h.bytes))
			}
		}
		return nil
	})
	if err == nil {
		f.holdings.deselect()
	}
	return err
}

// byPackOrder returns the chains in the order in which their beginnings are stored, so that a shared pack member is
// not inflated once per original.
func (h *holdings) byPackOrder() []*Chain {
	var nowhere entry
	begins := func(c *Chain) *entry {
		if len(c.parts) == 0 || c.parts[0].at == nil {
			return &nowhere
		}
		return c.parts[0].at
	}
	return slices.SortedFunc(h.chains, func(a, b *Chain) int {
		x, y := begins(a), begins(b)
		return cmp.Or(x.Compare(y.Copy), a.key().Compare(b.key()))
	})
}

func (f *Forget) searchFacts() (found []Match) {
	counts := f.holdings.matched
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		found = append(found, Match{Where: InFact, Fact: f.Pattern.masked(kind), Count: counts[kind], Action: Drop})
	}
	return found
}

// inFact reports whether the key of a fact or its value has a match. Kinds and the keys in values are the program's own: facts are not dropped
// because of them, for without its tombstones everything that was pruned or forgotten would come back. Only the parameters of reports have
// names that users choose.
func (f *Forget) inFact(fact blob.Fact) bool {
	if f.Pattern.in(fact.Key) {
		return true
	}
	matches := f.Pattern.find(fact.Value)
	if len(matches) == 0 || fact.Kind == factReport {
		return len(matches) > 0
	}
	keys := keysOf(fact.Value)
	return slices.ContainsFunc(matches, func(m [2]int) bool {
		return !slices.ContainsFunc(keys, func(k [2]int) bool { return k[0] <= m[0] && m[1] <= k[1] })
	})
}

// factReport is the kind of facts that are saved reports.
const factReport = "report"

func (f *Forget) inName(v *blob.Version) bool {
	return f.Pattern.in(v.Source+"/"+v.Path) || f.Pattern.in(v.Claim) || f.Pattern.in(v.Format) || f.Pattern.in(v.Role)
}

// searchChain searches one original, and what is inside of it if it is compressed or a database.
func (f *Forget) searchChain(ctx context.Context, c *Chain) (found []Match, err error) {
	m := Match{Source: f.Pattern.masked(c.Source), Path: f.Pattern.masked(c.Path), Version: c.Number, Action: Redact, Waiting: c.dead}
	v := c.version()
	if f.inName(&v) {
		name := m
		name.Where, name.Count, name.Action = InName, 1, Drop
		found = append(found, name)
	}
	if c.apart || !c.Complete() { // several contents, or less than one
		search := f.searchRemains
		if c.apart {
			search = f.searchApart
		}
		n, err := search(ctx, c)
		if m.Where, m.Count, m.Action = InOriginal, n, Drop; n > 0 {
			found = append(found, m)
		}
		return found, err
	}
	raw := f.buffered(f.content(ctx, c))
	head, err := raw.Peek(32)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	inner := layerOf(&v, head)
	m.Where = InOriginal
	if m.ranges, err = f.Pattern.scan(raw); err != nil {
		return nil, err
	}
	if m.Count = int64(len(m.ranges)); m.Count > 0 {
		found = append(found, m)
	}
	if inner == "" {
		return found, nil
	}
	n, err := f.searchLayer(inner, f.content(ctx, c))
	if err != nil || n == 0 {
		return found, err
	}
	m.Inner, m.Count, m.ranges = inner, n, nil
	return append(found, m), nil
}

func (f *Forget) buffered(r io.Reader) *bufio.Reader {
	if f.raw == nil {
		f.raw = bufio.NewReaderSize(r, 64<<10)
	}
	f.raw.Reset(r)
	return f.raw
}

// searchRemains searches what is left of an original that has lost bytes. Such an original cannot be redacted, only
// dropped.
func (f *Forget) searchRemains(ctx context.Context, c *Chain) (n int64, err error) {
	for i := 0; i < len(c.parts); {
		var run []blob.Extent
		for ; i < len(c.parts); i++ {
			p := &c.parts[i]
			if p.at == nil || len(run) > 0 && p.Offset != run[len(run)-1].Offset+run[len(run)-1].Size {
				break
			}
			run = append(run, p.stored())
		}
		if len(run) == 0 {
			i++
			continue
		}
		places, err := f.Pattern.scan(f.library.Reader(ctx, run))
		if err != nil {
			return n, err
		}
		n += int64(len(places))
	}
	return n, nil
}

// searchApart searches an original whose parts overlap: each part behind the ends of all that may come before it. Such an original can only
// be dropped, with everything that any copy of the archive has of it.
func (f *Forget) searchApart(ctx context.Context, c *Chain) (int64, error) {
	found := map[int64]bool{}
	for i := range c.parts {
		p := &c.parts[i]
		if p.at == nil {
			continue
		}
		runs := [][]blob.Extent{{p.stored()}}
		for j := range c.parts {
			if q := &c.parts[j]; q.at != nil && q.Offset < p.Offset && p.Offset <= q.Offset+q.Size {
				before := q.stored()
				before.Size = p.Offset - q.Offset
				runs = append(runs, []blob.Extent{before, p.stored()})
			}
		}
		for _, run := range runs {
			places, err := f.Pattern.scan(f.library.Reader(ctx, run))
			if err != nil {
				return 0, err
			}
			for _, at := range places {
				found[run[0].Offset+at[0]] = true
			}
		}
	}
	return int64(len(found)), nil
}

// stored returns the part's extent at its current location, in the form that a pack.Library reads.
func (p *part) stored() blob.Extent {
	return blob.Extent{Offset: p.Offset, Size: p.Size, SHA256: p.SHA256, CopyOf: &p.at.Copy}
}

// searchLayer counts the matches in what can be read of a layer.
func (f *Forget) searchLayer(inner string, r io.Reader) (int64, error) {
	layer := f.readable(inner, r)
	places, err := f.Pattern.scan(layer)
	return int64(len(places)), err
}

// readable returns what can be read of a layer: all that comes before bad content, none if that is at its beginning.
func (f *Forget) readable(inner string, r io.Reader) io.Reader {
	below := &errReader{r: r}
	layer, err := f.Open(inner, below)
	if err != nil {
		layer = bytes.NewReader(nil)
	}
	return &readable{layer: layer, below: below}
}

type readable struct {
	layer io.Reader
	below *errReader
}

// Read returns the error of the reader below if there is one: any other is about the content, which ends there.
func (r *readable) Read(p []byte) (int, error) {
	n, err := r.layer.Read(p)
	switch {
	case r.below.err != nil:
		return n, r.below.err
	case err != nil:
		return n, io.EOF
	}
	return n, nil
}

// errReader remembers a read error, to distinguish it from invalid content.
type errReader struct {
	r   io.Reader
	err error
}

func (f *errReader) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

// layerOf returns the layer of an original that is compressed or a database, recognised by its first bytes, or "".
func layerOf(v *blob.Version, head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return "gzip"
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		return "zstd"
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return "zip"
	case bytes.HasPrefix(head, []byte("SQLite format 3\x00")) && v.Format != "":
		return "rows:" + v.Format + ":" + v.Role
	}
	return ""
}

// Complete reports whether every byte of the chain is in some pack.
func (c *Chain) Complete() bool {
	end := int64(0)
	for _, p := range c.parts {
		if p.at == nil || p.Offset > end {
			return false
		}
		end = max(end, p.Offset+p.Size)
	}
	return end >= c.Size
}

// content reads a chain from the packs.
func (f *Forget) content(ctx context.Context, c *Chain) io.Reader {
	return io.LimitReader(f.library.Reader(ctx, c.Copies()), c.Size)
}

// Copies returns the extents of a chain as another pack would refer to them.
func (c *Chain) Copies() []blob.Extent {
	extents := make([]blob.Extent, len(c.parts))
	for i := range c.parts {
		extents[i] = c.parts[i].stored()
	}
	return extents
}

// Restated returns the version with all of its states, as another pack would state it.
func (c *Chain) Restated() blob.Version {
	v := c.version()
	v.SetStates(c.states())
	v.Extents = c.Copies()
	return v
}
