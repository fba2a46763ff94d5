package blob

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// FactLost is the kind of facts that record which bytes of an original are lost.
const FactLost = "lost"

// ErrLost says that bytes were lost by damage and that a repair has recorded the loss. It wraps ErrCorrupt.
var ErrLost error = lost{}

type lost struct{}

func (lost) Error() string { return "lost to damage" }

func (lost) Unwrap() error { return ErrCorrupt }

// ErrMissing says that a whole pack is missing. It wraps ErrCorrupt.
var ErrMissing error = missing{}

type missing struct{}

func (missing) Error() string { return "missing" }

func (missing) Unwrap() error { return ErrCorrupt }

// Loss is a range of bytes of an original that no pack holds any more. A repair that finds them nowhere records it as a
// fact; if they turn up later, a newer fact of the same key retracts it.
type Loss struct {
	Source string // exact bytes, as in Version
	Path   string
	Number int // with Root, identifies the chain
	Root   Ref
	Offset int64 // in the chain
	Size   int64
	Pack   string // that held them, "" if unknown
	Since  time.Time
}

type lossValue struct {
	fileName
	Number int       `json:"version"`
	Root   Ref       `json:"root"`
	Offset int64     `json:"offset"`
	Size   int64     `json:"size"`
	Pack   string    `json:"pack,omitempty"`
	Since  time.Time `json:"since"`
}

// Key returns the key of the loss's fact: one for each chain and offset.
func (l Loss) Key() string {
	return fileKey(l.Source, l.Path, number(int64(l.Number)), l.Root[:], number(l.Offset))
}

// Chain returns the chain that lost the bytes.
func (l *Loss) Chain() Chain { return Chain{Name{l.Source, l.Path}, l.Number, l.Root} }

// Fact returns the fact that records l.
func (l Loss) Fact(at time.Time) Fact {
	v := lossValue{fileName: newFileName(l.Source, l.Path), Number: l.Number, Root: l.Root, Offset: l.Offset, Size: l.Size, Pack: l.Pack, Since: l.Since.UTC()}
	value, _ := json.Marshal(v) // of strings, numbers and bytes: it cannot fail
	return Fact{Kind: FactLost, Key: l.Key(), Time: at, Value: value}
}

// Retract returns the fact that retracts l.
func (l Loss) Retract(at time.Time) Fact {
	return Retraction(FactLost, l.Key(), at)
}

// ParseLoss decodes the value of a fact. It fails if the value names no bytes, as in a retraction.
func ParseLoss(f Fact) (Loss, error) {
	var v lossValue
	if f.Kind != FactLost {
		return Loss{}, fmt.Errorf("a %s is not a loss", f.Kind)
	}
	if err := json.Unmarshal(f.Value, &v); err != nil {
		return Loss{}, fmt.Errorf("loss: %w", err)
	}
	l := Loss{Number: v.Number, Root: v.Root, Offset: v.Offset, Size: v.Size, Pack: v.Pack, Since: v.Since}
	l.Source, l.Path = v.exact()
	if l.Source == "" || l.Number < 1 || l.Offset < 0 || l.Size < 0 {
		return Loss{}, errors.New("a loss must name a version of an original and some of its bytes")
	}
	return l, nil
}

// Losses is a set of losses, built fact by fact. The zero value is ready to use.
type Losses struct {
	facts  map[string]lossFact
	chains map[Chain][]string
}

type lossFact struct {
	Loss
	time time.Time
	pack string
	live bool
}

// Add adds a fact of the manifest of pack. Facts may come in any order; those of other kinds are ignored.
func (ls *Losses) Add(f Fact, pack string) {
	if f.Kind != FactLost {
		return
	}
	have, ok := ls.facts[f.Key]
	if c := f.Time.Compare(have.time); ok && (c < 0 || c == 0 && pack <= have.pack) {
		return
	}
	if ls.facts == nil {
		ls.facts, ls.chains = map[string]lossFact{}, map[Chain][]string{}
	}
	l, err := ParseLoss(f)
	ls.facts[f.Key] = lossFact{l, f.Time, pack, err == nil}
	chain := l.Chain()
	if err == nil && !slices.Contains(ls.chains[chain], f.Key) {
		ls.chains[chain] = append(ls.chains[chain], f.Key)
	}
}

// Of returns the losses of a version, ordered by offset.
func (ls *Losses) Of(v *Version) []Loss {
	var all []Loss
	for _, key := range ls.chains[v.Chain()] {
		if f := ls.facts[key]; f.live {
			all = append(all, f.Loss)
		}
	}
	slices.SortFunc(all, func(a, b Loss) int { return cmp.Compare(a.Offset, b.Offset) })
	return all
}

// Touches reports whether any byte of a range of a version is lost.
func Touches(all []Loss, offset, size int64) bool {
	return slices.ContainsFunc(all, func(l Loss) bool { return l.Offset < offset+size && offset < l.Offset+l.Size })
}

// Covers reports whether all bytes of a range of a version are lost; if size is 0, whether the place is in a loss. all is
// ordered by offset.
func Covers(all []Loss, offset, size int64) bool {
	end := offset + size
	for _, l := range all {
		if l.Offset <= offset && (offset < l.Offset+l.Size || size == 0 && offset == l.Offset) {
			offset = l.Offset + l.Size
		}
		if offset >= end {
			return true
		}
	}
	return false
}
