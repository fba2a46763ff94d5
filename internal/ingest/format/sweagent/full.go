package sweagent

import (
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// full yields the records of a trajectory of SWE-agent. What a retry agent writes at its top is a copy of the attempt that it chose.
func (p *parser) full(doc jsontext.Value) {
	if doc.Get("attempts").IsArray() {
		p.retried(doc)
		return
	}
	a := readAttempt(doc)
	if a.anchor == "" {
		p.nothing(doc, a.info)
		return
	}
	name := p.run
	if !isAttempt(p.in.Path) { // attempts have the name in common
		name += " " + a.anchor[:8]
	}
	p.emitRun(doc, name, &a)
	p.attempt(&a, -1)
}

// retried yields the attempts of a retry agent, and what it states of all, in the order of the file.
func (p *parser) retried(doc jsontext.Value) {
	var attempts []attempt
	for v := range doc.Get("attempts").Items() {
		attempts = append(attempts, readAttempt(v))
	}
	first := &attempt{}
	if len(attempts) > 0 {
		first = &attempts[0]
	}
	p.emitRun(doc, p.run, first)
	list, info := doc.Get("attempts"), doc.Get("info")
	for _, v := range doc.Fields() {
		switch v {
		case list:
			for i := range attempts {
				p.attempt(&attempts[i], i)
			}
		case info:
			p.about(info, first.anchor)
		}
	}
}

// emitRun yields the run, which is named by its first attempt.
func (p *parser) emitRun(doc jsontext.Value, name string, first *attempt) {
	run := runOf(doc, doc.Get("info"))
	run.ID, run.Local, run.Anchor, run.Anchored = name, true, first.anchor, first.anchor != ""
	if first.value.Exists() {
		fill(run, first.value)
	}
	if p.run = name; !isAttempt(p.in.Path) {
		run.Rank = 1
	}
	p.Emit(run)
}

// nothing yields a document in which nothing was said: the run failed before that, or has not begun.
func (p *parser) nothing(doc, info jsontext.Value) {
	run := runOf(doc, info)
	run.ID, run.Local, run.Named = p.run, true, true
	p.Emit(run)
	p.emptyRow(doc, "", transcript.KindUnknown)
}

// readAttempt reads the parts of an attempt and how it began.
func readAttempt(v jsontext.Value) attempt {
	a := attempt{value: v, history: v.Get("history"), trajectory: v.Get("trajectory"), info: v.Get("info")}
	began := newAnchor()
	for item := range a.history.Items() {
		if began.add(item.Get("content")); isAnswer(item) {
			break
		}
	}
	for step := range a.trajectory.Items() {
		began.add(step.Get("action"), step.Get("observation"), step.Get("response"), step.Get("thought"), step.Get("execution_time"))
		break
	}
	if a.history.HasItems() || a.trajectory.HasItems() {
		a.anchor = began.String()
	}
	return a
}

func isDemo(item jsontext.Value) bool { return item.Get("is_demo").Bool() == transcript.Yes }

// isAnswer reports whether an entry of a history is what the model said.
func isAnswer(item jsontext.Value) bool { return item.Get("role").Is("assistant") && !isDemo(item) }

// attempt yields the conversation of one attempt with its tokens. n is its number, negative if there is only one.
func (p *parser) attempt(a *attempt, n int) {
	if a.anchor == "" || p.Done() {
		return
	}
	facts := runOf(a.value, a.info)
	fill(facts, a.value)
	p.conversation, p.model = a.anchor, facts.Model
	p.open, p.calls, p.answered, p.names = "", 0, false, map[string]string{}
	c := &transcript.Conversation{ID: a.anchor, Run: p.run, Title: facts.Title, Model: facts.Model, Project: facts.Project, Version: facts.Version, Status: facts.Status}
	if n >= 0 {
		c.Attributes.Set("attempt", int64(n))
	}
	p.Emit(c)
	if a.history.HasItems() {
		p.history(a)
	} else {
		p.steps(a)
	}
	p.row(a.info, "info", transcript.KindLifecycle)
	p.patch(a)
	p.total(a.info.Get("model_stats"), a.anchor+" total", "", isEstimated(a.value), transcript.Counted)
}

// about yields what a retry agent states of all attempts: the review of them and its tokens. The total repeats those of the attempts.
func (p *parser) about(info jsontext.Value, anchor string) {
	p.conversation, p.model = "", ""
	p.row(info, "info", transcript.KindLifecycle)
	p.total(info.Get("rloop_model_stats"), anchor+" review", "reviewer", true, transcript.Counted)
	p.total(info.Get("model_stats"), anchor+" all", "", true, transcript.DerivedTotal)
}

// history yields the events of an attempt, and what its trajectory has besides.
func (p *parser) history(a *attempt) {
	steps := newSteps(a.trajectory)
	var last jsontext.Value // the step of the answer before
	for n, item := range a.history.Numbered() {
		if p.Done() {
			return
		}
		p.unsaid(last, item, steps.at)
		last = jsontext.Value{}
		if isAnswer(item) {
			last = p.until(steps, item)
		}
		p.item(item, strconv.Itoa(n))
	}
	p.unsaid(last, jsontext.Value{}, steps.at)
	for len(steps.left) > 0 {
		p.rejected(steps)
	}
}

// item yields the events of one entry of the history.
func (p *parser) item(v jsontext.Value, id string) {
	content := v.Get("content")
	switch role := v.Get("role").Word(); {
	case isDemo(v):
		if !hasWords(content) { // of an answer that is only a call
			content = v
		}
		e := p.event(content, id, transcript.KindSystem, "system")
		e.Type = "demonstration"
		p.Emit(e)
	case role == "system":
		p.say(v, content, id, transcript.KindSystem, role)
	case role == "assistant":
		p.answer(v, id)
	case role == "tool" && callOf(v) != "":
		p.result(v, content, id, callOf(v))
	case (role == "user" || role == "tool") && p.open != "":
		p.result(v, content, id, p.open)
	case role == "user" && !p.answered:
		p.say(v, content, id, transcript.KindMessage, role)
	case role == "user" || role == "tool": // the program's, to an answer without an action
		p.say(v, content, id, transcript.KindSystem, "system")
	default:
		p.emptyRow(v, id, transcript.KindUnknown)
	}
}

// callOf returns the id of the call that an entry answers: there is never more than one.
func callOf(v jsontext.Value) string {
	for id := range v.Get("tool_call_ids").Items() {
		return id.Str()
	}
	return v.Get("tool_call_id").Str()
}

// answer yields an answer of the model: reasoning, what it says, its call. The program itself writes the last one if it stops the attempt.
func (p *parser) answer(v jsontext.Value, id string) {
	p.answered, p.open = true, ""
	content, action := v.Get("content"), v.Get("action")
	if isExit(content, action) {
		p.say(v, content, id, transcript.KindSystem, "system")
		return
	}
	p.reasoning(v, id)
	if !hasWords(content) {
		content = v.Get("thought")
	}
	p.answerText(content, id)
	switch calls := v.Get("tool_calls"); {
	case calls.HasItems():
		p.toolCalls(calls, id)
	case !action.IsBlank():
		p.action(action, id)
	case !hasWords(content):
		p.emptyRow(v, id, transcript.KindNotice)
	}
}

// isExit reports whether an answer is what the program writes for a reason to stop.
func isExit(content, action jsontext.Value) bool {
	text := content.Str()
	return (action.IsBlank() || strings.HasPrefix(action.Str(), "exit_")) &&
		(strings.HasPrefix(text, "Exit due to ") || strings.HasPrefix(text, "Exiting due to ") || strings.HasPrefix(text, "exit due to "))
}

// tools are SWE-agent's own commands. Everything else that an action without a tool call says is a command of the shell.
var tools = map[string]bool{
	"open": true, "goto": true, "scroll_up": true, "scroll_down": true, "create": true, "edit": true, "insert": true, "append": true, "undo_edit": true, "search_dir": true,
	"search_file": true, "find_file": true, "filemap": true, "str_replace_editor": true, "submit": true, "exit_forfeit": true, "view_image": true,
}

// action yields an action that is text.
func (p *parser) action(v jsontext.Value, id string) {
	name, _, _ := strings.Cut(strings.TrimSpace(v.Str()), " ")
	if name, _, _ = strings.Cut(name, "\n"); !tools[name] {
		name = shell
	}
	p.Emit(p.textCall(v, id+"/action", name))
}

// isEstimated reports whether the tokens of an attempt are what the program has counted itself: the versions that also write their configuration do.
func isEstimated(v jsontext.Value) bool {
	return v.Get("replay_config").Exists() || v.Get("info", "swe_agent_version").Exists()
}

// patch yields what was submitted, unless the end of the conversation has it.
func (p *parser) patch(a *attempt) {
	patch := a.info.Get("submission")
	for _, list := range []jsontext.Value{a.history, a.trajectory} {
		var before, last jsontext.Value
		for v := range list.Items() {
			before, last = last, v
		}
		for _, v := range []jsontext.Value{before, last} {
			if has(v.Get("content"), patch) || has(v.Get("observation"), patch) {
				return
			}
		}
	}
	p.row(patch, "submission", transcript.KindLifecycle)
}
