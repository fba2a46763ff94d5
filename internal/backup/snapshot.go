package backup

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Pack is a pack of a snapshot.
type Pack struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// Snapshot says which packs made up the archive from Time until Until, by its own clock.
type Snapshot struct {
	ID    string    `json:"snapshot"`
	Time  time.Time `json:"time"`
	Until time.Time `json:"until"` // the last backup that found it so
	Bytes int64     `json:"bytes"`
	Packs []Pack    `json:"packs"` // by name
}

// A snapshot is a file <id>.json. A list with the other suffix does not count: that of a backup that is under way or
// died, or of one that has expired. What only such lists name is removed.
const (
	counts = ".json"
	void   = ".void"
)

const idLayout = "20060102T150405.000000Z"

// Snapshots returns the snapshots, the oldest first. What cannot be read is named in the error, after all others.
func (b *Backup) Snapshots() ([]Snapshot, error) { return b.lists(counts) }

func (b *Backup) lists(suffix string) ([]Snapshot, error) {
	dir := filepath.Join(b.dir, snapshotsDir)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	var all []Snapshot
	var bad []error
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), suffix)
		if !ok || strings.HasPrefix(id, ".") {
			continue
		}
		var s Snapshot
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err == nil {
			err = json.Unmarshal(text, &s)
		}
		if err == nil && s.ID != id {
			err = fmt.Errorf("it calls itself %q", s.ID)
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("read snapshot %s: %w", id, err))
			continue
		}
		all = append(all, s)
	}
	// By their ids, which no shift of a clock turns around: see newID.
	slices.SortFunc(all, func(x, y Snapshot) int { return cmp.Compare(x.ID, y.ID) })
	return all, errors.Join(bad...)
}

// Snapshot returns one by its id, "" is the newest. ErrNoSnapshot.
func (b *Backup) Snapshot(id string) (Snapshot, error) {
	all, err := b.Snapshots()
	if id == "" && len(all) > 0 {
		return all[len(all)-1], nil
	}
	if i := slices.IndexFunc(all, func(s Snapshot) bool { return s.ID == id }); i >= 0 {
		return all[i], nil
	}
	if err == nil {
		err = ErrNoSnapshot
	}
	return Snapshot{}, fmt.Errorf("backup %s: snapshot %q: %w", b.dir, id, err)
}

// newID is the id of a snapshot that comes after all others, also when the clock was set back. Void lists count too: one
// that is written over names no more what its backup left.
func newID(now time.Time, lists ...[]Snapshot) string {
	id, last := now.UTC().Format(idLayout), ""
	for _, s := range slices.Concat(lists...) {
		last = max(last, s.ID)
	}
	if id > last {
		return id
	}
	at, err := time.Parse(idLayout, last)
	if err != nil {
		return last + "1"
	}
	return at.Add(time.Microsecond).Format(idLayout)
}

func (b *Backup) write(s *Snapshot, suffix string) error {
	text, err := json.Marshal(s)
	if err == nil {
		err = b.opts.FS.WriteFile(b.path(s.ID, suffix), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write snapshot %s: %w", s.ID, err)
	}
	return nil
}

func (b *Backup) path(id, suffix string) string { return filepath.Join(b.dir, snapshotsDir, id+suffix) }

// Keep says which snapshots stay. The zero value keeps all.
type Keep struct {
	Last   int           // this many of the newest
	Within time.Duration // and those that are not older
}

// expired returns the snapshots that do not stay, of all, the oldest first. The newest always stays.
func (k Keep) expired(all []Snapshot, now time.Time) []Snapshot {
	if k == (Keep{}) || len(all) == 0 {
		return nil
	}
	var gone []Snapshot
	for i, s := range all[:len(all)-1] {
		if len(all)-i > k.Last && (k.Within == 0 || now.Sub(s.Until) > k.Within) {
			gone = append(gone, s)
		}
	}
	return gone
}
