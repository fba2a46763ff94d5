//go:build !linux && !darwin && !windows

package disk

func renameNew(oldPath, newPath string) error { return linkNew(oldPath, newPath) }
