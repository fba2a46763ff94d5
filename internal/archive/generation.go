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

// A generation of the index is a file index-<number>.db. index.db is a link to the current one (disk.ReplaceLink); a database by
// that name is an index too, and older than all generations. What is no longer linked stays until the next writer
// opens the archive, for those who read it.

const (
	generationPrefix = "index-"
	generationSuffix = ".db"
)

// sidecars are the files that SQLite keeps beside a database.
var sidecars = []string{"-wal", "-shm", "-journal"}

func generationName(n int) string { return generationPrefix + strconv.Itoa(n) + generationSuffix }

// parseGeneration reads the number in the name of a generation or of one of its sidecars, 0 when it is neither.
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

// currentIndex returns the path of the file that is the index, "" when there is neither link nor file.
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

// openIndex opens the current generation; for a writer it makes the first one where there is none.
func (a *Archive) openIndex(ctx context.Context) (*sqlite.DB, error) {
	path, err := a.currentIndex()
	if err != nil {
		return nil, err
	}
	db, err := a.openGeneration(ctx, path)
	if errors.Is(err, ErrNoIndex) && a.mode == Read {
		// The link may have moved on, and its old target may be gone, between reading it and opening that.
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

// nextGeneration returns the path of a generation that never was, beside the present one.
func (a *Archive) nextGeneration() (string, error) {
	numbers, err := a.generations()
	if err != nil {
		return "", err
	}
	next := 1
	for _, n := range numbers {
		next = max(next, n+1)
	}
	// A link may name a generation that is missing. Its number is not used again either.
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
// what a reindex that died has left. It needs the lock.
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

// removeStaleSidecars removes what an index.db that was a plain file has left when a link took its place.
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

// NewIndex begins the next generation of the index beside the present one, whether that is sound, damaged, missing
// or a plain file. The archive must be open to write.
//
// publish makes what db then holds the index of the archive, for whoever opens it from then on: Index gives the new
// generation, the one before stays for those who read it until the next writer opens the archive, and db must not be
// used any more. abort drops what was built. After one of them the other does nothing, and after neither the next
// writer clears away.
func (a *Archive) NewIndex(ctx context.Context) (db *sqlite.DB, publish func() error, abort func(), err error) {
	if a.mode != Write {
		return nil, nil, nil, ErrReadOnly
	}
	if errors.Is(a.indexErr, ErrTooNew) {
		return nil, nil, nil, a.indexErr
	}
	if a.index != nil {
		if err := a.index.Rest(ctx); err != nil { // it may be damaged, which may be why there is to be another
			a.opts.Log.DebugContext(ctx, "the index takes memory beside the new one", "err", err)
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
	ended := false
	publish = func() error {
		if ended {
			return errors.New("the new index was published or aborted before")
		}
		ended = true
		if err := a.publish(context.WithoutCancel(ctx), db, path); err != nil {
			return fmt.Errorf("publish the new index: %w", err)
		}
		return nil
	}
	abort = func() {
		if ended {
			return
		}
		ended = true
		if err := errors.Join(db.Close(), a.dropGeneration(path)); err != nil {
			a.opts.Log.WarnContext(ctx, "an unfinished index stays until the next writer", "path", path, "err", err)
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
	// It has neither log nor journal: it is whole once it is closed, and the system has to be told to keep it.
	if err := errors.Join(built.Close(), a.opts.FS.Sync(path)); err != nil {
		return errors.Join(err, a.dropGeneration(path))
	}
	db, err := sqlite.Open(ctx, path, a.indexOptions())
	if err != nil {
		return errors.Join(err, a.dropGeneration(path))
	}
	// The name of the file is made durable before the link to it, and that the journal is gone with which it was given a log.
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

// dropUnlinked drops a generation unless the link has moved to it although that could not be made durable.
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

// noIndex is the error of what cannot do without the index.
func (a *Archive) noIndex() error {
	if a.indexErr == nil { // closed
		return ErrNoIndex
	}
	return a.indexErr
}

// DropSuperseded removes every generation but the present one at once: they hold what must be forgotten. Who reads one
// goes on until it closes it.
func (a *Archive) DropSuperseded() error {
	if a.mode != Write {
		return ErrReadOnly
	}
	return a.removeGenerations()
}
