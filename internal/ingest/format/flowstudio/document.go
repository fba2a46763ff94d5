package flowstudio

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// document reads a whole JSON object. Anything else is a problem, unless quiet is set.
func (p *parser) document(quiet bool) (jsontext.Value, transcript.Origin, bool) {
	raw, err := format.ReadAll(p.in.Reader, format.DocumentLimit)
	at := transcript.Origin{Length: int64(len(raw))}
	bad := &transcript.Problem{Origin: at}
	switch {
	case errors.Is(err, layer.ErrTooLarge):
		bad.Kind, bad.Reason = "too large", fmt.Sprintf("more than %d bytes", int64(format.DocumentLimit))
		bad.Origin.Length = p.in.Size
	case err != nil:
		p.Fail(err)
		return jsontext.Value{}, at, false
	}
	if bad.Kind == "" {
		b := jsontext.TrimBOM(raw)
		v, err := jsontext.Parse(b)
		var syntax *jsontext.SyntaxError
		switch {
		case len(bytes.TrimSpace(b)) == 0:
			bad.Kind, bad.Reason = "empty document", "no JSON value"
		case errors.As(err, &syntax):
			bad.Kind, bad.Reason = "bad json", syntax.Error()
			bad.Origin.Line = 1 + bytes.Count(b[:min(syntax.Offset, int64(len(b)))], []byte("\n"))
		case !v.IsObject():
			bad.Kind, bad.Reason = "not an object", "a JSON value of another type"
		default:
			return v, at, true
		}
	}
	if !quiet {
		p.problem(bad)
	}
	return jsontext.Value{}, at, false
}

// maxAttributes bounds the number of attributes that a hostile document can add to a row.
const maxAttributes = 64

// flatten copies the scalars of an object into attributes, those of a nested object under "outer.inner", lists of strings
// joined by commas. It skips the members named in without.
func flatten(into transcript.Attributes, prefix string, v jsontext.Value, without ...string) {
	for key, m := range v.Fields() {
		if len(into) >= maxAttributes || slices.Contains(without, key) {
			continue
		}
		name := prefix + key
		switch m.Type() {
		case '{':
			if prefix == "" {
				flatten(into, name+".", m)
			}
		case '[':
			if list := joined(m); list != "" {
				into[name] = list
			}
		default:
			if s := scalar(m); s != nil {
				into[name] = s
			}
		}
	}
}

// scalar returns the attribute value of a scalar, nil for null, empty strings and everything else.
func scalar(v jsontext.Value) any {
	switch v.Type() {
	case '"':
		if s := v.Str(); s != "" {
			return s
		}
	case 't', 'f':
		return v.Bool() == transcript.Yes
	case '0':
		if n, ok := v.Int(); ok {
			return n
		}
		if f, ok := v.Float(); ok {
			return f
		}
	}
	return nil
}

// joined returns the strings of a list, separated by commas.
func joined(v jsontext.Value) string {
	var list []string
	for m := range v.Items() {
		if s := m.Str(); s != "" {
			list = append(list, s)
		}
	}
	return strings.Join(list, ",")
}

// stamp formats a time such that stamps sort bytewise in time order.
func stamp(t transcript.Time) string {
	if !t.Valid {
		return ""
	}
	return time.UnixMicro(t.UnixMicro).UTC().Format(transcript.TimeLayout)
}

// millis converts milliseconds to microseconds.
func millis(v jsontext.Value) transcript.Count {
	c := v.Count()
	const most = 1 << 52
	if c.N > most || c.N < -most {
		return transcript.Count{}
	}
	c.N *= 1000
	return c
}

// outcome maps the status of a run or step to an Outcome.
func outcome(status string) transcript.Outcome {
	switch strings.ToLower(status) {
	case "":
		return ""
	case "succeeded", "success", "completed":
		return transcript.Succeeded
	case "failed", "error":
		return transcript.Failed
	case "canceled", "cancelled", "stopped":
		return transcript.Cancelled
	case "pending", "running", "stopping", "pausing", "paused":
		return transcript.Running
	}
	return transcript.Other
}
