package codewhale

import (
	"hash/fnv"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// item is a message, or another entry of the journal.
type item struct {
	value   jsontext.Value // the entry, or the message where there is no journal
	kind    string         // of the entry
	message jsontext.Value // absent in entries of other kinds
	at      transcript.Time
	hash    uint64
	ordinal int // of items with this hash, among those that it follows
}

// key identifies what was said in a session.
type key struct {
	hash    uint64
	ordinal int
}

// itemsOf returns the entries of the journal, and the messages of a version without one: with it, the messages repeat the branch of the journal that is
// active.
func itemsOf(session jsontext.Value) (all []item) {
	entries := session.Get("journal", "entries")
	if !entries.HasItems() {
		said := map[uint64]int{}
		for v := range session.Get("messages").Items() {
			i := item{value: v, kind: "message", message: v, hash: hashOf(v)}
			i.ordinal = said[i.hash]
			said[i.hash]++
			all = append(all, i)
		}
		return all
	}
	var parents []int
	places := map[string]int{}
	for v := range entries.Items() {
		i := item{value: v, kind: v.Get("kind").Word(), at: v.Get("created_at").Time(), hash: hashOf(v)}
		if i.kind == "message" {
			i.message = v.Get("message")
			i.hash = hashOf(i.message)
		}
		parent, ok := places[v.Get("parent_id").Str()]
		if !ok {
			parent = -1
		}
		all, parents = append(all, i), append(parents, parent)
		if id := v.Get("id").Str(); id != "" {
			places[id] = len(all) - 1
		}
	}
	count(all, parents)
	return all
}

// hashOf returns a hash of what a message or an entry says.
func hashOf(v jsontext.Value) uint64 {
	h := fnv.New64a()
	for name, m := range v.Fields() {
		switch name {
		case "id", "parent_id", "created_at", "spawn_depth":
		default:
			h.Write([]byte(name))
			h.Write([]byte{0})
			h.Write([]byte(jsontext.AllScalars(m)))
			h.Write([]byte{0})
		}
	}
	return h.Sum64()
}

// count sets the ordinals of items, each of which follows one of those before it, its parent, or none (-1). When a conversation is made shorter, the
// program writes what it keeps of it again, as another branch: there the same words have the same ordinal.
func count(all []item, parents []int) {
	children := make([][]int, len(all))
	for i, parent := range parents {
		if parent >= 0 {
			children[parent] = append(children[parent], i)
		}
	}
	seen := map[uint64]int{}
	var open []int
	for root, parent := range parents {
		if parent >= 0 {
			continue
		}
		for open = append(open, root); len(open) > 0; {
			i := open[len(open)-1]
			if i < 0 { // all that follows it was counted
				seen[all[^i].hash]--
				open = open[:len(open)-1]
				continue
			}
			open[len(open)-1] = ^i
			all[i].ordinal = seen[all[i].hash]
			seen[all[i].hash]++
			open = append(open, children[i]...)
		}
	}
}
