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

// Snapshot records which packs made up the archive from Time until Until.
type Snapshot struct {
	ID    string    `json:"snapshot"`
	Time  time.Time `json:"time"`
	Until time.Time `json:"until"` // time of the last backup that found the same packs
	Bytes int64     `json:"bytes"`
	Packs []Pack    `json:"packs"` // by name
}

// A snapshot is a file <id>.json. A file <id>.void is not a snapshot but a list of packs of a backup that is in progress or
// has died, or of a snapshot that has expired. Packs that only void lists name are removed.
const (
	snapshotSuffix = ".json"
	voidSuffix     = ".void"
)

const idLayout = "20060102T150405.000000Z"

// Snapshots returns the snapshots, the oldest first. The error names those that cannot be read; the others are returned too.
func (b *Backup) Snapshots() ([]Snapshot, error) { return b.lists(snapshotSuffix) }

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
			err = fmt.Errorf("its id is %q", s.ID)
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("read snapshot %s: %w", id, err))
			continue
		}
		all = append(all, s)
	}
	// By id, because ids rise even if the clock is set back: see newID.
	slices.SortFunc(all, func(x, y Snapshot) int { return cmp.Compare(x.ID, y.ID) })
	return all, errors.Join(bad...)
}

// Snapshot returns the snapshot with an id; "" is the newest. It returns ErrNoSnapshot if there is none.
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

// newID returns the id for a new snapshot, which sorts after all others even if the clock was set back. It must also differ from
// the ids of void lists: if one were overwritten, the packs that its backup left would be named nowhere.
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

// Keep says which snapshots to keep. The zero value keeps all.
type Keep struct {
	Last   int           // this many of the newest
	Within time.Duration // and those that are not older
}

// expired returns the snapshots that are not kept, of all, the oldest first. The newest is always kept.
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
