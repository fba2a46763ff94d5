package term

import "unicode/utf8"

// Character kinds within a word, as bits. A byte of kind 0 is a separator.
const (
	lower = 1 << iota
	upper
	digit
	other                 // a letter without case, a mark, a number that is not a digit
	wide  = utf8.RuneSelf // not ASCII: the rune must be decoded
)

// kinds is the kind of every byte.
var kinds = func() (k [256]uint8) {
	for c := range k {
		switch {
		case c >= 'a' && c <= 'z':
			k[c] = lower
		case c >= 'A' && c <= 'Z':
			k[c] = upper
		case c >= '0' && c <= '9':
			k[c] = digit
		case c >= utf8.RuneSelf:
			k[c] = wide
		}
	}
	return k
}()

// word is a word of the text, as next returns it.
type word struct {
	start, end int // its bytes in the text
	next       int // offset at which to continue; 0 if there was no word
	kinds      uint8
	caps       int  // upper case letters
	ascii      bool // nothing but ASCII
	single     bool // CJK character or emoji; if it gives several terms, spaces separate them
}

// mixed reports whether the word can have parts: it has letters and digits, or capitals after its start.
func (w word) mixed() bool {
	switch k := w.kinds; {
	case w.single:
		return false
	case k&digit != 0:
		return k&(lower|upper|other) != 0
	case k&upper == 0 || k&(lower|other) == 0:
		return false
	default:
		return w.caps > 1 || w.kinds&capital == 0
	}
}

// capital is set in word.kinds when the first character is upper case.
const capital = 1 << 6

// next finds the first word that begins at or after offset i of text and appends its folded form to out.
func (s *Splitter) next(out []byte, text string, i int) (word, []byte) {
	for i < len(text) {
		c := text[i]
		k := kinds[c]
		if c == escape {
			i = skipEscape(text, i)
			continue
		}
		if k == 0 {
			i++
			continue
		}
		if s.cut != 0 && i >= s.cut {
			s.skipped += int64(s.resume - s.cut)
			i, s.cut = s.resume, 0
			continue
		}
		if k != wide {
			if i >= s.clear && s.cut == 0 {
				s.detectBlob(text, i)
			}
			return s.plain(out, text, i)
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		switch f := lookup(r); f.class {
		case inWord:
			return s.wide(out, text, word{start: i}, i)
		case alone:
			return s.alone(out, text, i, r, n, f)
		}
		i += n
	}
	return word{}, out
}

// plain appends the word at i, which begins with ASCII.
func (s *Splitter) plain(out []byte, text string, i int) (word, []byte) {
	w := word{start: i}
	stop := len(text)
	if s.cut != 0 {
		stop = s.cut
	}
	var seen uint8
	for i < stop {
		k := kinds[text[i]]
		if k == 0 || k == wide {
			break
		}
		seen |= k
		w.caps += int(k >> 1 & 1)
		i++
	}
	w.kinds, w.end, w.next = seen, i, i
	if i-w.start >= maxRun && !spelled(text[w.start:i]) { // a blob: only its beginning is indexed
		s.skipped += int64(i - w.start - MaxTerm)
		w.end = w.start + MaxTerm
	}
	at := len(out)
	out = append(out, text[w.start:w.end]...)
	if seen&upper != 0 {
		for j, c := range out[at:] {
			out[at+j] = c + (kinds[c]&upper)<<4
		}
		w.kinds |= (kinds[text[w.start]] & upper) << 5
	}
	if i < stop && text[i] >= utf8.RuneSelf && w.end == i {
		return s.wide(out, text, w, i)
	}
	w.ascii = true
	return w, out
}

// wide appends the rest of the word w from i on, rune by rune.
func (s *Splitter) wide(out []byte, text string, w word, i int) (word, []byte) {
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		f := lookup(r)
		if f.class == inWord {
			out = append(out, f.text(text[i:i+n])...)
			if f.kind == upper {
				w.caps++
				if w.kinds == 0 {
					w.kinds = capital
				}
			}
			w.kinds |= f.kind
		} else if f.class != mark {
			break
		}
		i += n
	}
	w.end, w.next = i, i
	return w, out
}

// alone appends the term or terms of the character r at i: an emoji, or a CJK character, composed with what follows
// if it is in decomposed form.
func (s *Splitter) alone(out []byte, text string, i int, r rune, n int, f fold) (word, []byte) {
	w := word{start: i, single: true}
	i += n
	if c, m := compose(r, f, text[i:]); m > 0 {
		out = utf8.AppendRune(out, c)
		i += m
	} else {
		out = append(out, f.text(text[w.start:i])...)
	}
	for i < len(text) && text[i] >= utf8.RuneSelf { // following selectors and marks belong to it
		r, n := utf8.DecodeRuneInString(text[i:])
		if lookup(r).class != mark {
			break
		}
		i += n
	}
	w.end, w.next = i, i
	return w, out
}

// appendFold appends the folded form of a piece of a word, at most MaxTerm bytes of it.
func appendFold(out []byte, piece string) []byte {
	at := len(out)
	for i := 0; i < len(piece); {
		r, n := utf8.DecodeRuneInString(piece[i:])
		if f := lookup(r); f.class == inWord {
			add := f.text(piece[i : i+n])
			if len(out)-at+len(add) > MaxTerm {
				break
			}
			out = append(out, add...)
		}
		i += n
	}
	return out
}
