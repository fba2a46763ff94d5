package schema

import (
	"encoding/json"
	"strconv"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/transcript"
)

// What an original states of a run or a conversation is JSON in its row, without what the columns of that row and of the run's
// name have: these are a third of it, in archives of small originals a twentieth of the index.

// runJSON and conversationJSON are records with their times as two numbers, for reading.
type runJSON struct {
	*transcript.Run
	Started timeJSON `json:",omitzero"`
	Ended   timeJSON `json:",omitzero"`
}

type conversationJSON struct {
	*transcript.Conversation
	Started timeJSON `json:",omitzero"`
	Ended   timeJSON `json:",omitzero"`
}

// MarshalRun returns run_claims.stated. It leaves out the rank, which is a column, and the native id, which is that of the
// name.
func MarshalRun(r *transcript.Run) (string, error) {
	var room [512]byte
	o := object{b: room[:0]}
	o.flag("Local", r.Local)
	o.text("Anchor", r.Anchor)
	o.flag("Anchored", r.Anchored)
	o.text("Group", r.Group)
	o.text("Project", r.Project)
	o.text("Branch", r.Branch)
	o.text("Flow", r.Flow)
	o.text("Title", r.Title)
	o.text("Agent", r.Agent)
	o.text("Model", r.Model)
	o.text("Host", r.Host)
	o.text("Version", r.Version)
	o.text("Status", r.Status)
	o.text("Outcome", string(r.Outcome))
	o.text("Error", r.Error)
	o.flag("Stub", r.Stub)
	o.flag("Asked", r.Asked)
	o.flag("Child", r.Child)
	o.flag("Named", r.Named)
	o.attributes("Attributes", r.Attributes)
	o.time("Started", r.Started)
	o.time("Ended", r.Ended)
	return o.end()
}

// UnmarshalRun reads what MarshalRun has written.
func UnmarshalRun(stated []byte, native string, rank int) (*transcript.Run, error) {
	r := &transcript.Run{}
	said := runJSON{Run: r}
	err := json.Unmarshal(stated, &said)
	r.ID, r.Rank = native, rank
	r.Started, r.Ended = transcript.Time(said.Started), transcript.Time(said.Ended)
	return r, err
}

// MarshalConversation returns transcripts.stated. It leaves out the columns shared, ord and rank, and native_id, which is the
// conversation's id unless the transcript was made for rows of the run (aside).
func MarshalConversation(v *transcript.Conversation, aside bool) (string, error) {
	var room [512]byte
	o := object{b: room[:0]}
	if aside {
		o.text("ID", v.ID)
	}
	o.text("Title", v.Title)
	o.text("Agent", v.Agent)
	o.text("Engine", v.Engine)
	o.text("Model", v.Model)
	o.text("Flow", v.Flow)
	o.text("Step", v.Step)
	o.text("Mode", v.Mode)
	o.text("Status", v.Status)
	o.text("Version", v.Version)
	o.text("Project", v.Project)
	o.text("Branch", v.Branch)
	o.flag("Child", v.Child)
	o.flag("Silent", v.Silent)
	o.attributes("Attributes", v.Attributes)
	o.time("Started", v.Started)
	o.time("Ended", v.Ended)
	return o.end()
}

// UnmarshalConversation reads what MarshalConversation has written. The columns fill in the rest.
func UnmarshalConversation(stated []byte, to *transcript.Conversation) error {
	said := conversationJSON{Conversation: to}
	err := json.Unmarshal(stated, &said)
	to.Started, to.Ended = transcript.Time(said.Started), transcript.Time(said.Ended)
	return err
}

// timeJSON is a time as two numbers: microseconds, and minutes east of UTC.
type timeJSON transcript.Time

func (t *timeJSON) UnmarshalJSON(b []byte) error {
	var said *[2]int64
	if err := json.Unmarshal(b, &said); err != nil || said == nil {
		return err
	}
	*t = timeJSON{UnixMicro: said[0], Offset: int16(said[1]), Valid: true}
	return nil
}

// object builds a JSON object of the members that have a value: what encoding/json writes for a struct whose zero fields are
// left out. encoding/json examines all fields by reflection, which took a hundredth of a first load of small originals.
type object struct {
	b   []byte
	err error
}

func (o *object) name(name string) {
	o.b = append(append(append(o.b, `,"`...), name...), `":`...)
}

func (o *object) text(name, value string) {
	if value != "" {
		o.name(name)
		o.b = index.AppendString(o.b, value)
	}
}

func (o *object) flag(name string, value bool) {
	if value {
		o.name(name)
		o.b = append(o.b, "true"...)
	}
}

// time writes a time as timeJSON reads it.
func (o *object) time(name string, t transcript.Time) {
	switch {
	case t.Valid:
		o.name(name)
		o.b = append(strconv.AppendInt(append(o.b, '['), t.UnixMicro, 10), ',')
		o.b = append(strconv.AppendInt(o.b, int64(t.Offset), 10), ']')
	case t != transcript.Time{}:
		o.name(name)
		o.b = append(o.b, "null"...)
	}
}

func (o *object) attributes(name string, a transcript.Attributes) {
	if a == nil {
		return
	}
	o.name(name)
	b, err := index.AppendAttributes(o.b, a)
	if o.err = err; err == nil {
		o.b = b
	}
}

func (o *object) end() (string, error) {
	if len(o.b) == 0 {
		return "{}", nil
	}
	o.b[0] = '{'
	return string(append(o.b, '}')), o.err
}
