package flowstudio

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// Cleanings is what Flow Studio prunes: whole runs, unless their names say that they are kept. Those with the tags
// pinned and golden are kept too, which their paths do not tell.
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
