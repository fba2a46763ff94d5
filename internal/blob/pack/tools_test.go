package pack

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/seedtest"
)

// extractors are commands that extract the pack $1 into the present directory. tar and gzip are everywhere; the
// others are tried where they are installed.
var extractors = []struct{ need, script string }{
	{"tar", `LC_ALL=C tar xzf "$1"`},
	{"tar", `LC_ALL=C.UTF-8 tar xzf "$1"`},
	{"gzip", `gzip -t "$1" && gzip -dc "$1" | tar xf -`},
	{"bsdtar", `LC_ALL=C bsdtar xzf "$1"`},
	{"bsdtar", `LC_ALL=C.UTF-8 bsdtar xzf "$1"`},
	{"busybox", `busybox tar xzf "$1"`},
	{"python3", `python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall()' "$1"`},
}

// TestToolsReadEveryPack checks that every tool extracts identical files, and prints nothing to stderr.
func TestToolsReadEveryPack(t *testing.T) {
	w := newWorld(t, seedtest.Seed(t))
	w.begin()
	for i, path := range hostile { // all of them once, the random ones come on top
		c := w.add("runs", path, 1, w.text(1+100*i))
		w.extend(c, w.text(50))
	}
	for i, c := range w.chains[:len(hostile)] { // each as the target of a hard link, and as its name
		if size := c.extents[0].Size; size > 0 {
			w.add("links", c.path, 1, c.content[:size])
			w.add("links", fmt.Sprintf("short-%d", i), 1, c.content[:size])
		}
	}
	w.seal()
	w.fill(60)
	w.fill(60)
	dir := t.TempDir()
	for _, m := range w.packs {
		file := filepath.Join(dir, filepath.Base(m.Pack)+".tar.gz")
		if err := os.WriteFile(file, blobtestRead(t, w.store, m.Pack), 0o600); err != nil {
			t.Fatal(err)
		}
		want := w.entries(m)
		for _, tool := range extractors {
			if _, err := exec.LookPath(tool.need); err != nil && tool.need != "tar" && tool.need != "gzip" {
				t.Logf("%s is not installed", tool.need)
				continue
			}
			extracted := t.TempDir()
			var stderr bytes.Buffer
			cmd := exec.Command("sh", "-ec", tool.script, "sh", file)
			cmd.Dir, cmd.Stderr = extracted, &stderr
			if err := cmd.Run(); err != nil || stderr.Len() > 0 {
				t.Errorf("%s: %v %s", tool.script, err, stderr.String())
				continue
			}
			compareTree(t, tool.script, extracted, want)
		}
	}
}

// entries returns what a pack must hold, by entry name.
func (w *world) entries(m blob.Manifest) map[string][]byte {
	want := map[string][]byte{}
	for _, c := range w.chains {
		for i, e := range c.extents {
			if c.packs[i] == m.Pack && (e.CopyOf == nil || e.CopyOf.Pack == "") {
				want[entryName(c.source, c.path, c.version, c.root, e.Offset)] = c.content[e.Offset:][:e.Size]
			}
		}
	}
	return want
}

// compareTree checks that dir contains exactly these files, and manifests.
func compareTree(t *testing.T, what, dir string, want map[string][]byte) {
	t.Helper()
	found, manifests := 0, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(strings.TrimPrefix(path, dir)), "/")
		if strings.HasPrefix(name, manifestDir+"/") {
			manifests++
			return nil
		}
		content, known := want[name]
		got, err := os.ReadFile(path)
		if !known || !bytes.Equal(got, content) {
			t.Errorf("%s: %q (known: %v) has %d bytes, want %d", what, name, known, len(got), len(content))
		}
		found++
		return err
	})
	if err != nil || found != len(want) || manifests != 1 {
		t.Errorf("%s: %d files and %d manifests, want %d and 1, %v", what, found, manifests, len(want), err)
	}
}
