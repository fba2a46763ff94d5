package awf

import (
	"fmt"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// steps pairs the starts and ends of a run's steps. Parallel steps interleave, so an end closes the oldest open step with
// the same path and iteration.
type steps struct {
	open  []*step
	count map[string]int // starts seen, by path and iteration
}

// step is an open step.
type step struct {
	transcript.Step
	place    string // path and iteration
	fromCall bool   // opened by step.call_workflow.started
}

// observe updates the steps from one line and yields the step that it starts, ends or names a child of.
func (s *steps) observe(c *conversation, l *line, out *format.Sink) {
	if l.class() != "step" {
		return
	}
	place := l.path.Str() + "#" + l.iteration.Text()
	var st *step
	switch l.kind {
	case "step.started":
		st = s.start(c, l, place)
	case "step.call_workflow.started":
		if st = s.find(place); st == nil {
			st = s.start(c, l, place)
			st.fromCall = true
		}
	case "step.completed", "step.call_workflow.completed":
		st = s.find(place)
		if st == nil {
			st = s.start(c, l, place)
			st.Started = transcript.Time{}
		} else if l.kind != "step.completed" && !st.fromCall {
			break // its own step.completed follows
		}
		s.end(st, l)
	default:
		return
	}
	if child := l.child.Str(); child != "" {
		st.ChildRun = child
	}
	copied := st.Step
	out.Emit(&copied)
}

func (s *steps) start(c *conversation, l *line, place string) *step {
	if s.count == nil {
		s.count = map[string]int{}
	}
	s.count[place]++
	st := &step{place: place, Step: transcript.Step{
		Run:          c.run,
		Conversation: c.id,
		Key:          fmt.Sprintf("%s/%s.%d", c.id, place, s.count[place]),
		Parent:       s.parent(),
		Name:         l.stepName(),
		Kind:         l.body.kind.Str(),
		Path:         l.path.Str(),
		Iteration:    l.iteration.Count(),
		Started:      l.now,
		Rank:         rankTranscript,
		Origin:       l.origin,
	}}
	s.open = append(s.open, st)
	return st
}

func (s *steps) end(st *step, l *line) {
	st.Ended = l.now
	st.Error = l.body.err.Text()
	st.Outcome = transcript.Succeeded
	if st.Error != "" {
		st.Outcome = transcript.Failed
	}
	for i, open := range s.open {
		if open == st {
			s.open = append(s.open[:i], s.open[i+1:]...)
			return
		}
	}
}

func (s *steps) find(place string) *step {
	for _, open := range s.open {
		if open.place == place {
			return open
		}
	}
	return nil
}

// parent returns the key of the step that encloses one starting now: the innermost open container. Inside a branch of a
// parallel step it returns "", since no line says which branch a new step belongs to.
func (s *steps) parent() string {
	parent, parallel := "", false
	for _, open := range s.open {
		if !isContainer(open.Kind) {
			continue
		}
		if parallel {
			return ""
		}
		parent, parallel = open.Key, open.Kind == "parallel"
	}
	return parent
}

// isContainer reports whether steps of a kind contain other steps.
func isContainer(kind string) bool {
	switch kind {
	case "parallel", "for_each", "foreach", "while", "loop":
		return true
	}
	return false
}

// assignStep assigns a message or call to the open agent step. Under parallel there may be several; then the event gets
// step_ambiguous and no step.
func (s *steps) assignStep(e *transcript.Event) {
	var agent *step
	for _, open := range s.open {
		if open.Kind != "agent" {
			continue
		}
		if agent != nil {
			e.Attributes["step_ambiguous"] = true
			return
		}
		agent = open
	}
	if agent == nil {
		return
	}
	e.Step = agent.Name
	e.Attributes.Set("step_path", agent.Path)
	if n := agent.Iteration; n.Known && n.N != 0 {
		e.Attributes["step_iteration"] = n.N
	}
}
