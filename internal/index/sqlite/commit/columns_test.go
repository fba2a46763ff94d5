package commit

import (
	"strings"
	"testing"

	"github.com/txarchive/txarchive/internal/index/sqlite/writetest"
)

// TestUsualValues compares what inserters leave out with the defaults of the schema.
func TestUsualValues(t *testing.T) {
	w, _ := writetest.New(t)
	for table, list := range map[string]string{"events": eventColumns, "calls": callColumns, "results": resultColumns, "usage": usageFields} {
		for column := range strings.SplitSeq(list, ",") {
			name, usual, _ := strings.Cut(strings.TrimSpace(column), "=")
			var defaults []string
			if err := w.Select(&defaults, "SELECT coalesce(dflt_value, '') FROM pragma_table_info(?) WHERE name = ?", table, name); err != nil {
				t.Fatalf("%s.%s: %v", table, name, err)
			}
			if len(defaults) != 1 || defaults[0] != usual {
				t.Errorf("%s.%s: left out for %q, the default is %q", table, name, usual, defaults)
			}
		}
	}
}
