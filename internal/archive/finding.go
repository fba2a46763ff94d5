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
	KindUnreadable = "unreadable" // the system does not give a pack's bytes
	KindNewer      = "newer"      // a later program wrote the pack, in a format that this one does not know
	KindIndex      = "index"      // the index is missing or damaged, or says other than the packs
	KindConflict   = "conflict"   // two machines gave one name to two originals
	KindLost       = "lost"       // a notice: bytes that a repair found nowhere, and said so
	KindUnindexed  = "unindexed"  // a notice: a pack that the index does not know yet
	KindLeftover   = "leftover"   // a notice: what nobody needs
)

// What can be done.
const (
	hintBackup   = "txarchive verify --repair saves the rest, and takes what is damaged from its source or, with --from, from a backup"
	hintHarmless = "every original can still be read; txarchive verify --repair writes the pack anew"
	hintLost     = "txarchive verify --repair --from BACKUP, should a copy turn up"
	hintReindex  = "txarchive reindex"
	hintRoom     = "make room on the disk"
	hintAdopt    = "the next ingest takes it in"
	hintLeftover = "the next writer, or gc, removes it"
	hintUpgrade  = "use the newer txarchive that wrote it"
	hintSystem   = "see what the system says of the disk, and who may read the file"
	hintConflict = "both stand in the packs; restore them without the index and give one source another name"
)

// Finding is one thing that is not as it should be. What does not apply is "" or 0.
type Finding struct {
	Kind   string `json:"kind"`
	Pack   string `json:"pack"`
	Offset int64  `json:"offset"` // in the pack file
	Size   int64  `json:"size"`   // bytes of the pack file; 0 is a place, not a range

	// The original that is concerned, and which of its bytes cannot be read any more.
	Source     string   `json:"source"`
	Path       string   `json:"path"`
	Version    int      `json:"version"`
	Entry      string   `json:"entry"` // the tar entry, all that is known when the manifest is lost
	LostOffset int64    `json:"lost_offset"`
	LostBytes  int64    `json:"lost_bytes"`
	Runs       []string `json:"run_ids"` // that speak of the original

	Reason string `json:"reason"`
	Hint   string `json:"hint"`
}

// Notice says whether the finding is only worth knowing: nothing is wrong.
func (f *Finding) Notice() bool {
	return f.Kind == KindUnindexed || f.Kind == KindLeftover || f.Kind == KindLost
}

func (f *Finding) String() string { return f.Place() + f.Original() + ": " + f.Reason }

// Place is the kind of a finding, with the bytes of the pack that it is about.
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

// Original is which original a finding is about, and which bytes of it; "" where it is about none.
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

// VerifyOptions say how much is read.
type VerifyOptions struct {
	// Quick reads manifests and compares them with each other and with the index, but not the originals' bytes, and the index does
	// not look for faults of its own.
	Quick bool
	// Again is an index that was just made from the packs: what the archive's own says otherwise is a finding.
	Again *sqlite.DB
	// Progress is told how many bytes of packs are done, one call at a time. It may be nil.
	Progress func(done, total int64)
}

// VerifyReport is what a verify has looked at and found.
type VerifyReport struct {
	Quick         bool          `json:"quick"`
	Packs         int64         `json:"packs"`
	PackBytes     int64         `json:"pack_bytes"`
	Versions      int64         `json:"versions"`
	OriginalBytes int64         `json:"original_bytes"` // of all versions, as restored
	Index         string        `json:"index"`          // "sound", "unsound" or "missing"
	IndexChecked  bool          `json:"index_checked"`  // the engine has looked at its own file
	IndexRows     int64         `json:"index_rows"`     // that were compared with an index made anew; 0 without one
	Findings      int64         `json:"findings"`       // notices left out
	Notices       int64         `json:"notices"`
	DamagedPacks  int64         `json:"damaged_packs"`
	LostFiles     int64         `json:"lost_files"` // versions of originals of which bytes are lost
	LostBytes     int64         `json:"lost_bytes"`
	KnownBytes    int64         `json:"known_lost_bytes"` // that a repair has given up before
	Hurt          []string      `json:"-"`                // packs whose files are not as they were written
	Duration      time.Duration `json:"duration_ns"`      // what scripts read before every report had elapsed_us
}
