// Package collect is the pure half of indexing: it turns the records of one version of an original into rows, with their keys, order, terms
// and facets.
package collect

import (
	"slices"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/lexicon"
	"github.com/txarchive/txarchive/internal/term"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Collector runs in the goroutines that read originals; an engine only writes the rows.
//
// A Collector must not be used concurrently. Reset begins a version. Take returns the rows collected so far, so that
// a long original is indexed in several chunks.
type Collector struct {
	split       term.Splitter
	scratch     term.Terms // terms of one text
	terms       *lexicon.Interner
	numberBlock []uint32 // block from which Row.T is allocated; its length is the part in use
	labelCache  map[facets]*labelTerms

	out           *index.Parsed
	rowBuffer     []index.Row // reused for the rows of a chunk until Take copies them
	smallBlock    []index.Row // block that holds the rows of several small originals
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
	index.Transcript
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

// New returns a Collector. Collectors that run concurrently share a Lexicon.
func New(l *lexicon.Lexicon) *Collector {
	c := &Collector{terms: lexicon.NewInterner(l), labelCache: map[facets]*labelTerms{}}
	c.Remember(maxYoung)
	return c
}

// Remember sets how many runs or conversations a generation of the state may have, so that tests need not have thousands of them.
func (c *Collector) Remember(n int) { c.state.maxYoung = n }

// Reset begins a version.
func (c *Collector) Reset(s index.Subject) {
	c.out = &index.Parsed{Subject: s, First: true, Rows: c.rowBuffer[:0]}
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
func (c *Collector) Size() int { return c.out.Bytes + wordSize*max(0, c.newWords()-lexicon.MaxTerms) }

func (c *Collector) newWords() int { return c.terms.Words().Len() - c.wordsBefore }

// Take returns what was collected since Reset or the last Take. A run or conversation with a new statement since then
// is returned with everything that was ever stated about it. last says that the version has ended.
func (c *Collector) Take(last bool) *index.Parsed {
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
		c.out = &index.Parsed{Subject: out.Subject, Rows: c.rowBuffer[:0]}
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
func (c *Collector) cloneRows(rows []index.Row) []index.Row {
	if len(rows) > smallBlockRows/4 {
		return slices.Clone(rows)
	}
	if cap(c.smallBlock)-len(c.smallBlock) < len(rows) {
		c.smallBlock = make([]index.Row, 0, smallBlockRows)
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
		index.Overlay(&have.Run, r)
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
		index.Overlay(&have.Conversation, r)
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
