package chibi

import (
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// Cleanings describes what Chibi deletes by age: cached tool outputs. Contexts are deleted by settings of their own.
func (chibi) Cleanings() []format.Cleaning {
	unit := func(file, _ string) (group, unit string) {
		if !strings.Contains("/"+file, "/vfs/sys/tool_cache/") {
			return "", ""
		}
		return "", file
	}
	return []format.Cleaning{{Unit: unit, Days: 7}}
}
