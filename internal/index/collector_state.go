package index

// recent is a map that forgets: what nobody has asked for while many others came.
type recent[K comparable, V any] struct{ young, old map[K]V }

func (r *recent[K, V]) get(key K) (V, bool) {
	v, ok := r.young[key]
	if ok {
		return v, true
	}
	if v, ok = r.old[key]; ok {
		r.put(key, v)
	}
	return v, ok
}

func (r *recent[K, V]) put(key K, v V) {
	if r.young == nil {
		r.young = map[K]V{}
	}
	r.young[key] = v
}

// reset forgets all.
func (r *recent[K, V]) reset() { r.young, r.old = emptied(r.young), emptied(r.old) }

// turn forgets what was not asked for since the last turn but one.
func (r *recent[K, V]) turn(forget func(K, V)) {
	for key, v := range r.old {
		if _, ok := r.young[key]; !ok {
			forget(key, v)
		}
	}
	r.young, r.old = nil, r.young
}

// collectorState is what a Collector knows of the runs and conversations of an original. Of those that it was told of long ago it keeps what it needs
// when they go on: an original may have a million. What was said of them the index has: see Parsed.Again.
type collectorState struct {
	runs          recent[string, *collectedRun]
	conversations recent[conversationKey, *collectedConversation]
	current       recent[string, string] // runs of conversations by their native id, of the one last yielded

	gone   map[uint64]struct{} // runs, by the hash of their ids
	left   map[uint64]count    // conversations, by that of what makes them
	runsOf map[uint64]string   // as current has them, of conversations that are not called as their run
}

// count is how far a conversation has come: no original has more than four thousand millions of events.
type count struct{ seq, rows uint32 }

// mostKept is how many runs or conversations of an original are kept as they are, up to twice.
const mostKept = 1 << 12

func (m *collectorState) reset() {
	m.runs.reset()
	m.conversations.reset()
	m.current.reset()
	m.gone, m.left, m.runsOf = emptied(m.gone), emptied(m.left), emptied(m.runsOf)
}

func (k conversationKey) hash() uint64 {
	kind := "conversation"
	if k.aside {
		kind = "aside"
	}
	return sum([]string{kind, k.run, k.id})
}

// run returns what is known of a run; again says that there was more.
func (m *collectorState) run(id string) (have *collectedRun, again bool) {
	if have, ok := m.runs.get(id); ok {
		return have, false
	}
	_, again = m.gone[sum([]string{"run", id})]
	return nil, again
}

// conversation returns what is known of a conversation, nil for one that is new.
func (m *collectorState) conversation(key conversationKey) *collectedConversation {
	if have, ok := m.conversations.get(key); ok {
		return have
	}
	far, ok := m.left[key.hash()]
	if !ok {
		return nil
	}
	have := &collectedConversation{}
	have.Run, have.Aside, have.Again = key.run, key.aside, true
	have.ID, have.LastSeq, have.TotalRows = key.id, int64(far.seq), int64(far.rows)
	m.conversations.put(key, have)
	return have
}

// last returns the conversation that was last yielded under a native id, nil where none was.
func (m *collectorState) last(id string) *collectedConversation {
	run, ok := m.current.get(id)
	if !ok {
		if run, ok = m.runsOf[sum([]string{id})]; !ok {
			run = id
		}
	}
	return m.conversation(conversationKey{run: run, id: id})
}

// full says whether it is time to forget.
func (m *collectorState) full() bool {
	return max(len(m.runs.young), len(m.conversations.young)) >= mostKept
}

// forget keeps what is needed of those that nothing was said of for long. Runs that are told in each stretch stay.
func (m *collectorState) forget() {
	m.conversations.turn(func(key conversationKey, v *collectedConversation) {
		v.gone = true
		put(&m.left, key.hash(), count{uint32(v.LastSeq), uint32(v.TotalRows)})
	})
	m.runs.turn(func(id string, r *collectedRun) {
		if r.always {
			m.runs.put(id, r)
			return
		}
		r.gone = true
		put(&m.gone, sum([]string{"run", id}), struct{}{})
	})
	m.current.turn(func(id, run string) {
		delete(m.runsOf, sum([]string{id}))
		if run != id {
			put(&m.runsOf, sum([]string{id}), run)
		}
	})
}

func put[K comparable, V any](m *map[K]V, key K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = v
}
