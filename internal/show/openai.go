package show

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/openai"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/transcript"
)

// openai prints conversations as messages of OpenAI's API, and notes what is left out because the format has no place for it.
func (v *viewer) openai(ctx context.Context, views iter.Seq2[*search.View, error]) error {
	w := &openai.Writer{W: v.Out, Raw: v.store.Raw, LeftOut: map[transcript.Kind]int64{}}
	for view, err := range views {
		if err == nil {
			err = w.Write(ctx, view)
		}
		if err != nil {
			return err
		}
	}
	if len(w.LeftOut) == 0 {
		return nil
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(w.LeftOut)) {
		parts = append(parts, terminal.Count(w.LeftOut[kind])+" "+strings.ReplaceAll(string(kind), "_", " "))
	}
	v.Note("omitted, because the format cannot represent it: %s", strings.Join(parts, ", "))
	return nil
}
