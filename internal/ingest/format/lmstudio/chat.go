package lmstudio

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/ingest/timestamp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// parser is the parse of one chat.
type parser struct {
	format.Rows
	run     transcript.Run
	began   transcript.Time // what is older was copied from another chat; not known of a renamed chat
	anchors []string        // of each message, the first step that follows it
	seen    map[string]int  // events, by what identifies them
}

// conversation is the id of the only conversation in a chat.
const conversation = "main"

// chat yields the records of a chat.
func (p *parser) chat(in format.Input) {
	p.Session = strings.TrimSuffix(format.Stem(in.Path), format.Stem(suffix))
	doc, at := p.Document(in.Reader, p.SessionProblem)
	if !doc.Exists() {
		return
	}
	created := doc.Get("createdAt")
	began := milliseconds(p.Session)
	if !began.Valid { // renamed: there may be others of that name
		p.Session = strings.TrimSpace(p.Session + " " + created.Text())
	}
	messages := doc.Get("messages")
	if !messages.IsArray() {
		p.SessionProblem(&transcript.Problem{Kind: "not a chat", Reason: "there is no list of messages", Origin: at})
		return
	}
	p.Row = jsontext.Object{Origin: at, Value: doc}
	p.run = transcript.Run{ID: p.Session, Named: !messages.HasItems(), Title: format.Title(doc.Get("name").Str())}
	_, p.run.Group = chatsOf(in.Path, false)
	p.run.Started = cmp.Or(created.TimeOrMilli(), began)
	if began.Valid {
		p.began = p.run.Started
		if began.UnixMicro > p.began.UnixMicro {
			p.began = began
		}
	}
	p.survey(doc, messages)
	p.emitRun()
	for key, member := range doc.Fields() {
		switch {
		case key == "messages" && member.Offset() == messages.Offset():
			p.messages(messages)
		case key == "perChatPredictionConfig":
			if said := systemPrompt(member); !bytes.Equal(said.Raw(), doc.Get("systemPrompt").Raw()) {
				p.beside(transcript.KindSystem, "systemPrompt", said)
			}
		case key == "systemPrompt":
			p.beside(transcript.KindSystem, key, member)
		case key == "clientInput" || key == "notes":
			p.beside(transcript.KindNotice, key, member)
		}
	}
}

// milliseconds returns the time that a chat or a step is called by, which must have the 13 digits of our days.
func milliseconds(digits string) transcript.Time {
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || len(digits) != 13 {
		return transcript.Time{}
	}
	return timestamp.UnixMilli(int64(n))
}

// timeOf returns when a step began, by its identifier.
func timeOf(step string) transcript.Time {
	at, _, _ := strings.Cut(step, "-")
	return milliseconds(at)
}

// isHome reports whether a step was made in this chat, as far as it shows: a duplicate is younger than what it has taken over, and a
// renamed chat may be a copy of one that is called by its time.
func (p *parser) isHome(step string) bool {
	return p.began.Valid && timeOf(step).UnixMicro >= p.began.UnixMicro
}

// isUnique reports whether no other step has the identifier: after its time it has a random number.
func isUnique(step string) bool {
	const random = 8 // digits at least; those of the program have some 16
	_, rest, _ := strings.Cut(step, "-")
	return len(rest) >= random && timeOf(step).Valid
}

// systemPrompt returns the one among the settings of a chat.
func systemPrompt(settings jsontext.Value) jsontext.Value {
	for field := range settings.Get("fields").Items() {
		if field.Get("key").Is("llm.prediction.systemPrompt") {
			return field.Get("value")
		}
	}
	return jsontext.Value{}
}

// beside yields what a chat has beside its messages.
func (p *parser) beside(kind transcript.Kind, typ string, v jsontext.Value) {
	if v.Exists() && strings.TrimSpace(textOf(v)) != "" {
		p.Within(v, func(jsontext.Value) { p.Uncounted(kind, typ, transcript.Time{}) })
	}
}

// versionsOf yields the versions of a message with their numbers: of one without versions, the message itself.
func versionsOf(message jsontext.Value) iter.Seq2[int, jsontext.Value] {
	return func(yield func(int, jsontext.Value) bool) {
		if versions := message.Get("versions"); versions.Exists() {
			versions.Numbered()(yield)
		} else if message.Get("content").Exists() || message.Get("steps").IsArray() {
			yield(0, message)
		}
	}
}

// selected returns the number of the version that is shown.
func selected(message jsontext.Value) int {
	n, _ := message.Get("currentlySelected").Int()
	for k := range versionsOf(message) {
		if int64(k) == n {
			return k
		}
	}
	return 0
}

// survey notes what a chat states about itself in its messages, and which step follows each of them.
func (p *parser) survey(doc, messages jsontext.Value) {
	r := &p.run
	for message := range messages.Items() {
		shown, first := selected(message), ""
		for k, version := range versionsOf(message) {
			for step := range version.Get("steps").Items() {
				id := step.Get("stepIdentifier").Str()
				format.Extend(&r.Started, &r.Ended, timeOf(id))
				if first == "" && isUnique(id) {
					first = id
				}
				if model := modelOf(step); model != "" && k == shown {
					r.Model = model
				}
			}
			if k == shown && r.Title == "" && roleOf(version, message) == "user" {
				r.Title = format.Title(textOf(version.Get("content")))
			}
		}
		p.anchors = append(p.anchors, first)
	}
	next := ""
	for n, first := range slices.Backward(p.anchors) {
		p.anchors[n] = next
		next = cmp.Or(first, next)
	}
	last := doc.Get("lastUsedModel")
	r.Model = cmp.Or(r.Model, last.Get("identifier").Str(), last.Get("indexedModelIdentifier").Str())
	for _, key := range []string{"userLastMessagedAt", "assistantLastMessagedAt"} {
		at := doc.Get(key).MilliTime()
		format.Extend(&r.Started, &r.Ended, at)
		r.Rank = max(r.Rank, timestamp.RankAt(at))
	}
	r.Attributes.Set("preset", doc.Get("preset").Str())
	if doc.Get("pinned").Bool() == transcript.Yes {
		r.Attributes.Set("pinned", true)
	}
}

// emitRun yields the run and its conversation. A chat without messages does not count; when they were deleted, it replaces what it
// was before. The rank is the time of the last message, which stays when messages are deleted: of a chat that was moved, a file of
// the same name is left in the archive, which the program no longer writes.
func (p *parser) emitRun() {
	run := p.run
	p.Begun = !run.Named
	p.Emit(&run)
	p.Emit(&transcript.Conversation{
		ID: conversation, Run: run.ID, Rank: run.Rank, Silent: run.Named,
		Title: run.Title, Model: run.Model, Started: run.Started, Ended: run.Ended,
	})
}

// messages yields the messages of a chat, each with its versions.
func (p *parser) messages(messages jsontext.Value) {
	for n, message := range messages.Numbered() {
		if p.Done() {
			return
		}
		p.Within(message, func(message jsontext.Value) {
			shown, all := selected(message), 0
			for k, v := range versionsOf(message) {
				all++
				p.Within(v, func(v jsontext.Value) {
					m := &version{parser: p, n: n, k: k, off: k != shown, role: roleOf(v, message), calls: map[string]call{}}
					m.read(v)
				})
			}
			if all == 0 {
				p.SessionProblem(&transcript.Problem{
					Kind: "not a message", Reason: "there are neither versions nor content", Origin: p.Row.Origin,
				})
				if textOf(message) != "" {
					p.Uncounted(transcript.KindUnknown, "", transcript.Time{})
				}
			}
		})
	}
}
