package blob

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Readable returns s as valid UTF-8, which JSON requires, and the bytes of s if that differs.
func Readable(s string) (string, []byte) {
	if utf8.ValidString(s) {
		return s, nil
	}
	return strings.ToValidUTF8(s, "\uFFFD"), []byte(s)
}

// FactTombstone is the kind of facts that mark versions as deleted.
const FactTombstone = "tombstone"

// Tombstone marks one version as deleted, and with it every earlier state of its chain: nothing restores, indexes or
// archives it again, and gc may drop its bytes, unless a newer fact of the same key retracts the tombstone. Later states
// and later versions of the file with other content are not affected.
type Tombstone struct {
	Source string // exact bytes, as in Version
	Path   string
	SHA256 Ref // of all Size bytes
	Number int // with Root and Size, identifies the chain and a prefix of it; 0 if unknown
	Root   Ref
	Size   int64
	Plan   string // id of the prune plan that wrote it, "" if there was none
	// Superseded is the number of the newest version of the file, if the version went because the file has a later one, else 0.
	// The content is deleted only in versions before it: a file that returns to it is archived again.
	Superseded int
	// Redacted describes what replaced the version, nil if nothing did.
	Redacted *Redaction
}

type tombstoneValue struct {
	fileName
	SHA256   Ref        `json:"sha256"`
	Number   int        `json:"version,omitempty"`
	Root     *Ref       `json:"root,omitempty"`
	Size     int64      `json:"size,omitempty"`
	Plan     string     `json:"plan,omitempty"`
	Redacted *Redaction `json:"redacted,omitempty"`

	Superseded int `json:"superseded,omitempty"`
}

// NewTombstone returns the tombstone of a version.
func NewTombstone(v *Version, plan string) Tombstone {
	return Tombstone{Source: v.Source, Path: v.Path, SHA256: v.SHA256, Number: v.Number, Root: v.Root, Size: v.Size, Plan: plan}
}

// Key returns the key of the tombstone's fact: one for each source, path and content.
func (t Tombstone) Key() string {
	return fileKey(t.Source, t.Path, t.SHA256[:])
}

// Fact returns the fact that records t.
func (t Tombstone) Fact(at time.Time) Fact {
	v := tombstoneValue{fileName: newFileName(t.Source, t.Path), SHA256: t.SHA256, Number: t.Number, Size: t.Size, Plan: t.Plan, Redacted: t.Redacted, Superseded: t.Superseded}
	if t.Number > 0 {
		v.Root = &t.Root
	}
	value, _ := json.Marshal(v) // of strings, numbers and bytes: it cannot fail
	return Fact{Kind: FactTombstone, Key: t.Key(), Time: at, Value: value}
}

// Retract returns the fact that retracts t.
func (t Tombstone) Retract(at time.Time) Fact {
	return Retraction(FactTombstone, t.Key(), at)
}

// ParseTombstone decodes the value of a fact. It fails if the value names no version, as in a retraction.
func ParseTombstone(f Fact) (Tombstone, error) {
	var v tombstoneValue
	if f.Kind != FactTombstone {
		return Tombstone{}, fmt.Errorf("a %s is not a tombstone", f.Kind)
	}
	if err := json.Unmarshal(f.Value, &v); err != nil {
		return Tombstone{}, fmt.Errorf("tombstone: %w", err)
	}
	t := Tombstone{SHA256: v.SHA256, Number: v.Number, Size: v.Size, Plan: v.Plan, Redacted: v.Redacted, Superseded: v.Superseded}
	t.Source, t.Path = v.exact()
	if v.Root != nil {
		t.Root = *v.Root
	} else {
		t.Number = 0
	}
	if t.Source == "" || t.SHA256 == (Ref{}) {
		return Tombstone{}, errors.New("a tombstone must name a source, a path and a hash")
	}
	return t, nil
}

// Deletion is what the live tombstone of a version states.
type Deletion struct {
	Plan     string
	Redacted *Redaction
	Since    time.Time // start of the grace period
	SameRoot bool      // the content that the tombstone names begins with the same extent as the version
}

// Tombstones is a set of tombstones, built fact by fact. The zero value is ready to use; a nil one is empty. An archive may have
// pruned a million originals, so names are kept as hashes only: a tombstone takes ninety bytes.
type Tombstones struct {
	all      []tombstoneEntry
	byKey    map[hash]int32       // index in all
	byChain  map[hash]int32       // index in all of the first tombstone of a chain
	more     map[hash][]int32     // the other tombstones of a chain; few chains have any
	origins  []tombstoneOrigin    // of the entries in all
	redacted map[int32]*Redaction // by index in all
	before   map[int32]int        // by index in all: Superseded, if it is not 0
	texts    []string             // interned plans and pack names
	textIDs  map[string]int32     // index in texts
}

type hash [16]byte

// tombstoneEntry is the newest tombstone fact of a key.
type tombstoneEntry struct {
	size   int64
	root   uint64
	origin int32 // index in origins
}

// tombstoneOrigin is what all tombstone facts of one prune have in common; each is kept once.
type tombstoneOrigin struct {
	since      int64 // seconds
	nano       int32 // of since
	plan, pack int32 // indexes in texts
	live       bool
}

func chainHash(source, path string, n int, root Ref) hash {
	return fileHash(source, path, number(int64(n)), root[:])
}

// ShortKey returns the 16 bytes of a fact's key, which takes a quarter of the memory. The key of a tombstone is a hash
// in hex and is decoded; any other key is hashed.
func ShortKey(key string) (k [16]byte) {
	if n, err := hex.Decode(k[:], []byte(key[:min(len(key), 2*len(k))])); err == nil && n == len(k) && hex.EncodeToString(k[:]) == key {
		return k
	}
	sum := sha256.Sum256([]byte(key))
	return [16]byte(sum[:16])
}

// Add adds a fact of the manifest of pack. Facts may come in any order; those of other kinds are ignored.
func (ts *Tombstones) Add(f Fact, pack string) {
	if f.Kind != FactTombstone {
		return
	}
	if ts.byKey == nil {
		ts.byKey, ts.byChain, ts.more = map[hash]int32{}, map[hash]int32{}, map[hash][]int32{}
		ts.redacted, ts.before, ts.textIDs = map[int32]*Redaction{}, map[int32]int{}, map[string]int32{}
	}
	key := hash(ShortKey(f.Key))
	at, ok := ts.byKey[key]
	if !ok {
		at = int32(len(ts.all))
		ts.all, ts.byKey[key] = append(ts.all, tombstoneEntry{}), at
	} else if was := &ts.origins[ts.all[at].origin]; f.Time.Before(was.time()) || f.Time.Equal(was.time()) && pack <= ts.texts[was.pack] {
		return
	}
	t, err := ParseTombstone(f)
	ts.all[at] = tombstoneEntry{t.Size, rootPrefix(&t.Root), ts.internOrigin(tombstoneOrigin{f.Time.Unix(), int32(f.Time.Nanosecond()), ts.intern(t.Plan), ts.intern(pack), err == nil})}
	if err != nil {
		return
	}
	if t.Number > 0 {
		ts.addChain(at, chainHash(t.Source, t.Path, t.Number, t.Root))
	}
	if delete(ts.redacted, at); t.Redacted != nil {
		ts.redacted[at] = t.Redacted
	}
	if delete(ts.before, at); t.Superseded > 0 {
		ts.before[at] = t.Superseded
	}
}

// internOrigin returns the index of t in origins. The facts of one prune follow each other, so it compares t with the last
// origin only.
func (ts *Tombstones) internOrigin(t tombstoneOrigin) int32 {
	if n := len(ts.origins); n == 0 || ts.origins[n-1] != t {
		ts.origins = append(ts.origins, t)
	}
	return int32(len(ts.origins) - 1)
}

func (ts *Tombstones) intern(s string) int32 {
	at, ok := ts.textIDs[s]
	if !ok {
		at = int32(len(ts.texts))
		s = strings.Clone(s)
		ts.texts, ts.textIDs[s] = append(ts.texts, s), at
	}
	return at
}

// addChain records that the tombstone at an index of all names a chain.
func (ts *Tombstones) addChain(at int32, chain hash) {
	first, ok := ts.byChain[chain]
	switch {
	case !ok:
		ts.byChain[chain] = at
	case first != at && !slices.Contains(ts.more[chain], at):
		ts.more[chain] = append(ts.more[chain], at)
	}
}

// rootPrefix returns the first 8 bytes of a root, which are enough to distinguish it from others.
func rootPrefix(root *Ref) uint64 { return binary.BigEndian.Uint64(root[:]) }

// Of returns the deletion of a version; ok is false when no live tombstone covers it.
func (ts *Tombstones) Of(v *Version) (Deletion, bool) {
	if ts == nil || len(ts.all) == 0 {
		return Deletion{}, false
	}
	// By key first, mostly whatever the number: a tombstone need not name the path if the path is what must be forgotten.
	if at, ok := ts.byKey[fileHash(v.Source, v.Path, v.SHA256[:])]; ok && ts.isLive(at) && ts.reaches(at, v.Number) {
		return ts.deletion(at, v), true
	}
	chain := chainHash(v.Source, v.Path, v.Number, v.Root)
	first, ok := ts.byChain[chain]
	if !ok {
		return Deletion{}, false
	}
	for _, at := range append([]int32{first}, ts.more[chain]...) {
		if ts.isLive(at) && v.Size <= ts.all[at].size {
			return ts.deletion(at, v), true
		}
	}
	return Deletion{}, false
}

// reaches reports whether a tombstone deletes its content in the version of a file with this number.
func (ts *Tombstones) reaches(at int32, number int) bool {
	before, superseded := ts.before[at]
	return !superseded || number < before
}

func (ts *Tombstones) isLive(at int32) bool { return ts.origins[ts.all[at].origin].live }

func (ts *Tombstones) deletion(at int32, v *Version) Deletion {
	g, t := &ts.all[at], &ts.origins[ts.all[at].origin]
	return Deletion{Plan: ts.texts[t.plan], Redacted: ts.redacted[at], Since: t.time(), SameRoot: g.root == rootPrefix(&v.Root)}
}

func (t *tombstoneOrigin) time() time.Time { return time.Unix(t.since, int64(t.nano)).UTC() }

// VersionBudget returns how many versions may be in memory besides the tombstones, where that many versions would fit without them:
// five tombstones take as much memory as one version. At least half are allowed, because every span of names may have to read
// all manifests again.
func (ts *Tombstones) VersionBudget(versions int) int {
	return max(versions-len(ts.all)/5, versions/2, 1)
}
