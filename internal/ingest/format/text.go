package format

import (
	"bytes"
	"fmt"
	"strings"
)

// TextOf is what Text of most formats does: the text of a piece that is a JSON value. what names the piece in an error.
func TextOf(what string, raw []byte, text func(Value) string) (string, error) {
	v, err := ParseJSON(raw)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", what, err)
	}
	return text(v), nil
}

// AppendText is AppendStrings with a say in it. visit gets each value on the way down, v itself first, with its depth in v and its key, ""
// for what is no member. It appends what is text of the value and is done with it, or leaves it as it is: then what the value holds is
// gone into, and a string appended.
func AppendText(dst []byte, v Value, visit func(dst []byte, depth int, key string, v Value) (grown []byte, done bool)) []byte {
	return appendText(dst, 0, "", v, visit)
}

func appendText(dst []byte, depth int, key string, v Value, visit func([]byte, int, string, Value) ([]byte, bool)) []byte {
	dst, done := visit(dst, depth, key, v)
	switch {
	case done:
	case v.IsObject():
		for key, member := range v.Fields() {
			dst = appendText(dst, depth+1, key, member, visit)
		}
	case v.IsArray():
		for item := range v.Items() {
			dst = appendText(dst, depth+1, "", item, visit)
		}
	default:
		dst = AppendStrings(dst, v)
	}
	return dst
}

// LooseText is the text of a file that may be anything: all strings of a JSON object or array, else the file as it stands.
func LooseText(b []byte) string {
	b = TrimBOM(b)
	if t := bytes.TrimSpace(b); len(t) > 0 && (t[0] == '{' || t[0] == '[') {
		if v, err := ParseJSON(b); err == nil {
			return AllStrings(v)
		}
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
