package gc

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// ownText is what the program itself writes into archives: names of columns and keys, README.txt. A match that is the same there,
// with what stands before or after it, says nothing about any original. Search finds it wherever it is in one, for it spares nothing.
type ownText struct {
	text  []byte
	known map[string]bool // by match with its surroundings
}

// ownAround is how many bytes before or after a match must be the same. More would differ between pages of two indexes.
const ownAround = 3

// readOwn reads the program's own text if the pattern matches in it.
func (f *Forget) readOwn(ctx context.Context) error {
	f.own = nil
	if f.Specimen == nil {
		return nil
	}
	text, err := f.Specimen(ctx)
	if err != nil {
		return err
	}
	text = slices.Clip(text)
	for word := range f.words {
		text = append(append(text, strings.Repeat("\xff", ownAround)...), word...) // no word continues another
	}
	if f.Pattern.in(string(text)) {
		f.own = &ownText{text: text, known: map[string]bool{}}
	}
	return nil
}

// isOwn reports whether a match is the program's own, and counts it.
func (f *Forget) isOwn(b []byte, m [2]int) bool {
	if f.own == nil || m[0] < ownAround && len(b) < m[1]+ownAround {
		return false
	}
	from, to := max(0, m[0]-ownAround), min(len(b), m[1]+ownAround)
	if m[0]-from == ownAround && f.own.has(b[from:m[1]]) || to-m[1] == ownAround && f.own.has(b[m[0]:to]) {
		f.Own++
		return true
	}
	return false
}

func (o *ownText) has(b []byte) bool {
	yes, known := o.known[string(b)]
	if !known {
		yes = bytes.Contains(o.text, b)
		o.known[string(b)] = yes
	}
	return yes
}

// learn remembers how the program's own words are written in a fact, so that Files knows them where they match: its kind, as a manifest
// and an index have it, and the keys in its value. A Specimen does not have all of them.
func (f *Forget) learn(fact blob.Fact) {
	if f.Pattern.in(fact.Kind) {
		after := binary.BigEndian.AppendUint64([]byte(fact.Key), uint64(fact.Time.UnixMicro())) // the columns of the index
		f.words[fact.Kind+string(after[:ownAround])] = true
		f.words[`"fact":"`+fact.Kind+`","`] = true
	}
	if fact.Kind == factReport || !f.Pattern.in(string(fact.Value)) {
		return
	}
	for _, k := range keysOf(fact.Value) {
		if f.Pattern.in(string(fact.Value[k[0]:k[1]])) {
			f.words[string(fact.Value[k[0]-1:min(len(fact.Value), k[1]+ownAround)])] = true
		}
	}
}

// ownNames are those that the program gives to files and directories, but for packs.
var ownNames = lazyregexp.New(`^(README\.txt|lock|index(-[0-9]+)?\.db(-wal|-shm)?|(packs|quarantine)(/[0-9]{4}(/[0-9]{2})?)?)$`)

// searchPath counts the matches in the path of a file below the archive's directory.
func (f *Forget) searchPath(rel string) int64 {
	n := int64(len(f.Pattern.find([]byte(rel))))
	if _, isPack := packOf(rel); isPack || ownNames.MatchString(rel) {
		f.Own += n
		return 0
	}
	return n
}

// Bytes returns what Files would search: the content of every file below a directory, packs inflated. All of it is held in memory.
func Bytes(ctx context.Context, dir string) ([]byte, error) {
	var all bytes.Buffer
	var f Forget
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return f.read(ctx, path, filepath.ToSlash(rel), func(r io.Reader) error {
			_, err := io.Copy(&all, r)
			return err
		})
	})
	return all.Bytes(), err
}

// keysOf returns where the keys of objects are in JSON, without their quotes.
func keysOf(value []byte) (keys [][2]int) {
	d := json.NewDecoder(bytes.NewReader(value))
	var objects []bool // whether what is open is an object
	isKey := false     // whether a key is next
	for {
		t, err := d.Token()
		if err != nil {
			return keys
		}
		inObject := len(objects) > 0 && objects[len(objects)-1]
		switch t := t.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				objects, isKey = append(objects, t == '{'), t == '{'
				continue
			}
			objects = objects[:len(objects)-1]
			isKey = len(objects) > 0 && objects[len(objects)-1]
			continue
		case string:
			end := int(d.InputOffset()) - 1
			if from := end - len(t); isKey && from >= 0 && string(value[from:end]) == t { // one with escapes is nobody's own
				keys = append(keys, [2]int{from, end})
			}
		}
		isKey = inObject && !isKey
	}
}
