package openwebui

import (
	"io"
	"iter"
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
	"github.com/txarchive/txarchive/internal/ingest/jsontext"
	"github.com/txarchive/txarchive/internal/transcript"
)

const (
	databaseName = "webui.db"
	programDir   = "open-webui"
	secretName   = ".webui_secret_key"
	// migrationName is in a row of the first table, which lists the first migrations. Its page is the second, and so in the head, even if the
	// schema is too long for the first page.
	migrationName = "002_add_local_sharing"
)

// dataDirs are the names of directories, or the ends of their paths, in which the producer keeps its database by default: of the desktop
// application, of an installation by pip, in a container or a checkout, as its documentation proposes, and of a volume of Docker.
var dataDirs = []string{"/open-webui/data", "/open_webui/data", "/backend/data", "/.open-webui", "/.open-webui/data", "/open-webui/_data"}

// Detect claims a database by its migrations or tables, or by its name and place if its first pages do not show the tables; originals taken out
// of one; and exports by their first chat.
func (f openWebUI) Detect(h format.Head) format.Claim {
	switch {
	case f.Withholds(h):
		return format.Claim{Strength: format.Certain, Skip: true}
	case format.IsSQLite(h.Bytes):
		return detectDatabase(h)
	case path.Ext(h.Path) == ".ndjson" && strings.HasPrefix(format.FirstTable(h.Bytes), tablePrefix):
		return format.Claim{Strength: format.Certain, Role: roleRows}
	case strings.EqualFold(path.Ext(h.Path), ".json"):
		return detectExport(h)
	}
	return format.Claim{}
}

func detectDatabase(h format.Head) format.Claim {
	claim := format.Claim{Strength: format.Certain, Role: roleDatabase, Database: true, Secret: true}
	named := path.Base(h.Path) == databaseName
	switch {
	case format.ContainsAll(h.Bytes, migrationName, "001_initial_schema"):
	case format.HasTables(h.Bytes, "chat") && format.ContainsAll(h.Bytes, "share_id", "archived", "user_id"):
		if !named {
			claim.Strength = format.Likely
		}
	case named && !format.ShowsSchema(h.Bytes) && (inDataDir(h.Path) || path.Dir(h.Path) == h.Top()):
		claim.Strength = format.Likely
	default:
		return format.Claim{}
	}
	return claim
}

func inDataDir(file string) bool {
	dir := "/" + strings.TrimPrefix(path.Dir(file), "/")
	for _, data := range dataDirs {
		if strings.HasSuffix(dir, data) {
			return true
		}
	}
	return false
}

// detectExport claims a list of chats, or one chat. ChatGPT and others export lists, too, but no member chat with a history.
func detectExport(h format.Head) format.Claim {
	v, _ := jsontext.FirstElement(h.Bytes)
	chat := v.Get("chat")
	owned := v.Get("user_id").IsString() && v.Get("id").IsString() && v.Get("title").IsString()
	switch {
	case owned && (chat.Get("history").IsObject() || chat.Get("messages").IsArray() && chat.Get("models").IsArray()):
	case v.Get("history", "messages").IsObject() && v.Get("models").IsArray(): // of the first versions, which kept chats in the browser
	case owned && chat.IsObject() && int64(len(h.Bytes)) < h.Size && isExportName(h.Path): // the history lies beyond the head
	default:
		return format.Claim{}
	}
	claim := format.Claim{Strength: format.Likely, Role: roleExport}
	if isExportName(h.Path) {
		claim.Strength = format.Certain
	}
	return claim
}

// isExportName reports whether a file is called like an export: chat-export-<time>.json, archived-chat-export-<time>.json,
// all-chats-export-<time>.json.
func isExportName(file string) bool {
	name := path.Base(file)
	return strings.Contains(name, "chat-export-") || strings.Contains(name, "chats-export-")
}

// Withholds leaves out the keys that sign sessions, beside the database and where the server was started.
func (openWebUI) Withholds(h format.Head) bool {
	name := path.Base(h.Path)
	return name == secretName || name == ".key" && inDataDir(h.Path)
}

// rows yields the rows in an original taken out of a database.
func rows(r io.Reader, problem func(*transcript.Problem)) iter.Seq2[jsontext.Object, error] {
	return jsontext.Objects(r, "", problem)
}
