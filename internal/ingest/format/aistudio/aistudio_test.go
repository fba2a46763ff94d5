package aistudio

import (
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzPrompt(f *testing.F) { formattest.Fuzz(f, New(), rolePrompt, "Google AI Studio/fuzz") }

// TestLongModel reads an answer of many calls by a model with a very long name, of which no event has a copy: with 10,000 calls and a megabyte
// that was 10 GB.
func TestLongModel(t *testing.T) {
	content := `{"runSettings":{"model":"models/last"},"chunkedPrompt":{"chunks":[{"role":"model","model":"` + strings.Repeat("m", 1000) +
		`","parts":[` + strings.Repeat(`{"functionCall":{"name":"f","args":{}}},`, 9) + `{"text":"done"}]}]}}`
	for r, err := range New().Parse(format.Input{Path: "x", Role: rolePrompt, Reader: strings.NewReader(content)}) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := r.(*transcript.Event); ok && (len(e.Model) > 300 || e.Model == "last") {
			t.Errorf("a model of %d bytes", len(e.Model))
		}
	}
}
