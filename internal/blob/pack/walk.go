package pack

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"

	"github.com/txarchive/txarchive/internal/blob"
)

// walker follows the tar entries of a pack from member to member, over gaps where members cannot be read. Headers
// never straddle members, and a unit begins with a member, so it finds its way again at the next unit at the latest.
type walker struct {
	// done is told of each entry that ended: whole says that all its bytes were seen, and sum is their hash.
	done func(e Entry, sum blob.Ref, whole bool)

	raw   int64 // of the next member
	entry Entry
	head  header // of entry
	left  int64  // content of entry that is to come
	pad   int64  // zeros after it
	open  bool
	whole bool
	hash  hash.Hash
}

// member takes the raw bytes of the next member, and returns what is wrong with them as a tar stream.
func (w *walker) member(data []byte) (wrong string) {
	base, rest := w.raw, data
	w.raw += int64(len(data))
	for len(rest) > 0 {
		if !w.open {
			h, size, ok := parseHeader(rest)
			if !ok {
				return fmt.Sprintf("no tar header at %d of the tar stream", base+int64(len(data)-len(rest)))
			}
			rest = rest[size:]
			w.begin(h, base+int64(len(data)-len(rest)))
		}
		n := min(w.left, int64(len(rest)))
		w.hash.Write(rest[:n])
		w.left, rest = w.left-n, rest[n:]
		if w.left > 0 {
			break
		}
		n = min(w.pad, int64(len(rest)))
		for _, c := range rest[:n] {
			if c != 0 {
				wrong = fmt.Sprintf("padding that is not zero behind %q", w.entry.Name)
			}
		}
		w.pad, rest = w.pad-n, rest[n:]
		if w.pad == 0 {
			w.end()
		}
	}
	return wrong
}

func (w *walker) begin(h header, raw int64) {
	w.head = h
	w.entry = Entry{Name: h.name, Link: h.link, Raw: raw, Size: h.size}
	w.left, w.pad = h.size, padding(h.size)
	w.open, w.whole = true, true
	if w.hash == nil {
		w.hash = sha256.New()
	}
	w.hash.Reset()
}

func (w *walker) end() {
	w.open = false
	w.done(w.entry, blob.Ref(w.hash.Sum(nil)), w.whole)
}

// gap takes the place of a member of size raw bytes that cannot be read. follows is how many bytes of the entry at
// the end of the gap lie behind it, for one whose header is in the gap: it is told to done without a name. gap says
// whether it is known where the walk goes on.
func (w *walker) gap(size, follows int64) bool {
	w.raw += size
	switch {
	case w.open && w.left+w.pad > size:
		w.whole = false
		n := min(w.left, size)
		w.left, w.pad = w.left-n, w.pad-(size-n)
	case w.open:
		w.whole = false
		w.end()
	case follows > 0:
		w.begin(header{}, 0)
		w.left, w.pad, w.whole = follows, 0, false
	default:
		return false
	}
	return true
}

// finish ends a walk: an entry that is still open lacks its end.
func (w *walker) finish() {
	if w.open {
		w.whole = false
		w.end()
	}
}

// CopyUnit lifts a unit out of a pack as it is stored, for another pack. members are the members of the unit. Bytes
// that are not those of the table are ErrCorrupt.
func CopyUnit(ctx context.Context, name string, p blob.Pack, members []blob.Member) (*Unit, error) {
	unit := &Unit{}
	if len(members) == 0 {
		return unit, nil
	}
	w := walker{done: func(e Entry, _ blob.Ref, _ bool) { unit.Entries = append(unit.Entries, e) }}
	for _, m := range members {
		data, err := readStored(ctx, name, p, m)
		if err != nil {
			return nil, err
		}
		raw, wrong := inflate(data)
		if wrong == "" && int64(len(raw)) != m.RawSize {
			wrong = "not as long as the manifest says"
		}
		if wrong == "" {
			wrong = w.member(raw)
		}
		if wrong != "" {
			return nil, corrupt(name, m.Offset, "%s", wrong)
		}
		unit.members = append(unit.members, stored{data: data, raw: m.RawSize, sum: m.SHA256})
		unit.raw += m.RawSize
	}
	if w.open {
		return nil, fmt.Errorf("copy unit of pack %s at %d: the last entry goes on", name, members[0].Offset)
	}
	return unit, nil
}

// readStored reads a member as it is stored, and checks that it is the one of the table.
func readStored(ctx context.Context, name string, p blob.Pack, m blob.Member) ([]byte, error) {
	if !plausible(m.Size, m.RawSize) || m.Size > p.Size() {
		return nil, corrupt(name, m.Offset, "no member has %d bytes for %d", m.Size, m.RawSize)
	}
	data := make([]byte, m.Size)
	if err := readAt(ctx, name, p, data, m.Offset); err != nil {
		return nil, err
	}
	if blob.RefOf(data) != m.SHA256 {
		return nil, corrupt(name, m.Offset, "the stored bytes are not those that were written")
	}
	return data, nil
}
