package pack

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"

	"github.com/txarchive/txarchive/internal/blob"
)

// Salvaged is what can still be read of a damaged pack.
type Salvaged struct {
	// Manifest is the pack's own, when HasManifest. That of another pack which was stored under this name does not count.
	Manifest    blob.Manifest
	HasManifest bool
	// Sure are the members whose stored bytes are those of the manifest, wherever they are now. All has others too that
	// inflate where they should stand: what is read by them is right only if its hash is. Both are sorted by Raw. When the manifest
	// is not known, All is what was found, one behind the other, and nothing is sure.
	Sure, All []blob.Member
	// Torn is what damaged members give when they are inflated as far as that goes: some of it is right.
	Torn []Torn
	// Entries are those that are whole, with their content at Raw in All, when the manifest is not known.
	Entries []SalvagedEntry
}

// Torn is a range of the tar stream that came out of a damaged member: some of its bytes may be wrong.
type Torn struct {
	Raw  int64
	Data []byte
}

// SalvagedEntry is a tar entry that was found without a manifest.
type SalvagedEntry struct {
	Entry
	SHA256  blob.Ref
	ModTime time.Time // to the second
	Mode    uint32
}

// Stored are the contents that the pack should have, or those that are there where the manifest is not known.
func (w *Salvaged) Stored() Contents {
	var t summary
	for i := range w.Manifest.Versions {
		t.add(&w.Manifest.Versions[i])
	}
	for _, e := range w.Entries {
		t.stored = append(t.stored, Content{e.Raw, e.Size, ShortSum(e.SHA256[:16])})
	}
	return contentsOf(t.stored)
}

// Salvage reads every byte of a damaged pack and returns what is still good in it. name is the name of the pack.
func Salvage(ctx context.Context, name string, p blob.Pack) (*Salvaged, error) {
	s := newMemberScan()
	if _, err := scan(ctx, name, p, s.visit); err != nil {
		return nil, err
	}
	s.walk.finish()
	w := &Salvaged{}
	r, err := Open(ctx, p, "")
	switch {
	case err == nil:
		w.Manifest, w.HasManifest = r.manifest, true
	case errors.Is(err, blob.ErrTooNew):
		return nil, err
	default:
		w.Manifest, w.HasManifest = s.manifest(ctx, p)
	}
	w.HasManifest = w.HasManifest && strings.HasPrefix(path.Base(name), idOf(&w.Manifest)+"-")
	if !w.HasManifest {
		w.Manifest, w.All = blob.Manifest{}, s.members
		for i, e := range s.whole {
			if !strings.HasPrefix(e.Name, manifestDir+"/") {
				t := s.tags[i]
				w.Entries = append(w.Entries, SalvagedEntry{e, t.sum, time.Unix(t.head.mtime, 0).UTC(), t.head.mode})
			}
		}
		return w, nil
	}
	w.Manifest.Pack = name
	w.locateMembers(s)
	return w, w.salvageTorn(ctx, name, p)
}

// idOf is the pack id that a manifest states.
func idOf(m *blob.Manifest) string {
	id, err := packID(m.Writer, m.Created)
	if err != nil {
		return ""
	}
	return id
}

// locateMembers matches the members of the manifest with those that the scan found.
func (w *Salvaged) locateMembers(s *memberScan) {
	inPlace, bySum := map[int64]blob.Member{}, map[blob.Ref]bool{}
	for _, m := range s.members {
		inPlace[m.Offset] = m
	}
	for _, m := range w.Manifest.Members {
		bySum[m.SHA256] = true
	}
	for _, m := range s.table(w.Manifest.Members) {
		if m.Offset != notFound {
			w.Sure, w.All = append(w.Sure, m), append(w.All, m)
		}
	}
	sure := map[int64]bool{}
	for _, m := range w.Sure {
		sure[m.Raw] = true
	}
	for _, m := range w.Manifest.Members {
		f, ok := inPlace[m.Offset]
		if ok && !sure[m.Raw] && f.Size == m.Size && f.RawSize == m.RawSize && !bySum[f.SHA256] {
			w.All = append(w.All, m)
		}
	}
	slices.SortFunc(w.All, func(a, b blob.Member) int { return cmp.Compare(a.Raw, b.Raw) })
}

// salvageTorn inflates the damaged members as far as they go, at their own offset or shifted as their neighbours are.
func (w *Salvaged) salvageTorn(ctx context.Context, name string, p blob.Pack) error {
	now := map[int64]int64{}
	for _, m := range w.All {
		now[m.Raw] = m.Offset
	}
	moved := int64(0)
	for _, m := range w.Manifest.Members {
		if at, ok := now[m.Raw]; ok {
			moved = at - m.Offset
			continue
		}
		at := m.Offset + moved
		size := min(m.Size, p.Size()-at)
		if at < 0 || size <= int64(memberHeader) || m.RawSize > maxMemberRaw {
			continue
		}
		data := make([]byte, size)
		if err := readAt(ctx, name, p, data, at); err != nil {
			return err
		}
		if raw := inflateSome(data[memberHeader:], m.RawSize); len(raw) > 0 {
			w.Torn = append(w.Torn, Torn{m.Raw, raw})
		}
	}
	return nil
}

// inflateSome returns what can be inflated of a deflate stream, size bytes at most, whatever its end says.
func inflateSome(deflated []byte, size int64) []byte {
	in := inflaters.Get().(*inflater)
	defer inflaters.Put(in)
	in.src.Reset(deflated)
	if err := in.r.(flate.Resetter).Reset(&in.src, nil); err != nil {
		return nil
	}
	var raw bytes.Buffer
	_, _ = io.Copy(&raw, io.LimitReader(in.r, size)) // the error says where it ends
	return raw.Bytes()
}
