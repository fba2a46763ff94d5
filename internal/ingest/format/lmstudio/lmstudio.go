// Package lmstudio reads the chats of LM Studio, a desktop program that runs language models on the user's own machine:
// conversations/**/<chat>.conversation.json, one JSON document for each chat, which is rewritten with each message.
//
// Producer: closed. Its documentation names the directory, its folders and copies of chats, and advises against relying on the
// structure. Checked in December 2026 against that; the source of its SDK (lmstudio-js), which defines what an answer is made of:
// blocks of content, calls, their states, and the statistics of a prediction; an analysis of chats of version 0.3.14; and
// some twenty programs that read or write chats of versions 0.3 and 0.4, seven of which count tokens. Layout and counting:
// docs/formats/lm-studio.md.
//
// Identity: a chat is a run with one conversation, called like its file, which is called by the millisecond in which the chat was
// begun: the document has no id. A step of an answer has one, a time and a random number, that a copy of the chat keeps. What
// is in a step is identified by that and by its text, and a message without steps by the step that follows it.
//
// Usage: each prediction states its tokens, and most readers count all of them; some only those of the versions that are
// selected. Those of others were spent as well. A prediction is identified by its statistics, whose speed and times have many
// decimals: so it counts once if several blocks state it, in copies, and also when it is no longer in the chat.
package lmstudio

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return lmStudio{} }

type lmStudio struct{}

var (
	_ format.Placed     = lmStudio{}
	_ format.Withholder = lmStudio{}
)

// Name returns "lm-studio".
func (lmStudio) Name() string { return "lm-studio" }

// Version counts changes of what Parse yields.
func (lmStudio) Version() int { return 2 }

const roleChat = "chat"

// Places returns where the program keeps chats, the same on every system: now, and until 2024.
func (lmStudio) Places() []format.Place {
	chats := format.Place{Name: "lm-studio", Deletes: "chats and messages that are deleted"}
	return chats.At("~/.lmstudio/"+chatsName, "~/.cache/lm-studio/"+chatsName)
}

// Parse yields the records of one chat.
func (lmStudio) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Rows: format.Rows{Sink: format.Sink{Yield: yield}, AppendText: appendValue}, seen: map[string]int{}}
		p.chat(in)
	}
}

// Text returns the text of one part of an event.
func (lmStudio) Text(role string, raw []byte, _ int) (string, error) {
	return format.TextOf(role, raw, textOf)
}
