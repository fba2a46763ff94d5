package main

import (
	"bytes"
	"io"
	"path/filepath"
	"testing"

	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/terminal"
)

func TestIngestShowsProgress(t *testing.T) {
	source, _ := examples(t)
	a := newApp()
	a.archive, a.Out, a.Err = filepath.Join(t.TempDir(), "archive"), io.Discard, io.Discard
	store, err := a.openOrCreate(t.Context())
	must(t, err)
	defer store.Close()
	m := terminal.NewMeter(io.Discard, 100, terminal.Style{})
	_, err = ingestSources(t.Context(), a, ingestOptions{}, store, m, []string{source})
	must(t, err)
	m.Stop()
	if last := m.Current(); last.Stage == "" || last.Done == 0 {
		t.Errorf("the last that was to be shown is %+v", last)
	}
}

func TestNoMeterInPipe(t *testing.T) {
	if m := (&app{Printer: printer.Printer{Err: &bytes.Buffer{}, Getenv: func(string) string { return "" }}}).meter(); m != nil {
		t.Error("a pipe gets a progress bar")
	}
}
