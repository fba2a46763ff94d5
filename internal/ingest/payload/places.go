package payload

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// loss is what a thinning may replace in the bytes of a row.
type loss int

const (
	loseNothing loss = iota
	loseBase64
	loseOutput // values under a key that means output: a call shares these bytes
	loseAll
)

// outputKeys are the keys of tool output, in objects that hold the input as well.
var outputKeys = map[string]bool{"output": true, "result": true, "results": true, "stdout": true, "stderr": true, "response": true,
	"aggregated_output": true, "formatted_output": true, "tool_output": true, "tool_result": true, "tool_response": true, "toolUseResult": true}

// inputKeys are the keys of tool input: nothing below them is output.
var inputKeys = map[string]bool{"input": true, "tool_input": true, "arguments": true, "args": true, "parameters": true, "params": true}

// region is the bytes of a row, and what may be replaced in them.
type region struct {
	from, to int64
	loss     loss
	limit    int64 // a payload is longer than this, in bytes
	call     bool  // a tool call has these bytes
}

func (r *region) threshold() int64 { return max(r.limit, blob.MinPayload) }

// findPlaces returns the bodies of the strings to replace in a layer of an original, as offsets and lengths in rising order. Where several
// rows share a byte, the one with the fewest bytes decides.
func findPlaces(p *index.Parsed, inner string, data []byte, limits map[string]int64) (places [][2]int64) {
	for _, r := range regions(p, inner, data, limits) {
		if r.to > int64(len(data)) || r.from < 0 {
			continue
		}
		stringValues(data[r.from:r.to], func(from, to int, output bool) {
			at, end := r.from+int64(from), r.from+int64(to)
			places = slices.DeleteFunc(places, func(p [2]int64) bool { return p[0] < end && p[0]+p[1] > at })
			if int64(to-from) > r.threshold() && (r.loss == loseAll || r.loss == loseOutput && output || r.loss >= loseBase64 && base64Run(data[at:end])) {
				places = append(places, [2]int64{at, end - at})
			}
		})
	}
	byOffset(places)
	least := int64(blob.MinPayload)
	for _, limit := range limits {
		least = max(least, limit)
	}
	var all [][2]int64
	for len(places) > 0 {
		n := 1 // places on one line
		for n < len(places) && bytes.IndexByte(data[places[n-1][0]:places[n][0]], '\n') < 0 {
			n++
		}
		all = append(all, alignRepeats(data, places[:n], least)...)
		places = places[n:]
	}
	byOffset(all)
	return all
}

func byOffset(places [][2]int64) {
	slices.SortFunc(places, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
}

// regions returns the bytes of all rows, the longest first. Rows with the same bytes share a region, which loses only what each of them may
// lose. The line around a tool result is a region that loses output by key: some formats repeat the result there.
func regions(p *index.Parsed, inner string, data []byte, limits map[string]int64) []region {
	rows, lines := map[span]*region{}, map[span]*region{}
	for i := range p.Rows {
		r := &p.Rows[i]
		if r.Inner != inner || r.Length == 0 {
			continue
		}
		x := region{from: r.Offset, to: r.Offset + r.Length, loss: lossOf(r), call: r.Call != nil}
		limit, thinned := limits[p.Conversations[r.Conversation].Run]
		if !thinned {
			x.loss = loseNothing
		}
		x.limit = limit
		if line := lineOf(data, x.from, x.to); line != (span{x.from, x.to}) && (x.loss == loseAll || !thinned) {
			if have := lines[line]; have == nil || have.loss != loseNothing {
				lines[line] = &region{from: line.from, to: line.to, loss: min(x.loss, loseOutput), limit: limit}
			}
		}
		have := rows[span{x.from, x.to}]
		switch {
		case have == nil:
			rows[span{x.from, x.to}] = &x
		case thinned && have.loss != loseNothing && x.loss == have.loss:
			have.limit = max(have.limit, x.limit)
		case thinned && (x.call && have.loss >= loseOutput || have.call && x.loss == loseAll):
			have.loss, have.call, have.limit = loseOutput, true, max(have.limit, x.limit)
		default:
			have.loss = loseNothing
		}
	}
	all := make([]region, 0, len(rows)+len(lines))
	for _, x := range rows {
		all = append(all, *x)
	}
	for line, x := range lines {
		if rows[line] == nil {
			all = append(all, *x)
		}
	}
	slices.SortFunc(all, func(a, b region) int {
		return cmp.Or(cmp.Compare(b.to-b.from, a.to-a.from), cmp.Compare(a.from, b.from))
	})
	return all
}

// lineOf returns the line around the bytes [from, to), or these bytes if they span several lines.
func lineOf(data []byte, from, to int64) span {
	if from < 0 || from >= to || to > int64(len(data)) || bytes.IndexByte(data[from:to-1], '\n') >= 0 {
		return span{from, to}
	}
	end := bytes.IndexByte(data[to-1:], '\n')
	if end < 0 {
		end = len(data) - int(to-1)
	}
	return span{int64(bytes.LastIndexByte(data[:from], '\n') + 1), max(to, to-1+int64(end))}
}

// lossOf returns what may be replaced in a row of a run that is thinned.
func lossOf(r *index.Row) loss {
	switch {
	case r.Kind == transcript.KindToolResult:
		return loseAll
	case r.Kind == transcript.KindMessage && r.Role != "assistant":
		return loseBase64
	case r.Kind == transcript.KindLifecycle || r.Kind == transcript.KindSystem:
		return loseOutput // some formats repeat tool output there
	}
	return loseNothing
}

// alignRepeats gives the same marks to text that is repeated in several strings of one record, since some formats compare these strings. A
// mark depends on the length of what it replaces, so a string that contains another one and more gets several marks.
func alignRepeats(data []byte, places [][2]int64, least int64) (all [][2]int64) {
	const maxPlaces = 16 // the search is quadratic
	if len(places) < 2 || len(places) > maxPlaces {
		return places
	}
	slices.SortStableFunc(places, func(a, b [2]int64) int { return cmp.Compare(a[1], b[1]) })
	for i, p := range places {
		var inside [][2]int64 // parts of p that shorter places have as well
		for k := range i {
			body := bytes.TrimSuffix(data[places[k][0]:places[k][0]+places[k][1]], []byte(`\n`))
			at := p[0] + int64(bytes.Index(data[p[0]:p[0]+p[1]], body))
			found := [2]int64{at, int64(len(body))}
			if at < p[0] || found[1] < least || !isBoundary(data, at) || !isBoundary(data, at+found[1]) || overlaps(inside, at, at+found[1]) {
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

// isBoundary reports whether an offset cuts neither a JSON escape nor a UTF-8 sequence.
func isBoundary(data []byte, at int64) bool {
	return at >= int64(len(data)) || utf8.RuneStart(data[at]) && blob.WholeEscape(data, int(at)) == int(at)
}

// stringValues calls value with the body of each string value in some JSON, and whether the nearest key above that names input or output
// names output.
func stringValues(b []byte, value func(from, to int, output bool)) {
	const neither, input, result = 0, 1, 2
	var stack []int // for each open object and array, what it holds
	key := neither  // what the last key names
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
				return // the string is cut off
			}
			if next := bytes.TrimLeft(b[end+1:min(end+17, len(b))], " \t\r\n"); len(next) > 0 && next[0] == ':' {
				switch name := b[i+1 : end]; {
				case outputKeys[string(name)]:
					key = result
				case inputKeys[string(name)]:
					key = input
				default:
					key = neither
				}
			} else {
				value(i+1, end, holds() == result)
			}
			i = end
		}
	}
}

// base64Run reports whether a string is entirely base64, with or without the prefix of a data URL.
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

// middles returns the places without their first and last 512 bytes, give or take a rune or an escape. Places under three times that are
// dropped.
func middles(data []byte, places [][2]int64) (all [][2]int64) {
	const end = 512
	boundary := func(at int64) int64 { // back to a whole rune and escape
		for at > 0 && !utf8.RuneStart(data[at]) {
			at--
		}
		return int64(blob.WholeEscape(data, int(at)))
	}
	for _, p := range places {
		if p[1] < 3*end {
			continue
		}
		from, to := boundary(p[0]+end), boundary(p[0]+p[1]-end)
		all = append(all, [2]int64{from, to - from})
	}
	return all
}
