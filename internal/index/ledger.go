package index

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/transcript"
)

// FactLedger tells what stays of the runs that were pruned or thinned in one version of one original, and from then
// on stands in the place of what the version itself says of them. Key: LedgerKey. Value: a Ledger. An index keeps the
// value as rows, and gives it back with Ledgers.
const FactLedger = "ledger"

// LedgerKey is the key of the fact for a version.
func LedgerKey(v *blob.Version) string {
	return fmt.Sprintf("%016x", uint64(Hash("ledger", v.Source, v.Path, fmt.Sprint(v.Number), v.Root.String())))
}

// Ledger is what stays of runs in one version.
type Ledger struct {
	Version blob.Version // without extents
	Buried  bool         // nothing else stays of the version: a tombstone lies on it
	Runs    []LedgerRun
	Links   []LedgerLink // of a tombstoned version
}

// The actions of a LedgerRun: Prune ends the run, Thin leaves it with less.
const (
	LedgerPrune = "prune"
	LedgerThin  = "thin"
)

// LedgerRun is what stays of one run.
type LedgerRun struct {
	Run      string `json:"run_id"` // public
	NativeID string `json:"native_id"`
	Format   string `json:"format,omitempty"` // of the run, where the version has none
	Local    bool   `json:"local,omitempty"`  // the native id is unique only in the Scope of the version
	Scope    string `json:"scope,omitempty"`  // only in this other one: the version lies beside what is the run's
	Action   string `json:"action"`
	Tier     string `json:"tier"`            // of LedgerThin
	Over     int64  `json:"over,omitempty"`  // of the tier of payloads
	Until    int64  `json:"until,omitempty"` // what the version says of the run from this offset on is not concerned; 0: all is
	Plan     string `json:"plan"`
	Rule     string `json:"rule"`
	Reason   string `json:"reason"`

	Claim *transcript.Run `json:"claim,omitempty"` // what the version said of it, without words of the transcript
	Usage []LedgerUsage   `json:"usage,omitempty"` // that counted
	Hints []LedgerHint    `json:"hints,omitempty"`
}

// Drops says whether the rows of the run go, and not only their words.
func (r *LedgerRun) Drops() bool { return r.Action == LedgerPrune || r.Tier == "ledger" }

// LedgerUsage is one usage with the identity under which it counts, so that it counts once when its run comes back.
// Its ids must never change from one program to the next.
type LedgerUsage struct {
	ID    string `json:"usage_id"`
	Alias string `json:"alias_id,omitempty"` // of what it counts for as well
	transcript.Usage
}

// LedgerHint is a transcript.Hint.
type LedgerHint struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// LedgerLink is a link with the identities of the edge and the statement.
type LedgerLink struct {
	Edge      int64 `json:"edge,string"`
	Statement int64 `json:"statement,string"`
	Derived   bool  `json:"derived,omitempty"`
	FromLocal bool  `json:"from_local,omitempty"` // the native id means the run of the version's Scope
	ToLocal   bool  `json:"to_local,omitempty"`
	transcript.Link
}

// ledgerValue is the JSON form: a version's names may be no text.
type ledgerValue struct {
	Source    string       `json:"source"`
	SourceRaw []byte       `json:"source_b64,omitempty"`
	Path      string       `json:"path"`
	PathRaw   []byte       `json:"path_b64,omitempty"`
	Number    int          `json:"version"`
	Root      blob.Ref     `json:"root"`
	Size      int64        `json:"size"`
	SHA256    blob.Ref     `json:"sha256"`
	ModTime   time.Time    `json:"mtime"`
	Mode      uint32       `json:"mode"`
	Format    string       `json:"format"`
	Role      string       `json:"role"`
	Claim     string       `json:"root_dir"`
	ClaimRaw  []byte       `json:"root_dir_b64,omitempty"`
	Buried    bool         `json:"buried"`
	Runs      []LedgerRun  `json:"runs"`
	Links     []LedgerLink `json:"links,omitempty"`
}

// Has says whether the ledger keeps something of a run; a nil one keeps nothing.
func (l *Ledger) Has(nativeID string) bool {
	return l != nil && slices.ContainsFunc(l.Runs, func(r LedgerRun) bool { return r.NativeID == nativeID })
}

// Fact writes the ledger down. One without runs and without a tombstone takes the fact back.
func (l *Ledger) Fact(at time.Time) (blob.Fact, error) {
	f := blob.Fact{Kind: FactLedger, Key: LedgerKey(&l.Version), Time: at, Value: json.RawMessage("null")}
	if len(l.Runs) == 0 && !l.Buried {
		return f, nil
	}
	v := ledgerValue{Number: l.Version.Number, Root: l.Version.Root, Size: l.Version.Size, SHA256: l.Version.SHA256,
		ModTime: l.Version.ModTime.UTC(), Mode: l.Version.Mode, Format: l.Version.Format, Role: l.Version.Role, Buried: l.Buried, Runs: l.Runs, Links: l.Links}
	v.Source, v.SourceRaw = blob.Readable(l.Version.Source)
	v.Path, v.PathRaw = blob.Readable(l.Version.Path)
	v.Claim, v.ClaimRaw = blob.Readable(l.Version.Claim)
	var err error
	if f.Value, err = json.Marshal(v); err != nil {
		return f, fmt.Errorf("write ledger: %w", err)
	}
	return f, nil
}

// ParseLedger reads the value of a fact that is not taken back.
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
	l := &Ledger{Buried: v.Buried, Runs: v.Runs, Links: v.Links, Version: blob.Version{
		Source: exact(v.Source, v.SourceRaw), Path: exact(v.Path, v.PathRaw), Number: v.Number, Root: v.Root, Size: v.Size, SHA256: v.SHA256,
		ModTime: v.ModTime, Mode: v.Mode, Format: v.Format, Role: v.Role, Claim: exact(v.Claim, v.ClaimRaw)}}
	if l.Version.Source == "" || l.Version.Number == 0 || LedgerKey(&l.Version) != f.Key {
		return nil, fmt.Errorf("ledger %s names no version", f.Key)
	}
	return l, nil
}
