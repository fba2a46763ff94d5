package amazonqide

import (
	"maps"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// tab is what is known of a tab so far. What a tab states stands before and behind its messages.
type tab struct {
	run     transcript.Run
	title   string          // of the first prompt
	created transcript.Time // when the database got it
	updated transcript.Time
	ids     []string // of its conversations: each time that the editor goes on with a tab, the service begins another
	refused bool     // a problem says that it has no id
	opened  bool     // the run was emitted
	begun   bool     // it has a message
	any     bool     // it has an event that counts
	tools   map[string]string
	seen    map[string]bool // ids of events
	said    map[string]int  // how often a message was there
	calls   int             // without an id
}

// The bounds of what is taken from a file that somebody else made.
const (
	maxID  = 256
	maxIDs = 20
)

// open begins an element on the way to the messages.
func (p *parser) open(m jsontext.Member) {
	if m.Key == listTabs || m.Depth == depthDatabase {
		p.endTab()
		p.tab = tab{tools: map[string]string{}, seen: map[string]bool{}, said: map[string]int{}}
	}
}

// fact notes a member of the database, of a tab or of a conversation.
func (p *parser) fact(m jsontext.Member) {
	if !isFact(m.Depth, m.Key) {
		return
	}
	v, err := jsontext.Parse(m.Bytes)
	if err != nil {
		p.Emit(&transcript.Problem{Run: p.tab.run.ID, Kind: "bad json", Reason: err.Error(), Origin: m.Origin})
		return
	}
	switch m.Depth {
	case depthDatabase:
		p.workspace = strings.Clone(workspaceOf(v.Str()))
	case depthTab:
		p.tab.fact(m.Key, v)
	case depthConversation:
		p.tab.conversationFact(m.Key, v)
	}
}

// isFact reports whether a member is read: others may be large.
func isFact(depth int, key string) bool {
	switch depth {
	case depthDatabase:
		return key == firstMember
	case depthTab:
		switch key {
		case "historyId", "title", "tabType", "updatedAt", "modelId", "pairProgrammingMode", "meta":
			return true
		}
	case depthConversation:
		return key == "conversationId" || key == "clientType"
	}
	return false
}

func (t *tab) fact(key string, v jsontext.Value) {
	switch key {
	case "historyId":
		if id := v.Str(); len(id) <= maxID && t.run.ID == "" {
			t.run.ID = id
		}
	case "title":
		if title := format.Title(v.Str()); title != "Amazon Q Chat" && title != "Amazon Q Chat Agent" {
			t.run.Title = title
		}
	case "tabType":
		if typ := v.Str(); typ != "cwc" { // a chat
			t.run.Attributes.Set("type", typ)
		}
	case "updatedAt":
		t.updated = v.TimeOrMilli()
	case "modelId":
		t.run.Model = v.Str()
	case "pairProgrammingMode":
		if on := v.Bool(); on != transcript.Unstated {
			t.run.Attributes.Set("pair_programming", on == transcript.Yes)
		}
	case "meta":
		t.created = v.Get("created").MilliTime()
	}
}

func (t *tab) conversationFact(key string, v jsontext.Value) {
	switch s := v.Str(); {
	case s == "" || len(s) > maxID:
	case key == "clientType":
		t.run.Attributes.Set("client", s)
	case len(t.ids) < maxIDs && !slices.Contains(t.ids, s):
		t.ids = append(t.ids, s)
	}
}

// emitRun yields the run with its conversation: before the first event, and at the end with what is known by then.
func (p *parser) emitRun() {
	t := &p.tab
	run := t.run
	run.Attributes = maps.Clone(run.Attributes)
	run.Rank, _ = format.ExportRank(t.updated)
	if p.workspace != noWorkspace {
		run.Group = p.workspace
	}
	if run.Title == "" {
		run.Title = t.title
	}
	if t.created.Valid && (!run.Started.Valid || t.created.UnixMicro < run.Started.UnixMicro) {
		run.Started = t.created
	}
	if t.updated.Valid && t.updated.UnixMicro > run.Ended.UnixMicro {
		run.Ended = t.updated
	}
	run.Attributes.Set("conversation_ids", strings.Join(t.ids, " "))
	if !t.any { // nobody has said anything, or nothing is left: an earlier version of the file may have it
		run.Named = true
		p.Emit(&run)
		return
	}
	t.opened = true
	p.Emit(&run)
	p.Emit(&transcript.Conversation{
		ID: run.ID, Run: run.ID, Shared: true, Rank: run.Rank, Title: run.Title, Project: run.Project, Model: run.Model, Started: run.Started, Ended: run.Ended,
	})
}

// endTab yields what is known of the tab by now.
func (p *parser) endTab() {
	if p.tab.run.ID != "" && !p.Done() {
		p.emitRun()
	}
	p.tab = tab{}
}
