//go:build !unix

package main

import (
	"os"
	"time"
)

// accounts returns zeros: Go provides no resource usage on this system.
func accounts(*os.ProcessState) (peak, written int64) { return 0, 0 }

var began = time.Now()

// ownCPU returns wall time, since CPU time is not available on this system. Stages run alone, so it is an upper
// bound.
func ownCPU() time.Duration { return time.Since(began) }
