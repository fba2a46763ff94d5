package codebuddy

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The directories of CodeBuddy's editor and of its plugin for others.
const (
	extensionDir = "CodeBuddyExtension"
	historyDir   = "history"
	messagesDir  = "messages"
	indexName    = "index.json"
)

// extensionPlaces returns where the editor and the plugin keep their sessions.
func extensionPlaces() []format.Place {
	const dir = "/" + extensionDir + "/Data"
	return format.Place{Name: "codebuddy-extension"}.At("~/.local/share"+dir, "$XDG_DATA_HOME"+dir, "~/Library/Application Support"+dir,
		"~/AppData/Local"+dir, "$LOCALAPPDATA"+dir)
}

// filed is what the path of a file in history/<workspace>/<session> states.
type filed struct {
	role    string
	session string
	id      string // of a message
	root    string // the directory called history, if it is the program's
}

// locateFiled reads history/<workspace>/index.json, history/<workspace>/<session>/index.json and the session's messages/<id>.json.
func locateFiled(file string) (f filed) {
	dir := path.Dir(file)
	switch {
	case path.Ext(file) != ".json":
		return filed{}
	case path.Base(dir) == messagesDir:
		f.role, f.id = roleMessage, format.Stem(file)
		dir = path.Dir(dir)
		f.session = path.Base(dir)
		dir = path.Dir(dir)
	case path.Base(file) != indexName:
		return filed{}
	case path.Base(path.Dir(dir)) == historyDir:
		f.role = roleList
	default:
		f.role, f.session = roleRequests, path.Base(dir)
		dir = path.Dir(dir)
	}
	if root := path.Dir(dir); path.Base(root) != historyDir {
		return filed{}
	} else if strings.Contains("/"+root, "/"+extensionDir+"/") {
		f.root = root
	}
	return f
}

// isCredential reports whether a file is in the directory where the program keeps the user's tokens.
func isCredential(file string) bool {
	return strings.Contains("/"+file, "/"+extensionDir+"/Data/Public/")
}

// Withholds says so of credentials, whatever other format claims them.
func (codebuddy) Withholds(h format.Head) bool { return isCredential(h.Path) }

// detectFiled claims the files of a session that has a file for each message.
func detectFiled(h format.Head) format.Claim {
	if isCredential(h.Path) {
		return format.Claim{Strength: format.Certain, Role: format.Other, Skip: true}
	}
	f := locateFiled(h.Path)
	if f.role == "" {
		return format.Claim{}
	}
	claim := format.Claim{Strength: format.Certain, Role: f.role, Root: f.root}
	v, err := jsontext.ParsePrefix(jsontext.TrimBOM(h.Bytes))
	known := false
	switch f.role {
	case roleMessage:
		known = v.Get("role").IsString() && v.Get("message").Exists()
	case roleRequests:
		known = v.Get("messages").IsArray()
	case roleList:
		known = v.Get("conversations").IsArray()
	}
	switch {
	case known && f.root == "":
		claim.Strength = format.Likely
	case !known && (f.root == "" || err == nil):
		return format.Claim{}
	}
	return claim
}

// filedRecords yields the records of such a file.
func (p *parser) filedRecords() {
	f := locateFiled(p.in.Path)
	p.run = f.session
	v, at := p.Document(p.in.Reader, func(pr *transcript.Problem) { p.Problem(p.run, pr) })
	switch {
	case !v.Exists():
		if p.run != "" {
			p.Emit(&transcript.Run{ID: p.run, Named: true})
		}
		p.Settle(p.run)
	case p.in.Role == roleMessage:
		p.filedMessage(f, v, at)
	case p.in.Role == roleRequests:
		p.requests(v, at)
	case p.in.Role == roleList:
		p.list(v)
	}
}

// list yields the titles of a workspace's sessions.
func (p *parser) list(v jsontext.Value) {
	for c := range v.Get("conversations").Items() {
		if id := c.Get("id").Str(); id != "" {
			p.Emit(&transcript.Run{ID: id, Named: true, Rank: 1, Title: format.Title(c.Get("name").Str()),
				Started: c.Get("createdAt").TimeOrMilli(), Ended: c.Get("lastMessageAt").TimeOrMilli()})
		}
	}
}

// The keys of hints: a message and its model, and a request and one of its messages.
const (
	hintModel   = "model"
	hintRequest = "request"
)

// requests yields the tokens of a session. A request is what the model did for one prompt.
func (p *parser) requests(v jsontext.Value, at transcript.Origin) {
	p.Emit(&transcript.Run{ID: p.run, Named: true})
	p.Emit(&transcript.Conversation{ID: p.run, Run: p.run, Shared: true})
	for i, r := range v.Get("requests").Numbered() {
		raw := r.Get("usage")
		u := &transcript.Usage{Run: p.run, Conversation: p.run, RequestID: r.Get("id").Str(), Time: r.Get("startedAt").TimeOrMilli(), Origin: at,
			Input: raw.Get("inputTokens").Tokens(), Output: raw.Get("outputTokens").Tokens(), CacheRead: raw.Get("cacheTokens").Tokens(),
			CacheWrite: raw.Get("cachedWriteTokens").Tokens()}
		if !u.Input.Known && !u.Output.Known || u.Input.N+u.Output.N == 0 {
			continue
		}
		u.Key = p.run + ":" + cmp.Or(u.RequestID, "#"+strconv.Itoa(i))
		if status := r.Get("state").Word(); status != "" {
			u.Status = status
		}
		format.ExcludeCache(u)
		for m := range r.Get("messages").Items() {
			p.Hint(p.run, hintRequest, u.Key+"\t"+m.Str(), at)
		}
		p.Emit(u)
	}
}

// filedMessage yields the blocks of a message: its texts as one event, and an event for each of the others.
func (p *parser) filedMessage(f filed, v jsontext.Value, at transcript.Origin) {
	message, extra := v.Get("message").Unwrap(), v.Get("extra").Unwrap()
	content := message.Get("content")
	if message.IsString() {
		content = message
	}
	m := &filedMessage{value: v, message: message, extra: extra, id: cmp.Or(v.Get("id").Str(), f.id)}
	m.first = transcript.Event{
		Conversation: p.run, Type: v.Get("role").Word(), Role: cmp.Or(v.Get("role").Word(), message.Get("role").Word()),
		Time: v.Get("createdAt").TimeOrMilli(), Origin: at, Kind: transcript.KindMessage,
	}
	e := &m.first
	if e.Role == "assistant" {
		e.Model = cmp.Or(extra.Get("modelName").Str(), extra.Get("modelId").Str())
	}
	p.Emit(&transcript.Run{ID: p.run, Project: projectIn(content), Model: e.Model})
	turn := 1 // in files that are written at once, what is said precedes the answer
	if e.Role == "user" {
		turn = 0
	}
	order := fmt.Sprintf("%018d/%d/%s", e.Time.UnixMicro, turn, m.id)
	p.Emit(&transcript.Conversation{ID: p.run, Run: p.run, Shared: true, Order: order, Project: projectIn(content), Model: e.Model})
	if e.Model != "" {
		p.Hint(p.run, hintModel, m.id+"\t"+e.Model, at)
	}
	switch {
	case e.Role == "system" || e.Role == "user" && (injected(content) || extra.Get("isHelperMessage").Bool() == transcript.Yes):
		e.Kind, e.Role = transcript.KindSystem, "system"
	case !hasContent(content):
		e.Kind, e.Verdict = transcript.KindNotice, transcript.Uncounted
	case e.Role == "assistant" || e.Role == "tool":
		m.split = true
	case e.Role != "user":
		e.Kind, e.Verdict = transcript.KindUnknown, transcript.Uncounted
	}
	for _, e := range m.events(content) {
		p.Emit(e)
	}
}

// filedMessage is a message from a file of its own.
type filedMessage struct {
	value, message, extra jsontext.Value
	id                    string
	first                 transcript.Event // what all events of it have
	split                 bool             // its blocks are events

	passed, decoded int // bytes of the string that has the message, and what they are decoded: blocks come in order
}

func (m *filedMessage) events(content jsontext.Value) (all []*transcript.Event) {
	var said *transcript.Event // has the texts
	for i, block := range content.Numbered() {
		part := transcript.Part{Text: string(appendBlock(nil, block))}
		part.Offset, part.Length = m.place(block)
		typ := block.Get("type").Word()
		if said != nil && (!m.split || typ == "text") {
			said.Parts = append(said.Parts, part)
			continue
		}
		e := m.first
		e.ID, e.Parts = m.id+"/"+strconv.Itoa(i), []transcript.Part{part}
		if !m.split || typ == "text" {
			said = &e
		} else {
			e.Type = typ
			m.setBlock(&e, block)
		}
		all = append(all, &e)
	}
	if len(all) == 0 {
		e := m.first
		e.ID, e.Parts = m.id+"/0", []transcript.Part{{Text: string(appendBlock(nil, m.value))}}
		all = append(all, &e)
	}
	return all
}

// place returns where a block is in the file: its bytes there are escaped, as the message is in a string.
func (m *filedMessage) place(block jsontext.Value) (offset, length int64) {
	if at := jsontext.OffsetIn(m.value, block); at > 0 {
		return at, int64(block.Len())
	}
	text := m.value.Get("message")
	from := int(jsontext.OffsetIn(m.message, block))
	if !text.IsString() || from <= 0 {
		return 0, 0
	}
	begin := m.pass(text.Body(), from)
	end := m.pass(text.Body(), from+block.Len())
	return jsontext.OffsetIn(m.value, text) + 1 + int64(begin), int64(end - begin)
}

// pass goes on in the body of a string to where so many decoded bytes are passed, and returns how many bytes these are as written.
func (m *filedMessage) pass(body []byte, decoded int) int {
	for m.decoded < decoded && m.passed < len(body) {
		n, size := 1, 1
		switch rest := body[m.passed:]; {
		case rest[0] >= utf8.RuneSelf:
			if _, n = utf8.DecodeRune(rest); n == 1 { // it is no UTF-8, and was replaced
				size = len(unescaped(rest[:1]))
			} else {
				size = n
			}
		case rest[0] != '\\' || len(rest) < 2:
		case rest[1] != 'u':
			n = 2
		default:
			n = min(6, len(rest))
			if bytes.HasPrefix(rest[n:], []byte(`\u`)) && len(rest) >= 12 {
				if s := unescaped(rest[:12]); utf8.RuneCountInString(s) == 1 { // a pair
					n = 12
				}
			}
			size = len(unescaped(rest[:n]))
		}
		m.passed += n
		m.decoded += size
	}
	return m.passed
}

// unescaped returns what the body of a string is decoded.
func unescaped(body []byte) string { return jsontext.Unquote(`"` + string(body) + `"`) }

// setBlock sets what a block is that is no text.
func (m *filedMessage) setBlock(e *transcript.Event, block jsontext.Value) {
	call, name := block.Get("toolCallId").Str(), block.Get("toolName").Word()
	switch e.Type {
	case "reasoning":
		e.Kind = transcript.KindReasoning
	case "tool-call":
		args := block.First("args", "input")
		e.Kind, e.Role = transcript.KindToolCall, "assistant"
		e.Parts[0].Call = &transcript.Call{ID: call, Name: name, Input: int64(args.Len()), Paths: format.Paths(args.Unwrap(), pathNames, nil)}
	case "tool-result":
		r := &transcript.Result{Call: call, Name: name, Status: m.extra.Get("toolStatus", call, "status").Word(),
			Output: int64(block.First("result", "output").Len())}
		if block.Get("isError").Bool() == transcript.Yes || failures[strings.ToLower(r.Status)] {
			r.Failed = transcript.Yes
		}
		e.Kind, e.Role, e.Parts[0].Result = transcript.KindToolResult, "tool", r
	default:
		e.Kind, e.Verdict = transcript.KindNotice, transcript.Uncounted
	}
}

// appendBlock appends the text of a block, or of the whole file.
func appendBlock(dst []byte, block jsontext.Value) []byte {
	return jsontext.AppendText(dst, block, visitBlock)
}

func visitBlock(dst []byte, _ int, key string, v jsontext.Value) ([]byte, bool) {
	switch key {
	case "type", "toolCallId", "id", "role", "createdAt", "extra":
		return dst, true
	case "message":
		return jsontext.AppendText(dst, v.UnwrapContainer(), visitBlock), true
	case "args", "input":
		return jsontext.AppendScalars(dst, v.Unwrap()), true
	case "result", "output":
		return appendOutput(dst, v), true
	}
	return dst, v.IsDataURL()
}

// filedText returns the text of a block, which may be escaped, or of a file without any.
func filedText(raw []byte) (string, error) {
	v, err := jsontext.Parse(raw)
	if err != nil {
		if v, err = jsontext.Parse([]byte(unescaped(raw))); err != nil {
			return "", fmt.Errorf("read message: %w", err)
		}
	}
	return string(appendBlock(nil, v)), nil
}

// projectIn returns the directory that the program states before the first prompt.
func projectIn(content jsontext.Value) string {
	for block := range content.Items() {
		if _, after, ok := strings.Cut(textIn(block).Str(), "<user_info>"); ok {
			info, _, _ := strings.Cut(after, "</user_info>")
			if _, after, ok := strings.Cut(info, "Workspace Folder: "); ok {
				line, _, _ := strings.Cut(after, "\n")
				return strings.TrimSpace(line)
			}
		}
	}
	return ""
}

// Resolve sets the models of requests: only the files of their messages state them.
func (codebuddy) Resolve(f *transcript.Family) {
	models := map[string]string{}
	for _, h := range f.Hints {
		if msg, model, ok := strings.Cut(h.Value, "\t"); ok && h.Key == hintModel {
			models[msg] = model
		}
	}
	used := map[string]string{} // by request
	for _, h := range f.Hints {
		if request, msg, ok := strings.Cut(h.Value, "\t"); ok && h.Key == hintRequest {
			used[request] = cmp.Or(models[msg], used[request])
		}
	}
	for _, u := range f.Usage {
		u.Model = cmp.Or(u.Model, used[u.Key])
	}
}

// ResolvesUsage makes the format a format.UsageResolver.
func (codebuddy) ResolvesUsage() {}
