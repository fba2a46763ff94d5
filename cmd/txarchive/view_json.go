package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/transcript"
)

// pieceJSON is one part of an event in the JSON of show.
type pieceJSON struct {
	EventID        string          `json:"event_id"`
	ConversationID string          `json:"conversation_id"`
	RunID          string          `json:"run_id"`
	Format         string          `json:"format"`
	Seq            int64           `json:"seq"`
	Part           int             `json:"part"` // from 1, as in the id
	Parts          int             `json:"parts"`
	Kind           string          `json:"kind"`
	Role           *string         `json:"role"`
	Type           *string         `json:"type"`
	Tool           *string         `json:"tool"`
	At             *string         `json:"at"`
	CallID         *string         `json:"call_id"`
	Failed         *bool           `json:"failed"`
	Counted        bool            `json:"counted"`
	Verdict        string          `json:"verdict"`
	Marked         bool            `json:"marked"`
	Text           *string         `json:"text"`
	TextError      *string         `json:"text_error"`
	Source         string          `json:"source"`
	Path           string          `json:"path"`
	Version        int             `json:"version"`
	Inner          *string         `json:"inner"`
	Line           *int            `json:"line"`
	Offset         int64           `json:"offset"`
	Length         int64           `json:"length"`
	Attributes     json.RawMessage `json:"attributes"`
	Result         *pieceJSON      `json:"result"`
}

func toJSON(p *search.Piece) *pieceJSON {
	if p == nil {
		return nil
	}
	e, at := &p.Event, &p.Place
	out := &pieceJSON{EventID: e.ID, ConversationID: e.Conversation, RunID: e.Run, Format: at.Format, Seq: e.Seq, Part: e.Part + 1, Parts: e.Parts,
		Kind: string(e.Kind), Role: orNull(e.Role), Type: orNull(e.Type), Tool: orNull(e.Tool), At: e.Time.OrNil(), CallID: orNull(e.Call), Failed: e.Failed.OrNil(),
		Counted: e.Verdict == transcript.Counted, Verdict: string(e.Verdict), Marked: p.Marked, Source: at.Source, Path: at.Path, Version: at.Number,
		Inner: orNull(at.Inner), Offset: at.Offset, Length: at.Length, Attributes: attributes(e.Attributes)}
	if at.Line > 0 {
		out.Line = &at.Line
	}
	if p.Err != nil {
		out.TextError = new(p.Err.Error())
	} else {
		out.Text = &p.Text
	}
	if p.Result != nil && p.Result.ID != p.ID {
		out.Result = toJSON(p.Result)
	}
	return out
}

func attributes(s string) json.RawMessage {
	if !json.Valid([]byte(s)) {
		return json.RawMessage("{}")
	}
	return json.RawMessage(s)
}

// json prints a run, some of its conversations and their events as one object, one piece per line, so that memory does not grow with
// it.
func (v *viewer) json(ctx context.Context, r *index.Run, all []index.Conversation, views iter.Seq2[*search.View, error]) error {
	list := []any{}
	for i := range all {
		list = append(list, conversationJSON(&all[i]))
	}
	tags, err := tagsOf(ctx, v.store)
	if err != nil {
		return err
	}
	fmt.Fprintf(v.a.out, `{"run":%s,"conversations":%s,"events":[`, encode(withTags(runJSON(r), allTags(r, tags))), encode(list))
	comma := ""
	for view, err := range views {
		if err != nil {
			return err
		}
		for t, err := range view.Turns {
			if err != nil {
				return err
			}
			for i := range t.Pieces {
				v.noteUnread(&t.Pieces[i])
				if _, err := fmt.Fprintf(v.a.out, "%s\n%s", comma, encode(toJSON(&t.Pieces[i]))); err != nil {
					return err
				}
				comma = ","
			}
		}
	}
	_, err = fmt.Fprintln(v.a.out, "]}")
	return err
}

// views yields conversations one after another.
func (v *viewer) views(ctx context.Context, all []index.Conversation) iter.Seq2[*search.View, error] {
	return func(yield func(*search.View, error) bool) {
		for _, c := range all {
			view, err := v.a.searcher(v.store).Conversation(ctx, c.ID, v.o.options())
			if !yield(view, err) || err != nil {
				return
			}
		}
	}
}

func runJSON(r *index.Run) map[string]any {
	n := &r.Counts
	return map[string]any{
		"run_id": r.ID, "format": r.Format, "native_id": r.NativeID, "anchor": orNull(r.Anchor), "counted": r.Counted, "group": orNull(r.Group),
		"project": orNull(r.Project), "branch": orNull(r.Branch), "flow": orNull(r.Flow), "title": orNull(r.Title), "agent": orNull(r.Agent),
		"model": orNull(r.Model), "host": orNull(r.Host), "producer_version": orNull(r.Version), "status": orNull(r.Status),
		"outcome": orNull(string(r.Outcome)), "error": orNull(r.Error), "started": r.Started.OrNil(), "ended": r.Ended.OrNil(),
		"stub": r.Stub, "child": r.Child, "pruned": r.Pruned, "thinned": orNull(r.Thinned), "conversations": n.Conversations, "events": n.Events, "messages": n.Messages,
		"tool_calls": n.Calls, "tool_results": n.Results, "input_tokens": n.Input.OrNil(), "output_tokens": n.Output.OrNil(),
		"cache_read_tokens": n.CacheRead.OrNil(), "cache_creation_tokens": n.CacheCreation.OrNil(),
		"reported_cost_microusd": n.ReportedCost.OrNil(), "cost_microusd": n.CostUsed.OrNil(), "attributes": attributes(r.Attributes),
	}
}

func conversationJSON(c *index.Conversation) map[string]any {
	n := &c.Counts
	return map[string]any{
		"conversation_id": c.ID, "run_id": c.Run, "format": c.Format, "native_id": orNull(c.NativeID), "verdict": string(c.Verdict),
		"of_conversation_id": orNull(c.Of), "title": orNull(c.Title), "agent": orNull(c.Agent), "engine": orNull(c.Engine),
		"model": orNull(c.Model), "flow": orNull(c.Flow), "step": orNull(c.Step), "mode": orNull(c.Mode), "status": orNull(c.Status),
		"producer_version": orNull(c.Version), "project": orNull(c.Project), "branch": orNull(c.Branch), "started": c.Started.OrNil(),
		"ended": c.Ended.OrNil(), "child": c.Child, "versions": c.Versions, "source": c.Key.Source, "path": c.Key.Path, "version": c.Key.Number,
		"events": n.Events, "messages": n.Messages, "tool_calls": n.Calls, "tool_results": n.Results, "attributes": attributes(c.Attributes),
	}
}
