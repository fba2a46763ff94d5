package write

import (
	"github.com/txarchive/txarchive/internal/index"
	"github.com/txarchive/txarchive/internal/index/lexicon"
)

// Row is an event row with its transcript, its terms and, once rows are sorted, its id.
type Row struct {
	*index.Row
	Words      *lexicon.Words
	Transcript int64
	ID         int64
}
