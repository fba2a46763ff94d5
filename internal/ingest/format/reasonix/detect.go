package reasonix

import (
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// What the program writes.
const (
	homeName    = ".reasonix"
	stateName   = "reasonix" // in a directory of settings
	sessionsDir = "sessions"
	projectsDir = "projects"
	archiveDir  = "archive"
	statsDir    = "stats"
	agentsDir   = "subagents"
	ledgerName  = "usage.jsonl"
	titlesName  = ".titles.json"
)

// configDirs are the names of the directories of settings.
var configDirs = []string{".config", "Application Support", "Roaming"}

// suffixes tell the roles of files in a directory of sessions. The first that fits holds.
var suffixes = []struct{ suffix, role string }{
	{".events.jsonl", roleEvents}, {".wire.jsonl", roleFrames}, {".turns.jsonl", roleTurns},
	{".conflicts.jsonl", format.Other}, {".guardian.jsonl", format.Other}, {".adjudication.jsonl", format.Other},
	{".execution.jsonl", format.Other}, {".toolcache.jsonl", format.Other},
	{".denoised.jsonl", format.Other}, {".wire.meta.json", format.Other},
	{".jsonl.meta", roleBranch}, {".meta.json", roleMeta}, {".plan.json", roleState}, {".pending.json", roleState},
	{".jsonl.bak", roleMessages}, {".jsonl", roleMessages},
}

// split returns the role of a file in a directory of sessions, and its name without the suffix that tells it.
func split(file string) (role, stem string) {
	name := path.Base(file)
	if name == titlesName {
		return roleTitles, ""
	}
	for _, s := range suffixes {
		if stem, ok := strings.CutSuffix(name, s.suffix); ok && stem != "" {
			return s.role, stem
		}
	}
	return format.Other, name
}

// beyond is what version 0 appends to the name of a session when the user begins a new one under that name, before the time.
const beyond = "__archive_"

// sessionOf returns the session that a file belongs to, and when it was put aside, "" if it was not.
func sessionOf(stem string) (session, aside string) {
	i := strings.LastIndex(stem, beyond)
	if i <= 0 {
		return stem, ""
	}
	at := stem[i+len(beyond):]
	if len(at) < 12 || strings.Trim(at[:12], "0123456789") != "" {
		return stem, ""
	}
	return stem[:i], at
}

// homeOf returns the program's home, and the path below it; sure is false if the name of the home may be another program's.
func homeOf(file string) (home, below string, sure bool) {
	names := strings.Split(file, "/")
	for i := len(names) - 2; i >= 0; i-- {
		sure = names[i] == homeName || names[i] == stateName && i > 0 && slices.Contains(configDirs, names[i-1])
		if sure || names[i] == stateName {
			return strings.Join(names[:i+1], "/"), strings.Join(names[i+1:], "/"), sure
		}
	}
	return "", "", false
}

// Detect claims files by their place, and logs elsewhere by what their lines are.
func (f reasonix) Detect(h format.Head) format.Claim {
	if f.Withholds(h) {
		return format.Claim{Strength: format.Certain, Skip: true}
	}
	home, below, sure := homeOf(h.Path)
	root, role := placed(home, below)
	switch {
	case role == "" || !sure && !strings.HasSuffix(below, ".jsonl"):
	case strings.HasSuffix(h.Path, ".lock") || strings.HasSuffix(h.Path, ".tmp"):
		return format.Claim{Strength: format.Certain, Skip: true}
	case sure:
		return format.Claim{Strength: format.Certain, Role: role, Root: root, Log: path.Ext(h.Path) == ".jsonl"}
	case role != format.Other:
		return format.Claim{Strength: format.Likely, Role: role, Log: true}
	}
	if path.Ext(h.Path) == ".jsonl" && isLog(h.Bytes) {
		return format.Claim{Strength: format.Likely, Role: roleEvents, Log: true}
	}
	return format.Claim{}
}

// placed returns the role of a file in a home, "" if it is none of those that are read, and the directory that all of is
// kept. The home itself is not, since it holds keys.
func placed(home, below string) (root, role string) {
	top, rest, _ := strings.Cut(below, "/")
	switch {
	case below == ledgerName:
		return "", roleLedger
	case rest == "":
		return "", ""
	case top == archiveDir && path.Ext(below) == ".jsonl":
		return home + "/" + archiveDir, roleArchive
	case top == statsDir && path.Ext(below) == ".jsonl":
		return home + "/" + statsDir, roleStats
	case top == archiveDir || top == statsDir || isStore(strings.TrimPrefix(top, "desktop-")):
		return home + "/" + top, format.Other
	case top != sessionsDir && top != projectsDir:
		return "", ""
	}
	names := strings.Split(path.Dir(below), "/")
	at := slices.IndexFunc(names, func(name string) bool { return name == sessionsDir || isStore(name) })
	if at < 0 {
		return "", ""
	}
	root = home + "/" + strings.Join(names[:at+1], "/")
	inner := names[at+1:]
	if names[at] != sessionsDir || slices.ContainsFunc(inner, func(name string) bool { return strings.Contains(name, ".") }) {
		return root, format.Other // checkpoints, jobs, and stores of other layouts
	}
	if role, _ = split(below); role == roleMeta && slices.Contains(inner, agentsDir) {
		role = roleAgent
	}
	return root, role
}

// isStore reports whether a directory is one of sessions in another layout.
func isStore(name string) bool { return strings.HasPrefix(name, sessionsDir+"-v") }

// isLog reports whether a file has lines of a session's log.
func isLog(head []byte) bool {
	return format.AnyLine(head, func(line []byte) bool {
		if !format.MayHave(line, `"schema_version"`, `"turn"`) || !jsontext.BeginsObject(line) {
			return false
		}
		v := jsontext.ParseStart(line)
		typ := v.Get("type").Word()
		if v.Get("schema_version").Exists() {
			return (typ == "replace" || typ == "append") && v.Get("messages").IsArray()
		}
		_, ok := kinds[typ]
		return ok && v.Get("ts").Time().Valid && v.Get("id").Tokens().Known && v.Get("turn").Tokens().Known
	})
}

// withheld are the files in the home that may hold keys.
var withheld = []string{"config.json", "config.toml", ".env", "credentials", "credentials.json", "settings.json", "mcp.json"}

// Withholds leaves out what may hold keys.
func (reasonix) Withholds(h format.Head) bool {
	_, below, sure := homeOf(h.Path)
	return sure && slices.Contains(withheld, below)
}
