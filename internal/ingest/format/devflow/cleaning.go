package devflow

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// Cleanings describes what devflow does with finished runs: after 7 days, their directories are moved into archives, except
// for the newest 100. Failed and running ones stay, but paths do not show that.
func (devflow) Cleanings() []format.Cleaning {
	unit := func(file, root string) (group, unit string) {
		runs := path.Join(root, "runs")
		below, ok := strings.CutPrefix(file, runs+"/")
		id, _, inside := strings.Cut(below, "/")
		if !ok || !inside {
			return "", ""
		}
		return runs, path.Join(runs, id)
	}
	return []format.Cleaning{{Unit: unit, Days: 7, Keep: 100, Both: true}}
}
