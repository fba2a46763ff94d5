package formattest

import (
	"bytes"
	"io"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Input is a format.Input whose content is in memory.
type Input struct {
	Path, Root, Role string
	Bytes            []byte
}

// Check parses an original and returns its records. It fails if Parse returns an error, yields after it was told to stop,
// or breaks a promise of the contract: every range lies inside the original; events come in file order (those of one
// conversation of a document in any order); every event has parts and names a conversation or a run; Text of a part's bytes
// is the part's text; and every non-blank line of a .jsonl or .ndjson yields a record.
func Check(tb testing.TB, f format.Format, in Input) []transcript.Record {
	tb.Helper()
	records := parse(tb, f, in, bytes.NewReader(in.Bytes), -1)
	for _, stop := range []int{1, 2, len(records) / 2} {
		parse(tb, f, in, bytes.NewReader(in.Bytes), stop)
	}
	c := &checker{tb: tb, f: f, in: in, layers: map[string][]byte{}, last: map[string]furthest{}, lines: map[int]bool{}}
	for _, record := range records {
		c.record(record)
	}
	c.uncovered()
	return records
}

// parse collects the records, or the first stop of them if stop is not negative.
func parse(tb testing.TB, f format.Format, in Input, r io.Reader, stop int) []transcript.Record {
	tb.Helper()
	input := format.Input{Path: in.Path, Root: in.Root, Role: in.Role, Size: int64(len(in.Bytes)), Reader: r}
	var records []transcript.Record
	for record, err := range f.Parse(input) {
		if err != nil {
			tb.Fatalf("%s: Parse: %v", in.Path, err)
		}
		if record == nil {
			tb.Fatalf("%s: Parse gave a nil record", in.Path)
		}
		if records = append(records, transcript.Clone(record)); len(records) == stop {
			break
		}
	}
	return records
}

type checker struct {
	tb     testing.TB
	f      format.Format
	in     Input
	layers map[string][]byte
	last   map[string]furthest // per layer
	lines  map[int]bool        // lines with a record
}

// furthest is the highest offset of an event so far, and that event's conversation.
type furthest struct {
	offset       int64
	conversation string
}

func (c *checker) record(record transcript.Record) {
	c.tb.Helper()
	switch r := record.(type) {
	case *transcript.Event:
		c.event(r)
	case *transcript.Usage:
		c.bytes("usage", r.Origin)
	case *transcript.Receipt:
		c.bytes("receipt", r.Origin)
	case *transcript.Step:
		c.bytes("step", r.Origin)
	case *transcript.Link:
		c.bytes("link", r.Origin)
	case *transcript.Hint:
		c.bytes("hint", r.Origin)
	case *transcript.Problem:
		c.bytes("problem", r.Origin)
		if r.Kind == "" {
			c.tb.Errorf("%s: problem without a kind at %+v", c.in.Path, r.Origin)
		}
	case *transcript.Run:
		if r.ID == "" {
			c.tb.Errorf("%s: run without an id", c.in.Path)
		}
	case *transcript.Conversation:
		if r.Run == "" {
			c.tb.Errorf("%s: conversation %q without a run", c.in.Path, r.ID)
		}
	}
}

func (c *checker) event(e *transcript.Event) {
	c.tb.Helper()
	raw := c.bytes("event", e.Origin)
	if len(e.Parts) == 0 || e.Kind == "" || e.Conversation == "" && e.Run == "" {
		c.tb.Errorf("%s: event without parts, kind or owner: %+v", c.in.Path, e)
	}
	if e.Verdict == transcript.DuplicateOf && e.Global {
		c.tb.Errorf("%s: duplicate with an id of the whole format, by which the index would count it: %+v", c.in.Path, e)
	}
	last, seen := c.last[e.Origin.Inner]
	switch {
	case !seen || e.Origin.Offset >= last.offset:
		c.last[e.Origin.Inner] = furthest{e.Origin.Offset, e.Conversation}
	case lineBased(c.in.Path) || e.Conversation != last.conversation:
		c.tb.Errorf("%s: event at %+v comes after one at %d", c.in.Path, e.Origin, last.offset)
	}
	for i, part := range e.Parts {
		own := raw
		if part.Length > 0 {
			if part.Offset < 0 || part.Offset+part.Length > int64(len(raw)) {
				c.tb.Errorf("%s: part %d at %d+%d lies outside its event %+v", c.in.Path, i, part.Offset, part.Length, e.Origin)
				continue
			}
			own = raw[part.Offset : part.Offset+part.Length]
		}
		text, err := c.f.Text(c.in.Role, bytes.Clone(own), i)
		if err != nil || text != part.Text {
			c.tb.Errorf("%s: Text of part %d at %+v\n got %q, %v\nwant %q", c.in.Path, i, e.Origin, text, err, part.Text)
		}
	}
}

// bytes returns the bytes of an Origin.
func (c *checker) bytes(what string, o transcript.Origin) []byte {
	c.tb.Helper()
	content, seen := c.layers[o.Inner]
	if !seen {
		r, err := layer.Open(o.Inner, bytes.NewReader(c.in.Bytes))
		if err != nil {
			c.tb.Fatalf("%s: %s at %+v: %v", c.in.Path, what, o, err)
		}
		// A truncated layer still has what precedes the cut.
		content, err = io.ReadAll(r)
		if err != nil && !layer.IsContent(err) {
			c.tb.Fatalf("%s: %s at %+v: %v", c.in.Path, what, o, err)
		}
		c.layers[o.Inner] = content
	}
	if o.Line > 0 && o.Inner == "" {
		c.lines[o.Line] = true
	}
	if o.Offset < 0 || o.Length < 0 || o.End() > int64(len(content)) {
		c.tb.Fatalf("%s: %s at %+v lies outside the %d bytes of its layer", c.in.Path, what, o, len(content))
	}
	return content[o.Offset:o.End()]
}

// uncovered fails for lines without a record. A line that only adds to a run or conversation has no record with a place: it
// must yield one when it is parsed alone.
func (c *checker) uncovered() {
	c.tb.Helper()
	if !lineBased(c.in.Path) {
		return
	}
	for line, err := range jsontext.Lines(bytes.NewReader(c.in.Bytes), "") {
		if err != nil {
			c.tb.Fatal(err)
		}
		if c.lines[line.Origin.Line] || len(bytes.TrimSpace(line.Bytes)) == 0 && !line.Long {
			continue
		}
		alone := c.in
		alone.Bytes = append(bytes.Clone(line.Bytes), '\n')
		if len(parse(c.tb, c.f, alone, bytes.NewReader(alone.Bytes), -1)) == 0 {
			c.tb.Errorf("%s:%d gives no record", c.in.Path, line.Origin.Line)
		}
	}
}
