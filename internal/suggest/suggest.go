// Package suggest says what a query without hits may have been meant to be.
package suggest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/lookup"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/query"
	"github.com/txarchive/txarchive/internal/terminal"
	"github.com/txarchive/txarchive/internal/typo"
)

// Index is what a suggestion is tried on.
type Index interface {
	lookup.Index
	Count(ctx context.Context, q *query.Tree, page index.Page) (int64, error)
}

// Suggester notes suggestions.
type Suggester struct {
	*printer.Printer
	Index   Index
	Formats []string                                         // names of all formats
	Values  func(ctx context.Context, field string) []string // those of a field that occur

	noted bool // a suggestion
}

// Suggest notes a suggestion.
func (s *Suggester) Suggest(format string, args ...any) {
	s.noted = true
	s.Note(format, args...)
}

// try notes a command that may be meant.
func (s *Suggester) try(command, text, why string) {
	s.Suggest("Try: txarchive %s %s   (%s)", command, terminal.ShellQuote(strings.TrimSpace(text)), why)
}

// Else notes where to read on if nothing was suggested.
func (s *Suggester) Else() {
	if !s.noted {
		s.Suggest("How queries match: txarchive docs query-language")
	}
}

// partialFields are compared with the whole value that a producer states, of which people often know only a part.
var partialFields = []string{"project", "model", "path", "touches", "group", "source", "agent", "engine", "tool", "flow", "step", "status", "format"}

// relaxed returns a query with its first such value compared as a part instead of as a whole; nil if it has none.
func relaxed(t *query.Tree) *query.Tree {
	of := slices.Clone(query.Conditions(t.Root))
	for i, n := range of {
		f, ok := n.(query.Field)
		if !ok || !slices.Contains(partialFields, f.Name) {
			continue
		}
		if j := slices.IndexFunc(f.Values, func(v query.Value) bool { return v.Match == query.Whole && v.Text != "" }); j >= 0 {
			f.Values = slices.Clone(f.Values)
			f.Values[j].Match = query.Contains
			of[i] = f
			return &query.Tree{Root: query.And{Of: of}}
		}
	}
	return nil
}

// Undated returns a query without its dates; nil if it has none.
func Undated(t *query.Tree) *query.Tree {
	all := query.Conditions(t.Root)
	rest := slices.DeleteFunc(slices.Clone(all), func(n query.Node) bool { _, dates := n.(query.Range); return dates })
	if len(rest) == len(all) {
		return nil
	}
	return &query.Tree{Root: query.Conjunction(rest...)}
}

// Show notes, for a query without hits whose only word is an id, that show takes it: ids are not part of any text. So it does for
// the id of a run of which there is no transcript to be found.
func (s *Suggester) Show(ctx context.Context, text string) {
	if text = strings.TrimSpace(text); text == "" || strings.ContainsAny(text, " \"()*") {
		return
	}
	id, isRun := strings.CutPrefix(text, "run:")
	what, err := lookup.Resolve(ctx, s.Index, id)
	if err != nil {
		return
	}
	why := "it is an id"
	if isRun {
		switch r, err := s.Index.Run(ctx, what.Run); {
		case err != nil:
			return
		case r.Pruned:
			why = "the run is pruned"
		case !r.Counted:
			why = "the archive has no transcript of the run"
		default:
			return // another condition excludes it
		}
	}
	s.Suggest("Try: txarchive show %s   (%s)", id, why)
}

// maxValues is how many values of a field are named where none is near the one that was asked for.
const maxValues = 8

// maxFewer is the number of conditions up to which a query without one of them is tried.
const maxFewer = 8

// Names notes, for a query without hits, formats that do not exist and values that are near existing ones, or else some that exist.
func (s *Suggester) Names(ctx context.Context, text string) {
	t, err := query.Parse(text, s.Now(), s.Location())
	if err != nil || t.Root == nil {
		return
	}
	for n := range query.Leaves(t.Root) {
		f, ok := n.(query.Field)
		if !ok {
			continue
		}
		names, listed := s.Values(ctx, f.Name), false
		for _, v := range f.Values {
			same := func(name string) bool { return strings.EqualFold(name, v.Text) }
			if v.Match != query.Whole || v.Text == "" || slices.ContainsFunc(names, same) {
				continue
			}
			typed := []rune(strings.ToLower(v.Text)) // case does not matter in values
			far := func(name string) bool {
				return typo.Distance(typed, []rune(strings.ToLower(name))) > min(2, len(typed)/2)
			}
			near := slices.DeleteFunc(slices.Clone(names), far)
			switch {
			case f.Name == "format" && len(near) == 0:
				s.Suggest("Unknown format %q. Try %s", v.Text, strings.Join(s.Formats, ", "))
			case f.Name == "format":
				s.Suggest("Unknown format %q. Try %s", v.Text, strings.Join(near, ", "))
			case len(near) > 0:
				meant := query.Field{Name: f.Name}
				for _, name := range near[:min(len(near), 5)] {
					meant.Values = append(meant.Values, query.Value{Text: name})
				}
				s.Suggest("Did you mean %s instead of %s?", meant, v.Text)
			case len(names) > 0 && f.Name != "run" && !listed:
				listed = true
				some := names[:min(len(names), maxValues)]
				if len(some) < len(names) {
					some = append(slices.Clip(some), "...")
				}
				s.Suggest("Values of %s: %s", f.Name, strings.Join(some, ", "))
			}
		}
	}
}

// Usage notes, for a query without hits that compares usage, that no such events bear any, if that is so, and what knows the usage
// that such events are part of.
func (s *Suggester) Usage(ctx context.Context, text string) {
	t, err := query.Parse(text, s.Now(), s.Location())
	if err != nil {
		return
	}
	all := query.Conditions(t.Root)
	i := slices.IndexFunc(all, func(n query.Node) bool {
		number, ok := n.(query.Compare)
		return ok && isUsage(number)
	})
	of := slices.DeleteFunc(slices.Clone(all), func(n query.Node) bool {
		f, ok := n.(query.Field)
		return !ok || !slices.Contains([]string{"role", "kind", "type", "tool"}, f.Name)
	})
	if i < 0 || len(of) == 0 {
		return
	}
	what, has := "tokens", query.Field{Name: "has", Values: []query.Value{{Text: "usage"}}}
	if all[i].(query.Compare).Field == "cost" {
		what, has.Values[0].Text = "a cost", "cost"
	}
	short, cancel := context.WithTimeout(ctx, suggestTime)
	defer cancel()
	found, err := s.Index.Count(short, &query.Tree{Root: query.And{Of: append(of[:len(of):len(of)], has)}}, index.Page{Limit: 1})
	if err != nil || found > 0 {
		return
	}
	s.Suggest("No event with %s states %s: what a request used and cost is stated elsewhere, mostly beside the answer of the model", query.Conjunction(of...), what)
	for _, err := range s.Index.Runs(short, index.Selection{Query: t}, index.Page{Limit: 1}) {
		if err == nil {
			s.try("list", text, "runs that have such events, by what all of the run took")
		}
	}
	for n := range query.Leaves(t.Root) { // the report knows tools and what requests used
		f, isField := n.(query.Field)
		number, isNumber := n.(query.Compare)
		if query.IsText(n) || isField && f.Name != "tool" || isNumber && !isUsage(number) {
			return
		}
	}
	s.try("cost --by conversation", text, "requests that called such a tool")
}

// isUsage reports whether a comparison is with what a request used or cost.
func isUsage(n query.Compare) bool {
	return slices.Contains([]string{"cost", "tokens", "input", "output"}, n.Field)
}

// suggestTime bounds how long is looked for what explains that there are no hits.
const suggestTime = 2 * time.Second

// Relaxed notes what a query without hits may have been meant to be. matches reports whether the command finds anything by another.
func (s *Suggester) Relaxed(ctx context.Context, command, text string, matches func(*query.Tree) bool) {
	now := s.Now()
	t, err := query.Parse(text, now, s.Location())
	if err != nil {
		return
	}
	s.Names(ctx, text)
	for _, n := range query.Conditions(t.Root) {
		if word, ok := n.(query.Word); ok {
			meant := query.Meant(word.Text)
			if slices.Contains(s.Formats, word.Text) {
				meant = append(meant, "format:"+word.Text)
			}
			if len(meant) > 0 {
				widest := strings.Replace(text, word.Text, meant[len(meant)-1], 1)
				s.try(command, widest, "as a field")
			}
		}
	}
	typed := query.FindTypedTimes(text, now, s.Location())
	if wide := relaxed(t); wide != nil && matches(wide) {
		s.try(command, typed.Print(wide), "values match as a whole")
	}
	all := query.Conditions(t.Root)
	if s.noted || len(all) < 2 || len(all) > maxFewer {
		return
	}
	for i, n := range all {
		if fewer := (&query.Tree{Root: query.Conjunction(slices.Delete(slices.Clone(all), i, i+1)...)}); matches(fewer) {
			s.try(command, typed.Print(fewer), "without "+typed.Print(n))
		}
	}
}
