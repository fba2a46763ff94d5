package blob

import (
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

// Grave is a tombstone and since when it stands: what a grace period counts from.
type Grave struct {
	Tombstone
	Since time.Time
}

// Graveyard is every tombstone that some facts say together. The zero value is ready to use; a nil one is empty.
type Graveyard struct {
	facts  map[string]grave
	chains map[originalChain][]string
}

type grave struct {
	Grave
	pack string
	live bool
}

type originalChain struct {
	source, path string
	number       int
	root         Ref
}

// Add takes in a fact as the manifest of a pack says it, in any order; what is no tombstone it leaves alone.
func (y *Graveyard) Add(f Fact, pack string) {
	if f.Kind != FactTombstone {
		return
	}
	have, ok := y.facts[f.Key]
	if c := f.Time.Compare(have.Since); ok && (c < 0 || c == 0 && pack <= have.pack) {
		return
	}
	if y.facts == nil {
		y.facts, y.chains = map[string]grave{}, map[originalChain][]string{}
	}
	t, err := ParseTombstone(f)
	if err != nil {
		have.Since, have.pack, have.live = f.Time, pack, false
		y.facts[f.Key] = have
		return
	}
	y.facts[f.Key] = grave{Grave{t, f.Time}, pack, true}
	chain := originalChain{t.Source, t.Path, t.Number, t.Root}
	if t.Number > 0 && !slices.Contains(y.chains[chain], f.Key) {
		y.chains[chain] = append(y.chains[chain], f.Key)
	}
}

// Of returns the grave in which a version lies.
func (y *Graveyard) Of(v *Version) (Grave, bool) {
	if y == nil {
		return Grave{}, false
	}
	if g, ok := y.Holds(v.Source, v.Path, v.SHA256); ok {
		return g, true
	}
	for _, key := range y.chains[originalChain{v.Source, v.Path, v.Number, v.Root}] {
		if g := y.facts[key]; g.live && v.Size <= g.Size {
			return g.Grave, true
		}
	}
	return Grave{}, false
}

// Holds says whether a content of a file is buried, whatever its number. It asks by key: a tombstone need not name the
// path, when that is what must be forgotten.
func (y *Graveyard) Holds(source, path string, sum Ref) (Grave, bool) {
	if y == nil || len(y.facts) == 0 {
		return Grave{}, false
	}
	g := y.facts[Tombstone{Source: source, Path: path, SHA256: sum}.Key()]
	return g.Grave, g.live
}

// Len is the number of live tombstones.
func (y *Graveyard) Len() (n int) {
	if y == nil {
		return 0
	}
	for _, g := range y.facts {
		if g.live {
			n++
		}
	}
	return n
}
