package windsurf

import (
	"path"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// kept is how many transcripts the program keeps, by the time of their last change.
const kept = 100

// Cleanings describes what the program deletes when it writes a transcript: the oldest beyond a hundred. Where there are a hundred, the next one pushes
// out the oldest.
func (windsurf) Cleanings() []format.Cleaning {
	return []format.Cleaning{{
		Unit: func(file, root string) (group, unit string) {
			if path.Dir(file) != root || path.Ext(file) != transcriptExt {
				return "", ""
			}
			return root, file
		},
		Keep: kept - 1,
	}}
}
