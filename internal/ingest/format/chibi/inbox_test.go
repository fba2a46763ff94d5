package chibi

import (
	"fmt"
	"testing"
)

// TestDelivered counts the messages that prompts deliver. One counts as often as the log has it, and not again for a window
// that was saved with new ids.
func TestDelivered(t *testing.T) {
	prompt := func(id, text string) string {
		return fmt.Sprintf(`{"id":%q,"timestamp":1770570000,"from":"user","to":"desk","content":"--- INBOX MESSAGES ---\n[From: ci] built\n[From: ci] %s\n--- END INBOX ---\n\ngo","entry_type":"message"}`+"\n", id, text)
	}
	for _, tt := range []struct {
		name, log, window string
		want              int
	}{
		{"same id", prompt("a", "x"), prompt("a", "x"), 2},
		{"new id in the window", prompt("a", "x"), prompt("w", "x"), 2},
		{"copied within the log", prompt("a", "x") + prompt("b", "x"), prompt("w", "x") + prompt("v", "x"), 4},
		{"repeated id", prompt("a", "x") + prompt("a", "x"), "", 2},
		{"two prompts", prompt("a", "x") + prompt("b", "y"), prompt("w", "y"), 4},
	} {
		w := join(t, map[string][]byte{
			".chibi/contexts/desk/transcript/active.jsonl": []byte(tt.log),
			".chibi/contexts/desk/context.jsonl":           []byte(tt.window),
		})
		if got := len(w.links[[2]string{"ci", "desk"}]); got != tt.want {
			t.Errorf("%s: %d messages from ci, want %d", tt.name, got, tt.want)
		}
	}
}
