package formattest

import (
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// parseTimeout is how long Parse may take for one input of the fuzzer.
const parseTimeout = 10 * time.Second

// Fuzz feeds fuzzed bytes to Detect, Parse and Text as an original of the given role and path, and applies Check. Its seeds
// are the originals of that role in testdata.
func Fuzz(f *testing.F, fm format.Format, role, path string) {
	f.Helper()
	cases, err := filepath.Glob("testdata/*/in")
	if err != nil {
		f.Fatal(err)
	}
	seeds := 0
	for _, in := range cases {
		for _, o := range Originals(f, fm, filepath.Dir(in)) {
			content, ok := o.Content()
			if ok && o.Claim.Role == role && len(content) <= 64<<10 {
				f.Add(content)
				seeds++
			}
		}
	}
	if seeds == 0 {
		f.Fatalf("no original of role %q in testdata", role)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		watch := time.AfterFunc(parseTimeout, func() { panic("formattest: Parse hangs") })
		defer watch.Stop()
		claim := Detect(fm, path, b)
		Check(t, fm, Input{Path: path, Root: claim.Root, Role: role, Bytes: b})
	})
}

func lineBased(name string) bool {
	switch path.Ext(name) {
	case ".jsonl", ".ndjson":
		return true
	}
	return false
}
