package copilotcli

import (
	"errors"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// workspaceLimit is more than any workspace.yaml that a program writes.
const workspaceLimit = 1 << 20

// workspace yields what workspace.yaml says of its session. It is a list of scalars; whatever is not is passed over.
func (p *parser) workspace() {
	content, err := format.ReadAll(p.in.Reader, workspaceLimit)
	if errors.Is(err, format.ErrTooLarge) {
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
			run.Started = format.Time(value)
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

// scalar reads a plain or quoted scalar; block scalars and collections give "".
func scalar(s string) string {
	s = strings.TrimSpace(s)
	switch {
	case len(s) >= 2 && s[0] == '\'' && s[len(s)-1] == '\'':
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
	case len(s) >= 2 && s[0] == '"':
		v, err := format.ParseJSON([]byte(s))
		if err != nil {
			return ""
		}
		return v.Str()
	case s == "null", s == "~", strings.HasPrefix(s, "|"), strings.HasPrefix(s, ">"), strings.HasPrefix(s, "["), strings.HasPrefix(s, "{"):
		return ""
	}
	return s
}
