package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/format/all"
	"github.com/txarchive/txarchive/internal/price"
)

// app is what every command has: where it reads and writes, and what the global flags say.
type app struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	now      func() time.Time
	fault    func(op, path string) error // a fault of the file system, for tests; nil is none
	loads    int64                       // from so many bytes on a first load has an index of its own
	room     int                         // for what a plan of prune and its facts take in memory, for tests; 0 is enough

	ends   bool   // the process ends with the command
	listen func() // has signals end the context, when the process ends with the command

	archive   string // directory
	json      bool
	quiet     bool
	verbose   bool
	utc       bool
	logFormat string
	color     string
	noPager   bool
	redact    bool

	pager    *pager    // nil unless results go through one
	redactor *redactor // likewise, before the pager

	undone  string  // what an interruption leaves behind and what to do then; of commands that only read nothing is to be said
	results *outlet // where out leads to in the end

	log     *slog.Logger
	command string // as it was typed, for the lock
}

func newApp() *app {
	return &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, now: time.Now, loads: ingest.BuildFrom, log: slog.New(slog.DiscardHandler)}
}

// dir is the directory of the archive: flag, then environment, then default.
func (a *app) dir() (string, error) {
	if a.archive != "" {
		return filepath.Abs(a.archive)
	}
	if dir := a.getenv("TXARCHIVE_DIR"); dir != "" {
		return filepath.Abs(a.atHome(dir))
	}
	if dir := a.getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "txarchive"), nil
	}
	home := a.getenv("HOME")
	if home == "" {
		h, err := os.UserHomeDir()
		if err != nil {
			return "", usage("there is no home directory", "say where the archive is: --archive DIR")
		}
		home = h
	}
	return filepath.Join(home, ".local", "share", "txarchive"), nil
}

func (a *app) options() archive.Options {
	return archive.Options{Decode: all.Decode, Layer: ingest.Layer(all.Formats()), Command: a.command, Now: a.now, Log: a.log, FS: a.fs()}
}

// fs is the file system as whatever writes sees it.
func (a *app) fs() *disk.FS { return &disk.FS{Fault: a.fault} }

// read opens the archive to look at it. It waits for nobody.
func (a *app) read(ctx context.Context) (*archive.Archive, error) { return a.open(ctx, archive.Read) }

// readAny is read where there is an archive, else nil.
func (a *app) readAny(ctx context.Context) (*archive.Archive, error) {
	store, err := a.read(ctx)
	if errors.Is(err, archive.ErrNoArchive) {
		return nil, nil
	}
	return store, err
}

// leave closes an archive that was read. A process that ends has nothing to give back, and SQLite would do so piece by piece.
func (a *app) leave(store *archive.Archive) {
	if !a.ends {
		_ = store.Close() // nothing was written
	}
}

// write opens the archive and holds its lock until it is closed.
func (a *app) write(ctx context.Context) (*archive.Archive, error) { return a.open(ctx, archive.Write) }

func (a *app) open(ctx context.Context, mode archive.Mode) (*archive.Archive, error) {
	return a.openAs(ctx, mode, a.options())
}

// packsOnly opens the archive to read its packs; it needs no index.
func (a *app) packsOnly(ctx context.Context) (*archive.Archive, error) {
	return a.withoutIndex(ctx, archive.Read)
}

// withoutIndex opens the archive even if its index is missing or cannot be used.
func (a *app) withoutIndex(ctx context.Context, mode archive.Mode) (*archive.Archive, error) {
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	options := a.options()
	options.NoIndex = true
	return archive.Open(ctx, dir, mode, options)
}

// openAs opens the archive. An index that an older program has written is brought up to date before it is read, where that can
// be done; where not, the error of the reader says what to do.
func (a *app) openAs(ctx context.Context, mode archive.Mode, options archive.Options) (*archive.Archive, error) {
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	if mode == archive.Write {
		a.works(firstOf(a.undone, hintUndone))
	}
	store, err := archive.Open(ctx, dir, mode, options)
	old := err
	if store != nil {
		old = store.IndexError()
	}
	if mode != archive.Read || !errors.Is(old, index.ErrTooOld) {
		return store, err
	}
	a.listens()
	writer, failed := archive.Open(ctx, dir, archive.Write, a.options())
	if failed != nil {
		return store, err
	}
	if err := errors.Join(writer.Close(), closed(store)); err != nil {
		return nil, err
	}
	a.note("the index was brought up to date")
	return archive.Open(ctx, dir, mode, options)
}

func closed(store *archive.Archive) error {
	if store == nil {
		return nil
	}
	return store.Close()
}

// ingester is the way into an open archive.
func (a *app) ingester(store *archive.Archive) *ingest.Ingester {
	return &ingest.Ingester{
		Packs: store.Packs(), Originals: store.Library(), Index: store.Index(), Formats: all.Formats(), Prices: price.Default(),
		Writer: store.WriterID(), ArchiveDir: store.Dir(), Now: a.now, Log: a.log,
	}
}

// note tells people on the terminal something beside the result, in one line: names of files may have others in them.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintln(a.err, strings.ReplaceAll(clean(fmt.Sprintf(format, args...)), "\n", " "))
	}
}

// logging sets up the log: warnings only, unless asked for more.
func (a *app) logging() error {
	level := slog.LevelWarn
	switch {
	case a.verbose:
		level = slog.LevelDebug
	case a.quiet:
		level = slog.LevelError
	}
	o := &slog.HandlerOptions{Level: level}
	switch a.logFormat {
	case "text":
		a.log = slog.New(slog.NewTextHandler(a.err, o))
	case "json":
		a.log = slog.New(slog.NewJSONHandler(a.err, o))
	default:
		return usage(fmt.Sprintf("no log format %q", a.logFormat), "--log-format text or --log-format json")
	}
	switch a.color {
	case "auto", "always", "never":
		return nil
	}
	return usage(fmt.Sprintf("no color mode %q", a.color), "--color auto, always or never")
}

// shown is a path as people write it: below the home directory with ~.
func (a *app) shown(path string) string {
	if home := a.getenv("HOME"); home != "" && home != "/" {
		if rest, ok := strings.CutPrefix(path, home+string(filepath.Separator)); ok {
			return filepath.Join("~", rest)
		}
	}
	return path
}

// create opens the archive to write, and makes a missing or empty directory one. What other writers and crashes
// have left is adopted by whoever ingests.
func (a *app) create(ctx context.Context) (*archive.Archive, error) {
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	a.works(firstOf(a.undone, hintUndone))
	if err := archive.Create(ctx, dir, a.options()); err != nil {
		return nil, err
	}
	return a.write(ctx)
}

// change does some work on the archive, which open opens to write. Packs that the index does not know yet are taken in before, for there
// may be facts in them.
func (a *app) change(ctx context.Context, open func(context.Context) (*archive.Archive, error), work func(*archive.Archive, *ingest.Ingester) error) error {
	store, err := open(ctx)
	if err != nil {
		return err
	}
	ing := a.ingester(store)
	if _, err = ing.Adopt(ctx); err == nil {
		err = work(store, ing)
	}
	return errors.Join(err, store.Close())
}

// fact is what the archive keeps under a key from now on; nil takes it back.
func (a *app) fact(kind, key string, value any) (blob.Fact, error) {
	text, err := json.Marshal(value)
	return blob.Fact{Kind: kind, Key: key, Time: nowMicro(a), Value: text}, err
}

// nowMicro is the time as facts have it.
func nowMicro(a *app) time.Time { return a.now().UTC().Truncate(time.Microsecond) }
