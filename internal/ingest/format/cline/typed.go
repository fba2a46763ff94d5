package cline

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// isInjected reports whether the program itself put a message in the place of the user or the model, by what the message states.
func isInjected(v jsontext.Value) bool {
	meta := v.Get("metadata")
	switch meta.Get("displayRole").Word() {
	case "system", "status", "error":
		return true
	}
	return v.Get("role").Is("user") && isInjectedKind(meta.Get("kind").Word())
}

// isInjectedKind reports whether the program puts messages of a kind in the user's place.
func isInjectedKind(kind string) bool {
	switch kind {
	case "auto_compaction", "compaction_budget_emergency", "completion_reminder", "loop_detection_notice",
		"manual_compaction", "mistake_stop_notice", "overflow_truncation", "recovery_notice":
		return true
	}
	return false
}

// isNotice reports whether a text in the user's place is the program's: a file that the user attached, or a notice that its
// message does not tell from a prompt.
func isNotice(text string) bool {
	text = strings.TrimSpace(typed(text))
	for _, start := range noticeStarts {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return text == "The user approved switching to act mode. Continue with the approved plan now."
}

var noticeStarts = append([]string{"<file_content ", "[TASK RESUMPTION]"}, resumeWarnings...)

// maxElements is how many elements around a prompt are taken off. The program puts at most one of each kind there; each is looked for
// in all of the prompt.
const maxElements = 4

// typed returns a prompt without the elements that the program puts around it: <mode_notice> before it, and
// <user_input mode="…">, which has it inside, as <user_command slash="…"> does.
func typed(prompt string) string {
	prompt = strings.TrimSpace(prompt)
	for range maxElements {
		if !strings.HasPrefix(prompt, "<") {
			break
		}
		name, _, _ := strings.Cut(prompt[1:min(len(prompt), 20)], ">")
		name, _, _ = strings.Cut(name, " ")
		_, rest, ok := strings.Cut(prompt, ">")
		if !ok {
			return prompt
		}
		end := "</" + name + ">"
		switch name {
		case "mode_notice":
			if _, rest, ok = strings.Cut(rest, end); !ok {
				return prompt
			}
		case "user_input", "user_command":
			if at := strings.LastIndex(rest, end); at >= 0 {
				rest = rest[:at]
			}
		default:
			return prompt
		}
		prompt = strings.TrimSpace(rest)
	}
	return prompt
}
