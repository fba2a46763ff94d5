package search

import (
	"strings"
	"unicode"
)

// This file is a second, naive idea of what a query finds. It shares no code with packages term and query.

// plainLetters is Latin letters with accents, and without.
var plainLetters = strings.NewReplacer("à", "a", "á", "a", "â", "a", "ä", "a", "å", "a", "ç", "c", "è", "e", "é", "e", "ê", "e", "ë", "e",
	"í", "i", "î", "i", "ï", "i", "ñ", "n", "ó", "o", "ô", "o", "ö", "o", "ø", "o", "ú", "u", "ü", "u", "û", "u", "ß", "ss", "ł", "l", "ź", "z", "ё", "е", "й", "и",
	"ή", "η", "ί", "ι", "ς", "σ", "\u0301", "", "\u0308", "")

// naiveFold folds case and accents character by character.
func naiveFold(s string) string {
	var b strings.Builder
	for _, r := range s {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			if unicode.IsLower(f) && !unicode.IsLower(least) {
				least = f
			}
		}
		b.WriteRune(unicode.ToLower(least))
	}
	return plainLetters.Replace(b.String())
}

func naiveCJK(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー'
}

func naiveLetter(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\u0301' || r == '\u0308'
}

// naiveWord is a word of a text.
type naiveWord struct {
	text  string
	parts []string
}

// seenWords and seenFolds spare the scanner its work on texts that it has seen.
var (
	seenWords = map[string][]naiveWord{}
	seenFolds = map[string]string{}
)

func naiveWords(text string) []naiveWord {
	words, ok := seenWords[text]
	if !ok {
		words = naiveCut(text)
		seenWords[text] = words
	}
	return words
}

// naiveCut cuts a text into words, CJK characters and emoji.
func naiveCut(text string) []naiveWord {
	var out []naiveWord
	var word []rune
	end := func() {
		if len(word) > 0 {
			out = append(out, naiveWord{naiveFold(string(word)), naiveParts(word)})
			word = nil
		}
	}
	for _, r := range text {
		switch {
		case naiveCJK(r) || r == '👍' || r == '✓':
			end()
			out = append(out, naiveWord{text: string(r)})
		case naiveLetter(r):
			word = append(word, r)
		default:
			end()
		}
	}
	end()
	return out
}

// naiveParts cuts identifiers at humps and digits; what looks like a random id has no parts.
func naiveParts(word []rune) []string {
	var parts []string
	begin := 0
	for i := 1; i < len(word); i++ {
		a, b := word[i-1], word[i]
		switch {
		case unicode.IsDigit(a) != unicode.IsDigit(b), unicode.IsUpper(b) && !unicode.IsUpper(a):
			parts, begin = append(parts, string(word[begin:i])), i
		case unicode.IsLower(b) && unicode.IsUpper(a) && i-1 > begin && unicode.IsUpper(word[i-2]):
			parts, begin = append(parts, string(word[begin:i-1])), i-1
		}
	}
	if begin == 0 {
		return nil
	}
	parts = append(parts, string(word[begin:]))
	hex := strings.Trim(strings.ToLower(string(word)), "0123456789abcdef") == "" && (string(word) == strings.ToLower(string(word)) || string(word) == strings.ToUpper(string(word)))
	if hex && len(parts) >= 3 && len(word) >= 4 || len(parts) >= 6 && float64(len(string(word))) < 2.5*float64(len(parts)) {
		return nil
	}
	for i := range parts {
		parts[i] = naiveFold(parts[i])
	}
	return parts
}

// naivePhrase says whether the words of want stand in a text: the first one may be the last parts of an identifier, the
// last one the first parts, or longer; a single one any parts.
func naivePhrase(text, want string, open bool) bool {
	have, terms := naiveWords(text), naiveWords(want)
	last := len(terms) - 1
	for i := 0; i+last < len(have); i++ {
		ok := true
		for j := 0; ok && j <= last; j++ {
			ok = naiveSame(have[i+j], terms[j].text, j > 0, j < last, open && j == last)
		}
		if ok {
			return true
		}
	}
	return false
}

// naiveSame says whether a term stands in a word, from its beginning on or up to its end if it must.
func naiveSame(have naiveWord, term string, begin, end, open bool) bool {
	if have.text == term || open && strings.HasPrefix(have.text, term) {
		return true
	}
	n := len(have.parts)
	longest := n
	if n > 8 {
		longest = 4
	}
	for i := range n {
		for j := i + 1; j <= min(i+longest, n); j++ {
			run := strings.Join(have.parts[i:j], "")
			if (run == term || open && strings.HasPrefix(run, term)) && (i == 0 || !begin) && (j == n || !end) {
				return true
			}
		}
	}
	return false
}

func naiveContains(text, part string) bool {
	for _, s := range []string{text, part} {
		if _, ok := seenFolds[s]; !ok {
			seenFolds[s] = naiveFold(s)
		}
	}
	return strings.Contains(seenFolds[text], seenFolds[part])
}
