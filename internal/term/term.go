// Package term turns text into the terms that are indexed, searched, highlighted and cut into snippets. There
// is one tokeniser for all four, so that a query asks for exactly what was indexed. It does no I/O.
//
// A text gives its words in order: consecutive words of the text are consecutive terms, and a phrase is a sequence
// of terms:
//
//   - a word is a run of letters, digits and their marks; everything else (punctuation, `_`, spaces, control
//     characters, invalid UTF-8, U+FFFD, arrows, box drawing) is a separator: `src/health.py` is src health py,
//     `don't` is don t, `50%` is 50, `v1.2.3` is v1 2 3, `TypeError:` is typeerror;
//   - every Chinese, Japanese or Korean character is a term of its own, and so is every emoji code point
//     (skin tones included; joiners and variation selectors are dropped) and every ligature sign such as U+338F (kg);
//   - case is folded in all scripts; compatibility forms (full width, ligatures, mathematical letters) as NFKC does;
//     accents of Latin, Greek and Cyrillic letters are dropped, and so are strokes and ligatures (ø ł đ æ ß), Hebrew
//     points and Arabic vowel signs; vowel signs of other scripts stay. Japanese dakuten stay on their kana (and are
//     composed with them if written separately), and Hangul jamo are composed into syllables;
//   - terminal color sequences (ESC [ 31 m) are not words, and the words before and after one are consecutive;
//   - a word that begins with n, r or t and follows a backslash is also indexed without that letter, in the same
//     position, unless it is too long for one term: most tool results are JSON or source code, where the first word
//     of a line follows a \n;
//   - a word longer than MaxTerm bytes gives several consecutive terms.
//
// An identifier is indexed as a whole and, in the same position, by each of its parts and each run of neighbouring
// parts. A prefix byte tells where in the identifier a run stands (Kind): HTTPServerName is httpservername, <http,
// <httpserver, =server, >servername and >name. So Server and HTTPServer are found in it, and "name string" is found in
// HTTPServerName string, but "server string" is not: see Sequences. Parts begin at capitals, and between letters and
// digits; of identifiers with more than maxParts parts, only runs of up to maxParts/2 parts are indexed. Words that
// look like random ids (hex digests, base62) and hexadecimal numbers have no parts, and of a number with its unit
// (12ms) or a time (20T23) only the figures at its ends are parts.
//
// Blobs are cut short: of an unbroken run of 256 or more ASCII letters and digits that does not look like capitalised
// words, or of base64 of that length, only the first MaxTerm bytes are indexed.
//
// Terms consist of bytes that FTS5's ascii tokenizer leaves unchanged: ASCII lower case letters and digits, and
// UTF-8 above ASCII. Folding is idempotent: the terms of a text, joined by spaces, give the same terms again.
package term

import "bytes"

// MaxTerm is the length in bytes at which a term is cut, on a rune boundary.
const MaxTerm = 64

// Splitter splits text into terms. It reuses its buffers; the zero Splitter is ready to use. It is not safe for
// concurrent use.
type Splitter struct {
	term    []byte
	cuts    []int
	runs    runs
	terms   Terms // used by Split
	skipped int64 // bytes of blobs that were left out

	text   string // the text whose terms Next returns
	at     int    // offset at which Next continues
	escape int    // offset of the next escape in text; -1 before the first search

	clear  int // no blob can begin before this offset
	cut    int // where the terms of the current blob end; 0 outside of a blob
	resume int // where the current blob ends
}

func (s *Splitter) reset() {
	s.skipped, s.clear, s.cut, s.resume = 0, 0, 0, 0
}

// Same separates a term from the previous one if both have the same position in the text. A space advances to the
// next position.
const Same = '\x01'

// Split appends the terms of text to dst and returns it: the words in order, each followed by its parts, separated by
// spaces and Same.
func (s *Splitter) Split(dst []byte, text string) []byte {
	for s.Begin(text); s.Next(&s.terms); {
		for i := range s.terms.All {
			one := &s.terms.All[i]
			if one.Same() != 0 {
				dst = append(dst, Same)
			} else {
				dst = space(dst)
			}
			dst = append(dst, s.terms.Of(one)...)
		}
	}
	return dst
}

// Begin sets the text whose terms Next returns.
func (s *Splitter) Begin(text string) {
	s.reset()
	s.text, s.at, s.escape = text, 0, -1
}

// Next sets t to the next terms of the text, some tens of them. It returns false when there are none.
func (s *Splitter) Next(t *Terms) bool {
	t.Text, t.All = t.Text[:0], t.All[:0]
	text, i := s.text, s.at
	for len(t.All) < batchTerms {
		if i = s.quick(t, text, i); len(t.All) >= batchTerms {
			break
		}
		at := len(t.Text)
		dst := space(t.Text)
		from := len(dst)
		var w word
		w, dst = s.next(dst, text, i)
		if w.next == 0 {
			i, t.Text, s.text = 0, dst[:at], "" // the end: do not retain the text
			break
		}
		size := len(dst) - from
		switch {
		case size > MaxTerm && !w.single:
			dst = s.chunk(dst[:from], text, w)
		case w.ascii && w.mixed():
			dst = s.appendPlainParts(dst, from, text, w)
		case w.mixed():
			dst = s.appendParts(dst, from, text, w, 1, 1)
		}
		if size <= MaxTerm && w.escaped(text) {
			dst = s.appendUnescaped(dst, from, text, w)
		}
		t.Text = dst
		t.addFrom(from)
		i = w.next
	}
	s.at = i
	return len(t.All) > 0
}

// Each yields the terms of text with the range of bytes they stand for, each word before its parts, until yield
// returns false. The terms have no prefix byte; kind says what they are. All kinds but Whole have the position of the
// word before them. The term is valid only during the call.
func (s *Splitter) Each(text string, yield func(term []byte, start, end int, kind Kind) bool) {
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
				if !yield(one, w.start, w.end, Whole) {
					return
				}
			}
		case len(s.term) > MaxTerm:
			if !s.pieces(text, w, yield) {
				return
			}
		case !yield(s.term, w.start, w.end, Whole) || w.mixed() && !s.eachPart(text, w, 1, 1, yield):
			return
		case w.escaped(text) && !s.eachUnescaped(text, w, yield):
			return
		}
		i = w.next
	}
}

// pieces yields the terms of a word that is too long for one, as chunk appends them.
func (s *Splitter) pieces(text string, w word, yield func([]byte, int, int, Kind) bool) bool {
	cuts := chunks(text, w)
	for k := 1; k < len(cuts); k++ {
		a, b := cuts[k-1], cuts[k]
		s.term = appendFold(s.term[:0], text[a:b])
		if !yield(s.term, a, b, Whole) || w.mixed() && (k == 1 || k == len(cuts)-1) && !s.eachPart(text, w, k, len(cuts)-1, yield) {
			return false
		}
	}
	return true
}

// chunk appends a word that is too long for one term as several. Leading parts have the position of the first of
// them, all other parts that of the last.
func (s *Splitter) chunk(t []byte, text string, w word) []byte {
	cuts := chunks(text, w)
	for k := 1; k < len(cuts); k++ {
		t = space(t)
		from := len(t)
		t = appendFold(t, text[cuts[k-1]:cuts[k]])
		if w.mixed() && (k == 1 || k == len(cuts)-1) {
			t = s.appendParts(t, from, text, w, k, len(cuts)-1)
		}
	}
	return t
}

// space appends the separator before the next term, unless b is empty or ends with one.
func space(b []byte) []byte {
	if len(b) == 0 || b[len(b)-1] == ' ' {
		return b
	}
	return append(b, ' ')
}

// Words returns the terms of a query text, in order. Several terms must match as a phrase: `src/health.py` gives src,
// health and py. A text without a letter, digit, CJK character or emoji gives nil.
func Words(text string) []string {
	var s Splitter
	var words []string
	s.Each(text, func(term []byte, _, _ int, kind Kind) bool {
		if kind == Whole {
			words = append(words, string(term))
		}
		return true
	})
	return words
}
