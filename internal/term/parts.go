package term

import "unicode/utf8"

// parts appends the boundaries of the parts of w, both ends included, when it has at least two: between a
// lower and an upper case letter, before the last of several capitals that a lower case letter follows, and
// between letters and digits. Marks belong to the letter before them.
func parts(cuts []int, text string, w word) []int {
	cuts = append(cuts, w.start)
	var before, last uint8 // kinds of the two characters before
	var at int             // where the last character begins
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

// MaxParts is up to how many parts an identifier may have for all runs of them to be terms.
const MaxParts = 8

// Which runs of parts.
const (
	anyRun   = iota
	leading  // those that the word begins with
	trailing // all others
	noRun
)

// runsOf says which runs stand in the place of the k-th of n terms of a word.
func runsOf(k, n int) int {
	switch {
	case n == 1:
		return anyRun
	case k == 1:
		return leading
	case k == n:
		return trailing
	}
	return noRun
}

// eachRun calls do for the bytes of each run of neighbouring parts of w but all of it, until do returns false. Runs that
// are too long for a term are left out.
func (s *Splitter) eachRun(text string, w word, which int, do func(start, end int) bool) bool {
	if which == noRun {
		return true
	}
	s.cuts = parts(s.cuts[:0], text, w)
	n := len(s.cuts) - 1
	longest := n - 1
	if n > MaxParts {
		longest = MaxParts / 2
	}
	for i := range max(n, 0) {
		if which == leading && i > 0 || which == trailing && i == 0 {
			continue
		}
		for j := i + 1; j <= min(n, i+longest) && s.cuts[j]-s.cuts[i] <= MaxTerm; j++ {
			if !do(s.cuts[i], s.cuts[j]) {
				return false
			}
		}
	}
	return true
}

// appendParts appends parts of w to the terms of dst, of which those in the same place begin at from; each part once.
func (s *Splitter) appendParts(dst []byte, from int, text string, w word, which int) []byte {
	s.eachRun(text, w, which, func(start, end int) bool {
		at := len(dst) + 1
		dst = appendFold(append(dst, Same), text[start:end])
		if len(dst) == at || among(dst[from:at-1], dst[at:]) {
			dst = dst[:at-1]
		}
		return true
	})
	return dst
}

// among reports whether a term is one of terms.
func among(terms, term []byte) bool {
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

// eachPart is Each for the parts of one word.
func (s *Splitter) eachPart(text string, w word, which int, yield func([]byte, int, int, bool) bool) bool {
	return s.eachRun(text, w, which, func(start, end int) bool {
		s.term = appendFold(s.term[:0], text[start:end])
		return len(s.term) == 0 || yield(s.term, start, end, true)
	})
}

// random reports whether a word of n parts is likely a digest or an id, whose parts nobody asks for: they would
// make a good share of the index.
func random(word string, n int) bool {
	if n >= 6 && 2*len(word) < 5*n {
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

// chunks appends the boundaries at which a word longer than MaxTerm is cut, both ends included.
func chunks(cuts []int, text string, w word) []int {
	cuts = append(cuts, w.start)
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
