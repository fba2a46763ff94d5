package search

import (
	"cmp"
	"time"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/term"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Result is a hit with what is needed to show it. Its conversation and run may lack their counts. As JSON it is one
// flat object; unknown values are null.
type Result struct {
	index.Hit
	Snippet      Snippet
	Score        float64 // with Relevance, higher is better; otherwise 0
	Conversation index.Conversation
	Run          index.Run
	Before       []Row // Options.Context events, in the order of the conversation
	After        []Row
}

// Row is a row of a conversation with the beginning of its text.
type Row struct {
	index.Event
	Snippet Snippet
}

// Snippet is an excerpt of a text, always valid UTF-8. It may contain anything else that the original contains,
// control characters included.
type Snippet struct {
	Text       string
	Highlights []term.Span // byte ranges of Text
	Start      int         // bytes of the whole text before Text
	Rest       int         // bytes of it after Text
	// Err says that the text could not be read.
	Err error
}

// Agent returns who acted, according to the event, else its conversation, else its run, as the field of a query does.
func (r *Result) Agent() string { return cmp.Or(r.Event.Agent, r.Conversation.Agent, r.Run.Agent) }

// Model returns the model of the event, likewise.
func (r *Result) Model() string { return cmp.Or(r.Event.Model, r.Conversation.Model, r.Run.Model) }

// Flow returns the flow of the event, likewise.
func (r *Result) Flow() string { return cmp.Or(r.Event.Flow, r.Conversation.Flow, r.Run.Flow) }

// Step returns the step of the event or else its conversation.
func (r *Result) Step() string { return cmp.Or(r.Event.Step, r.Conversation.Step) }

// Project returns what the conversation or its run was about.
func (r *Result) Project() string { return cmp.Or(r.Conversation.Project, r.Run.Project) }

// Title returns the title of the conversation or its run.
func (r *Result) Title() string { return cmp.Or(r.Conversation.Title, r.Run.Title) }

// rowJSON is the JSON of a row.
type rowJSON struct {
	EventID        string   `json:"event_id"`
	ConversationID string   `json:"conversation_id"`
	RunID          string   `json:"run_id"`
	Format         string   `json:"format"`
	Kind           string   `json:"kind"`
	Role           *string  `json:"role"`
	Type           *string  `json:"type"`
	Tool           *string  `json:"tool"`
	At             *string  `json:"at"`
	Near           string   `json:"near"`
	Verdict        string   `json:"verdict"`
	Counted        bool     `json:"counted"` // the event is one that stats counts, whichever of its parts this is
	Failed         *bool    `json:"failed"`
	Source         string   `json:"source"`
	Path           string   `json:"path"`
	Version        int      `json:"version"`
	Inner          *string  `json:"inner"`
	Line           *int     `json:"line"`
	Offset         int64    `json:"offset"`
	Length         int64    `json:"length"`
	TextBytes      int64    `json:"text_bytes"`
	Snippet        *string  `json:"snippet"`
	Highlights     [][2]int `json:"highlights"`
	TextError      *string  `json:"text_error"`
}

// resultJSON is the JSON of a hit.
type resultJSON struct {
	rowJSON
	Title   *string  `json:"title"`
	Agent   *string  `json:"agent"`
	Model   *string  `json:"model"`
	Project *string  `json:"project"`
	Group   *string  `json:"group"`
	Flow    *string  `json:"flow"`
	Step    *string  `json:"step"`
	Score   *float64 `json:"score"`
	Cursor  string   `json:"cursor"`
	Before  []Row    `json:"before"`
	After   []Row    `json:"after"`
}

// MarshalJSON writes the row as one object with all keys.
func (r Row) MarshalJSON() ([]byte, error) {
	return transcript.AppendJSON(nil, toRow(&r.Event, &r.Snippet))
}

// MarshalJSON writes the hit as one object with all keys.
func (r Result) MarshalJSON() ([]byte, error) {
	out := resultJSON{rowJSON: toRow(&r.Event, &r.Snippet), Title: orNull(r.Title()), Agent: orNull(r.Agent()), Model: orNull(r.Model()),
		Project: orNull(r.Project()), Group: orNull(r.Run.Group), Flow: orNull(r.Flow()),
		Step: orNull(r.Step()), Cursor: r.Cursor, Before: r.Before, After: r.After}
	if out.Before == nil {
		out.Before = []Row{}
	}
	if out.After == nil {
		out.After = []Row{}
	}
	if r.Score != 0 {
		out.Score = &r.Score
	}
	return transcript.AppendJSON(nil, out)
}

func toRow(e *index.Event, s *Snippet) rowJSON {
	out := rowJSON{EventID: e.ID, ConversationID: e.Conversation, RunID: e.Run, Format: e.Place.Format, Kind: string(e.Kind),
		Role: orNull(e.Role), Type: orNull(e.Type), Tool: orNull(e.Tool), At: e.Time.OrNil(), Near: time.UnixMicro(e.Near).UTC().Format(transcript.TimeLayout),
		Verdict: string(e.Verdict), Counted: e.Verdict == transcript.Counted, Failed: e.Failed.OrNil(),
		Source: e.Place.Source, Path: e.Place.Path, Version: e.Place.Number, Inner: orNull(e.Place.Inner), Offset: e.Place.Offset,
		Length: e.Place.Length, TextBytes: e.TextBytes, Highlights: [][2]int{}}
	if e.Place.Line > 0 {
		out.Line = &e.Place.Line
	}
	switch {
	case s.Err != nil:
		out.TextError = orNull(s.Err.Error())
	case s.Text != "" || s.Rest == 0 && e.TextBytes == 0:
		out.Snippet = &s.Text
	}
	for _, h := range s.Highlights {
		out.Highlights = append(out.Highlights, [2]int{h.Start, h.End})
	}
	return out
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
