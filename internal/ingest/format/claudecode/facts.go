package claudecode

import (
	"strings"
	"unicode/utf8"

	"github.com/txarchive/txarchive/internal/transcript"
)

// facts is what the lines of a file say of it as a whole.
type facts struct {
	project, branch, version, model, agent string
	first, last                            transcript.Time

	custom, made, prompt string // titles: given by the user, made by the program, the first prompt
	name                 string // of an agent in a team, or the title that the user gave once more
	summaries            []summary
}

// summary is a title for the conversation that has the leaf. Older versions wrote those of other sessions into a file.
type summary struct{ text, leaf string }

// maxSummaries bounds what a file of nothing but summaries costs.
const maxSummaries = 10_000

func (f *facts) take(l *line) {
	if f.project == "" {
		f.project = l.cwd.Str()
	}
	f.branch = newest(f.branch, again(f.branch, l.branch))
	f.version = newest(f.version, again(f.version, l.version))
	if l.now.Valid && l.kind != "" {
		if !f.first.Valid || l.now.UnixMicro < f.first.UnixMicro {
			f.first = l.now
		}
		if !f.last.Valid || l.now.UnixMicro > f.last.UnixMicro {
			f.last = l.now
		}
	}
	switch l.kind {
	case "custom-title":
		f.custom = newest(f.custom, l.title.Str())
	case "ai-title":
		f.made = newest(f.made, l.aiTitle.Str()+l.title.Str())
	case "agent-name":
		f.name = newest(f.name, l.agentName.Str())
	case "agent-setting":
		f.agent = newest(f.agent, l.setting.Str())
	case "summary":
		if len(f.summaries) < maxSummaries {
			f.summaries = append(f.summaries, summary{l.summary.Str(), l.leaf.Str()})
		}
	}
}

func newest(old, value string) string {
	if value == "" {
		return old
	}
	return value
}

// named is the agent that the session is held with.
func (f *facts) named() string {
	if f.agent == "" && f.name != f.custom {
		return f.name
	}
	return f.agent
}

// prompted takes the first prompt that is no command of the program.
func (f *facts) prompted(text string) {
	if f.prompt != "" || strings.HasPrefix(text, "<") || strings.HasPrefix(text, "Caveat:") || strings.HasPrefix(text, "[Request interrupted") {
		return
	}
	f.prompt = strings.Clone(shorten(text))
}

// title is the best that the file has: the user's, the program's, a summary of a line in it, the first prompt.
func (f *facts) title(uuids map[string]bool) string {
	title := newest(f.prompt, "")
	for _, s := range f.summaries {
		if uuids[s.leaf] && s.text != "" {
			title = s.text
		}
	}
	return shorten(newest(newest(title, f.made), f.custom))
}

// longestTitle is in characters.
const longestTitle = 120

// shorten makes one line of a text.
func shorten(text string) string {
	if len(text) > 8*longestTitle {
		text = strings.ToValidUTF8(text[:8*longestTitle], "")
	}
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= longestTitle {
		return text
	}
	return string([]rune(text)[:longestTitle-1]) + "…"
}
