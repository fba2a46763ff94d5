package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// mark returns the comment before or after the figures of a run in a document.
func (p parameters) mark(end string) string {
	return fmt.Sprintf("<!-- %sbench %s-%d -->", end, p.Format, p.MB)
}

// document writes the figures into a Markdown file, replacing those of an earlier run between the same marks.
func (r *report) document(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(b), r.Parameters.mark("")+"\n")
	_, after, closed := strings.Cut(rest, r.Parameters.mark("/"))
	if !found || !closed {
		return fmt.Errorf("%s has no lines %q and %q to put the figures between", path, r.Parameters.mark(""), r.Parameters.mark("/"))
	}
	return os.WriteFile(path, []byte(before+r.Parameters.mark("")+"\n"+r.markdown()+r.Parameters.mark("/")+after), 0o644)
}

func (r *report) markdown() string {
	var w strings.Builder
	p := r.Parameters
	fmt.Fprintf(&w, "%s, %d CPUs, %s, corpus of %d MiB, seed %d.\n", r.At.Format(time.DateOnly), p.CPUs, r.Go, p.MB, p.Seed)
	section := ""
	for _, f := range r.Figures {
		if f.Section != section {
			section = f.Section
			fmt.Fprintf(&w, "\n| %s | | spread |\n|---|---:|---:|\n", section)
		}
		value := number(f.Value)
		if f.Unit != "" && f.Unit != "count" {
			value += " " + f.Unit
		}
		fmt.Fprintf(&w, "| %s | %s | %s |\n", strings.ReplaceAll(f.Name, "|", `\|`), value, spread(f))
	}
	w.WriteString("\n| goals | | at most | |\n|---|---:|---:|---|\n")
	for _, m := range r.goals() {
		fmt.Fprintf(&w, "| %s: %s | %s | %s | %v |\n", m.Section, strings.ReplaceAll(m.Name, "|", `\|`), number(m.Value), number(m.most), m)
	}
	for _, s := range r.Lacking {
		fmt.Fprintf(&w, "\n%s.\n", s)
	}
	return w.String()
}
