package gc

import (
	"cmp"
	"context"
	"errors"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
)

// rewriter replaces groups of old packs with new ones.
type rewriter struct {
	gc       *GC
	holdings *holdings
	report   *Report
	damaged  map[string]bool // packs that are skipped because they cannot be read
	done     int64           // bytes of old packs so far
}

// replace rewrites one group, has the new packs indexed, and removes the old ones. A pack with damage in needed
// content stays as it is.
func (w *rewriter) replace(ctx context.Context, group group) error {
	for len(group) > 0 {
		b := newBundle(w, group)
		rows, err := b.write(ctx)
		if err == nil {
			return w.swap(ctx, b, rows)
		}
		err = errors.Join(err, b.abort())
		corrupt, ok := errors.AsType[*pack.CorruptError](err)
		if !ok || b.members[corrupt.Pack] == nil {
			return err
		}
		bad := b.members[corrupt.Pack]
		w.damaged[bad.Name] = true
		w.report.Damaged = append(w.report.Damaged, bad.Name)
		w.gc.Log.WarnContext(ctx, "a damaged pack is skipped", "pack", bad.Name, "err", err)
		group = slices.DeleteFunc(slices.Clone(group), func(v *volume) bool { return v == bad })
	}
	return nil
}

// swap has the new packs indexed and removes the old ones.
func (w *rewriter) swap(ctx context.Context, b *bundle, rows []*index.PackRow) error {
	b.release()
	// The index knows all facts already; only their location changes.
	if err := w.gc.Index.Commit(ctx, index.Batch{Packs: rows}); err != nil {
		return err
	}
	var names []string
	for _, v := range b.group {
		names = append(names, v.Name)
		if v.dirty() {
			w.report.Rewritten++
		} else {
			w.report.Merged++
		}
	}
	if err := w.gc.remove(ctx, names, w.report); err != nil {
		return err
	}
	if err := b.updateHoldings(ctx, rows); err != nil {
		return err
	}
	w.done += b.group.size()
	if w.gc.Progress != nil {
		w.gc.Progress(w.done, max(w.done, w.report.Before))
	}
	return nil
}

// bundle is one new pack being written. Entries whose names conflict with others in it go into additional packs,
// which are sealed before it: only the last pack says what all of them replace.
type bundle struct {
	*rewriter
	group   group
	members map[string]*volume // the packs of the group by name
	facts   []blob.Fact

	volumes []*newVolume // the last is the main one
	stamp   time.Time    // creation time of the first of them
	moves   map[*entry]*relocation
	folds   []*fold
	library *pack.Library
}

// memberCache is how many bytes of inflated members of a group are kept.
const memberCache = 32 << 20

// manyChains is the size of a selection from which a garbage collection cycle, some tens of milliseconds, is small
// compared with the work that was done.
const manyChains = 1 << 15

// release drops what was needed to write the packs, before the index commits them and needs as much memory of its
// own.
func (b *bundle) release() {
	many := b.holdings.count >= manyChains
	b.holdings.deselect()
	b.volumes, b.facts, b.moves, b.folds = nil, nil, nil, nil
	if many {
		debug.FreeOSMemory() // otherwise it adds to the index's memory, which is outside of the heap
	}
}

type newVolume struct {
	writer *pack.Writer
	name   string // set when it is sealed
	owns   []*relocation
}

// relocation is the new extent that one or several old entries become. Its name is that of its owner.
type relocation struct {
	owner ref
	blob.Extent
	volume *newVolume
	of     []*entry
}

// relocate returns the new extent of an entry, named after its owner.
func (b *bundle) relocate(x *entry) *relocation {
	o := ownerOf(x)
	return &relocation{owner: o, Extent: blob.Extent{Offset: o.part.Offset, Size: x.size, SHA256: x.sum}, of: []*entry{x}}
}

// holds reports whether a part of a chain is within m and m has the chain's own name.
func (m *relocation) holds(c *Chain, p *part) bool {
	return m.owner.Chain == c && p.Offset >= m.Offset && p.Offset+p.Size <= m.Offset+m.Size
}

func newBundle(w *rewriter, group group) *bundle {
	b := &bundle{rewriter: w, group: group, members: map[string]*volume{}, moves: map[*entry]*relocation{}, library: pack.NewLibrary(w.gc.Packs, memberCache)}
	for _, v := range group {
		b.members[v.Name] = v
	}
	b.library.Members = func(name string) []blob.Member { return slices.Concat(b.members[name].units...) }
	return b
}

// write makes the new packs durable and returns their rows for the index, the main pack last.
func (b *bundle) write(ctx context.Context) (rows []*index.PackRow, err error) {
	defer func() { err = errors.Join(err, b.library.Close()) }()
	main, err := b.gc.begin(ctx, &b.holdings.clock)
	if err != nil {
		return nil, err
	}
	b.volumes, b.stamp = []*newVolume{{writer: main}}, b.holdings.clock
	b.planFolds()
	for _, v := range b.group {
		if err := b.copyVolume(ctx, v); err != nil {
			return nil, err
		}
	}
	for _, f := range b.folds {
		if err := b.join(ctx, f); err != nil {
			return nil, err
		}
	}
	b.facts = b.livingFacts()
	return b.seal(ctx)
}

func (b *bundle) abort() error {
	var errs []error
	for _, v := range b.volumes {
		if v.name == "" {
			errs = append(errs, v.writer.Abort())
		}
	}
	return errors.Join(errs...)
}

// copyVolume copies the needed content of an old pack.
func (b *bundle) copyVolume(ctx context.Context, v *volume) error {
	from, err := b.library.View(ctx, v.Name)
	if err != nil {
		return err
	}
	units := b.needed(v)
	prefetched, stop := startPrefetch(ctx, from, units)
	for _, u := range units {
		if err = b.copyUnit(ctx, from, u, prefetched); err != nil {
			break
		}
	}
	stop()
	return errors.Join(err, from.Pack.Close())
}

// oldUnit is a unit of an old pack some of which is needed.
type oldUnit struct {
	members []blob.Member
	needed  []*entry
	whole   bool // it can be copied in compressed form, since all of its entries stay as they are
}

// needed returns the units of a pack that have needed entries.
func (b *bundle) needed(v *volume) (units []oldUnit) {
	i := 0
	for _, members := range v.units {
		u := oldUnit{members: members, whole: len(members) > 1 || members[0].RawSize >= b.gc.Format.Member()/2}
		last := members[len(members)-1]
		for ; i < len(v.entries) && v.entries[i].Raw <= last.Raw+last.RawSize; i++ { // an empty one begins where it ends
			x := v.entries[i]
			if len(x.refs) == 0 || b.moves[x] != nil {
				u.whole = false
				continue
			}
			u.whole = u.whole && ownerOf(x).Chain == x.owner
			u.needed = append(u.needed, x)
		}
		if len(u.needed) > 0 {
			units = append(units, u)
		}
	}
	return units
}

// prefetch is a unit being read from a pack in compressed form.
type prefetch struct {
	unit *pack.Unit
	err  error
	done chan struct{}
}

// prefetchAhead is how many units are read ahead besides the one that is waited for. Each is in memory as stored.
const prefetchAhead = 1

// startPrefetch reads, in order and ahead of the consumer, those units that can be copied in compressed form: hashing them, and
// inflating what has their names, takes longer than writing them. Nothing reads from the pack after stop returns.
func startPrefetch(ctx context.Context, from *pack.View, units []oldUnit) (prefetched <-chan *prefetch, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	started := make(chan *prefetch, prefetchAhead)
	var group sync.WaitGroup
	group.Go(func() {
		for _, u := range units {
			if !u.whole {
				continue
			}
			l := &prefetch{done: make(chan struct{})}
			select {
			case started <- l:
			case <-ctx.Done():
				return
			}
			group.Go(func() {
				defer close(l.done)
				l.unit, l.err = pack.CopyUnit(ctx, from.Name, from.Pack, u.members)
			})
		}
	})
	return started, func() {
		cancel()
		group.Wait()
	}
}

// copyUnit copies a unit in compressed form if possible, or else entry by entry.
func (b *bundle) copyUnit(ctx context.Context, from *pack.View, u oldUnit, prefetched <-chan *prefetch) error {
	if u.whole {
		l, err := next(ctx, prefetched)
		if err != nil {
			return err
		}
		// Any other entries are links, which are written again, or belong to no version.
		if len(l.Entries) == len(u.needed) {
			return b.appendUnit(ctx, l, u)
		}
	}
	for _, x := range u.needed {
		if err := b.put(ctx, b.relocate(x), from.Reader(ctx, x.Raw, x.size)); err != nil {
			return err
		}
	}
	return nil
}

// appendUnit appends a unit to a pack in compressed form.
func (b *bundle) appendUnit(ctx context.Context, unit *pack.Unit, u oldUnit) error {
	var all []*relocation
	for _, x := range u.needed {
		all = append(all, b.relocate(x))
	}
	return b.into(ctx, all, func(w *pack.Writer) error {
		base, err := w.Append(unit)
		for i, m := range all {
			m.Raw = base + u.needed[i].Raw - u.members[0].Raw
		}
		return err
	})
}

// next waits for the next prefetched unit.
func next(ctx context.Context, prefetched <-chan *prefetch) (*pack.Unit, error) {
	select {
	case l := <-prefetched:
		<-l.done
		return l.unit, l.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ownerOf chooses the chain whose name an entry gets: its current owner if that still needs it, preferably a chain
// without a tombstone.
func ownerOf(x *entry) ref {
	return slices.MinFunc(x.refs, func(a, b ref) int {
		rank := func(r ref) int {
			switch {
			case r.Chain == x.owner && !r.tombstoned:
				return 0
			case !r.tombstoned:
				return 1
			case r.Chain == x.owner:
				return 2
			}
			return 3
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.key().Compare(b.key()), cmp.Compare(a.part.Offset, b.part.Offset))
	})
}

// put writes the content of an entry.
func (b *bundle) put(ctx context.Context, m *relocation, content io.Reader) error {
	v := m.owner.version()
	return b.into(ctx, []*relocation{m}, func(w *pack.Writer) error { return w.Put(&v, &m.Extent, content) })
}

// into writes to the first pack in which the names do not conflict, trying the main one first. Additional packs are
// sealed before the main one, and their names sort before its name.
func (b *bundle) into(ctx context.Context, all []*relocation, put func(*pack.Writer) error) error {
	for i := len(b.volumes) - 1; ; i-- {
		if i < 0 {
			b.stamp = b.stamp.Add(-time.Microsecond)
			w, err := pack.Begin(ctx, b.gc.Packs, b.gc.Writer, b.stamp, b.gc.Format)
			if err != nil {
				return err
			}
			b.volumes, i = slices.Insert(b.volumes, 0, &newVolume{writer: w}), 0
		}
		v := b.volumes[i]
		err := put(v.writer)
		if errors.Is(err, pack.ErrNameTaken) && len(v.owns) > 0 {
			continue
		}
		if err != nil {
			return err
		}
		b.place(v, all...)
		return nil
	}
}

// place records what has been written to a pack.
func (b *bundle) place(v *newVolume, all ...*relocation) {
	for _, m := range all {
		m.volume, v.owns = v, append(v.owns, m)
		for _, x := range m.of {
			b.moves[x] = m
		}
	}
}

// livingFacts returns the facts of the group that are not superseded by newer ones.
func (b *bundle) livingFacts() (all []blob.Fact) {
	for _, f := range b.holdings.facts {
		if b.members[f.pack] != nil {
			all = append(all, f.Fact)
		}
	}
	slices.SortFunc(all, func(a, b blob.Fact) int {
		return cmp.Or(a.Time.Compare(b.Time), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Key, b.Key))
	})
	return all
}
