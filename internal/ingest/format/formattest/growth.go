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

// Growth cuts every log of the cases at each of its line ends. The records of the shorter file must be those that the whole
// file yields for the same lines. except names files in which a later line may determine how the first ones are read.
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
				part := recordsBefore(Check(t, f, o.Input(bytes.Clone(o.Bytes[:cut]))), cut)
				if !reflect.DeepEqual(part, recordsBefore(o.records, cut)) {
					t.Errorf("%s: other records of its first %d bytes", o.Path, cut)
				}
			}
		}
	}
	if logs == 0 {
		t.Error("no case has a log")
	}
}

// recordsBefore returns the records whose place is before an offset.
func recordsBefore(records []transcript.Record, end int64) []transcript.Record {
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
