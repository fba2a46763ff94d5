package blob

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// named is how the value of a fact names a file: as JSON can hold it, and exactly where that is not the same.
type named struct {
	Source    string `json:"source"`
	SourceRaw []byte `json:"source_b64,omitempty"`
	Path      string `json:"path"`
	PathRaw   []byte `json:"path_b64,omitempty"`
}

func nameFile(source, path string) (n named) {
	n.Source, n.SourceRaw = Readable(source)
	n.Path, n.PathRaw = Readable(path)
	return n
}

// exact are the bytes of the names.
func (n named) exact() (source, path string) {
	source, path = n.Source, n.Path
	if n.SourceRaw != nil {
		source = string(n.SourceRaw)
	}
	if n.PathRaw != nil {
		path = string(n.PathRaw)
	}
	return source, path
}

// fileKey is the key of a fact about a file and what else tells it from others.
func fileKey(source, path string, rest ...[]byte) string {
	sum := fileHash(source, path, rest...)
	return hex.EncodeToString(sum[:])
}

func fileHash(source, path string, rest ...[]byte) hash {
	h := sha256.New()
	for _, s := range []string{source, path} {
		h.Write(number(int64(len(s))))
		h.Write([]byte(s))
	}
	for _, b := range rest {
		h.Write(b)
	}
	return hash(h.Sum(nil)[:16])
}

func number(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }
