package archive

import (
	"fmt"
	"time"

	"github.com/txarchive/txarchive/internal/index/sqlite"
)

// The kinds of findings.
const (
	KindDamaged    = "damaged"    // bytes of a pack are not as they were written
	KindMissing    = "missing"    // a pack, or bytes of an original, are nowhere
	KindUnreadable = "unreadable" // the operating system fails to read a pack
	KindNewer      = "newer"      // a later program wrote the pack, in a format that this one does not know
	KindIndex      = "index"      // the index is missing or damaged, or differs from the packs
	KindConflict   = "conflict"   // two originals have the same name, of two machines or of two copies of an archive
	KindLost       = "lost"       // a notice: bytes that a repair found nowhere and recorded as lost
	KindUnindexed  = "unindexed"  // a notice: a pack that the index does not know yet
	KindLeftover   = "leftover"   // a notice: a file that is not needed
)

// Hints: what the user can do.
const (
	hintBackup   = "`txarchive verify --repair` saves the rest, and restores damaged parts from their source or, with --from, from a backup"
	hintMissing  = "`txarchive verify --repair` takes them from packs that others replace, from their source or, with --from, from a backup"
	hintHarmless = "every original can still be read; `txarchive verify --repair` rewrites the pack"
	hintLost     = "if you find a copy: txarchive verify --repair --from BACKUP"
	hintReindex  = "txarchive reindex"
	hintRoom     = "free some space on the disk"
	hintAdopt    = "the next ingest indexes it"
	hintLeftover = "the next command that writes, or gc, removes it"
	hintReplaced = "gc removes it, unless an original needs what only this pack has"
	hintUpgrade  = "use the newer txarchive that wrote it"
	hintSystem   = "check the system log for errors of the disk, and the permissions of the file"
	hintApart    = "`txarchive restore --all-versions` restores both; of what does not continue the other, searches find the longer one or nothing"
	hintConflict = "`txarchive restore --all-versions --at now` restores both; searches find one; if they are of two machines, give one source another name"
)

// Finding is one problem that a verify found, or a notice. Fields that do not apply are "" or 0.
type Finding struct {
	Kind   string `json:"kind"`
	Pack   string `json:"pack"`
	Offset int64  `json:"offset"` // in the pack file
	Size   int64  `json:"size"`   // bytes of the pack file; 0 if it is a place, not a range

	// The original that is affected, and which of its bytes can no longer be read.
	Source     string   `json:"source"`
	Path       string   `json:"path"`
	Version    int      `json:"version"`
	Entry      string   `json:"entry"` // the tar entry, all that is known if the manifest is lost
	LostOffset int64    `json:"lost_offset"`
	LostBytes  int64    `json:"lost_bytes"`
	Runs       []string `json:"run_ids"` // runs that the original describes

	Reason string `json:"reason"`
	Hint   string `json:"hint"`
}

// Notice reports whether the finding is only information: nothing is wrong.
func (f *Finding) Notice() bool {
	return f.Kind == KindUnindexed || f.Kind == KindLeftover || f.Kind == KindLost
}

func (f *Finding) String() string { return f.Place() + f.Original() + ": " + f.Reason }

// Place returns the kind of a finding and the bytes of the pack that it is about.
func (f *Finding) Place() string {
	text := f.Kind
	if f.Pack != "" {
		text += " pack " + f.Pack
		if f.Size > 0 {
			text += fmt.Sprintf(" (%d bytes at %d)", f.Size, f.Offset)
		}
	}
	return text
}

// Original returns which original a finding is about and which of its bytes, or "" if it is about none.
func (f *Finding) Original() (text string) {
	switch {
	case f.Path != "":
		text = fmt.Sprintf(" %s/%s version %d", f.Source, f.Path, f.Version)
	case f.Entry != "":
		text = " entry " + f.Entry
	}
	if f.LostBytes > 0 {
		text += fmt.Sprintf(", %d bytes at %d", f.LostBytes, f.LostOffset)
	}
	return text
}

// VerifyOptions say how much is checked.
type VerifyOptions struct {
	// Quick reads manifests and compares them with each other and with the index, but does not read the originals' bytes and does
	// not check the index's own integrity.
	Quick bool
	// Rebuilt, if not nil, is an index that was just made from the packs. Differences from the archive's index are findings.
	Rebuilt *sqlite.DB
	// Progress is called with how many bytes of packs are done, one call at a time. It may be nil.
	Progress func(done, total int64)
}

// VerifyReport summarises what a verify has checked and found.
type VerifyReport struct {
	Quick         bool          `json:"quick"`
	Packs         int64         `json:"packs"`
	PackBytes     int64         `json:"pack_bytes"`
	Versions      int64         `json:"versions"`
	OriginalBytes int64         `json:"original_bytes"` // of all versions, as restored
	Index         string        `json:"index"`          // "sound", "unsound" or "missing"
	IndexChecked  bool          `json:"index_checked"`  // SQLite has checked the integrity of its file
	IndexRows     int64         `json:"index_rows"`     // rows compared with VerifyOptions.Rebuilt; 0 without it
	Findings      int64         `json:"findings"`       // without notices
	Notices       int64         `json:"notices"`
	DamagedPacks  int64         `json:"damaged_packs"`
	LostFiles     int64         `json:"lost_files"` // versions of originals that have lost bytes
	LostBytes     int64         `json:"lost_bytes"`
	KnownBytes    int64         `json:"known_lost_bytes"` // bytes that an earlier repair recorded as lost
	Corrupt       []string      `json:"-"`                // packs whose files are not as they were written
	Duration      time.Duration `json:"duration_ns"`      // kept for scripts from before reports had elapsed_us
}
