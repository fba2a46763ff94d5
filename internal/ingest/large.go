package ingest

import (
	"crypto/sha256"
	"errors"
	"io"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
)

// storeLarge stores a file in extents while the parser reads it: each byte is read once, hashed, compressed and parsed.
// Each extent is sent as a piece of its own with the rows parsed from its bytes, as if the file had grown by one extent at a
// time.
func (vw *versionWriter) storeLarge() error {
	if vw.kind != pieceGrown {
		known, err := vw.wholeCopy()
		if err != nil || known {
			return err
		}
	}
	vw.contentHash = sha256.New()
	vw.firstPiece, vw.extentLen = vw.fromByte == 0, pack.ExtentSize
	if vw.c.format != nil {
		vw.collector.Reset(vw.subject())
	}
	t := &extentReader{vw: vw}
	err := error(nil)
	if vw.c.format != nil {
		err = vw.parse(t)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, t) // store what the parser did not read
	}
	if err == nil {
		err = vw.closeExtent(true)
	}
	if vw.extentWriter != nil {
		vw.extentWriter.Abort()
		vw.extentWriter = nil
	}
	return err
}

// wholeCopy stores the file as a copy if another version has this content, and reports whether it did. It hashes the file only if content of its
// size is stored.
func (vw *versionWriter) wholeCopy() (bool, error) {
	if !vw.s.mayHaveSize(vw.v.Size) {
		return false, nil
	}
	ref, err := vw.hashTo(vw.v.Size)
	if err != nil {
		return false, err
	}
	if _, err := vw.s.g.findContent(vw.ctx, ref); errors.Is(err, index.ErrNotFound) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	vw.v.SHA256 = ref
	vw.v.Root = ref // the batcher replaces it by the root of the content it finds
	rows, err := vw.parseWhole(io.NewSectionReader(vw.f, 0, vw.v.Size))
	if err != nil {
		return false, err
	}
	return true, vw.send(delivery{pieces: []*piece{{version: vw.v, copy: true, rows: rows, kind: vw.kind, last: true, stat: vw.stat, size: vw.v.Size}}})
}

// extentReader is the parser's reader of a file: it hashes what the parser reads, and packs what is new of it.
type extentReader struct{ vw *versionWriter }

func (t *extentReader) Read(p []byte) (int, error) {
	vw := t.vw
	if vw.offset >= vw.v.Size {
		return 0, io.EOF
	}
	var end int64
	if vw.offset < vw.fromByte {
		end = vw.fromByte
	} else {
		if vw.extentWriter != nil && vw.offset == vw.extentEnd() {
			// The parser asks for more, so it has parsed all that it can of this extent: send its rows with its bytes.
			if err := vw.closeExtent(false); err != nil {
				return 0, err
			}
		}
		if vw.extentWriter == nil {
			if err := vw.openExtent(); err != nil {
				return 0, err
			}
		}
		end = vw.extentEnd()
	}
	p = p[:min(int64(len(p)), end-vw.offset)]
	n, err := vw.f.ReadAt(p, vw.offset)
	if n == 0 && (err == nil || errors.Is(err, io.EOF)) {
		return 0, errChanged
	}
	if n > 0 {
		vw.contentHash.Write(p[:n])
		if vw.offset >= vw.fromByte {
			if vw.extentHash != vw.contentHash {
				vw.extentHash.Write(p[:n])
			}
			if _, err := vw.extentWriter.Write(p[:n]); err != nil {
				return 0, err
			}
		}
		vw.offset += int64(n)
		err = nil
	}
	return n, err
}

func (vw *versionWriter) extentEnd() int64 { return vw.extents[0].Offset + vw.extents[0].Size }

// extentRowBytes is the memory that the rows of an extent should take, roughly: if they took more, the file's next extents are smaller, down
// to minExtentLen.
const (
	extentRowBytes = 16 << 20
	minExtentLen   = 1 << 20
)

// adaptExtentLen sets the length of the next extent by the size of the last one and the memory of its rows.
func (vw *versionWriter) adaptExtentLen(size int64, rows int) {
	vw.extentLen = min(pack.ExtentSize, max(minExtentLen, size*extentRowBytes/int64(max(rows, 1))))
}

// openExtent begins an extent. The name of a later version depends on the hash of its first extent, so a first extent gets its name
// when it is complete.
func (vw *versionWriter) openExtent() (err error) {
	vw.extents = []blob.Extent{{Offset: vw.offset, Size: min(vw.extentLen, vw.v.Size-vw.offset)}}
	vw.extentHash = vw.contentHash // of the first extent: the hash of everything read
	if vw.offset > 0 {
		vw.extentHash = sha256.New()
	}
	vw.extentWriter, err = vw.builder.Large(&vw.v, &vw.extents[0])
	return err
}

// closeExtent ends the extent and sends it with the rows that are ready.
func (vw *versionWriter) closeExtent(last bool) error {
	if vw.extentWriter == nil {
		return nil
	}
	extent := &vw.extents[0]
	extent.SHA256 = blob.Ref(vw.extentHash.Sum(nil))
	if extent.Offset == 0 {
		vw.v.Root = extent.SHA256
	}
	p := &piece{version: vw.v, kind: vw.kind, last: last, stat: vw.stat, size: extent.Size}
	if !vw.firstPiece {
		p.kind = pieceGrown
	}
	unit, err := vw.extentWriter.Close()
	vw.extentWriter = nil
	if err != nil {
		return err
	}
	p.version.Size = vw.offset
	p.version.SHA256 = blob.Ref(vw.contentHash.Sum(nil))
	p.version.Extents = vw.extents
	if vw.c.format != nil && !vw.tooManyRows {
		p.rows = vw.collector.Take(last)
		p.rows.Size, p.rows.SHA256 = vw.offset, p.version.SHA256
		vw.adaptExtentLen(extent.Size, p.rows.Held)
	}
	if last && vw.firstPiece && vw.s.hasContent(p.version.SHA256, p.version.Size) {
		// Another file with this content was stored meanwhile.
		unit, p.copy, p.version.Extents = nil, true, nil
	}
	vw.firstPiece = false
	if err := vw.send(delivery{unit: unit, pieces: []*piece{p}}); err != nil {
		return err
	}
	vw.s.g.progress(Progress{Stage: "store", Path: vw.v.Path, Bytes: p.size})
	return nil
}
