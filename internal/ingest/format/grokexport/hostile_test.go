package grokexport

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestManySteps reads an answer of very many steps, none of which stands in its long reasoning, and one with very many cards that do not end.
// Neither takes longer than its size justifies.
func TestManySteps(t *testing.T) {
	const n = 20000
	steps := make([]string, n)
	for i := range steps {
		steps[i] = fmt.Sprintf(`{"tagged_text":{"summary":"step %d"}}`, i)
	}
	for name, c := range map[string]struct {
		trace string
		steps []string
		want  int
	}{
		"steps": {strings.Repeat("all work and no play ", 1<<18), steps, n + 2},
		"cards": {strings.Repeat(cardOpen, 1<<17), nil, 2},
		"read":  {strings.Join(strings.Fields(strings.Repeat("thought ", n)), " "), []string{`{"tagged_text":{"header":"thought thought"}}`}, 2},
	} {
		content := fmt.Sprintf(`{"conversations":[{"conversation":{"id":"c"},"responses":[{"response":{"_id":"r","sender":"assistant","message":"done","thinking_trace":%q,"steps":[%s]}}]}]}`,
			c.trace, strings.Join(c.steps, ","))
		events := 0
		for r, err := range New().Parse(format.Input{Path: "prod-grok-backend.json", Role: roleConversations, Reader: strings.NewReader(content)}) {
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := r.(*transcript.Event); ok {
				events++
			}
		}
		if events != c.want {
			t.Errorf("%s: %d events, want %d", name, events, c.want)
		}
	}
}

// TestAgents reads an answer of five agents whose thoughts are in the steps as well, agent by agent: none of them is read again. What each event
// states of the answer is short, and the response that was shown last may have an id as MongoDB writes it.
func TestAgents(t *testing.T) {
	var agents, steps []string
	for a := range 5 {
		thoughts := ""
		for i := range 20 {
			thought := fmt.Sprintf("agent %d thought %d. ", a, i)
			thoughts += thought
			steps = append(steps, fmt.Sprintf(`{"tagged_text":{"s":%q}}`, thought))
		}
		agents = append(agents, fmt.Sprintf(`{"agent_id":"a%d","thinking_trace":%q}`, a, thoughts))
	}
	content := fmt.Sprintf(`{"conversations":[{"conversation":{"id":"c","leaf_response_id":{"$oid":"r"}},"responses":[`+
		`{"response":{"_id":{"$oid":"q"},"sender":"human","message":"an earlier start"}},`+
		`{"response":{"_id":{"$oid":"r"},"sender":"assistant","model":%q,"message":"done","agent_thinking_traces":[%s],"steps":[%s]}}]}]}`,
		strings.Repeat("m", 1000), strings.Join(agents, ","), strings.Join(steps, ","))
	events := 0
	for r, err := range New().Parse(format.Input{Path: "prod-grok-backend.json", Role: roleConversations, Reader: strings.NewReader(content)}) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := r.(*transcript.Event); ok {
			if hidden := e.Attributes["off_path"] == true; hidden != (events == 0) || len(e.Model) > 300 {
				t.Errorf("%s: off_path %v, a model of %d bytes", e.ID, hidden, len(e.Model))
			}
			events++
		}
	}
	if want := 1 + 5 + 1; events != want {
		t.Errorf("%d events, want %d", events, want)
	}
}

// TestNoList reads files whose conversations are no list, or none.
func TestNoList(t *testing.T) {
	for content, want := range map[string]string{
		`{"projects":[],"conversations":{"id":"c"}}`: "not a conversation at 31+10",
		`{"conversations":null}`:                     "",
		`{"projects":[]}`:                            "",
	} {
		got := ""
		for r := range New().Parse(format.Input{Path: "prod-grok-backend.json", Role: roleConversations, Reader: strings.NewReader(content)}) {
			if p, ok := r.(*transcript.Problem); ok {
				got += fmt.Sprintf("%s at %d+%d", p.Kind, p.Origin.Offset, p.Origin.Length)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", content, got, want)
		}
	}
}

// TestSenders reads a response without a sender, whose text is not that of its steps as well, and results of tools with senders, whose text is all
// that they have.
func TestSenders(t *testing.T) {
	for response, want := range map[string]string{
		`"message":"hi","steps":[{"tagged_text":{"s":"a thought"}}]`: "a thought|hi",
		`"sender":"assistant","message":"hi","steps":[{"tool_usage_results":[{"tool_usage_card_id":"k","sender":"bob","create_time":"noon","body":"a mail"}]}]`: "bob\nnoon\na mail|hi",
		`"sender":"assistant","message":"hi","steps":[{"tool_usage_cards":[{"tool":{"find":{"args":{"sender":"bob","create_time":"noon","about":"sails"}}}}]}]`: "bob\nnoon\nsails|hi",
	} {
		var got []string
		content := `{"conversations":[{"conversation":{"id":"c"},"responses":[{"response":{"_id":"r",` + response + `}}]}]}`
		for r := range New().Parse(format.Input{Path: "prod-grok-backend.json", Role: roleConversations, Reader: strings.NewReader(content)}) {
			if e, ok := r.(*transcript.Event); ok {
				got = append(got, strings.Clone(e.Parts[0].Text))
			}
		}
		if all := strings.Join(got, "|"); all != want {
			t.Errorf("%s: %q, want %q", response, all, want)
		}
	}
}
