package sqlite

import (
	"encoding/json"
	"fmt"

	"github.com/txarchive/txarchive/internal/transcript"
)

// What an original says of a run or of a conversation stands in its row as JSON, but for what the columns of that row and of the
// name of the run say: a third of it, in archives of small originals a twentieth of the index.

// saidRun and saidConversation are records with their times in short.
type saidRun struct {
	*transcript.Run
	Started saidTime `json:",omitzero"`
	Ended   saidTime `json:",omitzero"`
}

type saidConversation struct {
	*transcript.Conversation
	Started saidTime `json:",omitzero"`
	Ended   saidTime `json:",omitzero"`
}

// runSaid is run_claims.stated: what the column rank says is left out, and the native id, which is that of the name.
func runSaid(r *transcript.Run) (string, error) {
	said := *r
	said.ID, said.Rank = "", 0
	b, err := json.Marshal(saidRun{&said, saidTime(r.Started), saidTime(r.Ended)})
	return string(b), err
}

// readRun reads what runSaid has written.
func readRun(stated []byte, native string, rank int) (*transcript.Run, error) {
	r := &transcript.Run{}
	said := saidRun{Run: r}
	err := json.Unmarshal(stated, &said)
	r.ID, r.Rank = native, rank
	r.Started, r.Ended = transcript.Time(said.Started), transcript.Time(said.Ended)
	return r, err
}

// conversationSaid is transcripts.stated: what the columns shared, ord and rank say is left out, and native_id, which is the id unless
// the transcript was made for rows of the run.
func conversationSaid(v *transcript.Conversation, aside bool) (string, error) {
	said := *v
	said.Run, said.Shared, said.Order, said.Rank = "", false, "", 0
	if !aside {
		said.ID = ""
	}
	b, err := json.Marshal(saidConversation{&said, saidTime(v.Started), saidTime(v.Ended)})
	return string(b), err
}

// readConversation reads what conversationSaid has written. The columns fill in the rest.
func readConversation(stated []byte, to *transcript.Conversation) error {
	said := saidConversation{Conversation: to}
	err := json.Unmarshal(stated, &said)
	to.Started, to.Ended = transcript.Time(said.Started), transcript.Time(said.Ended)
	return err
}

// saidTime is a time as two numbers: microseconds, and minutes east of UTC.
type saidTime transcript.Time

func (t saidTime) MarshalJSON() ([]byte, error) {
	if !t.Valid {
		return []byte("null"), nil
	}
	return fmt.Appendf(nil, "[%d,%d]", t.UnixMicro, t.Offset), nil
}

func (t *saidTime) UnmarshalJSON(b []byte) error {
	var said *[2]int64
	if err := json.Unmarshal(b, &said); err != nil || said == nil {
		return err
	}
	*t = saidTime{UnixMicro: said[0], Offset: int16(said[1]), Valid: true}
	return nil
}
