package gptme

import (
	"html"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
)

// piece is a part of an answer: a text, a thought or a call.
type piece struct {
	text       string
	begin, end int // place in the answer
	reasoning  bool

	tool, id string // of a call; the id only in the form @tool(id)
	input    int    // bytes of a call's input
	paths    []string
}

// piecesOf returns the pieces of an answer.
func piecesOf(answer string) []piece {
	s := splitter{content: answer}
	s.split()
	return s.all
}

// textOf returns the text of an answer or a piece of one: without the marks of thoughts and calls.
func textOf(answer string) string {
	all := piecesOf(answer)
	if len(all) == 1 {
		return all[0].text
	}
	var texts []string
	for _, p := range all {
		texts = append(texts, p.text)
	}
	return strings.Join(texts, "\n\n")
}

// pieceText returns the text of a piece as it is written, in a JSON string.
func pieceText(raw []byte) string { return textOf(jsontext.Unquote(`"` + string(raw) + `"`)) }

// tools are those that gptme brings and that are called in code blocks.
var tools = map[string]bool{
	"shell": true, "ipython": true, "save": true, "append": true, "patch": true, "patch_anchored": true, "morph": true, "read": true, "tmux": true, "gh": true,
	"todo": true, "todoread": true, "todowrite": true, "choice": true, "complete": true, "mcp": true,
}

// takesPath are the tools whose argument in a code block is a file.
var takesPath = map[string]bool{"save": true, "append": true, "patch": true, "patch_anchored": true, "morph": true, "read": true}

// splitter splits an answer.
type splitter struct {
	content string
	all     []piece
	missing map[string]bool // ends that were looked for in vain: they are not looked for again
}

// split splits the content at thoughts and calls. Other code blocks are text.
func (s *splitter) split() {
	begin := 0
	for at := 0; at < len(s.content); {
		p, end, isText := s.block(at)
		switch {
		case end == 0:
			at += len(firstLine(s.content[at:]))
		case isText:
			at = end
		default:
			s.add(piece{text: s.content[begin:at]}, begin, at)
			s.add(p, at, end)
			begin, at = end, end
		}
	}
	s.add(piece{text: s.content[begin:]}, begin, len(s.content))
}

func (s *splitter) add(p piece, begin, end int) {
	p.begin, p.end = begin, end
	if p.text = strings.TrimSpace(p.text); p.text != "" || p.tool != "" {
		s.all = append(s.all, p)
	}
}

// firstLine returns a text up to its first line feed.
func firstLine(text string) string {
	line, _, more := strings.Cut(text, "\n")
	if more {
		return text[:len(line)+1]
	}
	return line
}

// block returns what begins with the line at an offset, and where it ends; 0 if it is only a line.
func (s *splitter) block(at int) (p piece, end int, isText bool) {
	rest := s.content[at:]
	switch {
	case strings.HasPrefix(rest, "```"):
		return s.fence(at)
	case strings.HasPrefix(rest, "@"):
		p, end = s.call(at)
	case strings.HasPrefix(rest, "<think>"):
		p.text, end = s.until(at+len("<think>"), "</think>")
		p.text, p.reasoning = unsigned(p.text), true
	case strings.HasPrefix(rest, "<thinking>"):
		p.text, end = s.until(at+len("<thinking>"), "</thinking>")
		p.text, p.reasoning = unsigned(p.text), true
	case strings.HasPrefix(rest, signature): // of the thought before
		_, end = s.until(at, "-->")
	case strings.HasPrefix(rest, "<tool-use>"):
		var inner string
		inner, end = s.until(at+len("<tool-use>"), "</tool-use>")
		p, isText = element(inner)
	}
	return p, end, isText
}

// signature is how the signature of a thought begins, a comment in or behind it.
const signature = "<!-- think-sig:"

// unsigned returns a thought without its signature.
func unsigned(thought string) string {
	before, comment, _ := strings.Cut(thought, signature)
	_, after, _ := strings.Cut(comment, "-->")
	return before + after
}

// until returns the text from an offset to an end mark, and the offset behind that; 0 if there is none.
func (s *splitter) until(from int, mark string) (text string, end int) {
	n := -1
	if !s.missing[mark] {
		n = strings.Index(s.content[from:], mark)
	}
	if n < 0 {
		s.miss(mark)
		return "", 0
	}
	return s.content[from : from+n], from + n + len(mark)
}

func (s *splitter) miss(mark string) {
	if s.missing == nil {
		s.missing = map[string]bool{}
	}
	s.missing[mark] = true
}

// fence reads a code block, which may have others in it. One without an end takes all the rest.
func (s *splitter) fence(at int) (p piece, end int, isText bool) {
	head := firstLine(s.content[at:])
	body := at + len(head)
	depth := 1
	for end = body; end < len(s.content); {
		line := firstLine(s.content[end:])
		if strings.HasPrefix(line, "```") {
			if depth++; strings.Trim(strings.TrimSpace(line), "`") == "" {
				depth -= 2
			}
		}
		if depth == 0 {
			info := strings.TrimSpace(strings.TrimLeft(head, "`"))
			tool, argument, _ := strings.Cut(info, " ")
			if !tools[tool] {
				return p, end + len(line), true
			}
			p = piece{text: info + "\n" + s.content[body:end], tool: tool, input: end - body, paths: pathIn(tool, argument)}
			return p, end + len(line), false
		}
		end += len(line)
	}
	return p, end, true
}

// pathIn returns the file that the argument of a tool names.
func pathIn(tool, argument string) []string {
	if argument = strings.TrimSpace(argument); takesPath[tool] && argument != "" {
		return []string{argument}
	}
	return nil
}

// callHead matches the beginning of a call with its id.
var callHead = lazyregexp.New(`^@([\w.-]+)\(([\w:.-]+)\):\s*\{`)

// call reads a call with its id, whose input is a JSON object.
func (s *splitter) call(at int) (p piece, end int) {
	head := callHead.FindStringSubmatch(s.content[at:])
	if head == nil || s.missing["}"] {
		return p, 0
	}
	from := at + len(head[0]) - 1
	length := objectLen(s.content[from:])
	if length == 0 {
		s.miss("}")
		return p, 0
	}
	input := s.content[from : from+length]
	p = piece{tool: head[1], id: head[2], input: length, text: head[1] + "\n" + input}
	if v, err := jsontext.Parse([]byte(input)); err == nil {
		p.text, p.paths = head[1]+"\n"+jsontext.AllScalars(v), format.Paths(v, []string{"path"}, nil)
	}
	return p, from + length
}

// objectLen returns the length of the JSON object that a text begins with, 0 if it has no end. It counts braces, as the program does.
func objectLen(text string) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// toolElement matches the beginning of the element of a tool, with its argument.
var toolElement = lazyregexp.New(`^\s*<([\w-]+)(?:\s+args=(?:"([^"]*)"|'([^']*)'))?\s*>`)

// element reads the element of a tool.
func element(inner string) (p piece, isText bool) {
	head := toolElement.FindStringSubmatch(inner)
	if head == nil {
		return p, true
	}
	body, _, _ := strings.Cut(inner[len(head[0]):], "</"+head[1]+">")
	argument := html.UnescapeString(head[2] + head[3])
	info := strings.TrimSpace(head[1] + " " + argument)
	return piece{
		tool: head[1], input: len(body), paths: pathIn(head[1], argument), text: info + "\n" + strings.TrimSpace(html.UnescapeString(body)),
	}, false
}
