package claudecode

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Qoder's editor keeps what was said in a session a second time, without ids, times and tokens, under the beginning of the session's id:
// cache/projects/<name>-<hash>/conversation-history/<id>/<id>.jsonl. Those of versions that write no transcript are all that can be read of a
// session.
const (
	cacheDir = "cache/projects"
	briefDir = "conversation-history"
	shownDir = "agent-tools" // <id>/<hash>.txt: what tools have shown
)

// shownName matches the name of what a tool has shown.
var shownName = lazyregexp.New(`^[0-9a-f]{8}\.txt$`)

// briefPlace is where a file lies below one of these directories.
type briefPlace struct {
	dir     string // one of them, with what precedes it
	project string // <name>-<hash>
	id      string // the first name below it, without an extension: the beginning of the session's id
	cached  bool   // it is Qoder's by its path
}

func placeOfBrief(file string) (p briefPlace, ok bool) {
	file = "/" + strings.ReplaceAll(file, `\`, "/")
	for _, dir := range []string{briefDir, shownDir} {
		if i := strings.LastIndex(file, "/"+dir+"/"); i > 0 {
			p.dir, p.project = file[1:i+1+len(dir)], path.Base(file[:i])
			p.id, _, _ = strings.Cut(file[i+len(dir)+2:], "/")
			p.id = format.Stem(p.id)
			p.cached = strings.HasSuffix(path.Dir(file[:i]), "/"+cacheDir)
			return p, true
		}
	}
	return p, false
}

func detectBrief(h format.Head) format.Claim {
	p, ok := placeOfBrief(h.Path)
	if !ok {
		return format.Claim{}
	}
	name, isText := path.Base(h.Path), h.Size <= format.MaxText && format.IsText(h.Bytes)
	switch claim := (format.Claim{Strength: format.Certain, Role: roleShown, Root: p.dir}); {
	case path.Base(p.dir) == shownDir:
		if !p.cached || !shownName.MatchString(name) {
			break
		}
		claim = format.Claim{Strength: format.Likely, Role: roleShown}
		if !isText {
			claim.Role = format.Other
		}
		return claim
	case !p.cached && h.Path != p.dir+"/"+p.id+"/"+p.id+".jsonl":
	case path.Ext(name) == ".jsonl" && (p.cached && h.Size == 0 || format.AnyLine(h.Bytes, isBrief)):
		claim.Role, claim.Log = roleBrief, true
		return claim
	case path.Ext(name) == ".txt" && p.cached && isText:
		return claim
	}
	return format.Claim{}
}

// isBrief reports whether a line is a message of what Qoder's editor keeps.
func isBrief(line []byte) bool {
	v, _ := jsontext.ParsePrefix(line)
	role := v.Get("role").Word()
	return (role == "user" || role == "assistant") && v.Get("message", "content").Exists() && !v.Get("type").Exists()
}

// briefRun returns the run of such a file. The session itself has a longer id, of which more than one may begin so.
func briefRun(file string) string {
	p, _ := placeOfBrief(file)
	return briefDir + "/" + p.project + "/" + p.id
}

// parseBrief reads what was said as rows that do not count: a transcript may have it, too.
func parseBrief(in format.Input, out *format.Sink) {
	run, said := &transcript.Run{ID: briefRun(in.Path), Named: true}, false
	for o := range out.Each(jsontext.Objects(in.Reader, "", func(pr *transcript.Problem) { out.Problem(run.ID, pr) })) {
		content := o.Value.Get("message", "content")
		role := o.Value.Get("role").Word()
		if role != "user" && role != "assistant" || !content.Exists() {
			role = ""
		}
		e := &transcript.Event{
			Run: run.ID, Verdict: transcript.Uncounted, Kind: transcript.KindMessage, Role: role, Type: roleBrief, Origin: o.Origin,
			Parts: []transcript.Part{{Text: textOf(o.Value)}},
		}
		if role == "" {
			e.Kind = transcript.KindNotice
		}
		if role == "user" && run.Title == "" {
			run.Title = briefTitle(content)
		}
		out.Emit(e)
		said = true
	}
	if said {
		out.Emit(run)
	}
}

// briefTitle returns what the user typed in a prompt, around which the program puts a tag, and other elements before it.
func briefTitle(content jsontext.Value) string {
	text := textOf(content)
	if _, after, ok := strings.Cut(text, "<user_query>"); ok {
		text, _, _ = strings.Cut(after, "</user_query>")
	}
	return shorten(strings.TrimSpace(text))
}

// shownEvent returns the row of a text: what was said, or what a tool has shown.
func shownEvent(file string) transcript.Event {
	e := transcript.Event{Run: briefRun(file), Kind: transcript.KindMessage, Type: roleBrief}
	if p, _ := placeOfBrief(file); path.Base(p.dir) == shownDir {
		e.Kind, e.Role, e.Type = transcript.KindToolResult, "tool", shownDir
	}
	return e
}
