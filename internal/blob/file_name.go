package blob

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// fileName is the name of a file in the value of a fact: readable, and also as exact bytes if it is not valid UTF-8.
type fileName struct {
	Source    string `json:"source"`
	SourceRaw []byte `json:"source_b64,omitempty"`
	Path      string `json:"path"`
	PathRaw   []byte `json:"path_b64,omitempty"`
}

func newFileName(source, path string) (n fileName) {
	n.Source, n.SourceRaw = Readable(source)
	n.Path, n.PathRaw = Readable(path)
	return n
}

// exact returns the exact bytes of source and path.
func (n fileName) exact() (source, path string) {
	source, path = n.Source, n.Path
	if n.SourceRaw != nil {
		source = string(n.SourceRaw)
	}
	if n.PathRaw != nil {
		path = string(n.PathRaw)
	}
	return source, path
}

// fileKey returns the key of a fact about a file: a hash of its name and of what else identifies the fact.
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
