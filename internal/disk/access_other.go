//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd

package disk

// Denied is not known on this system.
func Denied(string) error { return nil }
