package copilotvscode

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

const (
	debugDir = "debug-logs"
	mainName = "main"
)

// spanMark is in the keys of requests of a debug log, behind the session's id.
const spanMark = ":span:"

// detectDebug claims a log that the extension keeps for who looks for errors: debug-logs/<session>/main.jsonl, and beside it those of what
// the session started (runSubagent-<agent>-<id>.jsonl, title-<id>.jsonl).
func detectDebug(h format.Head) format.Claim {
	claim := format.Claim{Strength: format.Certain, Role: roleAside, Log: true}
	if sessionOf(h.Path) == mainName {
		claim.Role = roleDebug
	}
	above := path.Dir(path.Dir(h.Path))
	if path.Base(above) == debugDir && strings.EqualFold(path.Base(path.Dir(above)), extensionDir) {
		return claim
	}
	if format.AnyLine(h.Bytes, func(line []byte) bool {
		return format.BeginsObject(line) && format.HasKeys(line, "ts", "dur", "sid", "type", "spanId", "status", "attrs")
	}) {
		claim.Strength = format.Likely
		return claim
	}
	return format.Claim{}
}

// debug yields the requests of a debug log, and a row for each other line.
func (p *parser) debug() {
	dir := path.Dir(p.in.Path)
	name, session, version := sessionOf(p.in.Path), path.Base(dir), ""
	if path.Base(path.Dir(dir)) != debugDir && !format.IsUUID(session) {
		session = ""
	}
	for o := range p.Each(format.Objects(p.in.Reader, "", p.problem)) {
		p.whole, p.at = o.Value, o.Origin
		if session == "" {
			session = o.Value.Get("sid").Str()
		}
		p.name(session)
		typ := o.Value.Get("type").Word()
		if v := o.Value.Get("attrs", "copilotVersion").Str(); v != "" {
			version = v
		}
		stamp, _ := o.Value.Get("ts").Int()
		if at := format.UnixMilli(stamp); typ != "llm_request" || !p.span(o.Value, at, name) {
			p.row(debugKind(typ), typ, at, o.Value)
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

// span yields what one request took; false when that is not stated, as of one that failed. Ids of spans begin anew when the editor does.
func (p *parser) span(v format.Value, at transcript.Time, file string) bool {
	attrs := v.Get("attrs")
	input, output, cached := amount(attrs.Get("inputTokens")), amount(attrs.Get("outputTokens")), amount(attrs.Get("cachedTokens"))
	if !input.Known && !output.Known {
		return false
	}
	if cached.Known {
		cached.N = min(cached.N, input.N)
		input.N -= cached.N
	}
	u := &transcript.Usage{
		Run: p.session, Conversation: p.session, Key: p.session + spanMark + v.Get("sid").Str() + ":" + v.Get("spanId").Str() + ":" + v.Get("ts").Text(),
		Time: at, Origin: p.at, Model: attrs.Get("model").Str(), RequestID: attrs.Get("responseId").Str(),
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

// debugText is the text of a line. What a session's own log says of its turns the session says, and more; what a subagent was asked and
// answered is nowhere else. The prompts of requests repeat all that was said before.
func debugText(role string, v format.Value) string {
	typ := v.Get("type").Word()
	if known := debugKind(typ) != transcript.KindUnknown; known && (typ == "llm_request" || role == roleDebug && typ != "discovery" && typ != "generic" && typ != "error" && typ != "hook") {
		return ""
	}
	return format.Build(func(dst []byte) []byte {
		for _, m := range v.Get("attrs").Fields() {
			if inner := m.Inside(); inner.IsObject() || inner.IsArray() {
				dst = appendWords(dst, inner)
			} else {
				dst = appendWords(dst, m)
			}
		}
		return dst
	})
}
