package claudecode

import (
	"cmp"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// isDesktop reports whether a file is the desktop program's metadata of a session: local_<id>.json. The transcript is
// Claude Code's; in Cowork mode it lies in a directory of the same name, below .claude/projects.
func isDesktop(h format.Head) bool {
	name := path.Base(h.Path)
	return strings.HasPrefix(name, "local_") && path.Ext(name) == ".json" && format.HasKeys(h.Bytes, "sessionId", "cwd") &&
		(format.HasKeys(h.Bytes, "cliSessionId") || format.HasKeys(h.Bytes, "lastActivityAt"))
}

// parseDesktop reads the title and the folder of a session. A Cowork transcript only has the path in its virtual machine.
func parseDesktop(in format.Input, out *format.Sink) {
	doc, at := out.Document(in.Reader, func(pr *transcript.Problem) { out.Problem(placeOf(in.Path).stem, pr) })
	if !doc.Exists() {
		return
	}
	id := cmp.Or(doc.Get("cliSessionId").Str(), doc.Get("sessionId").Str(), placeOf(in.Path).stem)
	run := &transcript.Run{ID: id, Rank: 1, Named: true, Title: shorten(doc.Get("title").Str())}
	for folder := range doc.Get("userSelectedFolders").Items() {
		run.Project = folder.Str()
		break
	}
	out.Emit(run)
	out.Hint(id, hintTitle, run.Title, at)
	out.Hint(id, hintProject, run.Project, at)
	out.Emit(&transcript.Event{
		Run: id, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: roleDesktop, Time: doc.Get("createdAt").TimeOrMilli(), Origin: at,
		Parts: []transcript.Part{{Text: desktopText(doc)}},
	})
}

// desktopText returns the text that people have written. The rest is settings, and a prompt that the program wrote.
func desktopText(v jsontext.Value) string {
	return jsontext.Build(func(b []byte) []byte {
		for _, key := range []string{"title", "initialMessage", "userSelectedFolders"} {
			b = jsontext.AppendStrings(b, v.Get(key))
		}
		return b
	})
}
