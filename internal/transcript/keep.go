package transcript

import (
	"slices"
	"strings"
)

// Keep gives a record that lives by itself. Parsers use events, and the room of their texts, again.
func Keep(r Record) Record {
	e, ok := r.(*Event)
	if !ok {
		return r
	}
	kept := *e
	kept.Parts = slices.Clone(e.Parts)
	kept.Retold = strings.Clone(kept.Retold)
	for i := range kept.Parts {
		kept.Parts[i].Text = strings.Clone(kept.Parts[i].Text)
	}
	return &kept
}
