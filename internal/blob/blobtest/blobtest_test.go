package blobtest

import (
	"testing"

	"github.com/txarchive/txarchive/internal/blob"
)

func TestMemory(t *testing.T) {
	Run(t, func(*testing.T) blob.Store { return NewMemory() })
}
