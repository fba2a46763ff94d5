package flowstudio

import (
	"maps"
	"strings"

	"github.com/txarchive/txarchive/internal/transcript"
)

// What a transcript's names rest on (attribute named_by), best first.
const (
	byReceipt = "receipt"        // a receipt says that it is its transcript
	byPrefix  = "receipt prefix" // a receipt's step and agent make up the name
	byEvents  = "events"         // the timeline's do
	byGuess   = "guess"          // the program's own pattern
)

// pairHint is the key of hints that hold flow, step and agent of a timeline line, parted by tabs.
const pairHint = "pair"

// Resolve names the transcripts of a run by its receipts and timeline, joins receipts, steps and usage to them,
// and says which usage of transcripts a receipt has counted already.
func (flowStudio) Resolve(f *transcript.Family) {
	c := gather(f)
	owners := c.link(f.Receipts)
	for _, v := range f.Conversations {
		if v.ID != "" {
			c.name(v, attempt(v, f.Receipts, owners[v.ID]))
		}
	}
	c.steps(f.Steps)
	c.usage(f.Usage, owners)
}

// ResolvesUsage makes the format a format.UsageResolver.
func (flowStudio) ResolvesUsage() {}

// clues is what the originals of a run say, by the names that transcripts can have.
type clues struct {
	conversations map[string]*transcript.FamilyConversation
	byFile        map[string]*transcript.Receipt // "<flow dir>/<base name>" -> the receipt that says so
	byStem        map[string]*transcript.Receipt // "<flow dir>/<step>-<agent>"
	pairs         map[string]name                // the same, from the timeline
	byKey         map[string]*transcript.Receipt
	stems         map[string]string // "<flow dir>/<step>-<agent>" -> the first transcript so named
}

func gather(f *transcript.Family) *clues {
	c := &clues{
		conversations: map[string]*transcript.FamilyConversation{},
		byFile:        map[string]*transcript.Receipt{},
		byStem:        map[string]*transcript.Receipt{},
		pairs:         map[string]name{},
		byKey:         map[string]*transcript.Receipt{},
		stems:         map[string]string{},
	}
	for _, v := range f.Conversations {
		// Several originals may hold it: versions of a file that a retry overwrote, copies of the run.
		if have := c.conversations[v.ID]; have == nil || have.Model == "" || v.Verdict != transcript.EarlierVersion {
			c.conversations[v.ID] = v
		}
		if stem, _, ok := cutEngine(v.ID); ok && (c.stems[stem] == "" || v.ID < c.stems[stem]) {
			c.stems[stem] = v.ID
		}
	}
	c.gatherNames(f)
	return c
}

// gatherNames collects what receipts and timeline say.
func (c *clues) gatherNames(f *transcript.Family) {
	for _, r := range f.Receipts {
		if r.Kind != "step" {
			continue
		}
		c.byKey[r.Key] = r
		dir := flowDir(r)
		if r.Transcript != "" {
			newest(c.byFile, dir+"/"+strings.TrimSuffix(r.Transcript, ".jsonl"), r)
		}
		newest(c.byStem, dir+"/"+r.Step+"-"+r.Agent, r)
	}
	for _, h := range f.Hints {
		part := strings.Split(h.Value, "\t")
		if h.Key != pairHint || len(part) != 3 {
			continue
		}
		stem, n := part[0]+"/"+part[1]+"-"+part[2], name{step: part[1], agent: part[2]}
		if have, ok := c.pairs[stem]; !ok || n.step < have.step {
			c.pairs[stem] = n
		}
	}
}

// flowDir is the directory of the flow that a receipt lies in, which need not be the flow that it states.
func flowDir(r *transcript.Receipt) string {
	dir, _, _ := strings.Cut(r.Key, receiptSuffix(r.Step, r.Agent))
	return dir
}

// newest keeps the receipt of the last attempt.
func newest(m map[string]*transcript.Receipt, key string, r *transcript.Receipt) {
	have := m[key]
	if have == nil || r.Started.UnixMicro > have.Started.UnixMicro ||
		r.Started.UnixMicro == have.Started.UnixMicro && r.Key > have.Key {
		m[key] = r
	}
}

// link joins every receipt to its one transcript and gives the newest receipt of each. A receipt that names no
// transcript belongs to the one that its step, agent and engine make up; where only another engine's is there, to
// that one.
func (c *clues) link(receipts []*transcript.Receipt) map[string]*transcript.Receipt {
	owners := map[string]*transcript.Receipt{}
	for _, r := range receipts {
		if r.Kind != "step" {
			continue
		}
		id := flowDir(r) + "/" + strings.TrimSuffix(r.Transcript, ".jsonl")
		if r.Transcript == "" {
			id = c.composed(r)
		}
		if c.conversations[id] == nil {
			id = ""
		}
		r.Conversation = id
		if id != "" {
			newest(owners, id, r)
		}
	}
	return owners
}

// attempt gives the receipt of a transcript that a retry has overwritten: the last one that had begun when its last
// line was written. newest is that of the last attempt.
func attempt(v *transcript.FamilyConversation, receipts []*transcript.Receipt, newest *transcript.Receipt) *transcript.Receipt {
	if v.Verdict != transcript.EarlierVersion || !v.Ended.Valid {
		return newest
	}
	var own *transcript.Receipt
	for _, r := range receipts {
		if r.Kind != "step" || r.Conversation != v.ID || !r.Started.Valid || r.Started.UnixMicro > v.Ended.UnixMicro {
			continue
		}
		if own == nil || r.Started.UnixMicro > own.Started.UnixMicro {
			own = r
		}
	}
	if own == nil {
		return newest
	}
	return own
}

func (c *clues) composed(r *transcript.Receipt) string {
	want := flowDir(r) + "/" + r.Step + "-" + r.Agent
	if own := want + "-" + engineWord(r.Engine); c.conversations[own] != nil {
		return own
	}
	return c.stems[want]
}

// name sets what is known of a conversation by the best evidence. owner is its receipt, nil if it has none.
func (c *clues) name(v *transcript.FamilyConversation, owner *transcript.Receipt) {
	about := maps.Clone(v.Attributes)
	if about == nil {
		about = transcript.Attributes{}
	}
	v.Attributes = about
	stem, engine, ok := cutEngine(v.ID)
	switch {
	case c.byFile[v.ID] != nil:
		r := c.byFile[v.ID]
		v.Flow, v.Step, v.Agent, v.Engine = r.Flow, r.Step, r.Agent, engineWord(r.Engine)
		about["named_by"] = byReceipt
	case !ok:
	case c.byStem[stem] != nil:
		r := c.byStem[stem]
		v.Flow, v.Step, v.Agent, v.Engine = r.Flow, r.Step, r.Agent, engine
		about["named_by"] = byPrefix
	default:
		if n, ok := c.pairs[stem]; ok {
			v.Step, v.Agent, v.Engine = n.step, n.agent, engine
			about["named_by"] = byEvents
		}
	}
	if owner == nil {
		return
	}
	v.Status, v.Mode = owner.Status, owner.Mode
	if v.Model == "" {
		v.Model = owner.Model
	}
	if owner.Stub {
		about["stub"] = true
	}
	for _, key := range []string{"execution_mode", "execution_mode_effective", "fallback_reason"} {
		if a, ok := owner.Attributes[key]; ok {
			about[key] = a
		}
	}
}

func (c *clues) steps(steps []*transcript.Step) {
	joined := map[string]*transcript.Receipt{}
	for _, r := range c.byKey {
		newest(joined, executionKey(r.Flow, r.Step, r.Agent), r)
	}
	for _, s := range steps {
		if r := joined[s.Key]; r != nil && s.Kind == "execution" {
			s.Conversation = r.Conversation
		}
	}
}

// usage names what was spent. A receipt in cli mode states a default model; the transcript knows the real one.
func (c *clues) usage(usage []*transcript.Usage, owners map[string]*transcript.Receipt) {
	for _, u := range usage {
		// The receipt of an overwritten attempt is gone from the family, its usage is not.
		if r := c.byKey[u.Receipt]; r != nil {
			u.Conversation = r.Conversation
		}
		v := c.conversations[u.Conversation]
		if v == nil || v.ID == "" {
			continue
		}
		if u.Receipt != "" {
			if v.Model != "" && u.Verdict != transcript.OutsideReceipt {
				u.Model = v.Model
			}
			continue
		}
		u.Flow, u.Step, u.Agent, u.Engine = v.Flow, v.Step, v.Agent, v.Engine
		if u.Model == "" {
			u.Model = v.Model
		}
		if !strings.HasPrefix(u.Key, tokensKey) {
			continue
		}
		switch u.Verdict {
		case transcript.OutsideReceipt, transcript.DerivedTotal:
			u.Verdict = transcript.OutsideReceipt
			if owners[v.ID] != nil {
				u.Verdict = transcript.DerivedTotal
			}
		}
	}
}

// name is what a transcript's file name says, as far as it can be read.
type name struct {
	step, agent, engine string
}

// guessName splits a transcript's base name (without .jsonl) as the program's own pattern does: step up to the
// first hyphen, engine after the last. Right only where step ids hold no hyphen.
func guessName(base string) (name, bool) {
	step, rest, _ := strings.Cut(base, "-")
	agent, engine, ok := cutLast(rest, "-")
	if !ok || step == "" || agent == "" || engine == "" {
		return name{}, false
	}
	return name{step, agent, engine}, true
}

// cutEngine splits a conversation's id into "<flow dir>/<step>-<agent>" and the engine, which is one word.
func cutEngine(id string) (stem, engine string, ok bool) {
	stem, engine, ok = cutLast(id, "-")
	return stem, engine, ok && stem != "" && engine != "" && !strings.Contains(engine, "/")
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// baseName gives the last element of a path that a program wrote, on any system.
func baseName(file string) string {
	return file[strings.LastIndexAny(file, `/\`)+1:]
}

// engineWord turns the engine of a receipt ("claude-step") into the word that transcripts are named by.
func engineWord(engine string) string { return strings.TrimSuffix(engine, "-step") }
