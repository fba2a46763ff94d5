package format

import (
	"fmt"
	"math"

	"github.com/txarchive/txarchive/internal/lazyregexp"
	"github.com/txarchive/txarchive/internal/transcript"
)

var conversationsName = lazyregexp.New(`^(?i:conversations)(-\d+)?( ?\(\d+\))?\.json$`)

// IsConversationsName reports whether a file is called like the conversations in a data export of ChatGPT, Claude.ai or DeepSeek:
// conversations.json or a shard of it (conversations-000.json), possibly with the number that a browser appends to the
// name of another download.
func IsConversationsName(name string) bool { return conversationsName.MatchString(name) }

// ExportRank returns the Rank and Order of a Shared conversation in data exports that each repeat everything. updated is
// when the conversation last changed. The newest export comes first: so an event keeps its number, and those that only
// an older export has follow.
func ExportRank(updated transcript.Time) (rank int, order string) {
	if updated.Valid {
		rank = int(min(max(updated.UnixMicro/60e6, 0), math.MaxInt32))
	}
	return rank, fmt.Sprintf("%010d", math.MaxInt32-rank)
}
