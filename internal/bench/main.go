// Command bench measures the built program on corpora of mkcorpus, beside the tools that people would compare it
// with: whole processes, CPU time and peak memory as the kernel accounts them, medians of several runs, and ratios of
// runs that were made in turn.
//
//	go run ./internal/bench -binary ./txarchive -mkcorpus ../shared/tools/mkcorpus -format awf -mb 100
//
// It prints a table, writes the figures as JSON, and shows the last stored run beside them.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

type options struct {
	binary, mkcorpus, format, text, dir, store string
	mb, runs                                   int
	seed                                       uint64
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "./txarchive", "the program to measure")
	flag.StringVar(&o.mkcorpus, "mkcorpus", "../shared/tools/mkcorpus", "source directory of the corpus generator")
	flag.StringVar(&o.format, "format", "awf", "format of the corpus, or mix")
	flag.StringVar(&o.text, "text", filepath.Join(runtime.GOROOT(), "src"), "directory of files to cut texts from")
	flag.StringVar(&o.dir, "dir", filepath.Join(os.TempDir(), "txarchive-bench"), "where corpora and archives are laid")
	flag.StringVar(&o.store, "store", "", "file that keeps the figures of the last run")
	flag.IntVar(&o.mb, "mb", 100, "size of the corpus in MiB")
	flag.IntVar(&o.runs, "runs", 3, "counted runs of each measurement")
	flag.Uint64Var(&o.seed, "seed", 11, "seed of the corpus")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	binary, err := filepath.Abs(o.binary)
	if err != nil {
		return err
	}
	o.binary = binary
	corpus, err := o.corpus()
	if err != nil {
		return err
	}
	b := &bench{options: o, corpus: corpus, archive: filepath.Join(o.dir, "archive"), figures: map[string]float64{}}
	if err := b.measure(); err != nil {
		return err
	}
	return b.report()
}

// corpus generates the corpus once and returns its directory.
func (o options) corpus() (string, error) {
	if _, err := os.Stat(o.mkcorpus); err != nil {
		return "", fmt.Errorf("the corpus generator is not at %s: name its source directory with -mkcorpus", o.mkcorpus)
	}
	dir := filepath.Join(o.dir, fmt.Sprintf("%s-%d-%d", o.format, o.mb, o.seed))
	if _, err := os.Stat(dir + ".json"); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return "", err
	}
	source := filepath.Join(o.dir, "mkcorpus-src")
	if err := os.RemoveAll(source); err != nil {
		return "", err
	}
	if err := os.CopyFS(source, os.DirFS(o.mkcorpus)); err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-o", filepath.Join(o.dir, "mkcorpus"), ".")
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build mkcorpus: %w\n%s", err, out)
	}
	fmt.Fprintf(os.Stderr, "writing %s ...\n", dir)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	summary, err := exec.Command(filepath.Join(o.dir, "mkcorpus"), "-out", dir, "-format", o.format, "-mb", fmt.Sprint(o.mb),
		"-seed", fmt.Sprint(o.seed), "-text", o.text).Output()
	if err != nil {
		return "", fmt.Errorf("mkcorpus: %w", err)
	}
	return dir, os.WriteFile(dir+".json", summary, 0o644)
}

// bench is one set of measurements.
type bench struct {
	options
	corpus, archive string
	figures         map[string]float64
	order           []string
}

func (b *bench) set(name string, value float64) {
	if _, ok := b.figures[name]; !ok {
		b.order = append(b.order, name)
	}
	b.figures[name] = value
}

// report prints the figures beside those of the last run, and stores them.
func (b *bench) report() error {
	var last map[string]float64
	if b.store != "" {
		if old, err := os.ReadFile(b.store); err == nil {
			if err := json.Unmarshal(old, &last); err != nil {
				return fmt.Errorf("%s: %w", b.store, err)
			}
		}
	}
	fmt.Printf("%s, %s of %d MiB, medians of %d runs, %d CPUs, %s\n\n", time.Now().Format(time.DateOnly), b.format, b.mb, b.runs, runtime.NumCPU(), runtime.Version())
	fmt.Printf("%-42s %12s %12s\n", "", "now", "last")
	for _, name := range b.order {
		before := "-"
		if v, ok := last[name]; ok {
			before = fmt.Sprintf("%.3f", v)
		}
		fmt.Printf("%-42s %12.3f %12s\n", name, b.figures[name], before)
	}
	if b.store == "" {
		return nil
	}
	out, err := json.MarshalIndent(b.figures, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(b.store, append(out, '\n'), 0o644)
}
