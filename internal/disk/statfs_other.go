//go:build !linux && !darwin

package disk

// FileSystem is not known on this system.
func FileSystem(string) (kind string, network bool) { return "", false }

// FreeBytes is not known on this system.
func FreeBytes(string) int64 { return -1 }
