package index

import "context"

// Cleaner is an index from which things go for good.
type Cleaner interface {
	// Removed says that packs which others have replaced are no longer in the store.
	Removed(ctx context.Context, packs []string) error
	// Purge gives space back, and leaves nothing of what was taken out before: no word in a segment, in the table of
	// terms or in a free page, and no log. With all it does so whatever it costs, else when it is worth it.
	Purge(ctx context.Context, all bool) (Purged, error)
}

// Purged is what a Purge did.
type Purged struct {
	Before, After int64 // bytes of the file and its log
	Segments      int   // of the full-text index that were written anew
	Rebuilt       bool  // the file was written anew
	// LogKept says that a reader kept the log from being emptied: what it holds goes with the next Purge.
	LogKept bool
}
