package main

import (
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/terminal"
)

// meter returns a progress meter on standard error; nil if that is not a terminal or shows something else.
func (a *app) meter() *terminal.Meter {
	width, ok := terminal.Detect(a.Err)
	if !ok || a.Quiet || a.verbose || a.Getenv("TERM") == "dumb" {
		return nil
	}
	return terminal.NewMeter(a.Err, width, terminal.Style{Enabled: a.Colored(a.Err)})
}

// ingestProgress returns a function that shows the progress of an Ingester on a meter; nil for a nil meter.
func ingestProgress(m *terminal.Meter) func(ingest.Progress) {
	if m == nil {
		return nil
	}
	return func(p ingest.Progress) { showIngest(m, p) }
}

func showIngest(m *terminal.Meter, p ingest.Progress) {
	switch {
	case p.TotalBytes > 0 && p.Bytes >= p.TotalBytes:
		m.Show(terminal.Progress{Stage: p.Stage, Path: "read; finishing the index", Done: p.Bytes, Total: p.TotalBytes, Bytes: true})
	case p.TotalBytes > 0:
		m.Show(terminal.Progress{Stage: p.Stage, Path: p.Path, Done: p.Bytes, Total: p.TotalBytes, Bytes: true})
	case p.TotalFiles > 0:
		m.Show(terminal.Progress{Stage: p.Stage, Path: p.Path, Done: p.Files, Total: max(p.TotalFiles, p.Files)})
	}
}
