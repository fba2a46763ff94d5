package sqlite

import (
	"testing"

	"github.com/txarchive/txarchive/internal/index/indextest"
)

func TestIndex(t *testing.T) {
	indextest.Run(t, func(t *testing.T) indextest.Index { return newDB(t) })
}
