//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// accounts returns the peak memory of a process that has ended and how much it has written, in bytes.
func accounts(s *os.ProcessState) (peak, written int64) {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, 0
	}
	peak = int64(u.Maxrss)
	if runtime.GOOS != "darwin" { // Darwin counts bytes, others KiB
		peak *= 1024
	}
	return peak, int64(u.Oublock) * 512
}

// ownCPU returns the CPU time of this process.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
