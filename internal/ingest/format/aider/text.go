package aider

import "strings"

// saidText gives what lines say that belong together, without the marks of the program: of a prompt the four hashes before each line, of a message
// of the program what begins a quotation, of both the spaces that end their lines, of thoughts the lines around them.
func saidText(raw []byte) string {
	text := strings.TrimRight(strings.TrimLeft(strings.ToValidUTF8(string(raw), "\uFFFD"), "\r\n"), " \t\r\n")
	mark := ""
	switch {
	case strings.HasPrefix(text, "####") && !strings.HasPrefix(text, "#####"):
		mark = "####"
	case strings.HasPrefix(text, ">"):
		mark = ">"
	}
	lines := strings.Split(text, "\n")
	if isTag(lines[0], "<think") {
		lines[0] = ""
		if last := len(lines) - 1; isTag(lines[last], "</think") {
			lines[last] = ""
		}
	}
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		if own, ok := strings.CutPrefix(line, mark); mark != "" && ok {
			line = strings.TrimRight(strings.TrimPrefix(own, " "), " ")
		}
		lines[i] = line
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// entryText gives an entry of the other files, without the line before it and the mark of each line that was typed.
func entryText(raw []byte) string {
	first, rest, _ := strings.Cut(strings.ToValidUTF8(string(raw), "\uFFFD"), "\n")
	lines := strings.Split(rest, "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		if isTyped(first) {
			line = strings.TrimPrefix(line, "+")
		}
		lines[i] = line
	}
	if !isTyped(first) && !isSent(first) {
		lines = append([]string{strings.TrimRight(first, "\r")}, lines...)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
