package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/format"
)

// payloadOriginal is how large an original may be of which payloads are found: it is held in memory, twice.
const payloadOriginal = 512 << 20

// Why payloads stay.
const (
	leftDatabase = "in a database"
	leftLarge    = "in an original of more than 512 MiB"
	leftMissing  = "bytes of the original are missing"
	leftSmall    = "compressed, and no smaller with marks"
	leftLayer    = "inside of an archive"
	leftPlain    = "not one string of JSON"
	leftMeant    = "marks would be read as something else"
)

// Payloads finds in originals what a thinning drops: string values that are longer than so many bytes and are tool
// output, or base64 in what users and tools said. wanted says of which runs, by native id, and over which length. One
// original is in memory at a time. found is told of each that has payloads, also when they stay.
func (g *Ingester) Payloads(ctx context.Context, wanted map[index.VersionKey]map[string]int64, found func(index.Payloads) error) error {
	sources, err := g.provenances(ctx)
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
		x, err := g.payloadsOf(ctx, s, sources[s.Source], wanted[versionKey(&s.Version)])
		if err != nil {
			return fmt.Errorf("look for payloads in %s/%s: %w", s.Source, s.Path, err)
		}
		if x.Marked == nil && x.Why == "" {
			continue
		}
		x.VersionKey = versionKey(&s.Version)
		if err := found(x); err != nil {
			return err
		}
	}
	return nil
}

func (g *Ingester) payloadsOf(ctx context.Context, s *index.State, of provenance, over map[string]int64) (x index.Payloads, err error) {
	f := g.format(s.Format)
	switch {
	case f == nil:
		return x, nil
	case g.isDatabase(f, s.Role):
		return index.Payloads{Why: leftDatabase}, nil
	case s.Size > payloadOriginal:
		return index.Payloads{Why: leftLarge}, nil
	case !whole(s.Extents, s.Size):
		return index.Payloads{Why: leftMissing}, nil
	}
	data, err := io.ReadAll(io.LimitReader(g.Originals.Reader(ctx, s.Extents), s.Size))
	if err != nil {
		return x, err
	}
	p := &payloads{f: f, state: s, of: of, over: over}
	if p.before, err = p.parse(data); err != nil {
		return x, err
	}
	if err := p.open(data); err != nil {
		return x, err
	}
	return p.find()
}

// payloads looks for those of one original.
type payloads struct {
	f      format.Format
	state  *index.State
	of     provenance
	over   map[string]int64
	before *index.Parsed
	inner  string // the layer that the rows lie in, "" for the original itself
	text   []byte // of that layer

	earlier [][2]int64 // marks of it that are there
}

// open finds the layer that the rows lie in. One that cannot be written again has no text.
func (p *payloads) open(data []byte) error {
	p.text = data
	for i := range p.before.Rows {
		if p.inner = p.before.Rows[i].Inner; p.inner != "" {
			break
		}
	}
	if p.inner == "" {
		return nil
	}
	p.text = nil
	if p.inner != "gzip" && p.inner != "zstd" {
		return nil
	}
	r, err := format.Layer(p.inner, bytes.NewReader(data))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(r, payloadOriginal+1))
	if format.IsContent(err) || len(text) > payloadOriginal {
		return nil // what cannot be read as a whole stays as it is
	}
	p.text = text
	return err
}

// find marks all that can be marked. Where marks would be read as something else, those of that line leave the ends of
// a value alone, where some formats read a status; where that does not help, the line stays as it is.
func (p *payloads) find() (x index.Payloads, err error) {
	if p.text == nil {
		return p.left(nil, leftLayer), nil
	}
	try, why := p.unmarked(payloadPlaces(p.before, p.inner, p.text, p.over)), leftPlain
	for round := 0; len(try) > 0; round++ {
		marked, err := p.marked(try)
		if err != nil {
			return x, err
		}
		after, err := p.parse(marked)
		if err != nil {
			return x, err
		}
		bad, same := differences(p.before, after)
		if same && bytes.Equal(marked, p.text) {
			return index.Payloads{}, nil // it had all of these marks
		}
		if same && p.inner != "" && int64(len(marked)) >= p.state.Size {
			return p.left(nil, leftSmall), nil
		}
		if same {
			x = p.left(try, why)
			if x.Marked = marked; p.inner == "" {
				x.Places = try
			}
			for _, place := range try {
				x.Bytes += place[1]
			}
			return x, nil
		}
		next := without(try, bad)
		if round == 0 {
			next = shorter(p.text, try, bad)
		}
		if why = leftMeant; round > 0 && len(next) == len(try) {
			break // it is something else that they change
		}
		try = next
	}
	return p.left(nil, why), nil
}

// unmarked leaves out the places that have marks from an earlier thinning, and remembers them.
func (p *payloads) unmarked(places [][2]int64) (rest [][2]int64) {
	for _, at := range places {
		b := p.text[at[0] : at[0]+at[1]]
		mark := bytes.Clone(b)
		if blob.MarkPayload(mark); bytes.Equal(b, mark) {
			p.earlier = append(p.earlier, at)
		} else {
			rest = append(rest, at)
		}
	}
	return rest
}

// marked is the original with marks at places of its text.
func (p *payloads) marked(places [][2]int64) ([]byte, error) {
	marked := bytes.Clone(p.text)
	for _, at := range places {
		blob.MarkPayload(marked[at[0] : at[0]+at[1]])
	}
	if p.inner == "" {
		return marked, nil
	}
	out := &bytes.Buffer{}
	w, err := format.Compress(p.inner, out)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(marked)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// left counts the rows that have a payload and no mark.
func (p *payloads) left(places [][2]int64, why string) (x index.Payloads) {
	for i := range p.before.Rows {
		r := &p.before.Rows[i]
		limit, thinned := p.over[p.before.Conversations[r.Conversation].Run]
		if !thinned || lossOf(r) != loseAll || int64(r.TextBytes) <= max(limit, blob.MinPayload) {
			continue
		}
		if !overlaps(places, r.Offset, r.Offset+r.Length) && !overlaps(p.earlier, r.Offset, r.Offset+r.Length) {
			x.Left++
			x.Why = why
		}
	}
	return x
}

// overlaps says whether a place lies between two offsets.
func overlaps(places [][2]int64, from, to int64) bool {
	for _, p := range places {
		if p[0] < to && p[0]+p[1] > from {
			return true
		}
	}
	return false
}

// parse parses an original as a whole. Of its rows it keeps no words: they are most of what a parse holds.
func (p *payloads) parse(data []byte) (*index.Parsed, error) {
	s, c, all := p.state, index.NewCollector(&index.Lexicon{}), stretches{runs: map[string]int{}, conversations: map[heldBy]int{}}
	c.Reset(index.Subject{VersionKey: versionKey(&s.Version), Format: s.Format, Role: s.Role, Parser: p.f.Version(), Claim: s.Claim, Size: int64(len(data)),
		SHA256: s.SHA256, ModTime: s.ModTime.UnixMicro(), Host: p.of.host})
	take := func(last bool) { all.add(c.Take(last)) }
	for record, err := range p.f.Parse(format.Input{Path: s.Path, Dir: p.of.dir, Root: s.Claim, Role: s.Role, Size: int64(len(data)), Reader: bytes.NewReader(data)}) {
		if err != nil {
			return nil, err
		}
		c.Add(record)
		if c.Size() >= stretch {
			take(false)
		}
	}
	take(true)
	return &all.Parsed, nil
}

// stretches are those of one parse as if they were one.
type stretches struct {
	index.Parsed
	runs          map[string]int // places in Runs
	conversations map[heldBy]int // and in Conversations
}

type heldBy struct {
	run, id string
	aside   bool
}

// add adds the next stretch, whose rows lose their words.
func (s *stretches) add(x *index.Parsed) {
	at := make([]int, len(x.Conversations))
	for i, v := range x.Conversations {
		key := heldBy{v.Run, v.ID, v.Uncounted}
		have, ok := s.conversations[key]
		if !ok {
			have = len(s.Conversations)
			s.conversations[key], s.Conversations = have, append(s.Conversations, index.Transcript{Uncounted: v.Uncounted})
		}
		all := &s.Conversations[have]
		index.Overlay(&all.Conversation, &v.Conversation)
		all.LastSeq, all.TotalRows, at[i] = v.LastSeq, v.TotalRows, have
	}
	for _, r := range x.Runs {
		if have, ok := s.runs[r.ID]; ok {
			index.Overlay(s.Runs[have], r)
			continue
		}
		s.runs[r.ID], s.Runs = len(s.Runs), append(s.Runs, r)
	}
	for i := range x.Rows {
		x.Rows[i].T, x.Rows[i].Conversation = nil, at[x.Rows[i].Conversation]
	}
	s.Rows, s.Usage, s.Receipts = append(s.Rows, x.Rows...), append(s.Usage, x.Usage...), append(s.Receipts, x.Receipts...)
	s.Steps, s.Links, s.Hints = append(s.Steps, x.Steps...), append(s.Links, x.Links...), append(s.Hints, x.Hints...)
	s.Problems, s.Until = append(s.Problems, x.Problems...), x.Until
}

func versionKey(v *blob.Version) index.VersionKey {
	return index.VersionKey{Source: v.Source, Path: v.Path, Number: v.Number}
}
