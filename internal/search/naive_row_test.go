package search

import (
	"strings"
)

// row is a row of an archive as a naive reader of the originals knows it.
type row struct {
	id           string // public
	run          string // native id
	conversation string // native id
	runID        string // public
	seq          int64
	part         int
	at           int64 // microseconds
	timeless     bool  // at is not known
	hidden       bool  // what another row says as well, or an earlier version: left out unless all versions are asked for

	kind, role, typ, tool, format string
	agent, engine, model, project string
	group, flow, step, outcome    string
	statuses, tags, touches       []string
	from, source, path            string
	attrs                         map[string][]string // of the event, its conversation and its run

	failed, stub, child, pinned, held, cut, problem bool

	usages    []spent // that it tells
	durations []int64 // microseconds
	unsure    bool    // whether durations are all
	events    int64   // of its conversation
	uneven    bool    // whether events may be unknown

	text  string
	naive *naiveText
}

// spent is a usage record. What it does not state is nil.
type spent struct{ cost, input, output, tokens *int64 }

func (r *row) read() *naiveText {
	if r.naive == nil {
		r.naive = newNaiveText(r.text)
	}
	return r.naive
}

// conversationID is the public id of the row's conversation.
func (r *row) conversationID() string {
	id, _, _ := strings.Cut(r.id, ":")
	return id
}

// textFields give the values that a row has of a field; none is unknown.
var textFields = map[string]func(*row) []string{
	"role":         func(r *row) []string { return some(r.role) },
	"kind":         func(r *row) []string { return some(r.kind) },
	"type":         func(r *row) []string { return some(r.typ) },
	"tool":         func(r *row) []string { return some(r.tool) },
	"format":       func(r *row) []string { return some(r.format) },
	"agent":        func(r *row) []string { return some(r.agent) },
	"engine":       func(r *row) []string { return some(r.engine) },
	"model":        func(r *row) []string { return some(r.model) },
	"project":      func(r *row) []string { return some(r.project) },
	"group":        func(r *row) []string { return some(r.group) },
	"flow":         func(r *row) []string { return some(r.flow) },
	"step":         func(r *row) []string { return some(r.step) },
	"status":       func(r *row) []string { return r.statuses },
	"outcome":      func(r *row) []string { return some(r.outcome) },
	"tag":          func(r *row) []string { return r.tags },
	"from":         func(r *row) []string { return some(r.from) },
	"path":         func(r *row) []string { return some(r.path) },
	"touches":      func(r *row) []string { return r.touches },
	"source":       func(r *row) []string { return some(r.source) },
	"run":          func(r *row) []string { return some(r.runID, r.run) },
	"conversation": func(r *row) []string { return some(r.conversationID(), r.conversation) },
	"id":           func(r *row) []string { return some(r.conversationID(), r.id) },
}

func some(values ...string) (out []string) {
	for _, v := range values {
		if v != "" {
			out = append(out, v)
		}
	}
	return out
}

// folded is a value without regard to case.
func folded(v string) string { return strings.ToLower(v) }

// loose is a value as facets know it: signs are one.
func loose(v string) string {
	v = strings.Map(func(r rune) rune {
		if r < 0x80 && !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789._/-", r) {
			return '_'
		}
		return r
	}, folded(v))
	return v[:min(len(v), 56)]
}

// condition is one value of a field as a query writes it.
type condition struct {
	text  string
	match string // whole, starts, contains, any, none
}

// has says whether values meet a condition on a field.
func (c condition) has(field string, values []string) truth {
	switch c.match {
	case "any":
		return truthOf(len(values) > 0)
	case "none":
		return truthOf(len(values) == 0)
	}
	best := no
	for i, v := range values {
		short := i == 0 && (field == "run" || field == "conversation" || field == "id") // ids may be cut short
		a, b := folded(v), folded(c.text)
		switch {
		case short && c.match == "whole":
			best = max(best, truthOf(strings.HasPrefix(v, c.text)))
		case c.match == "whole" && a == b, c.match == "starts" && strings.HasPrefix(a, b), c.match == "contains" && strings.Contains(a, b):
			return yes
		case facetFields[field] && (c.match == "whole" && loose(v) == loose(c.text) || c.match == "starts" && strings.HasPrefix(loose(v), loose(c.text))):
			best = maybe // two values that fold to one are one
		}
	}
	return best
}

// facetFields are those whose values are terms of the index.
var facetFields = map[string]bool{"role": true, "kind": true, "type": true, "tool": true, "format": true}

// states are what is: and has: ask for.
var states = map[string]func(*row) bool{
	"is:error":     func(r *row) bool { return r.failed || r.kind == "error" },
	"is:stub":      func(r *row) bool { return r.stub },
	"is:child":     func(r *row) bool { return r.child },
	"is:pinned":    func(r *row) bool { return r.pinned },
	"is:held":      func(r *row) bool { return r.held },
	"is:truncated": func(r *row) bool { return r.cut },
	"has:usage":    func(r *row) bool { return len(r.usages) > 0 },
	"has:cost": func(r *row) bool {
		for _, u := range r.usages {
			if u.cost != nil {
				return true
			}
		}
		return false
	},
	"has:problem": func(r *row) bool { return r.problem },
}

// numbers give what a row has of a number; unsure says that there may be more.
var numbers = map[string]func(*row) (values []int64, unsure bool){
	"cost":  func(r *row) ([]int64, bool) { return known64(r.usages, func(u spent) *int64 { return u.cost }), false },
	"input": func(r *row) ([]int64, bool) { return known64(r.usages, func(u spent) *int64 { return u.input }), false },
	"output": func(r *row) ([]int64, bool) {
		return known64(r.usages, func(u spent) *int64 { return u.output }), false
	},
	"tokens": func(r *row) ([]int64, bool) {
		return known64(r.usages, func(u spent) *int64 { return u.tokens }), false
	},
	"duration": func(r *row) ([]int64, bool) { return r.durations, r.unsure },
	"events":   func(r *row) ([]int64, bool) { return []int64{r.events}, r.uneven },
}

func known64(all []spent, of func(spent) *int64) (out []int64) {
	for _, u := range all {
		if n := of(u); n != nil {
			out = append(out, *n)
		}
	}
	return out
}

// compared says whether a comparison holds.
func compared(a int64, op string, b int64) bool {
	switch op {
	case ">":
		return a > b
	case ">=":
		return a >= b
	case "<":
		return a < b
	case "<=":
		return a <= b
	}
	return a == b
}
