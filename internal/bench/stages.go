package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/blob/local"
	"github.com/txarchive/txarchive/internal/blob/pack"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/collect"
	"github.com/txarchive/txarchive/internal/index/lexicon"
	"github.com/txarchive/txarchive/internal/index/sqlite"
	"github.com/txarchive/txarchive/internal/ingest"
	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/all"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/source"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/term"
	"github.com/txarchive/txarchive/internal/transcript"
)

// stages measures each step of an ingest separately, on one core, by calling the functions that the ingest calls. The
// input of a step is prepared beforehand and not part of its cost.
func (b *bench) stages(ctx context.Context) error {
	if b.raw > float64(b.stageMB)*(1<<20)*1.1 {
		b.lack("room for the rows of so large a corpus (-stage-mb)", "stages")
		return nil
	}
	s := &stageRun{corpus: b.corpus, dir: filepath.Join(b.dir, "stages")}
	defer os.RemoveAll(s.dir)
	if err := s.record(ctx); err != nil {
		return err
	}
	stop, err := profile(b.profile)
	if err != nil {
		return err
	}
	defer stop()
	costs := map[string][]cost{}
	for range b.runs {
		s.costs = map[string]cost{}
		if err := s.all(ctx); err != nil {
			return err
		}
		for name, c := range s.costs {
			costs[name] = append(costs[name], c)
		}
	}
	b.stageFigures(costs)
	return nil
}

// profile starts a CPU profile if a file is given. Its samples are labelled: pprof -tagfocus=stage=commit.
func profile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}

// The stages in the order of an ingest, each with its lower limit: what the machine takes to handle the same bytes
// without processing them.
var stageNames = []struct {
	name, limit string
	of          func(cost) float64 // the cost to compare with the limit
}{
	{name: "scan and detect"}, {"read and hash", "limit: read and SHA-256", cpu}, {name: "compress"}, {"write packs", "limit: write and sync", wall},
	{"parse", "limit: look at each byte as JSON", cpu}, {name: "tokenise"}, {name: "rows, tokens with them"}, {name: "build segments"},
	{name: "commit without words"}, {name: "commit"}, {name: "log into index"},
}

// serial are the stages that add up to an ingest; the others are parts of them.
var serial = []string{"scan and detect", "read and hash", "compress", "write packs", "parse", "rows, tokens with them", "commit", "log into index"}

func (b *bench) stageFigures(costs map[string][]cost) {
	perMB := func(c cost) float64 { return cpu(c) * 1e9 / b.raw }
	sum := make([]cost, b.runs)
	for _, name := range serial {
		for i, c := range costs[name] {
			sum[i] = sum[i].plus(c)
		}
	}
	for _, s := range stageNames {
		b.set(s.name+", CPU per raw MB", "ms", each(costs[s.name], perMB)...)
	}
	b.set("all in turn, CPU per raw MB", "ms", each(sum, perMB)...)
	for _, s := range stageNames {
		if s.limit != "" {
			b.set(s.limit+", CPU per raw MB", "ms", each(costs[s.limit], perMB)...)
			b.set(s.name+" / "+s.limit, "", ratios(costs[s.name], costs[s.limit], s.of)...)
		}
	}
	for _, name := range []string{"scan and detect", "write packs", "commit", "log into index"} {
		b.set(name+", wall", "s", each(costs[name], wall)...)
	}
}

// stageRun is the input of the stages and their costs.
type stageRun struct {
	corpus, dir string
	originals   []index.State
	batches     []index.Batch
	terms       []byte // buffer for terms
	totals      index.Sums
	packed      int64 // size of the packs
	costs       map[string]cost
}

func (s *stageRun) add(name string, do func() error) error {
	var c cost
	var err error
	pprof.Do(context.Background(), pprof.Labels("stage", name), func(context.Context) { c, err = measured(do) })
	s.costs[name] = s.costs[name].plus(c)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// recorder is an index that keeps the batches committed to it.
type recorder struct {
	*sqlite.DB
	batches []index.Batch
}

func (r *recorder) Commit(ctx context.Context, b index.Batch) error {
	r.batches = append(r.batches, b)
	return r.DB.Commit(ctx, b)
}

// ingester returns an ingester with packs and an index of its own.
func (s *stageRun) ingester(ctx context.Context, name string) (*ingest.Ingester, *recorder, error) {
	dir := filepath.Join(s.dir, name)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return nil, nil, err
	}
	db, err := sqlite.Open(ctx, filepath.Join(dir, "index.db"), sqlite.Options{})
	if err != nil {
		return nil, nil, err
	}
	r, packs := &recorder{DB: db}, local.New(nil, filepath.Join(dir, "packs"))
	return &ingest.Ingester{Packs: packs, Originals: pack.NewLibrary(packs, 1<<20), Index: r, Formats: all.Formats(), Prices: price.Default(), Writer: "bench"}, r, nil
}

// record ingests the corpus and keeps the input of the stages.
func (s *stageRun) record(ctx context.Context) error {
	g, r, err := s.ingester(ctx, "recorded")
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err := g.Run(ctx, []source.Root{{Source: "corpus", Dir: s.corpus, Below: "."}}); err != nil {
		return err
	}
	s.batches, s.packed = r.batches, treeSize(filepath.Join(s.dir, "recorded", "packs"))
	for state, err := range r.States(ctx) {
		if err != nil {
			return err
		}
		s.originals = append(s.originals, state)
	}
	stats, err := r.Totals(ctx)
	s.totals = stats.Totals
	return err
}

// all runs every stage once.
func (s *stageRun) all(ctx context.Context) error {
	g, r, err := s.ingester(ctx, "scanned")
	if err != nil {
		return err
	}
	defer r.Close()
	g.DryRun = true
	if err := s.add("scan and detect", func() error {
		_, err := g.Run(ctx, []source.Root{{Source: "corpus", Dir: s.corpus, Below: "."}})
		return err
	}); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{s.contents, s.limits, s.segments, s.commits} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// contents runs the stages that process the bytes of each file.
func (s *stageRun) contents(ctx context.Context) error {
	packer := &packer{s: s, builder: pack.NewBuilder(pack.Options{}), store: local.New(nil, filepath.Join(s.dir, "packs"))}
	collector := collect.New(&lexicon.Lexicon{})
	var splitter term.Splitter
	var content []byte
	for i := range s.originals {
		o := &s.originals[i]
		if err := s.add("read and hash", func() (err error) {
			content, err = readInto(content, filepath.Join(s.corpus, filepath.FromSlash(o.Path)))
			o.SHA256 = blob.RefOf(content)
			return err
		}); err != nil {
			return err
		}
		if err := packer.add(ctx, o, content); err != nil {
			return err
		}
		if format.IsSQLite(content) { // its rows are parsed, not its bytes
			continue
		}
		if err := s.parsed(o, content, collector, &splitter); err != nil {
			return err
		}
	}
	return packer.seal(ctx)
}

// parsed runs the stages that parse one original.
func (s *stageRun) parsed(o *index.State, content []byte, collector *collect.Collector, splitter *term.Splitter) error {
	f, ok := all.Lookup(o.Format)
	if !ok {
		return nil
	}
	parse := func(take func(transcript.Record)) error {
		for r, err := range f.Parse(format.Input{Path: o.Path, Root: o.Claim, Role: o.Role, Size: o.Size, Reader: bytes.NewReader(content)}) {
			if err != nil {
				return err
			}
			take(r)
		}
		return nil
	}
	if err := s.add("parse", func() error { return parse(func(transcript.Record) {}) }); err != nil {
		return err
	}
	var records []transcript.Record
	if err := parse(func(r transcript.Record) { records = append(records, transcript.Clone(r)) }); err != nil {
		return err
	}
	if err := s.add("tokenise", func() error {
		for _, r := range records {
			if e, ok := r.(*transcript.Event); ok {
				for i := range e.Parts {
					s.terms = splitter.Split(s.terms[:0], e.Parts[i].Text)
				}
			}
		}
		return nil
	}); err != nil {
		return err
	}
	return s.add("rows, tokens with them", func() error {
		collector.Reset(index.Subject{VersionKey: index.VersionKey{Source: o.Source, Path: o.Path, Number: 1}, Format: o.Format, Role: o.Role,
			Parser: f.Version(), Claim: o.Claim, Size: o.Size, SHA256: o.SHA256, ModTime: o.ModTime.UnixMicro()})
		for _, r := range records {
			collector.Add(r)
		}
		collector.Take(true)
		return nil
	})
}

// readInto reads a file into a buffer, which it returns and may have grown.
func readInto(b []byte, path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return b, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return b, err
	}
	if int64(cap(b)) < info.Size() {
		b = make([]byte, info.Size())
	}
	b = b[:info.Size()]
	_, err = io.ReadFull(f, b)
	return b, err
}

// packer writes files into packs of the usual size.
type packer struct {
	s       *stageRun
	builder *pack.Builder
	store   *local.Store
	writer  *pack.Writer
}

func (p *packer) add(ctx context.Context, o *index.State, content []byte) error {
	if len(content) == 0 {
		return nil
	}
	var unit *pack.Unit
	v := o.Version
	v.Number, v.Root = 1, o.SHA256
	if err := p.s.add("compress", func() (err error) {
		unit, err = p.builder.Put(&v, &blob.Extent{Size: int64(len(content))}, bytes.NewReader(content))
		return err
	}); err != nil || unit == nil {
		return err
	}
	if err := p.append(ctx, unit); err != nil || !p.writer.Full(0) {
		return err
	}
	return p.seal(ctx)
}

func (p *packer) append(ctx context.Context, unit *pack.Unit) error {
	return p.s.add("write packs", func() (err error) {
		if p.writer == nil {
			if p.writer, err = pack.Begin(ctx, p.store, "bench", time.Now(), pack.Options{}); err != nil {
				return err
			}
		}
		_, err = p.writer.Append(unit)
		return err
	})
}

func (p *packer) seal(ctx context.Context) error {
	var unit *pack.Unit
	if err := p.s.add("compress", func() error { unit = p.builder.Flush(); return nil }); err != nil {
		return err
	}
	if unit != nil {
		if err := p.append(ctx, unit); err != nil {
			return err
		}
	}
	if p.writer == nil {
		return nil
	}
	w := p.writer
	p.writer = nil
	return p.s.add("write packs", func() error {
		_, _, err := w.Seal(ctx, blob.Manifest{Facts: []blob.Fact{{Kind: "bench", Key: "none", Time: time.Now(), Value: []byte("null")}}})
		return err
	})
}

// limits measures what the machine takes for the same bytes without processing them.
func (s *stageRun) limits(context.Context) error {
	var content []byte
	for i := range s.originals {
		path := filepath.Join(s.corpus, filepath.FromSlash(s.originals[i].Path))
		if err := s.add("limit: read and SHA-256", func() (err error) {
			content, err = readInto(content, path)
			sha256.Sum256(content)
			return err
		}); err != nil {
			return err
		}
		if !strings.HasPrefix(filepath.Ext(path), ".json") {
			continue
		}
		if err := s.add("limit: look at each byte as JSON", func() error {
			if filepath.Ext(path) == ".json" {
				jsontext.Parse(content) // invalid JSON does not matter here
				return nil
			}
			for _, err := range jsontext.Objects(bytes.NewReader(content), "", func(*transcript.Problem) {}) {
				if err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	chunk := []byte(strings.Repeat("0123456789abcdef", 1<<14))
	path := filepath.Join(s.dir, "plain")
	return s.add("limit: write and sync", func() error {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer os.Remove(path)
		for left := s.packed; left > 0; left -= int64(len(chunk)) {
			if _, err := f.Write(chunk[:min(int64(len(chunk)), left)]); err != nil {
				return errors.Join(err, f.Close())
			}
		}
		return errors.Join(f.Sync(), f.Close())
	})
}
