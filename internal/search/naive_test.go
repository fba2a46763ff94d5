package search

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// This file is a second, naive idea of what texts match, made after docs/query-language.md and the comment of package
// term. It shares no code with packages term and query.

// truth is what the naive scan knows. Where our documents leave it open (what stands in base64, parts of what looks
// like a random id) it may be either.
type truth int8

const (
	no truth = iota
	maybe
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

func (t truth) not() truth { return yes - t }

// naiveLetters are those that Unicode does not take apart and people type without their strokes.
var naiveLetters = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ħ", "h", "ŧ", "t", "ı", "i")

// naiveAccent reports marks that do not matter: those of Latin, Greek and Cyrillic letters, Hebrew points and Arabic
// vowel signs, but not the vowel signs of other scripts.
func naiveAccent(r rune) bool {
	return unicode.Is(unicode.Mn, r) && unicode.In(r, unicode.Inherited, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic) && r != 0x3099 && r != 0x309a ||
		r >= 0x302a && r <= 0x302f || unicode.Is(unicode.Me, r) || r == 'ـ'
}

// naiveSilent reports characters that leave nothing of themselves.
func naiveSilent(r rune) bool {
	return r == 0xad || r >= 0x200c && r <= 0x200f || r == 0x2060 || r == 0xfeff || r >= 0xe0020 && r <= 0xe007f
}

// naiveRune folds one character.
func naiveRune(r rune) string {
	if r < 0x80 {
		return string(unicode.ToLower(r))
	}
	s := string(r)
	if unicode.In(r, unicode.L, unicode.N, unicode.So) && !(r >= 0x3130 && r <= 0x318f) && !(r >= 0xffa0 && r <= 0xffdc) {
		if full := norm.NFKD.String(s); !strings.ContainsAny(full, "/\u2044 ") {
			var b strings.Builder
			for _, o := range full {
				if unicode.In(o, unicode.L, unicode.N, unicode.M) {
					b.WriteRune(o)
				}
			}
			if b.Len() > 0 {
				s = b.String()
			}
		}
	}
	return s
}

// naiveFold folds case, accents and compatibility forms, and puts characters together that were written in pieces.
func naiveFold(s string) string {
	var b strings.Builder
	for _, r := range s {
		if !naiveSilent(r) {
			b.WriteString(naiveRune(r))
		}
	}
	return naiveJoin(b.String())
}

func naiveJoin(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == 0xff9e:
			return 0x3099
		case r == 0xff9f:
			return 0x309a
		case naiveAccent(r):
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, s)
	s = strings.Map(func(r rune) rune {
		if r == 0x3099 || r == 0x309a {
			return -1
		}
		return r
	}, norm.NFC.String(s))
	return naiveLetters.Replace(s)
}

func isASCII(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0 }

func naiveCJK(r rune) bool {
	if r < 0x1100 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Yi, unicode.Tangut, unicode.Nushu, unicode.Khitan_Small_Script) ||
		r >= 0x3000 && r <= 0x30ff && unicode.IsLetter(r) || r == 0xff70
}

func naiveEmoji(r rune) bool {
	switch {
	case r >= 0x2600 && r <= 0x27bf, r >= 0x1f000 && r <= 0x1f0ff, r >= 0x1f1e6 && r <= 0x1f1ff, r >= 0x1f300 && r <= 0x1faff:
		return !unicode.In(r, unicode.Ps, unicode.Pe)
	}
	return strings.ContainsRune("‼⁉ℹ↔↕↖↗↘↙↩↪⌚⌛⌨⏏⏩⏪⏫⏬⏭⏮⏯⏰⏱⏲⏳⏸⏹⏺▪▫▶◀◻◼◽◾⤴⤵⬅⬆⬇⬛⬜⭐⭕〰〽🅰🅱🅾🅿🆎🆑🆒🆓🆔🆕🆖🆗🆘🆙🆚", r)
}

// naiveSign reports signs that stand for letters and are words of their own, like U+338F for kg.
func naiveSign(r rune) bool {
	return r >= 0x80 && (unicode.Is(unicode.So, r) || unicode.Is(unicode.No, r) && r >= 0x2460) && naiveRune(r) != string(r)
}

// naiveWord is a word of a text, folded.
type naiveWord struct {
	text  string
	parts []string   // of an identifier
	units bool       // it is a number with its unit or a time: only figures at its ends are found
	vague bool       // it looks like a random id: then it may have no parts
	blob  bool       // it lies in an unbroken run of 256 and more: then it may not be found
	line  *naiveWord // the same without the n of a \n, the r of a \r or the t of a \t
}

// naiveText is a text with what the scan has to know of it.
type naiveText struct {
	raw, folded string
	plain       string // folded, without blobs
	words       []naiveWord
	colorless   string // raw, with nothing in the place of colors
	blobs       bool
}

var (
	blobRun    = regexp.MustCompile(`[0-9A-Za-z+/_-]{256,}`)
	naiveColor = regexp.MustCompile(`\x1b\[[0-?]{0,64}[A-Za-z]`)
	naiveHex   = regexp.MustCompile(`^0[xX]`)
	naiveUnits = regexp.MustCompile(`^\p{Nd}`)
	naiveWordy = regexp.MustCompile(`\P{Nd}{3}`)
	naiveNum   = regexp.MustCompile(`^\p{Nd}+$`)
)

func newNaiveText(raw string) *naiveText {
	raw = strings.ToValidUTF8(raw, "\ufffd")
	t := &naiveText{raw: raw, folded: naiveFold(raw)}
	t.plain = t.folded
	blobs := blobRun.FindAllStringIndex(raw, -1)
	if t.blobs = len(blobs) > 0; t.blobs {
		t.plain = naiveFold(blobRun.ReplaceAllString(raw, "\x00"))
	}
	t.colorless = naiveColor.ReplaceAllStringFunc(raw, func(color string) string { return strings.Repeat("\x00", len(color)) })
	t.words = naiveCut(t.colorless, blobs)
	return t
}

// naiveCut cuts a text into words, CJK characters, signs and emoji.
func naiveCut(text string, blobs [][]int) []naiveWord {
	var out []naiveWord
	begin := -1
	end := func(at int) {
		if begin >= 0 {
			for len(blobs) > 0 && blobs[0][1] <= begin {
				blobs = blobs[1:]
			}
			w := naiveIdentifier(text[begin:at])
			w.blob = len(blobs) > 0 && blobs[0][0] < at
			if before, word := text[:begin], text[begin:at]; strings.HasSuffix(before, `\`) && strings.ContainsAny(word[:1], "nrt") && naiveFold(word[1:]) != "" {
				line := naiveIdentifier(word[1:])
				line.blob = w.blob || len(w.text) > naiveTerm
				w.line = &line
			}
			if w.text != "" {
				out = append(out, w)
			}
			begin = -1
		}
	}
	for at, r := range text {
		switch {
		case naiveSilent(r) || naiveAccent(r) || r == 0x3099 || r == 0x309a || r == 0xff9e || r == 0xff9f:
			if n := len(out); n > 0 && begin < 0 && (r == 0x3099 || r == 0x309a || r == 0xff9e || r == 0xff9f) {
				out[n-1].text = naiveJoin(out[n-1].text + string(r))
			}
		case naiveCJK(r), naiveEmoji(r), naiveSign(r):
			end(at)
			out = naiveAlone(out, r)
		case unicode.In(r, unicode.L, unicode.N, unicode.M):
			if begin < 0 {
				begin = at
			}
		default:
			end(at)
		}
	}
	end(len(text))
	return out
}

// naiveAlone adds what one character stands for; jamo become one with the syllable before them.
func naiveAlone(out []naiveWord, r rune) []naiveWord {
	fold := naiveFold(string(r))
	if n := len(out); n > 0 && unicode.Is(unicode.Hangul, r) && r >= 0x1100 && r <= 0x11ff {
		if joined := naiveJoin(out[n-1].text + string(r)); len([]rune(joined)) == 1 {
			out[n-1].text = joined
			return out
		}
	}
	word := ""
	for _, o := range fold {
		if naiveCJK(o) {
			if word != "" {
				out, word = append(out, naiveWord{text: word}), ""
			}
			out = append(out, naiveWord{text: string(o)})
			continue
		}
		word += string(o)
	}
	if word != "" {
		out = append(out, naiveWord{text: word})
	}
	return out
}

// naiveIdentifier cuts a word at humps and digits.
func naiveIdentifier(word string) naiveWord {
	var letters []rune
	for _, r := range word {
		if !naiveAccent(r) && !naiveSilent(r) {
			letters = append(letters, r)
		}
	}
	upper := func(r rune) bool { return unicode.IsUpper(r) || unicode.IsTitle(r) }
	w := naiveWord{text: naiveFold(word)}
	begin := 0
	for i := 1; i < len(letters); i++ {
		a, b := letters[i-1], letters[i]
		switch {
		case unicode.IsDigit(a) != unicode.IsDigit(b), upper(b) && !upper(a):
			w.parts, begin = append(w.parts, string(letters[begin:i])), i
		case unicode.IsLower(b) && upper(a) && i-1 > begin && upper(letters[i-2]):
			w.parts, begin = append(w.parts, string(letters[begin:i-1])), i-1
		}
	}
	if begin == 0 {
		return w
	}
	if naiveHex.MatchString(word) {
		w.parts = nil
		return w
	}
	w.parts = append(w.parts, string(letters[begin:]))
	w.units = naiveUnits.MatchString(string(letters)) && !naiveWordy.MatchString(string(letters))
	n := len(w.parts)
	w.vague = n >= 3 && (strings.Trim(strings.ToLower(word), "0123456789abcdef") == "" || n >= 6 && 2*len(word) < 5*n)
	for i := range w.parts {
		w.parts[i] = naiveFold(w.parts[i])
	}
	return w
}
