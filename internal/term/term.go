// Package term turns text into the terms that are indexed, searched, highlighted and cut into snippets. There
// is one tokeniser for all four, so that what was indexed is what a query asks for. It owns no I/O.
//
// A text gives two sequences. The first (`t`, column t of the index) is the words in order, so that
// consecutive words of the text are consecutive terms and a phrase is a sequence:
//
//   - a word is a run of letters, digits and their marks; everything else (punctuation, `_`, spaces, control
//     characters, invalid UTF-8, U+FFFD, arrows, box drawing) only separates: `src/health.py` is src health py,
//     `don't` is don t, `50%` is 50, `v1.2.3` is v1 2 3, `TypeError:` is typeerror;
//   - every Chinese, Japanese or Korean character is a term of its own, and so is every emoji code point
//     (skin tones included; joiners and variation selectors are dropped) and every ligature sign such as U+338F (kg);
//   - case is folded in all scripts; compatibility forms (full width, ligatures, mathematical letters) as NFKC does;
//     accents of Latin, Greek and Cyrillic letters are dropped, and so are strokes and ligatures (ø ł đ æ ß), Hebrew
//     points and Arabic vowel signs; vowel signs of other scripts stay. Japanese dakuten stay on their kana (composed
//     when written apart) and Hangul jamo are composed into syllables;
//   - a word longer than MaxTerm bytes gives several consecutive terms.
//
// The second (`p`, column p) is the parts of identifiers, for single-word queries: parseConfig gives parse and
// config, HTTPServer2 gives http, server and 2. Words that look like random ids (hex digests, base62) have no parts.
//
// Blobs are cut short: of an unbroken run of 256 or more ASCII letters and digits, or of base64 of that length,
// only the first MaxTerm bytes are indexed. Splitter.Skipped tells how much was left out.
//
// Terms hold only bytes that FTS5's ascii tokenizer leaves alone: ASCII lower case letters and digits, and
// UTF-8 above it. Folding is idempotent: the terms of a text, joined by spaces, give the same terms again.
package term

import "bytes"

// MaxTerm is the length in bytes at which a term is cut, on a rune boundary.
const MaxTerm = 64

// Splitter makes terms. It holds buffers that are used again; the zero Splitter is ready. It is not for
// concurrent use.
type Splitter struct {
	term    []byte
	cuts    []int
	skipped int64

	clear  int // no blob can begin before this offset
	cut    int // where the terms of the present blob end, 0 outside of one
	resume int // where the present blob ends
}

// Skipped returns how many bytes of the text last given to Split or Each lay in blobs and were left out.
func (s *Splitter) Skipped() int64 { return s.skipped }

func (s *Splitter) reset() {
	s.skipped, s.clear, s.cut, s.resume = 0, 0, 0, 0
}

// Split appends the words of text to dstT and the parts of its identifiers to dstP, each term separated from
// the one before it by a space, and returns both.
func (s *Splitter) Split(dstT, dstP []byte, text string) (t, p []byte) {
	s.reset()
	t, p = dstT, dstP
	for i := 0; ; {
		at := len(t)
		t = space(t)
		from := len(t)
		var w word
		w, t = s.next(t, text, i)
		if w.next == 0 {
			return t[:at], p
		}
		if len(t)-from > MaxTerm && !w.single {
			t = s.chunk(t[:from], text, w)
		}
		if w.mixed() {
			p = s.appendParts(p, text, w)
		}
		i = w.next
	}
}

// Each yields the terms of text with the bytes of text that they stand for, each word before its parts, until
// yield returns false. part says that the term belongs to column p. The term is only valid during the call.
func (s *Splitter) Each(text string, yield func(term []byte, start, end int, part bool) bool) {
	s.reset()
	for i := 0; ; {
		var w word
		w, s.term = s.next(s.term[:0], text, i)
		if w.next == 0 {
			return
		}
		switch {
		case w.single:
			for rest, more := s.term, true; more; {
				var one []byte
				one, rest, more = bytes.Cut(rest, []byte{' '})
				if !yield(one, w.start, w.end, false) {
					return
				}
			}
		case len(s.term) > MaxTerm:
			if s.cuts = chunks(s.cuts[:0], text, w); !s.pieces(text, false, yield) {
				return
			}
		case !yield(s.term, w.start, w.end, false):
			return
		}
		if w.mixed() {
			if s.cuts = parts(s.cuts[:0], text, w); len(s.cuts) > 0 && !s.pieces(text, true, yield) {
				return
			}
		}
		i = w.next
	}
}

// pieces yields the pieces of a word between consecutive cuts.
func (s *Splitter) pieces(text string, part bool, yield func([]byte, int, int, bool) bool) bool {
	for k := 1; k < len(s.cuts); k++ {
		a, b := s.cuts[k-1], s.cuts[k]
		s.term = appendFold(s.term[:0], text[a:b])
		if !yield(s.term, a, b, part) {
			return false
		}
	}
	return true
}

// chunk appends a word that is too long for one term to t, as several.
func (s *Splitter) chunk(t []byte, text string, w word) []byte {
	s.cuts = chunks(s.cuts[:0], text, w)
	for k := 1; k < len(s.cuts); k++ {
		t = appendFold(space(t), text[s.cuts[k-1]:s.cuts[k]])
	}
	return t
}

func (s *Splitter) appendParts(p []byte, text string, w word) []byte {
	s.cuts = parts(s.cuts[:0], text, w)
	for k := 1; k < len(s.cuts); k++ {
		p = appendFold(space(p), text[s.cuts[k-1]:s.cuts[k]])
	}
	return p
}

// space appends what separates the next term from the one before it.
func space(b []byte) []byte {
	if len(b) == 0 || b[len(b)-1] == ' ' {
		return b
	}
	return append(b, ' ')
}

// Words returns the terms of a query text, in order. Several terms must stand as a phrase: `src/health.py` gives
// src, health and py. A text without a letter, digit, CJK character or emoji gives nil.
func Words(text string) []string {
	var s Splitter
	var words []string
	s.Each(text, func(term []byte, _, _ int, part bool) bool {
		if !part {
			words = append(words, string(term))
		}
		return true
	})
	return words
}
