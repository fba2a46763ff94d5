package codex

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// file is one parsed original.
type file struct {
	path    string
	events  []*transcript.Event
	usage   []*transcript.Usage
	links   []*transcript.Link
	hints   []*transcript.Hint
	runs    []*transcript.Run
	problem int
	conv    *transcript.Conversation
}

// counts are what stats says, and what is behind it.
type counts struct {
	Runs, Conversations, Events, Calls, Results, Links, Problems int
	Input, Output, CacheRead, CacheWrite                         int64
	Requests                                                     int
}

// read parses one original and holds it to the checks of every format.
func read(t *testing.T, path string, content []byte) *file {
	t.Helper()
	o := &formattest.Original{Path: path, Bytes: content, Claim: formattest.Detect(codex{}, path, content)}
	if _, ok := o.Content(); !ok {
		return nil
	}
	f := &file{path: path}
	for _, r := range formattest.Check(t, codex{}, o.Input(content)) {
		switch r := r.(type) {
		case *transcript.Run:
			f.runs = append(f.runs, r)
		case *transcript.Conversation:
			if f.conv == nil {
				f.conv = r
			}
		case *transcript.Event:
			f.events = append(f.events, r)
		case *transcript.Usage:
			f.usage = append(f.usage, r)
		case *transcript.Link:
			f.links = append(f.links, r)
		case *transcript.Hint:
			f.hints = append(f.hints, r)
		case *transcript.Problem:
			f.problem++
		}
	}
	return f
}

// tally counts files as the archive does: one original of each thread, copied history as the resolver says, each
// request once.
func tally(files []*file) counts {
	var c counts
	hints, counted := map[string][]*transcript.Hint{}, map[string]bool{}
	groups := map[string][]*file{}
	runs := map[string]bool{}
	for _, f := range files {
		c.Problems += f.problem
		for _, r := range f.runs {
			if !r.Named && !counted[r.ID] {
				counted[r.ID] = true
			}
			runs[r.ID] = runs[r.ID] || r.Child
		}
		if f.conv != nil {
			groups[f.conv.ID] = append(groups[f.conv.ID], f)
			hints[f.conv.ID] = append(hints[f.conv.ID], f.hints...)
		}
	}
	for id := range counted {
		if !runs[id] {
			c.Runs++
		}
	}
	seen, edges := map[string]bool{}, map[string]bool{}
	for id, group := range groups {
		c.Conversations++
		family := transcript.Family{Hints: hints[id], Related: related(files, id, hints, counted)}
		for _, f := range group {
			family.Conversations = append(family.Conversations, &transcript.FamilyConversation{Conversation: *f.conv})
		}
		codex{}.Resolve(&family)
		until := family.Conversations[0].CopiedUntil
		c.events(slices.MaxFunc(group, func(a, b *file) int {
			return cmp.Or(cmp.Compare(a.conv.Rank, b.conv.Rank), cmp.Compare(len(a.events), len(b.events)))
		}), until)
		for _, f := range group {
			c.usage(f, until, seen)
			for _, l := range f.links {
				// What a copied line says of its thread is said of the origin.
				if !l.Uncounted && (l.Origin.Offset >= until || l.To.ID == id) {
					edges[fmt.Sprint(l.Kind, l.From, l.To)] = true
				}
			}
		}
	}
	c.Links = len(edges)
	return c
}

func (c *counts) events(f *file, until int64) {
	for _, e := range f.events {
		if e.Verdict != transcript.Counted || e.Origin.Offset < until {
			continue
		}
		c.Events++
		for _, p := range e.Parts {
			if p.Call != nil {
				c.Calls++
			}
			if p.Result != nil {
				c.Results++
			}
		}
	}
}

func (c *counts) usage(f *file, until int64, seen map[string]bool) {
	for _, u := range f.usage {
		if u.Origin.Offset < until || seen[u.Key] {
			continue
		}
		seen[u.Key] = true
		c.Requests++
		c.Input += u.Input.N
		c.Output += u.Output.N
		c.CacheRead += u.CacheRead.N
		c.CacheWrite += u.CacheWrite.N
	}
}

// related are the hints of the runs that a thread came from, as far as there are files of them.
func related(files []*file, id string, hints map[string][]*transcript.Hint, counted map[string]bool) map[string][]*transcript.Hint {
	all := map[string][]*transcript.Hint{}
	for _, f := range files {
		for _, l := range f.links {
			if l.To.ID == id && counted[l.From.ID] {
				all[l.From.ID] = hints[l.From.ID]
			}
		}
	}
	return all
}

// folder reads all files below a directory.
func folder(t *testing.T, dir string) (files []*file) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(name, dir+string(filepath.Separator)))
		if f := read(t, rel, content); f != nil {
			files = append(files, f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
