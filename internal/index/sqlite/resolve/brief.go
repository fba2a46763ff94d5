package resolve

import (
	"database/sql"

	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/transcript"
)

// abridge makes a new run brief if all that is known of it is a claim and a transcript of one original: these then leave out
// what the run's row says. It looks only at rows that are still buffered. A resolver of the format might change the transcript,
// and a name with a scope might mean another run one day.
func (c *Changes) abridge(id int64, claims []claim, run *transcript.Run) (bool, error) {
	names := c.namesOf[id]
	if len(names) != 1 || len(claims) != 1 || c.runNames[names[0]].Scope != "" {
		return false, nil
	}
	format, err := c.formatName(c.addedRuns[id].Format)
	if err != nil || c.Resolver(format).Resolve != nil {
		return false, err
	}
	h := c.claimCache[names[0]]
	if h == nil || len(h.claims) != 1 || len(h.candidates) != 1 {
		return false, nil
	}
	t := h.candidates[0]
	claimed, transcribed := c.Buffer.Claims.Row(names[0]), c.Buffer.Transcripts.Row(t.id)
	if t.file != claims[0].file || t.number != claims[0].number || t.shared || t.aside || claimed == nil || transcribed == nil {
		return false, nil
	}
	ofRun, ofConversation, ok, err := schema.MarshalBrief(run, &t.Conversation)
	if ok {
		claimed[write.ClaimStated], transcribed[write.TranscriptStated], c.brief[id] = ofRun, ofConversation, true
	}
	return ok, err
}

// spellOut undoes abridge for the runs of temp.unread_runs: their rows are to be made again, perhaps of what others state as well.
func (c *Changes) spellOut() error {
	runs, err := c.IDs("SELECT r.id FROM temp.unread_runs u CROSS JOIN runs r ON r.id = u.id WHERE r.brief = 1")
	if err != nil {
		return err
	}
	for _, run := range runs {
		if err := c.spellOutClaims(run); err != nil {
			return err
		}
		if err := c.spellOutTranscripts(run); err != nil {
			return err
		}
		if err := c.Exec("UPDATE conversations SET title = r.title, attributes = r.attributes FROM runs r WHERE r.id = ?1 AND conversations.run = ?1", run); err != nil {
			return err
		}
		if err := c.Exec("UPDATE runs SET brief = 0 WHERE id = ?", run); err != nil {
			return err
		}
	}
	return nil
}

// spellOutClaims writes claims in full. The text is MarshalRun's, because claims of one rank are sorted by it.
func (c *Changes) spellOutClaims(run int64) error {
	type row struct {
		name, version int64
		stated        string
	}
	var rows []row
	if err := c.Each("SELECT k.run_name, k.version, "+schema.StatedRun+` FROM runs r CROSS JOIN run_names n ON n.run = r.id
		CROSS JOIN run_claims k ON k.run_name = n.id WHERE r.id = ?`, func(r *sql.Rows) error {
		var k row
		var stated []byte
		if err := r.Scan(&k.name, &k.version, &stated); err != nil {
			return err
		}
		said, err := schema.UnmarshalRun(stated, "", 0)
		if err != nil {
			return err
		}
		k.stated, err = schema.MarshalRun(said)
		rows = append(rows, k)
		return err
	}, run); err != nil {
		return err
	}
	for _, k := range rows {
		if err := c.Exec("UPDATE run_claims SET stated = ? WHERE run_name = ? AND version = ?", k.stated, k.name, k.version); err != nil {
			return err
		}
	}
	return nil
}

// spellOutTranscripts writes what transcripts state in full.
func (c *Changes) spellOutTranscripts(run int64) error {
	stated := map[int64]string{}
	if err := c.Each("SELECT t.id, t.aside, "+schema.StatedConversation+` FROM runs r CROSS JOIN run_names n ON n.run = r.id
		CROSS JOIN transcripts t ON t.run_name = n.id WHERE r.id = ?`, func(r *sql.Rows) error {
		var id int64
		var aside bool
		var said transcript.Conversation
		var text []byte
		if err := r.Scan(&id, &aside, &text); err != nil {
			return err
		}
		err := schema.UnmarshalConversation(text, &said)
		if err == nil {
			stated[id], err = schema.MarshalConversation(&said, aside)
		}
		return err
	}, run); err != nil {
		return err
	}
	for id, text := range stated {
		if err := c.Exec("UPDATE transcripts SET stated = ? WHERE id = ?", text, id); err != nil {
			return err
		}
	}
	return nil
}
