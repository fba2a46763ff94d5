package index

import (
	"slices"

	"github.com/txarchive/txarchive/internal/term"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Collector turns the records of one version into rows: keys, order, terms and facets. It is the pure half of
// indexing and runs in the goroutines that read originals; an engine only writes the rows.
//
// A Collector must not be used concurrently. Reset begins a version. Take returns the rows collected so far, so that
// a long original is indexed in several chunks.
type Collector struct {
	split       term.Splitter
	scratch     term.Terms // terms of one text
	terms       *Interner
	numberBlock []uint32 // block from which Row.T is allocated; its length is the part in use
	labelCache  map[facets]*labelTerms

	out           *Parsed
	rowBuffer     []Row // reused for the rows of a chunk until Take copies them
	smallBlock    []Row // block that holds the rows of several small originals
	state         collectorState
	runs          []*collectedRun          // runs with new statements since the last Take
	always        []*collectedRun          // runs that every chunk repeats: guesses, and those with local ids
	conversations []*collectedConversation // conversations with new statements since the last Take
	replaying     bool                     // all records so far are indexed already
	problems      problemCap
	lastTime      int64 // last known time of an event, 0 before the first
	pending       int   // rows at the end of out.Rows that have no time yet
	lastOffset    int64 // end of the last record
	wordsBefore   int   // length of the term list when the chunk began
}

// collectedConversation is a conversation with its index in Parsed.Conversations, valid while it is listed.
type collectedConversation struct {
	Transcript
	index   int
	listed  bool // in Collector.conversations
	evicted bool // from the collector's state
}

// collectedRun merges what was stated about a run so far, or since it was evicted.
type collectedRun struct {
	transcript.Run
	listed    bool // in Collector.runs
	always    bool // in Collector.always
	continued bool // more was stated before it was evicted
	evicted   bool // from the collector's state
}

type conversationKey struct {
	run, id   string
	uncounted bool
}

// NewCollector returns a Collector. Collectors that run concurrently share a Lexicon.
func NewCollector(l *Lexicon) *Collector {
	c := &Collector{terms: NewInterner(l), labelCache: map[facets]*labelTerms{}}
	c.Remember(maxYoung)
	return c
}

// Remember sets how many runs or conversations a generation of the state may have, so that tests need not have thousands of them.
func (c *Collector) Remember(n int) { c.state.maxYoung = n }

// Reset begins a version.
func (c *Collector) Reset(s Subject) {
	c.out = &Parsed{Subject: s, First: true, Rows: c.rowBuffer[:0]}
	c.state.reset()
	c.clearLists()
	c.replaying = s.From > 0
	clear(c.always)
	c.always = c.always[:0]
	c.lastTime, c.pending, c.lastOffset, c.problems = 0, 0, s.From, problemCap{}
	c.startTerms()
}

// clearLists empties the lists of a chunk.
func (c *Collector) clearLists() {
	for _, r := range c.runs {
		r.listed = false
	}
	for _, v := range c.conversations {
		v.listed = false
	}
	clear(c.runs)
	clear(c.conversations)
	c.runs, c.conversations = c.runs[:0], c.conversations[:0]
}

// cleared returns an empty map: m itself, unless it has grown large.
func cleared[K comparable, V any](m map[K]V) map[K]V {
	if len(m) > 64 {
		return map[K]V{}
	}
	clear(m)
	return m
}

// startTerms begins a chunk, all of whose rows have numbers of the same term list.
func (c *Collector) startTerms() {
	if c.terms.Start() {
		clear(c.labelCache)
	}
	c.wordsBefore = c.terms.Words().Len()
}

// Size returns the memory that the collected rows hold, in bytes. New words count only beyond the regular length of a
// term list.
func (c *Collector) Size() int { return c.out.Bytes + wordSize*max(0, c.newWords()-maxTerms) }

func (c *Collector) newWords() int { return c.terms.Words().Len() - c.wordsBefore }

// Take returns what was collected since Reset or the last Take. A run or conversation with a new statement since then
// is returned with everything that was ever stated about it. last says that the version has ended.
func (c *Collector) Take(last bool) *Parsed {
	c.fillTimes()
	if last {
		c.addProblemSummary()
	}
	out := c.out
	out.Last, out.Until = last, c.lastOffset
	c.rowBuffer = out.Rows
	out.Rows = c.cloneRows(c.rowBuffer)
	clear(c.rowBuffer)
	for _, r := range c.always {
		c.listRun(r)
	}
	for _, r := range c.runs {
		run := &r.Run
		if !last {
			snapshot := *run
			run = &snapshot
		}
		if run.Guess {
			run.Guess, out.Until = false, 0
		}
		if r.continued {
			putMap(&out.Continued, run.ID, true)
		} else if run.Host == "" && !run.Named {
			run.Host = out.Host
		}
		out.Runs = append(out.Runs, run)
	}
	for _, v := range c.conversations {
		if r, ok := c.state.runs.get(v.Run); ok && v.Uncounted {
			v.Rank = min(r.Rank, 0)
		}
		out.Conversations = append(out.Conversations, v.Transcript)
	}
	c.clearLists()
	if c.state.full() {
		c.state.evict()
	}
	out.Words, out.Held = c.terms.Words(), out.Bytes+wordSize*c.newWords()
	if c.out = nil; !last {
		c.out = &Parsed{Subject: out.Subject, Rows: c.rowBuffer[:0]}
		c.startTerms()
	}
	return out
}

// evict bounds the state while records are replayed that are indexed already: no Take empties the lists then. Evicted
// runs and conversations are not part of the next chunk.
func (c *Collector) evict() {
	if !c.replaying || !c.state.full() {
		return
	}
	c.state.evict()
	before := len(c.runs) + len(c.conversations)
	c.runs = slices.DeleteFunc(c.runs, func(r *collectedRun) bool { return r.evicted })
	c.conversations = slices.DeleteFunc(c.conversations, func(v *collectedConversation) bool { return v.evicted })
	for i, v := range c.conversations {
		v.index = i
	}
	c.out.Bytes -= recordSize * (before - len(c.runs) - len(c.conversations))
}

// smallBlockRows is how many rows of small originals share a block. One allocation for each small original was a
// measurable part of its cost.
const smallBlockRows = 128

// cloneRows returns a copy of rows.
func (c *Collector) cloneRows(rows []Row) []Row {
	if len(rows) > smallBlockRows/4 {
		return slices.Clone(rows)
	}
	if cap(c.smallBlock)-len(c.smallBlock) < len(rows) {
		c.smallBlock = make([]Row, 0, smallBlockRows)
	}
	from := len(c.smallBlock)
	c.smallBlock = append(c.smallBlock, rows...)
	return slices.Clip(c.smallBlock[from:])
}

func (c *Collector) run(r *transcript.Run) {
	c.evict()
	have, continued := c.state.run(r.ID)
	if have == nil {
		have = &collectedRun{Run: *r, continued: continued}
		c.state.runs.put(r.ID, have)
	} else {
		Overlay(&have.Run, r)
	}
	if (have.Guess || have.Local) && !have.always {
		have.always = true
		c.always = append(c.always, have)
	}
	c.listRun(have)
}

// listRun adds a run to the chunk.
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
		have = c.conversationFor(key)
		have.Conversation = *r
	} else {
		Overlay(&have.Conversation, r)
	}
	c.listConversation(have)
	c.state.current.put(r.ID, r.Run)
	if c.lastTime == 0 && r.Started.Valid {
		c.lastTime = r.Started.UnixMicro
	}
	return have
}

// conversationFor returns the conversation with a key, and creates it if it is new.
func (c *Collector) conversationFor(key conversationKey) *collectedConversation {
	have := c.state.conversation(key)
	if have == nil {
		have = &collectedConversation{}
		have.Run, have.Uncounted = key.run, key.uncounted
		c.state.conversations.put(key, have)
	}
	return have
}

// listConversation adds a conversation to the chunk and sets its index in it.
func (c *Collector) listConversation(v *collectedConversation) {
	if !v.listed {
		v.listed, v.index = true, len(c.conversations)
		c.conversations = append(c.conversations, v)
		c.out.Bytes += recordSize
	}
}

// conversationOf returns the conversation of an event. It creates the one for uncounted rows of a run.
func (c *Collector) conversationOf(e *transcript.Event) *collectedConversation {
	if e.Run == "" || e.Verdict != transcript.Uncounted {
		if e.Run != "" {
			if v := c.state.conversation(conversationKey{run: e.Run, id: e.Conversation}); v != nil {
				return v
			}
		}
		if v := c.state.lastYielded(e.Conversation); v != nil {
			return v
		}
		return c.conversation(&transcript.Conversation{ID: e.Conversation, Run: e.Run})
	}
	return c.conversationFor(conversationKey{run: e.Run, uncounted: true})
}

func (c *Collector) event(e *transcript.Event, afterChunk func() error) error {
	v := c.conversationOf(e)
	c.listConversation(v)
	v.LastSeq++
	n := max(len(e.Parts), 1)
	v.TotalRows += int64(n)
	if e.Time.Valid {
		c.lastTime = e.Time.UnixMicro
	}
	if !c.isNew(e.Origin) {
		return nil
	}
	id, scene, rest := attributes(e)
	nativeID := ParseNativeID(id)
	for i := range n {
		if i > 0 && i%chunkParts == 0 {
			if err := afterChunk(); err != nil {
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
			row.Native = nativeID
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
	if c.lastTime != 0 {
		c.fillTimes()
	}
	return nil
}

func (c *Collector) row(e *transcript.Event, v *collectedConversation, part *transcript.Part, scene Scene) Row {
	f := facets{format: c.out.Format, Labels: Labels{Kind: e.Kind, Role: e.Role, Type: e.Type, Scene: scene}, orRole: e.OrRole, agent: e.Agent, model: e.Model}
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
	labels := c.labels(&f)
	row.Labels, row.T = &labels.Labels, c.numbers(labels.numbers, part.Text)
	return row
}

// Approximate memory in bytes.
const (
	rowSize    = 384 // a Row without its terms and attributes
	recordSize = 512 // any other record
	wordSize   = 60  // a word of a term list
)

// numbers returns the numbers of facets followed by those of the terms of a text.
func (c *Collector) numbers(facets []uint32, text string) []uint32 {
	if size := len(facets) + len(text)/2 + 1; cap(c.numberBlock)-len(c.numberBlock) < size { // append grows the slice in the rare case that this is too small
		c.numberBlock = make([]uint32, 0, max(size, 16<<10))
	}
	free := c.numberBlock[len(c.numberBlock):]
	numbers := append(free, facets...)
	for c.split.Begin(text); c.split.Next(&c.scratch); {
		numbers = c.terms.appendTerms(numbers, &c.scratch)
	}
	if len(numbers) == 0 {
		return nil
	}
	if len(numbers) <= cap(free) {
		c.numberBlock = c.numberBlock[:len(c.numberBlock)+len(numbers)]
	}
	return slices.Clip(numbers)
}

// fillTimes gives pending rows without a time the nearest known time, or the file's where there is none.
func (c *Collector) fillTimes() {
	if c.pending == 0 {
		return
	}
	near := c.lastTime
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

// facets has the values of a row that never change and are facets or Labels. Many rows have equal ones.
type facets struct {
	format string
	Labels
	orRole, agent, model string
	failed               bool
}

// labelTerms has the labels and the facets' term numbers of all rows with equal facets.
type labelTerms struct {
	Labels
	numbers []uint32
}

// maxLabelCache bounds Collector.labelCache. An original needs few entries, unless each row names a step of its own.
const maxLabelCache = 1 << 12

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
	add("role", f.orRole)
	add("type", f.Type)
	add("tool", f.Tool)
	add("agent", f.agent)
	add("model", f.model)
	if f.failed {
		add("is", "error")
	}
	if len(c.labelCache) == maxLabelCache {
		clear(c.labelCache)
	}
	made := &labelTerms{f.Labels, c.terms.Append(nil, b)}
	c.labelCache[*f] = made
	return made
}
