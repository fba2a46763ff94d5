package schema

import (
	"maps"
	"strconv"

	"github.com/txarchive/txarchive/internal/transcript"
)

// What one original states of a run and of its conversation is the same, mostly, and what the run's row has. Archives of small
// originals had it four times, a third of all that they have beside words and events.

// brief begins a statement that leaves out what the row of its run says. It has the zones of both times, which the row lacks.
const brief = `{"Brief":`

// StatedRun and StatedConversation are SQL for run_claims.stated (k) and transcripts.stated (t) with all that is stated; r is
// the run.
const (
	StatedRun = `CASE WHEN k.stated GLOB '` + brief + `*' THEN json_patch(json_object('Group', r."group", 'Branch', r.branch, 'Flow', r.flow, 'Agent', r.agent,
	'Model', r.model, 'Host', r.host, 'Version', r.version, 'Outcome', r.outcome, 'Error', r.error, ` + inBoth + `, k.stated ->> '$.Brief[0]'),
	'Ended', json_array(r.ended, k.stated ->> '$.Brief[1]')), k.stated) ELSE k.stated END`
	StatedConversation = `CASE WHEN t.stated GLOB '` + brief + `*' THEN json_patch(json_object(` + inBoth + `, t.stated ->> '$.Brief[0]'),
	'Ended', json_array(r.ended, t.stated ->> '$.Brief[1]')), t.stated) ELSE t.stated END`

	inBoth = `'Title', r.title, 'Status', r.status, 'Attributes', json(r.attributes), 'Started', json_array(r.started`
)

// IsBrief is the condition that a statement leaves out what the row of its run says.
func IsBrief(column string) string { return column + " GLOB '" + brief + "*'" }

// MarshalBrief returns what StatedRun and StatedConversation complete, where r is all that is known of a run, and v its only
// conversation. Otherwise, and where the two differ in what is left out, ok is false.
func MarshalBrief(r *transcript.Run, v *transcript.Conversation) (run, conversation string, ok bool, err error) {
	if r.Title != v.Title || r.Status != v.Status || !r.Started.Valid || r.Started != v.Started || !r.Ended.Valid || r.Ended != v.Ended ||
		!maps.Equal(r.Attributes, v.Attributes) {
		return "", "", false, nil
	}
	run, err = MarshalRun(&transcript.Run{Local: r.Local, Anchor: r.Anchor, Anchored: r.Anchored, Project: r.Project, Stub: r.Stub, Asked: r.Asked,
		Child: r.Child, Named: r.Named})
	if err != nil {
		return "", "", false, err
	}
	said := *v
	said.Title, said.Status, said.Attributes, said.Started, said.Ended = "", "", nil, transcript.Time{}, transcript.Time{}
	conversation, err = MarshalConversation(&said, false)
	return shorten(run, r), shorten(conversation, r), err == nil, err
}

// shorten puts the zones of a run's times into an object, as its first member.
func shorten(object string, r *transcript.Run) string {
	b := append(make([]byte, 0, 64), brief...)
	b = strconv.AppendInt(append(b, '['), int64(r.Started.Offset), 10)
	b = append(strconv.AppendInt(append(b, ','), int64(r.Ended.Offset), 10), ']')
	if object != "{}" {
		b = append(b, ',')
	}
	return string(append(b, object[1:]...))
}
