package prune

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/prune/gc"
)

// unmarker restores originals that have marks in place of payloads: their bytes are in the packs until gc. What an
// original has grown by since then follows the marks.
type unmarker struct {
	*Pruner
	*gc.Replacer
	ctx        context.Context // lives no longer than the call that created the unmarker
	tombstones tombstoneSet    // all valid ones
	chains     gc.Chains       // currently selected
	library    *pack.Library
	now        time.Time
}

// unmark restores the payloads of originals, if they are still stored and no run outside of back has marks in the
// same original. It returns the originals with which nothing is left to do.
func (p *Pruner) unmark(ctx context.Context, back map[string]bool, out *Undone) (done map[index.VersionKey]bool, err error) {
	under := map[blob.Ref][]blob.Tombstone{}
	known, err := p.tombstones(ctx, func(t *blob.Tombstone) {
		if t.Redacted != nil && t.Redacted.Payloads {
			under[t.Redacted.Root] = append(under[t.Redacted.Root], *t)
		}
	})
	if err != nil || len(under) == 0 {
		return nil, err
	}
	layers, orders, err := p.layers(ctx, back, under)
	if err != nil || len(layers) == 0 {
		return nil, err
	}
	if p.Payloads == nil {
		return nil, ErrPayloads
	}
	u := &unmarker{Pruner: p, Replacer: gc.NewReplacer(ctx, p.Payloads.GC), ctx: ctx, tombstones: known, now: p.now()}
	u.library = pack.NewLibrary(p.Payloads.GC.Packs, 16<<20)
	defer func() { err = errors.Join(err, u.library.Close()) }()
	if done, err = u.all(layers, orders, out); err != nil {
		return nil, errors.Join(err, u.Abort())
	}
	if err := u.Seal(); err != nil || len(done) == 0 {
		return done, err
	}
	return done, p.Adopt(ctx)
}

// all restores the originals in layers, ordered by name, while their chains are selected.
func (u *unmarker) all(layers map[index.VersionKey][]blob.Tombstone, orders map[index.VersionKey]index.LedgerOrder, out *Undone) (map[index.VersionKey]bool, error) {
	done, wanted := map[index.VersionKey]bool{}, map[blob.Name]bool{}
	for key := range layers {
		wanted[blob.Name{Source: key.Source, Path: key.Path}] = true
	}
	keys := slices.SortedFunc(maps.Keys(layers), func(a, b index.VersionKey) int {
		return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.Path, b.Path), cmp.Compare(a.Number, b.Number))
	})
	first := true
	err := u.Payloads.GC.Walk(u.ctx, func(n blob.Name) bool { return wanted[n] }, func(chains gc.Chains, span blob.Span) error {
		if u.chains = chains; first {
			u.After(chains.Clock())
			first = false
		}
		for ; len(keys) > 0 && span.Has(blob.Name{Source: keys[0].Source, Path: keys[0].Path}); keys = keys[1:] {
			came, err := u.original(layers[keys[0]], orders[keys[0]])
			switch {
			case err != nil:
				return fmt.Errorf("undo %s/%s: %w", keys[0].Source, keys[0].Path, err)
			case came:
				done[keys[0]] = true
			default:
				out.Marked++
			}
		}
		return nil
	})
	return done, err
}

// layers returns the tombstones of what was in the marked originals of runs in back, the newest first. The list is
// empty for an original whose marks also belong to another run. It also returns the orders for the ledgers of the
// remaining runs.
func (p *Pruner) layers(ctx context.Context, back map[string]bool, under map[blob.Ref][]blob.Tombstone) (map[index.VersionKey][]blob.Tombstone,
	map[index.VersionKey]index.LedgerOrder, error) {
	layers, shared, orders := map[index.VersionKey][]blob.Tombstone{}, map[index.VersionKey]bool{}, map[index.VersionKey]index.LedgerOrder{}
	for g, err := range p.pruned(ctx) {
		if err != nil {
			return nil, nil, err
		}
		if !back[g.Run] {
			if g.Tier == "payloads" {
				shared[g.Key] = true
			}
			continue
		}
		if layers[g.Key] == nil {
			if all := layersOf(under, &g); all != nil {
				layers[g.Key], orders[g.Key] = all, index.LedgerOrder{Version: g.Version, Undo: back}
			}
		}
	}
	for key := range layers {
		if shared[key] {
			layers[key] = []blob.Tombstone{}
		}
	}
	return layers, orders, nil
}

func layersOf(under map[blob.Ref][]blob.Tombstone, g *index.PrunedVersion) (all []blob.Tombstone) {
	for root := g.Root; ; {
		found := false
		for _, t := range under[root] {
			if found = t.Source == g.Key.Source && t.Path == g.Key.Path && t.Number == g.Key.Number && t.Root != root; found {
				all, root = append(all, t), t.Root
				break
			}
		}
		if !found {
			return all
		}
	}
}

// original restores one original and reports whether it could.
func (u *unmarker) original(layers []blob.Tombstone, order index.LedgerOrder) (bool, error) {
	if len(layers) == 0 {
		return false, nil
	}
	ledgers, err := u.Index.Ledgers(u.ctx, []index.LedgerOrder{order})
	if err != nil {
		return false, err
	}
	l := ledgers[0]
	marked := l.Version
	pieces := u.pieces(&marked, layers)
	if pieces == nil {
		return false, u.Payloads.GC.CheckPacks(u.ctx) // gc has removed them, or they are in a pack that may come back
	}
	v, first := marked, layers[len(layers)-1]
	v.Root, v.SHA256, v.Extents = first.Root, first.SHA256, pieces[0].chain.Copies()
	if err := u.restore(v, pieces); err != nil {
		return false, err
	}
	facts := []blob.Fact{first.Retract(u.now), blob.Retraction(index.FactLedger, index.LedgerKey(&marked), u.now)}
	if tombstone := blob.NewTombstone(&marked, ""); !u.tombstones.has(tombstone.Key()) {
		facts = append(facts, tombstone.Fact(u.now))
	}
	l.Version.Root, l.Tombstoned, l.Links = v.Root, false, nil
	if len(l.Runs) > 0 {
		fact, err := l.Fact(u.now)
		if err != nil {
			return false, err
		}
		facts = append(facts, fact)
	}
	u.AddFacts(facts...)
	return true, u.SealFull()
}

// piece is the bytes of a chain from one offset to another.
type piece struct {
	chain    *gc.Chain
	from, to int64
}

// pieces returns what the original consists of: the first content, and what each state with marks has grown by. It
// returns nil if any of it is gone.
func (u *unmarker) pieces(marked *blob.Version, layers []blob.Tombstone) (all []piece) {
	from := int64(0)
	for i := len(layers) - 1; i >= -1; i-- {
		root, to := marked.Root, marked.Size
		if i >= 0 {
			root, to = layers[i].Root, layers[i].Size
			if layers[i].Plan == blob.PlanForget {
				return nil
			}
		}
		if i < len(layers)-1 && (to == from || len(layers[0].Redacted.Places) == 0) {
			continue // nothing was added; what is compressed cannot grow
		}
		c := u.chains.Find(blob.Chain{Name: marked.Name(), Number: marked.Number, Root: root})
		if c == nil || !c.Complete() || c.Size < to {
			return nil
		}
		all = append(all, piece{c, from, to})
		from = to
	}
	return all
}

// restore writes the version of an original whose beginning is in other packs, and stores what it has grown by since.
func (u *unmarker) restore(v blob.Version, pieces []piece) error {
	if err := u.Begin(); err != nil {
		return err
	}
	tails := func() io.Reader { return u.read(pieces[1:]) }
	start := pieces[0].to
	v.Size = pieces[len(pieces)-1].to
	known := len(v.Extents)
	if v.Size > start {
		h := sha256.New()
		if _, err := io.Copy(h, u.read(pieces)); err != nil {
			return err
		}
		v.SHA256 = blob.Ref(h.Sum(nil))
		more, _, err := gc.HashExtents(tails(), v.Size-start, pack.ExtentSize)
		if err != nil {
			return err
		}
		for _, e := range more {
			e.Offset += start
			v.Extents = append(v.Extents, e)
		}
	}
	return u.Put(&v, v.Extents[known:], tails())
}

// read reads pieces one after another.
func (u *unmarker) read(pieces []piece) io.Reader {
	var all []io.Reader
	for _, p := range pieces {
		whole := u.library.Reader(u.ctx, p.chain.Copies())
		all = append(all, &skipReader{whole, p.from}, io.LimitReader(whole, p.to-p.from))
	}
	return io.MultiReader(all...)
}

// skipReader discards n bytes of r and then reports EOF.
type skipReader struct {
	r io.Reader
	n int64
}

func (s *skipReader) Read([]byte) (int, error) {
	if _, err := io.CopyN(io.Discard, s.r, s.n); err != nil {
		return 0, err
	}
	return 0, io.EOF
}
