package show

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/printer"
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
	Input          json.RawMessage `json:"input"` // of a call, an object; null if the text is all there is
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

func (v *viewer) pieceJSON(ctx context.Context, p *search.Piece) *pieceJSON {
	if p == nil {
		return nil
	}
	e, at := &p.Event, &p.Place
	out := &pieceJSON{EventID: e.ID, ConversationID: e.Conversation, RunID: e.Run, Format: at.Format, Seq: e.Seq, Part: e.Part + 1, Parts: e.Parts,
		Kind: string(e.Kind), Role: printer.OrNull(e.Role), Type: printer.OrNull(e.Type), Tool: printer.OrNull(e.Tool), Input: v.call(ctx, p).JSON(), At: e.Time.OrNil(), CallID: printer.OrNull(e.Call), Failed: e.Failed.OrNil(),
		Counted: e.Verdict == transcript.Counted, Verdict: string(e.Verdict), Marked: p.Marked, Source: at.Source, Path: at.Path, Version: at.Number,
		Inner: printer.OrNull(at.Inner), Offset: at.Offset, Length: at.Length, Attributes: attributes(e.Attributes)}
	if at.Line > 0 {
		out.Line = &at.Line
	}
	if p.Err != nil {
		out.TextError = new(p.Err.Error())
	} else {
		out.Text = &p.Text
	}
	if p.Result != nil && p.Result.ID != p.ID {
		out.Result = v.pieceJSON(ctx, p.Result)
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
	tags, err := TagsByRun(ctx, v.store.Index())
	if err != nil {
		return err
	}
	fmt.Fprintf(v.Out, `{"run":%s,"conversations":%s,"events":[`, printer.Encode(WithTags(runJSON(r), AllTags(r, tags))), printer.Encode(list))
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
				if _, err := fmt.Fprintf(v.Out, "%s\n%s", comma, printer.Encode(v.pieceJSON(ctx, &t.Pieces[i]))); err != nil {
					return err
				}
				comma = ","
			}
		}
	}
	_, err = fmt.Fprintln(v.Out, "]}")
	return err
}

// views yields conversations of a run one after another.
func (v *viewer) views(ctx context.Context, r *index.Run, all []index.Conversation) iter.Seq2[*search.View, error] {
	return func(yield func(*search.View, error) bool) {
		for _, c := range all {
			if !yield(v.search.View(ctx, *r, c, v.o.search()), nil) {
				return
			}
		}
	}
}

// runJSON returns a run for JSON.
func runJSON(r *index.Run) map[string]any {
	n := &r.Counts
	return map[string]any{
		"run_id": r.ID, "format": r.Format, "native_id": r.NativeID, "anchor": printer.OrNull(r.Anchor), "counted": r.Counted, "group": printer.OrNull(r.Group),
		"project": printer.OrNull(r.Project), "branch": printer.OrNull(r.Branch), "flow": printer.OrNull(r.Flow), "title": printer.OrNull(r.Title), "agent": printer.OrNull(r.Agent),
		"model": printer.OrNull(r.Model), "host": printer.OrNull(r.Host), "producer_version": printer.OrNull(r.Version), "status": printer.OrNull(r.Status),
		"outcome": printer.OrNull(string(r.Outcome)), "error": printer.OrNull(r.Error), "started": r.Started.OrNil(), "ended": r.Ended.OrNil(),
		"stub": r.Stub, "child": r.Child, "pruned": r.Pruned, "thinned": printer.OrNull(r.Thinned), "conversations": n.Conversations, "events": n.Events, "messages": n.Messages,
		"tool_calls": n.Calls, "tool_results": n.Results, "input_tokens": n.Input.OrNil(), "output_tokens": n.Output.OrNil(),
		"cache_read_tokens": n.CacheRead.OrNil(), "cache_creation_tokens": n.CacheCreation.OrNil(),
		"reported_cost_microusd": n.ReportedCost.OrNil(), "cost_microusd": n.CostUsed.OrNil(), "attributes": attributes(r.Attributes),
	}
}

// conversationJSON returns a conversation for JSON.
func conversationJSON(c *index.Conversation) map[string]any {
	n := &c.Counts
	return map[string]any{
		"conversation_id": c.ID, "run_id": c.Run, "format": c.Format, "native_id": printer.OrNull(c.NativeID), "verdict": string(c.Verdict),
		"of_conversation_id": printer.OrNull(c.Of), "title": printer.OrNull(c.Title), "agent": printer.OrNull(c.Agent), "engine": printer.OrNull(c.Engine),
		"model": printer.OrNull(c.Model), "flow": printer.OrNull(c.Flow), "step": printer.OrNull(c.Step), "mode": printer.OrNull(c.Mode), "status": printer.OrNull(c.Status),
		"producer_version": printer.OrNull(c.Version), "project": printer.OrNull(c.Project), "branch": printer.OrNull(c.Branch), "started": c.Started.OrNil(),
		"ended": c.Ended.OrNil(), "child": c.Child, "versions": c.Versions, "source": c.Key.Source, "path": c.Key.Path, "version": c.Key.Number,
		"events": n.Events, "messages": n.Messages, "tool_calls": n.Calls, "tool_results": n.Results, "input_tokens": n.Input.OrNil(), "output_tokens": n.Output.OrNil(),
		"cache_read_tokens": n.CacheRead.OrNil(), "cache_creation_tokens": n.CacheCreation.OrNil(),
		"reported_cost_microusd": n.ReportedCost.OrNil(), "cost_microusd": n.CostUsed.OrNil(), "attributes": attributes(c.Attributes),
	}
}
