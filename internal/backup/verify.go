package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
)

// VerifyOptions say what a verify checks.
type VerifyOptions struct {
	Snapshot string // "" is all
	Full     bool   // read every byte, not only sizes and manifests
	Progress func(done, total int64)
}

// VerifyReport is what a verify found.
type VerifyReport struct {
	Snapshots int64     `json:"snapshots"`
	Packs     int64     `json:"packs"`
	Bytes     int64     `json:"bytes"`
	Full      bool      `json:"full"`
	Extra     int64     `json:"extra_packs"` // packs that no snapshot names
	Findings  []Finding `json:"findings"`
}

// Finding is one problem that a verify found.
type Finding struct {
	Kind      string   `json:"kind"` // missing, damaged, snapshot
	Pack      string   `json:"pack"` // "" for a snapshot
	Snapshots []string `json:"snapshots"`
	Reason    string   `json:"reason"`
}

// The kinds of findings.
const (
	KindMissing  = "missing"
	KindDamaged  = "damaged"
	KindSnapshot = "snapshot" // a snapshot that cannot be read
)

// Verify checks that every pack of the snapshots is there: its size, name and manifest or, with Full, every
// byte. It changes nothing. Errors: blob.ErrCorrupt after everything has been checked, ErrNoSnapshot.
func (b *Backup) Verify(ctx context.Context, o VerifyOptions) (VerifyReport, error) {
	r := VerifyReport{Full: o.Full, Findings: []Finding{}}
	all, err := b.Snapshots()
	if err != nil {
		r.Findings = append(r.Findings, Finding{Kind: KindSnapshot, Snapshots: []string{}, Reason: err.Error()})
	}
	if o.Snapshot != "" {
		all = slices.DeleteFunc(all, func(s Snapshot) bool { return s.ID != o.Snapshot })
	}
	if len(all) == 0 && err == nil {
		return r, fmt.Errorf("verify backup %s: %w", b.dir, ErrNoSnapshot)
	}
	r.Snapshots = int64(len(all))
	packs, of := packsOf(all)
	total := int64(0)
	for _, p := range packs {
		total += p.Size
	}
	for _, p := range packs {
		err := b.verifyPack(ctx, p, o.Full)
		switch {
		case ctx.Err() != nil:
			return r, ctx.Err()
		case errors.Is(err, blob.ErrNotFound):
			r.Findings = append(r.Findings, Finding{KindMissing, p.Name, of[p], "the file is missing"})
		case err != nil:
			r.Findings = append(r.Findings, Finding{KindDamaged, p.Name, of[p], err.Error()})
		}
		r.Packs++
		if r.Bytes += p.Size; o.Progress != nil {
			o.Progress(r.Bytes, total)
		}
	}
	if o.Snapshot == "" {
		if r.Extra, err = b.countExtra(ctx, packs); err != nil {
			return r, err
		}
	}
	if len(r.Findings) > 0 {
		return r, fmt.Errorf("verify backup %s: %d errors: %w", b.dir, len(r.Findings), blob.ErrCorrupt)
	}
	return r, nil
}

// packsOf returns the packs of snapshots, each once and by name, and the ids of the snapshots that name them.
func packsOf(all []Snapshot) ([]Pack, map[Pack][]string) {
	var packs []Pack
	of := map[Pack][]string{}
	for _, s := range all {
		for _, p := range s.Packs {
			if of[p] == nil {
				packs = append(packs, p)
			}
			of[p] = append(of[p], s.ID)
		}
	}
	slices.SortFunc(packs, byName)
	return packs, of
}

func (b *Backup) verifyPack(ctx context.Context, p Pack, full bool) (err error) {
	if full {
		return b.check(ctx, p)
	}
	open, err := b.packs.Open(ctx, p.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, open.Close()) }()
	if open.Size() != p.Size {
		return fmt.Errorf("it has %d bytes, not %d: %w", open.Size(), p.Size, blob.ErrCorrupt)
	}
	_, err = pack.Open(ctx, open, p.Name)
	return err
}

func (b *Backup) countExtra(ctx context.Context, named []Pack) (n int64, err error) {
	known := map[string]bool{}
	for _, p := range named {
		known[p.Name] = true
	}
	for info, err := range b.packs.List(ctx) {
		if err != nil {
			return n, err
		}
		if !known[info.Name] {
			n++
		}
	}
	return n, nil
}

// Fill copies the packs of a snapshot into a store, which may have some of them already, and reads each
// back. Packs that are missing or damaged are left out and listed in the report; after all others are copied, Fill
// returns blob.ErrCorrupt.
func (b *Backup) Fill(ctx context.Context, s Snapshot, to blob.Store, progress func(done, total int64)) (r FillReport, err error) {
	r = FillReport{Snapshot: s.ID, Damaged: []Damaged{}}
	for _, p := range s.Packs {
		err := checkPack(ctx, to, p)
		switch {
		case err == nil:
			r.Present++
		case !errors.Is(err, blob.ErrNotFound):
			return r, fmt.Errorf("a different pack of that name is already there: %w", err)
		default:
			if err = copyPack(ctx, b.packs, to, p.Name); err == nil {
				err = checkPack(ctx, to, p)
				r.Copied++
			}
		}
		if errors.Is(err, blob.ErrCorrupt) || errors.Is(err, blob.ErrNotFound) {
			r.Damaged = append(r.Damaged, Damaged{p.Name, err.Error()})
		} else if err != nil {
			return r, err
		}
		if r.Bytes += p.Size; progress != nil {
			progress(r.Bytes, s.Bytes)
		}
	}
	if n := len(r.Damaged); n > 0 {
		return r, fmt.Errorf("%d of %d packs of the backup are damaged or missing: %w", n, len(s.Packs), blob.ErrCorrupt)
	}
	return r, nil
}

// FillReport is what a Fill did.
type FillReport struct {
	Snapshot string    `json:"snapshot"`
	Copied   int64     `json:"copied"`  // packs
	Present  int64     `json:"present"` // packs that were there
	Bytes    int64     `json:"bytes"`
	Damaged  []Damaged `json:"damaged"`
}
