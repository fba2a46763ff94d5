package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"

	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// columns measures text with our own colors in it, as UAX #11 and what terminals make of emoji tell.
var columns = displaywidth.Options{ControlSequences: true}

// Width returns how many columns of a terminal s takes. Escape sequences take none.
func Width(s string) int { return columns.String(s) }

// Pad fills s with spaces up to a width. What is wider stays as it is.
func Pad(s string, width int) string { return s + strings.Repeat(" ", max(width-Width(s), 0)) }

// Truncate shortens a line to a width in columns, with "…" at its end. A width of 0 leaves it whole.
func Truncate(s string, width int) string {
	if width <= 0 || Width(s) <= width {
		return s
	}
	return columns.TruncateString(s, width, "…")
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
		return columns.TruncateString(s, width-Width(end), "") + end
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

// tabStop is where terminals stop at a tab: every eighth column.
const tabStop = 8

// Wrap breaks the lines of s that are wider than width: between words where it can, else within one. What is broken off is as far in
// as its line begins. Tabs become spaces, since a margin would shift their stops; spaces at the ends of lines are removed.
func Wrap(s string, width int) string {
	var b strings.Builder
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		wrapLine(&b, strings.TrimRight(expandTabs(line), " "), width)
	}
	return b.String()
}

func wrapLine(b *strings.Builder, line string, width int) {
	if len(line) <= width || Width(line) <= width {
		b.WriteString(line)
		return
	}
	text := strings.TrimLeft(line, " ")
	margin := strings.Repeat(" ", min(len(line)-len(text), width/2))
	b.WriteString(margin)
	// The line from start on has used columns up to at, and can be broken at word. color is the sequence that colors the text at at, and
	// wordColor that at word: a pager shows each line by itself, so that colors end and begin with it.
	start, at, word, used := 0, 0, 0, len(margin)
	color, wordColor := "", ""
	spaced, wide, painted := true, false, false // what is before at: a space, a character of two columns, a color after one of these
	clusters := graphemes.FromString(text)
	clusters.AnsiEscapeSequences = true
	for ; clusters.Next(); at += len(clusters.Value()) {
		cluster := clusters.Value()
		if cluster[0] == '\x1b' {
			if (spaced || wide) && !painted {
				word, wordColor, painted = at, color, true
			}
			if color = cluster; color == "\x1b[0m" {
				color = ""
			}
			continue
		}
		n := columns.String(cluster)
		used += n
		if cluster == " " {
			spaced, painted = true, false
			continue
		}
		// Words of Chinese and Japanese are not told apart by spaces, but their punctuation does not begin a line.
		r, _ := utf8.DecodeRuneInString(cluster)
		if !painted && (spaced || (wide || n == 2) && !unicode.In(r, unicode.Pe, unicode.Pf, unicode.Po)) {
			word, wordColor = at, color
		}
		spaced, wide, painted = false, n == 2, false
		if used <= width || at == start {
			continue
		}
		if word <= start { // a word that is longer than a line
			word, wordColor = at, color
		}
		b.WriteString(strings.TrimRight(text[start:word], " "))
		if wordColor != "" {
			b.WriteString("\x1b[0m")
		}
		b.WriteString("\n" + margin + wordColor)
		start, used = word, len(margin)+Width(text[word:at])+n
	}
	b.WriteString(text[start:])
}

func expandTabs(line string) string {
	before, after, found := strings.Cut(line, "\t")
	if !found {
		return line
	}
	var b strings.Builder
	for used := 0; ; before, after, found = strings.Cut(after, "\t") {
		b.WriteString(before)
		if !found {
			return b.String()
		}
		n := Width(before)
		gap := tabStop - (used+n)%tabStop
		b.WriteString(strings.Repeat(" ", gap))
		used += n + gap
	}
}

// commandLine matches a command line of txarchive in a text: in backticks, or after a colon or nothing up to --help, or a comma or
// semicolon that is not in quotes. A flag with a value in quotes is one, too.
var commandLine = lazyregexp.New("`txarchive [^`]*`" + `|--[a-z-]+ '[^']*'|(?:^|: )txarchive(?:(?: [^ ,;]+)*? --help|(?: (?:\\.|'[^']*'|"[^"]*"|[^\s,;'"])+)+)`)

// WrapHanging returns lead and words on lines of at most width columns; 0 is any number. Lines after the first begin with margin. A
// command line stays whole, even if it is wider: it is there to be copied. It gets no margin where it is too wide for that.
func WrapHanging(lead, words, margin string, width int) string {
	const held = "\x00" // a space that no line is broken at
	// Each command wraps a part of its help when it starts, without a command line in it, and compiling the expression takes 0.1 ms.
	if strings.Contains(words, "txarchive") || strings.Contains(words, "--") {
		words = commandLine.ReplaceAllStringFunc(words, func(line string) string {
			command := strings.TrimPrefix(line, ": ")
			return line[:len(line)-len(command)] + strings.ReplaceAll(command, " ", held)
		})
	}
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

// Indent puts a margin before every line of s that is not empty.
func Indent(s, margin string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = margin + line
		}
	}
	return strings.Join(lines, "\n")
}
