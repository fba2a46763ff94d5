package ingest

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// loss is what may go of the bytes of some rows.
type loss int

const (
	loseNothing loss = iota
	loseBase64
	loseOutput // what stands under a key that means output, because a call has the same bytes
	loseAll
)

// outputKeys hold what a tool gave back, in objects that hold its input, too.
var outputKeys = map[string]bool{"output": true, "result": true, "results": true, "stdout": true, "stderr": true, "response": true,
	"aggregated_output": true, "formatted_output": true, "tool_output": true, "tool_result": true, "tool_response": true, "toolUseResult": true}

// inputKeys hold what a tool was given: nothing below them is output.
var inputKeys = map[string]bool{"input": true, "tool_input": true, "arguments": true, "args": true, "parameters": true, "params": true}

// region is the bytes of a row.
type region struct {
	from, to int64
	loss     loss
	over     int64
	call     bool
}

func (r *region) least() int64 { return max(r.over, blob.MinPayload) }

// payloadPlaces finds the insides of the strings that go in a layer of an original. Of the rows that have a byte the one
// with the fewest bytes decides.
func payloadPlaces(p *index.Parsed, inner string, data []byte, over map[string]int64) (places [][2]int64) {
	for _, r := range regions(p, inner, data, over) {
		if r.to > int64(len(data)) || r.from < 0 {
			continue
		}
		stringValues(data[r.from:r.to], func(from, to int, output bool) {
			at, end := r.from+int64(from), r.from+int64(to)
			places = slices.DeleteFunc(places, func(p [2]int64) bool { return p[0] < end && p[0]+p[1] > at })
			if int64(to-from) > r.least() && (r.loss == loseAll || r.loss == loseOutput && output || r.loss >= loseBase64 && base64Run(data[at:end])) {
				places = append(places, [2]int64{at, end - at})
			}
		})
	}
	byOffset(places)
	least := int64(blob.MinPayload)
	for _, limit := range over {
		least = max(least, limit)
	}
	var all [][2]int64
	for len(places) > 0 {
		n := 1 // of one line
		for n < len(places) && bytes.IndexByte(data[places[n-1][0]:places[n][0]], '\n') < 0 {
			n++
		}
		all = append(all, likewise(data, places[:n], least)...)
		places = places[n:]
	}
	byOffset(all)
	return all
}

func byOffset(places [][2]int64) {
	slices.SortFunc(places, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
}

// regions are the bytes of all rows, the longest first; of equal ones there is one, which loses what all may lose. What
// stands around a result in its line loses what is output by its key: some formats say there again what was given back.
func regions(p *index.Parsed, inner string, data []byte, over map[string]int64) []region {
	at, around := map[bytesAt]*region{}, map[bytesAt]*region{}
	for i := range p.Rows {
		r := &p.Rows[i]
		if r.Inner != inner || r.Length == 0 {
			continue
		}
		x := region{from: r.Offset, to: r.Offset + r.Length, loss: lossOf(r), call: r.Call != nil}
		limit, thinned := over[p.Conversations[r.Conversation].Run]
		if !thinned {
			x.loss = loseNothing
		}
		x.over = limit
		if line := lineOf(data, x.from, x.to); line != (bytesAt{x.from, x.to}) && (x.loss == loseAll || !thinned) {
			if have := around[line]; have == nil || have.loss != loseNothing {
				around[line] = &region{from: line.from, to: line.to, loss: min(x.loss, loseOutput), over: limit}
			}
		}
		have := at[bytesAt{x.from, x.to}]
		switch {
		case have == nil:
			at[bytesAt{x.from, x.to}] = &x
		case thinned && have.loss != loseNothing && x.loss == have.loss:
			have.over = max(have.over, x.over)
		case thinned && (x.call && have.loss >= loseOutput || have.call && x.loss == loseAll):
			have.loss, have.call, have.over = loseOutput, true, max(have.over, x.over)
		default:
			have.loss = loseNothing
		}
	}
	all := make([]region, 0, len(at)+len(around))
	for _, x := range at {
		all = append(all, *x)
	}
	for line, x := range around {
		if at[line] == nil {
			all = append(all, *x)
		}
	}
	slices.SortFunc(all, func(a, b region) int {
		return cmp.Or(cmp.Compare(b.to-b.from, a.to-a.from), cmp.Compare(a.from, b.from))
	})
	return all
}

// lineOf is the line in which a record stands, or the record when it has several.
func lineOf(data []byte, from, to int64) bytesAt {
	if from < 0 || from >= to || to > int64(len(data)) || bytes.IndexByte(data[from:to-1], '\n') >= 0 {
		return bytesAt{from, to}
	}
	end := bytes.IndexByte(data[to-1:], '\n')
	if end < 0 {
		end = len(data) - int(to-1)
	}
	return bytesAt{int64(bytes.LastIndexByte(data[:from], '\n') + 1), max(to, to-1+int64(end))}
}

func lossOf(r *index.Row) loss {
	switch {
	case r.Kind == transcript.KindToolResult:
		return loseAll
	case r.Kind == transcript.KindMessage && r.Role != "assistant":
		return loseBase64
	case r.Kind == transcript.KindLifecycle || r.Kind == transcript.KindSystem:
		return loseOutput // some say again there what a tool gave back
	}
	return loseNothing
}

// likewise has what stands in several strings of one record go alike, for some formats compare them: a mark depends on
// the length of what is under it, so a string with more around what another one has gets several marks.
func likewise(data []byte, places [][2]int64, least int64) (all [][2]int64) {
	const few = 16
	if len(places) < 2 || len(places) > few {
		return places
	}
	slices.SortStableFunc(places, func(a, b [2]int64) int { return cmp.Compare(a[1], b[1]) })
	for i, p := range places {
		var inside [][2]int64 // of p, what shorter ones have, too
		for k := range i {
			body := bytes.TrimSuffix(data[places[k][0]:places[k][0]+places[k][1]], []byte(`\n`))
			at := p[0] + int64(bytes.Index(data[p[0]:p[0]+p[1]], body))
			found := [2]int64{at, int64(len(body))}
			if at < p[0] || found[1] < least || !uncut(data, at) || !uncut(data, at+found[1]) || overlaps(inside, at, at+found[1]) {
				continue
			}
			inside = append(inside, found)
			all = slices.DeleteFunc(all, func(x [2]int64) bool { return x == places[k] })
			if body := [2]int64{places[k][0], found[1]}; !overlaps(all, body[0], body[0]+body[1]) {
				all = append(all, body)
			}
		}
		if inside == nil {
			all = append(all, p)
			continue
		}
		slices.SortFunc(inside, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
		from := p[0]
		for _, x := range append(inside, [2]int64{p[0] + p[1], 0}) {
			if gap := x[0] - from; gap > least {
				all = append(all, [2]int64{from, gap})
			}
			if x[1] > 0 {
				all = append(all, x)
			}
			from = x[0] + x[1]
		}
	}
	return all
}

// uncut says whether no escape and no rune is cut at an offset.
func uncut(data []byte, at int64) bool {
	return at >= int64(len(data)) || utf8.RuneStart(data[at]) && blob.WholeEscape(data, int(at)) == int(at)
}

// stringValues gives the insides of all string values of some JSON, and whether a key above says that they are output.
func stringValues(b []byte, value func(from, to int, output bool)) {
	const neither, given, printed = 0, 1, 2
	var stack []int // of open objects and arrays: what they hold
	key := neither  // what the last key says
	holds := func() int {
		if n := len(stack); n > 0 && stack[n-1] != neither {
			return stack[n-1]
		}
		return key
	}
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			stack = append(stack, holds())
			key = neither
		case '}', ']':
			if len(stack) > 0 {
				stack = stack[:len(stack)-1]
			}
			key = neither
		case ',':
			key = neither
		case '"':
			end := i + 1
			for end < len(b) && b[end] != '"' {
				if b[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(b) {
				return // half a string
			}
			if next := bytes.TrimLeft(b[end+1:min(end+17, len(b))], " \t\r\n"); len(next) > 0 && next[0] == ':' {
				switch name := b[i+1 : end]; {
				case outputKeys[string(name)]:
					key = printed
				case inputKeys[string(name)]:
					key = given
				default:
					key = neither
				}
			} else {
				value(i+1, end, holds() == printed)
			}
			i = end
		}
	}
}

// base64Run says whether a string is base64 as a whole, with or without the head of a data URL.
func base64Run(b []byte) bool {
	const mark = ";base64,"
	if at := bytes.Index(b[:min(len(b), 200)], []byte(mark)); at > 0 && bytes.HasPrefix(b, []byte("data:")) {
		b = b[at+len(mark):]
	}
	for i, c := range b {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '+', c == '/', c == '-', c == '_', c == '\\' && i+1 < len(b) && b[i+1] == '/':
		case c == '=' && i >= len(b)-2:
		default:
			return false
		}
	}
	return true
}

// middles leaves both ends of places as they are.
func middles(data []byte, places [][2]int64) (all [][2]int64) {
	const end = 512
	whole := func(at int64) int64 { // no half of a rune or an escape
		for at > 0 && !utf8.RuneStart(data[at]) {
			at--
		}
		return int64(blob.WholeEscape(data, int(at)))
	}
	for _, p := range places {
		if p[1] < 3*end {
			continue
		}
		from, to := whole(p[0]+end), whole(p[0]+p[1]-end)
		all = append(all, [2]int64{from, to - from})
	}
	return all
}
