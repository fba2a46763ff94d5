package devflow

import (
	"io"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/layer"
	"github.com/txarchive/txarchive/internal/transcript"
)

// artifact yields the text of an artifact as one row of its run, which is only Named: a directory with nothing but
// artifacts is not a run. A torn .gz is searchable as far as it goes. Artifacts are not counted documents, so a tear is not
// a problem.
func (p *parser) artifact(name string, r io.Reader) {
	if p.dir == "" {
		return
	}
	b, err := io.ReadAll(io.LimitReader(r, format.DocumentLimit))
	if err != nil && !layer.IsContent(err) {
		p.Fail(err)
		return
	}
	text := ""
	if format.IsText(b) {
		text = partText(b, 0)
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	event := &transcript.Event{
		Run: p.dir, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: "artifact",
		Origin:     transcript.Origin{Inner: p.inner, Length: int64(len(b))},
		Parts:      []transcript.Part{{Text: text}},
		Attributes: transcript.Attributes{"artifact": name},
	}
	if err != nil || len(b) == format.DocumentLimit {
		event.Attributes["torn"] = true
	}
	// A review states its own tokens. They are in no total of the run and remain an attribute of the review.
	if v, err := jsontext.Parse(b); err == nil {
		for _, path := range [][]string{{"metrics", "tokensUsed"}, {"tokensUsed"}} {
			if n := v.Get(path...).Count(); n.Known {
				event.Attributes["tokens_used"] = n.N
			}
		}
	}
	if p.Emit(&transcript.Run{ID: p.dir, Named: true}) {
		p.Emit(event)
	}
}
