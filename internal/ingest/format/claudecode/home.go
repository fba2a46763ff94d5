package claudecode

import (
	"bytes"
	"cmp"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

// Directories beside the projects directory with what was planned, which the program deletes after a while.
const (
	plansDir = "plans" // <words>.md: what plan mode has written
	todosDir = "todos" // <session>-agent-<agent>.json: lists of older versions
	tasksDir = "tasks" // <session or team>/<n>.json: tasks of newer versions
	teamsDir = "teams" // <team>/config.json, <team>/inboxes/<member>.json

	insightsDir = "usage-data" // session-meta/<session>.json, facets/<session>.json: what /insights has found about sessions
)

var (
	// todosName matches the name of a list of todos: the session and the agent that keeps it, which is the session or one of its sub-agents.
	todosName = lazyregexp.New(`^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-agent-([0-9a-zA-Z-]+)\.json$`)
	// taskName matches the name of a task.
	taskName = lazyregexp.New(`^[0-9]+\.json$`)
	// planName matches the words that the program makes up for a plan.
	planName = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+){2,}\.md$`)
)

// detectHome recognises the files of these directories.
func detectHome(h format.Head) format.Claim {
	claim := format.Claim{Strength: format.Likely}
	name, dir := path.Base(h.Path), path.Dir(h.Path)
	parent := path.Dir(dir)
	switch ext := path.Ext(name); {
	case ext != ".md" && ext != ".json":
		return format.Claim{}
	case isPlan(h):
		claim.Role = rolePlan
	case path.Base(dir) == todosDir && todosName.MatchString(name) && beginsList(h.Bytes):
		claim.Role = roleTodos
	case path.Base(parent) == tasksDir && taskName.MatchString(name) && format.HasKeys(h.Bytes, "id", "subject"):
		claim.Role = roleTask
	case path.Base(parent) == teamsDir && name == "config.json" && format.HasKeys(h.Bytes, "leadAgentId", "members"):
		claim.Role = roleTeam
	case path.Base(path.Dir(parent)) == teamsDir && path.Base(dir) == "inboxes" && ext == ".json" && beginsList(h.Bytes) &&
		(format.HasKeys(h.Bytes, "from", "text") || !bytes.ContainsRune(h.Bytes, '{')):
		claim.Role = roleInbox
	case path.Base(parent) == insightsDir && ext == ".json" && format.IsUUID(format.Stem(name)) &&
		format.MayHave(h.Bytes, `"first_prompt"`, `"underlying_goal"`, `"brief_summary"`):
		claim.Role = roleInsight
	default:
		return format.Claim{}
	}
	return claim
}

// isPlan reports whether a file is a plan. Nothing in it says so: it lies in the plans directory of a .claude, or in one that is a source by
// itself, as that of $CLAUDE_CONFIG_DIR is, and has a name that the program made up.
func isPlan(h format.Head) bool {
	dir, name := path.Dir(h.Path), path.Base(h.Path)
	if path.Ext(name) != ".md" || path.Base(dir) != plansDir || !h.IsTextFile() {
		return false
	}
	home := path.Base(path.Dir(dir))
	isOther := strings.HasPrefix(home, ".") && !strings.Contains(home, "claude") // the home of another program
	return home == ".claude" || dir == h.Top() && planName.MatchString(name) && !isOther
}

func beginsList(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(jsontext.TrimBOM(head)), []byte("["))
}

// planRun returns the run of a plan. The sessions that made it name its file.
func planRun(file string) string {
	return plansDir + "/" + format.Stem(strings.ReplaceAll(file, `\`, "/"))
}

// teamRun returns the run of a team or of a named list of tasks. A team's tasks are in the list of its name.
func teamRun(name string) string { return teamsDir + "/" + name }

// parseTodos reads a list of todos as a row of the session or sub-agent that keeps it. Lists that were worked off are empty.
func parseTodos(in format.Input, out *format.Sink) {
	ids := todosName.FindStringSubmatch(path.Base(in.Path))
	run := &transcript.Run{ID: ids[1], Named: true}
	if agent := ids[2]; !format.IsUUID(agent) {
		run.ID, run.Child = agentRun(ids[1], agent), true
	}
	doc, at := out.Document(in.Reader, func(pr *transcript.Problem) { out.Problem(run.ID, pr) })
	if !doc.HasItems() {
		return
	}
	out.Emit(run)
	out.Emit(&transcript.Event{
		Run: run.ID, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: roleTodos, Origin: at, Parts: []transcript.Part{{Text: textOf(doc)}},
	})
}

// parseTask reads a task as a row of its session or team.
func parseTask(in format.Input, out *format.Sink) {
	id := path.Base(path.Dir(in.Path))
	if !format.IsUUID(id) {
		id = teamRun(id)
	}
	doc, at := out.Document(in.Reader, func(pr *transcript.Problem) { out.Problem(id, pr) })
	if !doc.Exists() {
		return
	}
	out.Emit(&transcript.Run{ID: id, Named: true})
	out.Emit(&transcript.Event{
		Run: id, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: roleTask, Time: doc.Get("createdAt").TimeOrMilli(), Origin: at,
		Agent: doc.Get("owner").Str(), Parts: []transcript.Part{{Text: textOf(doc)}},
	})
}

// parseTeam reads what a team is for, and what each member was told. The session of its lead refers to it.
func parseTeam(in format.Input, out *format.Sink) {
	name := path.Base(path.Dir(in.Path))
	id := teamRun(name)
	doc, at := out.Document(in.Reader, func(pr *transcript.Problem) { out.Problem(id, pr) })
	if !doc.Exists() {
		return
	}
	about, created := doc.Get("description"), doc.Get("createdAt").TimeOrMilli()
	out.Emit(&transcript.Run{ID: id, Named: true, Title: shorten(cmp.Or(about.Str(), name)), Started: created})
	if lead := doc.Get("leadSessionId").Str(); lead != "" {
		out.Emit(&transcript.Link{Kind: "reference", From: transcript.RunEnd(lead), To: transcript.RunEnd(id), Time: created, Origin: at, Uncounted: true})
	}
	if about.IsString() {
		out.Emit(&transcript.Event{
			Run: id, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: roleTeam, Time: created, Origin: jsontext.OriginIn(at, doc, about),
			Parts: []transcript.Part{{Text: textOf(about)}},
		})
	}
	for member := range doc.Get("members").Items() {
		out.Emit(&transcript.Event{
			Run: id, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: "member", Time: member.Get("joinedAt").TimeOrMilli(),
			Agent: member.Get("name").Str(), Origin: jsontext.OriginIn(at, doc, member), Parts: []transcript.Part{{Text: textOf(member)}},
		})
	}
}

// parseInbox reads the messages to a member of a team.
func parseInbox(in format.Input, out *format.Sink) {
	id, to := teamRun(path.Base(path.Dir(path.Dir(in.Path)))), format.Stem(in.Path)
	doc, at := out.Document(in.Reader, func(pr *transcript.Problem) { out.Problem(id, pr) })
	if !doc.HasItems() {
		return
	}
	out.Emit(&transcript.Run{ID: id, Named: true})
	for message := range doc.Items() {
		e := &transcript.Event{
			Run: id, Verdict: transcript.Uncounted, Kind: transcript.KindMessage, Role: "assistant", Type: roleInbox, Time: message.Get("timestamp").TimeOrMilli(),
			Agent: message.Get("from").Str(), Origin: jsontext.OriginIn(at, doc, message), Parts: []transcript.Part{{Text: inboxText(message)}},
		}
		e.Attributes.Set("to", to)
		out.Emit(e)
	}
}

// inboxText returns a message. What the program says to a member, such as a task that it gets, is JSON in a string.
var inboxText = jsontext.Appended(func(dst []byte, v jsontext.Value) []byte {
	for _, key := range []string{"from", "summary", "text"} {
		value := v.Get(key)
		if inner := value.Inside(); inner.IsObject() {
			value = inner
		}
		dst = jsontext.AppendStrings(dst, value)
	}
	return dst
})

// parseInsight reads what /insights has found about a session, whose transcript may be gone by now.
func parseInsight(in format.Input, out *format.Sink) {
	id := format.Stem(in.Path)
	doc, at := out.Document(in.Reader, func(pr *transcript.Problem) { out.Problem(id, pr) })
	if !doc.Exists() {
		return
	}
	started, rank := doc.Get("start_time").Time(), transcript.RankHistory
	prompt := doc.Get("first_prompt").Str()
	if prompt == "" {
		rank--
	}
	out.Emit(&transcript.Run{
		ID: id, Rank: rank, Named: true, Project: doc.Get("project_path").Str(), Started: started,
		Title: shorten(cmp.Or(prompt, doc.Get("underlying_goal").Str())),
	})
	out.Emit(&transcript.Event{
		Run: id, Verdict: transcript.Uncounted, Kind: transcript.KindNotice, Type: roleInsight, Time: started, Origin: at,
		Parts: []transcript.Part{{Text: insightText(doc)}},
	})
}

// insightText returns what is in words. The rest is counts and times.
var insightText = jsontext.Appended(func(dst []byte, v jsontext.Value) []byte {
	for _, key := range []string{"first_prompt", "underlying_goal", "brief_summary", "outcome", "friction_detail"} {
		dst = jsontext.AppendStrings(dst, v.Get(key))
	}
	return dst
})
