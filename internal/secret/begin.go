package secret

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// beginsWith reports whether whatever matches a pattern begins with one of the keywords, in letters of any case. bounded says that this is at
// a word boundary.
func beginsWith(pattern string, keywords []string) (bounded, ok bool) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return false, false
	}
	if bounded = re.Op == syntax.OpConcat && re.Sub[0].Op == syntax.OpWordBoundary; bounded {
		re.Sub = re.Sub[1:]
	}
	texts, _ := beginnings(re)
	return bounded, !slices.ContainsFunc(texts, func(text string) bool {
		return !slices.ContainsFunc(keywords, func(k string) bool { return strings.HasPrefix(text, k) && (isWord(k[0]) || !bounded) })
	})
}

// mostBeginnings is how many beginnings of an expression are told apart.
const mostBeginnings = 64

// beginnings returns texts, in lower case, with one of which begins whatever matches an expression. whole says that nothing follows it.
func beginnings(re *syntax.Regexp) (texts []string, whole bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return []string{strings.ToLower(string(re.Rune))}, true
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for c := re.Rune[i]; c <= re.Rune[i+1]; c++ {
				if texts = append(texts, strings.ToLower(string(c))); len(texts) > mostBeginnings {
					return []string{""}, false
				}
			}
		}
		return texts, true
	case syntax.OpCapture:
		return beginnings(re.Sub[0])
	case syntax.OpQuest:
		texts, whole = beginnings(re.Sub[0])
		return append(texts, ""), whole
	case syntax.OpAlternate:
		whole = true
		for _, sub := range re.Sub {
			more, all := beginnings(sub)
			texts, whole = append(texts, more...), whole && all
		}
		return texts, whole
	case syntax.OpConcat:
		texts, whole = []string{""}, true
		for _, sub := range re.Sub {
			more, all := beginnings(sub)
			if len(texts)*len(more) > mostBeginnings {
				return texts, false
			}
			var longer []string
			for _, t := range texts {
				for _, m := range more {
					longer = append(longer, t+m)
				}
			}
			if texts = longer; !all {
				return texts, false
			}
		}
		return texts, whole
	}
	return []string{""}, false
}
