// Package aistudio reads the prompts of Google AI Studio, which it saves in Google Drive: a file for each, named after its title and without an
// extension, in the directory Google AI Studio.
//
// The producer documents nothing. Compared on 2026-12-01: names of fields that a reader of the site's own protocol checked against its JSON, the
// members that an importer measured in files of its user, a parser in Pascal, an archiver with tests for code and branches, and two converters.
// docs/formats/ai-studio.md describes layout and counting.
//
// Identity: a file does not say which prompt it is. A run is what begins with the same chunk, and an event is identified by all that was said up to
// it: so copies, later downloads and renamed prompts are one conversation, and a branch has what it took along as copied history. An edit in the
// middle begins a conversation of its own, unless it replaces the file.
package aistudio

import (
	"bytes"
	"cmp"
	"iter"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return aistudio{} }

type aistudio struct{}

// Name returns "ai-studio".
func (aistudio) Name() string { return "ai-studio" }

// Version counts changes of what Parse yields.
func (aistudio) Version() int { return 1 }

const (
	rolePrompt = "prompt"
	directory  = "Google AI Studio" // where Drive has prompts, and what was attached to them
)

// Detect recognises a prompt by its content, since its name is its title.
func (aistudio) Detect(h format.Head) format.Claim {
	head := jsontext.TrimBOM(h.Bytes)
	if !jsontext.BeginsObject(head) || !bytes.Contains(head, []byte(`"runSettings"`)) && !bytes.Contains(head, []byte(`"chunkedPrompt"`)) {
		return format.Claim{}
	}
	if !isPrompt(jsontext.ParseStart(head), int64(len(h.Bytes)) < h.Size) {
		return format.Claim{}
	}
	c := format.Claim{Strength: format.Likely, Role: rolePrompt}
	if dir := path.Dir(h.Path); path.Base(dir) == directory {
		c.Strength, c.Root = format.Certain, dir
	}
	return c
}

// isPrompt reports whether a document begins as a prompt: with the settings of a run and chunks, or one of these if the head has no more (cut).
func isPrompt(v jsontext.Value, cut bool) bool {
	settings, chunks, known := v.Get("runSettings"), v.Get("chunkedPrompt", "chunks"), 0
	for key := range settings.Fields() {
		switch key {
		case "model", "temperature", "topP", "topK", "maxOutputTokens", "safetySettings", "responseMimeType", "enableCodeExecution":
			known++
		}
	}
	for first := range chunks.Items() {
		role := first.Get("role")
		return known >= 2 || role.Is("user") || role.Is("model") || cut && first.Len() < 8
	}
	return known >= 3 && (chunks.IsArray() || cut && !chunks.Exists())
}

// Parse yields the records of one file.
func (aistudio) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}}
		doc, at := p.Document(in.Reader, func(problem *transcript.Problem) { p.Emit(problem) })
		if doc.Exists() {
			p.at = at.Offset - doc.Offset()
			p.prompt(doc, at, strings.TrimSuffix(path.Base(in.Path), ".json"))
		}
	}
}

// Text returns the text of one part of an event.
func (aistudio) Text(_ string, raw []byte, _ int) (string, error) {
	return format.TextOf("a chunk", raw, jsontext.Appended(appendText))
}

// parser parses one file.
type parser struct {
	format.Sink
	lend  format.Lender
	event transcript.Event // reused
	parts []transcript.Part

	at    int64 // of the document in the file
	run   string
	last  string // the model that was chosen last
	calls int

	// state of the current chunk
	chunk      jsontext.Value
	model      string
	id         string // of all that was said up to it
	time       transcript.Time
	attributes transcript.Attributes // until an event has them
	taken      bool                  // it is from the prompt that this one was branched from
}

// prompt yields the records of a document. name is that of its file.
func (p *parser) prompt(doc jsontext.Value, at transcript.Origin, name string) {
	chunks := doc.Get("chunkedPrompt", "chunks")
	if !doc.IsObject() || chunks.Exists() && !chunks.IsArray() && !chunks.IsNull() {
		p.Emit(&transcript.Problem{Kind: "not a prompt", Reason: "no object, or chunks that are no list", Origin: at})
		return
	}
	p.last = modelOf(doc.Get("runSettings", "model"))
	run := transcript.Run{Title: name, Model: p.last, ID: format.HashUUID("a prompt without chunks")}
	branch := -1
	for i, c := range chunks.Numbered() {
		if i == 0 {
			run.ID = nextID("", c)
		}
		if t := c.Get("createTime").Time(); t.Valid {
			run.Started = cmp.Or(run.Started, t)
			run.Ended = t
		}
		if c.Get("branchParent").IsObject() {
			branch = i
		}
	}
	p.run = run.ID
	run.Rank, _ = format.ExportRank(run.Ended)
	p.Emit(&run)
	// No Rank: of a file that was replaced the newest content counts, even if it ended earlier.
	p.Emit(&transcript.Conversation{ID: run.ID, Run: run.ID, Title: run.Title, Model: run.Model, Started: run.Started, Ended: run.Ended})
	p.system(doc.Get("systemInstruction"), run.Started)
	id := ""
	for i, c := range chunks.Numbered() {
		if p.Done() {
			return
		}
		if !c.IsObject() {
			p.Emit(&transcript.Problem{Run: p.run, Kind: "not a chunk", Reason: "a JSON value of another type", Origin: p.origin(c)})
			continue
		}
		id = nextID(id, c)
		p.chunk, p.id, p.time, p.taken = c, id, c.Get("createTime").Time(), i <= branch
		p.said()
	}
	p.time, p.attributes = transcript.Time{}, nil
	for draft := range doc.Get("chunkedPrompt", "pendingInputs").Items() {
		if !draft.Get("text").IsBlank() {
			p.begin(draft, "", transcript.KindMessage, "user")
			e := &p.event
			e.ID, e.Global, e.Home, e.Type, e.Verdict = "", false, false, "pendingInputs", transcript.Uncounted
			p.add(draft, draft.Get("text"))
			p.emit()
		}
	}
}

// nextID returns the id of a chunk that follows the one with the id before: that of all that was said and attached up to it.
func nextID(before string, c jsontext.Value) string {
	texts := []string{before, c.Get("role").Str(), c.Get("createTime").Str(), string(c.Get("text").Body())}
	for _, key := range []string{"parts", "executableCode", "codeExecutionResult", "functionCall", "functionResponse", "errorMessage"} {
		texts = append(texts, string(c.Get(key).Raw()))
	}
	for key, f := range c.Fields() {
		if isFile(key) {
			texts = append(texts, key, f.Get("id").Str(), string(f.Get("data").Body()))
		}
	}
	return format.HashUUID(texts...)
}

// modelOf returns the name of a model, which is written as models/<name>.
func modelOf(v jsontext.Value) string { return format.ShortID(strings.TrimPrefix(v.Str(), "models/")) }

// system yields the system instruction.
func (p *parser) system(v jsontext.Value, at transcript.Time) {
	if jsontext.AllStrings(v) == "" {
		return
	}
	p.chunk, p.id, p.time = v, "system", at
	p.begin(v, "", transcript.KindSystem, "system")
	p.event.Global, p.event.Home, p.event.Type = false, false, "systemInstruction"
	p.add(v, v)
	p.emit()
}

func (p *parser) origin(v jsontext.Value) transcript.Origin {
	return transcript.Origin{Offset: p.at + v.Offset(), Length: int64(v.Len())}
}
