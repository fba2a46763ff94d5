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
			name, dir := path.Base(file), path.Dir(file)
			switch {
			case path.Ext(name) == ".jsonl" && name != historyFile, pasteName.MatchString(name),
				path.Ext(name) == ".md" && isIn(dir, plansDir), taskName.MatchString(name) && isIn(path.Dir(dir), tasksDir):
				return "", file
			}
			return "", ""
		},
		Days: 30, Setting: &format.Setting{Name: "settings.json", Key: "cleanupPeriodDays"},
	}}
}

// isIn reports whether a directory, relative to its source, is one beside the projects directory. It may be the source.
func isIn(dir, name string) bool { return dir == "." || path.Base(dir) == name }
