package cline

import (
	"strings"
	"testing"
)

func TestTyped(t *testing.T) {
	for prompt, want := range map[string]string{
		"Fix the rim": "Fix the rim",
		"<b>bold</b>": "<b>bold</b>",
		"<":           "<",
		`<user_input mode="act">Fix the rim</user_input>`:                                    "Fix the rim",
		`<mode_notice>Act.</mode_notice> <user_input mode="act">Fix the rim</user_input>`:    "Fix the rim",
		`<user_input mode="plan"><user_command slash="x">Fix it</user_command></user_input>`: "Fix it",
		"<user_input mode=\"act\">Fix the rim":                                               "Fix the rim",
		"<mode_notice>Act.":                                                                  "<mode_notice>Act.",
	} {
		if got := typed(prompt); got != want {
			t.Errorf("%s: %q, want %q", prompt, got, want)
		}
	}
	// Each element is looked for in the whole prompt, so only a few are.
	nested := strings.Repeat("<user_input>", 1000)
	if got := typed(nested); got == "" || !strings.HasPrefix(nested, got) {
		t.Errorf("%d bytes are left of %d", len(got), len(nested))
	}
}
