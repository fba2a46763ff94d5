package leslie

import (
	"path"
	"strings"

	"github.com/txarchive/txarchive/internal/ingest/format"
)

// Cleanings describes what Leslie deletes: of more than 50 transcripts of a thread, the first by name.
func (leslie) Cleanings() []format.Cleaning {
	unit := func(file, _ string) (group, unit string) {
		dir := path.Dir(file)
		if !strings.HasSuffix(dir, ".meta/transcripts") || strings.HasPrefix(path.Base(file), "NaN") {
			return "", ""
		}
		return dir, file
	}
	return []format.Cleaning{{Unit: unit, Keep: 50, ByName: true}}
}
