//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd && !windows

package disk

import (
	"errors"
	"os"
)

func unlock(*os.File) error { return nil }

func tryLock(*os.File) error {
	return errors.New("this operating system has no lock that ends with its holder")
}
