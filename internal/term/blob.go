package term

import "strings"

// maxRun is the length in bytes from which an unbroken run of characters may be a blob.
const maxRun = 256

// base64 is the set of characters of base64 and base64url, without padding.
var base64 = func() (in [256]bool) {
	for c := range in {
		in[c] = kinds[c]&(lower|upper|digit) != 0
	}
	in['+'], in['/'], in['-'], in['_'] = true, true, true, true
	return in
}()

// detectBlob checks whether a blob begins at i, where a word begins. If so, it sets cut, where the blob's terms end,
// and resume, where the text goes on. Otherwise it sets clear, the offset before which no blob can begin: on ordinary
// text that costs one backward scan over a few bytes for every 250.
func (s *Splitter) detectBlob(text string, i int) {
	if len(text)-i < maxRun {
		s.clear = len(text)
		return
	}
	for j := i + maxRun - 1; j >= i; j-- {
		if !base64[text[j]] {
			s.clear = j + 1
			return
		}
	}
	end := i + maxRun
	for end < len(text) && base64[text[end]] {
		end++
	}
	s.clear = end
	if strings.HasSuffix(text[:i], ";base64,") || scrambled(text[i:i+maxRun]) {
		s.cut, s.resume = i+MaxTerm, end
	}
}

// spelled reports whether an unbroken run consists of capitalised words, which generated code may put side by side
// for hundreds of bytes.
func spelled(run string) bool {
	var last, seen uint8
	changes, digits := 0, 0
	for i := 0; i < len(run); i++ {
		k := kinds[run[i]]
		if k != last {
			changes++
		}
		if k == digit {
			digits++
		}
		last = k
		seen |= k
	}
	return seen&(lower|upper) == lower|upper && 20*changes < 11*len(run) && 16*digits < len(run)
}

// scrambled reports whether upper case, lower case and digits alternate as often as they do in encoded bytes, and in
// no path, identifier or list of them.
func scrambled(run string) bool {
	var last, seen uint8
	changes := 0
	for i := 0; i < len(run); i++ {
		if k := kinds[run[i]]; k != 0 {
			if k != last {
				changes++
			}
			last = k
			seen |= k
		}
	}
	return changes >= len(run)/4 && seen == lower|upper|digit
}
