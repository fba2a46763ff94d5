package kiro

import (
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The program gives prompts in its database no ids, and new ones when it copies a conversation into a session file. Their times and texts
// stay, as do the ids of answers and calls.

// promptID identifies a prompt by its second and its text, "" if it has no time.
func promptID(at transcript.Time, text jsontext.Value) string {
	if !at.Valid {
		return ""
	}
	return "prompt " + strconv.FormatInt(at.UnixMicro/1e6, 10) + " " + hashOf(text)
}

// contextID identifies what hooks added to a prompt: by the prompt, since a copy of the text begins with the summary of what was said before.
func contextID(prompt string) string {
	if prompt == "" {
		return ""
	}
	return prompt + "/context"
}

// summaryID identifies a summary by its text.
func summaryID(text jsontext.Value) string { return "summary of messages " + hashOf(text) }

func hashOf(v jsontext.Value) string {
	h := fnv.New64a()
	h.Write([]byte(v.Str()))
	return strconv.FormatUint(h.Sum64(), 36)
}

// textID identifies something without an id by its text, and by how often the text was there before.
func (p *parser) textID(text jsontext.Value) string {
	id := textPrefix + hashOf(text)
	p.said[id]++
	if n := p.said[id]; n > 1 {
		id += " " + strconv.Itoa(n)
	}
	return id
}

const textPrefix = "text "

// callID returns the id of a call in its file, and remembers its tool.
func (p *parser) callID(id, name string) string {
	if id == "" {
		p.calls++
		return "#" + strconv.Itoa(p.calls)
	}
	p.tools[id] = name
	return id
}

// minGlobal is the length of an id from which on it is taken for a random one.
const minGlobal = 20

// global marks an event whose id is random: a copy in another conversation is the same event.
func global(e *transcript.Event) *transcript.Event {
	e.Global = len(e.ID) >= minGlobal && !strings.HasPrefix(e.ID, textPrefix)
	e.Home = e.Global
	return e
}

// pathNames and pathLists are the members of a call's input that name files.
var (
	pathNames = []string{"path", "file_path", "file", "targetFile"}
	pathLists = []string{"paths", "files", "image_paths"}
)

// pathsOf returns the files that the input of a call names.
func pathsOf(input jsontext.Value) []string {
	all := format.Paths(input, pathNames, pathLists)
	for operation := range input.Get("operations").Items() {
		all = append(all, format.Paths(operation, pathNames, pathLists)...)
	}
	return all
}

// credits returns the sum of amounts of credits: number is the member that has the number.
func credits(all jsontext.Value, number string) (sum float64) {
	for v := range all.Items() {
		if n, ok := v.Get(number).Float(); ok && n > 0 && v.Get("unit").Is("credit") {
			sum += n
		}
	}
	return sum
}

// setCredits sets the attribute for credits that were spent.
func setCredits(a *transcript.Attributes, n float64) {
	if n > 0 {
		a.Set("credits", n)
	}
}
