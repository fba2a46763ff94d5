package ingest

import (
	"crypto/sha256"
	"errors"
	"io"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
)

// large stores a file in extents while the parser reads it: each byte is read once, hashed, compressed and parsed.
// Each extent leaves as a piece of its own, with the rows that its bytes gave: a file of more than one is stored as if it had
// grown by that much again and again.
func (st *stored) large() error {
	if st.kind != pieceGrown {
		known, err := st.wholeCopy()
		if err != nil || known {
			return err
		}
	}
	st.h = sha256.New()
	st.first, st.extentLen = st.from == 0, pack.ExtentSize
	if st.c.format != nil {
		st.collector.Reset(st.subject())
	}
	t := &tee{st: st}
	err := error(nil)
	if st.c.format != nil {
		err = st.parse(t)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, t) // what the parser did not need
	}
	if err == nil {
		err = st.cut(true)
	}
	if st.entry != nil {
		st.entry.Abort()
		st.entry = nil
	}
	return err
}

// wholeCopy looks whether some version has this content already, when one has its size.
func (st *stored) wholeCopy() (bool, error) {
	if !st.s.hasSize(st.v.Size) {
		return false, nil
	}
	h := sha256.New()
	n, err := io.Copy(h, io.NewSectionReader(st.f, 0, st.v.Size))
	if err != nil {
		return false, err
	}
	if n < st.v.Size {
		return false, errChanged
	}
	ref := blob.Ref(h.Sum(nil))
	if _, err := st.s.g.stored(st.ctx, ref); errors.Is(err, index.ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	st.v.SHA256 = ref
	st.v.Root = ref // replaced by the root of the content that is found
	rows, err := st.parseWhole(io.NewSectionReader(st.f, 0, st.v.Size))
	if err != nil {
		return false, err
	}
	return true, st.send(delivery{pieces: []*piece{{version: st.v, copy: true, rows: rows, kind: st.kind, last: true, stat: st.stat, size: st.v.Size}}})
}

// tee gives the parser the file and packs what is new of it on the way.
type tee struct{ st *stored }

func (t *tee) Read(p []byte) (int, error) {
	st := t.st
	if st.offset >= st.v.Size {
		return 0, io.EOF
	}
	var end int64
	if st.offset < st.from {
		end = st.from
	} else {
		if st.entry != nil && st.offset == st.extentEnd() {
			// All that was read so far has been parsed as far as it can be: its rows go with its bytes.
			if err := st.cut(false); err != nil {
				return 0, err
			}
		}
		if st.entry == nil {
			if err := st.open(); err != nil {
				return 0, err
			}
		}
		end = st.extentEnd()
	}
	p = p[:min(int64(len(p)), end-st.offset)]
	n, err := st.f.ReadAt(p, st.offset)
	if n == 0 && (err == nil || errors.Is(err, io.EOF)) {
		return 0, errChanged
	}
	if n > 0 {
		st.h.Write(p[:n])
		if st.offset >= st.from {
			if st.extentHash != st.h {
				st.extentHash.Write(p[:n])
			}
			if _, err := st.entry.Write(p[:n]); err != nil {
				return 0, err
			}
		}
		st.offset += int64(n)
		err = nil
	}
	return n, err
}

func (st *stored) extentEnd() int64 { return st.extents[0].Offset + st.extents[0].Size }

// extentRows is what the rows of an extent may take in memory, roughly: where they took more, the next extents of the file are smaller.
const (
	extentRows  = 16 << 20
	extentLeast = 1 << 20
)

func (st *stored) resize(size int64, rows int) {
	st.extentLen = min(pack.ExtentSize, max(extentLeast, size*extentRows/int64(max(rows, 1))))
}

// open begins an extent. The name of a later version depends on the hash of its first extent, so that one is named
// when it is complete.
func (st *stored) open() (err error) {
	st.extents = []blob.Extent{{Offset: st.offset, Size: min(st.extentLen, st.v.Size-st.offset)}}
	st.extentHash = st.h // the first extent is all that was read
	if st.offset > 0 {
		st.extentHash = sha256.New()
	}
	st.entry, err = st.builder.Large(&st.v, &st.extents[0])
	return err
}

// cut ends an extent and sends it on with the rows that are ready.
func (st *stored) cut(last bool) error {
	if st.entry == nil {
		return nil
	}
	extent := &st.extents[0]
	extent.SHA256 = blob.Ref(st.extentHash.Sum(nil))
	if extent.Offset == 0 {
		st.v.Root = extent.SHA256
	}
	p := &piece{version: st.v, kind: st.kind, last: last, stat: st.stat, size: extent.Size}
	if !st.first {
		p.kind = pieceGrown
	}
	unit, err := st.entry.Close()
	st.entry = nil
	if err != nil {
		return err
	}
	p.version.Size = st.offset
	p.version.SHA256 = blob.Ref(st.h.Sum(nil))
	p.version.Extents = st.extents
	if st.c.format != nil && !st.dense {
		p.rows = st.collector.Take(last)
		p.rows.Size, p.rows.SHA256 = st.offset, p.version.SHA256
		st.resize(extent.Size, p.rows.Held)
	}
	if last && st.first && st.s.hasContent(p.version.SHA256, p.version.Size) {
		// A file of this content was stored while this one was read.
		unit, p.copy, p.version.Extents = nil, true, nil
	}
	st.first = false
	if err := st.send(delivery{unit: unit, pieces: []*piece{p}}); err != nil {
		return err
	}
	st.s.g.progress(Progress{Stage: "store", Path: st.v.Path, Bytes: p.size})
	return nil
}
