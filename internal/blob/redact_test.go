package blob

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// TestMarkPayload checks that marking keeps the length and valid JSON, and that the mark states the length.
func TestMarkPayload(t *testing.T) {
	head, tail := `{"a":"`, `","b":1}`
	doc := head + strings.Repeat("é\\n", 300) + tail
	marks := &Redaction{Places: [][2]int64{{int64(len(head)), int64(len(doc) - len(head) - len(tail))}}, Payloads: true}
	r := Redacted(strings.NewReader(doc), marks)
	whole, err := io.ReadAll(io.NewSectionReader(r, 0, int64(len(doc))))
	if err != nil || len(whole) != len(doc) || !json.Valid(whole) || !bytes.HasPrefix(whole, []byte(head+"[payload dropped by policy: 1,200 bytes] ")) {
		t.Fatalf("%q, %v", whole, err)
	}
	for at := range len(doc) - 7 {
		part := make([]byte, 7)
		if _, err := r.ReadAt(part, int64(at)); err != nil || !bytes.Equal(part, whole[at:at+7]) {
			t.Fatalf("at %d: %q, %v", at, part, err)
		}
	}
}
