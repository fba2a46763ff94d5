package flowstudio

import (
	"maps"
	"strings"

	"github.com/txarchive/txarchive/internal/transcript"
)

// The evidence for a transcript's step, agent and engine (attribute named_by), best first.
const (
	byReceipt = "receipt"        // a receipt names it as its transcript
	byPrefix  = "receipt prefix" // a receipt's step and agent compose the name
	byEvents  = "events"         // step and agent of a timeline line compose the name
	byGuess   = "guess"          // the program's own file name pattern
)

// pairHint is the key of hints that hold flow, step and agent of a timeline line, separated by tabs.
const pairHint = "pair"

// Resolve names the transcripts of a run by its receipts and timeline, joins receipts, steps and usage to them, and marks
// the usage of transcripts that a receipt already counts.
func (flowStudio) Resolve(f *transcript.Family) {
	ev := gatherEvidence(f)
	owners := ev.link(f.Receipts)
	for _, v := range f.Conversations {
		if v.ID != "" {
			ev.name(v, receiptOfAttempt(v, f.Receipts, owners[v.ID]))
		}
	}
	ev.steps(f.Steps)
	ev.usage(f.Usage, owners)
}

// ResolvesUsage makes the format a format.UsageResolver.
func (flowStudio) ResolvesUsage() {}

// evidence indexes what the originals of a run state by the names that transcripts can have.
type evidence struct {
	conversations map[string]*transcript.FamilyConversation
	byFile        map[string]*transcript.Receipt // "<flow dir>/<base name>" -> the receipt that names it
	byStem        map[string]*transcript.Receipt // "<flow dir>/<step>-<agent>"
	pairs         map[string]name                // as byStem, from the timeline
	byKey         map[string]*transcript.Receipt
	stems         map[string]string // "<flow dir>/<step>-<agent>" -> the first transcript so named
}

func gatherEvidence(f *transcript.Family) *evidence {
	ev := &evidence{
		conversations: map[string]*transcript.FamilyConversation{},
		byFile:        map[string]*transcript.Receipt{},
		byStem:        map[string]*transcript.Receipt{},
		pairs:         map[string]name{},
		byKey:         map[string]*transcript.Receipt{},
		stems:         map[string]string{},
	}
	for _, v := range f.Conversations {
		// Several originals may hold a conversation: versions of a file that a retry overwrote, copies of the run.
		if have := ev.conversations[v.ID]; have == nil || have.Model == "" || v.Verdict != transcript.EarlierVersion {
			ev.conversations[v.ID] = v
		}
		if stem, _, ok := cutEngine(v.ID); ok && (ev.stems[stem] == "" || v.ID < ev.stems[stem]) {
			ev.stems[stem] = v.ID
		}
	}
	ev.gatherNames(f)
	return ev
}

// gatherNames indexes the names that receipts and timeline state.
func (ev *evidence) gatherNames(f *transcript.Family) {
	for _, r := range f.Receipts {
		if r.Kind != "step" {
			continue
		}
		ev.byKey[r.Key] = r
		dir := flowDir(r)
		if r.Transcript != "" {
			newest(ev.byFile, dir+"/"+strings.TrimSuffix(r.Transcript, ".jsonl"), r)
		}
		newest(ev.byStem, dir+"/"+r.Step+"-"+r.Agent, r)
	}
	for _, h := range f.Hints {
		part := strings.Split(h.Value, "\t")
		if h.Key != pairHint || len(part) != 3 {
			continue
		}
		stem, n := part[0]+"/"+part[1]+"-"+part[2], name{step: part[1], agent: part[2]}
		if have, ok := ev.pairs[stem]; !ok || n.step < have.step {
			ev.pairs[stem] = n
		}
	}
}

// flowDir returns the flow directory that a receipt lies in, which may differ from the flow that it states.
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

// link joins each receipt to its one transcript and returns the newest receipt of each transcript. A receipt that names no
// transcript belongs to the one that its step, agent and engine compose, else to the one of another engine with that step
// and agent.
func (ev *evidence) link(receipts []*transcript.Receipt) map[string]*transcript.Receipt {
	owners := map[string]*transcript.Receipt{}
	for _, r := range receipts {
		if r.Kind != "step" {
			continue
		}
		id := flowDir(r) + "/" + strings.TrimSuffix(r.Transcript, ".jsonl")
		if r.Transcript == "" {
			id = ev.composedID(r)
		}
		if ev.conversations[id] == nil {
			id = ""
		}
		r.Conversation = id
		if id != "" {
			newest(owners, id, r)
		}
	}
	return owners
}

// receiptOfAttempt returns the receipt of a transcript that a retry has overwritten: the last one that had begun when the
// transcript's last line was written. newest is the receipt of the last attempt.
func receiptOfAttempt(v *transcript.FamilyConversation, receipts []*transcript.Receipt, newest *transcript.Receipt) *transcript.Receipt {
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

func (ev *evidence) composedID(r *transcript.Receipt) string {
	want := flowDir(r) + "/" + r.Step + "-" + r.Agent
	if own := want + "-" + engineWord(r.Engine); ev.conversations[own] != nil {
		return own
	}
	return ev.stems[want]
}

// name names a conversation by the best evidence. owner is its receipt, nil if it has none.
func (ev *evidence) name(v *transcript.FamilyConversation, owner *transcript.Receipt) {
	attrs := maps.Clone(v.Attributes)
	if attrs == nil {
		attrs = transcript.Attributes{}
	}
	v.Attributes = attrs
	stem, engine, ok := cutEngine(v.ID)
	switch {
	case ev.byFile[v.ID] != nil:
		r := ev.byFile[v.ID]
		v.Flow, v.Step, v.Agent, v.Engine = r.Flow, r.Step, r.Agent, engineWord(r.Engine)
		attrs["named_by"] = byReceipt
	case !ok:
	case ev.byStem[stem] != nil:
		r := ev.byStem[stem]
		v.Flow, v.Step, v.Agent, v.Engine = r.Flow, r.Step, r.Agent, engine
		attrs["named_by"] = byPrefix
	default:
		if n, ok := ev.pairs[stem]; ok {
			v.Step, v.Agent, v.Engine = n.step, n.agent, engine
			attrs["named_by"] = byEvents
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
		attrs["stub"] = true
	}
	for _, key := range []string{"execution_mode", "execution_mode_effective", "fallback_reason"} {
		if a, ok := owner.Attributes[key]; ok {
			attrs[key] = a
		}
	}
}

func (ev *evidence) steps(steps []*transcript.Step) {
	joined := map[string]*transcript.Receipt{}
	for _, r := range ev.byKey {
		newest(joined, executionKey(r.Flow, r.Step, r.Agent), r)
	}
	for _, s := range steps {
		if r := joined[s.Key]; r != nil && s.Kind == "execution" {
			s.Conversation = r.Conversation
		}
	}
}

// usage fills in the names of usage records. A receipt in cli mode states a default model; the transcript has the real one.
func (ev *evidence) usage(usage []*transcript.Usage, owners map[string]*transcript.Receipt) {
	for _, u := range usage {
		// The family no longer has the receipt of an overwritten attempt, but still has its usage.
		if r := ev.byKey[u.Receipt]; r != nil {
			u.Conversation = r.Conversation
		}
		v := ev.conversations[u.Conversation]
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

// name holds the parts of a transcript's file name, as far as they can be read.
type name struct {
	step, agent, engine string
}

// guessName splits a transcript's base name (without .jsonl) by the program's own pattern: step up to the first hyphen,
// engine after the last. That is right only where step ids contain no hyphen.
func guessName(base string) (name, bool) {
	step, rest, _ := strings.Cut(base, "-")
	agent, engine, ok := cutLast(rest)
	if !ok || step == "" || agent == "" || engine == "" {
		return name{}, false
	}
	return name{step, agent, engine}, true
}

// cutEngine splits a conversation id into "<flow dir>/<step>-<agent>" and the engine, which is one word.
func cutEngine(id string) (stem, engine string, ok bool) {
	stem, engine, ok = cutLast(id)
	return stem, engine, ok && stem != "" && engine != "" && !strings.Contains(engine, "/")
}

// cutLast cuts around the last hyphen.
func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, '-')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}

// baseName returns the last element of a path that a program wrote on any system.
func baseName(file string) string {
	return file[strings.LastIndexAny(file, `/\`)+1:]
}

// engineWord returns the engine as transcript names have it, from that of a receipt ("claude-step").
func engineWord(engine string) string { return strings.TrimSuffix(engine, "-step") }
