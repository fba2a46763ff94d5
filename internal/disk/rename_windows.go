package disk

import "golang.org/x/sys/windows"

// renameNew moves a file; without MOVEFILE_REPLACE_EXISTING an existing target is an error.
func renameNew(oldPath, newPath string) error {
	from, err := windows.UTF16PtrFromString(oldPath)
	if err != nil {
		return err
	}
	to, err := windows.UTF16PtrFromString(newPath)
	if err != nil {
		return err
	}
	return windows.MoveFileEx(from, to, windows.MOVEFILE_WRITE_THROUGH)
}

// syncDir does nothing: Windows has no fsync of directories, and renames are written through.
func syncDir(string) error { return nil }
