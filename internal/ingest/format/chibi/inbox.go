package chibi

import (
	"encoding/hex"
	"iter"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// pending is one line of an inbox: a message that waits for the receiver's next prompt.
type pending struct {
	id, from, to string
	time         transcript.Time
	text         string
}

func readPending(v jsontext.Value) pending {
	var m pending
	var text []byte
	for key, value := range v.Fields() {
		switch key {
		case "id":
			m.id = value.Text()
		case "timestamp":
			m.time = readTime(value)
		case "from":
			m.from = value.Text()
		case "to":
			m.to = value.Text()
		default:
			text = jsontext.AppendStrings(text, value)
		}
	}
	m.text = string(text)
	return m
}

// parseInbox yields the waiting messages as uncounted rows and as links. A sender that is not a context (a build server)
// remains just a name.
func parseInbox(in format.Input, out *emitter) {
	out.emitNamedRun()
	for o := range out.Each(jsontext.Objects(in.Reader, "", out.problem)) {
		m := readPending(o.Value)
		a := transcript.Attributes{}
		a.Set("from", m.from)
		a.Set("to", m.to)
		out.Emit(&transcript.Event{
			Run: out.run, ID: m.id, Verdict: transcript.Uncounted, Kind: transcript.KindMessage, Role: "user",
			Type: "inbox", Time: m.time, Origin: o.Origin, Parts: []transcript.Part{{Text: m.text}}, Attributes: a,
		})
		if m.from == "" {
			continue
		}
		out.Emit(&transcript.Link{
			Kind: "message",
			From: transcript.RunEnd(m.from), To: transcript.RunEnd(out.run), // under whatever name the sender knew it
			ID: m.id, Time: m.time, Origin: o.Origin,
		})
	}
}

// The lines around inbox messages that were inserted before a prompt.
const (
	inboxBegin = "--- INBOX MESSAGES ---"
	inboxEnd   = "--- END INBOX ---"
)

// injected yields the sender of each inbox message in a prompt: the lines between the two marks that start
// with "[From: name]".
func injected(prompt string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			_, rest, ok := strings.Cut(prompt, inboxBegin)
			block, after, closed := strings.Cut(rest, inboxEnd)
			if !ok || !closed {
				return
			}
			for line := range strings.Lines(block) {
				name, marked := strings.CutPrefix(line, "[From: ")
				name, _, ends := strings.Cut(name, "]")
				if marked && ends && name != "" && !yield(name) {
					return
				}
			}
			prompt = after
		}
	}
}

// prompts identifies prompts that deliver messages by their content: a window that is saved again repeats them under new
// ids. Equal prompts of one file are identified by their ordinal, too. It holds the ordinal of each prompt and, without an
// id, the number of those with a content.
type prompts map[[12]byte]int

func (seen prompts) id(text, id string) string {
	content, prompt := digest(text), digest(text, id)
	n, known := seen[prompt]
	if !known {
		n = seen[content]
		seen[content], seen[prompt] = n+1, n
	}
	return hex.EncodeToString(content[:]) + "." + strconv.Itoa(n)
}
