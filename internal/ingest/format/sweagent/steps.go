package sweagent

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// steps are the steps of a trajectory that no answer in the history has been found for.
type steps struct {
	left []step
	at   int  // number of the step that was taken last
	told bool // that was an answer that the program did not accept
}

// step is one step, with the strings by which its answer is found, as they are written.
type step struct {
	jsontext.Value
	response, action []byte
}

func newSteps(trajectory jsontext.Value) *steps {
	s := &steps{at: -1}
	for v := range trajectory.Items() {
		s.left = append(s.left, step{v, v.Get("response").Body(), v.Get("action").Body()})
	}
	return s
}

// take takes a step. After a rejected answer its query ends with what the model was told about that.
func (p *parser) take(s *steps) jsontext.Value {
	v := s.left[0].Value
	s.left = s.left[1:]
	if s.at++; s.told {
		p.row(lastOf(v.Get("query")).Get("content"), stepID(s.at)+"/query", transcript.KindNotice)
	}
	s.told = false
	return v
}

func stepID(n int) string { return "step/" + strconv.Itoa(n) }

// mostRejected is the number of steps that are searched for an answer. The program asks at most three times again, unless it is told otherwise.
const mostRejected = 16

// find returns how many steps come before that of an answer, -1 if it is not there.
func (s *steps) find(item jsontext.Value) int {
	content, action := item.Get("content").Body(), item.Get("action").Body()
	return slices.IndexFunc(s.left[:min(len(s.left), mostRejected)], func(one step) bool {
		return bytes.Equal(one.response, content) && (len(action) == 0 || bytes.Equal(one.action, action))
	})
}

// until yields the steps before that of an answer in the history, which are answers that were rejected, and returns the answer's own.
func (p *parser) until(s *steps, item jsontext.Value) jsontext.Value {
	n := s.find(item)
	if n < 0 {
		return jsontext.Value{}
	}
	for range n {
		p.rejected(s)
	}
	return p.take(s)
}

func lastOf(list jsontext.Value) (last jsontext.Value) {
	for v := range list.Items() {
		last = v
	}
	return last
}

// rejected yields a step that is not in the history.
func (p *parser) rejected(s *steps) {
	p.row(p.take(s), stepID(s.at), transcript.KindNotice)
	s.told = true
}

// unsaid yields the words of an answer's step that the history does not have. next is the entry after the answer, with the output as the model was sent it.
func (p *parser) unsaid(step, next jsontext.Value, n int) {
	id := stepID(n)
	if !step.Get("reasoning_content").IsBlank() {
		p.row(step.Get("reasoning_content"), id+"/reasoning", transcript.KindReasoning)
	}
	output := step.Get("observation")
	if text := strings.TrimSpace(output.Str()); text != "" && !strings.Contains(next.Get("content").Str(), text) {
		p.row(output, id+"/observation", transcript.KindNotice)
	}
	p.row(step.Get("extra_info"), id+"/extra", transcript.KindNotice)
}

// steps yields the events of an attempt without a history.
func (p *parser) steps(a *attempt) {
	for n, step := range a.trajectory.Numbered() {
		if p.Done() {
			return
		}
		if n == 0 {
			p.prompts(step.First("query", "messages"))
		}
		p.step(step, strconv.Itoa(n))
	}
}

// prompts yields what the model was sent with its first step.
func (p *parser) prompts(query jsontext.Value) {
	for n, item := range query.Numbered() {
		p.item(item, "query/"+strconv.Itoa(n))
	}
}

// step yields the events of one step: an answer, and what came out of it.
func (p *parser) step(step jsontext.Value, id string) {
	p.answered, p.open = true, ""
	response, action := step.Get("response"), step.Get("action")
	if response.IsBlank() {
		response = step.Get("thought")
	}
	p.reasoning(step, id)
	if isExit(response, action) {
		p.say(response, response, id, transcript.KindSystem, "system")
	} else {
		p.answerText(response, id)
		if !action.IsBlank() {
			p.action(action, id)
		}
	}
	switch output := step.Get("observation"); {
	case !hasWords(output):
	case p.open != "":
		p.result(output, output, id+"/observation", p.open)
	default:
		p.say(output, output, id+"/observation", transcript.KindSystem, "system")
	}
}
