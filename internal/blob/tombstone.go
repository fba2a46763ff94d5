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

// Readable returns s as JSON can hold it, and its bytes when that is not s.
func Readable(s string) (string, []byte) {
	if utf8.ValidString(s) {
		return s, nil
	}
	return strings.ToValidUTF8(s, "\uFFFD"), []byte(s)
}

// FactTombstone is the kind of the facts that bury versions.
const FactTombstone = "tombstone"

// Tombstone buries one version, and with it every earlier state of its chain: nothing restores, indexes or archives
// it again, and its bytes may go, unless a newer fact of the same key takes the tombstone back. What the file has
// grown to or become since is not buried.
type Tombstone struct {
	Source string // exact bytes, as in Version
	Path   string
	SHA256 Ref // of all Size bytes
	Number int // these three name the chain and how much of it: 0 when they are unknown
	Root   Ref
	Size   int64
	Plan   string // which prune dug the grave, "" when it was none
	// Redacted is what took the place of the version, nil when nothing did.
	Redacted *Redaction
}

type tombstoneValue struct {
	named
	SHA256   Ref        `json:"sha256"`
	Number   int        `json:"version,omitempty"`
	Root     *Ref       `json:"root,omitempty"`
	Size     int64      `json:"size,omitempty"`
	Plan     string     `json:"plan,omitempty"`
	Redacted *Redaction `json:"redacted,omitempty"`
}

// Bury returns the tombstone of a version.
func Bury(v *Version, plan string) Tombstone {
	return Tombstone{Source: v.Source, Path: v.Path, SHA256: v.SHA256, Number: v.Number, Root: v.Root, Size: v.Size, Plan: plan}
}

// Key is that of the tombstone's fact: one for each source, path and content.
func (t Tombstone) Key() string {
	return fileKey(t.Source, t.Path, t.SHA256[:])
}

// Fact writes t down.
func (t Tombstone) Fact(at time.Time) Fact {
	v := tombstoneValue{named: nameFile(t.Source, t.Path), SHA256: t.SHA256, Number: t.Number, Size: t.Size, Plan: t.Plan, Redacted: t.Redacted}
	if t.Number > 0 {
		v.Root = &t.Root
	}
	value, _ := json.Marshal(v) // of strings, numbers and bytes: it cannot fail
	return Fact{Kind: FactTombstone, Key: t.Key(), Time: at, Value: value}
}

// Retract returns the fact that takes t back.
func (t Tombstone) Retract(at time.Time) Fact {
	return Fact{Kind: FactTombstone, Key: t.Key(), Time: at, Value: json.RawMessage("null")}
}

// ParseTombstone reads the value of a fact. It fails when the value names no version, as that of a retraction does.
func ParseTombstone(f Fact) (Tombstone, error) {
	var v tombstoneValue
	if f.Kind != FactTombstone {
		return Tombstone{}, fmt.Errorf("a %s is no tombstone", f.Kind)
	}
	if err := json.Unmarshal(f.Value, &v); err != nil {
		return Tombstone{}, fmt.Errorf("tombstone: %w", err)
	}
	t := Tombstone{SHA256: v.SHA256, Number: v.Number, Size: v.Size, Plan: v.Plan, Redacted: v.Redacted}
	t.Source, t.Path = v.exact()
	if v.Root != nil {
		t.Root = *v.Root
	} else {
		t.Number = 0
	}
	if t.Source == "" || t.SHA256 == (Ref{}) {
		return Tombstone{}, errors.New("a tombstone names a source, a path and a hash")
	}
	return t, nil
}

// Grave is what counts of a tombstone that lies on a version.
type Grave struct {
	Plan     string
	Redacted *Redaction
	Since    time.Time // what a grace period counts from
	Named    bool      // the tombstone names a content that begins as the version does
}

// Graveyard is every tombstone that some facts say together. The zero value is ready to use; a nil one is empty. An archive may
// have pruned a million originals: a tombstone takes ninety bytes here, and names stay where they are.
type Graveyard struct {
	all      []grave
	byKey    map[hash]int32       // places in all
	byChain  map[hash]int32       // too, of the first that names a chain
	more     map[hash][]int32     // the others, which few chains have
	tellings []telling            // of all
	redacted map[int32]*Redaction // by place in all
	words    []string             // plans and packs
	places   map[string]int32     // of words
}

type hash [16]byte

// grave is a fact about a tombstone, the newest of its key.
type grave struct {
	size int64
	root uint64
	told int32 // place in tellings
}

// telling is what facts have in common that one prune has laid.
type telling struct {
	since      int64 // seconds
	nano       int32 // of since
	plan, pack int32 // places in words
	live       bool
}

func chainHash(source, path string, n int, root Ref) hash {
	return fileHash(source, path, number(int64(n)), root[:])
}

// ShortKey is the key of a tombstone's fact, which is a hash already, or one of what is none: a quarter of the memory.
func ShortKey(key string) (k [16]byte) {
	if n, err := hex.Decode(k[:], []byte(key[:min(len(key), 2*len(k))])); err == nil && n == len(k) && hex.EncodeToString(k[:]) == key {
		return k
	}
	sum := sha256.Sum256([]byte(key))
	return [16]byte(sum[:16])
}

// Add takes in a fact as the manifest of a pack says it, in any order; what is no tombstone it leaves alone.
func (y *Graveyard) Add(f Fact, pack string) {
	if f.Kind != FactTombstone {
		return
	}
	if y.byKey == nil {
		y.byKey, y.byChain, y.more = map[hash]int32{}, map[hash]int32{}, map[hash][]int32{}
		y.redacted, y.places = map[int32]*Redaction{}, map[string]int32{}
	}
	key := hash(ShortKey(f.Key))
	at, ok := y.byKey[key]
	if !ok {
		at = int32(len(y.all))
		y.all, y.byKey[key] = append(y.all, grave{}), at
	} else if was := &y.tellings[y.all[at].told]; f.Time.Before(was.time()) || f.Time.Equal(was.time()) && pack <= y.words[was.pack] {
		return
	}
	t, err := ParseTombstone(f)
	y.all[at] = grave{t.Size, beginning(&t.Root), y.telling(telling{f.Time.Unix(), int32(f.Time.Nanosecond()), y.word(t.Plan), y.word(pack), err == nil})}
	if err != nil {
		return
	}
	if t.Number > 0 {
		y.name(at, chainHash(t.Source, t.Path, t.Number, t.Root))
	}
	if delete(y.redacted, at); t.Redacted != nil {
		y.redacted[at] = t.Redacted
	}
}

// telling is the place of one. Those of one prune come one after the other.
func (y *Graveyard) telling(t telling) int32 {
	if n := len(y.tellings); n == 0 || y.tellings[n-1] != t {
		y.tellings = append(y.tellings, t)
	}
	return int32(len(y.tellings) - 1)
}

func (y *Graveyard) word(s string) int32 {
	at, ok := y.places[s]
	if !ok {
		at = int32(len(y.words))
		s = strings.Clone(s)
		y.words, y.places[s] = append(y.words, s), at
	}
	return at
}

// name notes that a tombstone names a chain.
func (y *Graveyard) name(at int32, chain hash) {
	first, ok := y.byChain[chain]
	switch {
	case !ok:
		y.byChain[chain] = at
	case first != at && !slices.Contains(y.more[chain], at):
		y.more[chain] = append(y.more[chain], at)
	}
}

// beginning tells roots apart.
func beginning(root *Ref) uint64 { return binary.BigEndian.Uint64(root[:]) }

// Of returns the grave in which a version lies.
func (y *Graveyard) Of(v *Version) (Grave, bool) {
	if y == nil || len(y.all) == 0 {
		return Grave{}, false
	}
	// By key first, whatever the number: a tombstone need not name the path, when that is what must be forgotten.
	if at, ok := y.byKey[fileHash(v.Source, v.Path, v.SHA256[:])]; ok && y.live(at) {
		return y.grave(at, v), true
	}
	chain := chainHash(v.Source, v.Path, v.Number, v.Root)
	first, ok := y.byChain[chain]
	if !ok {
		return Grave{}, false
	}
	for _, at := range append([]int32{first}, y.more[chain]...) {
		if y.live(at) && v.Size <= y.all[at].size {
			return y.grave(at, v), true
		}
	}
	return Grave{}, false
}

func (y *Graveyard) live(at int32) bool { return y.tellings[y.all[at].told].live }

func (y *Graveyard) grave(at int32, v *Version) Grave {
	g, t := &y.all[at], &y.tellings[y.all[at].told]
	return Grave{Plan: y.words[t.plan], Redacted: y.redacted[at], Since: t.time(), Named: g.root == beginning(&v.Root)}
}

func (t *telling) time() time.Time { return time.Unix(t.since, int64(t.nano)).UTC() }

// Len is the number of live tombstones.
func (y *Graveyard) Len() (n int) {
	if y == nil {
		return 0
	}
	for at := range y.all {
		if y.live(int32(at)) {
			n++
		}
	}
	return n
}

// Room is how many versions may be held where there is room for so many if nobody has died: five tombstones take as much memory as one
// version does. Half of it stays: for each span all manifests may have to be read.
func (y *Graveyard) Room(versions int) int { return max(versions-len(y.all)/5, versions/2, 1) }
