package format

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/layer"
)

// TestReadTextInMemory reads content in memory: without a copy if all of it is read.
func TestReadTextInMemory(t *testing.T) {
	content := []byte("some text that is read as it stands")
	if text, err := ReadText(InMemory(content), 100); text != string(content) || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := ReadText(InMemory(content), 10); !errors.Is(err, layer.ErrTooLarge) {
		t.Error(err)
	}
	m := InMemory(content)
	if _, err := io.CopyN(io.Discard, m, 5); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadText(m, 100); text != string(content[5:]) || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	m = InMemory(content)
	if n := testing.AllocsPerRun(10, func() {
		if _, err := ReadText(m, 100); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestReadAll(t *testing.T) {
	unknownLength := func(n int) io.Reader { return io.MultiReader(strings.NewReader(strings.Repeat("x", n))) }
	if _, err := ReadAll(unknownLength(11), 10); !errors.Is(err, layer.ErrTooLarge) {
		t.Error(err)
	}
	if b, err := ReadAll(unknownLength(10), 10); err != nil || len(b) != 10 {
		t.Error(err)
	}
}
