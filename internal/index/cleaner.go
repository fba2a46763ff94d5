package index

import "context"

// Cleaner erases deleted data from an index for good.
type Cleaner interface {
	// Purge reclaims space and erases all traces of rows that were deleted before: their words in segments, in the
	// table of terms and in free pages, and the log. With all it does so at any cost, otherwise only when it is
	// worth the cost.
	Purge(ctx context.Context, all bool) (Purged, error)
}

// Purged is what a Purge did.
type Purged struct {
	Before, After int64 // bytes of the file and its log
	Segments      int   // segments of the full-text index that were rewritten
	Rebuilt       bool  // the file was rewritten
	// LogKept reports that a reader kept the log from being truncated: its contents go with the next Purge.
	LogKept bool
}
