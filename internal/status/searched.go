package status

import (
	"context"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/terminal"
)

// staleAfter is the age of the last complete scan of a source from which a search notes it.
const staleAfter = 7 * 24 * time.Hour

// Searched returns a function that reports, for each source that is followed, whether its directory exists, how current and how
// complete it is.
func Searched(ctx context.Context, store *archive.Archive, now func() time.Time) (all func() []search.Source, err error) {
	known, err := source.All(ctx, store.Index())
	if err != nil {
		return nil, err
	}
	notes, err := store.Index().LoadLocal(ctx, scannedKey)
	if err != nil {
		return nil, err
	}
	problems, err := store.Index().ProblemsBySource(ctx)
	if err != nil {
		return nil, err
	}
	return func() (states []search.Source) {
		for _, s := range known {
			state := search.Source{Name: s.Name, Path: s.Root, State: "ok", Problems: problems[s.Name]}
			if at := lastScanned(notes, s.Name, now()); !at.IsZero() {
				state.Last = &at
			}
			if look(s, &state, now()) {
				states = append(states, state)
			}
		}
		return states
	}, nil
}

// look reports whether a source is followed, and records in state whether its directory exists and how current it is.
func look(s source.Named, state *search.Source, now time.Time) (followed bool) {
	switch age := now.Sub(s.Added); StateOf(s) {
	case "removed":
		return false
	case "missing":
		state.State, state.Reason = "missing", "its directory is missing; what was stored from it is searched"
	case "unreadable":
		state.State, state.Reason = "unreadable", "its directory cannot be read; what was stored from it is searched"
	default:
		if state.Last != nil {
			age = now.Sub(*state.Last)
		}
		if age > staleAfter {
			state.State, state.Reason = "stale", "not scanned for "+terminal.Duration(age.Truncate(24*time.Hour))+"; newer files are not searched: txarchive ingest"
		}
	}
	return true
}
