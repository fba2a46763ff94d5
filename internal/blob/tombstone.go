package blob

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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
// have pruned a million originals: a tombstone takes a hundred bytes here, and names stay where they are.
type Graveyard struct {
	all      []grave
	byKey    map[hash]int32 // places in all
	byChain  map[hash]int32 // places in layers, of the first
	layers   []layer
	redacted map[int32]*Redaction // by place in all
	words    []string             // plans and packs
	places   map[string]int32     // of words
}

type hash [16]byte

// grave is a fact about a tombstone, the newest of its key.
type grave struct {
	since      int64 // seconds
	size       int64
	nano       int32 // of since
	plan, pack int32 // places in words
	root       uint64
	live       bool
}

// layer is a tombstone that names a chain, and the next of them; -1 is none.
type layer struct{ grave, next int32 }

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
		y.byKey, y.byChain, y.redacted, y.places = map[hash]int32{}, map[hash]int32{}, map[int32]*Redaction{}, map[string]int32{}
	}
	key := hash(ShortKey(f.Key))
	at, ok := y.byKey[key]
	if !ok {
		at = int32(len(y.all))
		y.all, y.byKey[key] = append(y.all, grave{}), at
	} else if c := f.Time.Compare(y.all[at].time()); c < 0 || c == 0 && pack <= y.words[y.all[at].pack] {
		return
	}
	g := &y.all[at]
	g.since, g.nano, g.pack, g.live = f.Time.Unix(), int32(f.Time.Nanosecond()), y.word(pack), false
	t, err := ParseTombstone(f)
	if err != nil {
		return
	}
	g.size, g.plan, g.live, g.root = t.Size, y.word(t.Plan), true, beginning(&t.Root)
	if t.Number > 0 {
		y.name(at, chainHash(t.Source, t.Path, t.Number, t.Root))
	}
	if delete(y.redacted, at); t.Redacted != nil {
		y.redacted[at] = t.Redacted
	}
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
	next := int32(len(y.layers))
	i, ok := y.byChain[chain]
	if !ok {
		y.byChain[chain] = next
	} else {
		for ; y.layers[i].next >= 0 && y.layers[i].grave != at; i = y.layers[i].next {
		}
		if y.layers[i].grave == at {
			return
		}
		y.layers[i].next = next
	}
	y.layers = append(y.layers, layer{at, -1})
}

// beginning tells roots apart.
func beginning(root *Ref) uint64 { return binary.BigEndian.Uint64(root[:]) }

// Of returns the grave in which a version lies.
func (y *Graveyard) Of(v *Version) (Grave, bool) {
	if y == nil || len(y.all) == 0 {
		return Grave{}, false
	}
	// By key first, whatever the number: a tombstone need not name the path, when that is what must be forgotten.
	if at, ok := y.byKey[fileHash(v.Source, v.Path, v.SHA256[:])]; ok && y.all[at].live {
		return y.grave(at, v), true
	}
	at, ok := y.byChain[chainHash(v.Source, v.Path, v.Number, v.Root)]
	for ; ok; at, ok = y.layers[at].next, y.layers[at].next >= 0 {
		if g := &y.all[y.layers[at].grave]; g.live && v.Size <= g.size {
			return y.grave(y.layers[at].grave, v), true
		}
	}
	return Grave{}, false
}

func (y *Graveyard) grave(at int32, v *Version) Grave {
	g := &y.all[at]
	return Grave{Plan: y.words[g.plan], Redacted: y.redacted[at], Since: g.time(), Named: g.root == beginning(&v.Root)}
}

func (g *grave) time() time.Time { return time.Unix(g.since, int64(g.nano)).UTC() }

// Len is the number of live tombstones.
func (y *Graveyard) Len() (n int) {
	if y == nil {
		return 0
	}
	for i := range y.all {
		if y.all[i].live {
			n++
		}
	}
	return n
}
