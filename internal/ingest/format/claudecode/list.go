package claudecode

import (
	"cmp"
	"path"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// listFile is the list of a project's sessions that versions before 2.1.30 kept. It still has sessions whose transcripts the
// program has deleted.
const listFile = "sessions-index.json"

func isList(h format.Head) bool {
	return path.Base(h.Path) == listFile && format.HasKeys(h.Bytes, "version", "entries") &&
		(format.HasKeys(h.Bytes, "sessionId", "fullPath") || format.HasKeys(h.Bytes, "originalPath"))
}

// parseList yields the sessions of the list as rows. They supply title, project and time of a session of which nothing else
// is left.
func parseList(in format.Input, out *format.Sink) {
	doc, at := out.Document(in.Reader, func(pr *transcript.Problem) { out.Problem(listFile, pr) })
	for entry := range doc.Get("entries").Items() {
		id := entry.Get("sessionId").Str()
		if id == "" {
			continue
		}
		created := entry.Get("created").TimeOrMilli()
		out.Emit(&transcript.Run{
			ID: id, Rank: transcript.RankHistory, Named: true, Project: entry.Get("projectPath").Str(), Branch: entry.Get("gitBranch").Str(), Started: created,
			Title: shorten(cmp.Or(entry.Get("customTitle").Str(), entry.Get("summary").Str(), entry.Get("firstPrompt").Str())),
		})
		out.Emit(&transcript.Event{
			Run: id, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: roleList, Time: created, Origin: jsontext.OriginIn(at, doc, entry),
			Parts: []transcript.Part{{Text: listText(entry)}},
		})
	}
}

// listText returns the titles of a session, and its first prompt.
func listText(v jsontext.Value) string {
	return jsontext.Build(func(b []byte) []byte {
		for _, key := range []string{"customTitle", "summary", "firstPrompt"} {
			b = jsontext.AppendStrings(b, v.Get(key))
		}
		return b
	})
}
