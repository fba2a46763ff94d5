package term

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cjkScripts are the scripts that are written without spaces between words.
var cjkScripts = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
	unicode.Yi, unicode.Tangut, unicode.Nushu, unicode.Khitan_Small_Script,
}

// cjk reports whether r is a term of its own because its script does not mark word boundaries. The planes of rare
// ideographs count as a whole, so that ideographs of later Unicode versions are found too.
func cjk(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r >= 0x20000 && r <= 0x3fffd:
		return r&0xfffe != 0xfffe
	case r >= 0x3000 && r <= 0x30ff && unicode.IsLetter(r), r == 0xff70:
		return true
	}
	return unicode.In(r, cjkScripts...) && unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.So)
}

// emoji reports whether r is a symbol that people search for and is thus a term of its own: everything that Unicode
// calls emoji outside of ASCII and, in the same blocks, the dingbats and signs that programs print (check marks).
func emoji(r rune) bool {
	switch {
	case r < 0x203c:
		return false
	case r >= 0x2600 && r <= 0x27bf, r >= 0x1f000 && r <= 0x1f0ff, r >= 0x1f1e6 && r <= 0x1f1ff, r >= 0x1f300 && r <= 0x1faff:
		return !unicode.In(r, unicode.Ps, unicode.Pe)
	case r >= 0x2194 && r <= 0x2199, r >= 0x23e9 && r <= 0x23f3, r >= 0x23f8 && r <= 0x23fa, r >= 0x25fb && r <= 0x25fe, r >= 0x2b05 && r <= 0x2b07:
		return true
	}
	return strings.ContainsRune("‼⁉ℹ↩↪⌚⌛⌨⏏▪▫▶◀⤴⤵⬛⬜⭐⭕〰〽🅰🅱🅾🅿🆎🆑🆒🆓🆔🆕🆖🆗🆘🆙🆚", r)
}

// Kana without and with dakuten (voiced sound mark), and without and with handakuten (semi-voiced sound mark). The
// two characters of a pair have the same offset.
const (
	plainKana = "うかきくけこさしすせそたちつてとはひふへほウカキクケコサシスセソタチツテトハヒフヘホワヰヱヲゝヽ"
	dakuten   = "ゔがぎぐげござじずぜぞだぢづでどばびぶべぼヴガギグゲゴザジズゼゾダヂヅデドバビブベボヷヸヹヺゞヾ"
	plainHa   = "はひふへほハヒフヘホ"
	handaku   = "ぱぴぷぺぽパピプペポ"
)

// compose combines r, whose fold is f, with the beginning of rest if both are one character in decomposed form: kana
// with (semi-)voiced sound marks, Hangul jamo. It returns the composed character and how many bytes of rest belong to
// it, or 0, 0.
func compose(r rune, f fold, rest string) (rune, int) {
	switch {
	case r >= 0x1100 && r <= 0x1112, r >= 0xac00 && r <= 0xd7a3:
		return syllable(r, rest)
	case r < 0x3000 || r > 0xff9d || r >= 0x3400 && r < 0xff66 || rest == "":
		return 0, 0
	}
	base, _ := utf8.DecodeRuneInString(f.text(string(r)))
	switch next, n := utf8.DecodeRuneInString(rest); next {
	case 0x3099, 0xff9e:
		return pair(plainKana, dakuten, base, n)
	case 0x309a, 0xff9f:
		return pair(plainHa, handaku, base, n)
	}
	return 0, 0
}

// pair returns the rune of to at the offset that base has in from, and n; 0, 0 if from does not contain base. Both
// strings consist of three-byte runes.
func pair(from, to string, base rune, n int) (rune, int) {
	at := strings.IndexRune(from, base)
	if at < 0 {
		return 0, 0
	}
	r, _ := utf8.DecodeRuneInString(to[at:])
	return r, n
}

// syllable composes Hangul: a leading consonant with a vowel, and either with a trailing consonant.
func syllable(r rune, rest string) (rune, int) {
	taken := 0
	if r < 0xac00 {
		v, n := utf8.DecodeRuneInString(rest)
		if v < 0x1161 || v > 0x1175 {
			return 0, 0
		}
		r = 0xac00 + ((r-0x1100)*21+(v-0x1161))*28
		taken = n
	}
	if (r-0xac00)%28 == 0 {
		if t, n := utf8.DecodeRuneInString(rest[taken:]); t > 0x11a7 && t <= 0x11c2 {
			r += t - 0x11a7
			taken += n
		}
	}
	return r, taken
}
