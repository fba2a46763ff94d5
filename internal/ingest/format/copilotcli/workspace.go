package copilotcli

import (
	"errors"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// workspaceLimit is larger than any workspace.yaml that Copilot writes.
const workspaceLimit = 1 << 20

// workspace yields the fields of workspace.yaml. The file is a flat list of scalars; anything else is skipped.
func (p *parser) workspace() {
	content, err := format.ReadAll(p.in.Reader, workspaceLimit)
	if errors.Is(err, layer.ErrTooLarge) {
		p.problem(&transcript.Problem{Kind: "too large", Reason: "more than a megabyte"})
		return
	}
	if err != nil {
		p.Fail(err)
		return
	}
	run := &transcript.Run{ID: sessionOf(p.in.Path), Named: true, Rank: 2, Attributes: transcript.Attributes{}}
	name := ""
	for line := range strings.Lines(string(content)) {
		key, value, ok := strings.Cut(line, ":")
		if value = scalar(value); !ok || value == "" {
			continue
		}
		switch key {
		case "id":
			run.ID = value
		case "cwd":
			run.Project = value
		case "branch":
			run.Branch = value
		case "name":
			name = value
		case "summary":
			run.Title = value
		case "repository":
			run.Attributes["repository"] = value
		case "created_at":
			run.Started = timestamp.Parse(value)
		}
	}
	if name != "" {
		run.Title = name
	}
	p.Emit(run)
	p.Emit(&transcript.Event{
		Run: run.ID, Verdict: transcript.Uncounted, Kind: transcript.KindLifecycle, Type: roleWorkspace, Time: run.Started,
		Origin: transcript.Origin{Length: int64(len(content))}, Parts: []transcript.Part{{Text: string(content)}},
	})
}

// editor yields the fields of vscode.metadata.json, which VS Code keeps beside the sessions of Copilot CLI that it shows.
func (p *parser) editor() {
	run := sessionOf(p.in.Path)
	doc, at := p.Document(p.in.Reader, func(pr *transcript.Problem) { p.Problem(run, pr) })
	if !doc.Exists() {
		return
	}
	parent, kind := doc.Get("parentSessionId").Str(), "fork"
	if doc.Get("kind").Is("sub-session") {
		kind = "parent"
	}
	isLinked := parent != "" && parent != run
	p.Emit(&transcript.Run{ID: run, Named: true, Rank: 3, Child: isLinked && kind == "parent", Title: format.Title(doc.Get("customTitle").Str())})
	if isLinked {
		p.Emit(&transcript.Link{Kind: kind, From: transcript.RunEnd(parent), To: transcript.RunEnd(run), Origin: at})
	}
	p.Emit(&transcript.Event{
		Run: run, Verdict: transcript.Uncounted, Kind: transcript.KindLifecycle, Type: roleEditor, Origin: at, Parts: []transcript.Part{{Text: pieceText(doc)}},
	})
}

// scalar returns the value of a plain or quoted scalar, "" for block scalars and collections.
func scalar(s string) string {
	s = strings.TrimSpace(s)
	switch {
	case len(s) >= 2 && s[0] == '\'' && s[len(s)-1] == '\'':
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
	case len(s) >= 2 && s[0] == '"':
		v, err := jsontext.Parse([]byte(s))
		if err != nil {
			return ""
		}
		return v.Str()
	case s == "null", s == "~", strings.HasPrefix(s, "|"), strings.HasPrefix(s, ">"), strings.HasPrefix(s, "["), strings.HasPrefix(s, "{"):
		return ""
	}
	return s
}
