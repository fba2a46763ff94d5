package term

import (
	"strings"
	"unicode/utf8"
)

// maxSpans bounds how many spans Window considers; the best place among the first ones is good enough.
const maxSpans = 2000

// slack is how many bytes Window gives up at either end to cut between words.
const slack = 24

// Window returns the range of text, at most about width bytes long, that shows most of spans: first as many different
// texts as possible, then as many spans as possible, then the earliest. It cuts between words if a boundary is near,
// else between characters, and never inside a span unless that span alone is longer than width. Spans must be
// ascending, as those of Highlight are.
func Window(text string, spans []Span, width int) (start, end int) {
	if len(text) <= width {
		return 0, len(text)
	}
	first, last := best(text, spans[:min(len(spans), maxSpans)], width)
	lead := (width - (last - first)) / 2
	start = max(0, first-max(lead, 0))
	end = min(len(text), start+width)
	start = max(0, min(start, end-width))
	if first == last { // no span: only the end must be cut well
		first, last = start, start
	}
	start = cutAfter(text, start, min(first, start+slack))
	end = cutBefore(text, end, max(last, end-slack))
	return start, max(start, end)
}

// best returns the range of the spans that are best shown together in width bytes; it is empty if there are none.
func best(text string, spans []Span, width int) (first, last int) {
	keys := make([]string, len(spans))
	for i, s := range spans {
		keys[i] = strings.ToLower(text[s.Start:s.End])
	}
	count := map[string]int{}
	distinct, score := 0, -1
	for i, j := 0, 0; j < len(spans); j++ {
		if count[keys[j]]++; count[keys[j]] == 1 {
			distinct++
		}
		for ; i < j && spans[j].End-spans[i].Start > width; i++ {
			if count[keys[i]]--; count[keys[i]] == 0 {
				distinct--
			}
		}
		if s := distinct*(maxSpans+1) + j - i; s > score {
			score, first, last = s, spans[i].Start, spans[j].End
		}
	}
	return first, last
}

// cutAfter returns the first offset from at to limit where a word begins, or else where the next character begins.
func cutAfter(text string, at, limit int) int {
	if at == 0 {
		return 0
	}
	for i := at; i <= limit && i < len(text); i++ {
		if kinds[text[i-1]] == 0 {
			return i
		}
	}
	for at < limit && at < len(text) && !startsChar(text, at) {
		at++
	}
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// cutBefore returns the last offset from at down to limit where a word ends, or else where the last character ends.
func cutBefore(text string, at, limit int) int {
	if at >= len(text) {
		return len(text)
	}
	for i := at; i >= limit && i > 0; i-- {
		if kinds[text[i]] == 0 {
			return i
		}
	}
	for at > limit && !startsChar(text, at) {
		at--
	}
	for at < len(text) && !utf8.RuneStart(text[at]) {
		at++
	}
	return at
}

// startsChar reports whether a character other than a mark begins at i.
func startsChar(text string, i int) bool {
	if !utf8.RuneStart(text[i]) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return lookup(r).class != mark
}
