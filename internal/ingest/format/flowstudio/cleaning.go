package flowstudio

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// Cleanings describes what Flow Studio prunes: whole runs, except those whose names exempt them. Runs tagged pinned or
// golden are exempt too, but paths do not show tags.
func (flowStudio) Cleanings() []format.Cleaning {
	unit := func(_, root string) (group, unit string) {
		name := path.Base(root)
		if strings.HasPrefix(name, "stepwise-") || strings.HasPrefix(name, "baseline-") {
			return "", ""
		}
		return path.Dir(root), root
	}
	return []format.Cleaning{{Unit: unit, Days: 30, Keep: 300}}
}
