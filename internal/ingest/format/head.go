package format

import (
	"bytes"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// AnyLine reports whether test is true for one of the lines in a file's first bytes, trimmed of white space. It is not enough to look at
// the first line, which may be blank, torn or bad. The last line may be cut.
func AnyLine(head []byte, test func(line []byte) bool) bool {
	for line := range bytes.Lines(jsontext.TrimBOM(head)) {
		if test(bytes.TrimSpace(line)) {
			return true
		}
	}
	return false
}

// MayHave reports, without parsing, whether a line may have one of the keys: it contains one of them, or an escape that may hide
// one.
func MayHave(line []byte, keys ...string) bool {
	for _, key := range keys {
		if bytes.Contains(line, []byte(key)) {
			return true
		}
	}
	return bytes.Contains(line, []byte(`\u`))
}

// HasKeys reports, without parsing, whether a file's first bytes, or a line of them, contain all of the keys as JSON strings.
func HasKeys(head []byte, keys ...string) bool {
	for _, key := range keys {
		if !bytes.Contains(head, []byte(`"`+key+`"`)) {
			return false
		}
	}
	return true
}

// ContainsAll reports whether a file's first bytes contain all of some texts, such as the names of columns in a schema.
func ContainsAll(head []byte, texts ...string) bool {
	for _, text := range texts {
		if !bytes.Contains(head, []byte(text)) {
			return false
		}
	}
	return true
}

// FirstTable returns the table of the first row in an original of rows (see Query); "" for any other file.
func FirstTable(head []byte) string {
	after, _ := bytes.CutPrefix(head, []byte(`{"table":"`))
	if len(after) == len(head) {
		return ""
	}
	table, _, _ := bytes.Cut(after, []byte(`"`))
	return string(table)
}

// ObjectLines yields the lines in a file's first bytes for which jsontext.BeginsObject is true, and whether each is complete. It searches for braces and
// looks only at lines with one, since it is called for every file, and files that are no JSON have few.
func ObjectLines(head []byte) iter.Seq2[[]byte, bool] {
	return func(yield func(line []byte, whole bool) bool) {
		for rest := jsontext.TrimBOM(head); ; {
			brace := bytes.IndexByte(rest, '{')
			if brace < 0 {
				return
			}
			begin := bytes.LastIndexByte(rest[:brace], '\n') + 1
			line, after, whole := bytes.Cut(rest[begin:], []byte("\n"))
			if jsontext.BeginsObject(line) && !yield(line, whole) {
				return
			}
			rest = after
		}
	}
}

// LineStart returns the value of a line from [ObjectLines]: of one that is not whole as far as it goes, and an absent value if it is whole but
// no JSON.
func LineStart(line []byte, whole bool) jsontext.Value {
	if !whole {
		return jsontext.ParseStart(line)
	}
	v, _ := jsontext.Parse(line)
	return v
}

// IsText reports whether the first HeadSize bytes of content are UTF-8 without NUL. It is false for empty content.
func IsText(b []byte) bool {
	if len(b) >= HeadSize {
		b = b[:HeadSize]
		for i := 0; i < utf8.UTFMax && len(b) > 0 && !utf8.Valid(b); i++ { // HeadSize may cut a character
			b = b[:len(b)-1]
		}
	}
	return len(b) > 0 && bytes.IndexByte(b, 0) < 0 && utf8.Valid(b)
}

// IsTextFile reports whether Sink.TextFile is to read a file. Of an unknown or empty content it says yes.
func (h Head) IsTextFile() bool { return h.Size <= MaxText && (len(h.Bytes) == 0 || IsText(h.Bytes)) }

// IsSQLite reports whether a file has the header of an SQLite database.
func IsSQLite(head []byte) bool { return bytes.HasPrefix(head, []byte("SQLite format 3\x00")) }

// HasTables reports whether the schema in the first page of an SQLite database creates all of these tables, however it quotes their names.
func HasTables(head []byte, names ...string) bool {
	for _, name := range names {
		as := []string{`"` + name + `"`, "`" + name + "`", "[" + name + "]", name + " ", name + "\n", name + "("}
		if !slices.ContainsFunc(as, func(as string) bool { return bytes.Contains(head, []byte("CREATE TABLE "+as)) }) {
			return false
		}
	}
	return true
}

// ShowsSchema reports whether the first page of an SQLite database is a leaf with entries of the schema. It is false if the schema does not fit on
// one page, or is only in the write-ahead log.
func ShowsSchema(head []byte) bool {
	const first, leaf, cells = 100, 13, 3 // offset of the b-tree page header, type of a table leaf, offset of the cell count in the header
	return len(head) > first+cells+1 && head[first] == leaf && (head[first+cells] != 0 || head[first+cells+1] != 0)
}
