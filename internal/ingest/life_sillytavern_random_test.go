package ingest_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/seedtest"
)

// tavernSwipe is an alternative of a message. It was generated if it has tokens.
type tavernSwipe struct {
	text       string
	at, tokens int
}

type tavernMessage struct {
	user   bool
	swipes []tavernSwipe
	chosen int
	early  bool // it has no list of swipes
}

func (m tavernMessage) line() string {
	at := func(n int) string { return fmt.Sprintf("2026-11-03T10:%02d:%02d.000Z", n/60, n%60) }
	facts := func(s tavernSwipe) map[string]any {
		all := map[string]any{"send_date": at(s.at), "extra": map[string]any{}}
		if s.tokens > 0 {
			all["gen_started"], all["gen_finished"] = at(s.at-1), at(s.at)
			all["extra"] = map[string]any{"api": "claude", "model": "claude-sonnet-4-5", "token_count": s.tokens}
		}
		return all
	}
	line := facts(m.swipes[m.chosen])
	line["name"], line["is_user"], line["is_system"], line["mes"] = "Ada", m.user, false, m.swipes[m.chosen].text
	if !m.user && !(m.early && len(m.swipes) == 1) {
		var texts, infos []any
		for _, s := range m.swipes {
			texts, infos = append(texts, s.text), append(infos, facts(s))
		}
		line["swipes"], line["swipe_info"], line["swipe_id"] = texts, infos, m.chosen
	}
	b, _ := json.Marshal(line)
	return string(b)
}

// tavernChats are files of one chat: itself, its branches and backups.
type tavernChats map[string][]tavernMessage

// counts returns the messages of chats, and the tokens of all files.
func (c tavernChats) counts(said map[string]bool, used map[int]int) (want counts) {
	for name, messages := range c {
		for _, m := range messages {
			for _, s := range m.swipes {
				if name[0] == 'c' {
					said[s.text] = true
				}
				if s.tokens > 0 {
					used[s.at] = s.tokens
				}
			}
		}
	}
	want = counts{runs: 1, events: int64(len(said))}
	for _, n := range used {
		want.out += int64(n)
	}
	return want
}

// tavernWorld is a user who does what one likes with a chat.
type tavernWorld struct {
	rng   *rand.Rand
	s     *tree
	chats tavernChats
	last  int
}

func (w *tavernWorld) says(user bool) tavernMessage {
	return tavernMessage{user: user, swipes: []tavernSwipe{w.swipe(!user)}, early: w.rng.IntN(2) == 0}
}

func (w *tavernWorld) swipe(generated bool) tavernSwipe {
	w.last += 2
	s := tavernSwipe{text: fmt.Sprint("word", w.last), at: w.last}
	if generated {
		s.tokens = w.last
	}
	return s
}

func (w *tavernWorld) write(name string, messages []tavernMessage) {
	w.chats[name] = messages
	header := `{"chat_metadata":{},"user_name":"unused","character_name":"unused"}`
	var lines []string
	for _, m := range messages {
		lines = append(lines, m.line())
	}
	w.s.write("data/u/"+name, tavernChat(header, lines...))
}

func (w *tavernWorld) act() {
	var names []string
	for name := range w.chats {
		if name[0] == 'c' {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	name := names[w.rng.IntN(len(names))]
	var all []tavernMessage
	for _, m := range w.chats[name] {
		m.swipes = slices.Clone(m.swipes)
		all = append(all, m)
	}
	last := &all[len(all)-1]
	switch n := w.rng.IntN(10); {
	case n < 3:
		all = append(all, w.says(true), w.says(false))
	case n < 5 && !last.user && len(all) > 1: // another answer, which is shown
		last.swipes, last.chosen = append(last.swipes, w.swipe(true)), len(last.swipes)
	case n == 5: // an earlier one is shown
		last.chosen = w.rng.IntN(len(last.swipes))
	case n == 6 && len(all) > 2: // the last is deleted, and may be answered anew
		all = all[:len(all)-1]
		if w.rng.IntN(2) == 0 {
			all = append(all, w.says(false))
		}
	case n == 7 && len(all) > 1: // it is edited
		m := &all[1+w.rng.IntN(len(all)-1)]
		w.last += 2
		m.swipes[m.chosen].text = fmt.Sprint("edited", w.last)
	case n == 8 && len(names) < 4:
		name, all = fmt.Sprintf("chats/Ada/branch %d.jsonl", w.last), all[:1+w.rng.IntN(len(all))]
		w.last += 2
	case n == 9:
		w.last += 2
		name = fmt.Sprintf("backups/chat_ada_%d.jsonl", w.last)
	}
	w.write(name, all)
}

// TestRandomSillyTavern has users who do anything with a chat, and compares what is read step by step, at once and again with what they did.
func TestRandomSillyTavern(t *testing.T) {
	for n := range 6 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			w := &tavernWorld{rng: seedtest.Rand(t), s: newTree(t), chats: tavernChats{}}
			w.write("chats/Ada/main.jsonl", []tavernMessage{{swipes: []tavernSwipe{{text: "Welcome."}}}})
			archive, used := newWorld(t), map[int]int{}
			check := func(what string, world *world, used map[int]int) {
				want := w.chats.counts(map[string]bool{}, used)
				world.ingest("home", w.s.dir, ".")
				got := countsOf(world.totals().Formats["sillytavern"])
				want.conversations = got.conversations
				if world.ingestAndCheck(what, "sillytavern", w.s.dir, want); got.conversations > int64(len(w.chats)) {
					t.Errorf("%s: %d conversations", what, got.conversations)
				}
			}
			for step := range 16 {
				w.act()
				if w.rng.IntN(3) == 0 || step == 15 {
					check(fmt.Sprint("step ", step), archive, used)
				}
			}
			check("at once", newWorld(t), map[int]int{})
		})
	}
}
