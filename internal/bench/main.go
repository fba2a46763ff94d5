// Command bench measures the program on corpora of mkcorpus: the built binary from outside, next to tools that people
// would compare it with, and each stage of an ingest by itself, by calling the functions of its package on the same
// corpus.
//
//	go run ./internal/bench -binary ./txarchive -mkcorpus ../shared/tools/mkcorpus -format claude -mb 100
//
// It computes no figure that something else measures: CPU time, peak memory and bytes written are the kernel's
// accounts, ratios are of interleaved runs, and everything is a median. It prints tables, stores the figures as JSON,
// and shows those of the last run with the same parameters next to them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
)

type options struct {
	binary, mkcorpus, given, format, text, dir, store, only, doc, profile string

	mb, runs, stageMB int
	seed              uint64
	stored            bool
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "./txarchive", "the program to measure")
	flag.StringVar(&o.mkcorpus, "mkcorpus", "../shared/tools/mkcorpus", "source directory of the corpus generator")
	flag.StringVar(&o.given, "corpus", "", "measure on this directory of transcripts in the place of a generated one")
	flag.StringVar(&o.format, "format", "claude", "format of the corpus, or mix")
	flag.StringVar(&o.text, "text", "", "directory of files to cut texts from; empty is a small text that compresses too well")
	flag.StringVar(&o.dir, "dir", filepath.Join(os.TempDir(), "txarchive-bench"), "where corpora and archives are laid")
	flag.StringVar(&o.store, "store", "", "file that keeps the figures; empty is one below the user's cache for each set of parameters")
	flag.StringVar(&o.doc, "doc", "", "Markdown file that takes the figures between its marks for this format and size")
	flag.StringVar(&o.profile, "profile", "", "file for a CPU profile of the stages, labelled: go tool pprof -top -tagfocus=stage=commit FILE")
	flag.StringVar(&o.only, "only", "", "names of the sections to measure, with commas: "+strings.Join(sectionNames(), ","))
	flag.BoolVar(&o.stored, "stored", false, "measure nothing: show what the last run with these parameters has stored")
	flag.IntVar(&o.mb, "mb", 100, "size of the corpus in MiB")
	flag.IntVar(&o.runs, "runs", 3, "counted runs of each measurement")
	flag.IntVar(&o.stageMB, "stage-mb", 256, "largest corpus in MiB whose stages are measured; their rows are held in memory")
	flag.Uint64Var(&o.seed, "seed", 11, "seed of the corpus")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// section is a table of the report.
type section struct {
	name    string
	measure func(*bench, context.Context) error
}

var sections = []section{
	{"ingest", (*bench).ingest}, {"size", (*bench).sizes}, {"increment", (*bench).increments}, {"read", (*bench).questions},
	{"upkeep", (*bench).upkeep}, {"stages", (*bench).stages},
}

func sectionNames() (names []string) {
	for _, s := range sections {
		names = append(names, s.name)
	}
	return names
}

// bench is one set of measurements.
type bench struct {
	options
	*report
	corpus  string // directory
	archive string // created by the first section and used by the others
	raw     float64
	hundred *bench // with a corpus of 100 MiB, for comparison; nil if the corpus is small
}

func run(ctx context.Context, o options) (err error) {
	for _, path := range []*string{&o.binary, &o.dir, &o.given, &o.text} {
		if *path == "" {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	r := newReport(o)
	if !o.stored {
		if err := measure(ctx, o, r); err != nil {
			return err
		}
		err = r.finish(os.Stdout)
	} else if r, err = r.last(); err == nil && r == nil {
		err = errors.New("no run with these parameters was stored")
	} else if err == nil {
		r.print(os.Stdout, nil)
	}
	if err != nil || o.doc == "" {
		return err
	}
	return r.document(o.doc)
}

func measure(ctx context.Context, o options, r *report) (err error) {
	b := &bench{options: o, report: r, archive: filepath.Join(o.dir, "archive")}
	if b.corpus, err = o.corpus(ctx); err != nil {
		return err
	}
	b.raw = float64(treeSize(b.corpus))
	if o.given == "" && o.mb >= 500 { // does the cost per MB grow with the size?
		b.hundred = &bench{options: o, report: r, archive: filepath.Join(o.dir, "archive-100")}
		if b.hundred.corpus, err = o.generate(ctx, 100, o.seed); err != nil {
			return err
		}
		b.hundred.raw = float64(treeSize(b.hundred.corpus))
	}
	for _, s := range sections {
		if o.only != "" && s.name != "ingest" && !strings.Contains(","+o.only+",", ","+s.name+",") {
			continue
		}
		fmt.Fprintln(os.Stderr, "measuring", s.name, "...")
		b.section = s.name
		if err := s.measure(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}
