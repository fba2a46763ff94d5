// Package indextest is the conformance suite that every index must pass, and the small synthetic corpus that it
// queries. It does not depend on an engine.
package indextest

import (
	"fmt"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/collect"
	"github.com/txarchive/txarchive/internal/index/lexicon"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Original is a file of the corpus with the records of its format.
type Original struct {
	Source, Path string
	Number       int // 0 is 1
	Format       string
	Role         string
	Claim        string
	Size         int64
	Content      string // tells contents apart; "" is the path
	Records      []transcript.Record
	Host         string
	ChunkSize    int       // records per chunk; 0 is all
	Remember     int       // for the Collector; 0 is its default
	Changed      time.Time // zero is Epoch
}

func (o *Original) changed() time.Time {
	if o.Changed.IsZero() {
		return Epoch
	}
	return o.Changed
}

func (o *Original) number() int { return max(o.Number, 1) }

func (o *Original) ref() blob.Ref {
	if o.Content == "" {
		return blob.RefOf([]byte(o.Source + "/" + o.Path + fmt.Sprint(o.number())))
	}
	return blob.RefOf([]byte(o.Content))
}

// Epoch is the time of the first event.
var Epoch = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// memberSize is the raw size of the members of the packs: small, so that originals span several.
const memberSize = 1000

// Batch stores originals in one pack and indexes them, one entry after the other behind a header of 512 bytes.
func Batch(pack string, originals ...Original) index.Batch {
	row := &index.PackRow{Name: pack, Created: Epoch, Writer: "test"}
	b := index.Batch{Pack: row}
	raw := int64(0)
	for _, o := range originals {
		v := blob.Version{Source: o.Source, Path: o.Path, Number: o.number(), Root: o.ref(), Size: o.Size, SHA256: o.ref(),
			ModTime: o.changed(), Mode: 0o644, Format: o.Format, Role: o.Role, Claim: o.Claim,
			Extents: []blob.Extent{{Size: o.Size, SHA256: o.ref(), Raw: raw + 512}}}
		raw += 512 + o.Size
		row.Versions = append(row.Versions, v)
		if o.Format == "" {
			continue
		}
		c := collect.New(&lexicon.Lexicon{})
		if o.Remember > 0 {
			c.Remember(o.Remember)
		}
		c.Reset(index.Subject{VersionKey: index.VersionKey{Source: o.Source, Path: o.Path, Number: o.number()}, Format: o.Format,
			Role: o.Role, Parser: 1, Claim: o.Claim, Size: o.Size, SHA256: o.ref(), ModTime: o.changed().UnixMicro(), Host: o.Host})
		for i, r := range o.Records {
			if o.ChunkSize > 0 && i > 0 && i%o.ChunkSize == 0 {
				b.Parsed = append(b.Parsed, c.Take(false))
			}
			c.Add(r)
		}
		b.Parsed = append(b.Parsed, c.Take(true))
	}
	for at := int64(0); at < raw; at += memberSize {
		n := min(memberSize, raw-at)
		row.Members = append(row.Members, blob.Member{Offset: row.Size, Size: n / 4, Raw: at, RawSize: n})
		row.Size += n / 4
	}
	return b
}

// At returns the time some seconds after Epoch.
func At(seconds int64) transcript.Time {
	return transcript.Time{UnixMicro: Epoch.UnixMicro() + seconds*1e6, Valid: true}
}

// Place returns the place of the n-th record of an original; each has 100 bytes.
func Place(n int) transcript.Origin {
	return transcript.Origin{Line: n + 1, Offset: int64(n) * 100, Length: 100}
}

// Parse returns the tree of a query that is asked at Epoch.
func Parse(t testing.TB, text string) *query.Tree {
	t.Helper()
	tree, err := query.Parse(text, Epoch, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
