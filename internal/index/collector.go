package index

import (
	"slices"

	"github.com/txarchive/txarchive/internal/term"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Collector turns the records of one version into rows: keys, order, terms and facets. It is the pure half of
// indexing and runs beside the readers; an engine only writes what it made.
//
// A Collector serves one goroutine. Reset begins a version; Take hands over what was gathered so far, so that
// a long original becomes several batches.
type Collector struct {
	split      term.Splitter
	some       term.Terms // of one text
	terms      *Numbering
	room       []uint32 // for numbers: its length is used up
	labelCache map[facets]*labelTerms

	out      *Parsed
	rows     []Row // room for rows while they are gathered
	few      []Row // and for those of small originals, of which some lie side by side
	state    collectorState
	runs     []*collectedRun          // runs that something was said of since the last Take
	guessed  []*collectedRun          // runs that each stretch tells: a guess, or one that is unique only here
	order    []*collectedConversation // conversations that something was said of since the last Take
	known    bool                     // all records so far are indexed already
	problems problemCap
	near     int64
	pending  int   // rows at the end of out.Rows that wait for a time
	last     int64 // end of the last record
	words    int   // that the list had when the gathering began
}

// collectedConversation is a conversation with its place in Parsed.Conversations, when it is in order.
type collectedConversation struct {
	Transcript
	index  int
	listed bool
	gone   bool // forgotten
}

// collectedRun is what was said of a run so far, or since it was forgotten.
type collectedRun struct {
	transcript.Run
	listed bool // in spoken
	always bool // in always
	again  bool // there was more
	gone   bool // forgotten
}

type conversationKey struct {
	run, id string
	aside   bool
}

// NewCollector returns a Collector. Those that work at the same time share a Lexicon.
func NewCollector(l *Lexicon) *Collector {
	return &Collector{terms: NewNumbering(l), labelCache: map[facets]*labelTerms{}}
}

// Reset begins a version.
func (c *Collector) Reset(s Subject) {
	c.out = &Parsed{Subject: s, First: true, Rows: c.rows[:0]}
	c.state.reset()
	c.unlist()
	c.known = s.From > 0
	clear(c.guessed)
	c.guessed = c.guessed[:0]
	c.near, c.pending, c.last, c.problems = 0, 0, s.From, problemCap{}
	c.start()
}

// unlist begins the lists of what is said in a stretch.
func (c *Collector) unlist() {
	for _, r := range c.runs {
		r.listed = false
	}
	for _, v := range c.order {
		v.listed = false
	}
	clear(c.runs)
	clear(c.order)
	c.runs, c.order = c.runs[:0], c.order[:0]
}

// emptied is an empty map: the same, unless it became large.
func emptied[K comparable, V any](m map[K]V) map[K]V {
	if len(m) > 64 {
		return map[K]V{}
	}
	clear(m)
	return m
}

// start begins to gather rows, which have the numbers of one list.
func (c *Collector) start() {
	if c.terms.Start() {
		clear(c.labelCache)
	}
	c.words = c.terms.Words().Len()
}

// Size returns the bytes of memory that are gathered. New words count where they are more than a list has anyway.
func (c *Collector) Size() int { return c.out.Bytes + wordSize*max(0, c.newWords()-maxTerms) }

func (c *Collector) newWords() int { return c.terms.Words().Len() - c.words }

// Take returns what was gathered since Reset or the last Take: of a run or a conversation that something was said of since then,
// all that was ever said. last says that the version is at its end.
func (c *Collector) Take(last bool) *Parsed {
	c.settle()
	if last {
		c.reportCapped()
	}
	out := c.out
	out.Last, out.Until = last, c.last
	c.rows = out.Rows
	out.Rows = c.keep(c.rows)
	clear(c.rows)
	for _, r := range c.guessed {
		c.listRun(r)
	}
	for _, r := range c.runs {
		run := &r.Run
		if !last {
			said := *run
			run = &said
		}
		if run.Guess {
			run.Guess, out.Until = false, 0
		}
		if r.again {
			put(&out.Again, run.ID, true)
		} else if run.Host == "" && !run.Named {
			run.Host = out.Host
		}
		out.Runs = append(out.Runs, run)
	}
	for _, v := range c.order {
		if r, ok := c.state.runs.get(v.Run); ok && v.Aside {
			v.Rank = min(r.Rank, 0)
		}
		out.Conversations = append(out.Conversations, v.Transcript)
	}
	c.unlist()
	if c.state.full() {
		c.state.forget()
	}
	out.Words, out.Held = c.terms.Words(), out.Bytes+wordSize*c.newWords()
	if c.out = nil; !last {
		c.out = &Parsed{Subject: out.Subject, Rows: c.rows[:0]}
		c.start()
	}
	return out
}

// forget is for records that are indexed already, of which no stretch tells: those of which nothing was said for long are not told again.
func (c *Collector) forget() {
	if !c.known || !c.state.full() {
		return
	}
	c.state.forget()
	before := len(c.runs) + len(c.order)
	c.runs = slices.DeleteFunc(c.runs, func(r *collectedRun) bool { return r.gone })
	c.order = slices.DeleteFunc(c.order, func(v *collectedConversation) bool { return v.gone })
	for i, v := range c.order {
		v.index = i
	}
	c.out.Bytes -= recordSize * (before - len(c.runs) - len(c.order))
}

// fewRows is how many rows of small originals lie side by side: an allocation for each of these was a part of what they cost.
const fewRows = 128

// keep returns a copy of rows.
func (c *Collector) keep(rows []Row) []Row {
	if len(rows) > fewRows/4 {
		return slices.Clone(rows)
	}
	if cap(c.few)-len(c.few) < len(rows) {
		c.few = make([]Row, 0, fewRows)
	}
	from := len(c.few)
	c.few = append(c.few, rows...)
	return slices.Clip(c.few[from:])
}

func (c *Collector) run(r *transcript.Run) {
	c.forget()
	have, again := c.state.run(r.ID)
	if have == nil {
		have = &collectedRun{Run: *r, again: again}
		c.state.runs.put(r.ID, have)
	} else {
		Overlay(&have.Run, r)
	}
	if (have.Guess || have.Local) && !have.always {
		have.always = true
		c.guessed = append(c.guessed, have)
	}
	c.listRun(have)
}

// listRun has this stretch tell of a run.
func (c *Collector) listRun(r *collectedRun) {
	if !r.listed {
		r.listed = true
		c.runs = append(c.runs, r)
		c.out.Bytes += recordSize
	}
}

func (c *Collector) conversation(r *transcript.Conversation) *collectedConversation {
	key := conversationKey{run: r.Run, id: r.ID}
	have := c.state.conversation(key)
	if have == nil {
		have = c.asideOrNew(key)
		have.Conversation = *r
	} else {
		Overlay(&have.Conversation, r)
	}
	c.listConversation(have)
	c.state.current.put(r.ID, r.Run)
	if c.near == 0 && r.Started.Valid {
		c.near = r.Started.UnixMicro
	}
	return have
}

func (c *Collector) asideOrNew(key conversationKey) *collectedConversation {
	have := c.state.conversation(key)
	if have == nil {
		have = &collectedConversation{}
		have.Run, have.Aside = key.run, key.aside
		c.state.conversations.put(key, have)
	}
	return have
}

// listConversation gives a conversation its place in this stretch.
func (c *Collector) listConversation(v *collectedConversation) {
	if !v.listed {
		v.listed, v.index = true, len(c.order)
		c.order = append(c.order, v)
		c.out.Bytes += recordSize
	}
}

// conversationOf finds the conversation that an event belongs to, and makes the one for uncounted rows of a run.
func (c *Collector) conversationOf(e *transcript.Event) *collectedConversation {
	if e.Run == "" || e.Verdict != transcript.Uncounted {
		if e.Run != "" {
			if v := c.state.conversation(conversationKey{run: e.Run, id: e.Conversation}); v != nil {
				return v
			}
		}
		if v := c.state.last(e.Conversation); v != nil {
			return v
		}
		return c.conversation(&transcript.Conversation{ID: e.Conversation, Run: e.Run})
	}
	return c.asideOrNew(conversationKey{run: e.Run, aside: true})
}

func (c *Collector) event(e *transcript.Event, look func() error) error {
	v := c.conversationOf(e)
	c.listConversation(v)
	v.LastSeq++
	n := max(len(e.Parts), 1)
	v.TotalRows += int64(n)
	if e.Time.Valid {
		c.near = e.Time.UnixMicro
	}
	if !c.fresh(e.Origin) {
		return nil
	}
	id, scene, rest := attributes(e)
	native := ParseNativeID(id)
	for i := range n {
		if i > 0 && i%someParts == 0 {
			if err := look(); err != nil {
				return err
			}
			c.listConversation(v)
		}
		part := transcript.Part{}
		if len(e.Parts) > 0 {
			part = e.Parts[i]
		}
		row := c.row(e, v, &part, scene)
		row.Part, row.Parts = i, n
		if i == 0 || row.EID != 0 {
			row.Native = native
		}
		if i == 0 {
			row.Attributes = rest
			if e.Retold != "" {
				row.Prompt = Hash("prompt", e.Retold)
			}
		}
		c.out.Rows = append(c.out.Rows, row)
		c.out.Bytes += rowSize + 4*len(row.T) + len(row.Native.Text) + len(row.Attributes)
		c.pending++
	}
	if c.near != 0 {
		c.settle()
	}
	return nil
}

func (c *Collector) row(e *transcript.Event, v *collectedConversation, part *transcript.Part, scene Scene) Row {
	f := facets{format: c.out.Format, Labels: Labels{Kind: e.Kind, Role: e.Role, Type: e.Type, Scene: scene}, or: e.OrRole, agent: e.Agent, model: e.Model}
	row := Row{
		Conversation: v.index, Seq: v.LastSeq, Verdict: e.Verdict, Time: e.Time,
		Inner: e.Origin.Inner, Offset: e.Origin.Offset, Length: e.Origin.Length, Line: e.Origin.Line,
		TextBytes: len(part.Text), Call: part.Call, Result: part.Result,
	}
	if row.Verdict == "" {
		row.Verdict = transcript.Counted
	}
	if part.Kind != "" {
		f.Kind = part.Kind
	}
	if f.Kind == "" {
		f.Kind = transcript.KindUnknown
	}
	if part.Role != "" {
		f.Role = part.Role
	}
	if part.Length > 0 {
		row.Offset += part.Offset
		row.Length = part.Length
	}
	if part.Call != nil {
		f.Tool = part.Call.Name
	} else if part.Result != nil {
		f.Tool = part.Result.Name
	}
	if e.ID != "" {
		row.EID = EventHash(c.out.Format, e.ID)
		if e.Global {
			row.Global = 2
			if e.Home {
				row.Global = 1
			}
		}
	}
	f.failed = row.Result != nil && row.Result.Failed == transcript.Yes
	said := c.labels(&f)
	row.Labels, row.T = &said.Labels, c.numbers(said.numbers, part.Text)
	return row
}

// rowSize is what a Row takes, roughly, its terms and attributes aside, recordSize what another record takes, and wordSize what a word
// of a list takes.
const (
	rowSize    = 384
	recordSize = 512
	wordSize   = 60
)

// numbers returns the numbers of facets, and behind them those of the terms of a text.
func (c *Collector) numbers(facets []uint32, text string) []uint32 {
	if most := len(facets) + len(text)/2 + 1; cap(c.room)-len(c.room) < most { // more is possible, but not usual
		c.room = make([]uint32, 0, max(most, 16<<10))
	}
	free := c.room[len(c.room):]
	all := append(free, facets...)
	for c.split.Begin(text); c.split.Next(&c.some); {
		all = c.terms.Number(all, &c.some)
	}
	if len(all) == 0 {
		return nil
	}
	if len(all) <= cap(free) {
		c.room = c.room[:len(c.room)+len(all)]
	}
	return slices.Clip(all)
}

// settle gives rows without a time the nearest known one, and the file's where there is none.
func (c *Collector) settle() {
	if c.pending == 0 {
		return
	}
	near := c.near
	if near == 0 {
		near = c.out.ModTime
	}
	rows := c.out.Rows
	for i := len(rows) - c.pending; i < len(rows); i++ {
		rows[i].Near = near
		if rows[i].Time.Valid {
			rows[i].Near = rows[i].Time.UnixMicro
		}
	}
	c.pending = 0
}

// facets is what is known of a row for ever, and all else that it says as others do. Many rows have the same.
type facets struct {
	format string
	Labels
	or, agent, model string
	failed           bool
}

// labelTerms is what rows with the same facets say, and the numbers of these.
type labelTerms struct {
	Labels
	numbers []uint32
}

// saidKept is how many of them a Collector knows at a time: few, unless each row names a step of its own.
const saidKept = 1 << 12

func (c *Collector) labels(f *facets) *labelTerms {
	if have := c.labelCache[*f]; have != nil {
		return have
	}
	b := make([]byte, 0, 96)
	add := func(field, value string) {
		if value == "" {
			return
		}
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = append(b, Facet(field, value)...)
	}
	add("format", f.format)
	add("kind", string(f.Kind))
	add("role", f.Role)
	add("role", f.or)
	add("type", f.Type)
	add("tool", f.Tool)
	add("agent", f.agent)
	add("model", f.model)
	if f.failed {
		add("is", "error")
	}
	if len(c.labelCache) == saidKept {
		clear(c.labelCache)
	}
	made := &labelTerms{f.Labels, c.terms.Add(nil, b)}
	c.labelCache[*f] = made
	return made
}
