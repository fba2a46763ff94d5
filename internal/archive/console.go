package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/toolcall"
	"github.com/txarchive/txarchive/internal/transcript"
)

// consoleText implements the SQL functions of the index that return texts and bytes, which only the packs have.
func (a *Archive) consoleText(ctx context.Context, kind, id string) (string, error) {
	db := a.Index()
	if db == nil {
		return "", a.noIndex()
	}
	if kind == "receipt_json" {
		at, err := db.Receipt(ctx, id)
		if err != nil {
			return "", err
		}
		raw, err := a.Raw(ctx, at)
		return string(raw), err
	}
	events, err := db.Event(ctx, id)
	if err != nil {
		return "", err
	}
	isResult := func(e index.Event) bool { return e.Kind == transcript.KindToolResult }
	switch {
	case kind == "event_json":
		return a.eventJSON(ctx, events)
	case kind == "call_input_json":
		return a.inputJSON(ctx, events)
	case kind == "call_output" && !slices.ContainsFunc(events, isResult):
		result, err := db.Result(ctx, id)
		if err != nil {
			return "", err
		}
		events = []index.Event{result}
	}
	return a.eventText(ctx, events)
}

// eventText joins the texts of the parts of an event.
func (a *Archive) eventText(ctx context.Context, parts []index.Event) (string, error) {
	texts := make([]string, 0, len(parts))
	for _, e := range parts {
		text, err := a.Text(ctx, e.Place, e.Part)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n"), nil
}

// eventJSON returns an event as the original has it: the bytes of its parts or, if they are only blocks of a line, that
// whole line.
func (a *Archive) eventJSON(ctx context.Context, parts []index.Event) (string, error) {
	at := parts[0].Place
	from, to := at.Offset, at.End()
	for _, e := range parts {
		from, to = min(from, e.Place.Offset), max(to, e.Place.End())
	}
	at.Offset, at.Length = from, to-from
	raw, err := a.Raw(ctx, at)
	if err != nil || at.Inner != "" || at.Line == 0 || parts[0].Parts == 1 {
		return string(raw), err
	}
	line, err := a.lineAround(ctx, at)
	if err != nil {
		return "", err
	}
	if json.Valid(line) {
		return string(line), nil
	}
	return string(raw), nil
}

// inputJSON returns the input of a tool call as a JSON object. index.ErrNotFound: it is no call, or its text is all there is.
func (a *Archive) inputJSON(ctx context.Context, parts []index.Event) (string, error) {
	i := slices.IndexFunc(parts, func(e index.Event) bool { return e.Kind == transcript.KindToolCall })
	if i < 0 {
		return "", index.ErrNotFound
	}
	call := &parts[i]
	raw, err := a.Raw(ctx, call.Place)
	if err != nil {
		return "", err
	}
	text, err := a.Text(ctx, call.Place, call.Part)
	if err != nil {
		return "", err
	}
	if input := toolcall.Parse(raw, call.Tool, text).JSON(); input != nil {
		return string(input), nil
	}
	return "", index.ErrNotFound
}

const (
	lineStep = 64 << 10
	maxLine  = 16 << 20
)

// lineAround returns the whole line that contains some bytes of an original.
func (a *Archive) lineAround(ctx context.Context, at index.Place) ([]byte, error) {
	v, err := a.version(ctx, at.VersionKey)
	if err != nil {
		return nil, err
	}
	from, to := at.Offset, at.End()
	for from > 0 && to-from < maxLine {
		step := min(from, lineStep)
		before, err := a.stored(ctx, at.Chain, from-step, step)
		if err != nil {
			return nil, err
		}
		if i := bytes.LastIndexByte(before, '\n'); i >= 0 {
			from -= step - int64(i) - 1
			break
		}
		from -= step
	}
	for to < v.Size && to-from < maxLine {
		step := min(v.Size-to, lineStep)
		after, err := a.stored(ctx, at.Chain, to, step)
		if err != nil {
			return nil, err
		}
		if i := bytes.IndexByte(after, '\n'); i >= 0 {
			to += int64(i)
			break
		}
		to += step
	}
	return a.stored(ctx, at.Chain, from, to-from)
}
