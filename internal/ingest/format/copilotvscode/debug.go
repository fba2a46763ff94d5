package copilotvscode

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

const (
	debugDir = "debug-logs"
	mainName = "main"
)

// spanMark follows the session id in the usage keys of a debug log.
const spanMark = ":span:"

// detectDebug claims debug logs of the extension: debug-logs/<session>/main.jsonl, and beside it those of what the session
// started (runSubagent-<agent>-<id>.jsonl, title-<id>.jsonl).
func detectDebug(h format.Head) format.Claim {
	claim := format.Claim{Strength: format.Certain, Role: roleChildLog, Log: true}
	if format.Stem(h.Path) == mainName {
		claim.Role = roleDebug
	}
	logsDir := path.Dir(path.Dir(h.Path))
	if path.Base(logsDir) == debugDir && strings.EqualFold(path.Base(path.Dir(logsDir)), extensionDir) {
		return claim
	}
	if format.AnyLine(h.Bytes, func(line []byte) bool {
		return jsontext.BeginsObject(line) && format.HasKeys(line, "ts", "dur", "sid", "type", "spanId", "status", "attrs")
	}) {
		claim.Strength = format.Likely
		return claim
	}
	return format.Claim{}
}

// debug yields the usage of a debug log's requests, and a row for each other line.
func (p *parser) debug() {
	dir := path.Dir(p.in.Path)
	name, session, version := format.Stem(p.in.Path), path.Base(dir), ""
	if path.Base(path.Dir(dir)) != debugDir && !format.IsUUID(session) {
		session = ""
	}
	for o := range p.Each(jsontext.Objects(p.in.Reader, "", p.problem)) {
		p.base, p.baseOrigin = o.Value, o.Origin
		if session == "" {
			session = o.Value.Get("sid").Str()
		}
		p.setSession(session)
		typ := o.Value.Get("type").Word()
		if v := o.Value.Get("attrs", "copilotVersion").Str(); v != "" {
			version = v
		}
		if at := o.Value.Get("ts").MilliTime(); typ != "llm_request" || !p.span(o.Value, at, name) {
			p.sessionRow(debugKind(typ), typ, at, o.Value)
		}
	}
	if p.Settle(p.session); p.session != "" && !p.Done() {
		p.Emit(&transcript.Run{ID: p.session, Version: version, Named: true})
	}
}

func debugKind(typ string) transcript.Kind {
	switch typ {
	case "error":
		return transcript.KindError
	case "session_start", "user_message", "turn_start", "turn_end", "llm_request", "agent_response", "tool_call", "subagent", "hook", "discovery", "generic",
		"child_session_ref":
		return transcript.KindLifecycle
	}
	return transcript.KindUnknown
}

// span yields the usage of one request, and reports whether it states any; failed requests do not. Span ids start again when the editor restarts,
// so the time is part of the key.
func (p *parser) span(v jsontext.Value, at transcript.Time, file string) bool {
	attrs := v.Get("attrs")
	input, output, cached := tokenCount(attrs.Get("inputTokens")), tokenCount(attrs.Get("outputTokens")), tokenCount(attrs.Get("cachedTokens"))
	if !input.Known && !output.Known {
		return false
	}
	if cached.Known {
		cached.N = min(cached.N, input.N)
		input.N -= cached.N
	}
	u := &transcript.Usage{
		Run: p.session, Conversation: p.session, Key: p.session + spanMark + v.Get("sid").Str() + ":" + v.Get("spanId").Str() + ":" + v.Get("ts").Text(),
		Time: at, Origin: p.baseOrigin, Model: attrs.Get("model").Str(), RequestID: attrs.Get("responseId").Str(),
		Input: input, Output: output, CacheRead: cached, Requests: transcript.Known(1), Status: v.Get("status").Str(),
	}
	if file != mainName {
		u.Agent = strings.TrimSuffix(file, "-"+v.Get("sid").Str())
	}
	if n, ok := attrs.Get("copilotUsageNanoAiu").Int(); ok {
		u.Attributes.Set("nano_aiu", n)
	}
	p.Emit(u)
	return true
}

// debugText returns the text of a line. Turns in a session's own log are skipped, since the session has them and more; prompts and answers of a
// subagent are nowhere else. Prompts of requests repeat all earlier messages and are skipped, too.
func debugText(role string, v jsontext.Value) string {
	typ := v.Get("type").Word()
	if known := debugKind(typ) != transcript.KindUnknown; known && (typ == "llm_request" || role == roleDebug && typ != "discovery" && typ != "generic" && typ != "error" && typ != "hook") {
		return ""
	}
	return jsontext.Build(func(dst []byte) []byte {
		for key, m := range v.Get("attrs").Fields() {
			inner := m.Inside()
			switch {
			case key == "args": // of a call
				dst = appendArguments(dst, m)
			case inner.IsObject(), inner.IsArray():
				dst = appendStrings(dst, inner)
			default:
				dst = appendStrings(dst, m)
			}
		}
		return dst
	})
}
