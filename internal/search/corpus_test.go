package search

import (
	"fmt"
	"strings"

	"github.com/txarchive/txarchive/internal/index/indextest"
	"github.com/txarchive/txarchive/internal/transcript"
)

var (
	plainWords = strings.Fields(`the error timeout permission denied def main return config parse health run step model retry second seconds
		Straße Crème brûlée naïve Übergröße señor Łódź привет Ёлка мир Σίσυφος ΟΔΟΣ déjà vu Cafe\u0301 connection refused`)
	identifiers = strings.Fields(`parseConfig HTTPServer2 pane_pid kebab-case-name src/health.py v1.2.3 TypeError: #123 50% don't obj.method()
		C++ std::vector main.go:42 XMLHttpRequest getUserById2 a3f9c1b2 550e8400-e29b-41d4 toolu_01XyZaB3dE5fG https://example.org/a?b=c&d=1 /usr/local/bin
		f47ac10b-58cc-4372-a567-0e02b2c3d479 deadbeef42 e3b0c44298fc1c149afbf4c8996fb924 ﬁnal ＦＵＬＬ２ x² naïveParser étéHaut`)
	cjkTexts = []string{"数据库连接失败", "修复bug", "日本語のテキスト", "エラーが発生しました", "한국어 텍스트", "权限被拒绝", "がぎぐ", "ｶﾞｷﾞ", "か\u3099き", "\u1112\u1161\u11ab글", "👍🏽", "✓", "5㎏"}
)

func (s scribe) coin() string {
	switch s.IntN(12) {
	case 0, 1:
		return identifiers[s.IntN(len(identifiers))]
	case 2:
		return cjkTexts[s.IntN(len(cjkTexts))]
	case 3: // something new
		var b strings.Builder
		for range 3 + s.IntN(8) {
			b.WriteByte("abcdefghijklmnopqrstuvwxyz"[s.IntN(26)])
		}
		return b.String()
	case 4:
		if s.IntN(3) == 0 { // a word that is cut into several terms
			return strings.Repeat("zqxj", 17+s.IntN(6)) + []string{"tail", "end", "seconf"}[s.IntN(3)] + strings.Repeat("x", s.IntN(30))
		}
	}
	return strings.ReplaceAll(plainWords[s.IntN(len(plainWords))], `\u0301`, "\u0301")
}

func (s scribe) text() string {
	var b strings.Builder
	for range 1 + s.IntN(14)*(1+s.IntN(8)/7*3) {
		b.WriteString(s.coin())
		b.WriteString([]string{" ", " ", " ", "\n", ", ", "(", " = ", "/", "\t", `"`, "_", "", `\n`, `\t`, "\x1b[1m"}[s.IntN(15)])
	}
	return b.String()
}

// maybeOne gives one of some values, or none.
func (s scribe) maybeOne(of ...string) string {
	if s.IntN(3) == 0 {
		return ""
	}
	return pick(s, of)
}

var projects = []string{"/srv/pay-ments", "/srv/Übung 2", "/home/ann/my_app", "C:\\work\\50%"}

// original is a random original: one run with two conversations, and all that a format can say of them.
func (s scribe) original(run string, events int) indextest.Original {
	o := indextest.Original{Source: pick(s, []string{"src", "Other"}), Path: "2026/" + run + ".jsonl", Format: pick(s, []string{"awf", "codex"}),
		Claim: ".", Size: int64(events+1) * 100}
	o.Records = append(o.Records,
		&transcript.Run{ID: run, Title: "talk of " + run, Agent: s.maybeOne("tester", "Réviseur"), Project: s.maybeOne(projects...), Group: s.maybeOne("nightly", "a b"),
			Flow: s.maybeOne("build", "deploy"), Model: s.maybeOne("claude-x", "gpt-9"), Status: s.maybeOne("ok", "timed_out"),
			Outcome: transcript.Outcome(s.maybeOne("succeeded", "failed", "running")), Stub: s.IntN(4) == 0, Attributes: s.attributes("queue")})
	for _, id := range []string{"", "second"} {
		o.Records = append(o.Records, &transcript.Conversation{ID: id, Run: run, Agent: s.maybeOne("Planner", "tester"), Engine: s.maybeOne("claude", "codex"),
			Model: s.maybeOne("claude-x", "o4"), Flow: s.maybeOne("build"), Step: s.maybeOne("review", "fix it"), Status: s.maybeOne("done"),
			Project: s.maybeOne(projects...), Attributes: s.attributes("lane")})
	}
	if s.IntN(3) == 0 {
		o.Records = append(o.Records, &transcript.Problem{Kind: "torn line", Reason: "it ends early", Origin: indextest.Place(events)})
	}
	for i := range events {
		o.Records = append(o.Records, s.event(run, i)...)
	}
	return o
}

func (s scribe) attributes(key string) transcript.Attributes {
	values := []any{"fast", "Not so fast", int64(s.IntN(3)), s.IntN(2) == 0, 0.5}
	if s.IntN(2) == 0 {
		return nil
	}
	return transcript.Attributes{key: values[s.IntN(len(values))]}
}

// event gives an event, and what is told of it beside.
func (s scribe) event(run string, i int) []transcript.Record {
	e := &transcript.Event{Run: run, Kind: transcript.Kind(pick(s, []string{"message", "message", "reasoning", "error", "notice"})),
		Role: pick(s, []string{"user", "assistant", "Tool x"}), Type: s.maybeOne("text", "function_call"), Origin: indextest.Place(i),
		Agent: s.rarely("helper"), Model: s.rarely("Claude-Y"), Flow: s.rarely("hotfix"), Step: s.rarely("late"), Attributes: s.attributes("stop_reason")}
	if s.IntN(2) == 0 {
		e.Conversation = "second"
	}
	if s.IntN(8) > 0 {
		e.Time = indextest.At(int64(s.IntN(400))*60 + int64(s.IntN(60)))
		e.Time.UnixMicro += int64(s.IntN(1e6))
	}
	if s.IntN(20) == 0 {
		e.Verdict = transcript.CopiedHistory
	}
	if s.IntN(6) == 0 {
		e.Attributes = transcript.Attributes{"from": pick(s, []string{"planner", "Émile"})}
	}
	for p := range 1 + s.IntN(4)/3 {
		e.Parts = append(e.Parts, s.part(i, p))
	}
	out := []transcript.Record{e}
	if s.IntN(4) == 0 {
		u := &transcript.Usage{Run: run, Conversation: e.Conversation, Key: fmt.Sprint(run, i), Time: e.Time, Model: "none", Origin: e.Origin}
		for _, n := range []*transcript.Count{&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.Cost} {
			if s.IntN(2) == 0 {
				*n = transcript.Known(int64(s.IntN(100)))
			}
		}
		out = append(out, u)
	}
	if s.IntN(10) == 0 {
		step := &transcript.Step{Run: run, Conversation: e.Conversation, Key: fmt.Sprint("step", i), Name: "s", Origin: e.Origin}
		if step.Started, step.Ended = indextest.At(1), indextest.At(int64(1+s.IntN(20))); s.IntN(2) == 0 {
			step.Duration = transcript.Known(int64(s.IntN(9)) * 1e6)
		}
		out = append(out, step)
	}
	return out
}

func (s scribe) rarely(value string) string {
	if s.IntN(6) > 0 {
		return ""
	}
	return value
}

// part is a piece of an event; the result of a call is mostly that of the event before.
func (s scribe) part(i, p int) transcript.Part {
	part := transcript.Part{Text: s.text()}
	switch s.IntN(6) {
	case 0, 1:
		part.Kind, part.Call = transcript.KindToolCall, &transcript.Call{ID: fmt.Sprint(i, "-", p), Name: pick(s, []string{"Bash", "Read", "mcp__x y"})}
		if s.IntN(2) == 0 {
			part.Call.Paths = []string{pick(s, []string{"src/health.py", "main.go"}), "Über.txt"}[:1+s.IntN(2)]
		}
	case 2:
		part.Kind, part.Result = transcript.KindToolResult, &transcript.Result{Call: fmt.Sprint(i-1, "-", p), Name: pick(s, []string{"Bash", "Read"}),
			Failed: transcript.Truth(s.IntN(3)), Cut: s.IntN(4) == 0}
		if s.IntN(2) == 0 {
			part.Result.Duration = transcript.Known(int64(s.IntN(5)) * 1e6)
		}
	}
	return part
}
