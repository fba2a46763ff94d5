package transcript

import (
	"slices"
	"strings"
)

// Clone returns a record that stays valid after the parser's next one. Only an Event needs a copy: parsers reuse
// events and the memory of their texts. Other records are returned as they are.
func Clone(r Record) Record {
	e, ok := r.(*Event)
	if !ok {
		return r
	}
	clone := *e
	clone.Parts = slices.Clone(e.Parts)
	clone.Retold = strings.Clone(clone.Retold)
	for i := range clone.Parts {
		clone.Parts[i].Text = strings.Clone(clone.Parts[i].Text)
	}
	return &clone
}
