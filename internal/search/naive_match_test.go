package search

import (
	"regexp"
	"strings"
)

// phrase says whether words stand in a text one after the other: the first one may be the last parts of an identifier,
// the last one the first parts, or longer; a single one any parts.
func (t *naiveText) phrase(want []naiveWord, open bool) truth {
	best := no
	last := len(want) - 1
	for i := 0; i+last < len(t.words) && best != yes; i++ {
		here := yes
		for j := 0; here != no && j <= last; j++ {
			here = min(here, t.words[i+j].is(want[j].text, j > 0, j < last, open && j == last))
		}
		best = max(best, here)
	}
	return best
}

// naiveTerm is from which length on words are cut, and parts of identifiers are not found.
const naiveTerm = 64

// is says whether a term stands in a word, from its beginning on or up to its end if it must.
func (w *naiveWord) is(term string, begin, end, open bool) truth {
	if w.line != nil {
		return max(w.whole(term, begin, end, open), w.line.whole(term, begin, end, open))
	}
	return w.whole(term, begin, end, open)
}

func (w *naiveWord) whole(term string, begin, end, open bool) truth {
	found := yes
	if w.blob {
		found = maybe
	}
	if w.text == term || open && strings.HasPrefix(w.text, term) {
		return found
	}
	if len(w.text) > naiveTerm && strings.Contains(w.text, term) {
		return maybe // it may be one of the pieces
	}
	if len(term) > naiveTerm && strings.HasPrefix(w.text, term[:naiveTerm]) {
		return maybe // one of both may be cut short
	}
	if w.vague {
		found = maybe
	}
	best := no
	n := len(w.parts)
	for i := range n {
		for j := i + 1; j <= n; j++ {
			if w.units && (j > i+1 || i > 0 && j < n || !naiveNum.MatchString(w.parts[i])) {
				continue
			}
			run := strings.Join(w.parts[i:j], "")
			if run != term && !(open && strings.HasPrefix(run, term)) || i > 0 && begin || j < n && end {
				continue
			}
			if len(run) > naiveTerm || n > 8 && j-i > 4 || j-i > 1 && len(run) > naiveTerm/2 {
				best = max(best, maybe)
				continue
			}
			best = max(best, found)
		}
	}
	return best
}

// contains says whether a part stands anywhere in a text.
func (t *naiveText) contains(folded string) truth {
	switch {
	case strings.Contains(folded, "\x1b"): // nobody can type it
		return maybe
	case folded == "" || !strings.Contains(t.folded, folded):
		return no
	case t.colorless != t.raw && !strings.Contains(naiveFold(t.colorless), folded): // a part of a color is found with its bracket
		return maybe
	case t.blobs && !strings.Contains(t.plain, folded):
		return maybe
	}
	return yes
}

func (t *naiveText) matches(re *regexp.Regexp) truth {
	switch {
	case !re.MatchString(t.raw):
		return no
	case t.blobs, !re.MatchString(t.colorless):
		return maybe
	}
	return yes
}
