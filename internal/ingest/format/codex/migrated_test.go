package codex

import (
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestMigrated reads subagents whose files the program wrote anew. Their head says that own history begins behind what was there then, although most
// of that is their own.
func TestMigrated(t *testing.T) {
	for i, want := range []string{"Explore the templates", "checkout 840 ms"} {
		file := formattest.Originals(t, New(), "testdata/migrated")[i]
		family := transcript.Family{Conversations: []*transcript.FamilyConversation{{Conversation: *kept[*transcript.Conversation](file)[0], Hints: kept[*transcript.Hint](file)}}}
		codex{}.Resolve(&family)
		until := family.Conversations[0].CopiedUntil
		for _, e := range kept[*transcript.Event](file) {
			if e.Origin.Offset >= until && e.Parts[0].Text != "" {
				if !strings.Contains(e.Parts[0].Text, want) {
					t.Errorf("%s: own history begins with %q, want %q", file.Path, e.Parts[0].Text, want)
				}
				break
			}
		}
		for _, u := range kept[*transcript.Usage](file) {
			if copied := u.Input.N+u.CacheRead.N == 9000; copied != (u.Origin.Offset < until) {
				t.Errorf("%s: tokens at %d, own history begins at %d", file.Path, u.Origin.Offset, until)
			}
		}
	}
}

// TestReplayWithoutHead has a subagent's file that begins with lines of its parent, but not with the parent's head. That a turn began before the thread
// shows it.
func TestReplayWithoutHead(t *testing.T) {
	const (
		parent = "019f7d80-aaaa-7000-8000-00000000000a"
		head   = `{"type":"session_meta","payload":{"id":"019f7eca-1240-7000-8000-00000000000d","source":{"subagent":{"thread_spawn":{"parent_thread_id":"` + parent + `"}}}}}` + "\n"
		copied = `{"type":"event_msg","payload":{"type":"task_started","turn_id":"019f7ec0-ea80-7000-8000-000000000051"}}` + "\n" +
			`{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":9000},"last_token_usage":{"input_tokens":900}}}}` + "\n"
		own = `{"type":"turn_context","payload":{"turn_id":"019f7eca-1245-7000-8000-000000000052","model":"gpt-5.5"}}` + "\n"
	)
	for lines, want := range map[string]int{head + copied + own: len(head + copied), head + own: 0} {
		file := stated(t, lines)
		codex{}.Resolve(&transcript.Family{Related: map[string][]*transcript.Hint{parent: {}}, Conversations: []*transcript.FamilyConversation{file}})
		if file.CopiedUntil != int64(want) {
			t.Errorf("own history begins at %d, want %d", file.CopiedUntil, want)
		}
	}
}

// stated returns what a file states of its thread.
func stated(t *testing.T, lines string) *transcript.FamilyConversation {
	t.Helper()
	v := &transcript.FamilyConversation{}
	for _, r := range formattest.Check(t, New(), formattest.Input{Role: roleRollout, Path: "rollout.jsonl", Bytes: []byte(lines)}) {
		switch r := r.(type) {
		case *transcript.Hint:
			v.Hints = append(v.Hints, r)
		case *transcript.Conversation:
			v.Conversation = *r
		}
	}
	return v
}

// TestMigratedFork has both files of a fork: the one that the program wrote first, and the one that it made of it, which is shorter.
func TestMigratedFork(t *testing.T) {
	const (
		origin = "019f7d80-aaaa-7000-8000-00000000000a"
		thread = "019f7eca-1240-7000-8000-00000000000e"
		head   = `{"type":"session_meta","payload":{"id":"` + thread + `","forked_from_id":"` + origin + `"`
		copied = `}}` + "\n" + `{"type":"turn_context","payload":{"turn_id":"a","model":"gpt-5.5"}}` + "\n" +
			`{"type":"turn_context","payload":{"turn_id":"019f7ec0-ea80-7000-8000-000000000051","model":"gpt-5.5"}}` + "\n" // older than the thread; the origin has it no longer
		own = `{"type":"turn_context","payload":{"turn_id":"b","model":"gpt-5.5"}}` + "\n"
	)
	family := transcript.Family{Related: map[string][]*transcript.Hint{origin: {{Key: hintTurn, Value: "9 a"}}}}
	var want []int64
	for _, start := range []string{head + copied + strings.Repeat(`{"type":"event_msg","payload":{"type":"agent_message","message":"so"}}`+"\n", 9), head + `,"history_mode":"paginated"` + copied} {
		want = append(want, int64(len(start)))
		family.Conversations = append(family.Conversations, stated(t, start+own))
	}
	codex{}.Resolve(&family)
	for i, v := range family.Conversations {
		if v.CopiedUntil != want[i] {
			t.Errorf("file %d: own history begins at %d, want %d", i, v.CopiedUntil, want[i])
		}
	}
}

// TestRolledBack has the totals of a file that the program wrote anew: lines of a turn that was rolled back are not in it, but their tokens are in the
// totals. The first file states these requests one by one.
func TestRolledBack(t *testing.T) {
	rank := func(before string) int64 {
		const total = `{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":%},"last_token_usage":{"input_tokens":5}}}}` + "\n"
		last := int64(0)
		for _, r := range formattest.Check(t, New(), formattest.Input{Role: roleRollout, Path: "rollout.jsonl", Bytes: []byte(strings.ReplaceAll(total, "%", "5") + before + strings.ReplaceAll(total, "%", "15"))}) {
			if u, ok := r.(*transcript.Usage); ok {
				last = u.Rank
			}
		}
		return last
	}
	const lost = `{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":10},"last_token_usage":{"input_tokens":5}}}}` + "\n"
	if whole, shorter := rank(lost), rank(""); whole <= shorter {
		t.Errorf("rank %d where all lines are, %d where one is missing", whole, shorter)
	}
}
