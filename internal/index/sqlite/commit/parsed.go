package commit

import (
	"cmp"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/txarchive/txarchive/internal/blob"
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/resolve"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
	"github.com/txarchive/txarchive/internal/transcript"
)

// owner is the version whose records are written, with the ids that they refer to.
type owner struct {
	resolve.Original
	names  map[string]int64 // run_names by native id
	local  map[string]bool  // native ids of runs that are unique only here; nil until asked for
	wanted map[string]bool  // transcripts that must have rows although a copy has them, by native id
	isNew  bool             // it is new: the index has no statements of it
	first  map[int64]bool   // names that this version is the first to use

	pruned map[string]*prunedRun // runs of which something was pruned, by native id
	gone   func(run string) bool // reports whether nothing of a run is left here
}

// parsed writes one stretch of a parse. Event rows wait for writeRows, which sorts the rows of the whole batch by time.
func (c *commit) parsed(p *index.Parsed) error {
	o := &owner{Original: resolve.Original{Parsed: p}, names: map[string]int64{}, wanted: map[string]bool{}, first: map[int64]bool{}}
	if o.Version, o.isNew = c.addedVersions[p.VersionKey]; !o.isNew {
		tombstoned, err := c.lookUpVersion(o)
		if tombstoned || err != nil {
			return err
		}
	}
	o.File = c.files[fileKey{c.sources[o.Source], o.Path}]
	delete(c.addedVersions, p.VersionKey)
	c.begun[o.Version] = true
	if err := c.exceptGraves(o); err != nil {
		return err
	}
	if p.First && !o.isNew {
		if err := c.retract(o); err != nil {
			return err
		}
	}
	steps := []func(*owner) error{c.claims, c.transcripts, c.usage, c.receipts, c.steps, c.links, c.hints, c.problems}
	filled, err := c.filled(o)
	if err != nil {
		return err
	}
	if filled {
		steps = nil
	}
	for _, step := range steps {
		if err := step(o); err != nil {
			return err
		}
	}
	parser, until := int64(p.Parser), p.Until
	if !p.Last { // if the rest never comes, all of it is parsed again
		parser, until = 0, 0
	}
	if row := c.Buffer.Versions.Row(o.Version); row != nil {
		row[write.VersionParser], row[write.VersionParsed] = parser, until
		return nil
	}
	return c.ExecDirect("UPDATE versions SET parser = ?, parsed = ? WHERE id = ?", parser, until, o.Version)
}

// lookUpVersion finds the version of a parse, and whether it is new: a reindex has written all versions before it parses any.
func (c *commit) lookUpVersion(o *owner) (tombstoned bool, err error) {
	if err := cmp.Or(c.Buffer.Files.Flush(), c.Buffer.Versions.Flush()); err != nil {
		return false, err
	}
	var source, file int64
	var tombstone sql.NullString
	var stated bool
	ok, err := c.GetDirect(selectVersion(), []any{o.Source, o.Path, o.Number}, &o.Version, &source, &file, &tombstone, &stated)
	if err == nil && !ok {
		err = fmt.Errorf("version %d: %w", o.Number, index.ErrNotFound)
	}
	if err != nil {
		return false, err
	}
	c.sources[o.Source], c.files[fileKey{source, o.Path}] = source, file
	o.isNew = o.First && !stated && !c.begun[o.Version]
	return tombstone.Valid, nil
}

var selectVersion = sync.OnceValue(func() string {
	var stated []string
	for _, table := range statementTables {
		stated = append(stated, "EXISTS (SELECT 1 FROM "+table+" x WHERE x.version = v.id)")
	}
	return "SELECT v.id, f.source, f.id, v.grave, " + strings.Join(stated, " OR ") + ` FROM sources s CROSS JOIN files f ON f.source = s.id
		CROSS JOIN versions v ON v.file = f.id WHERE s.name = ? AND f.path = ? AND v.number = ?`
})

// nothing is the hash of an empty file.
var nothing = blob.Ref(sha256.Sum256(nil))

// filled reports whether an empty version has a newer one. Which run an empty file belongs to was only a guess from its name.
// The content of the newer version makes no difference: see supersede.
func (c *commit) filled(o *owner) (bool, error) {
	if o.SHA256 != nothing {
		return false, nil
	}
	return c.Exists("SELECT 1 FROM versions v JOIN versions w ON w.file = v.file AND w.number > v.number WHERE v.id = ? LIMIT 1", o.Version)
}

// retract deletes what a parse replaces. A parse from the beginning replaces everything, also for an original that has grown:
// its first line may have been torn, and what it stated of the run a guess. Any other replaces the problems of the torn end
// that it reads again, and the count of problems that were left out.
func (c *commit) retract(o *owner) error {
	if o.From == 0 { // before its problems go: they alone may name a run
		if err := c.usages.Flush(); err != nil {
			return err
		}
		if err := c.changes.TouchVersion(o.Version); err != nil {
			return err
		}
	}
	err := c.Exec("DELETE FROM problems WHERE version = ? AND (offset >= ? OR kind = ?)", o.Version, o.From, index.MoreProblems)
	if err != nil || o.From > 0 {
		return err
	}
	var ids []int64
	if err := c.Each("SELECT id, native_id, indexed FROM transcripts WHERE version = ?", func(r *sql.Rows) error {
		var id int64
		var native string
		var indexed int
		err := r.Scan(&id, &native, &indexed)
		ids = append(ids, id)
		o.wanted[native] = o.wanted[native] || indexed == resolve.Wanted
		return err
	}, o.Version); err != nil {
		return err
	}
	for _, id := range ids {
		if err := c.changes.DeleteRows(id); err != nil {
			return err
		}
	}
	for _, table := range []string{"run_claims", "transcripts", "usage", "receipts", "steps", "links", "hints"} {
		query := "DELETE FROM " + table + " WHERE version = ?"
		if table == "usage" || table == "run_claims" {
			query += " AND ledger = 0"
		}
		if err := c.Exec(query, o.Version); err != nil {
			return err
		}
	}
	return c.Exec("DELETE FROM bounds WHERE version = ?1 AND NOT EXISTS (SELECT 1 FROM usage WHERE version = ?1)", o.Version)
}

func (c *commit) claims(o *owner) error {
	for _, r := range o.Runs {
		name, err := c.runName(o, r.ID)
		if err != nil {
			return err
		}
		c.changes.StateGroup(name, r)
		if o.Continued[r.ID] {
			if r, err = c.completeRun(o, name, r); err != nil {
				return err
			}
		}
		stated, err := schema.MarshalRun(r)
		if err != nil {
			return err
		}
		if o.isNew {
			c.changes.CacheClaim(&o.Original, name, r, stated)
			if err := c.Buffer.Claims.Add(name, o.Version, r.Rank, stated, write.Flag(onlyNames(r))); err != nil {
				return err
			}
			continue
		}
		if err := c.Exec(`INSERT INTO run_claims (run_name, version, rank, stated, named) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (run_name, version) DO UPDATE SET rank = excluded.rank, stated = excluded.stated, named = excluded.named, ledger = 0`,
			name, o.Version, r.Rank, stated, onlyNames(r)); err != nil {
			return err
		}
	}
	return nil
}

// completeRun merges what earlier stretches of the parse have stated of a run into what this one states.
func (c *commit) completeRun(o *owner, name int64, r *transcript.Run) (*transcript.Run, error) {
	all, stated, rank := &transcript.Run{}, []byte(nil), 0
	known, err := c.Get(`SELECT `+schema.StatedRun+`, k.rank FROM run_claims k JOIN run_names n ON n.id = k.run_name LEFT JOIN runs r ON r.id = n.run
		WHERE k.run_name = ? AND k.version = ?`, []any{name, o.Version}, &stated, &rank)
	if known {
		all, err = schema.UnmarshalRun(stated, r.ID, rank)
	}
	if err != nil {
		return nil, err
	}
	if index.Overlay(all, r); all.Host == "" && !all.Named {
		all.Host = o.Host
	}
	return all, nil
}

// onlyNames reports whether a claim states nothing but that the run exists, which needs no claim of this original.
func onlyNames(r *transcript.Run) bool {
	if !r.Named {
		return false
	}
	bare := &transcript.Run{ID: r.ID, Local: r.Local, Anchor: r.Anchor, Anchored: r.Anchored, Rank: r.Rank, Group: r.Group, Named: r.Named}
	said := *r
	if len(said.Attributes) == 0 {
		said.Attributes = nil
	}
	return reflect.DeepEqual(&said, bare)
}

// transcripts writes the conversations of a version and passes their rows on, unless another version with the same bytes has
// them already.
func (c *commit) transcripts(o *owner) error {
	ids := make([]int64, len(o.Conversations))
	for i := range o.Conversations {
		v := &o.Conversations[i]
		if o.gone != nil && o.gone(v.Run) {
			continue
		}
		id, indexed, err := c.transcript(o, v)
		if err != nil {
			return err
		}
		if indexed {
			ids[i] = id
		}
		if g := o.pruned[v.Run]; g != nil && g.drops() {
			c.changes.Truncate(id)
		}
	}
	for i := range o.Rows {
		if id := ids[o.Rows[i].Conversation]; id != 0 {
			c.rows = append(c.rows, write.Row{Row: &o.Rows[i], Words: o.Words, Transcript: id})
		}
	}
	return nil
}

func (c *commit) transcript(o *owner, v *index.Transcript) (id int64, indexed bool, err error) {
	name, err := c.runName(o, v.Run)
	if err != nil {
		return 0, false, err
	}
	native := v.ID
	if v.Uncounted {
		native = o.Role + " " + strings.TrimPrefix(o.Path, o.Claim+"/")
	}
	if v.Continued {
		if err := c.completeConversation(o, name, native, v); err != nil {
			return 0, false, err
		}
	}
	stated, err := schema.MarshalConversation(&v.Conversation, v.Uncounted)
	if err != nil {
		return 0, false, err
	}
	var rows, rank int
	var order string
	known := !o.isNew
	if known {
		if known, err = c.Get("SELECT id, indexed, ord, rank FROM transcripts WHERE version = ? AND run_name = ? AND native_id = ? AND aside = ?",
			[]any{o.Version, name, native, v.Uncounted}, &id, &rows, &order, &rank); err != nil {
			return 0, false, err
		}
	}
	if known {
		if order != v.Order || rank != v.Rank { // its events may be preferred to others now, or others to them
			if err := c.changes.TouchEventsOf(id); err != nil {
				return 0, false, err
			}
		}
		indexed = rows == 1 // a wanted transcript is made again as a whole
		c.changes.Hold(id, o.Version, name, native, v.Shared)
		err = c.Exec("UPDATE transcripts SET last_seq = ?, rows = ?, stated = ?, ord = ?, rank = ?, shared = ? WHERE id = ?",
			v.LastSeq, v.TotalRows, stated, v.Order, v.Rank, v.Shared, id)
		return id, indexed, err
	}
	same, err := c.hasIdenticalCopy(o, name, native, v.Uncounted)
	if err != nil {
		return 0, false, err
	}
	if id, err = c.NextID("transcripts"); err != nil {
		return 0, false, err
	}
	c.changes.Hold(id, o.Version, name, native, v.Shared)
	c.changes.CacheCandidate(&o.Original, id, name, native, stated, v, !same)
	none := int64(0)
	err = c.Buffer.Transcripts.Add(id, none, none, none, none, nil, nil, nil, nil,
		nil, none, none, write.Flag(!same), none, v.TotalRows, o.Version, name, native, write.Flag(v.Shared), write.Flag(v.Uncounted), v.Order, v.Rank, stated, v.LastSeq)
	return id, !same, err
}

// completeConversation is completeRun for a conversation.
func (c *commit) completeConversation(o *owner, name int64, native string, v *index.Transcript) error {
	var stated []byte
	all := transcript.Conversation{ID: v.ID, Run: v.Run}
	known, err := c.Get(`SELECT `+schema.StatedConversation+`, t.ord, t.rank, t.shared FROM transcripts t JOIN run_names n ON n.id = t.run_name LEFT JOIN runs r ON r.id = n.run
		WHERE t.version = ? AND t.run_name = ? AND t.native_id = ? AND t.aside = ?`,
		[]any{o.Version, name, native, v.Uncounted}, &stated, &all.Order, &all.Rank, &all.Shared)
	if err != nil || !known {
		return err
	}
	if err := schema.UnmarshalConversation(stated, &all); err != nil {
		return err
	}
	index.Overlay(&all, &v.Conversation)
	v.Conversation = all
	return nil
}

// hasIdenticalCopy reports whether another version with the same bytes already has the rows of a transcript.
func (c *commit) hasIdenticalCopy(o *owner, name int64, native string, aside bool) (bool, error) {
	if o.first[name] {
		return false, nil
	}
	lossy, err := c.changes.LossyVersions()
	if err != nil || o.wanted[native] || lossy[o.VersionKey] {
		return false, err
	}
	same := false
	// Few versions have the same bytes, but thousands may have the same conversation. Of many copies the first has the rows.
	err = c.EachBrief(`SELECT s.name, f.path, v.number FROM versions mine CROSS JOIN versions v INDEXED BY versions_sha256 ON v.sha256 = mine.sha256 AND v.size = mine.size
		CROSS JOIN transcripts t ON t.version = v.id AND t.run_name = ? AND t.native_id = ? AND t.aside = ? AND t.indexed = 1
		CROSS JOIN files f ON f.id = v.file CROSS JOIN sources s ON s.id = f.source WHERE mine.id = ? LIMIT ?`, func(r *sql.Rows) error {
		var key index.VersionKey
		err := r.Scan(&key.Source, &key.Path, &key.Number)
		same = same || !lossy[key]
		return err
	}, name, native, aside, o.Version, len(lossy)+1)
	return same, err
}

func (c *commit) hints(o *owner) error {
	for _, h := range o.Hints {
		name, err := c.runName(o, h.Run)
		if err != nil {
			return err
		}
		if err := c.ExecDirect("INSERT OR IGNORE INTO hints (run_name, key, value, version) VALUES (?, ?, ?, ?)",
			name, h.Key, h.Value, o.Version); err != nil {
			return err
		}
	}
	return nil
}

// place returns the columns line, offset, length and inner of a record.
func (c *commit) place(o transcript.Origin) ([]any, error) {
	inner, err := c.Name(o.Inner)
	return []any{o.Line, o.Offset, o.Length, inner}, err
}
