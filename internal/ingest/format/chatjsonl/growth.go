package chatjsonl

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// chain stands for the messages of a conversation up to one of them.
type chain [16]byte

// chat is a conversation that may go on.
type chat struct {
	id       string
	salt     chain    // of the ids of its events
	ends     [2]chain // after what was asked last, and after the answer
	answered bool
	titled   bool
	at       chain   // where a chat with a message to a line stands
	call     unnamed // the last call without an id
}

// unnamed is a call that has no id, with the one that it is given.
type unnamed struct{ id, name string }

// event is the id of the n-th event of a message.
func (c *chat) event(link chain, n int) string {
	for i := range link {
		link[i] ^= c.salt[i]
	}
	link[14] += byte(n >> 8)
	link[15] += byte(n)
	return link.uuid()
}

// hasher makes chains.
type hasher struct {
	h   hash.Hash
	sum [sha256.Size]byte
	buf []byte
}

func newHasher() *hasher { return &hasher{h: sha256.New()} }

// of is the hash of texts.
func (h *hasher) of(texts ...string) chain {
	h.buf = h.buf[:0]
	for _, s := range texts {
		h.buf = append(append(h.buf, s...), 0)
	}
	return h.bytes(h.buf)
}

func (h *hasher) bytes(b []byte) (c chain) {
	h.h.Reset()
	h.h.Write(b)
	copy(c[:], h.h.Sum(h.sum[:0]))
	return c
}

// next is a chain that a message has prolonged. Of it counts who speaks, what is said, and what is asked of tools, not what an
// API adds to a message when it answers and takes away when it is asked.
func (h *hasher) next(c chain, it item) chain {
	m, said := it.v, it.v
	if m.IsObject() {
		said = cmp.Or(m.Get("content"), m.Get("value"))
	}
	h.buf = append(append(append(h.buf[:0], c[:]...), it.by...), 0)
	h.buf = appendPiece(h.buf, said)
	for _, key := range []string{"tool_call_id", "call_id", "name", "arguments", "output"} {
		h.buf = format.AppendStrings(append(h.buf, 0), m.Get(key))
	}
	for call := range m.Get("tool_calls").Items() {
		h.buf = format.AppendStrings(h.buf, call.Get("id"))
		h.buf = format.AppendStrings(h.buf, call.Get("function"))
	}
	h.buf = format.AppendStrings(h.buf, m.Get("function_call"))
	return h.bytes(h.buf)
}

// uuid writes a hash as ids are written that the index keeps short.
func (c chain) uuid() string {
	var b [36]byte
	for i, part := range [][2]int{{0, 4}, {4, 6}, {6, 8}, {8, 10}, {10, 16}} {
		hex.Encode(b[part[0]*2+i:], c[part[0]:part[1]])
	}
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// window is a map that forgets what was not asked for lately: at most twice of limit is known.
type window[K comparable, V any] struct {
	young, old map[K]V
	dropped    bool
}

const limit = 1 << 15

func (w *window[K, V]) get(key K) (V, bool) {
	if v, ok := w.young[key]; ok {
		return v, true
	}
	v, ok := w.old[key]
	return v, ok
}

func (w *window[K, V]) put(key K, v V) {
	if w.young == nil || len(w.young) >= limit {
		w.dropped = w.dropped || len(w.old) > 0
		w.old, w.young = w.young, map[K]V{}
	}
	w.young[key] = v
}

func (w *window[K, V]) remove(key K) {
	delete(w.young, key)
	delete(w.old, key)
}

// tips are the ends of the conversations that may go on. Several may end alike: the oldest goes on first.
type tips struct{ window[chain, []*chat] }

// mostAlike is how many of those are known.
const mostAlike = 64

// end says where a chat ends now.
func (t *tips) end(c *chat, asked, answered chain, hasAnswer bool) {
	t.forget(c)
	c.ends, c.answered = [2]chain{asked, answered}, hasAnswer
	t.add(asked, c)
	if hasAnswer {
		t.add(answered, c)
	}
}

func (t *tips) add(key chain, c *chat) {
	all, _ := t.get(key)
	if len(all) < mostAlike {
		t.put(key, append(all, c))
	}
}

func (t *tips) forget(c *chat) {
	for _, key := range c.ends {
		all, ok := t.get(key)
		if !ok {
			continue
		}
		var rest []*chat
		for _, other := range all {
			if other != c {
				rest = append(rest, other)
			}
		}
		if t.remove(key); len(rest) > 0 {
			t.put(key, rest)
		}
	}
}

// find looks for the chat that a line goes on with: the one that ends after the most of its messages. links are the chains after each
// of them; a chat that ends after all of them goes on only with an answer that it lacks.
func (t *tips) find(links []chain, hasAnswer bool) (c *chat, known int) {
	for n := len(links); n > 0; n-- {
		all, _ := t.get(links[n-1])
		for _, c := range all {
			if n < len(links) || hasAnswer && !c.answered {
				return c, n
			}
		}
	}
	return nil, 0
}
