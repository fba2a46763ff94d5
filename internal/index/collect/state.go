package collect

import "github.com/txarchive/txarchive/internal/index"

// generations is a map that evicts entries in two generations: those that were not used since the last rotation but one.
type generations[K comparable, V any] struct{ young, old map[K]V }

func (r *generations[K, V]) get(key K) (V, bool) {
	v, ok := r.young[key]
	if ok {
		return v, true
	}
	if v, ok = r.old[key]; ok {
		r.put(key, v)
	}
	return v, ok
}

func (r *generations[K, V]) put(key K, v V) {
	if r.young == nil {
		r.young = map[K]V{}
	}
	r.young[key] = v
}

// reset removes all entries.
func (r *generations[K, V]) reset() { r.young, r.old = cleared(r.young), cleared(r.old) }

// rotate evicts the entries that were not used since the last rotation and begins a new generation.
func (r *generations[K, V]) rotate(evict func(K, V)) {
	for key, v := range r.old {
		if _, ok := r.young[key]; !ok {
			evict(key, v)
		}
	}
	r.young, r.old = nil, r.young
}

// collectorState has the runs and conversations of an original. An original may have a million of them, so those that
// were not mentioned for long are evicted: only what is needed to continue them is kept. The index has the rest: see
// Parsed.Continued.
type collectorState struct {
	runs          generations[string, *collectedRun]
	conversations generations[conversationKey, *collectedConversation]
	current       generations[string, string] // native id of a conversation -> run of the one last yielded under it

	evictedRuns          map[int64]struct{} // by hash of the run's id
	evictedConversations map[int64]progress // by hash of the key
	evictedCurrent       map[int64]string   // evicted entries of current, by hash of the native id; not those where the run has the same id

	maxYoung int // see Collector.Remember
}

// progress is how far a conversation has come. uint32 is enough: no original has more than four billion events.
type progress struct{ seq, rows uint32 }

// maxYoung is how many runs or conversations a generation may have. There are two generations.
const maxYoung = 1 << 12

func (m *collectorState) reset() {
	m.runs.reset()
	m.conversations.reset()
	m.current.reset()
	m.evictedRuns, m.evictedConversations, m.evictedCurrent = cleared(m.evictedRuns), cleared(m.evictedConversations), cleared(m.evictedCurrent)
}

func (k conversationKey) hash() int64 {
	kind := "conversation"
	if k.uncounted {
		kind = "uncounted"
	}
	return index.Hash(kind, k.run, k.id)
}

// run returns the state of a run, nil if there is none. continued reports that it had one that was evicted.
func (m *collectorState) run(id string) (have *collectedRun, continued bool) {
	if have, ok := m.runs.get(id); ok {
		return have, false
	}
	_, continued = m.evictedRuns[index.Hash("run", id)]
	return nil, continued
}

// conversation returns the state of a conversation, nil for one that is new.
func (m *collectorState) conversation(key conversationKey) *collectedConversation {
	if have, ok := m.conversations.get(key); ok {
		return have
	}
	far, ok := m.evictedConversations[key.hash()]
	if !ok {
		return nil
	}
	have := &collectedConversation{}
	have.Run, have.Uncounted, have.Continued = key.run, key.uncounted, true
	have.ID, have.LastSeq, have.TotalRows = key.id, int64(far.seq), int64(far.rows)
	m.conversations.put(key, have)
	return have
}

// lastYielded returns the conversation that was last yielded under a native id, nil where none was.
func (m *collectorState) lastYielded(id string) *collectedConversation {
	run, ok := m.current.get(id)
	if !ok {
		if run, ok = m.evictedCurrent[index.Hash(id)]; !ok {
			run = id
		}
	}
	return m.conversation(conversationKey{run: run, id: id})
}

// full reports whether it is time to evict.
func (m *collectorState) full() bool {
	return max(len(m.runs.young), len(m.conversations.young)) >= m.maxYoung
}

// evict reduces the runs and conversations that were not mentioned for long to what continuing them needs. Runs that
// every chunk repeats stay.
func (m *collectorState) evict() {
	m.conversations.rotate(func(key conversationKey, v *collectedConversation) {
		v.evicted = true
		putMap(&m.evictedConversations, key.hash(), progress{uint32(v.LastSeq), uint32(v.TotalRows)})
	})
	m.runs.rotate(func(id string, r *collectedRun) {
		if r.always {
			m.runs.put(id, r)
			return
		}
		r.evicted = true
		putMap(&m.evictedRuns, index.Hash("run", id), struct{}{})
	})
	m.current.rotate(func(id, run string) {
		delete(m.evictedCurrent, index.Hash(id))
		if run != id {
			putMap(&m.evictedCurrent, index.Hash(id), run)
		}
	})
}

func putMap[K comparable, V any](m *map[K]V, key K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = v
}
