package resolve

import (
	"bytes"
	"cmp"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/sqlite/schema"
	"github.com/txarchive/txarchive/internal/index/sqlite/write"
)

// elect decides for every conversation of the touched runs which of its transcripts counts, places each of them, and moves rows
// to the transcripts that are to have them.
func (c *Changes) elect(families map[int64]*family) error {
	all, err := c.loadCandidates()
	if err != nil {
		return err
	}
	for run, takes := range all {
		markSuperseded(takes)
		if f := families[run]; f != nil {
			if err := c.resolveFamily(f, takes); err != nil {
				return err
			}
		}
	}
	for _, f := range families {
		if len(f.Conversations) > 0 {
			continue
		}
		c.Resolver(f.format).Resolve(&f.Family) // a run of receipts or usage alone
		if err := c.writeFamily(f); err != nil {
			return err
		}
	}
	for run, takes := range all {
		if err := c.electRun(run, takes); err != nil {
			return err
		}
		if slices.ContainsFunc(takes, func(t *candidate) bool { return t.aside && t.rank < 0 }) {
			c.hearsay[run] = true
		}
	}
	return nil
}

func markSuperseded(takes []*candidate) {
	type key struct {
		name, file int64
		native     string
		aside      bool
	}
	newest := map[key]int64{}
	of := func(t *candidate) key { return key{t.runName, t.file, t.native, t.aside} }
	for _, t := range takes {
		newest[of(t)] = max(newest[of(t)], t.number)
	}
	for _, t := range takes {
		t.superseded = t.number < newest[of(t)]
	}
}

func (c *Changes) electRun(run int64, takes []*candidate) error {
	key := &takes[0].key
	groups := map[string][]*candidate{}
	for _, t := range takes {
		name := "c" + t.native
		if t.aside {
			name = "a" + t.native
		}
		groups[name] = append(groups[name], t)
	}
	for name, group := range groups {
		pinUnfinished(group)
		slices.SortFunc(group, byMerit)
		id := func(extra ...string) string {
			return index.PublicID("c", append([]string{"conversation", key.format, key.native, key.anchor, name}, extra...)...)
		}
		var err error
		if group[0].shared && !group[0].aside {
			err = c.electShared(run, group, id)
		} else {
			err = c.electOne(run, group, id)
		}
		if err != nil {
			return err
		}
		for _, t := range group {
			if err := c.writeCandidate(t, group); err != nil {
				return err
			}
		}
	}
	return nil
}

// pinUnfinished keeps originals that are parsed in stretches from passing rows to each other midway: of those with the same
// bytes, one that is not parsed to its end takes no rows of another and keeps its own. Once all are, the place decides.
func pinUnfinished(group []*candidate) {
	for _, t := range group {
		t.reach = t.lastSeq
	}
	if !slices.ContainsFunc(group, func(t *candidate) bool { return !t.parsed }) {
		return
	}
	type copies struct {
		reach        int64
		whole, begun bool // there are rows of one that is parsed to its end, and of one that is not
	}
	all := map[bytesOf]copies{}
	for _, t := range group {
		x, met := all[t.bytes()]
		if !met {
			x.reach = t.lastSeq
		}
		has := t.indexed == 1
		all[t.bytes()] = copies{max(x.reach, t.lastSeq), x.whole || has && t.parsed, x.begun || has && !t.parsed}
	}
	for _, t := range group {
		x := all[t.bytes()]
		t.reach, t.behind = x.reach, !t.parsed
		if x.begun && !x.whole {
			t.behind = t.indexed != 1
		}
	}
}

// byMerit orders the transcripts of one conversation, the one that counts first.
func byMerit(a, b *candidate) int {
	return cmp.Or(cmp.Compare(b.rank, a.rank), compareBool(a.superseded, b.superseded), cmp.Compare(a.judged, b.judged),
		cmp.Compare(b.reach, a.reach), bytes.Compare(a.sha, b.sha), compareBool(a.behind, b.behind),
		cmp.Compare(a.source, b.source), cmp.Compare(a.path, b.path), cmp.Compare(b.number, a.number))
}

func compareBool(a, b bool) int { return cmp.Compare(write.Flag(a), write.Flag(b)) }

// electOne makes the first transcript count. The others are earlier versions or copies of it, each a conversation of its own;
// of those with the same bytes only the first has rows. A copy that was continued independently counts as well: what it shares
// with others is judged by event.
func (c *Changes) electOne(run int64, group []*candidate, id func(...string) string) error {
	winner := group[0]
	count := []*candidate{winner}
	holders := map[bytesOf]*candidate{}
	taken := map[string]bool{}
	for i, t := range group {
		t.verdict, t.seqBase = t.judged, 0 // it may have been one of a shared conversation before
		switch {
		case t.superseded && (i > 0 || t.aside):
			t.verdict = schema.EarlierVersion
		case i > 0:
			t.verdict = schema.Duplicate
		}
		if h := holders[t.bytes()]; h != nil {
			t.conversation = h.conversation
			if err := c.release(t); err != nil {
				return err
			}
			continue
		}
		holders[t.bytes()] = t
		if t.indexed == 0 {
			if err := c.takeOver(t, group[i+1:]); err != nil {
				return err
			}
		}
		own, of := id(), (*int64)(nil)
		if i > 0 {
			first, err := c.ownEvent(t, count, group)
			if err != nil {
				return err
			}
			if first != "" {
				t.verdict, own = schema.Counted, id("apart", first)
				count = append(count, t)
			} else {
				own, of = id("version", hex.EncodeToString(t.sha)), &winner.conversation.Int64
			}
		}
		if taken[own] {
			own = id("version", hex.EncodeToString(t.sha), t.source, t.path, fmt.Sprint(t.number))
		}
		taken[own] = true
		var err error
		if t.conversation, err = c.conversation(run, own, t, of); err != nil {
			return err
		}
	}
	return nil
}

// ownEvent returns the id of the first event of a copy that none of the counting transcripts has, "" if there is none. Only ids
// that mean the same event in every conversation can tell.
func (c *Changes) ownEvent(t *candidate, count, group []*candidate) (first string, err error) {
	if t.verdict != schema.Duplicate || t.judged != schema.Counted || t.indexed != 1 {
		return "", nil
	}
	// A copy remains one while only the other transcript grows, and was the only one that counted.
	counted := func(o *candidate) bool { return o.was.conversation.Valid && o.was.verdict == schema.Counted }
	if _, fresh := c.held[t.id]; !fresh && !c.deleted && len(count) == 1 && t.was.verdict == schema.Duplicate && t.was.conversation.Valid &&
		counted(count[0]) && count[0].was.conversation == count[0].conversation &&
		!slices.ContainsFunc(group, func(o *candidate) bool { return o != count[0] && counted(o) }) {
		return "", nil
	}
	for _, o := range count {
		if o.verdict != schema.Counted || o.indexed != 1 {
			return "", nil
		}
	}
	if err := c.fillKnown(count); err != nil {
		return "", err
	}
	_, err = c.Get(`SELECT CAST(hex(e.native) AS TEXT) FROM events e WHERE e.transcript = ? AND e.global > 0
		AND NOT EXISTS (SELECT 1 FROM temp.known_ids k WHERE k.native = e.native) ORDER BY e.seq LIMIT 1`, []any{t.id}, &first)
	return first, err
}

// fillKnown fills temp.known_ids with the ids of the events of transcripts. Looking each event of a copy up among all events
// would meet all other copies of it: a hundred daily backups of a conversation have each event a hundred times.
func (c *Changes) fillKnown(transcripts []*candidate) error {
	if n := len(c.knownIn); n > len(transcripts) || n == 0 || c.knownIn[0] != transcripts[0].id {
		if err := c.ExecDirect("CREATE TEMP TABLE IF NOT EXISTS known_ids (native PRIMARY KEY) WITHOUT ROWID"); err != nil {
			return err
		}
		if err := c.ExecDirect("DELETE FROM temp.known_ids"); err != nil {
			return err
		}
		c.knownIn = nil
	}
	for _, t := range transcripts[len(c.knownIn):] {
		if err := c.Exec("INSERT OR IGNORE INTO temp.known_ids SELECT native FROM events WHERE transcript = ? AND eid IS NOT NULL", t.id); err != nil {
			return err
		}
		c.knownIn = append(c.knownIn, t.id)
	}
	return nil
}

// Wanted marks a transcript whose rows must be made again from its pack (index.StateReader.ToReparse).
const Wanted = 2

// holdOnce gives the rows of transcripts with the same bytes to one of each verdict, and returns the others, which are duplicates of those. A
// duplicate needs none beside another that has them.
func (c *Changes) holdOnce(group []*candidate) (twins map[*candidate]bool, err error) {
	type held struct {
		bytesOf
		verdict int
	}
	twins = map[*candidate]bool{}
	holders, first := map[held]*candidate{}, map[bytesOf]*candidate{}
	slices.SortStableFunc(group, func(a, b *candidate) int {
		return compareBool(a.verdict == schema.Duplicate, b.verdict == schema.Duplicate)
	})
	for _, t := range group {
		key := held{t.bytes(), t.verdict}
		twin := holders[key]
		if t.verdict == schema.Duplicate {
			twin = first[key.bytesOf]
		}
		if twin == nil {
			holders[key] = t
			first[key.bytesOf] = cmp.Or(first[key.bytesOf], t)
			continue
		}
		t.verdict, twins[t] = schema.Duplicate, true
		if twin.indexed == 0 {
			if err := c.takeOver(twin, []*candidate{t}); err != nil {
				return nil, err
			}
		}
		if err := c.release(t); err != nil {
			return nil, err
		}
	}
	return twins, nil
}

// electShared joins all transcripts into one conversation, in their order; what is stated twice is judged by event.
func (c *Changes) electShared(run int64, group []*candidate, id func(...string) string) error {
	for _, t := range group {
		t.verdict = t.judged
	}
	twins, err := c.holdOnce(group)
	if err != nil {
		return err
	}
	slices.SortFunc(group, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.verdict, b.verdict), cmp.Compare(a.order, b.order), compareBool(b.superseded, a.superseded),
			cmp.Compare(a.source, b.source), cmp.Compare(a.path, b.path), cmp.Compare(a.number, b.number))
	})
	merged := *group[0]
	for _, t := range byRank(group) {
		index.Overlay(&merged.Conversation, &t.Conversation)
		if t.first.Valid && (!merged.first.Valid || t.first.Int64 < merged.first.Int64) {
			merged.first = t.first
		}
		if t.last.Valid && t.last.Int64 > merged.last.Int64 {
			merged.last = t.last
		}
	}
	conversation, err := c.conversation(run, id(), &merged, nil)
	if err != nil {
		return err
	}
	base := int64(0)
	for _, t := range group {
		t.conversation, t.seqBase = conversation, base
		base += t.lastSeq
		if t.indexed == 0 && t.rows > 0 && !twins[t] {
			t.indexed = Wanted
		}
	}
	return nil
}

// byRank returns the transcripts that count, in the order in which they state what is known of their conversation: a later one
// replaces what those before it state. Those with a rank exchange places, so that the highest is the last of them.
func byRank(group []*candidate) (counted []*candidate) {
	var ranked []*candidate
	for _, t := range group {
		if t.verdict == schema.Counted {
			counted = append(counted, t)
			if t.rank > 0 {
				ranked = append(ranked, t)
			}
		}
	}
	slices.SortStableFunc(ranked, func(a, b *candidate) int { return cmp.Compare(a.rank, b.rank) })
	for i, t := range counted {
		if t.rank > 0 {
			counted[i], ranked = ranked[0], ranked[1:]
		}
	}
	return counted
}

// rejudge has the events of a transcript judged again. Of those that counted, and that the next version of its file states as
// well, what counts is known without all other rows (settled).
func (c *Changes) rejudge(t *candidate, group []*candidate) error {
	next := successor(t, group)
	if next == nil {
		return c.TouchEventsOf(t.id)
	}
	c.successors[t.id] = next.id
	return c.Each(`SELECT DISTINCT eid FROM (SELECT eid, native, global, verdict FROM events WHERE transcript = ? AND eid IS NOT NULL
		EXCEPT SELECT eid, native, global, 0 FROM events WHERE transcript = ? AND eid IS NOT NULL AND verdict = 0)`, write.IntoSet(c.eids), t.id, next.id)
}

// successor returns the new transcript that states the conversation in the place of t, which has been the newest version of its
// file until now, nil if there is none.
func successor(t *candidate, group []*candidate) *candidate {
	var next *candidate
	for _, u := range group {
		if u.file == t.file && u.number > t.number {
			if next != nil {
				return nil
			}
			next = u
		}
	}
	if next == nil || next.was.conversation.Valid || next.conversation != t.was.conversation || next.indexed != 1 || next.runName != t.runName ||
		next.rank != t.rank || next.order != t.order || next.verdict != schema.Counted {
		return nil
	}
	return next
}

func (c *Changes) writeCandidate(t *candidate, group []*candidate) error {
	// Its events are among others now, or others are preferred to them, or they to others.
	if t.was.conversation.Valid && (t.was.conversation != t.conversation || c.wasNewest[t.version] || (t.was.verdict == schema.Counted) != (t.verdict == schema.Counted)) {
		if err := c.rejudge(t, group); err != nil {
			return err
		}
	}
	if t.was == t.judgement {
		return nil
	}
	if t.was.conversation != t.conversation || t.was.verdict != t.verdict {
		c.changed[t.id] = t
	}
	if row := c.Buffer.Transcripts.Row(t.id); row != nil {
		copy(row[write.TranscriptJudged:], []any{t.conversation.Int64, int64(t.verdict), int64(t.judged), int64(t.indexed), t.seqBase})
		return nil
	}
	moved := t.was
	if moved.conversation = t.conversation; moved == t.judgement {
		return c.ExecDirect("UPDATE transcripts SET conversation = ? WHERE id = ?", t.conversation, t.id)
	}
	return c.ExecDirect("UPDATE transcripts SET conversation = ?, verdict = ?, judged = ?, indexed = ?, seq_base = ? WHERE id = ?",
		t.conversation, t.verdict, t.judged, t.indexed, t.seqBase, t.id)
}

// conversation writes the row of a conversation and returns its id.
func (c *Changes) conversation(run int64, public string, t *candidate, of *int64) (sql.NullInt64, error) {
	title := write.Null(t.Title)
	attributes, err := write.Attributes(t.Attributes)
	if err != nil {
		return sql.NullInt64{}, err
	}
	if c.brief[run] {
		title, attributes = nil, nil
	}
	verdict := t.verdict
	if (t.aside || t.Silent) && verdict == schema.Counted {
		verdict = schema.Uncounted
	}
	started, ended := write.NullTime(t.Started), write.NullTime(t.Ended)
	if started == nil && t.first.Valid {
		started = t.first.Int64
	}
	if ended == nil && t.last.Valid {
		ended = t.last.Int64
	}
	said := []any{run, verdict, write.OrNil(of), title, write.Null(t.Agent), write.Null(t.Engine), write.Null(t.Model), write.Null(t.Flow), write.Null(t.Step), write.Null(t.Mode),
		write.Null(t.Status), write.Null(t.Version), write.Null(t.Project), write.Null(t.Branch), started, ended, write.Flag(t.Child), attributes}
	var id int64
	known := c.addedRuns[run] == nil
	if known {
		known, err = c.Get("SELECT id FROM conversations WHERE conversation_id = ?", []any{public}, &id)
	}
	switch {
	case err != nil:
	case known:
		err = c.Exec(`UPDATE conversations SET run = ?, verdict = ?, of = ?, title = ?, agent = ?, engine = ?, model = ?, flow = ?, step = ?, mode = ?,
			status = ?, version = ?, project = ?, branch = ?, started = ?, ended = ?, child = ?, attributes = ? WHERE id = ?`, append(said, id)...)
	default:
		if id, err = c.NextID("conversations"); err == nil {
			err = c.Buffer.Conversations.Add(append(said, id, public, t.native)...)
		}
	}
	return sql.NullInt64{Int64: id, Valid: true}, err
}
