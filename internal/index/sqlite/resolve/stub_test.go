package resolve

import (
	"testing"

	"github.com/txarchive/txarchive/internal/transcript"
)

// TestMixedStub expects a run to be a stub only if no model was asked in any of its steps.
func TestMixedStub(t *testing.T) {
	said := func(stub, asked bool) claim { return claim{Run: &transcript.Run{Rank: 2, Stub: stub, Asked: asked}} }
	for _, c := range []struct {
		claims []claim
		want   bool
	}{
		{[]claim{said(true, false), said(true, false)}, true},
		{[]claim{said(true, false), said(false, false)}, true},
		{[]claim{said(true, false), said(false, true)}, false},
		{[]claim{said(false, true), said(true, false)}, false},
	} {
		if got := mergeClaims(c.claims).Stub; got != c.want {
			t.Errorf("%+v: %v", c.claims, got)
		}
	}
}
