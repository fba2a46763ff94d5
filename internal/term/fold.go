package term

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// Character classes. The zero class separates words.
const (
	inWord = 1 + iota // a letter, digit or mark of a word
	mark              // ignored: accents, variation selectors, joiners
	alone             // a term of its own
)

// fold is the normalised form of one character.
type fold struct {
	class uint8
	kind  uint8  // lower, upper, digit or other
	to    string // "" means unchanged; several terms of one character are separated by spaces
}

// text returns what the character self folds to.
func (f fold) text(self string) string {
	if f.to == "" {
		return self
	}
	return f.to
}

// pages caches the folds of 256 code points each. A page is filled when it is first needed: program start pays for
// none, and most texts need few (Han and Hangul need none).
var pages [(unicode.MaxRune + 1) >> 8]atomic.Pointer[[256]fold]

// lookup returns the fold of a character.
func lookup(r rune) fold {
	if r >= 0x4e00 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7a3 {
		return fold{class: alone}
	}
	page := pages[r>>8].Load()
	if page == nil {
		page = new([256]fold)
		for i, to := range foldsOf(r >> 8) {
			page[i] = classify(r&^0xff|rune(i), to)
		}
		pages[r>>8].Store(page)
	}
	return page[r&0xff]
}

// foldPage is the entry of foldTable for 256 code points.
type foldPage struct {
	page  rune
	folds string
}

// foldsOf returns what the code points of a page fold to according to foldTable, "" where the table has no entry.
func foldsOf(page rune) (folds [256]string) {
	i, found := slices.BinarySearchFunc(foldTable[:], page, func(p foldPage, page rune) int { return cmp.Compare(p.page, page) })
	if !found {
		return folds
	}
	for entry := range strings.SplitSeq(foldTable[i].folds, ";") {
		to, ranges, _ := strings.Cut(entry, " ")
		for span := range strings.FieldsSeq(ranges) {
			first, last, several := strings.Cut(span, "-")
			if !several {
				last = first
			}
			a, _ := strconv.ParseUint(first, 16, 8)
			b, _ := strconv.ParseUint(last, 16, 8)
			for ; a <= b; a++ {
				folds[a] = to
			}
		}
	}
	return folds
}

// classify computes the fold of a character from the tables of package unicode and from to, its entry in foldTable.
func classify(r rune, to string) fold {
	switch {
	case dropped(r):
		return fold{class: mark}
	case cjk(r):
		return fold{class: alone, to: spaceCJK(to)}
	case emoji(r):
		return fold{class: alone}
	case to != "" && (unicode.Is(unicode.So, r) || enclosed(r)):
		return fold{class: alone, to: spaceCJK(to)}
	case !unicode.In(r, unicode.L, unicode.N, unicode.M):
		return fold{}
	}
	f := fold{class: inWord, kind: other}
	switch {
	case unicode.IsUpper(r) || unicode.IsTitle(r):
		f.kind = upper
	case unicode.IsLower(r):
		f.kind = lower
	case unicode.IsDigit(r):
		f.kind = digit
	}
	if f.to = to; to == "" {
		if small := unicode.ToLower(unicode.ToUpper(r)); small != r {
			f.to = string(small)
		}
	}
	return f
}

// spaceCJK inserts spaces around the CJK characters of a fold, so that each is a term.
func spaceCJK(to string) string {
	var b []byte
	cut := false
	for _, r := range to {
		if len(b) > 0 && (cut || cjk(r)) {
			b = append(b, ' ')
		}
		b = utf8.AppendRune(b, r)
		cut = cjk(r)
	}
	return string(b)
}

// enclosed reports whether r is a number that is not part of an adjacent word: circled, in brackets, with a full
// stop, or a fraction. Superscripts are part of the word.
func enclosed(r rune) bool {
	return unicode.Is(unicode.No, r) && r >= 0x2460
}

// dropped reports whether r belongs to a word but leaves no trace in its term: accents, points and vowel signs that
// people omit when they type, variation selectors, joiners, soft hyphens and direction marks.
func dropped(r rune) bool {
	switch {
	case r == 0xad, r >= 0x200c && r <= 0x200f, r == 0x2060, r == 0xfeff, r == 0xff9e, r == 0xff9f, r >= 0xe0020 && r <= 0xe007f:
		return true
	}
	return stripped(r)
}

// stripped reports whether r is an accent or sign that folding removes. The generator of foldTable has the same rule.
func stripped(r rune) bool {
	switch {
	case r == 0x640, r == 0x670, r == 0x3099, r == 0x309a:
		return true
	case !unicode.Is(unicode.M, r):
		return false
	}
	return r <= 0x36f || r >= 0x483 && r <= 0x489 || r >= 0x591 && r <= 0x5c7 || r >= 0x610 && r <= 0x61a ||
		r >= 0x64b && r <= 0x65f || r >= 0x6d6 && r <= 0x6ed || r >= 0x8ca && r <= 0x8ff || r >= 0x1ab0 && r <= 0x1aff ||
		r >= 0x1dc0 && r <= 0x1dff || r >= 0x20d0 && r <= 0x20ff || r >= 0x302a && r <= 0x302f ||
		r >= 0xfe00 && r <= 0xfe2f || r >= 0xe0100 && r <= 0xe01ef
}
