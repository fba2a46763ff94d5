package report

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/cost"
	"github.com/txarchive/txarchive/internal/failure"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/lookup"
	"github.com/txarchive/txarchive/internal/price"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/terminal"
)

// explain lists the records behind a figure.
func (v *reporter) explain(ctx context.Context) error {
	subject, err := v.subject(ctx)
	if err != nil {
		return err
	}
	o := v.o.Options
	o.By, o.Limit = nil, 0
	for _, k := range subject.Keys {
		o.By = append(o.By, k.Name)
	}
	book, err := index.Prices(ctx, v.store.Index(), price.Default())
	if err != nil {
		return err
	}
	x, err := cost.Explain(ctx, v.store.Index(), o, subject, book)
	if err != nil {
		return err
	}
	if len(x.Records) == 0 && len(subject.Keys) > 0 {
		hint := "txarchive cost --by " + strings.Join(o.By, ",") + " shows them"
		if i := slices.IndexFunc(subject.Keys, func(k cost.Key) bool { return k.Value != nil && *k.Value == "-" }); i >= 0 {
			hint += "; where it shows -, write nothing: " + subject.Keys[i].Name + "="
		}
		return failure.NotFound(fmt.Sprintf("the report has no row %q", v.o.Explain), hint)
	}
	x.Cut(v.o.Limit)
	if v.o.Format == "json" {
		return v.PrintJSON(x)
	}
	for i := range x.Records {
		for n, s := range v.record(&x.Records[i]) {
			if n == 0 { // never shortened: explanations are printed in full
				s = v.style.Bold(s)
			} else {
				s = "  " + s
			}
			fmt.Fprintln(v.Out, s)
		}
	}
	if n := x.LeftOut; n > 0 {
		v.Line("and %s: --limit 0 shows all", terminal.Plural(n, "more record", "more records"))
	}
	f, cost := &x.Figures, usd(x.Figures.Nano)
	if f.Nano == nil {
		cost = "unknown cost"
	}
	fmt.Fprintln(v.Out, v.style.Bold(fmt.Sprintf("%s in %s, %s", cost, terminal.Plural(f.Requests, "request", "requests"), terminal.Plural(f.All(), "token", "tokens"))))
	if f.Unpriced > 0 {
		v.Note("Excludes %s of unknown cost", terminal.Plural(f.Unpriced, "request", "requests"))
	}
	return nil
}

// subject returns what --explain names.
func (v *reporter) subject(ctx context.Context) (cost.Subject, error) {
	id := v.o.Explain
	if id == "all" {
		return cost.Subject{}, nil
	}
	if keys, err := rowKeys(id); keys != nil || err != nil {
		return cost.Subject{Keys: keys}, err
	}
	if strings.HasPrefix(id, "u") {
		for u, err := range v.store.Index().Usage(ctx, index.UsageFilter{ID: id, All: true}) {
			return cost.Subject{Usage: u.ID}, err
		}
	}
	what, err := lookup.Resolve(ctx, v.store.Index(), id)
	if err != nil || what.Event == "" {
		return cost.Subject{Run: what.Run, Conversation: what.Conversation}, err
	}
	rows, err := v.store.Index().Event(ctx, what.Event)
	if err != nil {
		return cost.Subject{}, err
	}
	return cost.Subject{Conversation: rows[0].Conversation, Event: &rows[0]}, nil
}

// rowKeys parses the keys of a row, key=value,key=value; nil if the text is not of this form. A comma belongs to a value unless a key
// follows it.
func rowKeys(text string) ([]cost.Key, error) {
	if name, _, ok := strings.Cut(text, "="); !ok || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") != "" {
		return nil, nil
	}
	var keys []cost.Key
	for _, part := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		switch {
		case ok && slices.Contains(cost.Keys, name):
			keys = append(keys, cost.Key{Name: name, Value: printer.OrNull(value)})
		case len(keys) > 0 && keys[len(keys)-1].Value != nil:
			*keys[len(keys)-1].Value += "," + part
		default:
			return nil, failure.Usage(fmt.Sprintf("%q is not a key of a row", name), "keys are "+strings.Join(cost.Keys, ", "))
		}
	}
	return keys, nil
}

// record returns the lines about one usage record, the heading first.
func (v *reporter) record(r *cost.Record) []string {
	when := "no time"
	if r.Time != nil {
		when = r.Time.In(v.o.Location).Format(time.DateTime)
	} else if r.FileTime != nil && v.o.FileTimes {
		when = "~" + r.FileTime.In(v.o.Location).Format(time.DateTime)
	}
	outcome := r.Used
	if r.Cost != nil {
		outcome = usd(r.Cost) + " " + r.Used
	}
	lines := []string{strings.Join(terminal.NonEmpty(r.ID, when, terminal.FirstNonEmpty(string(r.Model), "no model"), outcome), "  "), v.place(&r.Place)}
	if r.Of != nil {
		lines = append(lines, "counted instead: "+v.place(r.Of))
	}
	if r.Counted {
		lines = append(lines, v.sums(r)...)
	}
	if r.Reported != nil {
		s := "reported " + usd(r.Reported)
		if r.ReportedBy != "" {
			s += " in " + string(r.ReportedBy)
		}
		if r.Difference != nil {
			s += ", calculated " + usd(r.Calculated) + ", difference " + usd(r.Difference)
		}
		lines = append(lines, terminal.OneLine(s))
	}
	return lines
}

// sums shows how the tokens of a record were multiplied into its cost.
func (v *reporter) sums(r *cost.Record) []string {
	var lines []string
	p := &r.Price
	for _, l := range p.Lines {
		lines = append(lines, fmt.Sprintf("%-14s %s x $%s per million = %s", l.Class, terminal.Count(l.Tokens), price.FormatUSDPerMillion(l.PicoPerToken), amount(l.Pico, 12)))
	}
	if len(p.Lines) == 0 {
		var stated []string
		for _, t := range r.Tokens {
			stated = append(stated, t.Class+" "+terminal.Count(t.Tokens))
		}
		lines = append(lines, terminal.FirstNonEmpty(strings.Join(stated, ", "), "no tokens stated"))
	}
	row := ""
	if p.Row != "" {
		row = fmt.Sprintf("price of %s (%s), table of %s", p.Row, p.Rule, terminal.FirstNonEmpty(string(p.Table), "no day"))
		if p.Override {
			row = fmt.Sprintf("price of %s (%s), own price from %s", p.Row, p.Rule, terminal.FirstNonEmpty(string(p.Table), "the beginning"))
		}
	}
	if p.Above > 0 {
		row += ", prompt above " + terminal.Count(p.Above)
	}
	if p.Service != "" && p.Service != price.Standard.String() {
		row += ", " + p.Service
	}
	if row = strings.TrimPrefix(row, ", "); row != "" {
		lines = append(lines, terminal.OneLine(row))
	}
	if also := slices.Concat(p.Factors, p.Flags); len(also) > 0 {
		lines = append(lines, terminal.OneLine("with "+strings.Join(also, ", ")))
	}
	if p.Outdated {
		lines = append(lines, "outdated: the index has "+usd(r.Calculated))
	}
	if p.Reason != "" && !strings.Contains(r.Used, string(p.Reason)) {
		lines = append(lines, terminal.OneLine("not calculated: "+string(p.Reason)))
	}
	return lines
}

// place returns where a record is stored.
func (v *reporter) place(p *cost.Place) string {
	s := p.Source + "/" + p.Path
	if p.Inner != "" {
		s += " " + string(p.Inner)
	}
	if p.Line > 0 {
		s += ", line " + terminal.Count(p.Line)
	}
	return terminal.OneLine(fmt.Sprintf("%s, version %d, byte %s", s, p.Version, terminal.Count(p.Offset)))
}

// usd formats nano-USD exactly; "-" for nil.
func usd(nano *int64) string {
	if nano == nil {
		return "-"
	}
	return amount(*nano, 9)
}

// amount formats n times 10^-digits USD with at least four decimals, and more if it has them.
func amount(n int64, digits int) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	if missing := digits + 1 - len(s); missing > 0 {
		s = strings.Repeat("0", missing) + s
	}
	whole, part := s[:len(s)-digits], s[len(s)-digits:]
	return sign + "$" + whole + "." + part[:4] + strings.TrimRight(part[4:], "0")
}
