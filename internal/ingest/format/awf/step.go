package awf

import (
	"fmt"
	"github.com/txarchive/txarchive/internal/ingest/format"

	"github.com/txarchive/txarchive/internal/transcript"
)

// steps pairs the starts and ends of a run's steps. Parallel steps interleave, so an end goes to the oldest open
// step of its path and iteration.
type steps struct {
	open  []*step
	count map[string]int // starts seen, by path and iteration
}

// step is an open step.
type step struct {
	transcript.Step
	place string // path and iteration
	calls bool   // opened by step.call_workflow.started
}

// line takes one line and tells the step that it starts, ends or names a child of.
func (s *steps) line(c *conversation, l *line, out *format.Sink) {
	if l.class() != "step" {
		return
	}
	place := l.path.Str() + "#" + l.iteration.Text()
	var told *step
	switch l.kind {
	case "step.started":
		told = s.start(c, l, place)
	case "step.call_workflow.started":
		if told = s.find(place); told == nil {
			told = s.start(c, l, place)
			told.calls = true
		}
	case "step.completed", "step.call_workflow.completed":
		told = s.find(place)
		if told == nil {
			told = s.start(c, l, place)
			told.Started = transcript.Time{}
		} else if l.kind != "step.completed" && !told.calls {
			break // its own step.completed follows
		}
		s.end(told, l)
	default:
		return
	}
	if child := l.child.Str(); child != "" {
		told.ChildRun = child
	}
	copied := told.Step
	out.Emit(&copied)
}

func (s *steps) start(c *conversation, l *line, place string) *step {
	if s.count == nil {
		s.count = map[string]int{}
	}
	s.count[place]++
	made := &step{place: place, Step: transcript.Step{
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
	s.open = append(s.open, made)
	return made
}

func (s *steps) end(told *step, l *line) {
	told.Ended = l.now
	told.Error = l.body.err.Text()
	told.Outcome = transcript.Succeeded
	if told.Error != "" {
		told.Outcome = transcript.Failed
	}
	for i, open := range s.open {
		if open == told {
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

// parent gives the key of the step around one that starts now: the newest open one that holds others. Inside
// one branch of a parallel step nothing says which branch a new step belongs to.
func (s *steps) parent() string {
	parent, parallel := "", false
	for _, open := range s.open {
		if !holds(open.Kind) {
			continue
		}
		if parallel {
			return ""
		}
		parent, parallel = open.Key, open.Kind == "parallel"
	}
	return parent
}

func holds(kind string) bool {
	switch kind {
	case "parallel", "for_each", "foreach", "while", "loop":
		return true
	}
	return false
}

// attribute ties a message or call to the agent step that is open. Under parallel there may be several; then
// the event says so and names none.
func (s *steps) attribute(e *transcript.Event) {
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
