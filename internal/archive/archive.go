// Package archive combines the packs and the index of an archive: it opens and locks the directory, reads the bytes and
// the text of what the index found, restores originals, finds damage, and replaces one generation of the index with
// the next.
//
// It is the only package that knows both stores. What it needs to know about formats it gets through Options. It promises that
// a reader takes no lock and changes nothing, that there is one writer at a time, that everything but packs/ may be lost,
// and that a restore is exact to the byte or fails with an error that names the file.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/local"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite"
)

// The errors of this package.
var (
	// ErrNoArchive says that the directory is not an archive.
	ErrNoArchive = errors.New("no archive here")
	// ErrNoIndex says that the index is missing or damaged; reindexing rebuilds it from the packs.
	ErrNoIndex = errors.New("no index")
	// ErrLocked says that another process is writing. It wraps a *disk.LockedError, which names that process.
	ErrLocked = errors.New("archive is locked")
	// ErrTooNew says that a later program wrote the index or a pack.
	ErrTooNew = errors.New("archive is newer than this program")
	// ErrNoPacks says that the directory has an index but no packs: it was an archive, and its data is missing.
	ErrNoPacks = errors.New("packs/ is missing")
	// ErrReadOnly says that an operation needs an archive that was opened for writing.
	ErrReadOnly = errors.New("archive is open read-only")
)

// Mode says what an archive is opened for.
type Mode int

// The modes.
const (
	Read  Mode = iota // any number of readers, even beside a writer and on a read-only file system
	Write             // one writer at a time
)

// The parts of an archive's directory.
const (
	packsDir   = "packs"
	readmeFile = "README.txt"
	lockFile   = "lock"
	indexLink  = "index.db"
)

// cacheSizes are how many bytes of inflated members are kept.
var cacheSizes = map[Mode]int64{Read: 8 << 20, Write: 16 << 20}

// Options are what an archive needs from its caller. The zero value suffices for everything except Text and inner layers.
type Options struct {
	// Decode returns the text of one part of an event, decoded from its bytes by the format of that name.
	Decode func(format, role string, raw []byte, part int) (string, error)
	// Layer opens the inner layer (transcript.Origin.Inner) of a stored original that r reads. r is an io.Seeker, which may be used before the
	// first Read, with an offset from the start.
	Layer func(inner string, r io.Reader) (io.Reader, error)

	Command string           // the command that the lock file names
	Now     func() time.Time // nil is time.Now
	Log     *slog.Logger     // nil is none
	FS      *disk.FS         // nil is the real file system
	// NoIndex opens the archive even if the index is missing or damaged; Index is then nil. For reading, also if the index is
	// too old or too new, or its disk has no space for the memory that SQLite's readers share.
	NoIndex bool
	// CatalogLimit is how many versions of originals an operation over all of them holds in memory at a time; 0 is 131,072.
	CatalogLimit int
}

func (o Options) normal() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.FS == nil {
		o.FS = &disk.FS{}
	}
	return o
}

// Archive is an open archive. It is safe for concurrent use.
type Archive struct {
	dir      string
	mode     Mode
	opts     Options
	lock     *disk.Lock // nil when reading
	packs    *local.Store
	library  *pack.Library
	layers   *layers
	window   int64 // 0 is contentWindow
	indexErr error // why there is no index

	mu    sync.Mutex
	index *sqlite.DB  // nil if there is none
	held  []io.Closer // see Hold
}

// Open opens the archive in dir. Write takes the lock, removes what a crash has left, and gives an archive without
// an index an empty one, into which the caller must adopt the packs. Read takes no lock and migrates nothing.
//
// Errors: ErrNoArchive, ErrNoPacks, ErrLocked, ErrTooNew, ErrNoIndex (without Options.NoIndex), and index.ErrTooOld when reading
// an index that only a writer can migrate.
func Open(ctx context.Context, dir string, mode Mode, opts Options) (*Archive, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := recognise(dir); err != nil {
		return nil, fmt.Errorf("open archive %s: %w", dir, err)
	}
	opts = opts.normal()
	packs := local.New(opts.FS, filepath.Join(dir, packsDir))
	a := &Archive{
		dir: dir, mode: mode, opts: opts, packs: packs,
		library: pack.NewLibrary(packs, cacheSizes[mode]), layers: newLayers(),
	}
	if err := a.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open archive %s: %w", dir, err), a.Close())
	}
	return a, nil
}

// recognise returns nil if dir is an archive, that is if it has a directory packs.
func recognise(dir string) error {
	info, err := os.Stat(filepath.Join(dir, packsDir))
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return ErrNoArchive
	case !errors.Is(err, fs.ErrNotExist):
		if info, statErr := os.Stat(dir); statErr == nil && !info.IsDir() {
			return fmt.Errorf("not a directory: %w", ErrNoArchive)
		}
		return err
	}
	if _, err := os.Lstat(filepath.Join(dir, indexLink)); err == nil {
		return ErrNoPacks
	}
	return ErrNoArchive
}

func (a *Archive) open(ctx context.Context) error {
	if a.mode == Write {
		lock, err := takeLock(a.dir, a.opts)
		if err != nil {
			return err
		}
		a.lock = lock
		if err := a.cleanUp(ctx); err != nil {
			return err
		}
	}
	db, err := a.openIndex(ctx)
	if err != nil {
		if !a.canOpenWithoutIndex(err) {
			return err
		}
		a.indexErr = err
	}
	a.index = db
	return nil
}

// canOpenWithoutIndex reports whether the archive may be opened although opening the index failed with err.
func (a *Archive) canOpenWithoutIndex(err error) bool {
	if !a.opts.NoIndex {
		return false
	}
	if a.mode == Write {
		return errors.Is(err, ErrNoIndex)
	}
	for _, e := range []error{ErrNoIndex, ErrTooNew, index.ErrTooOld, index.ErrFull, index.ErrDisk} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// takeLock takes the writer's lock. It returns ErrLocked if another process has it.
func takeLock(dir string, opts Options) (*disk.Lock, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	holder := disk.Holder{PID: os.Getpid(), Host: host, Command: opts.Command, Since: opts.Now().UTC()}
	lock, err := opts.FS.Lock(filepath.Join(dir, lockFile), holder)
	if _, held := errors.AsType[*disk.LockedError](err); held {
		return nil, fmt.Errorf("%w: %w", ErrLocked, err)
	}
	return lock, err
}

// cleanUp removes what a writer that died has left behind. The caller must hold the lock.
func (a *Archive) cleanUp(ctx context.Context) error {
	n, err := a.packs.RemoveLeftovers(ctx)
	if err != nil {
		return err
	}
	if n > 0 {
		a.opts.Log.DebugContext(ctx, "removed unfinished packs", "n", n)
	}
	if err := a.removeTemporary(); err != nil {
		return err
	}
	if err := a.removeGenerations(); err != nil {
		return err
	}
	return writeReadme(a.dir, a.opts.FS)
}

// Close closes the index and all packs and releases the lock. Closing twice does nothing.
func (a *Archive) Close() error {
	a.mu.Lock()
	db := a.index
	a.index = nil
	a.mu.Unlock()
	var errs []error
	if db != nil {
		errs = append(errs, db.Close())
	}
	for _, c := range a.held {
		errs = append(errs, c.Close())
	}
	a.held = nil
	errs = append(errs, a.library.Close())
	if a.lock != nil {
		errs = append(errs, a.lock.Release())
		a.lock = nil
	}
	return errors.Join(errs...)
}

// Hold has Close close c after the index.
func (a *Archive) Hold(c io.Closer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held = append(a.held, c)
}

// Dir returns the archive's directory.
func (a *Archive) Dir() string { return a.dir }

// Index returns the index, or nil if the archive was opened with NoIndex and has none.
func (a *Archive) Index() *sqlite.DB {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.index
}

// IndexError returns the reason why Index is nil.
func (a *Archive) IndexError() error { return a.indexErr }

// Packs returns the store of the packs.
func (a *Archive) Packs() blob.Store { return a.packs }

// Library returns a reader of originals that works with the manifests of packs, without the index.
func (a *Archive) Library() *pack.Library { return a.library }

// machineFiles hold an id of the machine that stays the same when the host name changes.
var machineFiles = []string{"/etc/machine-id", "/var/lib/dbus/machine-id"}

// WriterID returns the id of this machine and user in the names of packs: 8 letters and digits that reveal nothing about
// either. It is derived, not stored, so an archive that is copied to another machine has another writer there. Names of packs
// are unique even if two writers get the same id.
func (a *Archive) WriterID() string {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	machine := ""
	for _, file := range machineFiles {
		if b, err := os.ReadFile(file); err == nil {
			machine = strings.TrimSpace(string(b))
			break
		}
	}
	return index.PublicID("", "writer", machine, host, strconv.Itoa(os.Getuid()))[:8]
}
