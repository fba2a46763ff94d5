package ollama

import (
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// history yields the lines that were typed. They have no times and belong to no chat; of a prompt with several lines, each is one.
func (p *parser) history() {
	for line, err := range jsontext.Lines(p.in.Reader, "") {
		if err != nil {
			p.Fail(err)
			return
		}
		p.Session = historyName
		if line.Long {
			p.SessionProblem(&transcript.Problem{Kind: "line too long", Reason: fmt.Sprintf("more than %d bytes", jsontext.MaxLine), Origin: line.Origin})
			continue
		}
		text := lineText(line.Bytes)
		if text == "" {
			continue
		}
		p.NameRun()
		e := &transcript.Event{
			Run: p.Session, Verdict: transcript.Uncounted, Kind: transcript.KindMessage, Role: "user", Type: "prompt", Origin: line.Origin,
			Parts: []transcript.Part{{Text: text}},
		}
		if strings.HasPrefix(text, "/") {
			e.Kind, e.Type = transcript.KindNotice, "command"
		}
		if p.Emit(e); p.Done() {
			return
		}
	}
}
