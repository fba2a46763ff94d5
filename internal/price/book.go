package price

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

//go:embed prices_*.tsv
var shipped embed.FS

// Default returns the book of the shipped tables. They are parsed when the book is first used: commands that price
// nothing pay nothing.
func Default() *Book { return defaultBook }

var defaultBook = &Book{load: sync.OnceValue(func() []*table {
	var tables []Table
	for _, src := range shippedTexts() {
		t, err := parse(src)
		if err != nil {
			panic("price: shipped table: " + err.Error()) // a broken build: the tests parse every table
		}
		tables = append(tables, t)
	}
	return index(nil, tables)
}), id: shippedID}

func shippedTexts() (texts []string) {
	files, err := shipped.ReadDir(".")
	for _, f := range files {
		var src []byte
		if src, err = shipped.ReadFile(f.Name()); err != nil {
			break
		}
		texts = append(texts, string(src))
	}
	if err != nil {
		panic("price: shipped table: " + err.Error())
	}
	return texts
}

// shippedID returns the digest of shippedTexts without copying them: every ingest needs it, and most need nothing
// else of the book.
func shippedID() string {
	h := sha256.New()
	files, err := shipped.ReadDir(".")
	for _, f := range files {
		var src fs.File
		var info fs.FileInfo
		if src, err = shipped.Open(f.Name()); err != nil {
			break
		}
		if info, err = src.Stat(); err != nil {
			break
		}
		fmt.Fprintf(h, "%d:", info.Size())
		if _, err = io.Copy(h, src); err != nil {
			break
		}
	}
	if err != nil {
		panic("price: shipped table: " + err.Error())
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Book is a set of dated tables and overrides. It is immutable and safe for concurrent use.
type Book struct {
	load      func() []*table // ascending by date
	id        func() string   // digest of the tables that load returns
	overrides []Override
	layers    []layer
	cache     sync.Map // cacheKey -> *Match: an archive names a few dozen models a million times
	cached    atomic.Int32
}

// maxCached bounds the cache: names come from transcripts, which may be hostile.
const maxCached = 4096

type cacheKey struct {
	model, provider string
	table, layer    int
	old             bool // the day is before the oldest table
}

// Override is a local price of one model from a day on, in UTC. It outranks every table, for every spelling of the
// model that the rules accept; an override of a qualified name ("azure/gpt-5") applies only to that provider.
type Override struct {
	Model   string   `json:"model"`
	From    string   `json:"from"` // YYYY-MM-DD, "" for always
	Rates   []Rate   `json:"rates"`
	Factors []Factor `json:"factors,omitempty"`
	Note    string   `json:"note,omitempty"` // why, for people
}

// Validate returns what is wrong with o, or nil.
func (o Override) Validate() error {
	if o.Model == "" {
		return fmt.Errorf("override: no model")
	}
	if o.From != "" && !validDay(o.From) {
		return fmt.Errorf("override of %s: valid-from %q is not YYYY-MM-DD", o.Model, o.From)
	}
	for _, r := range o.Rates {
		if r.Class >= numClasses || r.Service >= numServices || r.Above < 0 || r.Pico < 0 || r.Pico > maxPico {
			return fmt.Errorf("override of %s: unusable price %s", o.Model, r.rateName())
		}
	}
	for _, f := range o.Factors {
		if f.Name == "" || f.PPM <= 0 || f.PPM > maxPPM {
			return fmt.Errorf("override of %s: unusable factor %q", o.Model, f.Name)
		}
	}
	if e := (Entry{Rates: o.Rates}); !e.Priced() {
		return fmt.Errorf("override of %s: input and output prices are needed", o.Model)
	}
	return nil
}

// layer is the set of overrides in force from a day on.
type layer struct {
	from  string
	table *table
}

// New returns a book of the given tables; of two with the same date the later argument wins.
func New(tables ...Table) *Book {
	idx := index(nil, tables)
	return &Book{load: func() []*table { return idx }, id: func() string { return digest(fmt.Sprint(tables)) }}
}

// ErrTable means that the text of a table is in no form that this program can read.
var ErrTable = errors.New("unknown kind of price table")

// Add returns a book with another table, given in its text form, which is parsed when the book is first used. It
// returns ErrTable if the first line is not that of a table. Of two tables with the same date the one that was added
// later wins. A table whose lines turn out to be invalid is ignored; Parse reports that beforehand.
func (b *Book) Add(text string) (*Book, error) {
	if !strings.HasPrefix(text, header+"\n") {
		return nil, ErrTable
	}
	load, id := b.load, b.id
	n := &Book{id: func() string { return digest(id(), text) }, load: sync.OnceValue(func() []*table {
		t, err := parse(text)
		if err != nil {
			return load()
		}
		return index(load(), []Table{t})
	})}
	n.setOverrides(b.overrides)
	return n, nil
}

// ID identifies the prices of a book: books made of the same tables and overrides, with the same rules for finding
// rows, have the same ID. Nothing is parsed for it.
func (b *Book) ID() string {
	own, err := json.Marshal(b.overrides)
	if err != nil {
		panic("price: " + err.Error()) // numbers and texts
	}
	return digest(b.id(), string(own), rules)
}

// rules is the version of the rules that match names to rows and of those that compute charges. When it changes,
// costs are computed anew.
const rules = "5"

// With returns a book with further overrides. Of two for the same model and day the later one wins; those that
// Validate rejects are ignored.
func (b *Book) With(overrides []Override) *Book {
	n := &Book{load: b.load, id: b.id}
	n.setOverrides(slices.Concat(b.overrides, overrides))
	return n
}

// Tables returns the tables, oldest first.
func (b *Book) Tables() []Table {
	var out []Table
	for _, t := range b.load() {
		out = append(out, t.Table)
	}
	return out
}

// Overrides returns the overrides, oldest valid-from day first.
func (b *Book) Overrides() []Override { return slices.Clone(b.overrides) }

func index(have []*table, more []Table) []*table {
	out := slices.Clone(have)
	for _, t := range more {
		out = slices.DeleteFunc(out, func(o *table) bool { return o.Date == t.Date })
		out = append(out, newTable(t))
	}
	slices.SortStableFunc(out, func(a, b *table) int { return strings.Compare(a.Date, b.Date) })
	return out
}

func (b *Book) setOverrides(all []Override) {
	valid := slices.DeleteFunc(slices.Clone(all), func(o Override) bool { return o.Validate() != nil })
	slices.SortStableFunc(valid, func(x, y Override) int { return cmp.Compare(x.From, y.From) })
	b.overrides = valid
	inForce := map[string]Entry{}
	for i, o := range valid {
		e := Entry{Key: o.Model, Provider: "override", Rates: slices.Clone(o.Rates), Factors: slices.Clone(o.Factors), from: o.From}
		sortRates(e.Rates)
		inForce[o.Model] = e
		if i+1 < len(valid) && valid[i+1].From == o.From {
			continue
		}
		t := Table{Date: o.From, Source: "override"}
		for _, e := range inForce {
			t.Entries = append(t.Entries, e)
		}
		slices.SortFunc(t.Entries, func(x, y Entry) int { return strings.Compare(x.Key, y.Key) })
		b.layers = append(b.layers, layer{o.From, newTable(t)})
	}
}

// inForce returns the indexes of the table and the override layer in force on day (YYYY-MM-DD; "" means unknown and
// selects the newest). An index is -1 if there is none. A table of added models is in force only if there is no other.
func (b *Book) inForce(day string) (ti, li int) {
	tables := b.load()
	ti, li = -1, len(b.layers)-1
	for i := range slices.Backward(tables) {
		switch {
		case ti < 0, tables[ti].Added:
			ti = i
		case !tables[i].Added && day != "" && tables[ti].Date > day:
			ti = i
		}
	}
	if day == "" {
		return ti, li
	}
	for li >= 0 && b.layers[li].from > day {
		li--
	}
	return ti, li
}

func dayOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}
