package codex

import (
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// document yields the records of a thread's file as the program's first version wrote it, the one in TypeScript
// (codex-cli/src/utils/storage/save-rollout.ts, April to August 2025): {"session": {"timestamp", "id", "instructions"}, "items": [...]}. The
// items are those of later rollouts. Neither they nor the file state models, tokens or times: the only time is that of the last answer, with
// which the whole file was written anew.
func (p *parser) document() {
	p.calls, p.prompts = map[string]string{}, map[uint64]bool{}
	for m, err := range jsontext.Members(p.in.Reader, "items", p.problem) {
		if err != nil {
			p.Fail(err)
			return
		}
		if p.documentPart(m); p.Done() {
			return
		}
	}
	p.begin(nil)
}

// documentPart yields the records of an item, of the session, which is like the header of a rollout of mid-2025, or of a member that no version
// was seen to write.
func (p *parser) documentPart(m jsontext.Member) {
	v, problem := m.Value()
	switch {
	case problem != nil:
		p.problem(problem)
	case v.IsObject() && (m.Item || m.Key == "session"):
		p.line(jsontext.Object{Origin: m.Origin, Value: v})
	default:
		p.begin(&m.Origin)
		p.Emit(&transcript.Event{
			Conversation: p.conversation, Verdict: transcript.Uncounted, Kind: transcript.KindUnknown, Type: m.Key, Origin: m.Origin,
			Parts: []transcript.Part{{Text: lineText(v)}},
		})
	}
}
