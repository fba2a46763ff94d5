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

// Histories of coding agents are seen again and again: resumed, forked, moved, compressed, copied from elsewhere.
// What they cost does not change.

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

// claudeTurn is a prompt and its answer, written in two lines with the usage in both.
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

// claudeAgent is a line that tells of a sub-agent.
func claudeAgent(session string) string {
	return fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"sessionId":%q,"version":"2.1.0","timestamp":"2026-11-01T10:59:00Z","uuid":"p1","type":"progress","data":{"type":"agent_progress","agentId":"c0ffee1"}}`, session) + "\n"
}

func TestLifeClaudeCode(t *testing.T) {
	t.Parallel()
	l := newLife(t, "claude-code")
	said := claudeTurn(claudeA, 1) + claudeTurn(claudeA, 2) + claudeAgent(claudeA)
	l.write(claudeFile(claudeA), said)
	l.meet("said", counts{runs: 1, conversations: 1, events: 6, in: 20, out: 6, links: 1})
	again := strings.ReplaceAll(said, claudeA, claudeB)
	l.write(claudeFile(claudeB), again)
	l.meet("forked", counts{runs: 2, conversations: 2, events: 6, in: 20, out: 6, links: 2})
	l.append(claudeFile(claudeB), claudeTurn(claudeB, 3))
	l.meet("resumed", counts{runs: 2, conversations: 2, events: 9, in: 30, out: 9, links: 2})
	l.once("resumed")
	for _, s := range []string{claudeA, claudeB} {
		l.move(claudeFile(s), "old/"+claudeFile(s))
	}
	l.meet("moved", counts{runs: 2, conversations: 2, events: 9, in: 30, out: 9, links: 2})
	l.copied("laptop", counts{runs: 2, conversations: 2, events: 9, in: 30, out: 9, links: 2})
}

// TestTimeComesLate: a session is met when no line of it states a time, and stands at that of its file; then the file has
// another time, then a line that states one follows, whose place the others take.
func TestTimeComesLate(t *testing.T) {
	t.Parallel()
	l := newLife(t, "claude-code")
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	prompt := `{"type":"user","uuid":"u0","sessionId":"` + claudeA + `","message":{"role":"user","content":"before any time"}}` + "\n"
	l.write(claudeFile(claudeA), prompt)
	l.touch(claudeFile(claudeA), at)
	l.meet("begun", counts{runs: 1, conversations: 1, events: 1})
	l.touch(claudeFile(claudeA), at.AddDate(0, 1, 0))
	l.meet("touched", counts{runs: 1, conversations: 1, events: 1})
	l.append(claudeFile(claudeA), strings.ReplaceAll(prompt, "u0", "u1"))
	l.touch(claudeFile(claudeA), at.AddDate(0, 2, 0))
	l.meet("grown", counts{runs: 1, conversations: 1, events: 2})
	l.append(claudeFile(claudeA), claudeTurn(claudeA, 1))
	l.touch(claudeFile(claudeA), at.AddDate(0, 3, 0))
	l.meet("timed", counts{runs: 1, conversations: 1, events: 5, in: 10, out: 3})
}

// TestCopyHasAnotherTime: two files say the same without a time, and each is met first. The rows stand at the time of the file whose they
// are, whoever had them before.
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
		l.w.ingest("home", l.dir, paths[first])
		l.meet("met", counts{runs: 1, conversations: 1, events: 1})
		l.write(paths[0], strings.ReplaceAll(prompt, "u0", "u1"))
		l.touch(paths[0], at.AddDate(0, 2, 0))
		l.meet("one is rewritten", counts{runs: 1, conversations: 2, events: 2})
		worlds = append(worlds, l.w)
	}
	if _, err := worlds[0].index.Differences(t.Context(), worlds[1].index, func(problem string) { t.Error(problem) }); err != nil {
		t.Fatal(err)
	}
}

// TestOriginComesLate: two copies of a session are met before it. What each is a copy of, and what its lines say of
// sub-agents, does not depend on that.
func TestOriginComesLate(t *testing.T) {
	t.Parallel()
	l := newLife(t, "claude-code")
	said := claudeTurn(claudeA, 1) + claudeAgent(claudeA)
	fork := func(lines string) string {
		return strings.ReplaceAll(lines, `{"parentUuid"`, `{"forkedFrom":{"sessionId":"`+claudeA+`"},"parentUuid"`)
	}
	l.write(claudeFile(claudeB), fork(strings.ReplaceAll(said, claudeA, claudeB)))
	l.meet("a fork", counts{runs: 1, conversations: 1, events: 3, in: 10, out: 3, links: 1})
	l.write(claudeFile(claudeC), fork(strings.ReplaceAll(said, claudeA, claudeC)))
	l.meet("two forks", counts{runs: 2, conversations: 2, events: 3, in: 10, out: 3, links: 2})
	l.write(claudeFile(claudeA), said)
	l.meet("their origin", counts{runs: 3, conversations: 3, events: 3, in: 10, out: 3, links: 3})
	l.once("their origin")
	l.answers("their origin", "SELECT from_native_id || ' ' || to_native_id FROM v_links WHERE counted = 1 AND kind = 'fork' ORDER BY 1",
		claudeA+" "+claudeB, claudeA+" "+claudeC)
}

// TestCopiesOfOneAnother: a fork that sorts before its origin says of some of the lines that it took that they are its own, and
// of others whose they were. Each file has lines that count in the other, and still one is a copy of the other, once.
func TestCopiesOfOneAnother(t *testing.T) {
	t.Parallel()
	for _, first := range []string{claudeA, claudeB} {
		l := newLife(t, "claude-code")
		said := map[string]string{
			claudeA: claudeTurn(claudeA, 1) + claudeTurn(claudeB, 2),
			claudeB: claudeTurn(claudeB, 1) + claudeTurn(claudeB, 2),
		}
		l.write(claudeFile(first), said[first])
		l.meet("one", counts{runs: 1, conversations: 1, events: 6, in: 20, out: 6})
		for session, lines := range said {
			l.write(claudeFile(session), lines)
		}
		l.meet("both", counts{runs: 2, conversations: 2, events: 6, in: 20, out: 6, links: 1})
		l.once("both")
		l.answers("both", "SELECT from_native_id || ' ' || to_native_id FROM v_links WHERE counted = 1", claudeA+" "+claudeB)
	}
}

// TestCopyLiesTwice: a copy is met again at a place that sorts before its origin's. It is known for the origin then, and only that.
func TestCopyLiesTwice(t *testing.T) {
	t.Parallel()
	l := newLife(t, "claude-code")
	again := claudeTurn(claudeA, 1)
	l.write(claudeFile(claudeB), claudeTurn(claudeB, 1))
	l.write(strings.Replace(claudeFile(claudeA), "shop", "stall", 1), again)
	l.meet("a copy", counts{runs: 2, conversations: 2, events: 3, in: 10, out: 3, links: 1})
	l.write(strings.Replace(claudeFile(claudeA), "shop", "barn", 1), again)
	l.meet("twice", counts{runs: 2, conversations: 2, events: 3, in: 10, out: 3, links: 1})
	l.once("twice")
	l.answers("twice", "SELECT from_native_id || ' ' || to_native_id FROM v_links WHERE counted = 1", claudeA+" "+claudeB)
}

// TestCopiesGoApart: a session is copied to another place, and goes on in both. What each says alone is found and counted,
// whichever is longer, and in whatever order they are met.
func TestCopiesGoApart(t *testing.T) {
	t.Parallel()
	l := newLife(t, "claude-code")
	here, there := claudeFile(claudeA), strings.Replace(claudeFile(claudeA), "shop", "shop-tree", 1)
	l.write(here, claudeTurn(claudeA, 1))
	l.write(there, claudeTurn(claudeA, 1))
	l.meet("copied", counts{runs: 1, conversations: 1, events: 3, in: 10, out: 3})
	l.append(here, claudeTurn(claudeA, 2))
	l.meet("one goes on", counts{runs: 1, conversations: 1, events: 6, in: 20, out: 6})
	l.append(there, claudeTurn(claudeA, 3))
	l.meet("both do", counts{runs: 1, conversations: 2, events: 9, in: 30, out: 9})
	l.append(there, claudeTurn(claudeA, 4))
	l.meet("the other is longer", counts{runs: 1, conversations: 2, events: 12, in: 40, out: 12})
	l.write("old/"+claudeFile(claudeA), claudeTurn(claudeA, 1)+claudeTurn(claudeA, 3))
	l.meet("a third, of what the second has", counts{runs: 1, conversations: 2, events: 12, in: 40, out: 12})
	l.once("a third, of what the second has")
}

// TestCopyIsRewritten: how often one of two files was rewritten does not change whose what both have is.
func TestCopyIsRewritten(t *testing.T) {
	t.Parallel()
	l := newLife(t, "claude-code")
	said := claudeTurn(claudeB, 1) + claudeTurn(claudeB, 2)
	l.write(claudeFile(claudeB), said)
	l.write(claudeFile(claudeA), strings.ReplaceAll(said, claudeB, claudeA))
	both := counts{runs: 2, conversations: 2, events: 6, in: 20, out: 6, links: 1}
	l.meet("both", both)
	l.write(claudeFile(claudeB), claudeTurn(claudeB, 2)+claudeTurn(claudeB, 1))
	l.meet("rewritten", both)
	l.once("rewritten")
	l.answers("rewritten", "SELECT native_id FROM v_runs WHERE events > 0 AND input_tokens > 0", claudeA)
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

// codexTurn is a prompt, its answer and the counters after it, which are told twice.
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
	l.meet("said", counts{runs: 1, conversations: 1, events: 2, in: 10, out: 3, problems: 1})
	l.write("kept/"+rollout(codexA), said)
	l.meet("kept beside it", counts{runs: 1, conversations: 1, events: 2, in: 10, out: 3, problems: 1})
	l.append(codexDay+rollout(codexA), codexTurn(codexA, 2))
	l.meet("resumed", counts{runs: 1, conversations: 1, events: 4, in: 20, out: 6, problems: 1})
	said += codexTurn(codexA, 2)
	l.write(codexDay+rollout(codexB), codexHead(codexB, `,"forked_from_id":"`+codexA+`"`)+said+codexTurn(codexB, 3))
	all := counts{runs: 2, conversations: 2, events: 6, in: 30, out: 9, links: 1, problems: 2}
	l.meet("forked", all)
	l.once("forked")
	l.move(codexDay+rollout(codexA), codexArchive+rollout(codexA))
	l.meet("archived", all)
	l.append(codexArchive+rollout(codexA), codexTurn(codexA, 3))
	l.compress(codexArchive + rollout(codexA))
	l.compress(codexDay + rollout(codexB))
	all.events, all.in, all.out = 8, 40, 12
	l.meet("compressed after it went on", all)
	l.once("compressed")
	l.copied("laptop", all)
}

// TestLifeCodexForkOfLess has a fork whose copied history is less than what it was taken for, as another file of it tells: what stands behind
// that is its own.
func TestLifeCodexForkOfLess(t *testing.T) {
	t.Parallel()
	l := newLife(t, "codex")
	said := codexHead(codexA, "") + codexTurn(codexA, 1) + codexLine("event_msg", `{"type":"collab_agent_spawn_end","call_id":"c1","new_thread_id":"`+claudeA+`"}`)
	l.write(codexDay+rollout(codexA), said)
	l.write(codexDay+rollout(codexB), codexHead(codexB, `,"forked_from_id":"`+codexA+`"`)+said+codexTurn(codexB, 3))
	l.meet("forked", counts{runs: 2, conversations: 2, events: 4, in: 30, out: 9, links: 2})
	l.write("kept/"+rollout(codexB), codexHead(codexB, "")+codexTurn("other", 1))
	l.meet("of less", counts{runs: 2, conversations: 2, events: 6, in: 40, out: 12, links: 3})
}

// TestForkThatWasSpawned: a thread may be a copy of the one that started it. That is one link.
func TestForkThatWasSpawned(t *testing.T) {
	t.Parallel()
	l := newLife(t, "codex")
	said := codexHead(codexA, "") + codexTurn(codexA, 1)
	l.write(codexDay+rollout(codexB), codexHead(codexB, `,"forked_from_id":"`+codexA+`"`)+said+codexTurn(codexB, 2))
	l.write(codexDay+rollout(codexA), said)
	both := counts{runs: 2, conversations: 2, events: 4, in: 20, out: 6, links: 1}
	l.meet("forked", both)
	l.answers("forked", "SELECT kind FROM v_links WHERE counted = 1", "fork")
	l.append(codexDay+rollout(codexA), codexLine("event_msg", `{"type":"collab_agent_spawn_end","call_id":"c1","new_thread_id":"`+codexB+`"}`))
	l.meet("spawned", both)
	l.once("spawned")
	l.answers("spawned", "SELECT kind FROM v_links WHERE counted = 1", "parent")
}

// compress does as Codex does: the compressed file takes the place of the plain one. Its one block is stored as it is.
func (l *life) compress(name string) {
	l.t.Helper()
	l.write(name+".zst", string(zstdFrame(l.read(name))))
	l.remove(name)
}

// zstdFrame is a frame that holds content as it is.
func zstdFrame(content string) []byte {
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0} // zstd: the size in four bytes, one segment
	frame = binary.LittleEndian.AppendUint32(frame, uint32(len(content)))
	block := len(content)<<3 | 1 // the last one
	frame = append(frame, byte(block), byte(block>>8), byte(block>>16))
	return append(frame, content...)
}

// copied has the whole directory once more, as another machine's, and expects the same totals.
func (l *life) copied(source string, want counts) {
	l.t.Helper()
	dir := l.t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(l.dir)); err != nil {
		l.t.Fatal(err)
	}
	l.w.ingest(source, dir, ".")
	if got := countsOf(l.w.totals().Formats[l.format]); got != want {
		l.t.Errorf("copied from elsewhere:\n got %+v\nwant %+v", got, want)
	}
}

// TestTornHead: a thread under another name is met when its first line is only half there. What the file was called is no run
// any more when the line says whose it is.
func TestTornHead(t *testing.T) {
	t.Parallel()
	l := newLife(t, "codex")
	said := codexHead(codexA, "") + codexTurn(codexA, 1)
	l.write("kept/thread.jsonl", said[:120])
	l.meet("half a head", counts{runs: 1, conversations: 1, problems: 1})
	l.append("kept/thread.jsonl", said[120:])
	l.meet("the whole", counts{runs: 1, conversations: 1, events: 2, in: 10, out: 3})
	l.answers("the whole", "SELECT native_id FROM v_runs", codexA)
}

// TestCopyOfABadHead: what cannot be read before the first line that tells whose a file is, is one problem in all copies of it.
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
		l.take()
		l.append(c.one, c.line+"\n"+bad)
		l.write(c.other, bad+c.line+"\n"+bad)
		want := counts{runs: 1, conversations: 1, problems: 2, events: c.events}
		if c.events == 3 {
			want.in, want.out = 10, 3
		}
		l.meet(c.format, want)
		l.once(c.format)
	}
}

// TestOwnerComesLate: a sub-agent of the old layout, and a session of another name, begin with lines that do not say whose they
// are. What the files were called is no run any more when a line says it.
func TestOwnerComesLate(t *testing.T) {
	t.Parallel()
	l := newLife(t, "claude-code")
	agent, chat := ".claude/projects/-home-ada-shop/agent-ab12.jsonl", ".claude/projects/-home-ada-shop/chat.jsonl"
	summary := `{"type":"summary","summary":"Baskets","leafUuid":"x"}` + "\n"
	l.write(agent, summary)
	l.write(chat, summary)
	l.meet("summaries", counts{})
	l.append(agent, strings.ReplaceAll(claudeTurn(claudeA, 1), `"isSidechain":false`, `"isSidechain":true`))
	l.append(chat, claudeTurn(claudeB, 2))
	l.meet("the owners", counts{runs: 1, conversations: 2, events: 6, in: 20, out: 6, links: 1})
	l.answers("the owners", "SELECT native_id FROM v_runs WHERE native_id LIKE 'agent%' OR native_id = 'chat'")
	l.answers("the owners", "SELECT count(*) || ' ' || count(DISTINCT run_id) FROM v_events WHERE type = 'summary'", "2 2")
	l.once("the owners")
}

// TestGrownAHundredTimes: an ingest stores the bytes that came and writes the rows of their lines, no more.
func TestGrownAHundredTimes(t *testing.T) {
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
		for n := 1; n <= 100; n++ {
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
		if in := value(sums.Input); in != 100*c.in || sums.Bytes != int64(len(content)) {
			t.Errorf("%s: %d tokens and %d bytes of %d and %d", format, in, sums.Bytes, 100*c.in, len(content))
		}
		if all := w.stored(c.path); len(all) != 1 || all[0] != content {
			t.Errorf("%s: %d versions, want one with all bytes", format, len(all))
		}
	}
}

// TestWrittenWhileRead has a program that goes on writing while its session is ingested again and again: no line is lost,
// none counts twice, and what was read is never taken for another file.
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
	if all := w.stored(claudeFile(claudeA)); err != nil || len(all) != 1 || all[0] != string(content) {
		t.Errorf("%d versions, want one with all bytes (%v)", len(all), err)
	}
}
