package ingest_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/local"
	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest"
)

// asked counts the queries of an ingest to the index that are about a single file.
type asked struct {
	ingest.Index
	n atomic.Int64
}

func (a *asked) Newest(ctx context.Context, source, path string) (index.State, error) {
	a.n.Add(1)
	return a.Index.Newest(ctx, source, path)
}

func (a *asked) HasSize(ctx context.Context, size int64) (bool, error) {
	a.n.Add(1)
	return a.Index.HasSize(ctx, size)
}

func (a *asked) ByRef(ctx context.Context, ref blob.Ref) (index.Stored, error) {
	a.n.Add(1)
	return a.Index.ByRef(ctx, ref)
}

func (a *asked) Commit(ctx context.Context, b index.Batch) error {
	a.n.Add(1)
	return a.Index.Commit(ctx, b)
}

// watch is an inotify watch for files below a directory that are opened or read.
type watch struct {
	t    *testing.T
	fd   int
	dirs map[int32]string
}

func newWatch(t *testing.T, dir string) *watch {
	t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		t.Skip("no inotify: ", err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	w := &watch{t, fd, map[int32]string{}}
	if err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		id, err := syscall.InotifyAddWatch(fd, p, syscall.IN_OPEN|syscall.IN_ACCESS)
		w.dirs[int32(id)] = p
		return err
	}); err != nil {
		t.Fatal(err)
	}
	w.files() // the walk itself
	return w
}

// files returns the files that were opened or read since the last call.
func (w *watch) files() map[string]bool {
	w.t.Helper()
	all, buffer := map[string]bool{}, make([]byte, 64<<10)
	for {
		n, err := syscall.Read(w.fd, buffer)
		if err == syscall.EAGAIN {
			return all
		}
		if err != nil {
			w.t.Fatal(err)
		}
		for b := buffer[:n]; len(b) > 0; {
			id, mask, size := binary.NativeEndian.Uint32(b), binary.NativeEndian.Uint32(b[4:]), binary.NativeEndian.Uint32(b[12:])
			name, _, _ := bytes.Cut(b[syscall.SizeofInotifyEvent:syscall.SizeofInotifyEvent+size], []byte{0})
			b = b[syscall.SizeofInotifyEvent+size:]
			if mask&syscall.IN_Q_OVERFLOW != 0 {
				w.t.Fatal("more was opened than the kernel keeps")
			}
			if mask&syscall.IN_ISDIR == 0 {
				all[filepath.Join(w.dirs[int32(id)], string(name))] = true
			}
		}
	}
}

// bytesRead returns how many bytes this process has read so far, from anywhere.
func bytesRead(t *testing.T) (n int64) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/io")
	if err == nil {
		_, err = fmt.Sscanf(string(b), "rchar: %d", &n)
	}
	if err != nil {
		t.Skip("no accounts of the kernel: ", err)
	}
	return n
}

// TestScanWork counts the work of an ingest when nothing is new, and when one file has grown: it opens no unchanged file,
// writes nothing, and queries the index as often for many files as for few. When everything is new, it queries nothing per file.
func TestScanWork(t *testing.T) {
	const lines = 300 // a quarter of twenty such files is more than what further connections read of the index, which varies
	var quiet []int64 // calls of the index when nothing is new
	for _, files := range []int{20, 80} {
		s, w := newTree(t), newWorld(t)
		var size int64
		for i := range files {
			run := fmt.Sprintf("%08d-1111-4111-8111-111111111111", i)
			content := awfLines(run, 1, lines)
			s.write("storage/transcripts/"+run+".jsonl", content)
			s.write(fmt.Sprintf("storage/states/%s.json", run), fmt.Sprintf(`{"run_id":%q}`, run))
			size += int64(len(content))
		}
		var written atomic.Int64
		w.Packs = local.New(&disk.FS{Fault: func(string, string) error { written.Add(1); return nil }}, filepath.Join(w.dir, "packs"))
		index := &asked{Index: w.index}
		w.Index = index
		count := func() (read int64) {
			t.Helper()
			written.Store(0)
			index.n.Store(0)
			before := bytesRead(t)
			w.ingest("runs", s.dir, ".")
			return bytesRead(t) - before
		}

		first := count()
		if first < size || written.Load() == 0 || index.n.Load() == 0 {
			t.Fatalf("of %d bytes %d were read, with %d operations and %d questions: nothing was counted", size, first, written.Load(), index.n.Load())
		}
		if n := index.n.Load(); n >= int64(files) {
			t.Errorf("of %d files, of which none is known, the index was asked %d times", files, n)
		}
		watch := newWatch(t, s.dir)
		read := count()
		if opened := watch.files(); len(opened) > 0 || written.Load() > 0 || read > size/4 {
			t.Errorf("nothing is new in %d files: %d files opened, %d operations that write, %d bytes of %d read", files, len(opened), written.Load(), read, size)
		}
		quiet = append(quiet, index.n.Load())

		grown := filepath.Join(s.dir, "storage/transcripts/00000003-1111-4111-8111-111111111111.jsonl")
		s.write("storage/transcripts/"+filepath.Base(grown), awfLines(strings.TrimSuffix(filepath.Base(grown), ".jsonl"), 1, lines+1))
		watch.files()
		read = count()
		if opened := watch.files(); len(opened) != 1 || !opened[grown] || read > size/4 {
			t.Errorf("one of %d files has grown: %d files opened, %d bytes of %d read", files, len(opened), read, size)
		}
		if n := index.n.Load(); n > 8 {
			t.Errorf("one of %d files has grown: the index was asked %d times", files, n)
		}
	}
	if quiet[0] != quiet[1] {
		t.Errorf("the index was asked %d times about 20 files without news, %d times about 80", quiet[0], quiet[1])
	}
}

// TestNamedScanWork ingests a file that is named, nothing else of its directory: once it is archived, it is not opened again.
func TestNamedScanWork(t *testing.T) {
	const name = "00000003-1111-4111-8111-111111111111.jsonl"
	s, w := newTree(t), newWorld(t)
	s.write(name, awfLines(strings.TrimSuffix(name, ".jsonl"), 1, 3))
	watch := newWatch(t, s.dir)
	w.ingest("runs", s.dir, name)
	if len(watch.files()) != 1 {
		t.Fatal("nothing is seen of the first ingest")
	}
	w.ingest("runs", s.dir, name)
	if opened := watch.files(); len(opened) > 0 {
		t.Errorf("nothing is new: opened %v", opened)
	}
}
