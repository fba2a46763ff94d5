//go:build unix

package main

import (
	"os"
	"syscall"
)

func inodeOf(path string) uint64 {
	info, err := os.Lstat(path)
	if err != nil {
		return 0
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}
