package all

import (
	"path"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/txarchive/txarchive/internal/ingest/format/formattest"
)

// returnText are the formats in which a tool returns text: an object there is the program's own, with the text and what it notes about it.
var returnText = map[string]bool{
	"copilot-cli": true, "copilot-vscode": true, "opencode": true, "kimi": true, "pi": true, "goose": true, "vibe": true, "zed": true, "continue": true, "chat-jsonl": true,
	"chatgpt-export": true, "claude-ai-export": true, "command-code": true,
}

// TestNumbersAreText: in every format, numbers that go into a tool are text to search for. So are those that come out of it, if it returns JSON.
func TestNumbersAreText(t *testing.T) {
	// No cases with an input that is JSON by its length: calls in Leslie's transcripts are Markdown, an input of ChatGPT's is a content with the
	// JSON in it (see TestArguments there), those of gptme are parts of a text (see TestPieces there), DeepSeek's export states none.
	none := map[string]bool{"leslie": true, "chatgpt-export": true, "gptme": true, "deepseek-export": true}
	for _, f := range Formats() {
		t.Run(f.Name(), func(t *testing.T) {
			cases, err := filepath.Glob("../" + path.Base(reflect.TypeOf(f).PkgPath()) + "/testdata/*/in")
			if err != nil || len(cases) == 0 {
				t.Fatalf("no cases: %v", err)
			}
			put, calls := 0, 0
			for _, in := range cases {
				if !none[f.Name()] {
					n, has := formattest.Numbers(t, f, filepath.Dir(in), !returnText[f.Name()])
					put, calls = put+n, calls+has
				}
			}
			if put == 0 && calls > 0 {
				t.Errorf("no input of %d calls was found", calls)
			}
		})
	}
}
