package term

import (
	"bytes"
	"unicode/utf8"
)

// Fold appends text to dst with every character folded as in terms and all separators kept. Substring search compares
// text in this form.
func Fold(dst []byte, text string) []byte {
	for i := 0; i < len(text); {
		i, dst = foldOne(dst, text, i)
	}
	return dst
}

// foldOne appends the folded character at i and returns the offset of the next one.
func foldOne(dst []byte, text string, i int) (int, []byte) {
	if c := text[i]; c < utf8.RuneSelf {
		return i + 1, append(dst, c+(kinds[c]&upper)<<4)
	}
	r, n := utf8.DecodeRuneInString(text[i:])
	f := lookup(r)
	self := text[i : i+n]
	i += n
	switch f.class {
	case mark:
		return i, dst
	case alone:
		if c, m := compose(r, f, text[i:]); m > 0 {
			return i + m, utf8.AppendRune(dst, c)
		}
		for _, c := range []byte(f.to) {
			if c != ' ' {
				dst = append(dst, c)
			}
		}
		if f.to != "" {
			return i, dst
		}
	case inWord:
		self = f.text(self)
	}
	return i, append(dst, self...)
}

// Substrings returns where part occurs in text, comparing both folded, also inside words. The ranges are ascending,
// do not overlap and consist of whole characters. There are at most limit of them (0 means no limit). A part that
// folds to nothing occurs nowhere.
func Substrings(text, part string, limit int) []Span {
	want := Fold(nil, part)
	if len(want) == 0 {
		return nil
	}
	folded := Fold(make([]byte, 0, len(text)), text)
	var spans []Span
	var one []byte
	at, i := 0, 0 // corresponding offsets in folded and in text
	for from := 0; limit == 0 || len(spans) < limit; {
		k := bytes.Index(folded[from:], want)
		if k < 0 {
			break
		}
		first, last := from+k, from+k+len(want)
		started := at < last // false if it lies within the last character of the previous match, which folds to several
		span := Span{Start: i}
		for at < last {
			next, grown := foldOne(one[:0], text, i)
			if one = grown; at+len(one) <= first {
				span.Start = next
			}
			at, i = at+len(one), next
		}
		if span.End = skipMarks(text, i); started {
			spans = append(spans, span)
		}
		from = last
	}
	return spans
}

// skipMarks returns the end of the marks at i, which belong to the preceding character.
func skipMarks(text string, i int) int {
	for i < len(text) && text[i] >= utf8.RuneSelf {
		r, n := utf8.DecodeRuneInString(text[i:])
		if lookup(r).class != mark {
			break
		}
		i += n
	}
	return i
}
