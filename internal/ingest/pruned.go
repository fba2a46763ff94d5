package ingest

import (
	"context"
	"crypto/sha256"
	"io"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// tombstones are those that stand. There may be a million of them: of most only the key is held.
type tombstones struct {
	forgotten map[[16]byte]bool             // by blob.ShortKey; false: it was pruned
	marked    map[blob.Ref][]blob.Tombstone // of what was redacted, by the beginning of what took its place
}

func (g *Ingester) tombstones(ctx context.Context) (tombstones, error) {
	all := tombstones{map[[16]byte]bool{}, map[blob.Ref][]blob.Tombstone{}}
	for f, err := range g.Index.Facts(ctx, blob.FactTombstone) {
		if err != nil {
			return all, err
		}
		t, err := blob.ParseTombstone(f)
		if err != nil {
			continue // says nothing: verify tells of packs that are wrong
		}
		all.forgotten[blob.ShortKey(f.Key)] = t.Plan == blob.PlanForget
		if t.Redacted != nil {
			all.marked[t.Redacted.Root] = append(all.marked[t.Redacted.Root], t)
		}
	}
	return all, nil
}

// on looks for the tombstone of a key.
func (all tombstones) on(key string) (buried, forgotten bool) {
	forgotten, buried = all.forgotten[blob.ShortKey(key)]
	return buried, forgotten
}

// redacted is the file with the marks that its newest version has: a file that still has, or has grown from, what was
// redacted is then known for what it is.
func (st *stored) redacted(state index.State) io.ReaderAt {
	var layers []*blob.Redaction // the first marks last
	for root := state.Root; ; {
		all := st.s.graves.marked[root]
		i := slices.IndexFunc(all, func(t blob.Tombstone) bool {
			return t.Source == state.Source && t.Path == state.Path && t.Number == state.Number && t.Root != root
		})
		if i < 0 {
			break
		}
		layers, root = append(layers, all[i].Redacted), all[i].Root
	}
	f := st.f
	for _, marks := range slices.Backward(layers) {
		f = blob.Redacted(f, marks)
	}
	return f
}

// buried says whether a tombstone lies on what the file is now.
func (st *stored) buried() (buried bool, err error) {
	if len(st.s.graves.forgotten) == 0 || st.asked {
		return false, nil
	}
	h := sha256.New()
	n, err := io.Copy(h, io.NewSectionReader(st.f, 0, st.v.Size))
	if err != nil {
		return false, err
	}
	if n < st.v.Size {
		return false, errChanged
	}
	buried, st.forgotten = st.s.graves.on(blob.Tombstone{Source: st.v.Source, Path: st.v.Path, SHA256: blob.Ref(h.Sum(nil))}.Key())
	return buried, nil
}

// leaveOut does nothing with a content that was pruned, unless it is asked for. Then its tombstone is taken back: the
// next parse finds the bytes where they were, or they are stored as a new version when gc has taken them.
func (st *stored) leaveOut(state index.State) error {
	s := st.s
	if state.Source != "" {
		_, st.forgotten = s.graves.on(blob.NewTombstone(&state.Version, "").Key())
	}
	if !s.g.Pruned || st.forgotten {
		s.keeper.mu.Lock()
		s.report.Pruned++
		s.keeper.mu.Unlock()
		s.remember(st.c.path, st.stat)
		return nil
	}
	v := state.Version
	if v.Source == "" {
		v = st.v
	}
	now := s.g.Now().UTC().Truncate(time.Microsecond)
	facts := []blob.Fact{blob.NewTombstone(&v, "").Retract(now)}
	there := int64(-1) // even an empty content has a place
	if len(state.Extents) > 0 {
		there = 0
	}
	for _, e := range state.Extents {
		there += e.Size
	}
	again := there < v.Size || state.Source == ""
	if !again {
		facts = append(facts, blob.Fact{Kind: index.FactLedger, Key: index.LedgerKey(&v), Time: now, Value: []byte("null")})
	}
	s.keeper.mu.Lock()
	s.keeper.facts = append(s.keeper.facts, facts...)
	s.keeper.mu.Unlock()
	if !again {
		s.remember(st.c.path, st.stat)
		return nil
	}
	st.asked = true
	if st.kind == piecePruned {
		st.kind = pieceRewritten
		st.v.Number++
	}
	return st.store()
}
