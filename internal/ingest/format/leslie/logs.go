package leslie

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parseWorker reads logs/workers/<thread>.ndjson. Each line is a row; a cost in it is usage of the thread, failed attempts
// included, since they were paid for; the start and end of an attempt make a step.
func parseWorker(in format.Input, s *format.Sink) {
	w := worker{Sink: s, file: owner(in), seen: map[string]bool{}, occurrences: map[string]int{}}
	problem := func(p *transcript.Problem) { p.Run = w.file.ID; s.Emit(p) }
	for line := range s.Each(jsontext.Objects(in.Reader, "", problem)) {
		w.line(line)
	}
}

type worker struct {
	*format.Sink
	file        *transcript.Run // for lines that name no thread
	seen        map[string]bool // runs that were yielded
	occurrences map[string]int  // number of equal cost lines so far
	attempts    int64
	step        *transcript.Step // the attempt that has not ended yet
}

func (w *worker) line(line jsontext.Object) {
	v := line.Value
	run := w.file
	thread := v.Get("thread_id").Str()
	if thread != "" {
		run = namedRun(threadRun(thread))
	}
	if !w.seen[run.ID] {
		w.seen[run.ID] = true
		w.Emit(run)
	}
	kind, when := v.Get("event").Str(), v.Get("timestamp").Time()
	event := row(run.ID, kind, when, line.Origin, format.LooseText(v.Raw()))
	event.Kind = transcript.KindLifecycle
	ended := workerOutcome(kind, v)
	if ended == transcript.Failed {
		event.Kind = transcript.KindError
	}
	w.Emit(event)
	if ended != "" {
		w.Emit(w.advance(run.ID, kind, ended, when, line))
	}
	if v.Get("cost_usd").Type() != '0' {
		return
	}
	// The program only appends, but the file may be cut at its head. Two attempts at the same instant are still two.
	key := strings.Join([]string{run.ID, v.Get("session_id").Str(), v.Get("timestamp").Text(), v.Get("cost_usd").Text()}, "|")
	w.occurrences[key]++
	w.Emit(&transcript.Usage{
		Run: run.ID, Time: when, Origin: line.Origin, Cost: v.Get("cost_usd").NanoUSD(), CostSource: "cost_usd",
		Key: fmt.Sprintf("%s|%d", key, w.occurrences[key]), Status: kind, Outcome: ended,
		Attributes: scalars(v, "session_id", "duration_ms", "num_turns", "success"),
	})
}

// workerOutcome returns the outcome that a line states for the attempt, "" if it states none.
func workerOutcome(kind string, v jsontext.Value) transcript.Outcome {
	switch {
	case kind == "worker_failed", kind == "worker_finished" && v.Get("success").Bool() == transcript.No:
		return transcript.Failed
	case kind == "worker_finished":
		return transcript.Succeeded
	case kind == "worker_started":
		return transcript.Running
	}
	return ""
}

// advance returns the step that a line starts or ends. An end without a start is an attempt too.
func (w *worker) advance(run, kind string, ended transcript.Outcome, when transcript.Time, line jsontext.Object) *transcript.Step {
	if w.step == nil || ended == transcript.Running || w.step.Run != run {
		w.attempts++
		w.step = &transcript.Step{
			Run: run, Key: fmt.Sprintf("worker:%d", w.attempts), Name: "worker", Kind: "worker",
			Attempt: transcript.Known(w.attempts), Origin: line.Origin,
		}
	}
	now := *w.step
	now.Attributes = scalars(line.Value, "session_id", "num_turns")
	now.Status, now.Outcome = kind, ended
	if ended == transcript.Running {
		w.step.Started, now.Started = when, when
		return &now
	}
	w.step = nil
	now.Ended, now.Error = when, jsontext.AllStrings(line.Value.Get("errors"))
	if ms := line.Value.Get("duration_ms").Count(); ms.Known && ms.N >= 0 && ms.N < 1<<50 {
		now.Duration = transcript.Known(ms.N * 1000)
	}
	return &now
}

// parseLog reads the logs that only people read, as one row per line. Nothing is counted from them, so a line that does not
// parse is kept as text and is not a problem. A torn last line is skipped until it is complete, because growth of a log
// must only add lines.
func parseLog(in format.Input, s *format.Sink) {
	file := owner(in)
	seen := map[string]bool{} // runs that were yielded
	for line, err := range jsontext.Lines(in.Reader, "") {
		if err != nil {
			s.Fail(err)
			return
		}
		if !line.Long && len(bytes.TrimSpace(line.Bytes)) == 0 || line.Torn && !isComplete(in.Role, line) {
			continue
		}
		if in.Role != roleLog && !line.Long { // white space may follow an object later, and is no news
			line.Bytes = bytes.TrimRight(line.Bytes, " \t\r")
			line.Origin.Length = int64(len(line.Bytes))
		}
		run := file
		if in.Role == roleRuntime {
			run = cmp.Or(threadOf(line), file)
		}
		if !seen[run.ID] && !s.Emit(run) {
			return
		}
		seen[run.ID] = true
		if !s.Emit(logLine(in.Role, run.ID, line)) {
			return
		}
	}
}

// isComplete reports whether a line without a line end is already complete.
func isComplete(role string, line jsontext.Line) bool {
	if role == roleLog {
		return false
	}
	v, err := jsontext.Parse(line.Bytes)
	return err == nil && v.IsObject()
}

func logLine(role, run string, line jsontext.Line) transcript.Record {
	if line.Long {
		return &transcript.Problem{Run: run, Kind: "line too long", Reason: fmt.Sprint(line.Origin.Length, " bytes"), Origin: line.Origin}
	}
	switch role {
	case roleSDK:
		return sdkLine(run, line)
	case roleRuntime:
		return runtimeLine(run, line)
	}
	when, _, _ := strings.Cut(string(line.Bytes), " ")
	if _, after, found := strings.Cut(string(line.Bytes), " time="); found {
		when, _, _ = strings.Cut(after, " ")
	}
	return row(run, "log", timestamp.Parse(when), line.Origin, format.LooseText(line.Bytes))
}

// sdkLine returns a row for a message of an agent SDK. Its tokens and cost are also in the worker's log, and count there.
func sdkLine(run string, line jsontext.Line) *transcript.Event {
	event := row(run, "sdk", transcript.Time{}, line.Origin, format.LooseText(line.Bytes))
	v, err := jsontext.Parse(line.Bytes)
	if err != nil {
		return event
	}
	kind := v.Get("type").Str()
	event.Type, event.Model = strings.TrimSpace("sdk "+kind), v.Get("message", "model").Str()
	event.Time = v.Get("timestamp").Time()
	switch kind {
	case "assistant", "user":
		event.Kind, event.Role = transcript.KindMessage, kind
	case "system":
		event.Kind = transcript.KindSystem
	case "result":
		event.Kind = transcript.KindLifecycle
	}
	return event
}

// threadOf returns the run of the thread that a line of a runtime's events names, nil if it names none.
func threadOf(line jsontext.Line) *transcript.Run {
	v, err := jsontext.Parse(line.Bytes)
	if id := v.Get("threadId").Str(); err == nil && id != "" {
		return namedRun(threadRun(id))
	}
	return nil
}

// runtimeLine returns a row for what a worker told the command that waits for it. The assistant's texts are in no other file
// unless somebody has written a transcript.
func runtimeLine(run string, line jsontext.Line) *transcript.Event {
	event := row(run, "runtime", transcript.Time{}, line.Origin, format.LooseText(line.Bytes))
	v, err := jsontext.Parse(line.Bytes)
	if err != nil {
		return event
	}
	event.Kind, event.Type, event.Time = transcript.KindLifecycle, cmp.Or(v.Get("type").Str(), event.Type), v.Get("timestamp").Time()
	if event.Type == "assistant_text" {
		event.Kind, event.Role = transcript.KindMessage, "assistant"
	}
	return event
}
