package chatjsonl

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// chain is a hash of the messages of a conversation up to one of them.
type chain [16]byte

// chat is a conversation that may continue.
type chat struct {
	id       string
	salt     chain    // salt of its event ids
	ends     [2]chain // after the last request, and after the answer
	answered bool
	titled   bool
	at       chain         // chain of a chat with one message per line
	call     generatedCall // the last call without an id
}

// generatedCall is a call without an id, with the id that it is given.
type generatedCall struct{ id, name string }

// event returns the id of the n-th event of a message.
func (c *chat) event(link chain, n int) string {
	for i := range link {
		link[i] ^= c.salt[i]
	}
	link[14] += byte(n >> 8)
	link[15] += byte(n)
	return link.uuid()
}

// hasher computes chains.
type hasher struct {
	h   hash.Hash
	sum [sha256.Size]byte
	buf []byte
}

func newHasher() *hasher { return &hasher{h: sha256.New()} }

// of returns the hash of texts.
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

// next returns a chain extended by a message. The hash covers the role, the content and the arguments of calls, but not
// what an API adds to a message in an answer and omits in a request.
func (h *hasher) next(c chain, it item) chain {
	m, content := it.v, it.v
	if m.IsObject() {
		content = cmp.Or(m.Get("content"), m.Get("value"))
	}
	h.buf = append(append(append(h.buf[:0], c[:]...), it.by...), 0)
	h.buf = appendPiece(h.buf, content)
	for _, key := range []string{"tool_call_id", "call_id", "name", "arguments", "output"} {
		h.buf = jsontext.AppendScalars(append(h.buf, 0), m.Get(key))
	}
	for call := range m.Get("tool_calls").Items() {
		h.buf = jsontext.AppendStrings(h.buf, call.Get("id"))
		h.buf = jsontext.AppendScalars(h.buf, call.Get("function"))
	}
	h.buf = jsontext.AppendScalars(h.buf, m.Get("function_call"))
	return h.bytes(h.buf)
}

// uuid formats a hash as a UUID, because the index stores UUIDs compactly.
func (c chain) uuid() string {
	var b [36]byte
	for i, part := range [][2]int{{0, 4}, {4, 6}, {6, 8}, {8, 10}, {10, 16}} {
		hex.Encode(b[part[0]*2+i:], c[part[0]:part[1]])
	}
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// recentMap is a map of two generations that forgets keys which were not put recently. It holds at most twice maxRecent.
type recentMap[K comparable, V any] struct {
	young, old map[K]V
	dropped    bool
}

const maxRecent = 1 << 15

func (w *recentMap[K, V]) get(key K) (V, bool) {
	if v, ok := w.young[key]; ok {
		return v, true
	}
	v, ok := w.old[key]
	return v, ok
}

func (w *recentMap[K, V]) put(key K, v V) {
	if w.young == nil || len(w.young) >= maxRecent {
		w.dropped = w.dropped || len(w.old) > 0
		w.old, w.young = w.young, map[K]V{}
	}
	w.young[key] = v
}

func (w *recentMap[K, V]) remove(key K) {
	delete(w.young, key)
	delete(w.old, key)
}

// tips maps chains to the chats that end with them and may continue. If several end alike, the oldest continues first.
type tips struct{ recentMap[chain, []*chat] }

// maxAlike is the number of chats remembered per chain.
const maxAlike = 64

// end records the current ends of a chat.
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
	if len(all) < maxAlike {
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

// find returns the chat that a line continues: the one that ends after most of the line's messages, and their number. links
// are the chains after each message. A chat that ends after all of them is continued only by an answer that it lacks.
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
