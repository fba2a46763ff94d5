package main

import (
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/transcript"
)

// hits prints results for people, those of one conversation under one heading.
type hits struct {
	a            *app
	ink          ink
	width        int
	conversation string
}

func (h *hits) hit(r *search.Result) {
	if r.Event.Conversation != h.conversation {
		if h.conversation != "" {
			fmt.Fprintln(h.a.out)
		}
		h.conversation = r.Event.Conversation
		fmt.Fprintln(h.a.out, h.heading(r))
	}
	for i := range r.Before {
		h.row(&r.Before[i].Event, r.Before[i].Snippet, false)
	}
	h.row(&r.Event, r.Snippet, true)
	for i := range r.After {
		h.row(&r.After[i].Event, r.After[i].Snippet, false)
	}
}

func (h *hits) heading(r *search.Result) string {
	parts := said(r.Event.Conversation, r.Place.Format, r.Title(), r.Project(), r.Agent())
	return h.ink.bold(cut(strings.Join(parts, "  "), h.width))
}

func (h *hits) row(e *index.Event, s search.Snippet, found bool) {
	head := strings.Join(said(e.ID, h.a.when(e.Time), describe(e)), "  ")
	if e.Verdict != "" && !e.Counted && e.Part == 0 {
		head += " (" + string(e.Verdict) + ")"
	}
	head = cut(head, max(h.width-2, 0))
	if found {
		head = h.ink.cyan(head)
	} else {
		head = h.ink.dim(head)
	}
	fmt.Fprintln(h.a.out, "  "+head)
	body := h.ink.marked(s)
	if s.Err != nil {
		body = h.ink.red("cannot be read: " + line(s.Err.Error()))
	}
	if body == "" {
		return
	}
	if h.width > 20 {
		body = folded(body, h.width-5)
	}
	fmt.Fprintln(h.a.out, indent(body, "    "))
}

// describe says in a few words what a row is.
func describe(e *index.Event) string {
	words := []string{strings.ReplaceAll(string(e.Kind), "_", " ")}
	if e.Role != "" && e.Role != string(e.Kind) && e.Role != "tool" {
		words = append([]string{e.Role}, words...)
	}
	switch {
	case e.Tool != "":
		words = append(words, e.Tool)
	case e.Kind == transcript.KindLifecycle || e.Kind == transcript.KindUnknown || e.Kind == transcript.KindNotice:
		words = append(words, e.Type)
	}
	return line(strings.Join(words, " "))
}

// said are the texts that say something, each on one line.
func said(texts ...string) []string {
	var some []string
	for _, s := range texts {
		if s = line(s); s != "" {
			some = append(some, s)
		}
	}
	return some
}

// marked is a snippet on one line, with what was looked for in color.
func (i ink) marked(s search.Snippet) string {
	var b strings.Builder
	at := 0
	for _, span := range s.Highlights {
		if span.Start < at || span.End > len(s.Text) || span.Start >= span.End {
			continue
		}
		b.WriteString(flat(s.Text[at:span.Start]))
		b.WriteString(i.mark(flat(s.Text[span.Start:span.End])))
		at = span.End
	}
	b.WriteString(flat(s.Text[at:]))
	out := strings.TrimSpace(b.String())
	if s.Start > 0 {
		out = "… " + out
	}
	if s.Rest > 0 {
		out += " …"
	}
	return out
}

// flat is clean, with every stretch of white space as one space.
func flat(s string) string {
	s = clean(s)
	words := strings.Join(strings.Fields(s), " ")
	if words == "" {
		if s != "" {
			return " "
		}
		return ""
	}
	if strings.TrimLeft(s, " \t\n") != s {
		words = " " + words
	}
	if strings.TrimRight(s, " \t\n") != s {
		words += " "
	}
	return words
}
