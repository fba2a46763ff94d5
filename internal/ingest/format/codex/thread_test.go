package codex

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// In resumed.log other lines precede the one that names the thread.
func TestGrowth(t *testing.T) { formattest.Growth(t, New(), "resumed.log") }

// TestMissingOrigin removes the origin: everything counts again, and the conversation says why.
func TestMissingOrigin(t *testing.T) {
	files := formattest.Originals(t, New(), "testdata/forks")
	origin, fork := files[0], files[1]
	thread := kept[*transcript.Conversation](fork)[0]
	family := transcript.Family{Conversations: []*transcript.FamilyConversation{{Conversation: *thread, Hints: kept[*transcript.Hint](fork)}}}
	codex{}.Resolve(&family)
	if v := family.Conversations[0]; v.CopiedUntil != 0 || v.Attributes["origin_missing"] != true {
		t.Errorf("copied until %d, attributes %v", v.CopiedUntil, v.Attributes)
	}
	family.Conversations[0].Conversation = *thread
	from := kept[*transcript.Conversation](origin)[0].ID
	family.Related = map[string][]*transcript.Hint{from: kept[*transcript.Hint](origin)}
	codex{}.Resolve(&family)
	v := family.Conversations[0]
	if v.Attributes["origin_missing"] != nil || v.CopiedUntil == 0 {
		t.Errorf("copied until %d, attributes %v", v.CopiedUntil, v.Attributes)
	}
	family.Related[from] = family.Conversations[0].Hints
	codex{}.Resolve(&family)
	events := kept[*transcript.Event](fork)
	if last := events[len(events)-1]; family.Conversations[0].CopiedUntil <= last.Origin.Offset {
		t.Error("a fork without a turn of its own is all copy")
	}
}

// kept returns the records of one type.
func kept[T transcript.Record](o *formattest.Original) (all []T) {
	for _, record := range o.Records() {
		if r, ok := record.(T); ok {
			all = append(all, r)
		}
	}
	return all
}

// TestInheritedTotal reads a fork that repeats nothing of its origin but, before its first request, the counters of its origin.
func TestInheritedTotal(t *testing.T) {
	const (
		head      = `{"type":"session_meta","payload":{"id":"01a00000-ffff-7000-8000-00000000000f","history_base":{"thread_id":"01a00000-aaaa-7000-8000-000000000001","end_ordinal_exclusive":9}}}` + "\n"
		inherited = `{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":100},"last_token_usage":{"input_tokens":40}}}}` + "\n"
		record    = `{"type":"token_usage_record","payload":{"response_id":"r1","usage":{"input_tokens":7}}}` + "\n"
		own       = `{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":107},"last_token_usage":{"input_tokens":7}}}}` + "\n"
	)
	for name, lines := range map[string]string{
		"before the request":           inherited + record + own,
		"after a request without one":  record + inherited,
		"not at all":                   record + own,
		"between a record and its own": record + inherited + own,
	} {
		sum := map[string]int64{}
		for _, record := range formattest.Check(t, New(), formattest.Input{Role: roleRollout, Path: "rollout.jsonl", Bytes: []byte(head + lines)}) {
			if u, ok := record.(*transcript.Usage); ok {
				sum[cmp.Or(u.Alias, u.Key)] = u.Input.N
			}
		}
		if len(sum) != 1 || sum["response:r1"] != 7 {
			t.Errorf("%s: %v", name, sum)
		}
	}
}

// TestCompaction has the record of a compaction, which the totals do not include: only an estimate of what is left follows it.
func TestCompaction(t *testing.T) {
	const lines = `{"type":"token_usage_record","payload":{"response_id":"r1","usage":{"input_tokens":100}}}
{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":100},"last_token_usage":{"input_tokens":100}}}}
{"type":"token_usage_record","payload":{"response_id":"r2","usage":{"input_tokens":90}}}
{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":100},"last_token_usage":{"input_tokens":20}}}}
{"type":"token_usage_record","payload":{"response_id":"r3","usage":{"input_tokens":30}}}
{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":130},"last_token_usage":{"input_tokens":30}}}}
`
	requests := map[string]int64{}
	for _, record := range formattest.Check(t, New(), formattest.Input{Role: roleRollout, Path: "rollout.jsonl", Bytes: []byte(lines)}) {
		if u, ok := record.(*transcript.Usage); ok {
			requests[cmp.Or(u.Alias, u.Key)] = u.Input.N
		}
	}
	if want := map[string]int64{"response:r1": 100, "response:r2": 90, "response:r3": 30}; !maps.Equal(requests, want) {
		t.Errorf("%v, want %v", requests, want)
	}
}

// TestBeganAnew has totals that begin again at 0 after the first request. They are greater than it, but no more than the response on record.
func TestBeganAnew(t *testing.T) {
	const lines = `{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":100},"last_token_usage":{"input_tokens":100}}}}
{"type":"token_usage_record","payload":{"response_id":"r2","usage":{"input_tokens":150}}}
{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":150},"last_token_usage":{"input_tokens":150}}}}
`
	var counted []int64
	for _, record := range formattest.Check(t, New(), formattest.Input{Role: roleRollout, Path: "rollout.jsonl", Bytes: []byte(lines)}) {
		if u, ok := record.(*transcript.Usage); ok && u.Key != "response:r2" {
			counted = append(counted, u.Input.N)
		}
	}
	if want := []int64{100, 150}; !slices.Equal(counted, want) {
		t.Errorf("%d, want %d", counted, want)
	}
}

// TestLostRecord has a request whose process was killed before it wrote its totals: those of the next process lack it.
func TestLostRecord(t *testing.T) {
	var m meter
	for i, n := range []int64{50, 10, 5} {
		m.isNew(record{tokens{input: n}, string(rune('a' + i))})
	}
	if used, key := m.matchRecord(tokens{input: 15}); used.input != 5 || key != "c" {
		t.Errorf("%d %q", used.input, key)
	}
}

// TestMeterOfTwo has two counters of one thread by turns, of two limits. Each goes on from its own total, and both are written again, also together
// with the other's limit.
func TestMeterOfTwo(t *testing.T) {
	var m meter
	sum := int64(0)
	for _, c := range []struct{ total, last, limit string }{
		{"1000", "1000", "codex"},
		{"1100", "100", "codex"},
		{"90000", "150", "codex_other"}, // its beginning is in no line
		{"1250", "150", "codex"},
		{"90000", "150", "codex_other"},
		{"90000", "150", "codex"},
		{"90200", "200", "codex_other"},
		{"1250", "150", ""},
		{"1300", "50", ""},
		{"1400", "60", "codex"}, // 40 are of a request whose line is lost
	} {
		used, _, _ := m.request(jsontext.ParseStart([]byte(`{"total_token_usage":{"input_tokens":`+c.total+`},"last_token_usage":{"input_tokens":`+c.last+`}}`)), c.limit)
		sum += used.input
	}
	if want := int64(1400 + 350); sum != want {
		t.Errorf("%d tokens, want %d", sum, want)
	}
}

type count struct {
	in, key string
	input   int64
	ok      bool
}

func TestMeter(t *testing.T) {
	testMeter(t, []count{
		{`{"total_token_usage":{"input_tokens":10},"last_token_usage":{"input_tokens":4}}`, "0/10/0/0/0/0", 4, true}, // no total before: the last alone
		{`{"total_token_usage":{"input_tokens":10},"last_token_usage":{"input_tokens":4}}`, "", 0, false},
		{`{"total_token_usage":{"input_tokens":30},"last_token_usage":{"input_tokens":5}}`, "0/30/0/0/0/0", 20, true}, // growth, whatever the last says
		{`{"total_token_usage":{"input_tokens":7},"last_token_usage":{"input_tokens":7}}`, "1/7/0/0/0/0", 7, true},    // counters began anew
		{`{"total_token_usage":{"input_tokens":30}}`, "1/30/0/0/0/0", 23, true},
		{`{"total_token_usage":{"input_tokens":3}}`, "2/3/0/0/0/0", 3, true},
		{`{"total_token_usage":{"input_tokens":3,"reasoning_output_tokens":2}}`, "2/3/0/0/0/2", 0, true}, // not the same request
		{`{"total_token_usage":{"input_tokens":3,"reasoning_output_tokens":2.5}}`, "3/3/0/0/0/0", 3, true},
		{`{"total_token_usage":{"input_tokens":8},"last_token_usage":{"input_tokens":8}}`, "4/8/0/0/0/0", 8, true}, // anew, though no counter shrank
		{`{"total_token_usage":{"input_tokens":8},"last_token_usage":{"input_tokens":8}}`, "", 0, false},
		{`{"last_token_usage":{"input_tokens":9}}`, "#1", 9, true},
		{`{"last_token_usage":{"input_tokens":9}}`, "", 0, false},
		{`null`, "", 0, false},
		{`{"total_token_usage":null}`, "", 0, false},
	})
}

// TestMeterOfOneRequest reads a thread that was resumed, by a version that then counts from 0, after its first request.
func TestMeterOfOneRequest(t *testing.T) {
	const first = `{"total_token_usage":{"input_tokens":100,"output_tokens":5},"last_token_usage":{"input_tokens":100,"output_tokens":5}}`
	testMeter(t, []count{
		{first, "0/100/0/0/5/0", 100, true},
		{`{"total_token_usage":{"input_tokens":110,"cached_input_tokens":96,"output_tokens":7},"last_token_usage":{"input_tokens":110,"cached_input_tokens":96,"output_tokens":7}}`, "1/110/96/0/7/0", 110, true},
	})
	testMeter(t, []count{ // or the last is as cumulative as the total
		{first, "0/100/0/0/5/0", 100, true},
		{`{"total_token_usage":{"input_tokens":180,"cached_input_tokens":64,"output_tokens":7},"last_token_usage":{"input_tokens":180,"cached_input_tokens":64,"output_tokens":7}}`, "0/180/64/0/7/0", 80, true},
	})
}

func testMeter(t *testing.T, counts []count) {
	t.Helper()
	var m meter
	for i, c := range counts {
		got, key, ok := m.request(jsontext.ParseStart([]byte(c.in)), "")
		if ok != c.ok || ok && (key != c.key || got.input != c.input) {
			t.Errorf("%d: %s: %d %q %v, want %+v", i, c.in, got.input, key, ok, c)
		}
	}
}
