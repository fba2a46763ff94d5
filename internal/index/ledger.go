package index

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/transcript"
)

// FactLedger records what remains of the runs that were pruned or thinned in one version of one original. From then on
// it replaces what the version itself states about them. Key: LedgerKey. Value: a Ledger. An index stores the value as
// rows; Retention.Ledgers returns it again.
const FactLedger = "ledger"

// LedgerKey returns the key of the fact for a version.
func LedgerKey(v *blob.Version) string {
	return fmt.Sprintf("%016x", uint64(Hash("ledger", v.Source, v.Path, fmt.Sprint(v.Number), v.Root.String())))
}

// Ledger is what remains of pruned and thinned runs of one version.
type Ledger struct {
	Version    blob.Version // without extents
	Tombstoned bool         // nothing else remains of the version: it has a tombstone
	Runs       []LedgerRun
	Links      []LedgerLink // of a tombstoned version
	Newest     int          // number of the newest version of the file; not stored
}

// The actions of a LedgerRun: Prune removes the run, Thin reduces it.
const (
	LedgerPrune = "prune"
	LedgerThin  = "thin"
)

// LedgerVersions is the tier of LedgerThin that removes a version of a run of which a later one stays.
const LedgerVersions = "versions"

// LedgerRun is what remains of one run.
type LedgerRun struct {
	Run      string `json:"run_id"` // public
	NativeID string `json:"native_id"`
	Format   string `json:"format,omitempty"` // of the run, where the version has none
	Local    bool   `json:"local,omitempty"`  // the native id is unique only in the Scope of the version
	Scope    string `json:"scope,omitempty"`  // if set, it is unique in this scope instead: the version lies beside the run's own files
	Action   string `json:"action"`
	Tier     string `json:"tier"`            // of LedgerThin
	Over     int64  `json:"over,omitempty"`  // size limit of the payloads tier
	Until    int64  `json:"until,omitempty"` // applies only to what the version states before this offset; 0: to everything
	Plan     string `json:"plan"`
	Rule     string `json:"rule"`
	Reason   string `json:"reason"`

	Claim *transcript.Run `json:"claim,omitempty"` // what the version stated about it, without text of the transcript
	Usage []LedgerUsage   `json:"usage,omitempty"` // usage that counted
	Hints []LedgerHint    `json:"hints,omitempty"`
}

// Drops reports whether the rows of the run are deleted, and not only their words.
func (r *LedgerRun) Drops() bool { return r.Action == LedgerPrune || r.Tier == "ledger" }

// LedgerUsage is one usage record with its identity, so that it still counts once when its run is archived again.
// The ids must be the same in every release of the program.
type LedgerUsage struct {
	ID    string `json:"usage_id"`
	Alias string `json:"alias_id,omitempty"` // id of another record that it also counts for
	transcript.Usage
}

// LedgerHint is a transcript.Hint.
type LedgerHint struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// LedgerLink is a link with the identities of the edge and of the record that states it.
type LedgerLink struct {
	Edge      int64 `json:"edge,string"`
	Statement int64 `json:"statement,string"`
	Derived   bool  `json:"derived,omitempty"`
	FromLocal bool  `json:"from_local,omitempty"` // the native id is a local one of the version's scope
	ToLocal   bool  `json:"to_local,omitempty"`
	transcript.Link
}

// ledgerValue is the JSON form. Names of a version that are not valid text are base64 too.
type ledgerValue struct {
	Source     string       `json:"source"`
	SourceRaw  []byte       `json:"source_b64,omitempty"`
	Path       string       `json:"path"`
	PathRaw    []byte       `json:"path_b64,omitempty"`
	Number     int          `json:"version"`
	Root       blob.Ref     `json:"root"`
	Size       int64        `json:"size"`
	SHA256     blob.Ref     `json:"sha256"`
	ModTime    time.Time    `json:"mtime"`
	Mode       uint32       `json:"mode"`
	Format     string       `json:"format"`
	Role       string       `json:"role"`
	Claim      string       `json:"root_dir"`
	ClaimRaw   []byte       `json:"root_dir_b64,omitempty"`
	Tombstoned bool         `json:"buried"`
	Runs       []LedgerRun  `json:"runs"`
	Links      []LedgerLink `json:"links,omitempty"`
}

// Of returns the entry for a run, nil if the ledger has none. A nil ledger has none.
func (l *Ledger) Of(nativeID string) *LedgerRun {
	if l == nil {
		return nil
	}
	for i := range l.Runs {
		if l.Runs[i].NativeID == nativeID {
			return &l.Runs[i]
		}
	}
	return nil
}

// Fact encodes the ledger as a fact. A ledger without runs and without a tombstone takes the fact back.
func (l *Ledger) Fact(at time.Time) (blob.Fact, error) {
	f := blob.Retraction(FactLedger, LedgerKey(&l.Version), at)
	if len(l.Runs) == 0 && !l.Tombstoned {
		return f, nil
	}
	v := ledgerValue{Number: l.Version.Number, Root: l.Version.Root, Size: l.Version.Size, SHA256: l.Version.SHA256,
		ModTime: l.Version.ModTime.UTC(), Mode: l.Version.Mode, Format: l.Version.Format, Role: l.Version.Role, Tombstoned: l.Tombstoned, Runs: l.Runs, Links: l.Links}
	v.Source, v.SourceRaw = blob.Readable(l.Version.Source)
	v.Path, v.PathRaw = blob.Readable(l.Version.Path)
	v.Claim, v.ClaimRaw = blob.Readable(l.Version.Claim)
	var err error
	if f.Value, err = json.Marshal(v); err != nil {
		return f, fmt.Errorf("write ledger: %w", err)
	}
	return f, nil
}

// ParseLedger decodes a fact that was not taken back.
func ParseLedger(f blob.Fact) (*Ledger, error) {
	var v ledgerValue
	if err := json.Unmarshal(f.Value, &v); err != nil {
		return nil, fmt.Errorf("ledger %s: %w", f.Key, err)
	}
	exact := func(s string, raw []byte) string {
		if raw != nil {
			return string(raw)
		}
		return s
	}
	l := &Ledger{Tombstoned: v.Tombstoned, Runs: v.Runs, Links: v.Links, Version: blob.Version{
		Source: exact(v.Source, v.SourceRaw), Path: exact(v.Path, v.PathRaw), Number: v.Number, Root: v.Root, Size: v.Size, SHA256: v.SHA256,
		ModTime: v.ModTime, Mode: v.Mode, Format: v.Format, Role: v.Role, Claim: exact(v.Claim, v.ClaimRaw)}}
	if l.Version.Source == "" || l.Version.Number == 0 || LedgerKey(&l.Version) != f.Key {
		return nil, fmt.Errorf("ledger %s names no version", f.Key)
	}
	return l, nil
}
