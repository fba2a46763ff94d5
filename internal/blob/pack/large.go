package pack

import (
	"bytes"
	"fmt"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
)

// LargeWriter writes one large entry, which becomes a unit of its own. The compressed members stay in memory until
// the unit is appended. Raw bytes are held of the first member and the current one only.
type LargeWriter struct {
	b       *Builder
	version *blob.Version // names the entry at Close; nil if its name is final
	extent  *blob.Extent
	header  header
	start   int64 // offset of the content in the unit
	left    int64 // bytes of content still to be written
	unit    *Unit
	first   []byte // the first member, raw, in the Builder's buffer: its header may change until Close
}

// Large begins the extent e of v, whose content is streamed: it becomes a unit of its own, whatever its size. v.Root, which
// is part of the name of a later version, may be set any time before Close, because it is the hash of what is written. e.Raw is
// set as with Put. A Builder has one such entry open at a time; small ones may be added meanwhile.
func (b *Builder) Large(v *blob.Version, e *blob.Extent) (*LargeWriter, error) {
	w, err := b.begin(nameOf(v, e), e.Size, v.ModTime, v.Mode)
	if err != nil {
		return nil, err
	}
	w.version, w.extent = v, e
	return w, nil
}

func (b *Builder) begin(name string, size int64, mtime time.Time, mode uint32) (*LargeWriter, error) {
	if b.large != nil {
		return nil, fmt.Errorf("entry %q: another large entry is not closed", name)
	}
	if size < 0 || size > maxTarSize {
		return nil, fmt.Errorf("entry %q of %d bytes: %w", name, size, ErrSize)
	}
	w := &LargeWriter{b: b, header: newHeader(name, "", size, mtime, mode), left: size, unit: &Unit{}}
	b.window = w.header.append(b.window[:0])
	w.start = int64(len(b.window))
	b.large = w
	return w, nil
}

// Write adds content. If p exceeds the announced size, Write returns ErrSize and writes nothing.
func (w *LargeWriter) Write(p []byte) (int, error) {
	if w.b.large != w {
		return 0, fmt.Errorf("entry %q is closed", w.header.name)
	}
	if int64(len(p)) > w.left {
		return 0, fmt.Errorf("entry %q has more bytes: %w", w.header.name, ErrSize)
	}
	n := len(p)
	w.left -= int64(n)
	for len(p) > 0 {
		// Cut only when more content comes, so that the last member never holds padding alone.
		if room := w.b.opts.MemberSize - len(w.b.window); room > 0 {
			take := min(room, len(p))
			w.b.window = append(w.b.window, p[:take]...)
			p = p[take:]
			continue
		}
		w.cut()
	}
	return n, nil
}

// cut ends a member, at a line end if one is near, so that most lines lie in one member.
func (w *LargeWriter) cut() {
	window := w.b.window
	end := len(window)
	low := end - end/8 // the last 20 of 160 KiB
	if w.first == nil {
		low = max(low, int(w.start)) // not within the header
	}
	if i := bytes.LastIndexByte(window[low:], '\n'); i >= 0 {
		end = low + i + 1
	}
	w.emit(window[:end])
	w.b.window = append(window[:0], window[end:]...)
}

func (w *LargeWriter) emit(raw []byte) {
	w.unit.raw += int64(len(raw))
	if w.first == nil {
		w.first = append(w.b.first[:0], raw...)
		w.b.first = w.first
		w.unit.members = append(w.unit.members, stored{})
		return
	}
	w.unit.members = append(w.unit.members, w.b.enc.member(raw))
}

// Close ends the entry and returns its unit. If content is missing, it drops the entry and returns ErrSize.
func (w *LargeWriter) Close() (*Unit, error) {
	if w.b.large != w {
		return nil, fmt.Errorf("entry %q is closed", w.header.name)
	}
	w.b.large = nil
	if w.left != 0 {
		return nil, fmt.Errorf("entry %q lacks %d bytes: %w", w.header.name, w.left, ErrSize)
	}
	if w.version != nil {
		w.header.name = nameOf(w.version, w.extent)
	}
	header := w.header.append(nil)
	if int64(len(header)) != w.start {
		return nil, fmt.Errorf("entry %q was begun with a name of another length", w.header.name)
	}
	w.b.window = appendPadding(w.b.window, w.header.size)
	w.emit(w.b.window)
	copy(w.first, header)
	w.unit.members[0] = w.b.enc.member(w.first)
	w.unit.Entries = []Entry{{Name: w.header.name, Raw: w.start, Size: w.header.size, extent: w.extent}}
	return w.unit, nil
}

// Abort drops the entry. After Close it does nothing.
func (w *LargeWriter) Abort() {
	if w.b.large == w {
		w.b.large = nil
	}
}
