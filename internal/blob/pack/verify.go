package pack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/txarchive/txarchive/internal/blob"
)

// Damage is one place where a pack is not as it was written, and what is lost by it.
type Damage struct {
	Pack   string
	Offset int64 // in the pack file
	Size   int64 // 0 if it is a place, not a range
	Reason string
	// Lost lists the bytes of originals that can no longer be read. It is empty if nothing is lost, as when the damaged
	// bit is in a gzip header and no reader needs it.
	Lost []Loss
	// Readable names the entries that can still be read whole. Set only if the manifest is lost.
	Readable []string
}

// Loss is a range of bytes of an original.
type Loss struct {
	Source  string
	Path    string
	Version int
	Offset  int64 // in the chain
	Size    int64
	Raw     int64  // start of the content of its extent in the inflated tar stream
	Entry   string // the tar entry; all that is known if the manifest is lost
}

// Verify reads every byte of a pack and compares it with the manifest, and the manifest with the name ("" if unknown).
// It calls report for each damage, in no particular order. It returns nil if there is none, ErrCorrupt if there is, and
// other errors if the pack could not be read. It does not check what copies refer to in other packs.
func Verify(ctx context.Context, name string, p blob.Pack, report func(Damage)) error {
	v := &verifier{name: name, pack: p, report: report}
	r, err := Open(ctx, p, name)
	if errors.Is(err, blob.ErrCorrupt) && name != "" {
		if r2, err2 := Open(ctx, p, ""); err2 == nil {
			v.damage(Damage{Offset: r2.location.offset, Size: p.Size() - r2.location.offset, Reason: err.Error()})
			r, err = r2, nil
		}
	}
	switch {
	case errors.Is(err, blob.ErrCorrupt):
		err = v.verifyWithoutManifest(ctx, err)
	case err == nil:
		v.indexExtents(r.manifest)
		err = v.checkMembers(ctx, r.manifest.Members)
	}
	if err == nil && v.damages > 0 {
		err = fmt.Errorf("verify pack %s: %d errors: %w", name, v.damages, blob.ErrCorrupt)
	}
	return err
}

type verifier struct {
	name    string
	pack    blob.Pack
	report  func(Damage)
	damages int

	extents map[int64][]manifestExtent // by Raw: the extents that an entry's content should be
	links   map[string]bool            // entries that must be hard links and were not seen yet
	bad     []Damage                   // damaged members, reported once their losses are known
	badRaw  []blob.Member              // the members of bad, for their ranges of the tar stream
}

// manifestExtent is an extent of the manifest and its version.
type manifestExtent struct {
	blob.Extent
	version *blob.Version
	seen    bool
}

func (o *manifestExtent) name() string { return nameOf(o.version, &o.Extent) }

func (v *verifier) damage(d Damage) {
	v.damages++
	d.Pack = v.name
	v.report(d)
}

func (v *verifier) indexExtents(m blob.Manifest) {
	v.extents, v.links = map[int64][]manifestExtent{}, map[string]bool{}
	for i := range m.Versions {
		version := &m.Versions[i]
		for _, e := range version.Extents {
			raw := e.Raw
			o := manifestExtent{Extent: e, version: version}
			if e.CopyOf != nil {
				if e.CopyOf.Pack != "" {
					continue
				}
				raw = e.CopyOf.Raw
				v.links[o.name()] = true
			}
			v.extents[raw] = append(v.extents[raw], o)
		}
	}
}

// checkMembers reads and checks the members of a table in order.
func (v *verifier) checkMembers(ctx context.Context, table []blob.Member) error {
	w := &walker{done: v.checkEntry}
	desynced := false // after a gap that hid the header of an entry that no version refers to: the position in the tar is unknown
	for _, m := range table {
		data, reason, err := v.readMember(ctx, m)
		if err != nil {
			return err
		}
		if reason != "" {
			v.bad = append(v.bad, Damage{Offset: m.Offset, Size: m.Size, Reason: reason})
			v.badRaw = append(v.badRaw, m)
		}
		if data == nil {
			desynced = !w.gap(m.RawSize, v.bytesAfter(m))
			continue
		}
		wrong := w.member(data)
		if wrong != "" && !desynced {
			v.damage(Damage{Offset: m.Offset, Size: m.Size, Reason: wrong})
		}
		desynced = desynced && wrong != ""
	}
	w.finish()
	v.reportLosses()
	return nil
}

// readMember returns the raw bytes of a member, nil if it cannot be inflated, and what is wrong with it.
func (v *verifier) readMember(ctx context.Context, m blob.Member) (raw []byte, reason string, err error) {
	if m.Offset == notFound {
		return nil, "a member is missing", nil
	}
	data := make([]byte, m.Size)
	if err := readAt(ctx, v.name, v.pack, data, m.Offset); err != nil {
		return nil, "", err
	}
	if blob.RefOf(data) != m.SHA256 {
		reason = "a member differs from what was written"
	}
	raw, wrong := inflate(data)
	if wrong == "" && int64(len(raw)) != m.RawSize {
		wrong = "not as long as the manifest says"
	}
	if wrong != "" {
		return nil, "a member is damaged: " + wrong, nil
	}
	return raw, reason, nil
}

// bytesAfter returns how many bytes after an unreadable member belong to the entry that starts in it, padding included.
func (v *verifier) bytesAfter(m blob.Member) int64 {
	end := m.Raw + m.RawSize
	for raw, list := range v.extents {
		size := list[0].Size
		if raw >= m.Raw && raw <= end && raw+size+padding(size) > end {
			return raw + size + padding(size) - end
		}
	}
	return 0
}

// checkEntry compares an entry of the tar stream with the manifest.
func (v *verifier) checkEntry(e Entry, sum blob.Ref, whole bool) {
	if e.Link != "" {
		delete(v.links, e.Name)
		return
	}
	list := v.extents[e.Raw]
	nameMatches := len(list) == 0 // an entry that no version refers to is garbage, not damage
	for i := range list {
		o := &list[i]
		nameMatches = nameMatches || o.CopyOf == nil && o.name() == e.Name
		o.seen = whole && o.Size == e.Size && o.SHA256 == sum
		if whole && !o.seen {
			v.damage(Damage{Reason: fmt.Sprintf("the content of %q differs from the manifest", e.Name), Lost: []Loss{v.loss(o, e.Raw, e.Raw, e.Raw+o.Size)}})
			o.seen = true
		}
	}
	if whole && !nameMatches {
		v.damage(Damage{Reason: fmt.Sprintf("%q has the content of an original with another name", e.Name)})
	}
}

// reportLosses reports the bad members with what is lost by them, and whatever else of the manifest is not in the pack.
func (v *verifier) reportLosses() {
	for _, raw := range slices.Sorted(maps.Keys(v.extents)) {
		for i := range v.extents[raw] {
			o := &v.extents[raw][i]
			if !o.seen && !v.attributeLoss(o, raw) {
				v.damage(Damage{Reason: "an entry of the manifest is missing", Lost: []Loss{v.loss(o, raw, raw, raw+o.Size)}})
			}
		}
	}
	for _, d := range v.bad {
		v.damage(d)
	}
	for name := range v.links {
		if len(v.bad) == 0 {
			v.damage(Damage{Reason: fmt.Sprintf("the hard link %q is missing", name)})
		}
	}
}

// attributeLoss adds what is lost of an extent to the bad members that hold it, and reports whether there are any.
func (v *verifier) attributeLoss(o *manifestExtent, raw int64) bool {
	found := false
	for i, m := range v.badRaw {
		from, to := max(raw, m.Raw), min(raw+o.Size, m.Raw+m.RawSize)
		// Of an empty original only the header is lost, which ends where the content would begin.
		if from < to || o.Size == 0 && m.Raw < raw && raw <= m.Raw+m.RawSize {
			v.bad[i].Lost = append(v.bad[i].Lost, v.loss(o, raw, from, to))
			found = true
		}
	}
	return found
}

func (v *verifier) loss(o *manifestExtent, raw, from, to int64) Loss {
	return Loss{
		Source: o.version.Source, Path: o.version.Path, Version: o.version.Number,
		Offset: o.Offset + from - raw, Size: max(to-from, 0), Raw: raw, Entry: o.name(),
	}
}
