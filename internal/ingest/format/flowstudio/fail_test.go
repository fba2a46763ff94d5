package flowstudio

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// TestReaderFails: an error of the reader ends the records and is passed on.
func TestReaderFails(t *testing.T) {
	for _, role := range []string{roleTranscript, roleReceipt, roleTimeline, roleMeta, roleProduct, roleLines} {
		if err := failing(role); err == nil {
			t.Errorf("%s: no error", role)
		}
	}
}

// failing parses an original whose reader fails, and returns the error that Parse yields.
func failing(role string) error {
	broken := errors.New("disk is gone")
	in := format.Input{
		Path: "swarm/runs/r/build/llm/a-b-c.jsonl", Root: "swarm/runs/r", Role: role,
		Reader: io.MultiReader(strings.NewReader("{\"a\":1}\n{\"b\""), iotest.ErrReader(broken)),
	}
	for _, err := range (flowStudio{}).Parse(in) {
		if err != nil {
			if !errors.Is(err, broken) {
				return nil
			}
			return err
		}
	}
	return nil
}
