package prune

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"io"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/policy"
)

// Payloads is what the tier payloads needs: originals with marks take the place of those that are thinned.
type Payloads struct {
	GC *GC // its packs, writer, format and clock
	// Find gives what goes of the originals of runs (by native id) over so many bytes: the original and its places.
	Find func(ctx context.Context, wanted map[index.VersionKey]map[string]int64, found func(index.VersionKey, []byte, [][2]int64) error) error
	// Adopt has the index know the new packs.
	Adopt func(context.Context) error
}

// marked are the ledgers of originals of which payloads go, by original, with the runs that lose them.
type marked struct {
	ledgers map[index.VersionKey]*index.Ledger
	orders  map[index.VersionKey]int64
	wanted  map[index.VersionKey]map[string]int64
}

func (p *Pruner) toMark(ctx context.Context, orders []index.LedgerOrder) (*marked, error) {
	m := &marked{map[index.VersionKey]*index.Ledger{}, map[index.VersionKey]int64{}, map[index.VersionKey]map[string]int64{}}
	for _, o := range orders {
		over := map[string]int64{}
		for _, r := range o.Runs {
			if r.Action == string(policy.Thin) && r.Tier == string(policy.TierPayloads) {
				over[r.Run] = r.Over
			}
		}
		if o.Bury || len(over) == 0 {
			continue
		}
		all, err := p.Index.Ledgers(ctx, []index.LedgerOrder{o})
		if err != nil {
			return nil, err
		}
		l := &all[0]
		key := index.VersionKey{Source: l.Version.Source, Path: l.Version.Path, Number: l.Version.Number}
		m.ledgers[key], m.orders[key], m.wanted[key] = l, o.Version, map[string]int64{}
		for _, r := range l.Runs {
			if limit, ok := over[r.Run]; ok {
				m.wanted[key][r.NativeID] = limit
			}
		}
	}
	return m, nil
}

// mark puts originals with marks in the place of those that runs with the tier payloads hold. The packs that it writes
// also say what the ledgers of these originals say, so that nothing is left to do for them: it returns them.
func (p *Pruner) mark(ctx context.Context, orders []index.LedgerOrder, plan string, now time.Time) (done map[int64]bool, err error) {
	done = map[int64]bool{}
	m, err := p.toMark(ctx, orders)
	if err != nil || len(m.wanted) == 0 {
		return done, err
	}
	if p.Payloads == nil {
		return nil, ErrPayloads
	}
	r := &replacer{gc: p.Payloads.GC, ctx: ctx}
	if err := p.Payloads.Find(ctx, m.wanted, func(key index.VersionKey, data []byte, places [][2]int64) error {
		done[m.orders[key]] = true
		return r.mark(m.ledgers[key], data, places, plan, now)
	}); err != nil {
		return nil, errors.Join(err, r.abort())
	}
	if err := r.seal(); err != nil || len(done) == 0 {
		return done, err
	}
	return done, p.Payloads.Adopt(ctx)
}

// mark writes one original with marks, and what is to be known of it and of the one in whose place it comes.
func (r *replacer) mark(l *index.Ledger, data []byte, places [][2]int64, plan string, now time.Time) error {
	old := l.Version
	open := func() io.Reader {
		return &redacted{r: bytes.NewReader(data), places: places, mark: blob.MarkPayload}
	}
	v, err := r.store(old, int64(len(data)), open)
	if err != nil {
		return err
	}
	grave := blob.Bury(&old, plan)
	grave.Redacted = &blob.Redaction{SHA256: v.SHA256, Root: v.Root, Places: places, Payloads: true}
	stays := *l
	stays.Version = v
	stays.Version.Extents = nil
	fact, err := stays.Fact(now)
	if err != nil {
		return err
	}
	r.manifest.Facts = append(r.manifest.Facts, grave.Fact(now),
		blob.Fact{Kind: index.FactLedger, Key: index.LedgerKey(&old), Time: now, Value: []byte("null")}, fact)
	return r.sealFull()
}

// countPayloads finds out what marks give back: what the payloads take when they are compressed, about. What another
// original needs that stays gives nothing back.
func (p *Pruner) countPayloads(ctx context.Context, s *stand, plan *Plan) error {
	if p.Payloads == nil {
		return nil
	}
	orders, _ := s.orders(plan, nil)
	m, err := p.toMark(ctx, orders)
	if err != nil || len(m.wanted) == 0 {
		return err
	}
	needed := map[blob.Ref]bool{}
	for i := range s.Versions {
		v := &s.Versions[i]
		if !v.Buried && m.wanted[index.VersionKey{Source: v.Source, Path: v.Path, Number: v.Number}] == nil {
			needed[v.SHA256] = true
		}
	}
	f := &plan.Frees
	return p.Payloads.Find(ctx, m.wanted, func(key index.VersionKey, data []byte, places [][2]int64) error {
		f.Marked++
		sum := m.ledgers[key].Version.SHA256
		if needed[sum] {
			return nil
		}
		needed[sum] = true // the same bytes are there once
		size := &counter{}
		w, err := flate.NewWriter(size, flate.DefaultCompression)
		if err != nil {
			return err
		}
		for _, place := range places {
			f.PayloadBytes += place[1]
			if _, err := w.Write(data[place[0] : place[0]+place[1]]); err != nil {
				return err
			}
		}
		err = w.Close()
		f.PackBytes += size.n
		return err
	})
}

type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}
