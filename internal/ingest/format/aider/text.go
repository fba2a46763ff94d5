package aider

import "strings"

// blockText returns the text of a block without Aider's markup: "####" before the lines of a prompt, ">" before those of a message of Aider,
// the trailing spaces of both, and the tags around reasoning.
func blockText(raw []byte) string {
	text := strings.TrimRight(strings.TrimLeft(strings.ToValidUTF8(string(raw), "\uFFFD"), "\r\n"), " \t\r\n")
	mark := ""
	switch {
	case strings.HasPrefix(text, "####") && !strings.HasPrefix(text, "#####"):
		mark = "####"
	case strings.HasPrefix(text, ">"):
		mark = ">"
	}
	lines := strings.Split(text, "\n")
	if isThinkTag(lines[0], "<think") {
		lines[0] = ""
		if last := len(lines) - 1; isThinkTag(lines[last], "</think") {
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

// entryText returns the text of an entry of an input or LLM history, without its header and the "+" before each line of input.
func entryText(raw []byte) string {
	first, rest, _ := strings.Cut(strings.ToValidUTF8(string(raw), "\uFFFD"), "\n")
	lines := strings.Split(rest, "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		if isInputHeader(first) {
			line = strings.TrimPrefix(line, "+")
		}
		lines[i] = line
	}
	if !isInputHeader(first) && !isModelHeader(first) {
		lines = append([]string{strings.TrimRight(first, "\r")}, lines...)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
