package show

import (
	"context"
	"fmt"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/lookup"
	"github.com/txarchive/txarchive/internal/terminal"
)

// versionRow is a row of show --versions.
type versionRow struct {
	Source   string `json:"source"`
	Path     string `json:"path"`
	Version  int    `json:"version"`
	Newest   bool   `json:"newest"`
	Size     int64  `json:"size"`
	Modified string `json:"mtime"`
	Mode     string `json:"mode"`
	SHA256   string `json:"sha256"`
	Copies   int64  `json:"copies"`
	Format   string `json:"format"`
	Role     string `json:"role"`
}

// versions prints the originals of a run, conversation or event with all of their versions.
func (v *viewer) versions(ctx context.Context, what lookup.Target) error {
	filters, err := lookup.Originals(ctx, v.store.Index(), what)
	if err != nil {
		return err
	}
	if what.Event == "" && what.Conversation != "" { // the original that counts, and its copies
		filters = append(filters, index.VersionFilter{Conversation: what.Conversation})
	}
	g := terminal.Table{Columns: []terminal.Column{{Head: "version", Right: true}, {Head: "size", Right: true, DropRank: 1}, {Head: "modified"}, {Head: "sha256", DropRank: 2}, {Head: "original", Shorten: terminal.TruncateMiddle}}}
	seen := map[[2]string]bool{}
	for _, f := range filters {
		for x, err := range v.store.Index().Versions(ctx, f) {
			if err != nil {
				return err
			}
			file := [2]string{x.Source, x.Path}
			if seen[file] {
				continue
			}
			seen[file] = true
			if err := v.file(ctx, file, &g); err != nil {
				return err
			}
		}
	}
	if v.o.Format != "json" {
		fmt.Fprintln(v.Out, v.Fit(&g))
	}
	return nil
}

// file adds the versions of one original, also those that no longer contain what was asked for.
func (v *viewer) file(ctx context.Context, file [2]string, g *terminal.Table) error {
	for x, err := range v.store.Index().Versions(ctx, index.VersionFilter{Source: file[0], Path: file[1]}) {
		if err != nil {
			return err
		}
		if v.o.Format == "json" {
			row := versionRow{x.Source, x.Path, x.Number, x.Newest, x.Size, x.ModTime.UTC().Format("2006-01-02T15:04:05.999999999Z"),
				fmt.Sprintf("%04o", x.Mode), x.SHA256.String(), x.Copies, x.Format, x.Role}
			if err := v.PrintJSON(row); err != nil {
				return err
			}
			continue
		}
		number := fmt.Sprint(x.Number)
		if x.Newest {
			number = "newest " + number
		}
		g.Add(number, terminal.Bytes(x.Size), v.FormatClock(x.ModTime), x.SHA256.Short(), x.Source+"/"+x.Path)
	}
	return nil
}
