package formattest

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Numbers puts a number into the input of each call in a case, and fails where it is not in the text of the calls: people search for numbers, too.
// With outputs it does so with each output that is an object. It returns how many numbers it has put, and how many calls the case has.
func Numbers(t *testing.T, f format.Format, dir string, outputs bool) (put, calls int) {
	t.Helper()
	for _, o := range Originals(t, f, dir) {
		calls += o.calls()
		if content, ok := o.Content(); ok {
			places := o.places(content, outputs)
			o.checkNumbers(t, f, content, places)
			put += len(places)
		}
	}
	return put, calls
}

// calls returns how many tool calls an original has.
func (o *Original) calls() (n int) {
	for _, record := range o.records {
		if e, ok := record.(*transcript.Event); ok {
			for _, p := range e.Parts {
				if p.Call != nil {
					n++
				}
			}
		}
	}
	return n
}

// place is where a member can be put into an input or output: right after a bracket.
type place struct {
	at    int
	kind  transcript.Kind
	quote string // as it is written there
	more  bool   // members follow
}

// places returns the places in an original, rising.
func (o *Original) places(content []byte, outputs bool) (all []place) {
	for _, record := range o.records {
		e, ok := record.(*transcript.Event)
		if !ok || e.Origin.Inner != "" {
			continue
		}
		own := content[e.Origin.Offset:e.Origin.End()]
		for _, p := range e.Parts {
			raw, from := own, int(e.Origin.Offset+p.Offset)
			if p.Length > 0 {
				raw = own[p.Offset : p.Offset+p.Length]
			}
			found := place{at: -1}
			switch {
			case p.Call != nil:
				found = placeIn(raw, p.Call.Input, transcript.KindToolCall)
			case p.Result != nil && outputs:
				found = placeIn(raw, p.Result.Output, transcript.KindToolResult)
			}
			if found.at += from; found.at >= from && !slices.ContainsFunc(all, func(o place) bool { return o.at == found.at }) {
				all = append(all, found)
			}
		}
	}
	slices.SortFunc(all, func(a, b place) int { return a.at - b.at })
	return all
}

// placeIn finds the object with an input or output by its length: the object itself or, of an input, a string that has it.
func placeIn(raw []byte, length int64, kind transcript.Kind) place {
	none := place{at: -1}
	v, err := jsontext.Parse(raw)
	if err != nil || length < int64(len("{}")) {
		return none
	}
	for value := range values(v) {
		if value.IsObject() && int64(value.Len()) == length {
			return placeAt(raw, value.Offset(), kind, `"`)
		}
	}
	for value := range values(v) {
		if inside := value.Inside(); kind == transcript.KindToolCall && inside.IsObject() && (int64(value.Len()) == length || int64(len(value.Str())) == length) {
			return placeAt(raw, value.Offset(), kind, `\"`)
		}
	}
	return none
}

func placeAt(raw []byte, from int64, kind transcript.Kind, quote string) place {
	at := int(from) + bytes.IndexByte(raw[from:], '{') + 1
	return place{at: at, kind: kind, quote: quote, more: !bytes.HasPrefix(bytes.TrimSpace(raw[at:]), []byte("}"))}
}

// values yields a value and all that are in it, outermost first.
func values(v jsontext.Value) func(yield func(jsontext.Value) bool) {
	return func(yield func(jsontext.Value) bool) { eachValue(v, yield) }
}

func eachValue(v jsontext.Value, yield func(jsontext.Value) bool) bool {
	if !yield(v) {
		return false
	}
	for _, m := range v.Fields() {
		if !eachValue(m, yield) {
			return false
		}
	}
	for m := range v.Items() {
		if !eachValue(m, yield) {
			return false
		}
	}
	return true
}

// checkNumbers parses an original with another number in each place.
func (o *Original) checkNumbers(t *testing.T, f format.Format, content []byte, places []place) {
	t.Helper()
	number := func(i int) string { return strconv.Itoa(48151000 + i) }
	var changed []byte
	last := 0
	for i, p := range places {
		changed = append(changed, content[last:p.at]...)
		name := "otters"
		if p.kind == transcript.KindToolCall {
			name = "role" // members of an input are the tool's own, whatever they are elsewhere
		}
		changed = fmt.Appendf(changed, "%s%s%s:%s", p.quote, name, p.quote, number(i))
		if p.more {
			changed = append(changed, ',')
		}
		last = p.at
	}
	changed = append(changed, content[last:]...)
	texts := map[transcript.Kind]string{}
	for _, record := range Check(t, f, o.Input(changed)) {
		if e, ok := record.(*transcript.Event); ok {
			for _, p := range e.Parts {
				switch {
				case p.Call != nil:
					texts[transcript.KindToolCall] += p.Text + "\n"
				case p.Result != nil:
					texts[transcript.KindToolResult] += p.Text + "\n"
				}
			}
		}
	}
	for i, p := range places {
		if !strings.Contains(texts[p.kind], number(i)) {
			t.Errorf("%s: a number in a %s is not in its text: %s", o.Path, p.kind, content[p.at-1:min(len(content), p.at+200)])
		}
	}
}
