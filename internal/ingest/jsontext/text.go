package jsontext

import "bytes"

// AppendStrings appends every string value in v at any depth, decoded and in order, to dst. It skips keys and
// empty strings; '\n' separates the strings from each other and from what dst has already.
func AppendStrings(dst []byte, v Value) []byte { return appendLeaves(dst, v, false) }

// AppendScalars is AppendStrings with the numbers, as they are written: for what goes into tools, and for what comes out of them as JSON. A
// list of more than maxNumbers numbers is data, such as an image or an embedding, and left out.
func AppendScalars(dst []byte, v Value) []byte { return appendLeaves(dst, v, true) }

// AppendUnescaped appends the strings of the JSON in a string v if letters in it are written as escapes (\u6570), which no word has. It is for
// texts that have v as it is written already.
func AppendUnescaped(dst []byte, v Value) []byte {
	if !bytes.Contains(v.Body(), []byte(`\\u`)) {
		return dst
	}
	return AppendStrings(dst, v.Inside())
}

// maxNumbers is how many numbers in a row are text: numbers with no string and no name between them, so those of a list, or of a list of
// lists. Numbers as names do not count as names, since JavaScript writes typed arrays as objects: {"0":137,"1":80}.
const maxNumbers = 256

func appendLeaves(dst []byte, v Value, numbers bool) []byte {
	if !v.Exists() {
		return dst
	}
	d := v.doc
	nodes := d.nodes[v.at:v.node().next()]
	var row numberRow
	for i := range nodes {
		n := &nodes[i]
		switch c := d.bytes[n.start]; {
		case n.nextAndFlags&isKey != 0:
			if numbers && !isIndex(d.body(n)) {
				row.n = 0
			}
		case c == '"':
			row.n = 0
			if n.end-n.start > 2 {
				dst = d.appendString(onNewLine(dst), v.at+uint32(i))
			}
		case numbers && (c == '-' || c-'0' <= 9):
			dst = row.append(dst, d.bytes[n.start:n.end])
		}
	}
	return dst
}

// numberRow counts numbers in a row.
type numberRow struct{ n, start int } // start: where they begin in dst

// append appends a number to dst, or takes those before it out again if they are too many.
func (r *numberRow) append(dst, number []byte) []byte {
	if r.n++; r.n == 1 {
		r.start = len(dst)
	}
	if r.n > maxNumbers {
		return dst[:r.start]
	}
	return append(onNewLine(dst), number...)
}

// isIndex reports whether a name is that of an element in a typed array.
func isIndex[T string | []byte](name T) bool { return len(name) > 0 && name[0]-'0' <= 9 }

func onNewLine(dst []byte) []byte {
	if len(dst) > 0 {
		dst = append(dst, '\n')
	}
	return dst
}

// AllStrings returns what AppendStrings appends, as a string.
func AllStrings(v Value) string { return Build(func(b []byte) []byte { return AppendStrings(b, v) }) }

// AllScalars returns what AppendScalars appends, as a string.
func AllScalars(v Value) string { return Build(func(b []byte) []byte { return AppendScalars(b, v) }) }

// AppendText is AppendStrings with a callback. visit is called for each value in depth-first order, v itself first, with its depth and its
// key, which is "" for what is no member. It either appends the text of the value and returns done, or returns dst unchanged and not done: then
// AppendText descends into the value, or appends it if it is a string.
func AppendText(dst []byte, v Value, visit Visit) []byte {
	return (&textWalk{visit: visit}).append(dst, 0, "", v)
}

// AppendTextAndNumbers is AppendText with the numbers that AppendScalars has.
func AppendTextAndNumbers(dst []byte, v Value, visit Visit) []byte {
	return (&textWalk{visit: visit, numbers: true}).append(dst, 0, "", v)
}

// Visit is a callback of AppendText.
type Visit = func(dst []byte, depth int, key string, v Value) (grown []byte, done bool)

// textWalk is one call of AppendText.
type textWalk struct {
	visit   Visit
	numbers bool
	row     numberRow
}

func (w *textWalk) append(dst []byte, depth int, key string, v Value) []byte {
	dst, done := w.visit(dst, depth, key, v)
	switch {
	case done:
		w.row.n = 0
	case v.IsObject():
		for key, member := range v.Fields() {
			if !isIndex(key) {
				w.row.n = 0
			}
			dst = w.append(dst, depth+1, key, member)
		}
	case v.IsArray():
		for item := range v.Items() {
			dst = w.append(dst, depth+1, "", item)
		}
	case v.Type() == '"':
		w.row.n = 0
		dst = AppendStrings(dst, v)
	case w.numbers && v.Type() == '0':
		dst = w.row.append(dst, v.Raw())
	}
	return dst
}

// Appended returns a function that returns what appendText appends.
func Appended(appendText func(dst []byte, v Value) []byte) func(Value) string {
	return func(v Value) string { return Build(func(dst []byte) []byte { return appendText(dst, v) }) }
}
