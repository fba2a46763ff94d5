package ingest_test

import (
	"os"
	"runtime/debug"
	"testing"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // hundreds of small archives are made, which makes much garbage and leaves little
	os.Exit(m.Run())
}
