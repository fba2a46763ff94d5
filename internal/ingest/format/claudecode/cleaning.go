package claudecode

import (
	"path"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

var _ format.Cleaner = claudeCode{}

// Cleanings describes what Claude Code deletes when it starts.
func (claudeCode) Cleanings() []format.Cleaning {
	return []format.Cleaning{{
		Unit: func(file, _ string) (group, unit string) {
			if name := path.Base(file); path.Ext(name) == ".jsonl" && name != historyFile || pasteName.MatchString(name) {
				return "", file
			}
			return "", ""
		},
		Days: 30, Setting: &format.Setting{Name: "settings.json", Key: "cleanupPeriodDays"},
	}}
}
