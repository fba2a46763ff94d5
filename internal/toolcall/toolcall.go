// Package toolcall finds the input of a tool call in the bytes of its event, and writes it for people. A call's text, which is what is
// searched, has the values of its input without their names.
package toolcall

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// Call is a tool call.
type Call struct {
	Input jsontext.Value // an object; absent if none is found
	Rest  string         // what the text has beside the tool's name and the values of Input
}

// inputKeys are the names that producers give to the input of a tool.
var inputKeys = []string{"input", "arguments", "args", "tool_input", "parameters", "params", "rawInput", "raw_input"}

// Parse finds the input of a call in the bytes of its event, which may hold several calls: the object whose values are in the text, or the
// text itself where that is JSON. tool is the name of the tool. Bytes that are no JSON have no input.
func Parse(raw []byte, tool, text string) Call {
	whole := text
	text = WithoutName(text, tool)
	if written, err := jsontext.Parse([]byte(text)); err == nil && written.IsObject() {
		return Call{Input: written}
	}
	event, err := jsontext.Parse(jsontext.TrimBOM(raw))
	if err != nil {
		return Call{Rest: text}
	}
	best, budget := Call{Rest: text}, maxWork*len(raw)
	var silent []jsontext.Value // inputs without anything that is searched, such as {"confirm":true}
	for key, v := range objects(event) {
		named := slices.Contains(inputKeys, key)
		if budget -= v.Len(); named {
			budget -= len(text)
		}
		if budget < 0 {
			break
		}
		values := jsontext.AllScalars(v)
		switch {
		case named && values == "":
			silent = append(silent, v)
		case named:
			if before, after, found := cutLines(text, values); found {
				return Call{Input: v, Rest: others(before, after, values)}
			}
			if values == whole { // which begins with the name of the tool because the input does
				return Call{Input: v}
			}
		case best.Input.Exists():
		case values != "" && values == text, values == whole && !v.First(inputKeys...).Exists(): // some write the name of the tool beside its input
			best = Call{Input: v}
		}
	}
	if text == "" && len(silent) == 1 {
		return Call{Input: silent[0]}
	}
	return best
}

// maxWork is how often the bytes of an event are read, as they are for objects in objects and for many inputs: some are made to take time.
const maxWork = 32

// WithoutName removes the tool's name from the beginning of the text of a call or a result, where formats put it so that it is found.
func WithoutName(text, tool string) string {
	if rest, ok := strings.CutPrefix(text, tool); ok && tool != "" && (rest == "" || rest[0] == '\n') {
		return strings.TrimPrefix(rest, "\n")
	}
	return text
}

// objects yields the objects in a value, each before those inside it, with their names. A named string may hold JSON, as OpenAI writes
// the input of tools.
func objects(v jsontext.Value) iter.Seq2[string, jsontext.Value] {
	return func(yield func(string, jsontext.Value) bool) { eachObject("", v, yield) }
}

func eachObject(key string, v jsontext.Value, yield func(string, jsontext.Value) bool) bool {
	if v.IsString() && slices.Contains(inputKeys, key) {
		v = v.UnwrapContainer()
	}
	if v.IsObject() && !yield(key, v) {
		return false
	}
	for key, m := range v.Fields() {
		if !eachObject(key, m, yield) {
			return false
		}
	}
	for item := range v.Items() {
		if !eachObject(key, item, yield) {
			return false
		}
	}
	return true
}

// cutLines cuts text around whole lines of it.
func cutLines(text, lines string) (before, after string, found bool) {
	start := strings.Index("\n"+text+"\n", "\n"+lines+"\n")
	if start < 0 || lines == "" {
		return "", "", false
	}
	return strings.TrimSuffix(text[:start], "\n"), strings.TrimPrefix(text[start+len(lines):], "\n"), true
}

// others returns the lines before and after the values of an input that do not repeat one of them: some programs keep a summary.
func others(before, after, values string) string {
	var rest []string
	for _, text := range []string{before, after} {
		if text != "" && !strings.Contains(values, text) {
			rest = append(rest, text)
		}
	}
	return strings.Join(rest, "\n")
}

// JSON returns the input as JSON without white space; nil if there is none.
func (c Call) JSON() json.RawMessage {
	if !c.Input.Exists() {
		return nil
	}
	return compact(c.Input)
}

func compact(v jsontext.Value) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, v.Raw()) // it has been parsed
	return b.Bytes()
}

// Fields returns the members of the input, each as a text with its name. A value of several lines is below its name, two columns in.
func (c Call) Fields() []string {
	var all []string
	for key, v := range c.Input.Fields() {
		var b strings.Builder
		writeField(&b, "", key, v, maxDepth)
		all = append(all, b.String())
	}
	return all
}

const (
	maxDepth  = 6  // below it, values are written as JSON
	maxInline = 60 // bytes of JSON that are written on one line
)

func writeField(b *strings.Builder, margin, key string, v jsontext.Value, deep int) {
	b.WriteString(key + ":")
	writeValue(b, margin, v, deep)
}

// writeValue writes a value after its name or the dash of a list: on the same line, or on lines of its own.
func writeValue(b *strings.Builder, margin string, v jsontext.Value, deep int) {
	inner := margin + "  "
	switch text := inline(v, deep); {
	case text == "":
		for key, m := range v.Fields() {
			b.WriteString("\n" + inner)
			writeField(b, inner, key, m, deep-1)
		}
		for item := range v.Items() {
			b.WriteString("\n" + inner + "-")
			writeItem(b, inner, item, deep-1)
		}
	case strings.Contains(text, "\n"):
		b.WriteString("\n" + inner + strings.ReplaceAll(text, "\n", "\n"+inner))
	default:
		b.WriteString(" " + text)
	}
}

// writeItem is writeValue for an element of a list, but an object begins beside the dash.
func writeItem(b *strings.Builder, margin string, v jsontext.Value, deep int) {
	if !v.IsObject() || inline(v, deep) != "" {
		writeValue(b, margin, v, deep)
		return
	}
	lead := " "
	for key, m := range v.Fields() {
		b.WriteString(lead)
		writeField(b, margin+"  ", key, m, deep-1)
		lead = "\n" + margin + "  "
	}
}

// inline returns a scalar, or a short or deep container as JSON; "" for containers that take lines of their own.
func inline(v jsontext.Value, deep int) string {
	switch {
	case v.IsString():
		if s := strings.TrimRight(v.Str(), "\n"); s != "" {
			return s
		}
	case v.IsObject(), v.IsArray():
		if s := compact(v); deep == 0 || len(s) <= maxInline && !bytes.ContainsRune(s, '\\') {
			return string(s)
		}
		return ""
	}
	return string(v.Raw())
}
