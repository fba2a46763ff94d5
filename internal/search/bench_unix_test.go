//go:build unix

package search_test

import (
	"syscall"
	"time"
)

// processor is how long the processor has worked for this process: what a busy machine does not blur.
func processor() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
