// Package adopt indexes the manifests of packs. It puts in order what several writers, gc and prunes may have left: packs that others replace,
// copies whose target is gone, and tombstones, which must come before what they name.
package adopt

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
)

// Adopter indexes packs.
type Adopter struct {
	Packs    blob.Store
	Commit   func(ctx context.Context, rows index.Batch) error // of packs and facts
	Progress func(stage string, done, total int)
}

// Adopt commits the manifests of packs in the order of their names, which is the order of time, and returns how many there were. It skips packs that another one
// replaces. It reads the versions of one pack at a time: all packs together may have millions.
func (a *Adopter) Adopt(ctx context.Context, packs []blob.Info) (int, error) {
	live, bad, err := a.scanManifests(ctx, packs)
	if err != nil {
		return 0, err
	}
	targets, err := a.findCopyTargets(ctx, live)
	if err != nil {
		return 0, err
	}
	if err := a.commitTombstones(ctx, live); err != nil {
		return 0, err
	}
	adopted := 0
	var batch index.Batch
	commit := func(next int) error {
		if err := a.Commit(ctx, batch); err != nil {
			return fmt.Errorf("adopt pack %s: %w", batch.Packs[0].Name, err)
		}
		batch.Packs, batch.Facts, adopted = nil, nil, next
		a.Progress("adopt", adopted, len(live))
		return nil
	}
	end := 0 // copies of the batch's packs name no pack after this one
	for i, t := range live {
		if i > end && len(batch.Packs) > 0 {
			if err := commit(i); err != nil {
				return adopted, err
			}
			end = i
		}
		m, err := a.manifest(ctx, t.Name, nil)
		if err != nil {
			return adopted, err
		}
		end = max(end, targets.redirect(&m))
		row := index.NewPackRow(&m, t.Size)
		if row.Dead, err = a.droppedVersions(ctx, &m); err != nil {
			return adopted, err
		}
		batch.Packs = append(batch.Packs, row)
		for _, f := range m.Facts {
			batch.Facts = append(batch.Facts, index.FactRow{Fact: f, Pack: m.Pack})
		}
	}
	if len(batch.Packs) > 0 {
		if err := commit(len(live)); err != nil { // never joined with bad, which callers tolerate
			return adopted, err
		}
	}
	return adopted, bad
}

// scanManifests reads the manifests of packs. It returns the packs that no other one replaces, and in bad an error for those that cannot be read.
func (a *Adopter) scanManifests(ctx context.Context, packs []blob.Info) (live []scannedPack, bad, err error) {
	replaced := map[string]bool{}
	for i, info := range packs {
		t := scannedPack{Info: info, names: map[string]bool{}}
		m, err := a.manifest(ctx, info.Name, t.collectNames)
		if errors.Is(err, blob.ErrCorrupt) || errors.Is(err, blob.ErrNotFound) {
			bad = errors.Join(bad, fmt.Errorf("%w: %w", blob.ErrCorrupt, err))
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		for _, name := range m.Replaces {
			replaced[name] = true
		}
		t.tombstones = slices.ContainsFunc(m.Facts, isTombstone)
		live = append(live, t)
		a.Progress("manifests", i+1, len(packs))
	}
	return slices.DeleteFunc(live, func(t scannedPack) bool { return replaced[t.Name] }), bad, nil
}

// droppedVersions returns the versions that are in the packs which a pack of gc replaces, but not in that pack, as far as the replaced packs are
// still there.
func (a *Adopter) droppedVersions(ctx context.Context, m *blob.Manifest) (dead []index.VersionKey, err error) {
	kept := map[index.VersionKey]bool{}
	if len(m.Replaces) > 0 {
		for i := range m.Versions {
			kept[index.KeyOf(&m.Versions[i])] = true
		}
	}
	for _, name := range m.Replaces {
		_, err := a.manifest(ctx, name, func(v *blob.Version) bool {
			if k := index.KeyOf(v); !kept[k] {
				dead = append(dead, k)
			}
			return false
		})
		if err != nil && !errors.Is(err, blob.ErrNotFound) && !errors.Is(err, blob.ErrCorrupt) {
			return nil, err
		}
	}
	return dead, nil
}

// manifest reads the manifest of a pack, with the versions that keep selects; nil selects all.
func (a *Adopter) manifest(ctx context.Context, name string, keep pack.Filter) (blob.Manifest, error) {
	r, err := pack.Read(ctx, a.Packs, name, keep)
	if err != nil {
		return blob.Manifest{}, err
	}
	return r.Manifest(), nil
}
