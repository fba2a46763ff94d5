package gptme

import (
	"errors"
	"io"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// settings are those of a chat.
type settings struct {
	name, model, workspace, agent string
	secret                        bool // there are variables for tools or servers, which may be credentials
}

// readConfig reads the settings in a config.toml, as the program writes it: one key per line. What else may be in such a file may be secret. It is
// no parser of TOML: that of BurntSushi takes half a second for 8 KB of a key with many dots, and the square of that for more.
func readConfig(file string) (s settings) {
	section := ""
	for line := range strings.Lines(file) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if key, value = strings.TrimSpace(key), strings.TrimSpace(value); !ok || strings.HasPrefix(key, "#") {
			continue
		}
		if section != "[chat]" {
			s.secret = s.secret || section != "[mcp]" || key != "enabled" && key != "auto_start" && value != "[]"
			continue
		}
		s.secret = s.secret || strings.HasPrefix(value, `"""`) || strings.HasPrefix(value, "'''")
		text, err := jsontext.Parse([]byte(value))
		if err != nil || !text.IsString() {
			continue
		}
		switch key {
		case "name":
			s.name = text.Str()
		case "model":
			s.model = text.Str()
		case "workspace":
			s.workspace = text.Str()
		case "agent":
			s.agent = text.Str()
		}
	}
	return s
}

// config yields what a config.toml states about its chat.
func (p *parser) config(r io.Reader) {
	b, err := format.ReadAll(r, format.DocumentLimit)
	switch {
	case errors.Is(err, layer.ErrTooLarge):
		p.problem(&transcript.Problem{Kind: "too large", Reason: "no settings of a chat"})
		return
	case err != nil:
		p.Fail(err)
		return
	}
	s := readConfig(string(b))
	run := &transcript.Run{ID: p.chat, Named: true, Rank: 1, Title: format.Title(s.name), Model: s.model, Project: p.project(s.workspace)}
	if s.agent != "" {
		run.Agent = path.Base(s.agent)
	}
	p.Emit(run)
	p.row("config", transcript.Origin{Length: int64(len(b))}, format.LooseText(b))
}

// project returns a workspace with the home directory that the path of its chat shows; "" for the one in the chat's directory.
func (p *parser) project(workspace string) string {
	if workspace == "@log" || strings.HasSuffix(workspace, "/"+p.chat+"/workspace") {
		return ""
	}
	home, _, ok := strings.Cut(p.path, "/.local/share/gptme/logs/")
	if rest, inHome := strings.CutPrefix(workspace, "~/"); inHome && ok && path.IsAbs(home) {
		return path.Join(home, rest)
	}
	return workspace
}

// row yields a text of the run that is no event.
func (p *parser) row(typ string, at transcript.Origin, text string) {
	p.Emit(&transcript.Event{
		Run: p.chat, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: typ, Origin: at, Parts: []transcript.Part{{Text: text}},
	})
}

// subagent yields what a subagent-meta.json states: the chat is a sub-agent's, and which one has started it.
func (p *parser) subagent(r io.Reader) {
	v, at := p.Document(r, p.problem)
	if !v.Exists() {
		return
	}
	run := transcript.Run{ID: p.chat, Named: true, Child: true, Rank: 1, Agent: v.Get("agent_id").Str(), Model: v.Get("model").Str()}
	p.Emit(&run)
	parent := path.Base(strings.ReplaceAll(v.Get("parent_logdir").Str(), `\`, "/"))
	if parent != "." && parent != "/" && parent != p.chat {
		p.Emit(&transcript.Run{ID: parent, Named: true})
		p.Emit(&transcript.Link{Kind: "parent", From: transcript.RunEnd(parent), To: transcript.RunEnd(p.chat), Origin: at})
	}
	p.row("subagent", at, jsontext.AllStrings(v))
}
