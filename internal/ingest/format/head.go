package format

import (
	"bytes"
	"iter"
	"unicode/utf8"
)

const bom = "\xef\xbb\xbf"

// TrimBOM takes the byte order mark away that may begin a file.
func TrimBOM[T string | []byte](file T) T {
	if len(file) >= len(bom) && string(file[:len(bom)]) == bom {
		return file[len(bom):]
	}
	return file
}

// AnyLine reports whether a test holds for one of the lines in a file's first bytes, without the space around them: a
// blank, torn or bad line at the start says nothing of the file. The last line may be cut.
func AnyLine(head []byte, test func(line []byte) bool) bool {
	for line := range bytes.Lines(TrimBOM(head)) {
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

// HasKeys reports whether all of some keys stand in a file's first bytes, or in a line of them, without parsing it: as keys or as strings.
func HasKeys(head []byte, keys ...string) bool {
	for _, key := range keys {
		if !bytes.Contains(head, []byte(`"`+key+`"`)) {
			return false
		}
	}
	return true
}

// BeginsObject reports whether a line begins as a JSON object does, space aside. To ask is cheap: most lines of files that are no
// JSON need not be parsed to be told from one.
func BeginsObject(line []byte) bool {
	i := skipSpace(line, 0)
	return i < len(line) && line[i] == '{'
}

// ObjectLines yields the lines in a file's first bytes for which that holds, and whether they end there. Only lines with a brace are looked
// at: every file is asked for such lines, and most that are no JSON have few.
func ObjectLines(head []byte) iter.Seq2[[]byte, bool] {
	return func(yield func(line []byte, whole bool) bool) {
		for rest := TrimBOM(head); ; {
			brace := bytes.IndexByte(rest, '{')
			if brace < 0 {
				return
			}
			begin := bytes.LastIndexByte(rest[:brace], '\n') + 1
			line, after, whole := bytes.Cut(rest[begin:], []byte("\n"))
			if BeginsObject(line) && !yield(line, whole) {
				return
			}
			rest = after
		}
	}
}

// IsText reports whether content begins as UTF-8 without NUL, as far as Detect sees of it; an empty one does not.
func IsText(b []byte) bool {
	if len(b) >= HeadSize {
		b = b[:HeadSize]
		for i := 0; i < utf8.UTFMax && len(b) > 0 && !utf8.Valid(b); i++ { // the cut may have gone through a character
			b = b[:len(b)-1]
		}
	}
	return len(b) > 0 && bytes.IndexByte(b, 0) < 0 && utf8.Valid(b)
}

// IsUUID reports whether a name is 32 hexadecimal digits with dashes, in letters of either case.
func IsUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c-'0' > 9 && (c|0x20 < 'a' || c|0x20 > 'f'):
			return false
		}
	}
	return true
}

// IsSQLite reports whether a file begins as an SQLite database does.
func IsSQLite(head []byte) bool { return bytes.HasPrefix(head, []byte("SQLite format 3\x00")) }

// ShowsSchema reports whether the first page of an SQLite database has its schema, or the beginning of it: not when that is too long for
// a page and stands on others, and not when the log of the database alone has it.
func ShowsSchema(head []byte) bool {
	const first, leaf, cells = 100, 13, 3 // the page behind the header: its kind, and how many tables
	return len(head) > first+cells+1 && head[first] == leaf && (head[first+cells] != 0 || head[first+cells+1] != 0)
}
