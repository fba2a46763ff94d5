package opencode

import (
	"path"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

var _ format.Cleaner = opencode{}

// Cleanings describes what OpenCode deletes once an hour: long outputs of tools.
func (opencode) Cleanings() []format.Cleaning {
	return []format.Cleaning{{
		Unit: func(file, _ string) (group, unit string) {
			if path.Base(path.Dir(file)) == outputsDir && outputName.MatchString(path.Base(file)) {
				return "", file
			}
			return "", ""
		},
		Days: 7,
	}}
}
