package ingest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"reflect"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// payloadOriginal is how large an original may be of which payloads are found: it is held in memory.
const payloadOriginal = 512 << 20

// Payloads finds in originals what a thinning drops: string values that are longer than so many bytes and are tool
// output, or base64 in what users and tools said. wanted says of which runs, by native id, and over which length.
// Originals of which nothing can be dropped are left out: those that are compressed, databases, and those of which
// anything but text would be read otherwise. found gets the original as it is stored, and its places in order.
func (g *Ingester) Payloads(ctx context.Context, wanted map[index.VersionKey]map[string]int64, found func(index.VersionKey, []byte, [][2]int64) error) error {
	hosts, err := g.hosts(ctx)
	if err != nil {
		return err
	}
	var states []index.State
	for s, err := range g.Index.States(ctx) {
		if err != nil {
			return err
		}
		if wanted[versionKey(&s.Version)] != nil {
			states = append(states, s)
		}
	}
	for i := range states {
		s := &states[i]
		data, places, err := g.payloadsOf(ctx, s, hosts[s.Source], wanted[versionKey(&s.Version)])
		if err != nil {
			return fmt.Errorf("look for payloads in %s/%s: %w", s.Source, s.Path, err)
		}
		if len(places) == 0 {
			continue
		}
		if err := found(versionKey(&s.Version), data, places); err != nil {
			return err
		}
	}
	return nil
}

func (g *Ingester) payloadsOf(ctx context.Context, s *index.State, host string, over map[string]int64) ([]byte, [][2]int64, error) {
	f := g.format(s.Format)
	if f == nil || g.isDatabase(f, s.Role) || s.Size > payloadOriginal || !whole(s.Extents, s.Size) {
		return nil, nil, nil
	}
	data, err := io.ReadAll(io.LimitReader(g.Originals.Reader(ctx, s.Extents), s.Size))
	if err != nil {
		return nil, nil, err
	}
	before, err := parseWhole(f, s, host, data)
	if err != nil {
		return nil, nil, err
	}
	places := payloadPlaces(before, data, over)
	// Some formats read more than text at the ends of an output: a status, or JSON around what was printed.
	for _, try := range [][][2]int64{places, middles(data, places)} {
		if len(try) == 0 {
			continue
		}
		marked := bytes.Clone(data)
		for _, p := range try {
			blob.MarkPayload(marked[p[0] : p[0]+p[1]])
		}
		after, err := parseWhole(f, s, host, marked)
		if err != nil {
			return nil, nil, err
		}
		if sameButText(before, after) {
			return data, try, nil
		}
	}
	return nil, nil, nil
}

// parseWhole parses an original as a whole.
func parseWhole(f format.Format, s *index.State, host string, data []byte) (*index.Parsed, error) {
	c := index.NewCollector()
	c.Reset(index.Subject{VersionKey: versionKey(&s.Version), Format: s.Format, Role: s.Role, Parser: f.Version(), Claim: s.Claim, Size: s.Size,
		SHA256: s.SHA256, ModTime: s.ModTime.UnixMicro(), Host: host})
	for record, err := range f.Parse(format.Input{Path: s.Path, Root: s.Claim, Role: s.Role, Size: s.Size, Reader: bytes.NewReader(data)}) {
		if err != nil {
			return nil, err
		}
		c.Add(record)
	}
	return c.Take(true), nil
}

// sameButText says whether two parses tell the same, but for the text of events and how long it is.
func sameButText(a, b *index.Parsed) bool {
	if len(a.Rows) != len(b.Rows) || len(a.Runs) != len(b.Runs) {
		return false
	}
	for i := range a.Rows {
		x, y := a.Rows[i], b.Rows[i]
		for _, r := range []*index.Row{&x, &y} {
			r.T, r.X, r.TextBytes = nil, nil, 0
			if r.Result != nil {
				result := *r.Result
				result.Output = 0
				r.Result = &result
			}
		}
		if !reflect.DeepEqual(x, y) {
			return false
		}
	}
	runs := map[string]*transcript.Run{}
	for _, r := range a.Runs {
		runs[r.ID] = r
	}
	for _, r := range b.Runs {
		if !reflect.DeepEqual(runs[r.ID], r) {
			return false
		}
	}
	return a.Until == b.Until && reflect.DeepEqual([]any{a.Conversations, a.Usage, a.Receipts, a.Steps, a.Links, a.Hints, a.Problems},
		[]any{b.Conversations, b.Usage, b.Receipts, b.Steps, b.Links, b.Hints, b.Problems})
}

func versionKey(v *blob.Version) index.VersionKey {
	return index.VersionKey{Source: v.Source, Path: v.Path, Number: v.Number}
}
