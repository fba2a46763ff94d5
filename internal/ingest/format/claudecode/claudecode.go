// Package claudecode reads the sessions that Claude Code keeps below its projects directory: session and sub-agent
// transcripts, the metadata of sub-agents (agent-*.meta.json) and sessions (custom-title.json), the list of a project's
// sessions (sessions-index.json), the journals of workflows, and tool outputs that were too long for a transcript. Beside
// that directory it reads the history of all prompts (history.jsonl) and the texts pasted into them, plans, lists of todos and
// tasks, what teams of agents say to each other, and what /insights has found about sessions; elsewhere the desktop program's metadata of its sessions, and what headless runs printed (-p with --output-format stream-json or json; the messages
// of the Agent SDK for TypeScript are the same).
//
// Producer: Claude Code 1.0 to 2.1.29x; checked in November 2026 against published sample sessions and against the findings
// of other readers of these files (ccusage, agentsview). There is no published description; docs/formats/claude-code.md
// describes the mapping. Where sources and readers disagree:
//
//   - A session is a file, named by its stem. The sessionId of the lines may be another one: a resumed or forked file
//     repeats lines of the session that it came from. A stem that is not a UUID is no identity by itself (chat.jsonl), so
//     the sessionId of the first line that has one is appended to it.
//   - Lines are not events: Claude Code writes a response as one line per block, and a line may hold several blocks. An
//     event is a block, as docs/formats/claude-code.md counts them. Its id is the line's uuid, which copies of the line
//     keep: the blocks of a line count together, where the line was first written. If a uuid comes again in one file, the
//     first counts; so does the first call or result of an id.
//   - Every line of a response repeats the usage of the whole request, and output_tokens may grow from line to line: the
//     largest usage of a (message.id, requestId) counts, over all files. Side chains ("/btw") replay messages under a new
//     requestId; there message.id alone identifies the request, and a line outside a side chain wins. Lines with a
//     requestId of null are kept (ccusage drops them).
//   - Lines without a type are not events and their usage is not counted: only test data has them.
//   - What headless runs print is described in part (code.claude.com/docs/en/agent-sdk, cost-tracking; anthropics/claude-code issues 39733
//     and 83239). Its uuids and message ids are those of the transcript, which decides wherever the archive has it. The output tokens
//     of messages are placeholders; of the sums in a result, usage is that of the turn without sub-agents, modelUsage and
//     total_cost_usd are those of the process, and since 2.1.277 of the whole session if it was resumed. total_cost_usd is an estimate of the
//     program: it is an attribute, as cost-state lines are rows.
//   - Qoder's usage counts cached tokens as input, too, as three readers say, one of them from credits fitted for 16 models
//     (tokscale-client, token-monitor); two others add them. Its editor's files without ids (brief.go) are read by several others.
//   - The tables of the editor's database (editor.go) are those that a dozen readers agree on (vibe-usage, token-monitor, tokei, llmeter, atm and
//     loongsuite-pilot among them; checked in December 2026). Most subtract the cached tokens from the prompt, or say that it includes them. Its ids of
//     sessions are those of transcripts; its ids of messages and requests are not.
//   - Lines of role "user" hold prompts, tool results, injected text and the summary after a compaction. Here only prompts
//     have the role user.
package claudecode

import (
	"iter"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/transcript"
)

// The roles of Claude Code's files.
const (
	roleSession = "session"
	roleAgent   = "agent"
	roleJournal = "journal"
	roleMeta    = "meta"
	roleTitle   = "title"
	roleOutput  = "output"
	roleHistory = "history"
	rolePaste   = "paste"
	roleDesktop = "desktop"
	roleList    = "sessions-index"
	rolePlan    = "plan"
	roleTodos   = "todos"
	roleTask    = "task"
	roleTeam    = "team"
	roleInbox   = "inbox"
	roleInsight = "insight"
	roleBrief   = "brief"      // what Qoder keeps of a session without ids and times
	roleShown   = "brief-text" // the same in older versions as a text, and outputs of its tools
	roleEditor  = "editor"     // the database of Qoder's editor
	roleEdited  = "editor-rows"

	roleStream   = "stream"   // what a headless run printed, a message per line
	roleMessages = "messages" // the same as one array, or the result alone
)

// New returns the format.
func New() format.Format { return claudeCode{} }

type claudeCode struct{}

var (
	_ format.Format     = claudeCode{}
	_ format.Resolver   = claudeCode{}
	_ format.Placed     = claudeCode{}
	_ format.Splitter   = claudeCode{}
	_ format.Withholder = claudeCode{}
)

func (claudeCode) Name() string { return "claude-code" }

func (claudeCode) Version() int { return 18 }

func (claudeCode) Places() []format.Place {
	const aged = " older than cleanupPeriodDays (30 days unless set) are deleted at start-up"
	homes := []string{"~/.claude", "~/.config/claude", "$XDG_CONFIG_HOME/claude", "$CLAUDE_CONFIG_DIR"}
	var all []format.Place
	add := func(home, below, deletes string) {
		all = append(all, format.Place{Name: "claude-code", Path: home + "/" + below, Deletes: deletes, List: home == "$CLAUDE_CONFIG_DIR"})
	}
	for _, home := range append(homes, "~/Library/Developer/Xcode/CodingAssistant/ClaudeAgentConfig") {
		add(home, "projects", "transcripts"+aged)
	}
	for _, home := range homes {
		add(home, pasteDir, "pasted texts"+aged)
		add(home, historyFile, "")
		add(home, plansDir, "plans"+aged)
		add(home, tasksDir, "tasks"+aged)
		add(home, todosDir, "")
		add(home, insightsDir, "")
		add(home, teamsDir, "")
	}
	// OpenClaude is a fork that writes the same transcripts.
	openClaude := format.Place{Name: "openclaude", Deletes: "transcripts" + aged}
	all = append(all, openClaude.At("~/.openclaude/projects", "$OPENCLAUDE_CONFIG_DIR/projects")...)
	// Qoder's lines are the same. Versions of it that write those of Qwen Code are that format's.
	qoder := format.Place{Name: "qoder"}
	all = append(all, qoder.At(
		"~/.qoder/projects", "$QODER_CONFIG_DIR/projects", "~/.qoder/"+cacheDir, "~/.qoderwork/projects",
		"~/.qoder-cn/projects", "$QODERCN_CONFIG_DIR/projects", "~/.qoder-cn/"+cacheDir, "~/.qoderworkcn/projects", "~/.qwenworkcn/projects",
		"~/.qoder/shared_client/"+editorBelow, "~/.qoder-cn/shared_client/"+editorBelow,
	)...)
	// iFlow CLI is a fork of Gemini CLI that writes Claude Code's lines.
	all = append(all, format.Place{Name: "iflow", Path: "~/.iflow/projects"})
	for _, home := range format.ConfigHomes {
		for _, program := range []string{"Qoder", "QoderCN", "Qoder CN"} {
			all = append(all, qoder.At(home+"/"+program+"/SharedClientCache/cli/projects", home+"/"+program+"/SharedClientCache/"+editorBelow)...)
		}
		for _, program := range []string{"Claude", "Claude-3p"} {
			add(home, program+"/local-agent-mode-sessions", "")
			add(home, program+"/claude-code-sessions", "")
		}
	}
	return all
}

// Parse yields the records of one original. The package comment says how each kind of file is read.
func (claudeCode) Parse(in format.Input) iter.Seq2[transcript.Record, error] {
	return func(yield func(transcript.Record, error) bool) {
		out := &format.Sink{Yield: yield}
		switch in.Role {
		case roleSession, roleAgent:
			parseSession(in, out)
		case roleStream, roleMessages:
			parseStream(in, out)
		case roleJournal:
			parseJournal(in, out)
		case roleMeta:
			parseMeta(in, out)
		case roleTitle:
			parseTitle(in, out)
		case roleOutput:
			parseText(in, out, transcript.Event{Run: placeOf(in.Path).session, Kind: transcript.KindToolResult, Role: "tool", Type: "tool-results"})
		case roleHistory:
			parseHistory(in, out)
		case roleDesktop:
			parseDesktop(in, out)
		case roleList:
			parseList(in, out)
		case rolePlan:
			parseText(in, out, transcript.Event{Run: planRun(in.Path), Kind: transcript.KindMessage, Role: "assistant", Type: rolePlan})
		case roleTodos:
			parseTodos(in, out)
		case roleTask:
			parseTask(in, out)
		case roleTeam:
			parseTeam(in, out)
		case roleInbox:
			parseInbox(in, out)
		case roleInsight:
			parseInsight(in, out)
		case roleBrief:
			parseBrief(in, out)
		case roleEdited:
			parseEdited(in, out)
		case roleShown:
			parseText(in, out, shownEvent(in.Path))
		case rolePaste:
			parseText(in, out, transcript.Event{Run: pasteDir, Kind: transcript.KindMessage, Role: "user", Type: rolePaste})
		}
	}
}
