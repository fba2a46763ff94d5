package format

import "bytes"

// AnyLine reports whether a test holds for one of the lines in a file's first bytes, without the space around them: a
// blank, torn or bad line at the start says nothing of the file. The last line may be cut.
func AnyLine(head []byte, test func(line []byte) bool) bool {
	for line := range bytes.Lines(bytes.TrimPrefix(head, mark)) {
		if test(bytes.TrimSpace(line)) {
			return true
		}
	}
	return false
}

// MayHave reports whether a line may hold one of some keys, as far as that is told without parsing it: a key stands there, or an
// escape that may hide one.
func MayHave(line []byte, keys ...string) bool {
	for _, key := range keys {
		if bytes.Contains(line, []byte(key)) {
			return true
		}
	}
	return bytes.Contains(line, []byte(`\u`))
}

// BeginsObject reports whether a line begins as a JSON object does, space aside. To ask is cheap: most lines of files that are no
// JSON need not be parsed to be told from one.
func BeginsObject(line []byte) bool {
	i := skipSpace(line, 0)
	return i < len(line) && line[i] == '{'
}
