package transcript

import (
	"math"
	"testing"
)

// TestSet: what is not stated is no attribute, and neither is a number that JSON cannot hold, for it would stop the commit of its whole pack.
func TestSet(t *testing.T) {
	var a Attributes
	for _, value := range []any{"", nil, math.Inf(1), math.Inf(-1), math.NaN()} {
		a.Set("key", value)
	}
	if a != nil {
		t.Errorf("%v", a)
	}
	for _, value := range []any{"x", 0.0, math.MaxFloat64, int64(0), false} {
		if a.Set("key", value); a["key"] != value {
			t.Errorf("%v, want %v", a["key"], value)
		}
	}
}
