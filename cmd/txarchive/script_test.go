package main

import (
	"archive/zip"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/txarchive/txarchive/internal/blob/blobtest"
	"github.com/txarchive/txarchive/internal/disk"
)

var update = flag.Bool("update", false, "rewrite what scripts compare with")

func TestMain(m *testing.M) {
	if at := os.Getenv(dyingEnv); at != "" {
		os.Exit(dying(at))
	}
	debug.SetGCPercent(400) // hundreds of small archives are opened, which makes much garbage and leaves little
	mountSmallDisk()
	testscript.Main(tidied{m}, map[string]func(){"txarchive": main, "txarchive-at": mainAt, "curl": mainCurl})
}

// mainCurl stands in for curl: it gives the file that the path of the URL on its standard input names.
func mainCurl() {
	said, err := io.ReadAll(os.Stdin)
	if asked := strings.Join(os.Args[1:], " "); err == nil && asked != "-q --fail --silent --show-error --location --globoff --proto =http,https --proto-redir =https --config -" {
		err = errors.New("curl was called with other options: " + asked)
	}
	address, ok := strings.CutPrefix(strings.TrimSuffix(string(said), "\"\n"), "url = \"")
	address = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(address)
	u, parsed := url.Parse(address)
	if err = errors.Join(err, parsed); err == nil && (!ok || u.RawQuery != "" && u.RawQuery != `x=[a]\"`) {
		err = fmt.Errorf("not the URL, of %s: %q", address, said)
	}
	var body []byte
	if err == nil {
		body, err = os.ReadFile(filepath.Base(u.Path))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "curl: (22) %v\n", err)
		os.Exit(22)
	}
	os.Stdout.Write(body)
}

// tidied are tests that leave nothing behind of what they share.
type tidied struct{ *testing.M }

func (m tidied) Run() int {
	code := m.M.Run()
	for _, dir := range []string{built.dir, prepared.root, fill.root, shown.root, exampled.root} {
		if dir != "" {
			_ = filepath.WalkDir(dir, func(p string, e fs.DirEntry, _ error) error {
				if e.IsDir() {
					_ = os.Chmod(p, 0o700) // the examples cannot be written
				}
				return nil
			})
			_ = os.RemoveAll(dir)
		}
	}
	return code
}

// TestScript tells the stories of testdata/script with the real program. $RUNS has the example runs.
func TestScript(t *testing.T) { testscript.Run(t, scriptParams(t, "testdata/script")) }

func scriptParams(t *testing.T, dir string) testscript.Params {
	t.Helper()
	examples, err := filepath.Abs(runs)
	must(t, err)
	real := "" // begins in half the time of a copy of the tests, of which alone coverage is measured
	if testing.CoverMode() == "" {
		real = filepath.Dir(program(t)) + string(filepath.ListSeparator)
	}
	return testscript.Params{
		Dir:                 dir,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", real+e.Getenv("PATH"))
			e.Setenv("RUNS", examples)
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("TZ", "UTC")
			e.Setenv("NO_COLOR", "")
			e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, "data"))
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "root" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return os.Geteuid() == 0, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"copytree": copyTree,
			"append":   appendText,
			"flip":     flip,
			"same":     sameTree,
			"hold":     holdLock,
			"sqlite":   fillDatabase,
			"zip":      makeZip,
		},
	}
}

// copytree FROM TO copies a directory.
func copyTree(ts *testscript.TestScript, _ bool, v []string) {
	if len(v) != 2 {
		ts.Fatalf("usage: copytree FROM TO")
	}
	ts.Check(os.CopyFS(ts.MkAbs(v[1]), os.DirFS(ts.MkAbs(v[0]))))
}

// append FILE TEXT adds text to the end of a file, as it is.
func appendText(ts *testscript.TestScript, _ bool, v []string) {
	if len(v) != 2 {
		ts.Fatalf("usage: append FILE TEXT")
	}
	f, err := os.OpenFile(ts.MkAbs(v[0]), os.O_APPEND|os.O_WRONLY, 0)
	ts.Check(err)
	_, err = f.WriteString(v[1])
	ts.Check(err)
	ts.Check(f.Close())
}

// sqlite DATABASE FILE runs the SQL in a file.
func fillDatabase(ts *testscript.TestScript, _ bool, v []string) {
	if len(v) != 2 {
		ts.Fatalf("usage: sqlite DATABASE FILE")
	}
	path := ts.MkAbs(v[0])
	ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path))
	ts.Check(err)
	_, err = db.ExecContext(context.Background(), ts.ReadFile(v[1]))
	ts.Check(errors.Join(err, db.Close()))
	quiet := time.Now().Add(-time.Hour) // a file that was written just now may be written again unseen
	ts.Check(os.Chtimes(path, quiet, quiet))
}

// zip ZIP FILE... packs files, without the directories above them.
func makeZip(ts *testscript.TestScript, _ bool, v []string) {
	if len(v) < 2 {
		ts.Fatalf("usage: zip ZIP FILE...")
	}
	f, err := os.Create(ts.MkAbs(v[0]))
	ts.Check(err)
	z := zip.NewWriter(f)
	for _, name := range v[1:] {
		w, err := z.Create(filepath.Base(name))
		ts.Check(err)
		_, err = io.WriteString(w, ts.ReadFile(name))
		ts.Check(err)
	}
	ts.Check(errors.Join(z.Close(), f.Close()))
	quiet := time.Now().Add(-time.Hour)
	ts.Check(os.Chtimes(ts.MkAbs(v[0]), quiet, quiet))
}

// flip GLOB turns some bytes around in the midst of the packs that match.
func flip(ts *testscript.TestScript, _ bool, v []string) {
	if len(v) != 1 {
		ts.Fatalf("usage: flip GLOB")
	}
	files, err := filepath.Glob(ts.MkAbs(v[0]))
	ts.Check(err)
	if len(files) == 0 {
		ts.Fatalf("no file matches %s", v[0])
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		ts.Check(err)
		blobtest.Damage(b, len(b)/2)
		ts.Check(os.Chmod(file, 0o600))
		ts.Check(os.WriteFile(file, b, 0o600))
	}
}

// same A B compares two trees: names, bytes, times and modes.
func sameTree(ts *testscript.TestScript, neg bool, v []string) {
	if len(v) != 2 {
		ts.Fatalf("usage: same DIR DIR")
	}
	a, b := treeOf(ts, ts.MkAbs(v[0])), treeOf(ts, ts.MkAbs(v[1]))
	differs := len(a) != len(b)
	for name, want := range a {
		if b[name] != want {
			differs = true
			ts.Logf("%s is %+v, want %+v", name, b[name], want)
		}
	}
	if differs != neg {
		ts.Fatalf("%s and %s: differ is %v", v[0], v[1], differs)
	}
}

type leaf struct {
	content string
	mtime   int64
	mode    os.FileMode
}

func treeOf(ts *testscript.TestScript, dir string) map[string]leaf {
	all := map[string]leaf{}
	ts.Check(filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		all[rel] = leaf{string(b), info.ModTime().UnixNano(), info.Mode()}
		return err
	}))
	return all
}

// hold FILE takes a lock, as another writer would, until the story ends; "! hold FILE" gives it back.
func holdLock(ts *testscript.TestScript, release bool, v []string) {
	if len(v) != 1 {
		ts.Fatalf("usage: hold FILE")
	}
	file := ts.MkAbs(v[0])
	if release {
		ts.Check(held[file].Release())
		delete(held, file)
		return
	}
	lock, err := (&disk.FS{}).Lock(file, disk.Holder{PID: 1, Host: "here", Command: "hold"})
	ts.Check(err)
	held[file] = lock
}

// held are the locks of stories; each has files of its own, and only one works with any.
var held = map[string]*disk.Lock{}
