package pack

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
)

// TestReadmeRecipe runs the script of README.txt on packs with everything that packs can contain, and checks that it restores
// every original.
func TestReadmeRecipe(t *testing.T) {
	w := recipeWorld(t)
	dir := t.TempDir()
	for _, m := range w.packs {
		writePack(t, dir, m.Pack, blobtestRead(t, w.store, m.Pack))
	}
	runRecipe(t, dir)
	wantOriginals(t, w, dir)
}

// TestReadmeRecipeAfterGC replaces the pack that copies refer to, and leaves another replaced pack in place, as a crash
// would.
func TestReadmeRecipeAfterGC(t *testing.T) {
	ctx := context.Background()
	w := recipeWorld(t)
	dir := t.TempDir()
	for i, m := range w.packs {
		data := blobtestRead(t, w.store, m.Pack)
		if i > 0 {
			writePack(t, dir, m.Pack, data)
		}
		if i > 1 {
			continue
		}
		p, err := w.store.Open(ctx, m.Pack)
		w.check(err)
		unit, err := CopyUnit(ctx, m.Pack, p, m.Members)
		w.check(err)
		nw := w.open("gc", w.now.AddDate(0, 1, i))
		_, err = nw.Append(unit)
		w.check(err)
		gc, _, err := nw.Seal(ctx, blob.Manifest{Versions: m.Versions, Replaces: []string{m.Pack}})
		w.check(err)
		writePack(t, dir, gc.Pack, blobtestRead(t, w.store, gc.Pack))
	}
	runRecipe(t, dir)
	wantOriginals(t, w, dir)
}

// recipeWorld makes packs with originals that grow across packs, later versions, hard links, and growing copies from other packs.
func recipeWorld(t *testing.T) *world {
	w := newWorld(t, 21)
	w.begin()
	a := w.add("runs", "fix/a.jsonl", 1, w.text(300))
	b := w.add("runs", "fix/a.jsonl.log", 1, w.text(20000))
	w.add("runs", "empty", 1, nil)
	w.extend(a, w.text(111))
	link := w.add("copies", "in pack", 1, a.content[:300])
	odd := w.add("runs", `odd "name" with \backslash & trailing `, 1, w.text(77))
	w.add("runs", "x@ba7816bf.0000000000000012", 1, w.text(20))
	for i, path := range hostile {
		w.add("hostile", path, 1, w.text(30+i))
	}
	w.seal()

	w.begin()
	w.extend(a, w.text(222))
	w.extend(b, w.text(9000))
	w.extend(link, w.text(50)) // must not grow what it is linked to
	rewritten := w.add("runs", "fix/a.jsonl", 2, w.text(400))
	across := w.add("copies", "across", 1, b.content[:20000])
	w.add("copies", `odd "too" \ `, 1, odd.content)
	w.seal()

	w.begin()
	w.extend(rewritten, w.text(500))
	w.extend(across, w.text(60))
	w.add("runs", "fix/a.jsonl", 3, odd.content)
	w.extend(w.chains[len(w.chains)-1], w.text(10))
	w.extend(a, w.text(333))
	w.seal()
	return w
}

func writePack(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	path := filepath.Join(dir, "packs", filepath.FromSlash(name)+".tar.gz")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// runRecipe does what README.txt says: it saves the lines between the marks and runs them.
func runRecipe(t *testing.T, dir string) {
	t.Helper()
	_, script, ok := strings.Cut(Readme, "---- restore.sh ----\n")
	script, _, ok2 := strings.Cut(script, "---- end ----\n")
	if !ok || !ok2 {
		t.Fatal("README.txt has no script")
	}
	if err := os.WriteFile(filepath.Join(dir, "restore.sh"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "restore.sh")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("restore.sh: %v\n%s", err, out)
	}
}

func wantOriginals(t *testing.T, w *world, dir string) {
	t.Helper()
	for _, c := range w.chains {
		name := entryName(c.source, c.path, 1, c.root, 0)
		if c.version > 1 {
			name += "@" + c.root.Short()
		}
		got, err := os.ReadFile(filepath.Join(dir, "restored", "originals", filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(got, c.content) {
			t.Errorf("%s: %d bytes, want %d, %v", name, len(got), len(c.content), err)
		}
	}
	// Read one extent without extracting anything.
	for _, c := range w.chains {
		for i, e := range c.extents {
			file := filepath.Join(dir, "packs", filepath.FromSlash(c.packs[i])+".tar.gz")
			if _, err := os.Stat(file); err != nil || e.CopyOf != nil {
				continue
			}
			got, err := exec.Command("sh", "-c", fmt.Sprintf("gzip -dc '%s' | tail -c +%d | head -c %d", file, e.Raw+1, e.Size)).Output()
			if err != nil || !bytes.Equal(got, c.content[e.Offset:][:e.Size]) {
				t.Errorf("%s at %d: %d bytes, want %d, %v", c.path, e.Offset, len(got), e.Size, err)
			}
		}
	}
}
