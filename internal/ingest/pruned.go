package ingest

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
)

// tombstones are the tombstones in force. There may be a million: of most only a short key is kept.
type tombstones struct {
	of       map[[16]byte]deletion         // by blob.ShortKey
	redacted map[blob.Ref][]blob.Tombstone // tombstones of redacted content, by the root of the content that replaced it
}

// deletion is how a content was deleted.
type deletion uint8

const (
	pruned     deletion = 1 + iota
	superseded          // it was an earlier version of its file
	forgotten
)

// tombstones loads the tombstones in force.
func (g *Ingester) tombstones(ctx context.Context) (tombstones, error) {
	all := tombstones{map[[16]byte]deletion{}, map[blob.Ref][]blob.Tombstone{}}
	for f, err := range g.Index.Facts(ctx, blob.FactTombstone) {
		if err != nil {
			return all, err
		}
		t, err := blob.ParseTombstone(f)
		if err != nil {
			continue // verify reports malformed facts
		}
		how := pruned
		switch {
		case t.Plan == blob.PlanForget:
			how = forgotten
		case t.Superseded > 0:
			how = superseded
		}
		all.of[blob.ShortKey(f.Key)] = how
		if t.Redacted != nil {
			all.redacted[t.Redacted.Root] = append(all.redacted[t.Redacted.Root], t)
		}
	}
	return all, nil
}

// lookup returns what the tombstone with a key says, 0 if there is none.
func (t tombstones) lookup(key string) deletion { return t.of[blob.ShortKey(key)] }

// applyRedactions returns the file as it reads with the marks of its newest version: a file that still has the redacted content, or has
// grown from it, then compares equal to that version.
func (vw *versionWriter) applyRedactions(state index.State) io.ReaderAt {
	var layers []*blob.Redaction // latest redaction first
	for root := state.Root; ; {
		all := vw.s.tombstones.redacted[root]
		i := slices.IndexFunc(all, func(t blob.Tombstone) bool {
			return t.Source == state.Source && t.Path == state.Path && t.Number == state.Number && t.Root != root
		})
		if i < 0 {
			break
		}
		layers, root = append(layers, all[i].Redacted), all[i].Root
	}
	f := vw.f
	for _, marks := range slices.Backward(layers) {
		f = blob.Redacted(f, marks)
	}
	return f
}

// isTombstoned reports whether the present content of the file was pruned. A content that an earlier version had, and that
// went as such, may come back as long as the newest version is there: else the archive would not have the present one.
func (vw *versionWriter) isTombstoned(newest index.State) (found bool, err error) {
	if len(vw.s.tombstones.of) == 0 || vw.rearchive {
		return false, nil
	}
	sum, err := vw.hashTo(vw.v.Size)
	if err != nil {
		return false, err
	}
	how := vw.s.tombstones.lookup(blob.Tombstone{Source: vw.v.Source, Path: vw.v.Path, SHA256: sum}.Key())
	vw.forgotten = how == forgotten
	return how > 0 && (how != superseded || newest.Tombstoned), nil
}

// skipPruned counts a content that was pruned and does not store it, unless Ingester.Pruned is set and it was not forgotten. Then it retracts
// the tombstone: the bytes are parsed from where they are, or stored as a new version if gc has removed them.
func (vw *versionWriter) skipPruned(state index.State) error {
	s := vw.s
	if state.Source != "" {
		vw.forgotten = s.tombstones.lookup(blob.NewTombstone(&state.Version, "").Key()) == forgotten
	}
	if !s.g.Pruned || vw.forgotten {
		s.shared.mu.Lock()
		s.report.Pruned++
		s.shared.mu.Unlock()
		s.recordStat(vw.c.path, vw.stat)
		return nil
	}
	v := state.Version
	if v.Source == "" {
		v = vw.v
	}
	now := s.g.Now().UTC().Truncate(time.Microsecond)
	facts := []blob.Fact{blob.NewTombstone(&v, "").Retract(now)}
	stored := int64(-1) // below any size: no bytes at all, not even an empty extent
	if len(state.Extents) > 0 {
		stored = 0
	}
	for _, e := range state.Extents {
		stored += e.Size
	}
	storeAgain := stored < v.Size || state.Source == ""
	if !storeAgain {
		facts = append(facts, blob.Retraction(index.FactLedger, index.LedgerKey(&v), now))
	}
	s.shared.mu.Lock()
	s.shared.facts = append(s.shared.facts, facts...)
	s.shared.mu.Unlock()
	if !storeAgain {
		s.recordStat(vw.c.path, vw.stat)
		return nil
	}
	vw.rearchive = true
	if vw.kind == piecePruned {
		vw.kind = pieceRewritten
		vw.v.Number++
	}
	return vw.store()
}
