package show

import (
	"bytes"
	"testing"

	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/printer"
	"github.com/txarchive/txarchive/internal/search"
	"github.com/txarchive/txarchive/internal/transcript"
)

// TestNarrowTree: a narrow terminal shortens names. What a run cost and how it is linked stay whole.
func TestNarrowTree(t *testing.T) {
	own := search.Totals{Runs: 1, Events: 1200, Input: transcript.Known(1234567), Output: transcript.Known(67890), Cost: transcript.Known(27467900)}
	all := own
	all.Runs = 2
	run := index.Run{ID: "r75p4va0h8nj3", Format: "claude-code", Title: "make the login page faster than it was", Status: "completed"}
	tree := &search.Node{Branch: index.Branch{Found: true, Run: run}, Own: own, All: all}
	child := *tree
	child.Kind, child.Run.ID = "fork", "rp23szc9zg22w"
	again := child
	again.Seen = true
	tree.Children = []*search.Node{&child, &again, {Branch: index.Branch{Kind: "parent", NativeID: "0f8fad5b-d9cb-469f-a165-70867728950e"}}}
	for width, want := range map[int]string{
		0: `r75p4va0h8nj3  claude-code  make the login page faster than it was
│ completed  1,200 events  1,234,567 in, 67,890 out, $27.4679
│ all 2 runs  1,200 events  1,234,567 in, 67,890 out, $27.4679
├─ rp23szc9zg22w  claude-code  make the login page faster than it was [fork]
│    completed  1,200 events  1,234,567 in, 67,890 out, $27.4679
├─ rp23szc9zg22w  claude-code  make the login page faster than it was [fork]  (see above)
└─ run 0f8fad5b-d9cb-469f-a165-70867728950e: announced, never found
`,
		60: `r75p4va0h8nj3  claude-code  make the login page faster than…
│ completed  1,200 events
│ 1,234,567 in, 67,890 out, $27.4679
│ all 2 runs  1,200 events
│ 1,234,567 in, 67,890 out, $27.4679
├─ rp23szc9zg22w  claude-code  make the login page f… [fork]
│    completed  1,200 events
│    1,234,567 in, 67,890 out, $27.4679
├─ rp23szc9zg22w  claude-code  make the… [fork]  (see above)
└─ run 0f8fad5b-d9cb-469f-a165-7086…: announced, never found
`,
	} {
		var out bytes.Buffer
		p := treePrinter{Printer: &printer.Printer{Out: &out}, width: width}
		p.node(tree, "", "")
		if out.String() != want {
			t.Errorf("%d columns:\n%s\nwant\n%s", width, &out, want)
		}
	}
}
