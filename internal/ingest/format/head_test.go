package format

import (
	"bytes"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// TestHasTables finds tables by all ways to quote a name that SQLite knows, and none by the beginning of its name.
func TestHasTables(t *testing.T) {
	for _, c := range []struct {
		schema string
		want   bool
	}{
		{"CREATE TABLE `part` (id)CREATE TABLE `message` (id)", true},
		{`CREATE TABLE "part" (id)CREATE TABLE [message] (id)`, true},
		{"CREATE TABLE part (id)CREATE TABLE message(id)", true},
		{"CREATE TABLE message\n(id)CREATE TABLE part AS SELECT 1", true},
		{"CREATE TABLE message (id)", false},
		{"CREATE TABLE message (id)CREATE TABLE parts (id)", false},
		{"CREATE TABLE message (id)CREATE TABLE `part_v2` (id)", false},
		{"CREATE TABLE message (id)CREATE INDEX part (id)", false},
	} {
		if got := HasTables([]byte(c.schema), "message", "part"); got != c.want {
			t.Errorf("%q: %v, want %v", c.schema, got, c.want)
		}
	}
}

// TestObjectLines compares ObjectLines with a test of each line.
func TestObjectLines(t *testing.T) {
	r := seedtest.Rand(t)
	pieces := []string{"\n", "\n", " ", "\t", "\r", "{", "{", "}", "a", "\xef\xbb\xbf", "\x00"}
	found := 0
	for range 5000 {
		var head []byte
		for range r.IntN(20) {
			head = append(head, pieces[r.IntN(len(pieces))]...)
		}
		type object struct {
			line  string
			whole bool
		}
		var want, got []object
		for rest := jsontext.TrimBOM(head); len(rest) > 0; {
			line, more, whole := bytes.Cut(rest, []byte("\n"))
			if rest = more; jsontext.BeginsObject(line) {
				want = append(want, object{string(line), whole})
			}
		}
		for line, whole := range ObjectLines(head) {
			got = append(got, object{string(line), whole})
		}
		same := len(got) == len(want)
		for i := 0; same && i < len(got); i++ {
			same = got[i] == want[i]
		}
		if !same {
			t.Fatalf("%q: %v, want %v", head, got, want)
		}
		found += len(got)
		for range ObjectLines(head) {
			break
		}
	}
	if found < 1000 {
		t.Errorf("%d objects", found)
	}
}
