package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/disk"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/collect"
	"github.com/txarchive/txarchive/internal/ingest/dbcopy"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/sourcefs"
	"github.com/txarchive/txarchive/internal/transcript"
)

// minTrustedAge is how old a modification time must be for the metadata to be trusted: another write within the clock's
// resolution may leave size and time as they are.
const minTrustedAge = 2 * time.Second

// piece is a version, or an extent of one, with its rows: what a worker delivers to the batch.
type piece struct {
	version blob.Version
	copy    bool // the content is stored or in flight elsewhere, under version.SHA256
	rows    *index.Parsed
	kind    pieceKind
	last    bool // it completes the version
	stat    index.Stat
	size    int64 // raw bytes that it adds
	asked   int   // how many packs were begun when the index did not have the content of a copy
}

type pieceKind int

const (
	pieceNew pieceKind = iota
	pieceGrown
	pieceRewritten
	pieceTouched // same content, with other metadata or another claim
	piecePruned  // under a tombstone
)

// delivery is a unit of a pack with the pieces in it. For pieces without bytes of their own the unit is nil.
type delivery struct {
	unit   *pack.Unit
	pieces []*piece
	budget int64 // that it has acquired: see rowBudget
}

// worker reads, hashes, compresses and parses files, one after another.
type worker struct {
	s          *scan
	ctx        context.Context
	deliveries chan<- delivery
	files      sourcefs.Opener
	builder    *pack.Builder
	collector  *collect.Collector
	pending    []*piece // whose content is in the builder's shared member
	buffer     []byte
	retry      bool // second attempt: part of the file may be stored already
}

// errChanged is returned when a file became shorter while it was read.
var errChanged = errors.New("became shorter while being read")

// process archives one file. It tries once more if the file became shorter meanwhile.
func (w *worker) process(c *claimed) error {
	for attempt := 0; ; attempt++ {
		w.retry = attempt > 0
		err := w.processOnce(c)
		if errors.Is(err, errChanged) && attempt == 0 {
			continue
		}
		return err
	}
}

func (w *worker) processOnce(c *claimed) error {
	f, info, err := w.files.Open(c.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if c.isZip {
		return w.storeZip(c, f, info)
	}
	if splits := splitsOf(c); splits != nil {
		return w.storeParts(c, info, splits)
	}
	v := blob.Version{
		Source: w.s.root.Source, Path: c.path, Number: 1, Size: info.Size(), ModTime: time.Unix(0, blob.Nano(info.ModTime())), Mode: uint32(info.Mode().Perm()),
		Format: c.formatName(), Role: c.claim.Role, Claim: c.root,
	}
	content, done, err := w.openContent(c, f)
	if err != nil {
		return err
	}
	defer done()
	if content != f {
		info, err := content.Stat()
		if err != nil {
			return err
		}
		v.Size = info.Size()
	}
	if !w.isTrusted(info) {
		w.s.markUntrusted(c.path)
	}
	if err := w.storeVersion(c, content, v, statOf(info)); err != nil {
		return err
	}
	after, err := f.Stat()
	if err != nil || after.Size() != info.Size() || !after.ModTime().Equal(info.ModTime()) {
		w.s.markUntrusted(c.path)
	}
	return nil
}

// statOf returns the metadata of a file for the scan cache.
func statOf(info fs.FileInfo) index.Stat {
	return index.Stat{Size: info.Size(), ModTime: blob.Nano(info.ModTime()), Inode: sourcefs.Inode(info)}
}

// isTrusted reports whether the metadata of a file would tell another write: see minTrustedAge.
func (w *worker) isTrusted(info fs.FileInfo) bool {
	return w.s.g.Now().Sub(info.ModTime()) >= minTrustedAge
}

// openContent returns the file itself or, for a database, a consistent copy, and a function that releases it.
func (w *worker) openContent(c *claimed, f sourcefs.File) (sourcefs.File, func(), error) {
	if !c.claim.Database {
		return f, func() {}, nil
	}
	content, done, err := snapshot(w.ctx, &w.files, c)
	if dbcopy.Malformed(err) { // because of its log: the file is stored as it is, and parsing it reports the problem
		return f, func() {}, nil
	}
	return content, done, err
}

// snapshot copies a database that may be in use to a scratch directory, and returns the open copy and a function that removes it.
func snapshot(ctx context.Context, files *sourcefs.Opener, c *claimed) (*os.File, func(), error) {
	dir, remove, err := disk.Scratch("db")
	if err != nil {
		return nil, nil, err
	}
	clean := func() { _ = remove() } // a leftover is removed by the next Scratch
	copied, err := dbcopy.Snapshot(ctx, dir, func(suffix string) (*os.File, error) {
		f, _, err := files.OpenFile(c.path + suffix)
		return f, err
	})
	if err != nil {
		clean()
		return nil, nil, err
	}
	f, err := os.Open(filepath.Clean(copied))
	if err != nil {
		clean()
		return nil, nil, err
	}
	return f, func() { f.Close(); clean() }, nil
}

// storeVersion compares a content with the newest version of its file, then stores and parses what is new of it.
func (w *worker) storeVersion(c *claimed, f io.ReaderAt, v blob.Version, stat index.Stat) error {
	vw := &versionWriter{worker: w, c: c, f: f, v: v, stat: stat, kind: pieceNew}
	state, err := w.s.newest(w.ctx, v.Path, w.retry)
	switch {
	case errors.Is(err, index.ErrNotFound):
	case err != nil:
		return err
	default:
		if err := vw.compare(state); err != nil {
			return err
		}
	}
	switch vw.kind {
	case pieceTouched:
		return vw.recordTouched(state)
	case piecePruned:
		return vw.skipPruned(state)
	}
	if vw.fromByte == 0 {
		tombstoned, err := vw.isTombstoned(state)
		if err != nil {
			return err
		}
		if tombstoned {
			return vw.skipPruned(index.State{})
		}
	}
	return vw.store()
}

// store stores and parses what is new of the content.
func (vw *versionWriter) store() error {
	if vw.fromByte == 0 && vw.v.Size < (pack.Options{}).Member() {
		return vw.storeSmall()
	}
	return vw.storeLarge()
}

// newest returns the newest version of a file, or index.ErrNotFound. It does not ask the index about a source that is new to it, unless
// this is the second attempt at the file.
func (s *scan) newest(ctx context.Context, path string, retry bool) (index.State, error) {
	if s.newSource && !retry {
		return index.State{}, index.ErrNotFound
	}
	return s.g.Index.Newest(ctx, s.root.Source, path)
}

// versionWriter stores one content of a file as a version, or as the extension of one.
type versionWriter struct {
	*worker
	c          *claimed
	f          io.ReaderAt
	v          blob.Version
	stat       index.Stat
	kind       pieceKind
	fromByte   int64 // bytes before it are stored
	fromRecord int64 // records before it are indexed

	// Of a file that is stored in extents, see storeLarge.
	contentHash  hash.Hash         // of everything read so far
	offset       int64             // of the next byte to read
	extentWriter *pack.LargeWriter // of the current extent; nil between extents
	extents      []blob.Extent     // the current extent only
	extentLen    int64             // length of the next extent
	extentHash   hash.Hash
	firstPiece   bool // no piece of the version was sent yet

	tooManyRows bool // rows from here on do not fit: see maxPieceRowBytes
	rearchive   bool // it was pruned, and is to be archived again
	forgotten   bool // it was pruned by forget: it must never be archived again
}

// compare sets kind by comparing the file with its newest version: same content, grown, rewritten or pruned.
func (vw *versionWriter) compare(state index.State) error {
	vw.v.Number = state.Number
	plain := vw.f
	// A version with lost bytes, or whose extents may not be of one content, is not compared: the whole file is stored as the next version.
	if vw.v.Size >= state.Size && (state.Tombstoned || isComplete(state.Extents, state.Size) && !(state.Apart && state.Parser == 0)) {
		vw.f = vw.applyRedactions(state)
		sum, err := vw.hashTo(state.Size)
		if err != nil {
			return err
		}
		if sum == state.SHA256 {
			switch {
			case vw.v.Size == state.Size && state.Tombstoned:
				vw.kind = piecePruned
				return nil
			case vw.v.Size == state.Size:
				vw.kind = pieceTouched
				return nil
			case state.Tombstoned: // the content that it extends was pruned: rewritten
			case vw.hasClaimOf(&state) && (vw.c.claim.Log || vw.c.format == nil) && state.Size > 0:
				vw.kind, vw.fromByte, vw.v.Root = pieceGrown, state.Size, state.Root
				vw.fromRecord, err = vw.resumeAt(&state)
				return err
			}
		}
	}
	vw.f = plain
	vw.kind = pieceRewritten
	vw.v.Number++
	return nil
}

// hashTo returns the hash of the first size bytes of the content.
func (vw *versionWriter) hashTo(size int64) (blob.Ref, error) {
	h := sha256.New()
	n, err := io.Copy(h, io.NewSectionReader(vw.f, 0, size))
	if err != nil {
		return blob.Ref{}, err
	}
	if n < size {
		return blob.Ref{}, errChanged
	}
	return blob.Ref(h.Sum(nil)), nil
}

// hasClaimOf reports whether the content is claimed as its newest version is.
func (vw *versionWriter) hasClaimOf(state *index.State) bool {
	return state.Format == vw.v.Format && state.Role == vw.v.Role && state.Claim == vw.v.Claim
}

// recordTouched records new metadata, or another claim, for content that is stored. Where neither is new, it only notes the stat.
func (vw *versionWriter) recordTouched(state index.State) error {
	same := vw.hasClaimOf(&state)
	if same && state.ModTime.Equal(vw.v.ModTime) && state.Mode == vw.v.Mode {
		vw.s.recordStat(vw.c.path, vw.stat)
		return nil
	}
	vw.v.Root, vw.v.SHA256 = state.Root, state.SHA256
	p := &piece{version: vw.v, kind: pieceTouched, last: true, stat: vw.stat}
	if (!same || state.Parsed == 0) && vw.c.format != nil { // parse again: events without a time of their own take the file's
		rows, err := vw.parseWhole(io.NewSectionReader(vw.f, 0, vw.v.Size))
		if err != nil {
			return err
		}
		p.rows = rows
	}
	return vw.send(delivery{pieces: []*piece{p}})
}

// storeSmall stores a file that fits into memory, in a member that it shares with others.
func (vw *versionWriter) storeSmall() error {
	vw.buffer = slices.Grow(vw.buffer[:0], int(vw.v.Size))[:vw.v.Size]
	if n, err := vw.f.ReadAt(vw.buffer, 0); n < len(vw.buffer) {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errChanged
		}
		return err
	}
	content := vw.buffer
	vw.v.SHA256 = blob.RefOf(content)
	vw.v.Root = vw.v.SHA256
	p := &piece{version: vw.v, kind: vw.kind, last: true, stat: vw.stat, size: vw.v.Size}
	rows, err := vw.parseWhole(format.InMemory(content))
	if err != nil {
		return err
	}
	p.rows = rows
	if vw.s.hasContent(vw.v.SHA256, vw.v.Size) {
		p.copy = true
		return vw.send(delivery{pieces: []*piece{p}})
	}
	p.version.Extents = []blob.Extent{{Size: vw.v.Size, SHA256: vw.v.SHA256}}
	r := bytes.NewReader(content)
	unit, err := vw.builder.Put(&p.version, &p.version.Extents[0], r)
	if errors.Is(err, pack.ErrNameTaken) { // two parts of a database may have one name
		if err = vw.flush(); err == nil {
			unit, err = vw.builder.Put(&p.version, &p.version.Extents[0], r)
		}
	}
	if err != nil {
		return err
	}
	vw.worker.pending = append(vw.worker.pending, p)
	return vw.sendShared(unit)
}

// flush completes the shared unit and sends it.
func (w *worker) flush() error { return w.sendShared(w.builder.Flush()) }

// sendShared sends the shared unit with its pieces if it is complete; unit is nil while it is not.
func (w *worker) sendShared(unit *pack.Unit) error {
	if unit == nil {
		return nil
	}
	d := delivery{unit: unit, pieces: w.pending}
	w.pending = nil
	return w.send(d)
}

// send delivers d once the row budget has room for it.
func (w *worker) send(d delivery) error {
	if err := w.s.rowBudget.acquire(w.ctx, &d); err != nil {
		return err
	}
	select {
	case w.deliveries <- d:
		return nil
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}

// parseWhole parses content that is stored in one piece. It returns nil if no format claims it, or if it has too many rows.
func (vw *versionWriter) parseWhole(r io.Reader) (*index.Parsed, error) {
	if vw.c.format == nil {
		return nil, nil
	}
	if vw.v.SHA256 == (blob.Ref{}) {
		return nil, fmt.Errorf("parse before hash")
	}
	vw.collector.Reset(vw.subject())
	if err := vw.parse(r); err != nil || vw.tooManyRows {
		return nil, err
	}
	return vw.collector.Take(true), nil
}

func (vw *versionWriter) subject() index.Subject {
	return index.Subject{
		VersionKey: index.KeyOf(&vw.v),
		Format:     vw.v.Format, Role: vw.v.Role, Parser: vw.c.format.Version(), Claim: vw.v.Claim,
		Size: vw.v.Size, SHA256: vw.v.SHA256, From: vw.fromRecord, ModTime: vw.v.ModTime.UnixMicro(), Host: vw.s.host,
	}
}

// maxPieceRowBytes is the memory that the rows of one piece may take, roughly. A large document, or a copy of a long log, exceeds it, since
// its rows are delivered all at once. Such a piece is stored without rows, and parsed in chunks from its pack after the scan.
const maxPieceRowBytes = 2 * extentRowBytes

// errTooManyRows ends a parse whose rows exceed maxPieceRowBytes.
var errTooManyRows = errors.New("more rows than are kept at once")

// parse collects the records of a content. If there are too many it drops them and sets tooManyRows.
func (vw *versionWriter) parse(r io.Reader) (err error) {
	if !vw.c.claim.Log && !vw.c.claim.Database {
		release, err := vw.s.documentBudget.acquire(vw.ctx, vw.v.Size)
		if err != nil {
			return err
		}
		defer release()
	}
	in := inputOf(&vw.v, toSlash(vw.s.root.Dir), r)
	checkSize := func() error {
		if vw.collector.Size() >= maxPieceRowBytes {
			return errTooManyRows
		}
		return nil
	}
	add := func(record transcript.Record) error { return vw.collector.AddInChunks(record, checkSize) }
	if vw.c.claim.Database {
		err = parseDatabase(vw.ctx, vw.c.format, in, add)
	} else {
		err = eachRecord(format.Records(vw.c.format, in), add)
	}
	if errors.Is(err, errTooManyRows) {
		vw.tooManyRows, err = true, nil
		vw.collector.Reset(index.Subject{}) // releases the rows
	}
	return err
}
