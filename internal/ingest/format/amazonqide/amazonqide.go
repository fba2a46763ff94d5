// Package amazonqide reads the chat history that Amazon Q Developer keeps in editors: Visual Studio Code, JetBrains, Visual Studio and Eclipse.
// (Its command line has a database of its own, which package kiro reads.)
//
// Producer: checked in December 2026 against several versions of the history, of the trimming of it and of the agent's loop in AWS's language
// servers from spring 2025 on, against the history of the toolkit for Visual Studio Code before, and against LokiJS, whose form the files have.
// Compared with two readers of these files. Layout and counting: docs/formats/amazon-q-ide.md.
//
// Identity: what the program shows as one chat, a tab, is a run with one conversation, called by its historyId. The file of a workspace has all
// of its tabs, and is written anew with each message. Messages have no ids: they are identified by type, time and text, calls and results by the
// id of the call. So what the program trims, and what another editor's window overwrites, still counts, and a copy does not.
//
// Usage: neither tokens nor credits are stated.
package amazonqide

import (
	"fmt"
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// New returns the format.
func New() format.Format { return amazonQ{} }

type amazonQ struct{}

var (
	_ format.Placed     = amazonQ{}
	_ format.Withholder = amazonQ{}
)

// Name returns "amazon-q-ide".
func (amazonQ) Name() string { return "amazon-q-ide" }

// Version counts changes of what Parse yields.
func (amazonQ) Version() int { return 1 }

// roleHistory is the role of all files: the tabs of a workspace.
const roleHistory = "history"

// Places returns where the editors keep the history, on every system.
func (amazonQ) Places() []format.Place {
	return []format.Place{{
		Name: "amazon-q-ide", Path: "~/" + historyDir,
		Deletes: "the oldest messages when all histories have more than 200 MB, and chats that are cleared, compacted or deleted",
	}}
}

// The lists that lead to a message: of the database's collections, of a collection's tabs, of a tab's conversations, and of the messages in these.
const (
	listCollections   = "collections"
	listTabs          = "data"
	listConversations = "conversations"
	listMessages      = "messages"
)

// The depths of objects on this way.
const (
	depthDatabase = iota
	depthCollection
	depthTab
	depthConversation
)

// Parse yields the records of one file.
func (amazonQ) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		p := &parser{Sink: format.Sink{Yield: yield}}
		problem := func(pr *transcript.Problem) {
			pr.Run = p.tab.run.ID
			p.Emit(pr)
		}
		for m, err := range jsontext.Nested(in.Reader, []string{listCollections, listTabs, listConversations, listMessages}, problem) {
			if err != nil {
				p.Fail(err)
				return
			}
			switch {
			case m.Opens:
				p.open(m)
			case m.Item && m.Depth == depthConversation:
				p.message(m)
			case m.Item:
				problem(&transcript.Problem{Kind: "not an object", Reason: fmt.Sprintf("an element of %s is no object", m.Key), Origin: m.Origin})
			default:
				p.fact(m)
			}
			if p.Done() {
				return
			}
		}
		p.endTab()
	}
}

// parser is one parse of one file.
type parser struct {
	format.Sink
	workspace string
	tab       tab

	base   jsontext.Value // the message whose bytes values are located in
	origin transcript.Origin
	lend   format.Lender // of the events of a message
}
