package term

import (
	"encoding/binary"
	"slices"
)

// easyWord is the longest word that easy takes.
const easyWord = 16

// easy appends words as Split does, from offset i of text on, as long as they are of the kind that makes nine tenths of most
// texts: short, of ASCII letters or of digits, without parts. It returns where the first word begins that is not, or that
// stands too close to the end of the text or to what may be a blob.
func (s *Splitter) easy(dst []byte, text string, i int) ([]byte, int) {
	if s.cut != 0 {
		return dst, i
	}
	for stop := min(s.clear, len(text)-easyWord); i < stop; {
		k := kinds[text[i]]
		if k == 0 {
			i++
			continue
		}
		end, seen, caps := i, uint8(0), 0
		for end < len(text) && k != 0 {
			seen |= k
			caps += int(k >> 1 & 1)
			end++
			if end < len(text) {
				k = kinds[text[end]]
			}
		}
		if size := end - i; size > easyWord || !easyKinds[seen] || caps > 1 && caps < size || caps == 1 && kinds[text[i]] != upper {
			break
		}
		dst = appendEasy(dst, text, i, end)
		i = end
	}
	return dst, i
}

// easyKinds are those that a word may be made of to be easy: letters or digits.
var easyKinds = func() (easy [256]bool) {
	for _, kinds := range []uint8{lower, upper, lower | upper, digit} {
		easy[kinds] = true
	}
	return easy
}()

// appendEasy appends a word of ASCII letters or digits, folded. At least easyWord bytes of text follow its start.
func appendEasy(dst []byte, text string, start, end int) []byte {
	dst = space(slices.Grow(dst, easyWord+1))
	n := len(dst)
	to := dst[n : n+easyWord]
	binary.LittleEndian.PutUint64(to, small(text[start:]))
	if end-start > 8 {
		binary.LittleEndian.PutUint64(to[8:], small(text[start+8:]))
	}
	return dst[:n+end-start]
}

// small returns eight bytes, of which the letters are made small ones: they alone have the bit that is moved here, and
// small ones have the other already.
func small(s string) uint64 {
	_ = s[7]
	b := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	return b | b&0x4040404040404040>>1
}
