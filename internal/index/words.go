package index

import (
	"slices"
	"sync/atomic"

	"github.com/txarchive/txarchive/internal/term"
)

// Words is a list of terms, each of them once. Rows name terms by their numbers in it, which begin with 0: so a term is
// looked for once on its way in, however often the text is gone over after that. It may be read while a Numbering adds to
// it: what has a number stays as it is, and where it is.
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

// wordPage says where the texts of terms stand, by their numbers.
type wordPage [1 << wordPageBits]wordPlace

const (
	wordPageBits  = 10
	wordChunkBits = 16
)

// wordPlace is a chunk and an offset in it, and the length of the text.
type wordPlace uint64

const wordLengthBits = 16

// Same is added to the number of a term that stands in the same place as the one before it: a part of an identifier.
const Same = 1 << 31

// Len returns how many terms there are.
func (w *Words) Len() int { return int(w.length.Load()) }

// At returns the term of a number. It must not be changed.
func (w *Words) At(n uint32) []byte {
	return w.text((*w.pages.Load())[n>>wordPageBits][n&(1<<wordPageBits-1)])
}

func (w *Words) text(p wordPlace) []byte {
	chunk := (*w.chunks.Load())[p>>(wordLengthBits+wordChunkBits)]
	start := int(p >> wordLengthBits & (1<<wordChunkBits - 1))
	end := start + int(p&(1<<wordLengthBits-1))
	return chunk[start:end:end]
}

// Append appends the terms of some numbers to b, separated as term.Split does it.
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

// add takes in another term and returns where it stands. It serves one goroutine at a time.
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

// addPage and addChunk stand apart because what they point to would be made anew for each term otherwise.
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
