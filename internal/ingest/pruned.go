package ingest

import (
	"context"
	"crypto/sha256"
	"io"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// tombstones are the keys of those that stand.
func (g *Ingester) tombstones(ctx context.Context) (map[string]bool, error) {
	all := map[string]bool{}
	for f, err := range g.Index.Facts(ctx, blob.FactTombstone) {
		if err != nil {
			return nil, err
		}
		all[f.Key] = true
	}
	return all, nil
}

// buried says whether a tombstone lies on what the file is now.
func (st *stored) buried() (bool, error) {
	if len(st.s.graves) == 0 || st.asked {
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
	return st.s.graves[blob.Tombstone{Source: st.v.Source, Path: st.v.Path, SHA256: blob.Ref(h.Sum(nil))}.Key()], nil
}

// leaveOut does nothing with a content that was pruned, unless it is asked for. Then its tombstone is taken back: the
// next parse finds the bytes where they were, or they are stored as a new version when gc has taken them.
func (st *stored) leaveOut(state index.State) error {
	s := st.s
	if !s.g.Pruned {
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
	facts := []blob.Fact{blob.Bury(&v, "").Retract(now)}
	there := int64(0)
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
	if st.v.Size < int64(st.builder.MemberSize()) {
		return st.small()
	}
	return st.large()
}
