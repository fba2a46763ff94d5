package jsontext

import (
	"bufio"
	"bytes"
	"io"
)

// ParseNaN is Parse for documents with NaN and infinite numbers, which Python writes; they are read as "".
func ParseNaN(b []byte) (Value, error) {
	v, err := Parse(b)
	if err != nil {
		if v, err := Parse(WithoutNaN(b)); err == nil {
			return v, nil
		}
	}
	return v, err
}

// WithoutNaN returns b, or a copy in which NaN, Infinity and -Infinity are replaced by "" and spaces.
func WithoutNaN(b []byte) []byte {
	out := b
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = endOfString(b, i)
		case '-', 'N', 'I':
			n := lengthOfNaN(b[i:])
			if n == 0 {
				continue
			}
			if &out[0] == &b[0] {
				out = bytes.Clone(b)
			}
			copy(out[i:i+n], replacement)
			i += n - 1
		}
	}
	return out
}

// nanWindow is how much a nanReader reads at once, in bytes.
const nanWindow = 8 << 10

// ReaderWithoutNaN returns the bytes of r as WithoutNaN does, for lines and for elements of arrays.
func ReaderWithoutNaN(r io.Reader) io.Reader { return &nanReader{r: bufio.NewReaderSize(r, nanWindow)} }

// nanReader is WithoutNaN for a reader. It looks at each line by itself, since one that is not JSON may lack a quote.
type nanReader struct {
	r                 *bufio.Reader
	inString, escaped bool
	left              string // of what replaces a number
}

func (n *nanReader) Read(p []byte) (int, error) {
	for i := range p {
		if n.left == "" {
			n.replace()
		}
		if n.left != "" {
			p[i], n.left = n.left[0], n.left[1:]
			continue
		}
		b, err := n.r.ReadByte()
		if err != nil {
			return i, err
		}
		n.inString = b != '\n' && n.inString != (b == '"' && !n.escaped)
		n.escaped = n.inString && b == '\\' && !n.escaped
		p[i] = b
	}
	return len(p), nil
}

// replace skips a number that is next, and sets what replaces it.
func (n *nanReader) replace() {
	if n.inString {
		return
	}
	if next, _ := n.r.Peek(1); len(next) == 0 || next[0] != 'N' && next[0] != 'I' && next[0] != '-' {
		return
	}
	next, _ := n.r.Peek(len(replacement)) // an error comes again
	length := lengthOfNaN(next)
	n.left = replacement[:length]
	_, _ = n.r.Discard(length)
}

// replacement is what replaces a number, as far as that is long.
const replacement = `""       `

// endOfString returns the index of the closing quote of the string that begins at i.
func endOfString(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i
}

func lengthOfNaN(b []byte) int {
	for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
		if bytes.HasPrefix(b, []byte(word)) {
			return len(word)
		}
	}
	return 0
}
