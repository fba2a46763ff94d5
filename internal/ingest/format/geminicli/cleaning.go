package geminicli

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

var _ format.Cleaner = gemini{}

// Cleanings describes what Gemini CLI deletes when it starts: old sessions, in the versions that do so unless told
// otherwise.
func (gemini) Cleanings() []format.Cleaning {
	return []format.Cleaning{{
		Unit: func(file, _ string) (group, unit string) {
			if !strings.Contains("/"+path.Dir(file)+"/", "/chats/") {
				return "", ""
			}
			return "", file
		},
		Days: 30, Setting: &format.Setting{Name: "settings.json", Key: "general.sessionRetention.maxAge"},
	}}
}
