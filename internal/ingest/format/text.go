package format

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TextOf implements Text for most formats: it parses raw as a JSON value and returns its text. what names the value in an error.
func TextOf(what string, raw []byte, text func(jsontext.Value) string) (string, error) {
	v, err := jsontext.Parse(raw)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", what, err)
	}
	return text(v), nil
}

// LooseText returns the text of a file of unknown type: all strings of a JSON object or array, else the file as valid UTF-8.
func LooseText(b []byte) string {
	b = jsontext.TrimBOM(b)
	if t := bytes.TrimSpace(b); len(t) > 0 && (t[0] == '{' || t[0] == '[') {
		if v, err := jsontext.Parse(b); err == nil {
			return jsontext.AllStrings(v)
		}
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// PromptRank returns the rank of a title that a prompt gives to its run (transcript.Run.Rank): below that of all that is stated of runs, so
// that it counts only if there is no other, and the higher the earlier the prompt.
func PromptRank(at transcript.Time) int {
	const lowest = math.MinInt32
	if !at.Valid {
		return lowest
	}
	return max(transcript.RankHistory-1-int(max(at.UnixMicro/1_000_000, 0)), lowest)
}

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

// Heading returns a title for a text in Markdown: its first line that is not blank, without the marks of a heading.
func Heading(text string) string { return strings.TrimLeft(Title(text), "# ") }
