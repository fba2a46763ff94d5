package format

import "strings"

// titleRunes is how long a title may be, in characters.
const titleRunes = 120

// Title makes a title of a prompt: its first line that says something, cut where it is too long.
func Title(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	n, last := 0, 0 // characters, and where the last that may stay begins
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
