package policy

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestNoMoment expects a decision that time does not change to say null, and to be read as it was.
func TestNoMoment(t *testing.T) {
	for _, until := range []time.Time{{}, time.Date(2026, 11, 20, 1, 2, 3, 0, time.UTC)} {
		b, err := json.Marshal(Decision{Until: Moment{until}})
		var read Decision
		if err == nil {
			err = json.Unmarshal(b, &read)
		}
		if err != nil || strings.Contains(string(b), `"until":null`) != until.IsZero() || !read.Until.Equal(until) {
			t.Errorf("%v: %s, %v", until, b, err)
		}
	}
}
