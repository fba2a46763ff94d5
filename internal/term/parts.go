package term

import (
	"slices"
	"unicode/utf8"
)

// Kind says whether a term is a word or where in its word a part stands. Except for words, it is the prefix byte of
// the term as Split writes it.
type Kind byte

// The kinds. The pieces of a word that exceeds MaxTerm are Whole.
const (
	Whole     Kind = 0
	Unescaped Kind = 1   // the word again, without the letter of an escape such as \n
	Leading   Kind = '<' // a run of parts at the beginning of a word
	Trailing  Kind = '>' // a run of parts at its end
	Inner     Kind = '='
)

// Sequences returns the term sequences that match words, as Words returns them; each is a list of terms, with their
// prefix bytes, in consecutive positions. The first word may also be the last parts of an identifier, and the last
// word the first parts of one; a single word may be any parts. open means that the last word is a prefix.
func Sequences(words []string, open bool) [][]string {
	if len(words) == 0 {
		return nil
	}
	last := len(words) - 1
	first, end := []Kind{Whole, Trailing}, []Kind{Whole, Leading}
	if open {
		end = end[:1] // what begins with the first parts of a word begins with the word
	}
	if last == 0 {
		end = append(end[:len(end):len(end)], Trailing, Inner)
	}
	out := [][]string{words}
	vary := func(at int, kinds []Kind) {
		if r, _ := utf8.DecodeRuneInString(words[at]); lookup(r).class == alone {
			return
		}
		for _, terms := range out {
			for _, k := range kinds[1:] {
				terms = slices.Clone(terms)
				terms[at] = string(k) + words[at]
				out = append(out, terms)
			}
		}
	}
	if last > 0 {
		vary(0, first)
	}
	vary(last, end)
	return out
}

// parts appends the boundaries of the parts of w, both ends included, if it has at least two. Boundaries are between
// a lower and an upper case letter, before the last of several capitals that a lower case letter follows, and between
// letters and digits. Marks belong to the letter before them.
func parts(cuts []int, text string, w word) []int {
	cuts = append(cuts, w.start)
	var before, last uint8 // kinds of the two preceding characters
	var at int             // offset of the preceding character
	for i := w.start; i < w.end; {
		r, n := utf8.DecodeRuneInString(text[i:w.end])
		f := lookup(r)
		if f.class == mark {
			i += n
			continue
		}
		switch k := f.kind; {
		case last == 0:
		case (k == digit) != (last == digit), k == upper && last != upper:
			cuts = append(cuts, i)
		case before == upper && last == upper && k == lower && cuts[len(cuts)-1] != at:
			cuts = append(cuts, at)
		}
		before, last, at = last, f.kind, i
		i += n
	}
	if len(cuts) == 1 || random(text[w.start:w.end], len(cuts)) {
		return cuts[:0]
	}
	return append(cuts, w.end)
}

// maxParts is the number of parts of an identifier up to which all runs of neighbouring parts are terms.
const maxParts = 8

// eachRun calls do with the bytes of each proper run of neighbouring parts of w, until do returns false, and reports
// whether it never did. Runs that are too long for a term are left out.
func (s *Splitter) eachRun(text string, w word, do func(start, end int, kind Kind) bool) bool {
	if w.ascii {
		s.cuts = plainParts(s.cuts[:0], text[w.start:w.end])
		for i := range s.cuts {
			s.cuts[i] += w.start
		}
	} else {
		s.cuts = parts(s.cuts[:0], text, w)
	}
	n := len(s.cuts) - 1
	longest := n - 1
	if n > maxParts {
		longest = maxParts / 2
		s.runs.reset()
	}
	amount := n > 0 && amount(text[w.start:w.end])
	for i := range max(n, 0) {
		for j := i + 1; j <= min(n, i+longest) && s.cuts[j]-s.cuts[i] <= MaxTerm; j++ {
			kind := kindOf(i, j, n)
			if amount && !figures(text[s.cuts[i]:], i, j, kind) {
				continue
			}
			if !do(s.cuts[i], s.cuts[j], kind) {
				return false
			}
		}
	}
	return true
}

// kindOf returns the kind of the run of parts [i, j) of n.
func kindOf(i, j, n int) Kind {
	switch {
	case i == 0:
		return Leading
	case j == n:
		return Trailing
	}
	return Inner
}

// amount reports whether a word that has parts is not an identifier but a number with its unit, or a time: it begins
// with a digit, and no three of its letters are adjacent. Nobody searches for ms, T or x4 by itself, so only the
// figures at the ends of such a word are parts: 12ms is found by 12, and 2026-11-20T23:51 by 2026-11-20 and by 23:51.
// The other parts were 3 to 5 % of a full-text index.
func amount(word string) bool {
	letters := 0
	for i, r := range word {
		f := lookup(r)
		switch {
		case f.kind == digit:
			letters = 0
		case i == 0:
			return false
		case f.class != mark:
			letters++
		}
		if letters == 3 {
			return false
		}
	}
	return true
}

// figures reports whether the run of parts [i, j), with which text begins, is one of the figures at an end of an
// amount.
func figures(parts string, i, j int, kind Kind) bool {
	r, _ := utf8.DecodeRuneInString(parts)
	return j == i+1 && kind != Inner && lookup(r).kind == digit
}

// indexedAt reports whether parts of this kind are indexed in the position of the k-th of the n terms of a word: leading
// parts in that of the first, all others in that of the last.
func (kind Kind) indexedAt(k, n int) bool {
	return kind == Leading && k == 1 || kind != Leading && k == n
}

// appendParts appends the parts of w that are indexed with the k-th of its n terms, which begins at dst[from]; each
// once.
func (s *Splitter) appendParts(dst []byte, from int, text string, w word, k, n int) []byte {
	s.eachRun(text, w, func(start, end int, kind Kind) bool {
		if !kind.indexedAt(k, n) {
			return true
		}
		at := len(dst) + 1
		dst = appendFold(append(dst, Same, byte(kind)), text[start:end])
		if len(dst) == at+1 || s.duplicate(dst, from, at) {
			dst = dst[:at-1]
		}
		return true
	})
	return dst
}

// appendPlainParts is appendParts for a word of ASCII that is a single term. The folded parts are substrings of that
// term, which dst contains already, and only inner parts can be duplicates.
func (s *Splitter) appendPlainParts(dst []byte, from int, text string, w word) []byte {
	word := text[w.start:w.end]
	s.cuts = plainParts(s.cuts[:0], word)
	return s.appendRuns(dst, from, word)
}

// appendRuns is appendPlainParts with the boundaries of the parts already in s.cuts.
func (s *Splitter) appendRuns(dst []byte, from int, word string) []byte {
	n := len(s.cuts) - 1
	longest := n - 1
	if n > maxParts {
		longest = maxParts / 2
		s.runs.reset()
	}
	inner := len(dst)
	amount := n > 0 && amount(word)
	for i := range max(n, 0) {
		for j := i + 1; j <= min(n, i+longest); j++ {
			kind := kindOf(i, j, n)
			if amount && !figures(word[s.cuts[i]:], i, j, kind) {
				continue
			}
			at := len(dst) + 1
			dst = append(dst, Same, byte(kind))
			dst = append(dst, dst[from+s.cuts[i]:from+s.cuts[j]]...)
			if kind == Inner && s.duplicate(dst, min(inner, at-1), at) {
				dst = dst[:at-1]
			}
		}
		if i == 0 {
			inner = len(dst) + 1
		}
	}
	return dst
}

// plainParts is parts for a word of ASCII; the boundaries are relative to its start.
func plainParts(cuts []int, word string) []int {
	cuts = append(cuts, 0)
	before, last := uint8(0), kinds[word[0]]
	for i := 1; i < len(word); i++ {
		k := kinds[word[i]]
		if k != last {
			switch {
			case k == digit, last == digit, k == upper:
				cuts = append(cuts, i)
			case before == upper && last == upper && cuts[len(cuts)-1] != i-1:
				cuts = append(cuts, i-1)
			}
		}
		before, last = last, k
	}
	if len(cuts) == 1 || random(word, len(cuts)) {
		return cuts[:0]
	}
	return append(cuts, len(word))
}

// duplicate reports whether the run of parts at the end of dst, from at on, equals an earlier one at or after from.
func (s *Splitter) duplicate(dst []byte, from, at int) bool {
	if len(s.cuts)-1 > maxParts {
		return s.runs.add(dst, at)
	}
	return contains(dst[from:at-1], dst[at:])
}

// contains reports whether terms, a separated list, contains term.
func contains(terms, term []byte) bool {
	for len(terms) >= len(term) {
		n := 0
		for n < len(terms) && terms[n] > ' ' {
			n++
		}
		if n == len(term) && string(terms[:n]) == string(term) {
			return true
		}
		terms = terms[min(n+1, len(terms)):]
	}
	return false
}

// eachPart is Each for the parts of one word; see appendParts for k and n.
func (s *Splitter) eachPart(text string, w word, k, n int, yield func([]byte, int, int, Kind) bool) bool {
	if w.ascii && n == 1 { // folded parts are substrings of the folded word
		return s.eachRun(text, w, func(start, end int, kind Kind) bool {
			return yield(s.term[start-w.start:end-w.start], start, end, kind)
		})
	}
	return s.eachRun(text, w, func(start, end int, kind Kind) bool {
		if !kind.indexedAt(k, n) {
			return true
		}
		s.term = appendFold(s.term[:0], text[start:end])
		return len(s.term) == 0 || yield(s.term, start, end, kind)
	})
}

// random reports whether a word of n parts is probably a digest, a random id or a hexadecimal number. Nobody searches
// for parts of these, and they would be a good share of the index.
func random(word string, n int) bool {
	if n >= 6 && 2*len(word) < 5*n || word[0] == '0' && word[1]|0x20 == 'x' {
		return true
	}
	if n < 3 || len(word) < 4 {
		return false
	}
	var seen uint8
	for i := 0; i < len(word); i++ {
		c := word[i]
		if k := kinds[c]; k == 0 || k == wide || c|0x20 > 'f' {
			return false
		}
		seen |= kinds[c]
	}
	return seen&(lower|upper) != lower|upper
}

// chunks returns the boundaries at which a word longer than MaxTerm is cut, both ends included.
func chunks(text string, w word) []int {
	cuts := []int{w.start}
	size := 0
	for i := w.start; i < w.end; {
		r, n := utf8.DecodeRuneInString(text[i:w.end])
		if f := lookup(r); f.class == inWord {
			add := len(f.text(text[i : i+n]))
			if size+add > MaxTerm {
				cuts, size = append(cuts, i), 0
			}
			size += add
		}
		i += n
	}
	return append(cuts, w.end)
}
