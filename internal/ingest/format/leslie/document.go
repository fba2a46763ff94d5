package leslie

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// threadRun and objectiveRun return the ids of the runs for what belongs to a thread or an objective as a whole.
func threadRun(id string) string    { return "thread:" + id }
func objectiveRun(id string) string { return "objective:" + id }

// namedRun returns such a run.
func namedRun(id string) *transcript.Run {
	run := &transcript.Run{ID: id, Named: true}
	if thread, ok := strings.CutPrefix(id, "thread:"); ok {
		run.Group = thread
	}
	return run
}

// workspaceRun returns the run for what names neither a thread nor an objective. Every .leslie has its own.
func workspaceRun() *transcript.Run {
	return &transcript.Run{ID: "workspace", Local: true, Named: true}
}

// owner returns the run that a file's place assigns it to: the thread of its directory or name, or the objective.
func owner(in format.Input) *transcript.Run {
	at, found := locate(in.Path, in.Below())
	if !found || len(at.rel) < 2 {
		return workspaceRun()
	}
	switch name := stem(at.rel[len(at.rel)-1]); {
	case at.rel[0] == "threads":
		return namedRun(threadRun(at.rel[1]))
	case at.rel[0] == "logs" && strings.HasPrefix(name, "thread-"):
		return namedRun(threadRun(name))
	case strings.HasPrefix(at.rel[1], "obj-"):
		// logs/<objective>/, or runtime/<objective>-<ms>/
		return namedRun(objectiveRun(at.rel[1][:min(len(at.rel[1]), len("obj-")+8)]))
	}
	return workspaceRun()
}

// row returns an uncounted row, which is searchable.
func row(run, kind string, when transcript.Time, at transcript.Origin, text string) *transcript.Event {
	return &transcript.Event{
		Run: run, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: kind, Time: when, Origin: at,
		Parts: []transcript.Part{{Text: text}},
	}
}

// document returns b as a JSON object, or a problem if it is none. An empty document is a problem too.
func document(b []byte) (jsontext.Value, *transcript.Problem) {
	v, err := jsontext.Parse(jsontext.TrimBOM(b))
	whole := transcript.Origin{Length: int64(len(b))}
	switch {
	case err != nil:
		return v, &transcript.Problem{Kind: "bad json", Reason: err.Error(), Origin: whole}
	case !v.IsObject():
		return v, &transcript.Problem{Kind: "not an object", Reason: "a JSON value of another type", Origin: whole}
	}
	return v, nil
}

// origin returns the place of a value that was parsed from the file's bytes.
func origin(b []byte, v jsontext.Value) transcript.Origin {
	return transcript.Origin{Offset: v.OffsetIn(b), Length: int64(v.Len())}
}

// scalars returns the members that are strings, numbers or booleans as attributes.
func scalars(v jsontext.Value, keys ...string) transcript.Attributes {
	a := transcript.Attributes{}
	for _, key := range keys {
		member := v.Get(key)
		switch member.Type() {
		case '"':
			a[key] = member.Str()
		case 't', 'f':
			a[key] = member.Type() == 't'
		case '0':
			if n, ok := member.Int(); ok {
				a[key] = n
			} else if f, ok := member.Float(); ok {
				a[key] = f
			}
		}
	}
	return a
}

// emitUnparsed yields a document that does not parse as text, so that search finds it.
func emitUnparsed(b []byte, s *format.Sink) {
	text := format.LooseText(b)
	if strings.TrimSpace(text) == "" {
		return
	}
	run := workspaceRun()
	event := row(run.ID, "unparsed", transcript.Time{}, transcript.Origin{Length: int64(len(b))}, text)
	event.Attributes = transcript.Attributes{"unparsed": true}
	if s.Emit(run) {
		s.Emit(event)
	}
}

// parseObjectives yields each objective as a named run with a row of its own. Nothing is counted from this file, so one
// that does not parse is kept as text and is not a problem.
func parseObjectives(in format.Input, b []byte, s *format.Sink) {
	doc, problem := document(b)
	if problem != nil {
		emitUnparsed(b, s)
		return
	}
	for id, o := range doc.Get("objectives").Fields() {
		run := namedRun(objectiveRun(id))
		run.Title, run.Status = o.Get("title").Str(), o.Get("status").Str()
		run.Outcome, run.Started = threadOutcome(run.Status), o.Get("created_at").Time()
		run.Rank = timestamp.RankAt(o.Get("updated_at").Time())
		if in.Role == roleObjectives {
			run.Rank++
		}
		if !s.Emit(run) || !s.Emit(row(run.ID, "objective", run.Started, origin(b, o), format.LooseText(o.Raw()))) {
			return
		}
	}
}

// parseDocument yields a document that a thread wrote (a plan, a design, a learning) as one row. In a copied thread the row
// names the original one.
func parseDocument(in format.Input, b []byte, s *format.Sink) {
	text := format.LooseText(b)
	if strings.TrimSpace(text) == "" {
		return
	}
	run := owner(in)
	event := row(run.ID, "document", transcript.Time{}, transcript.Origin{Length: int64(len(b))}, text)
	if at, found := locate(in.Path, in.Below()); found && len(at.rel) > 4 && at.rel[2] == "context" && at.rel[3] == "inherited" {
		event.Attributes = transcript.Attributes{"copied_from": at.rel[4]}
	}
	if s.Emit(run) {
		s.Emit(event)
	}
}
