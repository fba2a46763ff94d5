package format

import (
	"bytes"
	"fmt"
	"strings"
)

// TextOf implements Text for most formats: it parses raw as a JSON value and returns its text. what names the value in an error.
func TextOf(what string, raw []byte, text func(Value) string) (string, error) {
	v, err := ParseJSON(raw)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", what, err)
	}
	return text(v), nil
}

// Appended returns a function that returns what appendText appends.
func Appended(appendText func(dst []byte, v Value) []byte) func(Value) string {
	return func(v Value) string { return Build(func(dst []byte) []byte { return appendText(dst, v) }) }
}

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

// LooseText returns the text of a file of unknown type: all strings of a JSON object or array, else the file as valid UTF-8.
func LooseText(b []byte) string {
	b = TrimBOM(b)
	if t := bytes.TrimSpace(b); len(t) > 0 && (t[0] == '{' || t[0] == '[') {
		if v, err := ParseJSON(b); err == nil {
			return AllStrings(v)
		}
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
