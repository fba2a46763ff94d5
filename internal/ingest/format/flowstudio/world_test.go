package flowstudio

import (
	"bytes"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// totals holds the totals of one run's usage.
type totals struct {
	TokensIn, TokensOut int64
	Cost                float64 // nano-USD
}

// runRecords holds what an index would hold about one run, collected record by record.
type runRecords struct {
	runs     []*transcript.Run
	events   []*transcript.Event
	family   transcript.Family
	problems []*transcript.Problem
}

// put stores one file as an archive would: claimed, parsed, its records sorted into their runs.
func put(t *testing.T, byRun map[string]*runRecords, file string, content []byte) format.Claim {
	t.Helper()
	claim := flowStudio{}.Detect(format.Head{Path: file, Size: int64(len(content)), Bytes: content[:min(len(content), format.HeadSize)]})
	if claim.Strength == format.None || claim.Role == format.Other {
		return claim
	}
	of := func(run string) *runRecords {
		if run == "" {
			t.Fatalf("%s: record without run", file)
		}
		if byRun[run] == nil {
			byRun[run] = &runRecords{}
		}
		return byRun[run]
	}
	conversations := map[string]*transcript.FamilyConversation{}
	in := format.Input{Path: file, Root: claim.Root, Role: claim.Role, Size: int64(len(content)), Reader: bytes.NewReader(content)}
	for record, err := range (flowStudio{}).Parse(in) {
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		switch r := record.(type) {
		case *transcript.Run:
			of(r.ID).runs = append(of(r.ID).runs, r)
		case *transcript.Conversation:
			if have := conversations[r.ID]; have != nil {
				have.Conversation = *r
				continue
			}
			v := &transcript.FamilyConversation{Conversation: *r, Path: file}
			conversations[r.ID] = v
			of(r.Run).family.Conversations = append(of(r.Run).family.Conversations, v)
		case *transcript.Event:
			of(r.Run).events = append(of(r.Run).events, r)
		case *transcript.Usage:
			of(r.Run).family.Usage = append(of(r.Run).family.Usage, r)
		case *transcript.Receipt:
			of(r.Run).family.Receipts = append(of(r.Run).family.Receipts, r)
		case *transcript.Step:
			of(r.Run).family.Steps = append(of(r.Run).family.Steps, r)
		case *transcript.Hint:
			of(r.Run).family.Hints = append(of(r.Run).family.Hints, r)
		case *transcript.Problem:
			of(r.Run).problems = append(of(r.Run).problems, r)
		}
	}
	return claim
}

// count returns the totals of a run after Resolve, or nil if the run is only named.
func (w *runRecords) count() *totals {
	if !slices.ContainsFunc(w.runs, func(r *transcript.Run) bool { return !r.Named }) {
		return nil
	}
	flowStudio{}.Resolve(&w.family)
	n, seen := &totals{}, map[string]bool{}
	for _, u := range w.family.Usage {
		if u.Verdict != "" || u.Key != "" && seen[u.Key] {
			continue
		}
		seen[u.Key] = true
		n.TokensIn += u.Input.N
		n.TokensOut += u.Output.N
		n.Cost += float64(u.Cost.N)
	}
	return n
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
