package collect

import (
	"slices"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// attributes returns the id and the scene of an event, and the JSON of its remaining attributes, "" for none. An
// attribute under one of the names of id and scene fills that field, unless the event itself states it.
func attributes(e *transcript.Event) (id string, s index.Scene, rest string) {
	id, s = e.ID, index.Scene{Agent: e.Agent, Model: e.Model, Flow: e.Flow, Step: e.Step}
	keys := make([]string, 0, 8)
	for key, value := range e.Attributes {
		if own := fieldNamed(&s, key, &id); own != nil {
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
		if text, ok := value.(string); ok {
			value = brief(text)
		}
		b = append(b, ',')
		b = index.AppendJSON(append(index.AppendString(b, key), ':'), value)
	}
	b[0] = '{'
	return id, s, string(append(b, '}'))
}

// maxAttribute is longer, in bytes, than what programs state in an attribute.
const maxAttribute = 1024

// brief returns an attribute, or its beginning: what a message states is an attribute of each event in it, so a file with a large one
// would have an index of many times its size.
func brief(text string) string {
	if len(text) <= maxAttribute {
		return text
	}
	end := maxAttribute
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// fieldNamed returns the field that an attribute of a name fills, nil for none.
func fieldNamed(s *index.Scene, name string, id *string) *string {
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
