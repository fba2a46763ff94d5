package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// figure is the median of several runs.
type figure struct {
	Section string  `json:"section"`
	Name    string  `json:"name"`
	Unit    string  `json:"unit"` // "" for a ratio
	Value   float64 `json:"value"`
	// Spread is half of the range between the smallest and the largest value (from eight values on, between the
	// quartiles), relative to the median; null for a single run.
	Spread *float64 `json:"spread"`
}

// parameters are what must be equal for two runs to be comparable.
type parameters struct {
	Corpus string `json:"corpus"`
	Format string `json:"format"`
	Text   string `json:"text"`
	MB     int    `json:"mb"`
	Seed   uint64 `json:"seed"`
	CPUs   int    `json:"cpus"`
}

// report is the figures of a run, and the file that has those of the last one.
type report struct {
	At         time.Time  `json:"at"`
	Go         string     `json:"go"`
	Parameters parameters `json:"parameters"`
	Lacking    []string   `json:"lacking"` // missing tools and files, and what was not measured because of that
	Figures    []figure   `json:"figures"`

	section string
	file    string
}

func newReport(o options) *report {
	r := &report{At: time.Now().UTC().Truncate(time.Second), Go: runtime.Version(), Lacking: []string{}, file: o.store,
		Parameters: parameters{Corpus: o.given, Format: o.format, Text: o.text, MB: o.mb, Seed: o.seed, CPUs: runtime.NumCPU()}}
	if o.given != "" {
		r.Parameters.Format, r.Parameters.Text, r.Parameters.MB, r.Parameters.Seed = "", "", 0, 0
	}
	if r.file == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			cache = o.dir
		}
		p := r.Parameters
		r.file = filepath.Join(cache, "txarchive-bench", fmt.Sprintf("%s-%d-%08x.json", cmp.Or(p.Format, filepath.Base(p.Corpus)), p.MB, pathHash(fmt.Sprint(p))))
	}
	return r
}

func pathHash(s string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(s))
	return h.Sum32()
}

// set adds a figure: the median of the values.
func (r *report) set(name, unit string, values ...float64) {
	if len(values) == 0 {
		return
	}
	all := slices.Sorted(slices.Values(values))
	f := figure{Section: r.section, Name: name, Unit: unit, Value: all[len(all)/2]}
	if len(all) > 1 && f.Value > 0 {
		low, high := 0, len(all)-1
		if len(all) >= 8 {
			low, high = len(all)/4, len(all)*3/4
		}
		f.Spread = new((all[high] - all[low]) / 2 / f.Value)
	}
	r.Figures = append(r.Figures, f)
}

// lack records that something is missing.
func (r *report) lack(what, unmeasured string) {
	r.Lacking = append(r.Lacking, fmt.Sprintf("%s is not there: not measured: %s", what, unmeasured))
}

// last returns the report of the last run with the same parameters, or nil.
func (r *report) last() (*report, error) {
	b, err := os.ReadFile(r.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var old report
	if err := json.Unmarshal(b, &old); err != nil {
		return nil, fmt.Errorf("%s: %w", r.file, err)
	}
	if old.Parameters != r.Parameters {
		return nil, nil
	}
	return &old, nil
}

// finish prints the tables, and stores the figures for the next run. Sections that were not measured keep their last
// figures.
func (r *report) finish(w io.Writer) error {
	old, err := r.last()
	if err != nil {
		return err
	}
	r.print(w, old)
	if old != nil {
		for _, f := range old.Figures {
			if !slices.ContainsFunc(r.Figures, func(g figure) bool { return g.Section == f.Section }) {
				r.Figures = append(r.Figures, f)
			}
		}
	}
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(r.file), 0o700); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nstored in %s\n", r.file)
	return os.WriteFile(r.file, append(b, '\n'), 0o600)
}

func (r *report) print(w io.Writer, old *report) {
	p := r.Parameters
	what := fmt.Sprintf("%s, %d MiB, seed %d, text %s", p.Format, p.MB, p.Seed, cmp.Or(p.Text, "built in"))
	if p.Corpus != "" {
		what = p.Corpus
	}
	fmt.Fprintf(w, "%s\n%s, %d CPUs, %s\n", what, r.At.Format(time.DateTime), p.CPUs, r.Go)
	if old != nil {
		fmt.Fprintf(w, "beside it the run of %s\n", old.At.Format(time.DateTime))
	}
	section, worse := "", []string{}
	for _, f := range r.Figures {
		if f.Section != section {
			section = f.Section
			fmt.Fprintf(w, "\n%-46s %12s  %-8s %7s %12s %9s\n", section, "now", "", "spread", "last", "now/last")
		}
		was := old.figure(f)
		line := fmt.Sprintf("%-46s %12s  %-8s %7s", f.Name, number(f.Value), f.Unit, spread(f))
		if was != nil {
			line += fmt.Sprintf(" %12s %9.2f", number(was.Value), f.Value/was.Value)
			if f.worse(was) {
				line += " worse"
				worse = append(worse, fmt.Sprintf("%s: %s %.2f times", f.Section, f.Name, f.Value/was.Value))
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	fmt.Fprintf(w, "\n%-46s %12s  %-8s %7s\n", "goals", "now", "", "at most")
	for _, m := range r.goals() {
		fmt.Fprintf(w, "%-46s %12s  %-8s %7s  %v\n", m.Name, number(m.Value), m.Unit, number(m.most), m)
	}
	for _, s := range r.Lacking {
		fmt.Fprintln(w, "\n"+s)
	}
	if len(worse) > 0 {
		fmt.Fprintf(w, "\nworse by more than noise:\n  %s\n", strings.Join(worse, "\n  "))
	}
}

// figure returns the figure with the same name, or nil.
func (r *report) figure(f figure) *figure {
	if r == nil {
		return nil
	}
	i := slices.IndexFunc(r.Figures, func(g figure) bool { return g.Section == f.Section && g.Name == f.Name && g.Unit == f.Unit })
	if i < 0 || r.Figures[i].Value == 0 {
		return nil
	}
	return &r.Figures[i]
}

// worse reports whether a figure is worse than the last one by more than the noise. Sizes vary only by times and
// names in manifests; a single run may be off by a quarter.
func (f figure) worse(was *figure) bool {
	noise := 0.10
	switch {
	case f.Spread != nil && was.Spread != nil:
		noise = max(noise, *f.Spread+*was.Spread)
	case f.Unit == "MB" || strings.HasSuffix(f.Name, "/ raw"):
		noise = 0.02
	default:
		noise = 0.25
	}
	change := f.Value / was.Value
	if strings.HasSuffix(f.Unit, "/s") {
		change = 1 / change
	}
	return f.Unit != "count" && change > 1+noise
}

func spread(f figure) string {
	if f.Spread == nil {
		return ""
	}
	return fmt.Sprintf("%.0f%%", *f.Spread*100)
}

// number formats v with three significant digits.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	case a >= 1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.3f", v)
}
