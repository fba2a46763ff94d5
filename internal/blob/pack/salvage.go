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
	// Manifest is the pack's own, valid if HasManifest. The manifest of another pack stored under this name does not count.
	Manifest    blob.Manifest
	HasManifest bool
	// Sure are the members whose stored bytes have the hash in the manifest, wherever they are now. All also has those that
	// inflate at their place but have another hash: content read from them must be checked by its own hash. Both are sorted
	// by Raw. Without a manifest, All is every member that was found, as if contiguous, and Sure is empty.
	Sure, All []blob.Member
	// Torn is what damaged members inflate to before inflation fails: some of it is right.
	Torn []Torn
	// Entries are the entries that are whole, with their content at Raw in All. Only without a manifest.
	Entries []SalvagedEntry
}

// Torn is a range of the tar stream that was inflated from a damaged member: some of its bytes may be wrong.
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

// Stored returns the contents that the pack should hold by its manifest or, without a manifest, those that were found.
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
				t := s.infos[i]
				w.Entries = append(w.Entries, SalvagedEntry{e, t.sum, time.Unix(t.head.mtime, 0).UTC(), t.head.mode})
			}
		}
		return w, nil
	}
	w.Manifest.Pack = name
	w.locateMembers(s)
	return w, w.salvageTorn(ctx, name, p)
}

// idOf returns the pack id that a manifest states.
func idOf(m *blob.Manifest) string {
	id, err := packID(m.Writer, m.Created)
	if err != nil {
		return ""
	}
	return id
}

// locateMembers matches the members of the manifest with those that the scan found, and sets Sure and All.
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

// salvageTorn inflates the damaged members as far as possible, at their own offset or shifted like the member before them.
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

// inflateSome returns as much of a deflate stream as can be inflated, size bytes at most.
func inflateSome(deflated []byte, size int64) []byte {
	in := inflaterPool.Get().(*inflater)
	defer inflaterPool.Put(in)
	in.src.Reset(deflated)
	if err := in.r.(flate.Resetter).Reset(&in.src, nil); err != nil {
		return nil
	}
	var raw bytes.Buffer
	_, _ = io.Copy(&raw, io.LimitReader(in.r, size)) // an error only ends the readable part
	return raw.Bytes()
}
