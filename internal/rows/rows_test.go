package rows

import (
	"strings"
	"testing"
)

func TestFormats(t *testing.T) {
	for format, want := range map[string]string{
		"table":    "id             n  what\nc02r1h4ym8mv7  7  a|b\nc02r1h4ym8mv8     =1+1\n",
		"csv":      "id,n,what\nc02r1h4ym8mv7,7,a|b\nc02r1h4ym8mv8,,'=1+1\n",
		"json":     "[{\"id\":\"c02r1h4ym8mv7\",\"n\":7,\"what\":\"a|b\"},\n{\"id\":\"c02r1h4ym8mv8\",\"n\":null,\"what\":\"=1+1\"}]\n",
		"ndjson":   "{\"id\":\"c02r1h4ym8mv7\",\"n\":7,\"what\":\"a|b\"}\n{\"id\":\"c02r1h4ym8mv8\",\"n\":null,\"what\":\"=1+1\"}\n",
		"markdown": "| id | n | what |\n| --- | --- | --- |\n| c02r1h4ym8mv7 | 7 | a\\|b |\n| c02r1h4ym8mv8 |  | =1+1 |\n",
	} {
		var b strings.Builder
		w, ok := New(format, Output{W: &b})
		if !ok {
			t.Fatalf("there is no format %s", format)
		}
		for _, err := range []error{w.Columns([]string{"id", "n", "what"}), w.Row([]any{"c02r1h4ym8mv7", int64(7), []byte("a|b")}), w.Row([]any{"c02r1h4ym8mv8", nil, "=1+1"}), w.End()} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if b.String() != want {
			t.Errorf("%s: got\n%s\nwant\n%s", format, b.String(), want)
		}
	}
	if _, ok := New("xml", Output{}); ok {
		t.Error("there is a format xml")
	}
}

// TestTableOfNames: names of models begin alike, and end differently.
func TestTableOfNames(t *testing.T) {
	var out strings.Builder
	w, _ := New("table", Output{W: &out, Width: 30})
	_ = w.Columns([]string{"model", "said"})
	_ = w.Row([]any{"claude-sonnet-4-20250514", "the file is not there"})
	_ = w.Row([]any{"claude-sonnet-4-5-20250929", "yes"})
	_ = w.End()
	if want := "model           said\nclaude-…nnet-4  the file is n…\nclaude-…et-4-5  yes\n"; out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// TestTableOfLongRows: a table holds some megabytes of rows before it prints them, not a thousand rows of any length.
func TestTableOfLongRows(t *testing.T) {
	var b strings.Builder
	w, _ := New("table", Output{W: &b, Width: 80})
	if err := w.Columns([]string{"text"}); err != nil {
		t.Fatal(err)
	}
	for n, row := 1, strings.Repeat("x", 1<<20); b.Len() == 0; n++ {
		if n > tableBytes>>20 {
			t.Fatalf("%d rows are held", n)
		}
		if err := w.Row([]any{row}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEscapeFormula(t *testing.T) {
	for text, want := range map[any]string{
		"=1": "'=1", "\n=1": "'\n=1", "＝1": "'＝1", "＠SUM(1)": "'＠SUM(1)", "－1": "'－1", "-2": "-2", "-": "-", "": "", "\xff=": Text("\xff="), "a=1": "a=1", int64(-2): "-2",
	} {
		if got := escapeFormula(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
