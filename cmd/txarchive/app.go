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
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/archive"
	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/format/all"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/secret"
	"github.com/txarchive/txarchive/internal/terminal"
)

// app is what all commands share: the printer with streams, environment and clock, and the values of the global flags.
type app struct {
	printer.Printer
	in         io.Reader
	fault      func(op, path string) error // injects faults of the file system, for tests; nil: none
	buildFrom  int64                       // bytes from which a first load builds an index of its own
	planMemory int                         // bytes of memory for a plan of prune and its facts, for tests; 0: the default

	ownsProcess  bool   // the process ends with the command: resources need not be released
	startSignals func() // makes signals cancel the context; nil if the process does not end with the command

	archive   string // its directory
	verbose   bool
	logFormat string
	noPager   bool
	redact    bool

	pager    *terminal.Pager  // nil unless results go through a pager
	redactor *secret.Redactor // nil unless --redact; its output goes to the pager, if any

	interruptHint string           // what an interrupted command has done, and what to do; "" for commands that only read
	results       *terminal.Output // the last writer that out leads to

	log     *slog.Logger
	command string // with its parents, for the lock file

	archiveCommands []string // the names of all commands that are about an archive
}

func newApp() *app {
	return &app{Printer: printer.Printer{Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Now: time.Now}, in: os.Stdin, buildFrom: ingest.BuildFrom, log: slog.New(slog.DiscardHandler)}
}

// dir returns the directory of the archive: the flag, else the environment, else the default.
func (a *app) dir() (string, error) {
	if a.archive != "" {
		return filepath.Abs(a.archive)
	}
	if dir := a.Getenv("TXARCHIVE_DIR"); dir != "" {
		return filepath.Abs(a.expandHome(dir))
	}
	if dir := a.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "txarchive"), nil
	}
	home := a.Getenv("HOME")
	if home == "" {
		h, err := os.UserHomeDir()
		if err != nil {
			return "", failure.Usage("no home directory: cannot determine where the archive is", "--archive DIR")
		}
		home = h
	}
	return filepath.Join(home, ".local", "share", "txarchive"), nil
}

func (a *app) options() archive.Options {
	return archive.Options{Decode: all.Decode, Layer: ingest.Layer(all.Formats()), Command: a.command, Now: a.Now, Log: a.log, FS: a.fs()}
}

// fs returns the file system that everything is written through.
func (a *app) fs() *disk.FS { return &disk.FS{Fault: a.fault} }

// openRead opens the archive to read it. It waits for no lock.
func (a *app) openRead(ctx context.Context) (*archive.Archive, error) {
	return a.open(ctx, archive.Read)
}

// openReadIfExists is openRead, but returns nil if there is no archive.
func (a *app) openReadIfExists(ctx context.Context) (*archive.Archive, error) {
	store, err := a.openRead(ctx)
	if errors.Is(err, archive.ErrNoArchive) {
		return nil, nil
	}
	return store, err
}

// closeRead closes an archive that was only read. A process that is about to end skips it: the kernel is faster than SQLite, which
// frees its memory piece by piece.
func (a *app) closeRead(store *archive.Archive) {
	if !a.ownsProcess {
		_ = store.Close() // nothing was written
	}
}

// openWrite opens the archive and holds its lock until it is closed.
func (a *app) openWrite(ctx context.Context) (*archive.Archive, error) {
	return a.open(ctx, archive.Write)
}

func (a *app) open(ctx context.Context, mode archive.Mode) (*archive.Archive, error) {
	return a.openWith(ctx, mode, a.options())
}

// openPacks opens the archive to read its packs, with its index if that can be used.
func (a *app) openPacks(ctx context.Context) (*archive.Archive, error) {
	return a.openWithoutIndex(ctx, archive.Read)
}

// openWithoutIndex opens the archive even if its index is missing or unusable.
func (a *app) openWithoutIndex(ctx context.Context, mode archive.Mode) (*archive.Archive, error) {
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	options := a.options()
	options.NoIndex = true
	return archive.Open(ctx, dir, mode, options)
}

// openWith opens the archive. An index that an older program has written is migrated before it is read if that is possible; if not, the
// error of the reader says what to do.
func (a *app) openWith(ctx context.Context, mode archive.Mode, options archive.Options) (*archive.Archive, error) {
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	if mode == archive.Write {
		a.beginWork(terminal.FirstNonEmpty(a.interruptHint, hintUndone))
	}
	store, err := archive.Open(ctx, dir, mode, options)
	old := err
	if store != nil {
		old = store.IndexError()
	}
	if mode != archive.Read || !errors.Is(old, index.ErrTooOld) {
		return store, err
	}
	a.handleSignals()
	writer, failed := archive.Open(ctx, dir, archive.Write, a.options())
	if failed != nil {
		return store, err
	}
	if err := errors.Join(writer.Close(), closeIfOpen(store)); err != nil {
		return nil, err
	}
	a.Note("the index was updated to this version")
	return archive.Open(ctx, dir, mode, options)
}

func closeIfOpen(store *archive.Archive) error {
	if store == nil {
		return nil
	}
	return store.Close()
}

// ingester returns an Ingester for an open archive.
func (a *app) ingester(store *archive.Archive) *ingest.Ingester {
	return &ingest.Ingester{
		Packs: store.Packs(), Originals: store.Library(), Index: store.Index(), Formats: all.Formats(), Prices: price.Default(),
		Writer: store.WriterID(), ArchiveDir: store.Dir(), Now: a.Now, Log: a.log,
	}
}

// setUpLog sets up the log, by default for warnings only, and checks --log-format and --color.
func (a *app) setUpLog() error {
	level := slog.LevelWarn
	switch {
	case a.verbose:
		level = slog.LevelDebug
	case a.Quiet:
		level = slog.LevelError
	}
	o := &slog.HandlerOptions{Level: level}
	switch a.logFormat {
	case "text":
		a.log = slog.New(slog.NewTextHandler(a.Err, o))
	case "json":
		a.log = slog.New(slog.NewJSONHandler(a.Err, o))
	default:
		return failure.Usage(fmt.Sprintf("unknown log format %q", a.logFormat), "--log-format text or --log-format json")
	}
	switch a.Color {
	case "auto", "always", "never":
		return nil
	}
	return failure.Usage(fmt.Sprintf("unknown color mode %q", a.Color), "--color auto, always or never")
}

// openOrCreate opens the archive to write, and first creates it in a missing or empty directory. Packs that other writers and crashes
// have left are adopted by the ingest.
func (a *app) openOrCreate(ctx context.Context) (*archive.Archive, error) {
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	a.beginWork(terminal.FirstNonEmpty(a.interruptHint, hintUndone))
	if err := archive.Create(ctx, dir, a.options()); err != nil {
		return nil, err
	}
	return a.openWrite(ctx)
}

// update opens the archive with open, runs work on it and closes it. Packs that the index does not know are adopted first: they may
// contain facts.
func (a *app) update(ctx context.Context, open func(context.Context) (*archive.Archive, error), work func(*archive.Archive, *ingest.Ingester) error) error {
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

// checkOutput reports an output format that does not exist. Of a command with a query, --format may have been taken for that of the
// transcripts.
func (a *app) checkOutput(format string) error {
	_, err := a.Rows(format)
	if err != nil && slices.Contains(formatNames(), format) {
		return failure.Usage(err.Error(), "a format of transcripts is part of the query: format:"+format)
	}
	return err
}

// newFact returns a fact that sets the value of a key in the archive from now on; nil removes the key.
func (a *app) newFact(kind, key string, value any) (blob.Fact, error) {
	text, err := json.Marshal(value)
	return blob.Fact{Kind: kind, Key: key, Time: nowMicro(a), Value: text}, err
}

// nowMicro returns the current time in the precision of facts.
func nowMicro(a *app) time.Time { return a.Now().UTC().Truncate(time.Microsecond) }
