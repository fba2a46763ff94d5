//go:build !linux && !darwin

package main

// fileSystem is not known on this system.
func fileSystem(string) (kind string, network bool) { return "", false }

// freeBytes is not known on this system.
func freeBytes(string) int64 { return -1 }
