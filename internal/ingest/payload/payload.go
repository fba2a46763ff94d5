// Package payload finds the strings of an original that a thinning replaces by marks: tool output, and base64 in messages of users and
// tools. A mark has the length of the bytes that it replaces, so all offsets stay valid.
//
// Find proves its result: it parses the original with the marks in place, and drops or shortens marks until both parses agree in everything
// but the text of events.
package payload

import (
	"bytes"
	"errors"
	"io"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/collect"
	"github.com/txarchive/txarchive/internal/index/lexicon"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/layer"
)

// MaxOriginal is the largest original, in bytes, that Find accepts: it holds two copies in memory.
const MaxOriginal = 512 << 20

// Why payloads are kept, where Find decides that.
const (
	keptSmall   = "compressed, and no smaller with marks"
	keptLayer   = "inside of an archive"
	keptPlain   = "not one string of JSON"
	keptMeaning = "marks would be read as something else"
)

// Original is an original and what its parser needs to know of it.
type Original struct {
	Format format.Format
	State  *index.State
	Dir    string // the root of its source, slash-separated: see format.Input
	Host   string // the machine of its source, "" for the archive's own
	// Limits has the runs to thin, by native id, each with the length in bytes above which a payload is replaced.
	Limits map[string]int64
}

// Find returns the payloads of an original of the given content. The result has neither Marked nor Why set when the original has none
// that is not marked already. VersionKey is left to the caller.
func Find(o Original, data []byte) (x index.Payloads, err error) {
	f := &finder{Original: o}
	if f.before, err = f.parse(data); err != nil {
		return x, err
	}
	if err := f.openLayer(data); err != nil {
		return x, err
	}
	return f.find()
}

// finder is a Find of one original.
type finder struct {
	Original
	before *index.Parsed // the parse without new marks
	inner  string        // the layer that the rows lie in, "" for the original itself
	text   []byte        // the content of that layer; nil when the layer cannot be rewritten
	marked [][2]int64    // places, offset and length, that have marks from an earlier thinning
}

// openLayer finds the layer that the rows lie in and reads its text. The text stays nil for a layer that cannot be written again.
func (f *finder) openLayer(data []byte) error {
	f.text = data
	for i := range f.before.Rows {
		if f.inner = f.before.Rows[i].Inner; f.inner != "" {
			break
		}
	}
	if f.inner == "" {
		return nil
	}
	f.text = nil
	if f.inner != "gzip" && f.inner != "zstd" {
		return nil
	}
	r, err := layer.Open(f.inner, bytes.NewReader(data))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(r, MaxOriginal+1))
	if layer.IsContent(err) || len(text) > MaxOriginal {
		return nil // a layer that cannot be read to its end is left as it is
	}
	f.text = text
	return err
}

// find marks every place that can be marked. Where the parser reads something else because of a mark, the marks on that record are
// shortened to leave both ends of the value, where some formats read a status. Where that does not help, they are dropped.
func (f *finder) find() (x index.Payloads, err error) {
	if f.text == nil {
		return f.kept(nil, keptLayer), nil
	}
	try, why := f.unmarked(findPlaces(f.before, f.inner, f.text, f.Limits)), keptPlain
	for round := 0; len(try) > 0; round++ {
		marked, err := f.mark(try)
		if err != nil {
			return x, err
		}
		after, err := f.parse(marked)
		if err != nil {
			return x, err
		}
		bad, same := differences(f.before, after)
		if same && bytes.Equal(marked, f.text) {
			return index.Payloads{}, nil // all of these marks were there
		}
		if same && f.inner != "" && int64(len(marked)) >= f.State.Size {
			return f.kept(nil, keptSmall), nil
		}
		if same {
			x = f.kept(try, why)
			if x.Marked = marked; f.inner == "" {
				x.Places = try
			}
			for _, place := range try {
				x.Bytes += place[1]
			}
			return x, nil
		}
		next := dropPlaces(try, bad)
		if round == 0 {
			next = shortenPlaces(f.text, try, bad)
		}
		if why = keptMeaning; round > 0 && len(next) == len(try) {
			break // the marks change something that cannot be traced to any of them
		}
		try = next
	}
	return f.kept(nil, why), nil
}

// unmarked returns the places that have no mark yet, and collects those that have one from an earlier thinning in f.marked.
func (f *finder) unmarked(places [][2]int64) (rest [][2]int64) {
	for _, at := range places {
		b := f.text[at[0] : at[0]+at[1]]
		mark := bytes.Clone(b)
		if blob.MarkPayload(mark); bytes.Equal(b, mark) {
			f.marked = append(f.marked, at)
		} else {
			rest = append(rest, at)
		}
	}
	return rest
}

// mark returns the original with marks at the given places of its text.
func (f *finder) mark(places [][2]int64) ([]byte, error) {
	marked := bytes.Clone(f.text)
	for _, at := range places {
		blob.MarkPayload(marked[at[0] : at[0]+at[1]])
	}
	if f.inner == "" {
		return marked, nil
	}
	out := &bytes.Buffer{}
	w, err := layer.Compress(f.inner, out)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(marked)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// kept counts the rows that have a payload and get no mark at the given places, and notes why.
func (f *finder) kept(places [][2]int64, why string) (x index.Payloads) {
	for i := range f.before.Rows {
		r := &f.before.Rows[i]
		limit, thinned := f.Limits[f.before.Conversations[r.Conversation].Run]
		if !thinned || lossOf(r) != loseAll || int64(r.TextBytes) <= max(limit, blob.MinPayload) {
			continue
		}
		if !overlaps(places, r.Offset, r.Offset+r.Length) && !overlaps(f.marked, r.Offset, r.Offset+r.Length) {
			x.Left++
			x.Why = why
		}
	}
	return x
}

// overlaps reports whether one of the places has bytes in [from, to).
func overlaps(places [][2]int64, from, to int64) bool {
	for _, p := range places {
		if p[0] < to && p[0]+p[1] > from {
			return true
		}
	}
	return false
}

// chunkRowBytes is the memory that the rows of a parse may take before they are moved on, without their terms.
const chunkRowBytes = 16 << 20

// parse parses a content as a whole. Rows lose their terms, which are most of the memory of a parse.
func (f *finder) parse(data []byte) (*index.Parsed, error) {
	s, c, all := f.State, collect.New(&lexicon.Lexicon{}), merger{runs: map[string]int{}, conversations: map[conversationKey]int{}}
	c.Reset(index.Subject{VersionKey: index.KeyOf(&s.Version), Format: s.Format, Role: s.Role,
		Parser: f.Format.Version(), Claim: s.Claim, Size: int64(len(data)), SHA256: s.SHA256, ModTime: s.ModTime.UnixMicro(), Host: f.Host})
	take := func(last bool) { all.add(c.Take(last)) }
	in := format.Input{Path: s.Path, Dir: f.Dir, Root: s.Claim, Role: s.Role, Size: int64(len(data)), Reader: bytes.NewReader(data)}
	for record, err := range format.Records(f.Format, in) {
		if err != nil {
			return nil, err
		}
		c.Add(record)
		if c.Size() >= chunkRowBytes {
			take(false)
		}
	}
	take(true)
	return &all.Parsed, nil
}

// merger joins the chunks of one parse into a single Parsed.
type merger struct {
	index.Parsed
	runs          map[string]int          // indexes into Runs
	conversations map[conversationKey]int // indexes into Conversations
}

type conversationKey struct {
	run, id string
	aside   bool
}

// add appends the next chunk, whose rows lose their terms.
func (m *merger) add(x *index.Parsed) {
	at := make([]int, len(x.Conversations))
	for i, v := range x.Conversations {
		key := conversationKey{v.Run, v.ID, v.Uncounted}
		have, ok := m.conversations[key]
		if !ok {
			have = len(m.Conversations)
			m.conversations[key], m.Conversations = have, append(m.Conversations, index.Transcript{Uncounted: v.Uncounted})
		}
		all := &m.Conversations[have]
		index.Overlay(&all.Conversation, &v.Conversation)
		all.LastSeq, all.TotalRows, at[i] = v.LastSeq, v.TotalRows, have
	}
	for _, r := range x.Runs {
		if have, ok := m.runs[r.ID]; ok {
			index.Overlay(m.Runs[have], r)
			continue
		}
		m.runs[r.ID], m.Runs = len(m.Runs), append(m.Runs, r)
	}
	for i := range x.Rows {
		x.Rows[i].T, x.Rows[i].Conversation = nil, at[x.Rows[i].Conversation]
	}
	m.Rows, m.Usage, m.Receipts = append(m.Rows, x.Rows...), append(m.Usage, x.Usage...), append(m.Receipts, x.Receipts...)
	m.Steps, m.Links, m.Hints = append(m.Steps, x.Steps...), append(m.Links, x.Links...), append(m.Hints, x.Hints...)
	m.Problems, m.Until = append(m.Problems, x.Problems...), x.Until
}
