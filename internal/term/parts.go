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
