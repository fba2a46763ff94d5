package format

import "strings"

// titleRunes is the length of the longest title, in runes.
const titleRunes = 120

// Title returns a title for a prompt: its first line that is not blank, truncated with an ellipsis to titleRunes runes.
func Title(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	n, last := 0, 0 // runes so far, and where the last one that may be kept begins
	for i := range line {
		if n++; n == titleRunes {
			last = i
		}
		if n > titleRunes {
			return line[:last] + "…"
		}
	}
	return strings.TrimSpace(line)
}
