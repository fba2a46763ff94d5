package toolcall

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, raw, tool, text string
		fields                []string
		rest                  string
	}{
		{
			"a block of Claude Code", `{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"/a","old_string":"x\ny","new_string":"","replace_all":false}}`,
			"Edit", "Edit\n/a\nx\ny", []string{"file_path: /a", "old_string:\n  x\n  y", `new_string: ""`, "replace_all: false"}, "",
		},
		{
			"JSON in a string", `{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"],\"timeout_ms\":5000}","call_id":"c"}`,
			"shell", "shell\nbash\n-lc\nls\n5000", []string{`command: ["bash","-lc","ls"]`, "timeout_ms: 5000"}, "",
		},
		{
			"a summary of the input", `{"name":"read_file","args":{"path":"README.md"},"description":"README.md"}`,
			"read_file", "read_file\nREADME.md\nREADME.md", []string{"path: README.md"}, "",
		},
		{
			"more than the input", `{"name":"read_file","args":{"path":"a.go"},"status":"pending"}`,
			"read_file", "read_file\na.go\npending", []string{"path: a.go"}, "pending",
		},
		{
			"the second of two calls", `{"tool_calls":[{"function":{"name":"f","arguments":"{\"a\":1}"}},{"function":{"name":"f","arguments":"{\"b\":2}"}}]}`,
			"f", "f\n2", []string{"b: 2"}, "",
		},
		{"an object of another name", `{"what":{"query":"x"},"n":1}`, "find", "find\nx", []string{"query: x"}, ""},
		{"no name before the input", `{"name":"f","input":{"q":"x"}}`, "f", "x", []string{"q: x"}, ""},
		{"the text is JSON", "tool read_file {...}", "read_file", "read_file\n{\"path\": \"a.go\"}", []string{"path: a.go"}, ""},
		{"the name beside the input", `{"tool":"readFile","path":"a.go"}`, "readFile", "readFile\na.go", []string{"tool: readFile", "path: a.go"}, ""},
		{"the name in the input", `{"args":{"name":"f","q":"x"}}`, "f", "f\nx", []string{"name: f", "q: x"}, ""},
		{"an input that is text", `{"name":"apply_patch","input":"*** Begin Patch\n*** End Patch"}`, "apply_patch", "apply_patch\n*** Begin Patch\n*** End Patch", nil, "*** Begin Patch\n*** End Patch"},
		{"part of a line is no line", `{"input":{"q":"ab"}}`, "f", "f\nabc", nil, "abc"},
		{"no input", `{"name":"f","input":{}}`, "f", "f", nil, ""},
		{"no values that are searched", `{"name":"f","input":{"sure":true,"why":null}}`, "f", "f", []string{"sure: true", "why: null"}, ""},
		{"which of two is unknown", `[{"name":"f","input":{"sure":true}},{"name":"f","input":{}}]`, "f", "f", nil, ""},
		{"no JSON", "plain", "f", "f\nplain", nil, "plain"},
		{"no text", `{"input":{"q":"x"}}`, "f", "", nil, ""},
		{
			"lists and objects", `{"input":{"todos":[{"content":"first thing of two that are to be done","done":true},{"content":"second\nthing, which has two lines","done":false}],"at":{"x":1}}}`,
			"f", "first thing of two that are to be done\nsecond\nthing, which has two lines\n1",
			[]string{"todos:\n  - content: first thing of two that are to be done\n    done: true\n  - content:\n      second\n      thing, which has two lines\n    done: false", `at: {"x":1}`}, "",
		},
	} {
		call := Parse([]byte(c.raw), c.tool, c.text)
		if got := call.Fields(); !slices.Equal(got, c.fields) || call.Rest != c.rest {
			t.Errorf("%s:\n got %q, %q\nwant %q, %q", c.name, got, call.Rest, c.fields, c.rest)
		}
	}
}

// TestParseLong reads events that would take minutes if objects in objects, many inputs or repetitions took time by their square.
func TestParseLong(t *testing.T) {
	const deep = 200
	nested := strings.Repeat(`{"input":`, deep) + `{"q":"` + strings.Repeat("x", 1<<20) + `"}` + strings.Repeat("}", deep)
	if call := Parse([]byte(nested), "f", "f\nyes"); call.Input.Exists() || call.Rest != "yes" {
		t.Errorf("nested: %d bytes of input, rest %q", call.Input.Len(), call.Rest)
	}
	many := "[" + strings.Repeat(`{"input":{"q":"x"}},`, 100_000) + "0]"
	if call := Parse([]byte(many), "f", strings.Repeat("y", 1<<20)); call.Input.Exists() {
		t.Errorf("many: %s", call.JSON())
	}
	same := `{"input":{"q":"` + strings.Repeat("x", 1<<20) + `"}}`
	if call := Parse([]byte(same), "f", strings.Repeat("x", 2<<20)); call.Input.Exists() {
		t.Errorf("the same: %d bytes of input", call.Input.Len())
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"name":"Edit","input":{"a":"x\ny","b":[1,{"c":"d"}]}}`), "Edit", "Edit\nx\ny\n1\nd")
	f.Add([]byte(`{"arguments":"{\"a\":1}"}`), "f", "1\n2")
	f.Fuzz(func(t *testing.T, raw []byte, tool, text string) {
		call := Parse(raw, tool, text)
		if !call.Input.Exists() {
			return
		}
		if !json.Valid(call.JSON()) {
			t.Errorf("%q is no JSON", call.JSON())
		}
		if values := jsontext.AllScalars(call.Input); !strings.Contains(text, values) && !json.Valid([]byte(WithoutName(text, tool))) {
			t.Errorf("%q is not in %q", values, text)
		}
		call.Fields()
	})
}
