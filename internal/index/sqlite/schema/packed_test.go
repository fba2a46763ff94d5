package schema

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// FuzzPacked: words come back as they went in, and bytes that are no block are an error.
func FuzzPacked(f *testing.F) {
	f.Add([]byte("a\nab\nabcdefghijklmnop\nabcdefghijklmnopqrstuvwxyz\nb\n" + strings.Repeat("long", 16) + "\n数据\n"))
	f.Add([]byte("\n\n\nx\x00y\n"))
	f.Add([]byte("\x05\x01a\x11b"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > maxWords/2 {
			return
		}
		var u Unpacker
		if got, err := u.Unpack(b); err == nil && len(got) > 0 && got[len(got)-1] != '\n' {
			t.Fatalf("%q has no end", got)
		}
		words := bytes.Split(b, []byte("\n"))
		slices.SortFunc(words, bytes.Compare)
		want := append(bytes.Join(words, []byte("\n")), '\n')
		var p Packer
		for range 2 { // both are used again
			for _, w := range words {
				p.Add(w)
			}
			if p.Size() != len(want) {
				t.Fatalf("size %d, want %d", p.Size(), len(want))
			}
			block := p.Take(nil)
			if got, err := u.Unpack(block); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%q, want %q, %v", got, want, err)
			}
			if _, err := u.Unpack(block[:len(block)-1]); err == nil {
				t.Fatal("a block that is cut off")
			}
		}
	})
}
