package lmstudio

import (
	"path"
	"slices"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
)

// What the program writes.
const (
	chatsName = "conversations"
	suffix    = ".conversation.json"
)

// homes are the program's directories. On Windows they may be written in either case.
var homes = []string{".lmstudio", "lm-studio"}

func isHome(dir string) bool {
	return slices.ContainsFunc(homes, func(home string) bool { return strings.EqualFold(path.Base(dir), home) })
}

// chatsOf returns the directory of all chats that a file is in, and the folder below it, "" for none. home says that it must be
// where the program keeps them by default.
func chatsOf(file string, home bool) (chats, folder string) {
	for dir := path.Dir(file); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if strings.EqualFold(path.Base(dir), chatsName) && (!home || isHome(path.Dir(dir))) {
			return dir, strings.TrimPrefix(path.Dir(file)[len(dir):], "/")
		}
	}
	return "", ""
}

// Detect claims chats by their place, and elsewhere by what they hold.
func (f lmStudio) Detect(h format.Head) format.Claim {
	switch {
	case f.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case path.Ext(h.Path) != ".json":
		return format.Claim{}
	}
	root, _ := chatsOf(h.Path, true)
	if root != "" && strings.HasSuffix(h.Path, suffix) {
		return format.Claim{Strength: format.Certain, Role: roleChat, Root: root}
	}
	head, cut := jsontext.TrimBOM(h.Bytes), int64(len(h.Bytes)) < h.Size
	if !jsontext.BeginsObject(head) || !isChat(jsontext.ParseStart(head), cut) {
		return format.Claim{}
	}
	return format.Claim{Strength: format.Likely, Role: roleChat, Root: root}
}

// members are those that the document of a chat has beside its messages.
var members = []string{
	"pinned", "preset", "tokenCount", "userLastMessagedAt", "assistantLastMessagedAt", "systemPrompt", "usePerChatPredictionConfig",
	"perChatPredictionConfig", "clientInput", "clientInputFiles", "userFilesSizeBytes", "lastUsedModel", "looseFiles", "pluginConfigs",
	"disabledPluginTools",
}

// isChat reports whether a document begins like a chat: its first message has versions. If it has no messages, or they may lie
// beyond the head (cut), several of the other members are required.
func isChat(v jsontext.Value, cut bool) bool {
	messages := v.Get("messages")
	for message := range messages.Items() {
		if message.Get("currentlySelected").Exists() && message.Get("versions").IsArray() {
			return true
		}
		for version := range message.Get("versions").Items() {
			typ := version.Get("type")
			return typ.Is("singleStep") || typ.Is("multiStep")
		}
		break
	}
	if messages.HasItems() && !cut || !messages.IsArray() && !cut {
		return false
	}
	known := 0
	for key := range v.Fields() {
		if slices.Contains(members, key) {
			known++
		}
	}
	_, ok := v.Get("createdAt").Int()
	return ok && known >= 4
}

// Withholds leaves out the program's settings of MCP servers, which may hold tokens.
func (lmStudio) Withholds(h format.Head) bool {
	return path.Base(h.Path) == "mcp.json" && isHome(path.Dir(h.Path))
}
