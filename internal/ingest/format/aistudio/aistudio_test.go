package aistudio

import (
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzPrompt(f *testing.F) { formattest.Fuzz(f, New(), rolePrompt, "Google AI Studio/fuzz") }
