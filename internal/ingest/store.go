package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/ingest/dbcopy"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// youngAge is how old a file's time must be for its metadata to be trusted: a write within the clock's
// resolution leaves size and time as they were.
const youngAge = 2 * time.Second

// piece is one version, or a stretch of one, with its bytes and its rows: what a worker hands to the batch.
type piece struct {
	version blob.Version
	copy    bool // the content may be found by version.SHA256
	rows    *index.Parsed
	kind    pieceKind
	last    bool // the version is complete with it
	stat    index.Stat
	size    int64 // raw bytes that it brings
}

type pieceKind int

const (
	pieceNew pieceKind = iota
	pieceGrown
	pieceRewritten
	pieceTouched // other metadata, or another claim, for the same content
	piecePruned  // under a tombstone
)

// delivery is a unit of a pack with the pieces that lie in it; pieces without bytes come with a nil unit.
type delivery struct {
	unit   *pack.Unit
	pieces []*piece
	room   int64 // that it has taken of the load
}

// worker reads, hashes, compresses and parses files, one after another.
type worker struct {
	s         *scan
	ctx       context.Context
	out       chan<- delivery
	files     opener
	builder   *pack.Builder
	collector *index.Collector
	pending   []*piece // with their content in the builder's shared member
	buffer    []byte
	again     bool // the file became shorter: some of it may be stored
}

// errChanged says that a file became shorter while it was read.
var errChanged = errors.New("became shorter while it was read")

// take brings in one file.
func (w *worker) take(c *claimed) error {
	for attempt := 0; ; attempt++ {
		w.again = attempt > 0
		err := w.once(c)
		if errors.Is(err, errChanged) && attempt == 0 {
			continue
		}
		return err
	}
}

func (w *worker) once(c *claimed) error {
	f, info, err := w.files.open(c.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if c.zip {
		return w.unzip(c, f, info)
	}
	if splits := splitsOf(c); splits != nil {
		return w.parts(c, info, splits)
	}
	v := blob.Version{
		Source: w.s.root.Source, Path: c.path, Number: 1, Size: info.Size(), ModTime: time.Unix(0, blob.Nano(info.ModTime())), Mode: uint32(info.Mode().Perm()),
		Format: c.formatName(), Role: c.claim.Role, Claim: c.root,
	}
	content, done, err := w.content(c, f)
	if err != nil {
		return err
	}
	defer done()
	if content != f {
		inside, err := content.Stat()
		if err != nil {
			return err
		}
		v.Size = inside.Size()
	}
	stat := index.Stat{Size: info.Size(), ModTime: blob.Nano(info.ModTime()), Inode: inode(info)}
	if w.s.g.Now().Sub(info.ModTime()) < youngAge {
		w.s.distrust(c.path)
	}
	if err := w.bring(c, content, v, stat); err != nil {
		return err
	}
	after, err := f.Stat()
	if err != nil || after.Size() != info.Size() || !after.ModTime().Equal(info.ModTime()) {
		w.s.distrust(c.path)
	}
	return nil
}

// content is the file itself, or a consistent copy of a database.
func (w *worker) content(c *claimed, f original) (original, func(), error) {
	if !c.claim.Database {
		return f, func() {}, nil
	}
	content, done, err := snapshot(w.ctx, &w.files, c)
	if dbcopy.Malformed(err) { // by its log: the file is kept as it is, and reading it will say so
		return f, func() {}, nil
	}
	return content, done, err
}

// bring stores what is new of one content, and parses it.
func (w *worker) bring(c *claimed, f io.ReaderAt, v blob.Version, stat index.Stat) error {
	st := &stored{worker: w, c: c, f: f, v: v, stat: stat, kind: pieceNew}
	state, err := w.s.newest(w.ctx, v.Path, w.again)
	switch {
	case errors.Is(err, index.ErrNotFound):
	case err != nil:
		return err
	default:
		if err := st.compare(state); err != nil {
			return err
		}
	}
	switch st.kind {
	case pieceTouched:
		return st.touch(state)
	case piecePruned:
		return st.leaveOut(state)
	}
	if st.from == 0 {
		dead, err := st.buried()
		if err != nil {
			return err
		}
		if dead {
			return st.leaveOut(index.State{})
		}
	}
	return st.store()
}

// store stores what is new of the content.
func (st *stored) store() error {
	if st.from == 0 && st.v.Size < (pack.Options{}).Member() {
		return st.small()
	}
	return st.large()
}

// newest returns the newest version of a file. Of a source that the index did not know there is none, unless this scan has met
// the file before.
func (s *scan) newest(ctx context.Context, path string, again bool) (index.State, error) {
	if s.first && !again {
		return index.State{}, index.ErrNotFound
	}
	return s.g.Index.Newest(ctx, s.root.Source, path)
}

// stored is one file on its way into packs.
type stored struct {
	*worker
	c    *claimed
	f    io.ReaderAt
	v    blob.Version
	stat index.Stat
	kind pieceKind
	from int64 // bytes before it are stored
	rows int64 // records before it are indexed

	h          hash.Hash         // of all that was read
	offset     int64             // where the reading is
	entry      *pack.LargeWriter // of the extent that is being written
	extents    []blob.Extent     // that alone
	extentLen  int64             // of the next
	extentHash hash.Hash
	first      bool // no piece was sent yet
	dense      bool // its rows, from here on, are too many
	asked      bool // it was pruned and is to be archived again
	forgotten  bool // it was pruned and must never be archived again
}

// compare finds out what the file is against its newest version: the same, grown, or rewritten.
func (st *stored) compare(state index.State) error {
	st.v.Number = state.Number
	plain := st.f
	// Of what has lost bytes the whole is stored once more, as the next version.
	if st.v.Size >= state.Size && (state.Tombstoned || whole(state.Extents, state.Size)) {
		st.f = st.redacted(state)
		h := sha256.New()
		n, err := io.Copy(h, io.NewSectionReader(st.f, 0, state.Size))
		if err != nil {
			return err
		}
		if n < state.Size {
			return errChanged
		}
		if bytes.Equal(h.Sum(nil), state.SHA256[:]) {
			sameClaim := state.Format == st.v.Format && state.Role == st.v.Role && state.Claim == st.v.Claim
			switch {
			case st.v.Size == state.Size && state.Tombstoned:
				st.kind = piecePruned
				return nil
			case st.v.Size == state.Size:
				st.kind = pieceTouched
				return nil
			case state.Tombstoned: // what it has grown from is not here any more
			case sameClaim && (st.c.claim.Log || st.c.format == nil) && state.Size > 0:
				st.kind, st.from, st.v.Root, st.rows = pieceGrown, state.Size, state.Root, state.Parsed
				return nil
			}
		}
	}
	st.f = plain
	st.kind = pieceRewritten
	st.v.Number++
	return nil
}

// touch keeps new metadata for content that is stored, if there is any.
func (st *stored) touch(state index.State) error {
	same := state.Format == st.v.Format && state.Role == st.v.Role && state.Claim == st.v.Claim
	if same && state.ModTime.Equal(st.v.ModTime) && state.Mode == st.v.Mode {
		st.s.remember(st.c.path, st.stat)
		return nil
	}
	st.v.Root, st.v.SHA256 = state.Root, state.SHA256
	p := &piece{version: st.v, kind: pieceTouched, last: true, stat: st.stat}
	if (!same || state.Parsed == 0) && st.c.format != nil { // rows that state no time may stand at that of the file
		rows, err := st.parseWhole(io.NewSectionReader(st.f, 0, st.v.Size))
		if err != nil {
			return err
		}
		p.rows = rows
	}
	return st.send(delivery{pieces: []*piece{p}})
}

// small stores a whole file in memory, beside others in one member.
func (st *stored) small() error {
	st.buffer = slices.Grow(st.buffer[:0], int(st.v.Size))[:st.v.Size]
	if n, err := st.f.ReadAt(st.buffer, 0); n < len(st.buffer) {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return errChanged
		}
		return err
	}
	content := st.buffer
	st.v.SHA256 = blob.RefOf(content)
	st.v.Root = st.v.SHA256
	p := &piece{version: st.v, kind: st.kind, last: true, stat: st.stat, size: st.v.Size}
	rows, err := st.parseWhole(format.InMemory(content))
	if err != nil {
		return err
	}
	p.rows = rows
	if st.s.hasContent(st.v.SHA256, st.v.Size) {
		p.copy = true
		return st.send(delivery{pieces: []*piece{p}})
	}
	p.version.Extents = []blob.Extent{{Size: st.v.Size, SHA256: st.v.SHA256}}
	r := bytes.NewReader(content)
	unit, err := st.builder.Put(&p.version, &p.version.Extents[0], r)
	if errors.Is(err, pack.ErrNameTaken) { // two parts of a database may be called so
		if err = st.flush(); err == nil {
			unit, err = st.builder.Put(&p.version, &p.version.Extents[0], r)
		}
	}
	if err != nil {
		return err
	}
	st.worker.pending = append(st.worker.pending, p)
	return st.shared(unit)
}

// flush ends the shared unit.
func (w *worker) flush() error { return w.shared(w.builder.Flush()) }

// shared sends on the shared unit, when it is complete.
func (w *worker) shared(unit *pack.Unit) error {
	if unit == nil {
		return nil
	}
	d := delivery{unit: unit, pieces: w.pending}
	w.pending = nil
	return w.send(d)
}

func (w *worker) send(d delivery) error {
	if err := w.s.load.take(w.ctx, &d); err != nil {
		return err
	}
	select {
	case w.out <- d:
		return nil
	case <-w.ctx.Done():
		return w.ctx.Err()
	}
}

// parseWhole parses content that is stored in one piece. nil when no format claims it, and when its rows are too many.
func (st *stored) parseWhole(r io.Reader) (*index.Parsed, error) {
	if st.c.format == nil {
		return nil, nil
	}
	if st.v.SHA256 == (blob.Ref{}) {
		return nil, fmt.Errorf("parse before hash")
	}
	st.collector.Reset(st.subject())
	if err := st.parse(r); err != nil || st.dense {
		return nil, err
	}
	return st.collector.Take(true), nil
}

func (st *stored) subject() index.Subject {
	return index.Subject{
		VersionKey: index.VersionKey{Source: st.v.Source, Path: st.v.Path, Number: st.v.Number},
		Format:     st.v.Format, Role: st.v.Role, Parser: st.c.format.Version(), Claim: st.v.Claim,
		Size: st.v.Size, SHA256: st.v.SHA256, From: st.rows, ModTime: st.v.ModTime.UnixMicro(), Host: st.s.host,
	}
}

// mostRows is how much memory the rows of one piece may take, roughly. A document, or a copy of a long log, has more: all of them come
// at once, since all of its bytes were read before. Such a piece is stored without rows, and parsed in stretches from its pack
// when the scan is over.
const mostRows = 2 * extentRows

// errDense ends a parse that has given mostRows.
var errDense = errors.New("more rows than are held at once")

// parse hands the records of a content to the collector, and says in dense that there were too many.
func (st *stored) parse(r io.Reader) (err error) {
	if !st.c.claim.Log && !st.c.claim.Database {
		release, err := st.s.wholes.hold(st.ctx, st.v.Size)
		if err != nil {
			return err
		}
		defer release()
	}
	in := inputOf(&st.v, slashed(st.s.root.Dir), r)
	look := func() error {
		if st.collector.Size() >= mostRows {
			return errDense
		}
		return nil
	}
	take := func(record transcript.Record) error { return st.collector.AddInChunks(record, look) }
	if st.c.claim.Database {
		err = parseDatabase(st.ctx, st.c.format, in, take)
	} else {
		err = takeAll(st.c.format.Parse(in), take)
	}
	if errors.Is(err, errDense) {
		st.dense, err = true, nil
		st.collector.Reset(index.Subject{}) // which lets go of them
	}
	return err
}
