package index

import "encoding/binary"

// vocabulary remembers the words that were handed to the index lately, so that each is written about once. It is a
// cache that forgets when two words meet in one slot: that costs one more insert of a word that is there.
type vocabulary struct{ slots []uint64 }

const vocabularySlots = 1 << 19 // 4 MiB

// add appends the words of terms as term.Split gives them to dst, unless they were seen lately. Parts of identifiers are
// left out.
func (v *vocabulary) add(dst []string, text []byte) []string {
	if v.slots == nil {
		v.slots = make([]uint64, vocabularySlots)
	}
	for start := 0; start < len(text); {
		end := start
		for end < len(text) && text[end] > ' ' {
			end++
		}
		word := text[start:end]
		for end < len(text) && text[end] != ' ' {
			end++
		}
		start = end + 1
		h := hashWord(word)
		if slot := &v.slots[h%vocabularySlots]; *slot != h {
			*slot = h
			dst = append(dst, string(word))
		}
	}
	return dst
}

// hashWord mixes eight bytes at a time; it only has to be fast and to spread.
func hashWord(b []byte) uint64 {
	h := uint64(len(b)) + 0x9e3779b97f4a7c15
	for len(b) >= 8 {
		h = mix(h ^ binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	var last uint64
	for i, c := range b {
		last |= uint64(c) << (8 * i)
	}
	return mix(h ^ last)
}

func mix(h uint64) uint64 {
	h *= 0xff51afd7ed558ccd
	return h ^ h>>32
}
