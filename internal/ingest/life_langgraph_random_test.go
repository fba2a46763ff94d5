package ingest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/seedtest"
)

// graphWorld is a program that does with its threads what it likes, and counts for itself what was said.
type graphWorld struct {
	rng     *rand.Rand
	s       *tree
	bases   []*base
	threads []*graphThread
	second  int
	last    int               // the number of the last message
	said    map[string]bool   // a message and a text of it
	homes   map[string]string // by a message and its text, the thread that said it first
	used    map[string]bool   // an answer
	runs    map[string]bool
	graphs  map[string]bool
	want    counts
}

// graphMessage is a message of a thread, of which the text may change.
type graphMessage struct {
	id   int
	kind byte // user, answer, result
	text string
}

func (m graphMessage) packed() packed {
	switch m.kind {
	case 'u':
		return graphSaid(m.id, m.text)
	case 'a':
		return graphAnswer(m.id, m.text, "")
	}
	return graphResult(m.id, m.id-1, m.text)
}

// graphThread is a thread in one of the databases. An ended one is saved at the end of each run alone.
type graphThread struct {
	graph
	messages []graphMessage
	ended    bool
	mixed    bool // it was an ended one
}

func (w *graphWorld) counts(t *graphThread, all ...graphMessage) {
	if id := t.thread; !w.runs[id] {
		w.runs[id] = true
		w.want.runs++
	}
	if id := t.thread + "|" + t.namespace; !w.graphs[id] {
		w.graphs[id] = true
		w.want.conversations++
	}
	for _, m := range all {
		if key := fmt.Sprint(m.id, m.text); !w.said[key] {
			w.said[key], w.homes[key] = true, t.thread
			w.want.events++
			if m.kind == 'r' {
				w.want.results++
			}
		}
		if key := fmt.Sprint(m.id); m.kind == 'a' && !w.used[key] {
			w.used[key] = true
			w.want.in += int64(m.id) * 10
			w.want.out += int64(m.id)
		}
	}
}

// forks counts the other threads that the messages of a thread come from.
func (w *graphWorld) forks(t *graphThread) {
	from := map[string]bool{}
	for _, m := range t.messages {
		from[w.homes[fmt.Sprint(m.id, m.text)]] = true
	}
	w.want.links += int64(len(from))
}

// steps has a thread write messages, in one step.
func (w *graphWorld) steps(t *graphThread, source string, all ...graphMessage) {
	w.second++
	for _, m := range all {
		i := slices.IndexFunc(t.messages, func(one graphMessage) bool { return one.id == m.id })
		if i < 0 {
			t.messages = append(t.messages, m)
		} else {
			t.messages[i] = m
		}
	}
	t.state = t.state[:0:0]
	for _, m := range t.messages {
		t.state = append(t.state, m.packed())
	}
	w.counts(t, all...)
	if t.ended {
		t.saves(w.second, "loop")
		return
	}
	t.saves(w.second, source)
	state := t.state
	t.state = nil
	var packs []any
	for _, m := range all {
		packs = append(packs, m.packed())
	}
	t.writes(packs...)
	t.state = state
}

func (w *graphWorld) message(kind byte) graphMessage {
	w.last++
	return graphMessage{w.last, kind, fmt.Sprint("word", w.last)}
}

func (w *graphWorld) begin(b *base) *graphThread {
	n := len(w.threads)
	t := &graphThread{graph: graph{b: b, thread: graphID(900 + n)}, ended: w.rng.IntN(4) == 0}
	if w.rng.IntN(3) == 0 {
		t.thread = fmt.Sprint("customer-", n)
	}
	w.threads = append(w.threads, t)
	return t
}

func (w *graphWorld) act() {
	if len(w.threads) == 0 {
		w.begin(w.bases[0])
	}
	t := w.threads[w.rng.IntN(len(w.threads))]
	switch n := w.rng.IntN(12); {
	case len(t.messages) == 0 || n < 4:
		w.steps(t, "input", w.message('u'))
		if answer := w.message('a'); w.rng.IntN(2) == 0 {
			w.steps(t, "loop", answer, w.message('r'))
		} else {
			w.steps(t, "loop", answer)
		}
	case n == 4 && len(w.threads) < 6:
		w.begin(t.b)
	case n == 5 && !t.ended: // a message is changed, or written again
		m := t.messages[w.rng.IntN(len(t.messages))]
		if w.rng.IntN(3) > 0 {
			w.last++
			m.text = fmt.Sprint("changed", w.last)
		}
		w.steps(t, "loop", m)
	case n == 6 && !t.ended && t.last > 1: // it goes back
		t.messages = t.messages[:1+w.rng.IntN(len(t.messages))]
	case n == 7 && len(w.threads) < 6 && !t.ended && !t.mixed: // another thread begins with its messages
		other := w.begin(t.b)
		other.ended = false
		other.messages = slices.Clone(t.messages)
		for _, m := range other.messages {
			other.state = append(other.state, m.packed())
		}
		w.second++
		other.saves(w.second, "update")
		w.counts(other)
		w.forks(other)
	case n == 8 && !t.ended && t.namespace == "": // it calls a graph with all messages
		w.second++
		sub := &graphThread{graph: graph{b: t.b, thread: t.thread, namespace: fmt.Sprintf("team:c0000000-0000-4000-8000-%012d", w.second)}}
		w.steps(sub, "input", t.messages...)
		w.steps(sub, "loop", w.message('a'))
		w.steps(t, "loop", sub.messages...)
		w.want.links++
	case n == 9 && len(w.bases) < 2: // the database is copied
		name := fmt.Sprintf("/copy-%d.db", len(w.bases))
		t.b.do("VACUUM INTO ?", w.s.dir+name)
		b := baseAt(w.s.t, w.s.dir+name)
		w.bases = append(w.bases, b)
		for _, one := range w.threads[:len(w.threads):len(w.threads)] {
			if one.ended || one.b != t.b || len(one.messages) == 0 {
				continue
			}
			twin := *one
			twin.b, twin.messages = b, slices.Clone(one.messages)
			w.threads = append(w.threads, &twin)
		}
	case n == 10 && t.ended: // it is saved with each step from now on, which a run begins
		t.ended, t.mixed = false, true
		w.steps(t, "input", w.message('u'))
	}
}

// TestRandomLangGraph has programs that do anything, and compares what is read step by step, at once and again with what they counted.
func TestRandomLangGraph(t *testing.T) {
	for n := range 6 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := newTree(t)
			w := &graphWorld{rng: seedtest.Rand(t), s: s, said: map[string]bool{}, homes: map[string]string{}, used: map[string]bool{}, runs: map[string]bool{}, graphs: map[string]bool{}}
			w.bases = []*base{newBase(s, "app/graph.db", graphCheckpoints+graphWrites)}
			archive := newWorld(t)
			for step := range 16 {
				w.act()
				if w.rng.IntN(4) == 0 || step == 15 {
					archive.ingestAndCheck(fmt.Sprint("step ", step), "langgraph", s.dir, w.want)
				}
			}
			newWorld(t).ingestAndCheck("at once", "langgraph", s.dir, w.want)
		})
	}
}
