package formattest

import (
	"bytes"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Growth cuts every log of the cases at each of its line ends: a file that grows gives, for the lines that it had before,
// the records that it gave before. except names files for which a later line may say what the first ones are.
func Growth(t *testing.T, f format.Format, except ...string) {
	t.Helper()
	cases, err := filepath.Glob("testdata/*/in")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases under testdata: %v", err)
	}
	logs := 0
	for _, in := range cases {
		for _, o := range Originals(t, f, filepath.Dir(in)) {
			if !o.Claim.Log || slices.Contains(except, filepath.Base(o.Path)) {
				continue
			}
			logs++
			for end, c := range o.Bytes {
				if c != '\n' {
					continue
				}
				cut := int64(end + 1)
				part := placed(Check(t, f, o.Input(bytes.Clone(o.Bytes[:cut]))), cut)
				if !reflect.DeepEqual(part, placed(o.records, cut)) {
					t.Errorf("%s: other records of its first %d bytes", o.Path, cut)
				}
			}
		}
	}
	if logs == 0 {
		t.Error("no case has a log")
	}
}

// placed is the records that stand in the first bytes of a file.
func placed(records []transcript.Record, end int64) []transcript.Record {
	var some []transcript.Record
	for _, record := range records {
		at := end
		switch r := record.(type) {
		case *transcript.Event:
			at = r.Origin.Offset
		case *transcript.Usage:
			at = r.Origin.Offset
		case *transcript.Link:
			at = r.Origin.Offset
		case *transcript.Hint:
			at = r.Origin.Offset
		case *transcript.Problem:
			at = r.Origin.Offset
		}
		if at < end {
			some = append(some, record)
		}
	}
	return some
}
