package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite"
)

// A generation of the index is a file index-<number>.db. index.db is a link to the current one (disk.ReplaceLink); if index.db
// is a database itself, it is the current index, and older than all generations. A generation that is no longer linked stays
// until the next writer opens the archive, for processes that are still reading it.

const (
	generationPrefix = "index-"
	generationSuffix = ".db"
)

// sidecars are the files that SQLite keeps beside a database.
var sidecars = []string{"-wal", "-shm", "-journal"}

func generationName(n int) string { return generationPrefix + strconv.Itoa(n) + generationSuffix }

// parseGeneration returns the number in the name of a generation or of one of its sidecars, or 0 if it is neither.
func parseGeneration(name string) int {
	for _, side := range sidecars {
		name = strings.TrimSuffix(name, side)
	}
	digits, isDB := strings.CutSuffix(name, generationSuffix)
	digits, isGeneration := strings.CutPrefix(digits, generationPrefix)
	n, err := strconv.Atoi(digits)
	if !isDB || !isGeneration || err != nil || n < 1 || generationName(n) != generationPrefix+digits+generationSuffix {
		return 0
	}
	return n
}

// currentIndex returns the path of the current index file, "" if there is neither link nor file.
func (a *Archive) currentIndex() (string, error) {
	link := filepath.Join(a.dir, indexLink)
	target, err := disk.ReadLink(link)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil || target == "" {
		return link, err
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(a.dir, target)
	}
	return target, nil
}

// openIndex opens the current generation. For a writer it makes the first one if there is none.
func (a *Archive) openIndex(ctx context.Context) (*sqlite.DB, error) {
	path, err := a.currentIndex()
	if err != nil {
		return nil, err
	}
	db, err := a.openGeneration(ctx, path)
	if errors.Is(err, ErrNoIndex) && a.mode == Read {
		// A writer may have moved the link and removed its old target after the link was read.
		if again, rerr := a.currentIndex(); rerr == nil && again != path {
			return a.openGeneration(ctx, again)
		}
	}
	if a.mode == Write && !a.opts.NoIndex && errors.Is(err, fs.ErrNotExist) {
		return a.firstGeneration(ctx)
	}
	return db, err
}

// openGeneration opens an index that exists.
func (a *Archive) openGeneration(ctx context.Context, path string) (*sqlite.DB, error) {
	if path == "" {
		return nil, fmt.Errorf("%w: %w", ErrNoIndex, fs.ErrNotExist)
	}
	_, err := os.Stat(path)
	if err == nil {
		var db *sqlite.DB
		db, err = sqlite.Open(ctx, path, a.indexOptions())
		if err == nil {
			return db, nil
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, index.ErrDamaged):
		err = fmt.Errorf("%w: %w", ErrNoIndex, err)
	case errors.Is(err, index.ErrTooNew):
		err = fmt.Errorf("%w: %w", ErrTooNew, err)
	}
	return nil, err
}

func (a *Archive) indexOptions() sqlite.Options {
	return sqlite.Options{ReadOnly: a.mode == Read, Text: a.consoleText}
}

// firstGeneration makes an empty index and links it.
func (a *Archive) firstGeneration(ctx context.Context) (*sqlite.DB, error) {
	path, err := a.nextGeneration()
	if err != nil {
		return nil, err
	}
	db, err := sqlite.Open(ctx, path, a.indexOptions())
	if err != nil {
		return nil, err
	}
	if err := a.opts.FS.ReplaceLink(filepath.Base(path), filepath.Join(a.dir, indexLink)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// nextGeneration returns the path for a new generation, with a number that was never used.
func (a *Archive) nextGeneration() (string, error) {
	numbers, err := a.generations()
	if err != nil {
		return "", err
	}
	next := 1
	for _, n := range numbers {
		next = max(next, n+1)
	}
	// The link may name a generation that is missing. Its number is not reused either.
	if current, err := a.currentIndex(); err == nil {
		next = max(next, parseGeneration(filepath.Base(current))+1)
	}
	return filepath.Join(a.dir, generationName(next)), nil
}

// generations returns the files of generations in the archive, sidecars too, with their numbers.
func (a *Archive) generations() (map[string]int, error) {
	entries, err := os.ReadDir(a.dir)
	if err != nil {
		return nil, err
	}
	found := map[string]int{}
	for _, e := range entries {
		if n := parseGeneration(e.Name()); n > 0 && e.Type().IsRegular() {
			found[e.Name()] = n
		}
	}
	return found, nil
}

// removeGenerations removes the generations that are neither the current one nor in keep: superseded ones, and
// those that a reindex that died has left. The caller must hold the lock.
func (a *Archive) removeGenerations(keep ...int) error {
	current, err := a.currentIndex()
	if err != nil {
		return err
	}
	files, err := a.generations()
	if err != nil {
		return err
	}
	kept := map[int]bool{}
	for _, n := range keep {
		kept[n] = true
	}
	if filepath.Dir(current) == a.dir {
		kept[parseGeneration(filepath.Base(current))] = true
	}
	for name, n := range files {
		if kept[n] {
			continue
		}
		if err := a.opts.FS.Remove(filepath.Join(a.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return a.removeStaleSidecars(current)
}

// removeStaleSidecars removes the sidecars of an index.db that was a database and that a link has replaced.
func (a *Archive) removeStaleSidecars(current string) error {
	link := filepath.Join(a.dir, indexLink)
	if current == "" || current == link {
		return nil
	}
	for _, side := range sidecars {
		if err := a.opts.FS.Remove(link + side); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// NewIndex begins the next generation of the index beside the current one, whether that is sound, damaged, missing
// or a plain file. The archive must be open for writing.
//
// publish makes db the index of the archive, for everyone who opens it from then on, and Index returns the new
// generation. The previous generation stays for its readers until the next writer opens the archive. db must not be
// used after publish. abort discards what was built. After one of them the other does nothing; if neither is called, the next
// writer removes the files.
func (a *Archive) NewIndex(ctx context.Context) (db *sqlite.DB, publish func() error, abort func(), err error) {
	if a.mode != Write {
		return nil, nil, nil, ErrReadOnly
	}
	if errors.Is(a.indexErr, ErrTooNew) {
		return nil, nil, nil, a.indexErr
	}
	if a.index != nil {
		if err := a.index.Rest(ctx); err != nil { // it may be damaged, which may be why it is being rebuilt
			a.opts.Log.DebugContext(ctx, "the previous index uses memory besides the new one", "err", err)
		}
	}
	path, err := a.nextGeneration()
	if err != nil {
		return nil, nil, nil, err
	}
	db, err = sqlite.Open(ctx, path, sqlite.Options{Unlogged: true})
	if err != nil {
		return nil, nil, nil, errors.Join(fmt.Errorf("begin a new index: %w", err), a.dropGeneration(path))
	}
	done := false
	publish = func() error {
		if done {
			return errors.New("the new index is already published or aborted")
		}
		done = true
		if err := a.publish(context.WithoutCancel(ctx), db, path); err != nil {
			return fmt.Errorf("publish the new index: %w", err)
		}
		return nil
	}
	abort = func() {
		if done {
			return
		}
		done = true
		if err := errors.Join(db.Close(), a.dropGeneration(path)); err != nil {
			a.opts.Log.WarnContext(ctx, "an unfinished index is left until the next command that writes", "path", path, "err", err)
		}
	}
	return db, publish, abort, nil
}

// publish moves the link to a generation that is complete.
func (a *Archive) publish(ctx context.Context, built *sqlite.DB, path string) error {
	before, err := a.currentIndex()
	if err == nil && built.Torn() {
		err = index.ErrTorn
	}
	if err != nil {
		return errors.Join(err, built.Close(), a.dropGeneration(path))
	}
	// The database was written without WAL and journal: it is complete once it is closed, but not durable before an fsync.
	if err := errors.Join(built.Close(), a.opts.FS.Sync(path)); err != nil {
		return errors.Join(err, a.dropGeneration(path))
	}
	db, err := sqlite.Open(ctx, path, a.indexOptions())
	if err != nil {
		return errors.Join(err, a.dropGeneration(path))
	}
	// Make the name of the file durable before the link to it, and the removal of the journal that switching to WAL needed.
	err = a.opts.FS.SyncDir(a.dir)
	if err == nil {
		err = a.opts.FS.ReplaceLink(filepath.Base(path), filepath.Join(a.dir, indexLink))
	}
	if err != nil {
		return errors.Join(err, db.Close(), a.dropUnlinked(path))
	}
	a.mu.Lock()
	old := a.index
	a.index, a.indexErr = db, nil
	a.mu.Unlock()
	if old != nil {
		err = old.Close()
	}
	return errors.Join(err, a.removeGenerations(parseGeneration(filepath.Base(before))))
}

// dropUnlinked removes a generation, unless the link points to it although ReplaceLink could not make that durable.
func (a *Archive) dropUnlinked(path string) error {
	current, err := a.currentIndex()
	if err != nil || current == path {
		return err
	}
	return a.dropGeneration(path)
}

// dropGeneration removes the files of a generation that is not linked.
func (a *Archive) dropGeneration(path string) error {
	var errs []error
	for _, side := range append([]string{""}, sidecars...) {
		if err := a.opts.FS.Remove(path + side); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// noIndex returns the error for operations that need the index.
func (a *Archive) noIndex() error {
	if a.indexErr == nil { // closed
		return ErrNoIndex
	}
	return a.indexErr
}

// DropSuperseded removes every generation but the current one at once, because they contain what must be forgotten. A process
// that has one open can read it until it closes it.
func (a *Archive) DropSuperseded() error {
	if a.mode != Write {
		return ErrReadOnly
	}
	return a.removeGenerations()
}
