package status

import (
	"context"
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/terminal"
)

// Place is a place where a program keeps its history.
type Place struct {
	Name        string            `json:"name"`
	Format      string            `json:"format"`
	Dir         string            `json:"directory"`
	Source      *string           `json:"source"`
	Files       int64             `json:"files"`
	Bytes       int64             `json:"bytes"`
	Transcripts int64             `json:"transcripts"`
	NewFiles    int64             `json:"new_files"`
	NewBytes    int64             `json:"new_bytes"`
	RiskFiles   int64             `json:"at_risk_files"`
	RiskBytes   int64             `json:"at_risk_bytes"`
	Oldest      printer.Timestamp `json:"oldest"`
	Days        *int              `json:"deletes_after_days"`
	Deletes     *string           `json:"deletes"`
}

// PlaceOf returns what is shown of a place.
func PlaceOf(f *ingest.Found) Place {
	p := Place{
		Name: f.Name, Format: f.Format, Dir: f.Dir, Source: printer.OrNull(f.Source), Files: f.Files, Bytes: f.Bytes, Transcripts: f.Transcripts,
		NewFiles: f.NewFiles, NewBytes: f.NewBytes, RiskFiles: f.RiskFiles, RiskBytes: f.RiskBytes, Oldest: printer.Stamp(f.Oldest), Deletes: printer.OrNull(f.Deletes),
	}
	if f.Days > 0 {
		p.Days = &f.Days
	}
	return p
}

// Unfollowed returns the places of programs in a home that the archive does not follow, and was not told to leave alone.
func Unfollowed(ctx context.Context, g *ingest.Ingester, home ingest.Home) ([]Place, error) {
	found, err := g.Unfollowed(ctx, home)
	places := []Place{}
	for _, f := range found {
		places = append(places, PlaceOf(f))
	}
	return places, err
}

// NoteUnfollowed notes whose history is not archived, and what to do about it.
func NoteUnfollowed(p *printer.Printer, places []Place) {
	if len(places) > 0 {
		p.Note("Not followed: %s. To follow one: txarchive source add NAME; to leave it alone: txarchive source remove DIR", Programs(p, places))
	}
}

// Programs lists the programs of places, with where and what there is of each.
func Programs(p *printer.Printer, places []Place) string {
	var names []string
	sums, dirs := map[string]Place{}, map[string][]string{}
	for _, one := range places {
		if dirs[one.Name] == nil {
			names = append(names, one.Name)
		}
		s := sums[one.Name]
		s.Files, s.Bytes, s.RiskFiles = s.Files+one.Files, s.Bytes+one.Bytes, s.RiskFiles+one.RiskFiles
		sums[one.Name], dirs[one.Name] = s, append(dirs[one.Name], p.DisplayPath(one.Dir))
	}
	for i, name := range names {
		s := sums[name]
		names[i] = fmt.Sprintf("%s in %s (%s, %s", name, strings.Join(dirs[name], ", "), terminal.Plural(s.Files, "file", "files"), terminal.Bytes(s.Bytes))
		if s.RiskFiles > 0 {
			names[i] += ", " + terminal.Count(s.RiskFiles) + " at risk"
		}
		names[i] += ")"
	}
	return strings.Join(names, "; ")
}
