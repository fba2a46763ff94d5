// Package backup copies an archive's packs to another directory, and records in snapshots which packs the archive had
// at each backup.
//
// A backup directory has the layout of an archive: packs/ is all that is needed to restore everything, with or
// without this package. Beside it are snapshots/ (which packs made up the archive when), README.txt and
// backup.json, which names the archive.
//
// It promises that packs are only added whole, and that each is read back and compared with its hashes before a
// snapshot names it; that a snapshot exists only if all of its packs do; that packs which no snapshot names any more are
// removed, and nothing else; and that every step can be repeated after a crash. It does not lock the archive, so writers may run
// meanwhile. It does not use an index.
package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/blob/local"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/disk"
)

// The errors of this package.
var (
	// ErrNoBackup says that a directory is no backup.
	ErrNoBackup = errors.New("not a backup")
	// ErrNotEmpty says that a directory is not made a backup because it holds something else.
	ErrNotEmpty = errors.New("directory is not empty")
	// ErrOther says that a backup is of another archive.
	ErrOther = errors.New("directory is a backup of another archive")
	// ErrLocked says that another process is writing the backup. It wraps a *disk.LockedError.
	ErrLocked = errors.New("backup is locked")
	// ErrNoSnapshot says that a backup has no snapshot, or none by that name.
	ErrNoSnapshot = errors.New("no such snapshot")
)

const (
	packsDir     = "packs"
	snapshotsDir = "snapshots"
	aboutFile    = "backup.json"
	readmeFile   = "README.txt"
	lockFile     = "lock"
)

const readme = `This directory is a backup of a txarchive archive. packs/ has everything; snapshots/ lists which
packs made up the archive when.

    txarchive backup restore DIRECTORY --to NEW     restores the archive as of the last backup
    cp -r DIRECTORY/packs NEW/ && txarchive --archive NEW reindex      does the same by hand

Without txarchive:

`

// Origin identifies the archive of a backup.
type Origin struct {
	Archive string `json:"archive"` // its directory
	Host    string `json:"host"`
}

// Options are what a backup needs from its caller. The zero value is ready to use.
type Options struct {
	Command string           // the command that the lock file names
	Now     func() time.Time // nil is time.Now
	FS      *disk.FS         // nil is the real file system
}

// Backup is a directory with backups of one archive.
type Backup struct {
	dir    string
	opts   Options
	packs  *local.Store
	origin Origin
}

// Open opens a backup. It returns ErrNoBackup if the directory is none, for example because its disk is not mounted.
func Open(dir string, opts Options) (*Backup, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.FS == nil {
		opts.FS = &disk.FS{}
	}
	b := &Backup{dir: dir, opts: opts, packs: local.New(opts.FS, filepath.Join(dir, packsDir))}
	text, err := os.ReadFile(filepath.Join(dir, aboutFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNoBackup
	}
	if err == nil {
		err = json.Unmarshal(text, &b.origin)
	}
	if err != nil {
		return nil, fmt.Errorf("open backup %s: %w", dir, err)
	}
	return b, nil
}

// Create makes a backup of an archive out of a directory that is missing or empty, and opens it. If the directory is a backup
// already, Create only opens it, and returns ErrOther if it is the backup of another archive, unless moved says that of is the
// same archive at another place.
func Create(dir string, of Origin, moved bool, opts Options) (*Backup, error) {
	b, err := Open(dir, opts)
	if err == nil && (b.origin == of || !moved) {
		if b.origin != of {
			return nil, fmt.Errorf("back up %s to %s: %w: %s on %s", of.Archive, b.dir, ErrOther, b.origin.Archive, b.origin.Host)
		}
		return b, nil
	}
	if err != nil && !errors.Is(err, ErrNoBackup) {
		return nil, err
	}
	if err := create(dir, of, opts, err == nil); err != nil {
		return nil, fmt.Errorf("create backup %s: %w", dir, err)
	}
	return Open(dir, opts)
}

func create(dir string, of Origin, opts Options, isBackup bool) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := checkApart(dir, of.Archive); err != nil {
		return err
	}
	fsys := opts.FS
	if fsys == nil {
		fsys = &disk.FS{}
	}
	if !isBackup {
		if err := checkEmpty(dir); err != nil {
			return err
		}
		if err := fsys.MkdirAll(filepath.Join(dir, snapshotsDir)); err != nil {
			return err
		}
		if err := fsys.MkdirAll(filepath.Join(dir, packsDir)); err != nil {
			return err
		}
		if err := fsys.WriteFile(filepath.Join(dir, readmeFile), []byte(readme+pack.Readme)); err != nil {
			return err
		}
	}
	text, err := json.Marshal(of)
	if err != nil {
		return err
	}
	return fsys.WriteFile(filepath.Join(dir, aboutFile), append(text, '\n')) // last, because this makes it a backup
}

// checkApart returns an error if one of two directories lies in the other.
func checkApart(dir, archive string) error {
	for _, pair := range [][2]string{{dir, archive}, {archive, dir}} {
		inside, err := disk.IsInside(pair[0], pair[1])
		if err != nil {
			return err
		}
		if inside {
			return fmt.Errorf("it overlaps with the archive %s: %w", archive, ErrNotEmpty)
		}
	}
	return nil
}

// checkEmpty returns nil if a directory is missing, or contains nothing but what a Create that died has left.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == readmeFile || name == "lost+found" || strings.HasPrefix(name, disk.TempPrefix):
		case name == packsDir || name == snapshotsDir:
			if inner, err := os.ReadDir(filepath.Join(dir, name)); err != nil || len(inner) > 0 {
				return errors.Join(fmt.Errorf("contains %q: %w", name, ErrNotEmpty), err)
			}
		default:
			return fmt.Errorf("contains %q: %w", name, ErrNotEmpty)
		}
	}
	return nil
}

// Dir returns the backup's directory.
func (b *Backup) Dir() string { return b.dir }

// Origin returns the archive that b is a backup of.
func (b *Backup) Origin() Origin { return b.origin }

// lock takes the lock that keeps other processes from writing the backup.
func (b *Backup) lock() (*disk.Lock, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	holder := disk.Holder{PID: os.Getpid(), Host: host, Command: b.opts.Command, Since: b.opts.Now().UTC()}
	lock, err := b.opts.FS.Lock(filepath.Join(b.dir, lockFile), holder)
	if _, held := errors.AsType[*disk.LockedError](err); held {
		return nil, fmt.Errorf("%w: %w", ErrLocked, err)
	}
	return lock, err
}
