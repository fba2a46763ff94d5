package inspect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
	"github.com/txarchive/txarchive/internal/transcript"
)

func TestGolden(t *testing.T) { formattest.Golden(t, New()) }

func FuzzJSON(f *testing.F) {
	formattest.Fuzz(f, New(), roleJSON, "logs/2026-01-01T00-00-00+00-00_task_fuzz.json")
}

func FuzzEval(f *testing.F) {
	formattest.Fuzz(f, New(), roleEval, "logs/2026-01-01T00-00-00+00-00_task_fuzz.eval")
}

// TestLongPool reads half a million references to half a million messages, which ends only if messages are not met again.
func TestLongPool(t *testing.T) {
	const n = 500_000
	log := `{"version":2,"status":"success","samples":[{"uuid":"u","events_data":{"messages":[` + strings.Repeat("0,", n) + `{"role":"user","content":"plum"}]},` +
		`"events":[{"event":"model","input_refs":[[2,1]` + strings.Repeat(fmt.Sprintf(",[0,%d]", n+1), n) + `]}]}]}`
	texts := ""
	for r, err := range New().Parse(format.Input{Role: roleJSON, Reader: strings.NewReader(log)}) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := r.(*transcript.Event); ok {
			texts += e.Parts[0].Text
		}
	}
	if texts != "plum" {
		t.Errorf("got %q", texts)
	}
}

// TestManyReferences has a text of a megabyte that 1000 messages are.
func TestManyReferences(t *testing.T) {
	const n = 1000
	log := `{"version":2,"status":"success","samples":[{"uuid":"u","attachments":{"k":"plum` + strings.Repeat(" pear", 200_000) + `"},"messages":[` +
		strings.Repeat(`{"role":"user","content":"attachment://k"},`, n) + `{"role":"user","content":"fig"}]}]}`
	length, events, plums := 0, 0, 0
	for r, err := range New().Parse(format.Input{Role: roleJSON, Reader: strings.NewReader(log)}) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := r.(*transcript.Event); ok {
			events++
			length += len(e.Parts[0].Text)
			plums += strings.Count(e.Parts[0].Text, "plum")
		}
	}
	if events < n+1 || plums < 1 || length > format.DocumentLimit {
		t.Errorf("%d events with %d bytes of text, %d of them with the attachment", events, length, plums)
	}
}

// TestHostile has samples of a few MB that are only read to their end if no event looks at all of the sample, and no block repeats a long id.
func TestHostile(t *testing.T) {
	const n = 200_000
	many := func(s string) string { return strings.Repeat(s, n) }
	for name, sample := range map[string]string{
		"scores": many(`"x":0,`) + `"events":[` + many(`{"event":"score","value":"C"},`) + `0]`,
		"blocks": `"messages":[{"role":"assistant","id":"` + strings.Repeat("x", 5_000_000) + `","content":[` + many(`{"type":"text","text":"x"},`) + `0]}]`,
	} {
		events := 0
		log := `{"version":2,"status":"success","samples":[{"uuid":"u",` + sample + `}]}`
		for r, err := range New().Parse(format.Input{Role: roleJSON, Reader: strings.NewReader(log)}) {
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := r.(*transcript.Event); ok {
				events++
			}
		}
		if events < n {
			t.Errorf("%s: %d events", name, events)
		}
	}
}

// TestManyMetrics has more metrics than are kept until the samples are read.
func TestManyMetrics(t *testing.T) {
	var metrics strings.Builder
	for i := range maxHeld {
		fmt.Fprintf(&metrics, `"%d":{"value":1},`, i)
	}
	log := `{"version":2,"status":"success","eval":{"eval_id":"e","task":"t"},"results":{"scores":[{"name":"s","metrics":{` + metrics.String() + `"one more":{},"and one":{}}}]}}`
	receipts, problems := 0, 0
	for r, err := range New().Parse(format.Input{Role: roleJSON, Reader: strings.NewReader(log)}) {
		if err != nil {
			t.Fatal(err)
		}
		switch r := r.(type) {
		case *transcript.Receipt:
			receipts++
		case *transcript.Problem:
			problems++
			if r.Kind != "too many results" || r.Run != "e" {
				t.Errorf("%+v", r)
			}
		}
	}
	if receipts != maxHeld || problems != 1 {
		t.Errorf("%d receipts, %d problems", receipts, problems)
	}
}
