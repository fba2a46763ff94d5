package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// Source is the part of a blob.Store that reads the packs of an archive.
type Source interface {
	Open(ctx context.Context, name string) (blob.Pack, error)
	List(ctx context.Context) iter.Seq2[blob.Info, error]
}

// TakeOptions are the options of Take.
type TakeOptions struct {
	Keep     Keep
	AsIs     bool                    // accept that the archive no longer has packs of the last snapshot
	Progress func(done, total int64) // in bytes; it may be nil
}

// Report is what a backup did.
type Report struct {
	Snapshot     string    `json:"snapshot"` // id of the snapshot of the archive's present state
	Time         time.Time `json:"time"`     // when the archive was first found in that state
	Packs        int64     `json:"packs"`    // of the snapshot
	Bytes        int64     `json:"bytes"`
	Copied       int64     `json:"copied"` // packs
	CopiedBytes  int64     `json:"copied_bytes"`
	Expired      int64     `json:"expired"` // snapshots
	Removed      int64     `json:"removed"` // packs that no snapshot names any more
	RemovedBytes int64     `json:"removed_bytes"`
	Snapshots    int64     `json:"snapshots"` // present number
	Damaged      []Damaged `json:"damaged"`   // packs that are damaged in the archive and could not be backed up
	Lost         []Pack    `json:"lost"`      // packs that the archive has lost; they stay in the snapshot
}

// Damaged is a pack that is not as it was written.
type Damaged struct {
	Pack   string `json:"pack"`
	Reason string `json:"reason"`
}

// maxRounds limits how often the archive is listed again because a writer keeps adding packs. Later packs are in the next backup.
const maxRounds = 8

// Take copies to the backup what it does not have of the archive, writes a snapshot, and expires old ones. If nothing has
// changed, it extends the last snapshot instead. Damaged packs do not prevent the others from being backed up, and a pack that
// the archive has lost stays in the snapshots, because the backup may have the only copy.
//
// Errors: ErrLocked; blob.ErrCorrupt if packs of the archive are damaged or lost, after everything else is done.
func (b *Backup) Take(ctx context.Context, from Source, o TakeOptions) (report Report, err error) {
	report.Damaged, report.Lost = []Damaged{}, []Pack{}
	lock, err := b.lock()
	if err != nil {
		return report, err
	}
	t := &taker{backup: b, from: from, opts: o, report: &report, trusted: map[Pack]bool{}, present: map[string]int64{}}
	err = errors.Join(t.run(ctx), lock.Release())
	if err != nil {
		return report, fmt.Errorf("back up to %s: %w", b.dir, err)
	}
	return report, nil
}

// taker is the state of one Take.
type taker struct {
	backup  *Backup
	from    Source
	opts    TakeOptions
	trusted map[Pack]bool    // packs that a snapshot names, so that they were read back once
	present map[string]int64 // sizes of the packs in the backup
	last    *Snapshot        // the newest snapshot before this backup

	mu      sync.Mutex
	report  *Report
	done    int64
	total   int64
	damaged map[string]bool
}

func (t *taker) run(ctx context.Context) error {
	b := t.backup
	if _, err := b.packs.RemoveLeftovers(ctx); err != nil {
		return err
	}
	before, err := b.Snapshots()
	if err != nil {
		return err
	}
	if err := b.opts.FS.MkdirAll(b.path("", "")); err != nil {
		return err
	}
	for _, s := range before {
		for _, p := range s.Packs {
			t.trusted[p] = true
		}
	}
	if n := len(before); n > 0 {
		t.last = &before[n-1]
	}
	for info, err := range b.packs.List(ctx) {
		if err != nil {
			return err
		}
		t.present[info.Name] = info.Size
	}
	now := b.opts.Now().UTC().Truncate(time.Microsecond)
	voids, _ := b.lists(voidSuffix) // sweep reports lists that cannot be read
	s := &Snapshot{ID: newID(now, before, voids), Time: now, Until: now}
	if err := t.copyAll(ctx, s); err != nil {
		return err
	}
	if err := t.keepLost(ctx, s); err != nil {
		return err
	}
	if err := t.writeSnapshot(s); err != nil {
		return err
	}
	if err := b.expire(ctx, t.opts.Keep, now, t.report); err != nil {
		return err
	}
	switch damaged, lost := len(t.report.Damaged), len(t.report.Lost); {
	case damaged+lost == 0:
		return nil
	case lost == 0:
		return fmt.Errorf("packs of the archive are damaged (%d): %w", damaged, blob.ErrCorrupt)
	case damaged == 0:
		return fmt.Errorf("packs of the archive are %w (%d)", blob.ErrMissing, lost)
	default:
		return fmt.Errorf("packs of the archive are damaged (%d) and missing (%d): %w", damaged, lost, blob.ErrCorrupt)
	}
}

// copyAll copies the packs that the backup does not have, until a listing shows nothing new, and sets the packs of the snapshot. If a
// pack vanishes, gc has replaced it, and the next listing has the one that replaces it.
func (t *taker) copyAll(ctx context.Context, s *Snapshot) error {
	incoming := *s // all packs that this backup copies, to be swept if it dies or gc replaces some of them
	for round := 0; ; round++ {
		listed, err := list(ctx, t.from)
		if err != nil {
			return err
		}
		if round > 0 && slices.Equal(listed, s.Packs) {
			break
		}
		s.Packs = listed
		var missing []Pack
		for _, p := range listed {
			if size, ok := t.present[p.Name]; !ok || size != p.Size || !t.trusted[p] {
				missing = append(missing, p)
			}
		}
		if len(missing) == 0 {
			break
		}
		incoming.Packs = append(incoming.Packs, missing...)
		if err := t.backup.write(&incoming, voidSuffix); err != nil {
			return err
		}
		vanished, err := t.copyRound(ctx, missing)
		if err != nil {
			return err
		}
		if !vanished && round >= maxRounds {
			break
		}
	}
	s.Packs = slices.DeleteFunc(s.Packs, func(p Pack) bool { return t.damaged[p.Name] && !t.trusted[p] })
	return nil
}

// keepLost adds the packs of the last snapshot that the archive has lost to the new one.
func (t *taker) keepLost(ctx context.Context, s *Snapshot) error {
	if t.last != nil && !t.opts.AsIs {
		lost, err := t.backup.findLost(ctx, t.backup.packs, s.Packs, t.last.Packs)
		if err != nil {
			return fmt.Errorf("compare with the last backup: %w", err)
		}
		t.report.Lost = append(t.report.Lost, lost...)
		s.Packs = append(s.Packs, lost...)
		slices.SortFunc(s.Packs, byName)
	}
	for _, p := range s.Packs {
		s.Bytes += p.Size
	}
	return nil
}

func byName(x, y Pack) int { return cmp.Compare(x.Name, y.Name) }

func list(ctx context.Context, from Source) ([]Pack, error) {
	listed := []Pack{}
	for info, err := range from.List(ctx) {
		if err != nil {
			return nil, err
		}
		listed = append(listed, Pack(info))
	}
	return listed, nil
}

// copyRound copies packs on several goroutines, and reports whether some of them had vanished.
func (t *taker) copyRound(ctx context.Context, missing []Pack) (vanished bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for _, p := range missing {
		t.total += p.Size
	}
	jobs := make(chan Pack)
	var workers sync.WaitGroup
	for range max(2, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for p := range jobs {
				err := t.ensurePack(ctx, p)
				t.mu.Lock()
				switch {
				case errors.Is(err, blob.ErrNotFound):
					vanished = true
				case err != nil:
					cancel(err)
				case !t.damaged[p.Name]:
					t.present[p.Name], t.trusted[p] = p.Size, true
				}
				t.mu.Unlock()
			}
		})
	}
	for _, p := range missing {
		select {
		case jobs <- p:
		case <-ctx.Done():
		}
	}
	close(jobs)
	workers.Wait()
	return vanished, context.Cause(ctx)
}

// ensurePack makes sure that the backup has a pack as it was written: it verifies the pack there, and copies it if needed.
func (t *taker) ensurePack(ctx context.Context, p Pack) error {
	if t.isDamaged(p.Name) {
		return nil
	}
	b := t.backup
	if wrong := b.check(ctx, p); wrong == nil {
		t.progress(p, false)
		return nil
	} else if !errors.Is(wrong, blob.ErrNotFound) {
		// The backup's pack is damaged. Do not remove it before it is certain that the archive's is good.
		if bad := checkPack(ctx, t.from, p); bad != nil {
			return t.addDamaged(p, bad)
		}
		if err := b.packs.Remove(ctx, p.Name); err != nil {
			return err
		}
	}
	if err := b.copy(ctx, t.from, p.Name); err != nil {
		return err
	}
	if wrong := b.check(ctx, p); wrong != nil {
		return t.addDamaged(p, errors.Join(wrong, b.packs.Remove(ctx, p.Name)))
	}
	t.progress(p, true)
	return nil
}

// isDamaged reports whether a pack was found damaged in an earlier round.
func (t *taker) isDamaged(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.damaged[name]
}

// addDamaged records a damaged pack. Errors other than blob.ErrCorrupt are returned and end the backup.
func (t *taker) addDamaged(p Pack, err error) error {
	if !errors.Is(err, blob.ErrCorrupt) {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.damaged == nil {
		t.damaged = map[string]bool{}
	}
	t.damaged[p.Name] = true
	t.report.Damaged = append(t.report.Damaged, Damaged{p.Name, err.Error()})
	return nil
}

func (t *taker) progress(p Pack, copied bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done += p.Size
	if copied {
		t.report.Copied++
		t.report.CopiedBytes += p.Size
	}
	if t.opts.Progress != nil {
		t.opts.Progress(t.done, t.total)
	}
}

// writeSnapshot writes the snapshot, or extends the last one if it has the same packs.
func (t *taker) writeSnapshot(s *Snapshot) error {
	name := s
	if t.last != nil && slices.Equal(t.last.Packs, s.Packs) {
		t.last.Until = s.Until
		name = t.last
	}
	r := t.report
	r.Snapshot, r.Time, r.Packs, r.Bytes = name.ID, name.Time, int64(len(s.Packs)), s.Bytes
	return t.backup.write(name, snapshotSuffix)
}

// copy copies a pack from a source. It returns blob.ErrNotFound if the source does not have it.
func (b *Backup) copy(ctx context.Context, from Source, name string) error {
	return copyPack(ctx, from, b.packs, name)
}

func copyPack(ctx context.Context, from Source, to blob.Store, name string) error {
	p, err := from.Open(ctx, name)
	if err != nil {
		return err
	}
	up, err := to.Create(ctx)
	if err == nil {
		if _, err = io.Copy(up, &contextReader{ctx, io.NewSectionReader(p, 0, p.Size())}); err == nil {
			err = up.Commit(ctx, name)
		} else {
			err = errors.Join(err, up.Abort())
		}
	}
	if err = errors.Join(err, p.Close()); err != nil {
		return fmt.Errorf("copy pack %s: %w", name, err)
	}
	return nil
}

// contextReader is a reader that fails once its context is done.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (s *contextReader) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}

// check verifies a pack of the backup. It returns blob.ErrNotFound if the pack is missing and blob.ErrCorrupt if it is damaged.
func (b *Backup) check(ctx context.Context, p Pack) error { return checkPack(ctx, b.packs, p) }

func checkPack(ctx context.Context, in Source, p Pack) (err error) {
	open, err := in.Open(ctx, p.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, open.Close()) }()
	if open.Size() != p.Size {
		return fmt.Errorf("pack %s has %d bytes, not %d: %w", p.Name, open.Size(), p.Size, blob.ErrCorrupt)
	}
	return pack.Verify(ctx, p.Name, open, func(pack.Damage) {})
}
