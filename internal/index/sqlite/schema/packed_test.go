package schema

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// FuzzPacked: unpacking inverts packing, and bytes that are not a block are an error.
func FuzzPacked(f *testing.F) {
	f.Add([]byte("a\nab\nabcdefghijklmnop\nabcdefghijklmnopqrstuvwxyz\nb\n" + strings.Repeat("long", 16) + "\n数据\n"))
	f.Add([]byte("\n\n\nx\x00y\n"))
	f.Add([]byte("\x05\x01a\x11b"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > maxWords/2 {
			return
		}
		if got, err := AllWords(b, nil); err == nil && len(got) > 0 && got[len(got)-1] != '\n' {
			t.Fatalf("%q has no end", got)
		}
		words := bytes.Split(b, []byte("\n"))
		slices.SortFunc(words, bytes.Compare)
		want := append(bytes.Join(words, []byte("\n")), '\n')
		var p Packer
		for range 2 { // the Packer and its memory are reused
			for _, w := range words {
				p.Add(w)
			}
			if p.Size() != len(want) {
				t.Fatalf("size %d, want %d", p.Size(), len(want))
			}
			block := p.Take(nil)
			if got, err := AllWords(block, nil); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%q, want %q, %v", got, want, err)
			}
			if _, err := AllWords(block[:len(block)-1], nil); err == nil {
				t.Fatal("a block that is cut off")
			}
		}
	})
}

// FuzzFinders compares the Finders with a test of each unpacked word.
func FuzzFinders(f *testing.F) {
	f.Add([]byte("able\nunable\nunables\nundoable\ntable\n"), []byte("able"), 7)
	f.Add([]byte("abab\nababab\nabababx\nababaab\n"), []byte("abab"), 1<<20)
	f.Add([]byte("aaaaaaaaaaaaaaaaaaaaaaaaaab\naaaaaaaaaaaaaaaaaaaaaaaaaabc\nb\n\x00\n\x00\x80"), []byte("b"), 27)
	f.Add([]byte("\xe6\x95\xb0\xe6\x8d\xae\n\xe6\x95\xb0\n\xff\xfe\n\x01\x00\n"), []byte("\xe6"), 4)
	f.Fuzz(func(t *testing.T, b, text []byte, long int) {
		if len(b) > maxWords/2 || len(text) == 0 || bytes.IndexByte(text, '\n') >= 0 {
			return
		}
		words := bytes.Split(b, []byte("\n"))
		slices.SortFunc(words, bytes.Compare)
		var p Packer
		for _, w := range words {
			p.Add(w)
		}
		block := p.Take(nil)
		naive := map[string]func(w []byte) bool{
			"containing": func(w []byte) bool {
				begins := false
				for n := 1; n < len(text); n++ {
					begins = begins || bytes.HasSuffix(w, text[:n])
				}
				return bytes.Contains(w, text) || len(w) >= long && begins
			},
			"beginning": func(w []byte) bool { return bytes.HasPrefix(w, text) },
			"those":     func(w []byte) bool { return len(w)%2 == 0 },
		}
		for name, find := range map[string]Finder{"containing": Containing(text, long), "beginning": WithPrefix(text), "those": Matching(naive["those"])} {
			var want []byte
			for _, w := range words {
				if naive[name](w) {
					want = append(append(want, w...), '\n')
				}
			}
			if got, err := find(block, nil); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s %q in %q: %q, want %q (%v)", name, text, b, got, want, err)
			}
		}
	})
}
