package index

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/txarchive/txarchive/internal/transcript"
)

// NativeID is what a producer calls an event. Most call it by a UUID, which takes no text.
type NativeID struct {
	UUID   [16]byte
	IsUUID bool
	Text   string // "" for a UUID, and where there is no id
}

// The places of a UUID's digits in its text.
var uuidPlaces = [...]struct{ from, to int }{{0, 8}, {9, 13}, {14, 18}, {19, 23}, {24, 36}}

// ParseNativeID knows UUIDs as they are usually written, in lower case. All else is a text.
func ParseNativeID(s string) (id NativeID) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return NativeID{Text: s}
	}
	var digits [32]byte
	at := digits[:0]
	for _, p := range uuidPlaces {
		at = append(at, s[p.from:p.to]...)
	}
	for _, c := range digits {
		if 'A' <= c && c <= 'F' {
			return NativeID{Text: s}
		}
	}
	if _, err := hex.Decode(id.UUID[:], digits[:]); err != nil {
		return NativeID{Text: s}
	}
	id.IsUUID = true
	return id
}

// Scene is whom and what an event says that it belongs to; "" where it does not say. Many events have the same.
type Scene struct{ Agent, Model, Flow, Step string }

// attributes are the id and the scene of an event, and the JSON of what else only its format states, "" for nothing. What a
// format states under one of those names counts as that, unless the event has its own.
func attributes(e *transcript.Event) (id string, s Scene, rest string) {
	id, s = e.ID, Scene{e.Agent, e.Model, e.Flow, e.Step}
	keys := make([]string, 0, 8)
	for key, value := range e.Attributes {
		if own := s.field(key, &id); own != nil {
			text, ok := value.(string)
			if *own == "" && ok {
				*own = text
			}
			if *own != "" {
				continue
			}
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 && !e.Seq.Known {
		return id, s, ""
	}
	if e.Seq.Known && !slices.Contains(keys, "seq") {
		keys = append(keys, "seq")
	}
	slices.Sort(keys)
	b := make([]byte, 0, 128)
	for _, key := range keys {
		value := e.Attributes[key]
		if key == "seq" && e.Seq.Known {
			value = e.Seq.N
		}
		b = append(b, ',')
		b = appendJSON(append(appendJSON(b, key), ':'), value)
	}
	b[0] = '{'
	return id, s, string(append(b, '}'))
}

// field is where an attribute of a name belongs, nil for none.
func (s *Scene) field(name string, id *string) *string {
	switch name {
	case "id":
		return id
	case "agent":
		return &s.Agent
	case "model":
		return &s.Model
	case "flow":
		return &s.Flow
	case "step":
		return &s.Step
	}
	return nil
}

// AppendAttributes appends attributes as JSON, byte for byte as encoding/json writes them.
func AppendAttributes(b []byte, a transcript.Attributes) ([]byte, error) {
	if len(a) == 0 {
		return append(b, "{}"...), nil
	}
	var room [16]string
	keys := room[:0]
	for key := range a {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	begin := len(b)
	for _, key := range keys {
		var err error
		b = append(AppendString(append(b, ','), key), ':')
		if b, err = appendValue(b, a[key]); err != nil {
			return nil, err
		}
	}
	b[begin] = '{'
	return append(b, '}'), nil
}

// AppendString appends a JSON string; most are short and plain.
func AppendString(b []byte, s string) []byte {
	if plain(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	j, _ := json.Marshal(s) // any string is one of JSON
	return append(b, j...)
}

func appendValue(b []byte, value any) ([]byte, error) {
	switch v := value.(type) {
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		return AppendString(b, v), nil
	}
	j, err := json.Marshal(value)
	return append(b, j...), err
}

// appendJSON appends a value, null for what JSON cannot say.
func appendJSON(b []byte, value any) []byte {
	if with, err := appendValue(b, value); err == nil {
		return with
	}
	return append(b, "null"...)
}

func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}
