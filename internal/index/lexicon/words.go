// Package lexicon numbers the terms of texts: a term is looked up once, and later stages go over numbers.
package lexicon

import (
	"slices"
	"sync/atomic"

	"github.com/txarchive/txarchive/internal/term"
)

// Words is an append-only list of distinct terms. Rows refer to terms by their numbers, which start at 0, so that a
// term is looked up only once, however many later stages go over the text. It may be read while an Interner adds to
// it: a term that has a number never changes or moves.
type Words struct {
	pages  atomic.Pointer[[]*wordPage]
	chunks atomic.Pointer[[][]byte]
	length atomic.Uint32
	used   int // bytes of the last chunk
}

func newWords() *Words {
	w := &Words{}
	w.pages.Store(new([]*wordPage))
	w.chunks.Store(new([][]byte))
	return w
}

// wordPage holds the places of the texts of 1024 consecutive numbers.
type wordPage [1 << wordPageBits]wordPlace

const (
	wordPageBits  = 10
	wordChunkBits = 16
)

// wordPlace packs a chunk, an offset in it and the length of the text.
type wordPlace uint64

const wordLengthBits = 16

// Same is a flag in the number of a term that has the same position in the text as the one before it: a part of an
// identifier.
const Same = 1 << 31

// Len returns the number of terms.
func (w *Words) Len() int { return int(w.length.Load()) }

// At returns the term with a number. The caller must not change it.
func (w *Words) At(n uint32) []byte {
	return w.text((*w.pages.Load())[n>>wordPageBits][n&(1<<wordPageBits-1)])
}

func (w *Words) text(p wordPlace) []byte {
	chunk := (*w.chunks.Load())[p>>(wordLengthBits+wordChunkBits)]
	start := int(p >> wordLengthBits & (1<<wordChunkBits - 1))
	end := start + int(p&(1<<wordLengthBits-1))
	return chunk[start:end:end]
}

// Append appends the terms with the given numbers to b, separated as by term.Split.
func (w *Words) Append(b []byte, numbers []uint32) []byte {
	for i, n := range numbers {
		switch {
		case n&Same != 0:
			b = append(b, term.Same)
		case i > 0:
			b = append(b, ' ')
		}
		b = append(b, w.At(n&^Same)...)
	}
	return b
}

// add appends a term and returns its place. It must not be called concurrently.
func (w *Words) add(term []byte) wordPlace {
	n := w.length.Load()
	if int(n>>wordPageBits) == len(*w.pages.Load()) {
		w.addPage()
	}
	chunks := *w.chunks.Load()
	if len(chunks) == 0 || len(chunks[len(chunks)-1])-w.used < len(term) {
		chunks = w.addChunk(len(term))
	}
	last := len(chunks) - 1
	copy(chunks[last][w.used:], term)
	p := wordPlace(last<<wordChunkBits|w.used)<<wordLengthBits | wordPlace(len(term))
	w.used += len(term)
	(*w.pages.Load())[n>>wordPageBits][n&(1<<wordPageBits-1)] = p
	w.length.Store(n + 1)
	return p
}

// addPage and addChunk are functions of their own because the slice headers that they store would otherwise be
// allocated for every term.
func (w *Words) addPage() {
	pages := append(slices.Clip(*w.pages.Load()), new(wordPage))
	w.pages.Store(&pages)
}

func (w *Words) addChunk(size int) [][]byte {
	chunks := append(slices.Clip(*w.chunks.Load()), make([]byte, max(size, 1<<wordChunkBits)))
	w.chunks.Store(&chunks)
	w.used = 0
	return chunks
}
