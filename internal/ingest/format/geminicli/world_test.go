package geminicli

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

// counts are what stats says, and the requests behind it.
type counts struct {
	Runs, Conversations, Events, Calls, Results, Links, Problems int
	Input, Output, CacheRead                                     int64
	Requests                                                     int
}

// file is one parsed original.
type file struct {
	path    string
	records []transcript.Record
}

func read(t *testing.T, path string, content []byte) *file {
	t.Helper()
	o := &formattest.Original{Path: path, Bytes: content, Claim: formattest.Detect(gemini{}, path, content)}
	if _, ok := o.Content(); !ok {
		return nil
	}
	return &file{path, formattest.Check(t, gemini{}, o.Input(content))}
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

// tally counts files as the archive does: the files of a session together, each event and each request once, what was
// said last. The files are in no order.
func tally(files []*file) counts {
	var c counts
	files = slices.Clone(files)
	order := map[*file]string{}
	for _, f := range files {
		for _, r := range f.records {
			if v, ok := r.(*transcript.Conversation); ok && v.Order != "" {
				order[f] = v.Order + f.path
			}
		}
	}
	slices.SortFunc(files, func(a, b *file) int { return cmp.Compare(order[a], order[b]) })
	runs, conversations, edges := map[string]bool{}, map[string]bool{}, map[string]bool{}
	events, usage := map[string]*transcript.Event{}, map[string]*transcript.Usage{}
	for _, f := range files {
		for _, r := range f.records {
			switch r := r.(type) {
			case *transcript.Run:
				if !r.Named {
					runs[r.ID] = runs[r.ID] || r.Child
				}
			case *transcript.Conversation:
				conversations[r.ID] = true
			case *transcript.Event:
				key := r.Conversation + ":" + r.ID
				if r.ID == "" {
					key = fmt.Sprint(f.path, r.Origin, len(events))
				}
				events[key] = r
			case *transcript.Usage:
				if was := usage[r.Key]; was == nil || r.Rank >= was.Rank {
					usage[r.Key] = r
				}
			case *transcript.Link:
				if !r.Uncounted {
					edges[fmt.Sprint(r.Kind, r.From, r.To)] = true
				}
			case *transcript.Problem:
				c.Problems++
			}
		}
	}
	for _, child := range runs {
		if !child {
			c.Runs++
		}
	}
	c.add(events, usage)
	c.Conversations, c.Links = len(conversations), len(edges)
	return c
}

func (c *counts) add(events map[string]*transcript.Event, usage map[string]*transcript.Usage) {
	for _, e := range events {
		if e.Verdict != transcript.Counted {
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
	for _, u := range usage {
		c.Requests++
		c.Input += u.Input.N
		c.Output += u.Output.N
		c.CacheRead += u.CacheRead.N
	}
}
