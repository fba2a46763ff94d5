package geminicli

import (
	"cmp"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// beside is a file in the directory of a project that is no session.
type beside struct {
	root    string // the project's directory
	project string
	run     string // the session that it belongs to, else a run of its own, named after project and file
	role    string // "" for other files
}

// besideOf reads <home>/.gemini/tmp/<project>/[<session>/]plans/<name>.md, tool-outputs/session-<session>/<call>.txt, checkpoint-<tag>.json
// and shell_history. Tabnine CLI has the same in .tabnine/agent, old versions of Qwen Code in .qwen.
func besideOf(file string) (b beside) {
	for _, home := range []string{"/.gemini/tmp/", "/.tabnine/agent/tmp/", "/.qwen/tmp/"} {
		at := strings.LastIndex("/"+file, home)
		if at < 0 {
			continue
		}
		project, below, _ := strings.Cut(file[at+len(home)-1:], "/")
		b.root, b.project = file[:at+len(home)-1]+project, project
		b.run = project + "/" + strings.TrimSuffix(below, path.Ext(below))
		session, inSession, _ := strings.Cut(below, "/")
		output, isOutput := strings.CutPrefix(below, "tool-outputs/session-")
		switch id, _, isFile := strings.Cut(output, "/"); {
		case path.Dir(below) == "plans" && path.Ext(below) == ".md":
			b.role = rolePlan
		case format.IsUUID(session) && path.Dir(inSession) == "plans" && path.Ext(below) == ".md":
			b.role, b.run = rolePlan, session
		case isOutput && isFile && format.IsUUID(id):
			b.role, b.run = roleToolOutput, id
		case savedName.MatchString(below):
			b.role = roleSaved
		case below == "shell_history":
			b.role = roleShell
		}
	}
	return b
}

// savedName matches the name of a chat that the user has saved with /chat save.
var savedName = lazyregexp.New(`^checkpoint-[^/]+\.json$`)

func detectBeside(h format.Head) format.Claim {
	b := besideOf(h.Path)
	switch {
	case b.role == "", b.role != roleSaved && !h.IsTextFile():
		return format.Claim{}
	case b.role == roleSaved && len(h.Bytes) > 0 && !format.HasKeys(h.Bytes, "role", "parts"):
		return format.Claim{}
	}
	return format.Claim{Strength: format.Certain, Role: b.role, Root: b.root}
}

// text yields a file that is one text: a plan of the model, the output of a tool that was too long for its session, or the commands that the
// user has run.
func (p *parser) text() {
	b := besideOf(p.in.Path)
	e := transcript.Event{Run: b.run, Kind: transcript.KindMessage, Role: "assistant", Type: p.in.Role}
	switch p.in.Role {
	case roleToolOutput:
		e.Kind, e.Role = transcript.KindToolResult, "tool"
	case roleShell:
		e.Role = "user"
	}
	if !p.TextFile(p.in.Reader, &e) {
		return
	}
	run := &transcript.Run{ID: e.Run, Named: true, Group: b.project}
	if p.in.Role == rolePlan && !format.IsUUID(e.Run) {
		run.Title = format.Heading(e.Parts[0].Text)
	}
	p.Emit(run)
	p.Emit(&e)
}

// saved yields the messages of a chat that the user has saved. It names no session: what is in it may be in several, or in none any more.
func (p *parser) saved() {
	b := besideOf(p.in.Path)
	p.session = b.run
	if !p.readDocument() {
		return
	}
	tag := decodeTag(strings.TrimPrefix(format.Stem(p.in.Path), "checkpoint-"))
	p.Emit(&transcript.Run{ID: p.session, Named: true, Group: b.project, Title: format.Title(tag)})
	messages := p.whole
	if history := p.whole.Get("history"); history.Exists() {
		messages = history
	}
	for message := range messages.Items() {
		role := message.Get("role").Str()
		if role == "model" {
			role = "assistant"
		}
		p.Emit(&transcript.Event{
			Run: p.session, Verdict: transcript.Uncounted, Kind: transcript.KindMessage, Role: cmp.Or(role, "user"), Type: roleSaved, Origin: p.origin(message),
			Parts: []transcript.Part{{Text: savedText(message)}},
		})
		if p.Done() {
			return
		}
	}
}

func savedText(v jsontext.Value) string { return textOf(v.Get("parts")) }

// decodeTag undoes what encodeURIComponent has done to a tag.
func decodeTag(tag string) string {
	var b []byte
	for i := 0; i < len(tag); i++ {
		if tag[i] == '%' && i+3 <= len(tag) {
			if n, err := strconv.ParseUint(tag[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(n))
				i += 2
				continue
			}
		}
		b = append(b, tag[i])
	}
	if !utf8.Valid(b) {
		return tag
	}
	return string(b)
}
