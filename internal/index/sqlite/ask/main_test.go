package ask_test

import (
	"fmt"
	"os"
	"testing"
)

// benchDir is the directory of the benchmarks' index.
var benchDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "txarchive-bench-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	benchDir = dir
	code := m.Run()
	if benchDB != nil {
		if err := benchDB.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
