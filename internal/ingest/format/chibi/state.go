package chibi

import (
	"errors"
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// document reads a whole file. If it is too large, that is a problem.
func document(in format.Input, out *emitter) ([]byte, bool) {
	b, err := format.ReadAll(in.Reader, format.DocumentLimit)
	switch {
	case errors.Is(err, layer.ErrTooLarge):
		out.problem(&transcript.Problem{Kind: "too large", Reason: fmt.Sprintf("more than %d bytes", format.DocumentLimit)})
		return nil, false
	case err != nil:
		out.Fail(err)
		return nil, false
	}
	return b, true
}

// object reads a file that is one JSON object. offset is where the object begins.
func object(in format.Input, out *emitter) (v jsontext.Value, offset int64) {
	v, at := out.Document(in.Reader, out.problem)
	if v.Exists() && !v.IsObject() {
		out.problem(&transcript.Problem{Kind: "not an object", Reason: "a JSON value of another type", Origin: transcript.Origin{Length: in.Size}})
		v = jsontext.Value{}
	}
	return v, at.Offset
}

// parseState yields what the home says about its contexts. A listed context is only Named: only a log makes a run of it.
// Old homes list just names.
func parseState(in format.Input, out *emitter) {
	v, _ := object(in, out)
	for c := range v.Get("contexts").Items() {
		run := transcript.Run{ID: c.Str(), Local: true, Rank: 2, Named: true}
		if c.IsObject() {
			run.ID = c.Get("name").Str()
			run.Project = c.Get("cwd").Str()
			run.Started = readTime(c.Get("created_at"))
			run.Ended = readTime(c.Get("last_activity_at"))
			run.Attributes = timers(c)
		}
		if run.ID != "" && !out.Emit(&run) {
			return
		}
	}
}

// timers returns the settings by which the program will destroy a context; 0 is never.
func timers(c jsontext.Value) transcript.Attributes {
	a := transcript.Attributes{}
	for _, key := range []string{"destroy_after_seconds_inactive", "destroy_at"} {
		if n, ok := c.Get(key).Int(); ok && n > 0 {
			a[key] = n
		}
	}
	return a
}
