package price

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// header is the first line of a table. Its number is the version of the text form.
const header = "# txarchive prices 1"

const legend = `# one model per line: name TAB provider TAB prices TAB factors
# price: class[@prompt tokens above which it holds][.service tier]=picodollars per token (micro-USD per million tokens)
# factor: name=millionths; a model without prices is listed but not priced`

// Encode writes the text form of t: a header with date, source and licence, and one line per model in name order. The
// output is deterministic.
func Encode(w io.Writer, t Table) error {
	bw := bufio.NewWriter(w)
	fmt.Fprintf(bw, "%s\n# date: %s\n# source: %s\n# licence: %s\n", header, t.Date, oneLine(t.Source), oneLine(t.Licence))
	if t.Added {
		fmt.Fprintln(bw, "# added: models that other tables do not list")
	}
	fmt.Fprintln(bw, legend)
	entries := slices.Clone(t.Entries)
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	for i := range entries {
		e := &entries[i]
		fmt.Fprintf(bw, "%s\t%s\t", e.Key, e.Provider)
		for j, r := range e.Rates {
			if j > 0 {
				bw.WriteByte(' ')
			}
			fmt.Fprintf(bw, "%s=%d", r.rateName(), r.Pico)
		}
		bw.WriteByte('\t')
		for j, f := range e.Factors {
			if j > 0 {
				bw.WriteByte(' ')
			}
			fmt.Fprintf(bw, "%s=%d", f.Name, f.PPM)
		}
		bw.WriteByte('\n')
	}
	return bw.Flush()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func (r Rate) rateName() string {
	s := r.Class.String()
	if r.Above > 0 {
		s += "@" + strconv.FormatInt(r.Above, 10)
	}
	if r.Service != Standard {
		s += "." + r.Service.String()
	}
	return s
}

// Parse parses the output of Encode. The error names the line.
func Parse(r io.Reader) (Table, error) {
	src, err := io.ReadAll(r)
	if err != nil {
		return Table{}, fmt.Errorf("read price table: %w", err)
	}
	return parse(string(src))
}

func parse(src string) (Table, error) {
	first, src, _ := strings.Cut(src, "\n")
	if first != header {
		return Table{}, fmt.Errorf("price table line 1: want %q", header)
	}
	lines := strings.Count(src, "\n") + 1
	p := parser{entries: make([]Entry, 0, lines), rates: make([]Rate, 0, 8*lines)}
	for n := 2; src != ""; n++ {
		var line string
		line, src, _ = strings.Cut(src, "\n")
		if err := p.line(line); err != nil {
			return Table{}, fmt.Errorf("price table line %d: %w", n, err)
		}
	}
	if !validDay(p.table.Date) {
		return Table{}, fmt.Errorf("price table: date %q is not YYYY-MM-DD", p.table.Date)
	}
	p.table.Entries = p.entries
	return p.table, nil
}

type parser struct {
	table   Table
	entries []Entry
	rates   []Rate // backing array for all entries: thousands of small slices would cost more than parsing
}

func (p *parser) line(s string) error {
	if s == "" {
		return nil
	}
	if s[0] == '#' {
		p.comment(strings.TrimPrefix(s, "# "))
		return nil
	}
	f := strings.SplitN(s, "\t", 5)
	if len(f) != 4 || f[0] == "" {
		return fmt.Errorf("want name, provider, prices and factors, separated by tabs")
	}
	e := Entry{Key: f[0], Provider: f[1]}
	if n := len(p.entries); n > 0 && p.entries[n-1].Key >= e.Key {
		return fmt.Errorf("model %q is out of order or duplicate", e.Key)
	}
	from := len(p.rates)
	for rest := f[2]; rest != ""; {
		var item string
		item, rest, _ = strings.Cut(rest, " ")
		r, err := parseRate(item)
		if err != nil {
			return err
		}
		p.rates = append(p.rates, r)
	}
	e.Rates = p.rates[from:len(p.rates):len(p.rates)]
	for _, item := range strings.Fields(f[3]) {
		name, num, _ := strings.Cut(item, "=")
		ppm, err := strconv.ParseInt(num, 10, 64)
		if err != nil || name == "" || ppm <= 0 || ppm > maxPPM {
			return fmt.Errorf("bad factor %q", item)
		}
		e.Factors = append(e.Factors, Factor{name, ppm})
	}
	p.entries = append(p.entries, e)
	return nil
}

func (p *parser) comment(s string) {
	name, value, _ := strings.Cut(s, ": ")
	switch name {
	case "date":
		p.table.Date = value
	case "source":
		p.table.Source = value
	case "licence":
		p.table.Licence = value
	case "added":
		p.table.Added = true
	}
}

func parseRate(item string) (r Rate, err error) {
	name, num, _ := strings.Cut(item, "=")
	if r, err = parseRateName(name); err != nil {
		return r, err
	}
	if r.Pico, err = strconv.ParseInt(num, 10, 64); err != nil || r.Pico < 0 || r.Pico > maxPico {
		return r, fmt.Errorf("bad price %q", item)
	}
	return r, nil
}

// parseRateName is the inverse of Rate.name.
func parseRateName(text string) (r Rate, err error) {
	name, service, hasService := strings.Cut(text, ".")
	name, above, hasAbove := strings.Cut(name, "@")
	ci, err := indexOf(classNames[:], "class", name)
	if err != nil {
		return r, err
	}
	r.Class = Class(ci)
	if hasService {
		si, err := indexOf(serviceNames[:], "service", service)
		if err != nil {
			return r, err
		}
		r.Service = Service(si)
	}
	if hasAbove {
		if r.Above, err = strconv.ParseInt(above, 10, 64); err != nil || r.Above < 0 {
			return r, fmt.Errorf("bad price %q", text)
		}
	}
	return r, nil
}

func validDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}
