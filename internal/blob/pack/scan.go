package pack

import (
	"bytes"
	"context"
	"strings"

	"github.com/txarchive/txarchive/internal/blob"
)

// foundMember is a member or a trailer that a scan found without the manifest.
type foundMember struct {
	blob.Member                   // Raw counts the good members only
	trailer     *manifestLocation // set for a trailer
	junk        int64             // bytes before it that belong to no member
}

// scan walks a pack from member to member by the lengths in their headers, and searches for the next one where that
// fails. It calls visit for each good member with its raw bytes, and returns how many bytes at the end belong to none.
func scan(ctx context.Context, name string, p blob.Pack, visit func(f foundMember, raw []byte)) (junk int64, err error) {
	head := make([]byte, trailerSize)
	raw := int64(0)
	good := int64(0) // end of the last good member
	for offset := int64(0); offset < p.Size(); {
		n := min(int64(len(head)), p.Size()-offset)
		if err := readAt(ctx, name, p, head[:n], offset); err != nil {
			return 0, err
		}
		found, data, err := tryMember(ctx, name, p, head[:n], offset)
		if err != nil {
			return 0, err
		}
		if found == nil {
			if offset, err = nextMember(ctx, name, p, offset+1); err != nil {
				return 0, err
			}
			continue
		}
		found.junk, found.Raw = offset-good, raw
		visit(*found, data)
		raw += int64(len(data))
		offset += found.Size
		good = offset
	}
	return p.Size() - good, nil
}

// tryMember returns the member at offset, or nil.
func tryMember(ctx context.Context, name string, p blob.Pack, head []byte, offset int64) (*foundMember, []byte, error) {
	if where, ok := parseTrailer(head); ok {
		return &foundMember{Member: blob.Member{Offset: offset, Size: int64(trailerSize)}, trailer: &where}, nil, nil
	}
	size, _, ok := parseMember(head)
	if !ok || size > p.Size()-offset {
		return nil, nil, nil
	}
	data := make([]byte, size)
	if err := readAt(ctx, name, p, data, offset); err != nil {
		return nil, nil, err
	}
	raw, wrong := inflate(data)
	if wrong != "" {
		return nil, nil, nil
	}
	return &foundMember{Member: blob.Member{Offset: offset, Size: size, RawSize: int64(len(raw)), SHA256: blob.RefOf(data)}}, raw, nil
}

// nextMember returns the first place from offset on where a member or trailer may begin, or the size of the pack.
func nextMember(ctx context.Context, name string, p blob.Pack, offset int64) (int64, error) {
	const common = 10 // the bytes that members and trailers share
	buf := make([]byte, 64<<10)
	for offset < p.Size() {
		n := min(int64(len(buf)), p.Size()-offset)
		if err := readAt(ctx, name, p, buf[:n], offset); err != nil {
			return 0, err
		}
		if i := bytes.Index(buf[:n], []byte(memberMagic[:common])); i >= 0 {
			return offset + int64(i), nil
		}
		if n < int64(len(buf)) {
			break
		}
		offset += n - common + 1
	}
	return p.Size(), nil
}

// notFound is the offset of a member that is in the manifest but not in the pack.
const notFound = -1

// entryInfo is the hash and the header of a whole entry.
type entryInfo struct {
	sum  blob.Ref
	head header
}

// memberScan collects the members and entries that a scan finds in a pack.
type memberScan struct {
	walk    walker
	members []blob.Member
	whole   []Entry
	infos   []entryInfo // of whole
	broken  []Entry
	trailer *manifestLocation
	start   int64 // of the trailer
}

func newMemberScan() *memberScan {
	s := &memberScan{}
	s.walk.done = func(e Entry, sum blob.Ref, whole bool) {
		switch {
		case e.Name == "" || e.Link != "":
		case whole:
			s.whole, s.infos = append(s.whole, e), append(s.infos, entryInfo{sum, s.walk.head})
		default:
			s.broken = append(s.broken, e)
		}
	}
	return s
}

func (s *memberScan) visit(f foundMember, raw []byte) {
	if f.trailer != nil {
		s.trailer, s.start = f.trailer, f.Offset
		return
	}
	s.members = append(s.members, f.Member)
	if f.junk > 0 {
		// A member may be missing before this one: the entry that is open ends here.
		s.walk.finish()
	}
	// The error is ignored: bytes that are no header are the rest of an entry whose start is missing.
	_ = s.walk.member(raw)
}

// verifyWithoutManifest reports the damage of a pack that cannot be opened; why is the error of Open.
func (v *verifier) verifyWithoutManifest(ctx context.Context, why error) error {
	s := newMemberScan()
	var junk []Damage
	rest, err := scan(ctx, v.name, v.pack, func(f foundMember, raw []byte) {
		if f.junk > 0 {
			junk = append(junk, Damage{Offset: f.Offset - f.junk, Size: f.junk})
		}
		s.visit(f, raw)
	})
	if err != nil {
		return err
	}
	s.walk.finish()
	if rest > 0 {
		junk = append(junk, Damage{Offset: v.pack.Size() - rest, Size: rest})
	}
	for _, d := range junk {
		d.Reason = "bytes that belong to no member"
		v.damage(d)
	}
	if m, ok := s.manifest(ctx, v.pack); ok {
		v.damage(Damage{Offset: s.start, Reason: why.Error()})
		v.indexExtents(m)
		return v.checkMembers(ctx, s.table(m.Members))
	}
	d := Damage{Reason: "the manifest is lost: " + why.Error()}
	for _, e := range s.whole {
		d.Readable = append(d.Readable, e.Name)
	}
	for _, e := range s.broken {
		d.Lost = append(d.Lost, Loss{Entry: e.Name})
	}
	v.damage(d)
	return nil
}

// manifest returns the manifest if it is still there: before the trailer, even if missing or extra bytes have moved
// both, or as one of the whole entries.
func (s *memberScan) manifest(ctx context.Context, p blob.Pack) (blob.Manifest, bool) {
	if s.trailer != nil {
		where := *s.trailer
		where.offset = s.start - where.size
		if r, err := openManifest(ctx, p, "", where, selection{}); err == nil {
			return r.manifest, true
		}
	}
	for _, e := range s.whole {
		if !strings.HasPrefix(e.Name, manifestDir+"/") {
			continue
		}
		lines, err := (&View{Pack: p, Members: s.members}).ReadRange(ctx, e.Raw, e.Size)
		if err != nil {
			continue
		}
		if m, _, id, err := decodeManifest(lines, selection{}); err == nil && manifestName(id) == e.Name {
			return m, true
		}
	}
	return blob.Manifest{}, false
}

// table returns members with the offsets where the scan found them; those that it did not find have notFound.
func (s *memberScan) table(members []blob.Member) []blob.Member {
	at := map[blob.Ref]int64{}
	for _, m := range s.members {
		at[m.SHA256] = m.Offset
	}
	table := make([]blob.Member, len(members))
	for i, m := range members {
		table[i] = m
		offset, ok := at[m.SHA256]
		if !ok {
			offset = notFound
		}
		table[i].Offset = offset
	}
	return table
}
