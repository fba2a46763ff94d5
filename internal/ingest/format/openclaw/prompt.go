package openclaw

import "strings"

// userText returns the user's part of a prompt, without the description of chat and time that OpenClaw puts before it. It is "" for
// prompts of OpenClaw's own.
func userText(prompt string) string {
	for range 16 {
		prompt = strings.TrimSpace(prompt)
		line, rest, _ := strings.Cut(prompt, "\n")
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "A new session was started via /new or /reset"), strings.HasPrefix(line, "Read HEARTBEAT.md"):
			return ""
		case strings.HasPrefix(line, "System: ["):
			prompt = rest
		case strings.HasSuffix(line, ":") && strings.Contains(line, "(untrusted"):
			// A list in a code fence follows.
			_, body, ok := strings.Cut(rest, "```")
			_, after, closed := strings.Cut(body, "\n```")
			if !ok || !closed {
				return prompt
			}
			prompt = after
		case strings.HasPrefix(line, "["):
			// [Telegram Ada id:7 2026-01-05 10:22 CET] or [Mon 2026-01-05 10:22 CET]
			head, after, ok := strings.Cut(prompt, "] ")
			if !ok || len(head) > 200 || !strings.Contains(head, "-") || !strings.ContainsAny(head, "0123456789") || strings.TrimSpace(after) == "" {
				return prompt
			}
			prompt = after
		default:
			return prompt
		}
	}
	return prompt
}
