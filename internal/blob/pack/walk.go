package pack

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"

	"github.com/txarchive/txarchive/internal/blob"
)

// walker parses the tar entries of a pack member by member, across gaps where members cannot be read. Headers
// never straddle members, and a unit begins with a member, so it resynchronises at the next unit at the latest.
type walker struct {
	// done is called for each entry that ended: whole says that all its bytes were seen, and sum is their hash.
	done     func(e Entry, sum blob.Ref, whole bool)
	unhashed bool // done needs no sum

	raw   int64 // offset of the next member in the tar stream
	entry Entry
	head  header // of entry
	left  int64  // bytes of entry's content still to come
	pad   int64  // bytes of padding still to come
	open  bool
	whole bool
	hash  hash.Hash
}

// member parses the raw bytes of the next member, and returns what is wrong with them as a tar stream.
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
		if !w.unhashed {
			w.hash.Write(rest[:n])
		}
		w.left, rest = w.left-n, rest[n:]
		if w.left > 0 {
			break
		}
		n = min(w.pad, int64(len(rest)))
		for _, c := range rest[:n] {
			if c != 0 {
				wrong = fmt.Sprintf("padding after %q is not zero", w.entry.Name)
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

// within reports whether the next size raw bytes are of the entry that is open.
func (w *walker) within(size int64) bool { return w.open && w.left+w.pad >= size }

// gap is called instead of member for one of size raw bytes that cannot be read. If the header of the entry at the end of
// the gap is in the gap, after is how many bytes of that entry follow; done gets it without a name. gap reports whether the
// walker still knows its position.
func (w *walker) gap(size, after int64) bool {
	w.raw += size
	switch {
	case w.open && w.left+w.pad > size:
		w.whole = false
		n := min(w.left, size)
		w.left, w.pad = w.left-n, w.pad-(size-n)
	case w.open:
		w.whole = false
		w.end()
	case after > 0:
		w.begin(header{}, 0)
		w.left, w.pad, w.whole = after, 0, false
	default:
		return false
	}
	return true
}

// finish ends a walk. An entry that is still open is not whole.
func (w *walker) finish() {
	if w.open {
		w.whole = false
		w.end()
	}
}

// CopyUnit reads a unit of a pack as it is stored, to append it to another pack. members are the members of the unit. It
// returns ErrCorrupt if their bytes are not those that were written, as the table has their hashes. Only members with headers
// are inflated, for the names of entries.
func CopyUnit(ctx context.Context, name string, p blob.Pack, members []blob.Member) (*Unit, error) {
	unit := &Unit{}
	if len(members) == 0 {
		return unit, nil
	}
	w := walker{unhashed: true, done: func(e Entry, _ blob.Ref, _ bool) { unit.Entries = append(unit.Entries, e) }}
	for _, m := range members {
		data, err := readStored(ctx, name, p, m)
		if err != nil {
			return nil, err
		}
		if w.within(m.RawSize) {
			w.gap(m.RawSize, 0)
		} else if wrong := w.inflated(data, m.RawSize); wrong != "" {
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

// inflated parses a member as it is stored, and returns what is wrong with it.
func (w *walker) inflated(data []byte, size int64) (wrong string) {
	raw, wrong := inflate(data)
	switch {
	case wrong != "":
		return wrong
	case int64(len(raw)) != size:
		return "not as long as the manifest says"
	}
	return w.member(raw)
}

// readStored reads a member as it is stored, and checks its hash.
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
