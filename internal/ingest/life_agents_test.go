package ingest_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Sessions of coding agents are ingested many times: resumed, forked, moved, compressed, copied from another machine.
// Their cost must not change.

const (
	claudeA = "0f000000-0000-4000-8000-00000000000a"
	claudeB = "0f000000-0000-4000-8000-00000000000b"
	claudeC = "0f000000-0000-4000-8000-00000000000c"
	codexA  = "019f0000-aaaa-7000-8000-000000000001"
	codexB  = "019f0000-bbbb-7000-8000-000000000002"
)

func claudeFile(session string) string {
	return ".claude/projects/-home-ada-shop/" + session + ".jsonl"
}

// claudeTurn returns a prompt and its answer. The answer is on two lines, both with the usage.
func claudeTurn(session string, n int) string {
	head := func(line int) string {
		return fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"sessionId":%q,"version":"2.1.0","timestamp":"2026-11-01T10:%02d:%02dZ","uuid":"u%d-%d"`,
			session, n/60, n%60, n, line)
	}
	answer := func(line int, block string, out int) string {
		return head(line) + fmt.Sprintf(`,"type":"assistant","requestId":"req_%d","message":{"id":"msg_%d","role":"assistant","model":"claude-sonnet-4-5","content":[%s],"usage":{"input_tokens":10,"output_tokens":%d}}}`, n, n, block, out) + "\n"
	}
	return head(1) + `,"type":"user","message":{"role":"user","content":"mend the basket"}}` + "\n" +
		answer(2, `{"type":"thinking","thinking":"wicker"}`, 1) + answer(3, `{"type":"text","text":"mended"}`, 3)
}

// claudeAgent returns a line that names a sub-agent.
func claudeAgent(session string) string {
	return fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"sessionId":%q,"version":"2.1.0","timestamp":"2026-11-01T10:59:00Z","uuid":"p1","type":"progress","data":{"type":"agent_progress","agentId":"c0ffee1"}}`, session) + "\n"
}

func TestLifeClaudeCode(t *testing.T) {
	t.Parallel()
	l := newLife(t, "claude-code")
	said := claudeTurn(claudeA, 1) + claudeTurn(claudeA, 2) + claudeAgent(claudeA)
	l.write(claudeFile(claudeA), said)
	l.ingestAndCheck("said", counts{runs: 1, conversations: 1, events: 6, in: 20, out: 6, links: 1})
	again := strings.ReplaceAll(said, claudeA, claudeB)
	l.write(claudeFile(claudeB), again)
	l.ingestAndCheck("forked", counts{runs: 2, conversations: 2, events: 6, in: 20, out: 6, links: 2})
	l.append(claudeFile(claudeB), claudeTurn(claudeB, 3))
	l.ingestAndCheck("resumed", counts{runs: 2, conversations: 2, events: 9, in: 30, out: 9, links: 2})
	l.checkFresh("resumed")
	for _, s := range []string{claudeA, claudeB} {
		l.move(claudeFile(s), "old/"+claudeFile(s))
	}
	l.ingestAndCheck("moved", counts{runs: 2, conversations: 2, events: 9, in: 30, out: 9, links: 2})
	l.checkCopy("laptop", counts{runs: 2, conversations: 2, events: 9, in: 30, out: 9, links: 2})
}

// TestTimeComesLate ingests a session without times, whose events take the time of the file; then the file gets
// another time; then a line with a time follows, and the earlier events take that.
func TestTimeComesLate(t *testing.T) {
	t.Parallel()
	l := newLife(t, "claude-code")
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	prompt := `{"type":"user","uuid":"u0","sessionId":"` + claudeA + `","message":{"role":"user","content":"before any time"}}` + "\n"
	l.write(claudeFile(claudeA), prompt)
	l.touch(claudeFile(claudeA), at)
	l.ingestAndCheck("begun", counts{runs: 1, conversations: 1, events: 1})
	l.touch(claudeFile(claudeA), at.AddDate(0, 1, 0))
	l.ingestAndCheck("touched", counts{runs: 1, conversations: 1, events: 1})
	l.append(claudeFile(claudeA), strings.ReplaceAll(prompt, "u0", "u1"))
	l.touch(claudeFile(claudeA), at.AddDate(0, 2, 0))
	l.ingestAndCheck("grown", counts{runs: 1, conversations: 1, events: 2})
	l.append(claudeFile(claudeA), claudeTurn(claudeA, 1))
	l.touch(claudeFile(claudeA), at.AddDate(0, 3, 0))
	l.ingestAndCheck("timed", counts{runs: 1, conversations: 1, events: 5, in: 10, out: 3})
}

// TestCopyHasAnotherTime ingests two files with the same events without times, in either order. The rows have the time of the file that they
// are counted in, whichever file they came from first.
func TestCopyHasAnotherTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	prompt := `{"type":"user","uuid":"u0","sessionId":"` + claudeA + `","message":{"role":"user","content":"before any time"}}` + "\n"
	paths := []string{claudeFile(claudeA), strings.Replace(claudeFile(claudeA), "shop", "stall", 1)}
	var worlds []*world
	for _, first := range []int{0, 1} {
		l := newLife(t, "claude-code")
		for i, path := range paths {
			l.write(path, prompt)
			l.touch(path, at.AddDate(0, i, 0))
		}
		l.world.ingest("home", l.dir, paths[first])
		l.ingestAndCheck("met", counts{runs: 1, conversations: 1, events: 1})
		l.write(paths[0], strings.ReplaceAll(prompt, "u0", "u1"))
		l.touch(paths[0], at.AddDate(0, 2, 0))
		l.ingestAndCheck("one is rewritten", counts{runs: 1, conversations: 2, events: 2})
		worlds = append(worlds, l.world)
	}
	if _, err := worlds[0].index.Differences(t.Context(), worlds[1].index, func(problem string) { t.Error(problem) }); err != nil {
		t.Fatal(err)
	}
}

// TestOriginComesLate ingests two copies of a session before the session. What each is a copy of, and the links to
// sub-agents, do not depend on the order.
func TestOriginComesLate(t *testing.T) {
	t.Parallel()
	l := newLife(t, "claude-code")
	said := claudeTurn(claudeA, 1) + claudeAgent(claudeA)
	fork := func(lines string) string {
		return strings.ReplaceAll(lines, `{"parentUuid"`, `{"forkedFrom":{"sessionId":"`+claudeA+`"},"parentUuid"`)
	}
	l.write(claudeFile(claudeB), fork(strings.ReplaceAll(said, claudeA, claudeB)))
	l.ingestAndCheck("a fork", counts{runs: 1, conversations: 1, events: 3, in: 10, out: 3, links: 1})
	l.write(claudeFile(claudeC), fork(strings.ReplaceAll(said, claudeA, claudeC)))
	l.ingestAndCheck("two forks", counts{runs: 2, conversations: 2, events: 3, in: 10, out: 3, links: 2})
	l.write(claudeFile(claudeA), said)
	l.ingestAndCheck("their origin", counts{runs: 3, conversations: 3, events: 3, in: 10, out: 3, links: 3})
	l.checkFresh("their origin")
	l.checkQuery("their origin", "SELECT from_native_id || ' ' || to_native_id FROM v_links WHERE counted = 1 AND kind = 'fork' ORDER BY 1",
		claudeA+" "+claudeB, claudeA+" "+claudeC)
}

// TestCopiesOfOneAnother has a fork that sorts before its origin. Some of the lines that it copied name the fork, others the
// origin. Each file has lines that count in the other, and still there is one link, from the copy to its origin.
func TestCopiesOfOneAnother(t *testing.T) {
	t.Parallel()
	for _, first := range []string{claudeA, claudeB} {
		l := newLife(t, "claude-code")
		said := map[string]string{
			claudeA: claudeTurn(claudeA, 1) + claudeTurn(claudeB, 2),
			claudeB: claudeTurn(claudeB, 1) + claudeTurn(claudeB, 2),
		}
		l.write(claudeFile(first), said[first])
		l.ingestAndCheck("one", counts{runs: 1, conversations: 1, events: 6, in: 20, out: 6})
		for session, lines := range said {
			l.write(claudeFile(session), lines)
		}
		l.ingestAndCheck("both", counts{runs: 2, conversations: 2, events: 6, in: 20, out: 6, links: 1})
		l.checkFresh("both")
		l.checkQuery("both", "SELECT from_native_id || ' ' || to_native_id FROM v_links WHERE counted = 1", claudeA+" "+claudeB)
	}
}

// TestCopyLiesTwice ingests a copy again from a path that sorts before its origin's. It then counts as the origin, and as nothing else.
func TestCopyLiesTwice(t *testing.T) {
	t.Parallel()
	l := newLife(t, "claude-code")
	again := claudeTurn(claudeA, 1)
	l.write(claudeFile(claudeB), claudeTurn(claudeB, 1))
	l.write(strings.Replace(claudeFile(claudeA), "shop", "stall", 1), again)
	l.ingestAndCheck("a copy", counts{runs: 2, conversations: 2, events: 3, in: 10, out: 3, links: 1})
	l.write(strings.Replace(claudeFile(claudeA), "shop", "barn", 1), again)
	l.ingestAndCheck("twice", counts{runs: 2, conversations: 2, events: 3, in: 10, out: 3, links: 1})
	l.checkFresh("twice")
	l.checkQuery("twice", "SELECT from_native_id || ' ' || to_native_id FROM v_links WHERE counted = 1", claudeA+" "+claudeB)
}

// TestCopiesGoApart copies a session, and both copies grow separately. The lines of each alone are found and counted,
// whichever is longer, and in either order.
func TestCopiesGoApart(t *testing.T) {
	t.Parallel()
	l := newLife(t, "claude-code")
	here, there := claudeFile(claudeA), strings.Replace(claudeFile(claudeA), "shop", "shop-tree", 1)
	l.write(here, claudeTurn(claudeA, 1))
	l.write(there, claudeTurn(claudeA, 1))
	l.ingestAndCheck("copied", counts{runs: 1, conversations: 1, events: 3, in: 10, out: 3})
	l.append(here, claudeTurn(claudeA, 2))
	l.ingestAndCheck("one goes on", counts{runs: 1, conversations: 1, events: 6, in: 20, out: 6})
	l.append(there, claudeTurn(claudeA, 3))
	l.ingestAndCheck("both do", counts{runs: 1, conversations: 2, events: 9, in: 30, out: 9})
	l.append(there, claudeTurn(claudeA, 4))
	l.ingestAndCheck("the other is longer", counts{runs: 1, conversations: 2, events: 12, in: 40, out: 12})
	l.write("old/"+claudeFile(claudeA), claudeTurn(claudeA, 1)+claudeTurn(claudeA, 3))
	l.ingestAndCheck("a third, of what the second has", counts{runs: 1, conversations: 2, events: 12, in: 40, out: 12})
	l.checkFresh("a third, of what the second has")
}

// TestCopyIsRewritten: the number of versions of two files does not affect in which of them their common events count.
func TestCopyIsRewritten(t *testing.T) {
	t.Parallel()
	l := newLife(t, "claude-code")
	said := claudeTurn(claudeB, 1) + claudeTurn(claudeB, 2)
	l.write(claudeFile(claudeB), said)
	l.write(claudeFile(claudeA), strings.ReplaceAll(said, claudeB, claudeA))
	both := counts{runs: 2, conversations: 2, events: 6, in: 20, out: 6, links: 1}
	l.ingestAndCheck("both", both)
	l.write(claudeFile(claudeB), claudeTurn(claudeB, 2)+claudeTurn(claudeB, 1))
	l.ingestAndCheck("rewritten", both)
	l.checkFresh("rewritten")
	l.checkQuery("rewritten", "SELECT native_id FROM v_runs WHERE events > 0 AND input_tokens > 0", claudeA)
}

const (
	codexDay     = ".codex/sessions/2026/11/02/"
	codexArchive = ".codex/archived_sessions/"
)

func rollout(thread string) string { return "rollout-2026-11-02T10-00-00-" + thread + ".jsonl" }

func codexLine(kind, payload string) string {
	return `{"timestamp":"2026-11-02T10:00:00.000Z","type":"` + kind + `","payload":` + payload + "}\n"
}

func codexHead(thread, more string) string {
	return codexLine("session_meta", fmt.Sprintf(`{"id":%q,"cwd":"/home/ada/shop","cli_version":"0.130.0","source":"cli"%s}`, thread, more))
}

// codexTurn returns a prompt, its answer and the token counters after it, which Codex writes twice.
func codexTurn(thread string, n int) string {
	tokens := codexLine("event_msg", fmt.Sprintf(`{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d,"cached_input_tokens":0,"output_tokens":%d},"last_token_usage":{"input_tokens":10,"cached_input_tokens":0,"output_tokens":3}}}`, 10*n, 3*n))
	return codexLine("turn_context", fmt.Sprintf(`{"turn_id":"%s-%d","model":"gpt-5.4"}`, thread, n)) +
		codexLine("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"mend the basket"}]}`) +
		codexLine("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"mended"}]}`) + tokens + tokens
}

func TestLifeCodex(t *testing.T) {
	t.Parallel()
	l := newLife(t, "codex")
	said := codexHead(codexA, "") + "{torn\n" + codexTurn(codexA, 1)
	l.write(codexDay+rollout(codexA), said)
	l.ingestAndCheck("said", counts{runs: 1, conversations: 1, events: 2, in: 10, out: 3, problems: 1})
	l.write("kept/"+rollout(codexA), said)
	l.ingestAndCheck("kept beside it", counts{runs: 1, conversations: 1, events: 2, in: 10, out: 3, problems: 1})
	l.append(codexDay+rollout(codexA), codexTurn(codexA, 2))
	l.ingestAndCheck("resumed", counts{runs: 1, conversations: 1, events: 4, in: 20, out: 6, problems: 1})
	said += codexTurn(codexA, 2)
	l.write(codexDay+rollout(codexB), codexHead(codexB, `,"forked_from_id":"`+codexA+`"`)+said+codexTurn(codexB, 3))
	all := counts{runs: 2, conversations: 2, events: 6, in: 30, out: 9, links: 1, problems: 2}
	l.ingestAndCheck("forked", all)
	l.checkFresh("forked")
	l.move(codexDay+rollout(codexA), codexArchive+rollout(codexA))
	l.ingestAndCheck("archived", all)
	l.append(codexArchive+rollout(codexA), codexTurn(codexA, 3))
	l.compress(codexArchive + rollout(codexA))
	l.compress(codexDay + rollout(codexB))
	all.events, all.in, all.out = 8, 40, 12
	l.ingestAndCheck("compressed after it went on", all)
	l.checkFresh("compressed")
	l.checkCopy("laptop", all)
}

// TestLifeCodexForkTwice has a fork of which there is another file, without the copied history: where that begins and ends in one file says
// nothing of the other. What only the other states was used all the same.
func TestLifeCodexForkTwice(t *testing.T) {
	t.Parallel()
	l := newLife(t, "codex")
	said := codexHead(codexA, "") + codexTurn(codexA, 1) + codexLine("event_msg", `{"type":"collab_agent_spawn_end","call_id":"c1","new_thread_id":"`+claudeA+`"}`)
	l.write(codexDay+rollout(codexA), said)
	l.write(codexDay+rollout(codexB), codexHead(codexB, `,"forked_from_id":"`+codexA+`"`)+said+codexTurn(codexB, 3))
	l.ingestAndCheck("forked", counts{runs: 2, conversations: 2, events: 4, in: 30, out: 9, links: 2})
	l.write("kept/"+rollout(codexB), codexHead(codexB, "")+codexTurn("other", 1))
	l.ingestAndCheck("twice", counts{runs: 2, conversations: 2, events: 4, in: 40, out: 12, links: 2})
	l.checkFresh("twice")
}

// TestForkThatWasSpawned has a thread that is a copy of the one that spawned it. That is one link.
func TestForkThatWasSpawned(t *testing.T) {
	t.Parallel()
	l := newLife(t, "codex")
	said := codexHead(codexA, "") + codexTurn(codexA, 1)
	l.write(codexDay+rollout(codexB), codexHead(codexB, `,"forked_from_id":"`+codexA+`"`)+said+codexTurn(codexB, 2))
	l.write(codexDay+rollout(codexA), said)
	both := counts{runs: 2, conversations: 2, events: 4, in: 20, out: 6, links: 1}
	l.ingestAndCheck("forked", both)
	l.checkQuery("forked", "SELECT kind FROM v_links WHERE counted = 1", "fork")
	l.append(codexDay+rollout(codexA), codexLine("event_msg", `{"type":"collab_agent_spawn_end","call_id":"c1","new_thread_id":"`+codexB+`"}`))
	l.ingestAndCheck("spawned", both)
	l.checkFresh("spawned")
	l.checkQuery("spawned", "SELECT kind FROM v_links WHERE counted = 1", "parent")
}

// compress replaces a file by a compressed one, as Codex does.
func (l *life) compress(name string) {
	l.t.Helper()
	l.write(name+".zst", string(zstdFrame(l.read(name))))
	l.remove(name)
}

// zstdFrame returns a zstd frame with content in one uncompressed block.
func zstdFrame(content string) []byte {
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0} // zstd: the size in four bytes, one segment
	frame = binary.LittleEndian.AppendUint32(frame, uint32(len(content)))
	block := len(content)<<3 | 1 // the last one
	frame = append(frame, byte(block), byte(block>>8), byte(block>>16))
	return append(frame, content...)
}

// checkCopy ingests a copy of the whole directory as another source, and expects the given totals.
func (l *life) checkCopy(source string, want counts) {
	l.t.Helper()
	dir := l.t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(l.dir)); err != nil {
		l.t.Fatal(err)
	}
	l.world.ingest(source, dir, ".")
	if got := countsOf(l.world.totals().Formats[l.format]); got != want {
		l.t.Errorf("copied from elsewhere:\n got %+v\nwant %+v", got, want)
	}
}

// TestTornHead ingests a renamed thread when only half of its first line is written. The run named after the file disappears
// when the complete line has the id.
func TestTornHead(t *testing.T) {
	t.Parallel()
	l := newLife(t, "codex")
	said := codexHead(codexA, "") + codexTurn(codexA, 1)
	l.write("kept/thread.jsonl", said[:120])
	l.ingestAndCheck("half a head", counts{runs: 1, conversations: 1, problems: 1})
	l.append("kept/thread.jsonl", said[120:])
	l.ingestAndCheck("the whole", counts{runs: 1, conversations: 1, events: 2, in: 10, out: 3})
	l.checkQuery("the whole", "SELECT native_id FROM v_runs", codexA)
}

// TestCopyOfABadHead: a bad line before the first line that identifies a file is one problem for all copies of the file.
func TestCopyOfABadHead(t *testing.T) {
	t.Parallel()
	awf := `{"seq":1,"run_id":"0f000000-0000-4000-8000-00000000000a","type":"message.user","path":"shop","iteration":0,"timestamp":"2026-11-01T10:00:00Z","payload":{"role":"user","blocks":[]}}`
	copilot := `{"type":"session.start","data":{"sessionId":"` + claudeA + `"},"id":"1","timestamp":"2026-11-01T10:00:00Z","parentId":null}`
	for _, c := range []struct {
		format, line, one, other string
		events                   int64
	}{
		{"awf", awf, "storage/transcripts/a.jsonl", "storage/mirror.jsonl", 1},
		{"claude-code", strings.TrimSpace(claudeTurn(claudeA, 1)), ".claude/projects/-a/chat.jsonl", ".claude/projects/-b/chat.jsonl", 3},
		{"copilot-cli", copilot, "session-state/" + claudeA + ".jsonl", "session-state/" + claudeA + "/events.jsonl", 0},
	} {
		l := newLife(t, c.format)
		bad := "{bad\n"
		l.write(c.one, bad)
		l.ingestShuffled()
		l.append(c.one, c.line+"\n"+bad)
		l.write(c.other, bad+c.line+"\n"+bad)
		want := counts{runs: 1, conversations: 1, problems: 2, events: c.events}
		if c.events == 3 {
			want.in, want.out = 10, 3
		}
		l.ingestAndCheck(c.format, want)
		l.checkFresh(c.format)
	}
}

// TestOwnerComesLate has a sub-agent of the old layout, and a renamed session, that begin with lines without an
// id. The runs named after the files disappear when a line with the id follows.
func TestOwnerComesLate(t *testing.T) {
	t.Parallel()
	l := newLife(t, "claude-code")
	agent, chat := ".claude/projects/-home-ada-shop/agent-ab12.jsonl", ".claude/projects/-home-ada-shop/chat.jsonl"
	summary := `{"type":"summary","summary":"Baskets","leafUuid":"x"}` + "\n"
	l.write(agent, summary)
	l.write(chat, summary)
	l.ingestAndCheck("summaries", counts{})
	l.append(agent, strings.ReplaceAll(claudeTurn(claudeA, 1), `"isSidechain":false`, `"isSidechain":true`))
	l.append(chat, claudeTurn(claudeB, 2))
	l.ingestAndCheck("the owners", counts{runs: 1, conversations: 2, events: 6, in: 20, out: 6, links: 1})
	l.checkQuery("the owners", "SELECT native_id FROM v_runs WHERE native_id LIKE 'agent%' OR native_id = 'chat'")
	l.checkQuery("the owners", "SELECT count(*) || ' ' || count(DISTINCT run_id) FROM v_events WHERE type = 'summary'", "2 2")
	l.checkFresh("the owners")
}

// TestGrownOften: an ingest stores only the appended bytes, and writes only the rows of their lines.
func TestGrownOften(t *testing.T) {
	const times = 40
	for format, c := range map[string]struct {
		path, head string
		turn       func(string, int) string
		id         string
		rows, in   int64
		usage      int64 // lines of a turn that are nothing but usage
	}{
		"claude-code": {claudeFile(claudeA), "", claudeTurn, claudeA, 3, 10, 0},
		"codex":       {codexDay + rollout(codexA), codexHead(codexA, ""), codexTurn, codexA, 4, 10, 1},
	} {
		s, w := newTree(t), newWorld(t)
		content := c.head
		for n := 1; n <= times; n++ {
			before := len(content)
			if n == 1 {
				before = 0
			}
			turn := c.turn(c.id, n)
			content += turn
			s.write(c.path, content)
			r := w.ingest("home", s.dir, ".")
			rows := int64(strings.Count(content[before:], "\n")) - c.usage
			if r.RawBytes != int64(len(content)-before) || r.Events != rows || n > 1 && (r.Grown != 1 || rows != c.rows) {
				t.Fatalf("%s, time %d: %d bytes and %d rows of %d and %d: %+v", format, n, r.RawBytes, r.Events, len(content)-before, rows, r)
			}
		}
		sums := w.totals().Formats[format]
		if in := value(sums.Input); in != times*c.in || sums.Bytes != int64(len(content)) {
			t.Errorf("%s: %d tokens and %d bytes of %d and %d", format, in, sums.Bytes, times*c.in, len(content))
		}
		if all := w.versions(c.path); len(all) != 1 || all[0] != content {
			t.Errorf("%s: %d versions, want one with all bytes", format, len(all))
		}
	}
}

// TestWrittenWhileRead appends to a session while it is ingested repeatedly: no line is lost or
// counted twice, and the file never counts as rewritten.
func TestWrittenWhileRead(t *testing.T) {
	s, w := newTree(t), newWorld(t)
	s.write(claudeFile(claudeA), claudeTurn(claudeA, 1))
	const turns = 400
	written := make(chan error, 1)
	go func() {
		f, err := os.OpenFile(filepath.Join(s.dir, claudeFile(claudeA)), os.O_APPEND|os.O_WRONLY, 0)
		for n := 2; n <= turns && err == nil; n++ {
			turn := claudeTurn(claudeA, n)
			half := len(turn) * (n % 7) / 7 // so that a line is mostly torn
			if _, err = f.WriteString(turn[:half]); err == nil {
				time.Sleep(time.Millisecond / 4)
				_, err = f.WriteString(turn[half:])
			}
		}
		written <- errors.Join(err, f.Close())
	}()
	for done := false; !done; {
		select {
		case err := <-written:
			if err != nil {
				t.Fatal(err)
			}
			done = true
		default:
		}
		w.ingest("home", s.dir, ".")
	}
	want := counts{runs: 1, conversations: 1, events: 3 * turns, in: 10 * turns, out: 3 * turns}
	if got := countsOf(w.totals().Formats["claude-code"]); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	content, err := os.ReadFile(filepath.Join(s.dir, claudeFile(claudeA)))
	if all := w.versions(claudeFile(claudeA)); err != nil || len(all) != 1 || all[0] != string(content) {
		t.Errorf("%d versions, want one with all bytes (%v)", len(all), err)
	}
}
