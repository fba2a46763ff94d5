package terminal

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// Width returns how many columns of a terminal s takes. Escape sequences take none.
func Width(s string) int {
	if printable(s) {
		return len(s)
	}
	return text.StringWidthWithoutEscSequences(s)
}

// Pad fills s with spaces up to a width. What is wider stays as it is.
func Pad(s string, width int) string { return text.Pad(s, width, ' ') }

// Truncate shortens a line to a width in columns, with "…" at its end. A width of 0 leaves it whole.
func Truncate(s string, width int) string {
	if width <= 0 || Width(s) <= width {
		return s
	}
	return text.Snip(s, width, "…")
}

// TruncateMiddle shortens a line to a width and keeps both ends, where names of models and paths differ. The date at the end of a
// model's name is the first to go.
func TruncateMiddle(s string, width int) string {
	runes := []rune(s)
	switch n := Width(s); {
	case n <= width || width < 3:
		return Truncate(s, width)
	case n != len(runes): // some take two columns, or none
		end := TruncateStart(s, (width+1)/2)
		return text.Trim(s, width-Width(end)) + end
	}
	tail := (width - 1) / 2
	if name := len(runes) - len("-20250929"); name > 0 && runes[name] == '-' && strings.Trim(string(runes[name+1:]), "0123456789") == "" {
		switch tail = width - 1 - name; {
		case tail < 0:
			return TruncateMiddle(string(runes[:name]), width)
		case tail < 4:
			return string(runes[:name]) + "…"
		}
	}
	return string(runes[:width-1-tail]) + "…" + string(runes[len(runes)-tail:])
}

// TruncateStart shortens a path to a width at its beginning: its end says more.
func TruncateStart(path string, width int) string {
	if width <= 0 || Width(path) <= width {
		return path
	}
	runes := []rune(path)
	for len(runes) > 0 && Width(string(runes)) > width-1 {
		runes = runes[1:]
	}
	return "…" + string(runes)
}

// endOf is TruncateStart, but returns "" when hardly anything of s would be left.
func endOf(s string, width int) string {
	const least = 8
	if width < least && Width(s) > width {
		return ""
	}
	return TruncateStart(s, width)
}

// Wrap breaks s into lines of at most width columns, between words where it can, without trailing spaces.
func Wrap(s string, width int) string {
	lines := strings.Split(text.WrapSoft(s, width), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// commandLine matches a command line of txarchive in a text: in backticks, or after a colon or nothing up to --help, or a comma or
// semicolon that is not in quotes.
var commandLine = lazyregexp.New("`txarchive [^`]*`" + `|(?:^|: )txarchive(?:(?: [^ ,;]+)*? --help|(?: (?:\\.|'[^']*'|"[^"]*"|[^\s,;'"])+)+)`)

// WrapHanging returns lead and words on lines of at most width columns; 0 is any number. Lines after the first begin with margin. A
// command line stays whole, even if it is wider: it is there to be copied. It gets no margin where it is too wide for that.
func WrapHanging(lead, words, margin string, width int) string {
	const held = "\x00" // a space that no line is broken at
	words = commandLine.ReplaceAllStringFunc(words, func(line string) string {
		command := strings.TrimPrefix(line, ": ")
		return line[:len(line)-len(command)] + strings.ReplaceAll(command, " ", held)
	})
	var b strings.Builder
	b.WriteString(lead)
	used, gap := Width(lead), 0
	for _, word := range strings.Split(words, " ") {
		command := strings.ReplaceAll(word, held, " ")
		n := Width(command)
		switch {
		case n == 0:
		case width > 0 && gap > 0 && used+gap+n > width:
			indent := margin
			if command != word && len(margin)+n > width {
				indent = ""
			}
			b.WriteString("\n" + indent + command)
			used, gap = len(indent)+n, 0
		default:
			b.WriteString(strings.Repeat(" ", gap) + command)
			used, gap = used+gap+n, 0
		}
		gap++
	}
	return b.String()
}

// Indent puts a margin before every line of s.
func Indent(s, margin string) string {
	return margin + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n"+margin)
}
