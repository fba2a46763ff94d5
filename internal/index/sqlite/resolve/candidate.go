package resolve

import (
	"database/sql"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/transcript"
)

// candidate is a transcript, which is what one version holds of one conversation, while it is judged.
type candidate struct {
	id, run, runName, version, file, number int64
	native                                  string
	judgement
	copiedUntil         int64
	shared, aside       bool
	order               string
	rank, lastSeq, rows int64
	first, last         sql.NullInt64
	sha                 []byte
	key                 struct{ format, native, anchor string } // of the run
	source, path        string
	transcript.Conversation

	lossy      bool  // some of its bytes are lost
	parsed     bool  // to the end, by this program or another
	reach      int64 // the last seq of all that have the same bytes, and whether others of these come before it: see pinUnfinished
	behind     bool
	superseded bool // a newer version of its file holds the same conversation

	was            judgement // by an earlier commit
	wasCopiedUntil int64
}

// judgement is what becomes of a transcript.
type judgement struct {
	conversation             sql.NullInt64
	verdict, judged, indexed int
	seqBase                  int64
}

// bytesOf is equal for transcripts of versions with the same content, of which no bytes are lost.
type bytesOf struct {
	sha   string
	alone *candidate // some of its bytes are lost: it equals no other
}

func (t *candidate) bytes() bytesOf {
	if t.lossy {
		return bytesOf{alone: t}
	}
	return bytesOf{sha: string(t.sha)}
}

func (c *Changes) loadCandidates() (map[int64][]*candidate, error) {
	all := map[int64][]*candidate{}
	lossy, err := c.LossyVersions()
	if err != nil {
		return nil, err
	}
	for run := range c.cachedRuns {
		takes, err := c.cachedCandidates(run, lossy)
		if err != nil {
			return nil, err
		}
		if len(takes) > 0 {
			all[run] = takes
		}
	}
	if c.unread == 0 {
		return all, nil
	}
	err = c.Each(`SELECT t.id, n.run, t.run_name, t.version, v.file, v.number, t.native_id, t.conversation, t.verdict, t.judged, t.indexed, t.copied_until,
		t.shared, t.aside, t.ord, t.rank, t.seq_base, t.last_seq, t.rows, t.first_time, t.last_time, v.sha256, v.parser <> 0, s.name, f.path, t.stated,
		n.native_id, i.key, i.anchor, (SELECT name FROM names WHERE id = i.format)
		FROM temp.unread_runs r CROSS JOIN runs i ON i.id = r.id CROSS JOIN run_names n ON n.run = r.id CROSS JOIN transcripts t ON t.run_name = n.id
		CROSS JOIN versions v ON v.id = t.version CROSS JOIN files f ON f.id = v.file
		CROSS JOIN sources s ON s.id = f.source`, func(r *sql.Rows) error {
		t := &candidate{}
		var stated []byte
		if err := r.Scan(&t.id, &t.run, &t.runName, &t.version, &t.file, &t.number, &t.native, &t.conversation, &t.verdict, &t.judged, &t.indexed, &t.copiedUntil,
			&t.shared, &t.aside, &t.order, &t.rank, &t.seqBase, &t.lastSeq, &t.rows, &t.first, &t.last, &t.sha, &t.parsed,
			&t.source, &t.path, &stated, &t.Run, &t.key.native, &t.key.anchor, &t.key.format); err != nil {
			return err
		}
		t.lossy = lossy[index.VersionKey{Source: t.source, Path: t.path, Number: int(t.number)}]
		t.was, t.wasCopiedUntil = t.judgement, t.copiedUntil
		all[t.run] = append(all[t.run], t)
		t.Shared, t.Order, t.Rank = t.shared, t.order, int(t.rank)
		if !t.aside {
			t.ID = t.native
		}
		return schema.UnmarshalConversation(stated, &t.Conversation)
	})
	return all, err
}
