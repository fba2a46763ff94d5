package claudecode

import (
	"bytes"
	"cmp"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The files beside the projects directory: history.jsonl has every prompt, even those of sessions whose transcripts the
// program has deleted; pasteDir has texts pasted into prompts, which the program deletes after a while.
const (
	historyFile = "history.jsonl"
	pasteDir    = "paste-cache"
)

// pasteName matches the name of a pasted text: the beginning of its SHA-256.
var pasteName = lazyregexp.New(`^[0-9a-f]{16}\.txt$`)

// isHistory reports whether a file is the history, by its lines. Those before 2.0 name no session.
func isHistory(h format.Head) bool {
	return path.Base(h.Path) == historyFile && format.AnyLine(h.Bytes, func(line []byte) bool {
		return bytes.HasPrefix(line, []byte("{")) && format.HasKeys(line, "display", "pastedContents", "timestamp")
	})
}

func isPaste(h format.Head) bool {
	return path.Base(path.Dir(h.Path)) == pasteDir && pasteName.MatchString(path.Base(h.Path)) && h.Size <= format.MaxText && format.IsText(h.Bytes)
}

// parseHistory yields the prompts as rows of their sessions. They supply title and project of a session of which nothing
// else is left.
func parseHistory(in format.Input, out *format.Sink) {
	yielded, titled := map[string]bool{}, map[string]bool{}
	for o := range out.Each(jsontext.Objects(in.Reader, "", func(pr *transcript.Problem) { out.Problem(historyFile, pr) })) {
		prompt, project := o.Value.Get("display").Str(), o.Value.Get("project").Str()
		id := o.Value.Get("sessionId").Str()
		if id == "" {
			id = strings.TrimSuffix(historyFile+"@"+project, "@")
		}
		run := &transcript.Run{ID: id, Rank: transcript.RankHistory, Named: true, Project: project}
		if !titled[id] && !strings.HasPrefix(prompt, "/") { // a command of the program
			run.Title = shorten(prompt)
			titled[id] = true
		}
		if run.Title != "" || !yielded[id] {
			yielded[id] = true
			out.Emit(run)
		}
		out.Emit(&transcript.Event{
			Run: id, Verdict: transcript.Uncounted, Kind: transcript.KindMessage, Role: "user", Type: roleHistory, Retold: withPastes(prompt, o.Value),
			Time: o.Value.Get("timestamp").TimeOrMilli(), Origin: o.Origin, Parts: []transcript.Part{{Text: historyText(o.Value)}},
		})
	}
}

// pasted matches the placeholder in a prompt for a text that was pasted into it. The transcript has the text itself.
var pasted = lazyregexp.New(`\[Pasted text #([0-9]+)[^\]]*\]`)

func withPastes(prompt string, v jsontext.Value) string {
	return pasted.ReplaceAllStringFunc(prompt, func(mark string) string {
		return cmp.Or(v.Get("pastedContents", pasted.FindStringSubmatch(mark)[1], "content").Str(), mark)
	})
}

// historyText returns a prompt, and the pasted texts that the line itself contains.
func historyText(v jsontext.Value) string {
	return jsontext.Build(func(b []byte) []byte {
		b = jsontext.AppendStrings(b, v.Get("display"))
		for _, pasted := range v.Get("pastedContents").Fields() {
			if content := pasted.Get("content"); !content.IsBase64() {
				b = jsontext.AppendStrings(b, content)
			}
		}
		return b
	})
}
